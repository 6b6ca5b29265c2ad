# SPDX-License-Identifier: Apache-2.0
"""Every run of runs.py is recorded and judged: no promise is broken, and it was copies that spoke.

The short form of the checks plays one run of each kind for a second. The others are there in the
simulation, under their names. The long form plays all, for 20 seconds each.
HEATSINK_CONSISTENCY_FOR=600 plays each for that many seconds, HEATSINK_CONSISTENCY_SEED=N other
operations, `histories_test.py Consistency.test_two_proxies_faults` one run alone.
"""

import os
import unittest

from harness import LONG, SLOW
from runs import RUNS

IS_SHORT = not LONG and "HEATSINK_CONSISTENCY_FOR" not in os.environ
SECONDS = float(os.environ.get("HEATSINK_CONSISTENCY_FOR", "20" if LONG else "1"))
SEED = int(os.environ.get("HEATSINK_CONSISTENCY_SEED", "1"))
OPERATIONS = (1_000_000 if LONG else 200_000) // SLOW**2  # of the first run; a sanitizer is slow


class Consistency(unittest.TestCase):
    def play(self, run, operations):
        # That it was copies that spoke, between any two faults, the run itself waits for.
        try:
            found, said, hits = run.play(SECONDS, operations, SEED)
        except PermissionError as error:
            self.skipTest(f"the system forbids this fault: {error}")
        print(f"\n{run.name}: {said}, {hits:.0f} hits\n{found.text}", flush=True)
        self.assertTrue(found.sound, found.text)
        self.assertGreaterEqual(found.operations, operations)
        self.assertGreaterEqual(found.staleness_s, run.stale_s, "no read was as old as it may be")


def test_of(run, operations):
    return lambda self: self.play(run, operations)


for place, each in enumerate(RUNS):
    if IS_SHORT and not each.in_short_form:
        continue
    name = "test_" + each.name.replace(",", "").replace(" ", "_")
    setattr(Consistency, name, test_of(each, 0 if place else OPERATIONS))


if __name__ == "__main__":
    unittest.main()
