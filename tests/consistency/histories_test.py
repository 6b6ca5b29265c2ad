# SPDX-License-Identifier: Apache-2.0
"""Every run of runs.py is recorded and judged: no promise is broken, and it was copies that spoke.

HEATSINK_CONSISTENCY_FOR=600 plays each run for that many seconds (20 in the long form of the
checks, else 1), HEATSINK_CONSISTENCY_SEED=N plays others;
`histories_test.py Consistency.test_late_pushes` plays one.
"""

import os
import unittest

from harness import LONG, SLOW
from runs import RUNS

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
    name = "test_" + each.name.replace(",", "").replace(" ", "_")
    setattr(Consistency, name, test_of(each, 0 if place else OPERATIONS))


if __name__ == "__main__":
    unittest.main()
