# SPDX-License-Identifier: Apache-2.0
"""A seed plays one history, down to each time in it, in whatever process; another seed another."""

import os
import re
import subprocess
import unittest

SIMULATE = os.environ.get("HEATSINK_SIMULATE", "build/dev/tests/simulation/heatsink_simulate")


def fingerprints(*flags):
    done = subprocess.run([SIMULATE, "--fingerprints", *flags], check=True, text=True,
                          stdout=subprocess.PIPE)  # fmt: skip
    return re.findall(r"^seed \d+ \((.*)\): ([0-9a-f]{16}), (\d+) operations", done.stdout, re.M)


class SameHistory(unittest.TestCase):
    def setUp(self):
        if not os.access(SIMULATE, os.X_OK):
            self.skipTest("HEATSINK_SIMULATE does not name the simulator")

    def test_of_each_scenario_in_two_processes(self):
        each = ("--seed", "11", "--count", str(len(self.scenarios())), "--length", "0.3")
        one, two = fingerprints(*each), fingerprints(*each)
        self.assertEqual([name for name, _, _ in one], self.scenarios())
        self.assertEqual(one, two)
        self.assertTrue(all(int(operations) > 0 for _, _, operations in one), one)

    def test_replayed_alone(self):
        """What was played before in the process leaves nothing behind."""
        name = self.scenarios()[1]
        (alone,) = fingerprints("--seed", "12", "--scenario", name, "--length", "0.5")
        behind = fingerprints("--seed", "11", "--count", "2", "--length", "0.5")
        self.assertEqual(behind[1], alone)

    def test_another_seed_plays_another(self):
        flags = ("--scenario", self.scenarios()[0], "--length", "0.5")
        one, two = (fingerprints("--seed", seed, *flags) for seed in ("1", "2"))
        self.assertNotEqual(one, two)

    def test_what_is_broken_says_how_to_shrink_it(self):
        """A bound of a millisecond is not promised where pushes are 5 ms late."""
        flags = ("--scenario", "late pushes", "--length", "0.5", "--bound", "0.001")
        broken = subprocess.run([SIMULATE, *flags], check=False, text=True, stdout=subprocess.PIPE)
        self.assertEqual(broken.returncode, 1, broken.stdout)
        command = broken.stdout.splitlines()[-2]
        again = subprocess.run(f"{command} --attempts 30", shell=True, check=False, text=True,
                               stdout=subprocess.PIPE)  # fmt: skip
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertIn("smaller, after", again.stdout)
        self.assertIn(broken.stdout.split("\n", 1)[1].split("To play")[0], again.stdout)

    def scenarios(self):
        listed = subprocess.run([SIMULATE, "--list"], check=True, text=True,
                                stdout=subprocess.PIPE)  # fmt: skip
        return listed.stdout.splitlines()


if __name__ == "__main__":
    unittest.main()
