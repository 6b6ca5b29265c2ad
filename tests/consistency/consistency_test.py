# SPDX-License-Identifier: Apache-2.0
"""Histories of many clients, judged: through one proxy, through two with writers past them, and
with faults.

HEATSINK_CONSISTENCY_FOR=600 plays each run for so many seconds; HEATSINK_CONSISTENCY_SEED=N plays
others.
"""

import os
import unittest

import theatre
from harness import SLOW
from theatre import BOUND_S, Theatre

SECONDS = float(os.environ.get("HEATSINK_CONSISTENCY_FOR", "6" if SLOW == 1 else "3"))
SEED = int(os.environ.get("HEATSINK_CONSISTENCY_SEED", "1"))
OPERATIONS = 1_000_000 // SLOW**2  # of the run that is judged most strictly; a sanitizer is slow


class Consistency(unittest.TestCase):
    def run_one(self, what, stage, sessions, bound_s, hits_share, operations=0, fault=None):
        path = stage.play(sessions, SECONDS, operations, fault, SEED)
        hits = stage.hits()
        found = stage.judge(path, bound_s)
        print(f"\n{what}: {stage.said}, {hits:.0f} hits\n{found.text}", flush=True)
        self.assertTrue(found.sound, found.text)
        self.assertGreaterEqual(found.operations, operations)
        self.assertGreater(hits, hits_share * found.reads, "it was not the copies that were tested")
        stage.stop_proxies()

    def test_all_writers_through_one_proxy(self):
        """Linearizable, key by key."""
        with Theatre() as stage:
            self.run_one("one proxy", stage, ONE_PROXY, 0, 0.5, OPERATIONS)

    def test_two_proxies_and_writers_past_them(self):
        with Theatre(proxies=2) as stage:
            self.run_one("two proxies", stage, TWO_PROXIES, BOUND_S, 0.5)

    def test_one_proxy_with_faults(self):
        with Theatre() as stage:
            self.run_one("one proxy, faults", stage, ONE_PROXY, 0, 0.2, fault=theatre.everything)

    def test_two_proxies_with_faults(self):
        with Theatre(proxies=2) as stage:
            self.run_one("two proxies, faults", stage, TWO_PROXIES, BOUND_S, 0.2,
                         fault=theatre.everything)

    def test_a_proxy_stopped_for_longer_than_the_bound(self):
        with Theatre(proxies=2) as stage:
            self.run_one("two proxies, one stopped", stage, [*TWO_PROXIES, PACED], BOUND_S, 0.2,
                         fault=theatre.stop_a_proxy)


def through(via):
    return [
        f"via={via},count=6,depth=16,set=10,mget=20",
        f"via={via},count=4,depth=4,set=20,del=5,mget=50,db=1",
        f"via={via},count=2,depth=1,set=50,px=20,expire=10",
        f"via={via},count=1,depth=8,eval=20,flush=1,think-us=2000",
        f"via={via},count=2,cas=2000,think-us=1000",
    ]


ONE_PROXY = through(1)
PAST = ["via=0,count=2,set=5000,think-us=3000", "via=0,set=3000,px=2000,del=500,think-us=5000,db=1"]
TWO_PROXIES = through(1) + through(2) + PAST
PACED = "via=1,count=4,depth=8,pace-us=20000"


if __name__ == "__main__":
    unittest.main()
