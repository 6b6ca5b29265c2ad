# SPDX-License-Identifier: Apache-2.0
"""A flood on one key under a limit: the server is asked no oftener, and others are answered."""

import re
import statistics
import time
import unittest

from harness import Proxy, RawClient, Redis, ValueClient, encode, need_programs, until
from harness.flood import Flood

ELEMENTS = range(10_000)  # half a millisecond of the server's time
RATE, BURST = 10, 5
LIMIT = f"match=big,limit.rate={RATE}/s,limit.burst={BURST}"
ROUNDS, READS = 3, 30  # of other keys, one after the other


class FloodTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)
        with ValueClient(cls.redis.port) as server:
            server("RPUSH", "big", *ELEMENTS)

    def calls(self):
        with ValueClient(self.redis.port) as server:
            told = server("INFO", "commandstats").decode()
        found = re.search("cmdstat_lrange:calls=([0-9]+)", told)
        return int(found.group(1)) if found else 0

    def proxy(self, *rules):
        proxy = Proxy(self.redis, {"cache.enabled": "no"}, rules=rules)
        self.addCleanup(proxy.stop)
        return proxy

    def flood(self, proxy):
        return Flood(proxy.port, len(encode(*ELEMENTS)), "LRANGE", "big", 0, -1)

    def waits_ms(self, proxy):
        waits = []
        with RawClient(proxy.port) as other:
            for i in range(READS):
                asked = time.monotonic()
                self.assertEqual(other.ask("GET", f"other:{i}"), b"$-1\r\n")
                waits.append((time.monotonic() - asked) * 1000)
        return waits

    def waits_under_flood_ms(self, proxy):
        before = self.calls()
        with self.flood(proxy):
            until(lambda: self.calls() >= before + BURST, what="the flood")
            return self.waits_ms(proxy)

    def test_the_server_is_asked_no_oftener(self):
        before, begun = self.calls(), time.monotonic()
        proxy = self.proxy(LIMIT)
        with self.flood(proxy):
            until(lambda: self.calls() >= before + 2 * BURST, what="the burst, and more")
            self.waits_ms(proxy)
        calls, took_s = self.calls() - before, time.monotonic() - begun
        self.assertLessEqual(calls, RATE * took_s + BURST)

    def test_others_do_not_wait_behind_it(self):
        """What that is worth in milliseconds is for a machine of its own: bench/limits.py."""
        free, limited = self.proxy(), self.proxy(LIMIT)
        quiet, flooded, held = [], [], []
        for _ in range(ROUNDS):
            quiet += self.waits_ms(limited)
            flooded += self.waits_under_flood_ms(free)
            held += self.waits_under_flood_ms(limited)
        rows = {"no flood": quiet, "flood": flooded, "flood, limited": held}
        medians = {row: statistics.median(waits) for row, waits in rows.items()}
        told = ", ".join(
            f"{row} {medians[row]:.2f} (longest {max(waits):.1f})" for row, waits in rows.items()
        )
        print(f"what others waited, medians in ms: {told}")
        # Most of what the flood costs them is gone.
        middle = (medians["no flood"] + medians["flood"]) / 2
        self.assertLess(medians["flood, limited"], middle, told)


if __name__ == "__main__":
    unittest.main()
