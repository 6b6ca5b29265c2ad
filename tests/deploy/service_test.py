# SPDX-License-Identifier: Apache-2.0
"""The unit and the other service managers against what the documents promise of them."""

import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = ROOT / "deploy/debian/heatsink.service"
INSTALL = ROOT / "docs/guides/install.md"
RESTART = ROOT / "docs/guides/restart.md"
OPTIONS = ROOT / "docs/reference/options.md"
# The process ends within 6.25 s behind shutdown.drain; with a margin for its last lines.
BEHIND_DRAIN_S = 7


def found(pattern, path):
    (match,) = set(re.findall(pattern, path.read_text("utf-8")))
    return match


class Service(unittest.TestCase):
    @unittest.skipIf(shutil.which("systemd-analyze") is None, "there is no 'systemd-analyze'")
    def test_the_exposure_is_the_documented_one(self):
        said = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager", UNIT],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        level = float(re.search(r"exposure level for heatsink\.service: ([\d.]+)", said)[1])
        documented = float(found(r"exposure ([\d.]+) of 10", INSTALL))
        # Other versions of systemd weigh a setting a little differently.
        self.assertAlmostEqual(level, documented, delta=0.1, msg=said)

    def test_each_manager_waits_longer_than_the_proxy(self):
        needed = int(found(r"`shutdown\.drain` \| `(\d+)s`", OPTIONS)) + BEHIND_DRAIN_S
        for path in (UNIT, INSTALL):
            self.assertEqual(found(r"(?m)^TimeoutStopSec=(\d+)$", path), "60", path)
        self.assertEqual(found(r"`TimeoutStopSec=(\d+)`", INSTALL), "60")
        self.assertEqual(found(r"`TimeoutStopSec=(\d+)`", RESTART), "60")
        self.assertGreaterEqual(60, needed)
        self.assertGreaterEqual(int(found(r"docker stop --time (\d+)", RESTART)), needed)
        grace = found(r"terminationGracePeriodSeconds: (\d+)`", RESTART)
        for path in sorted((ROOT / "deploy/kubernetes").glob("*.yaml")):
            text = path.read_text("utf-8")
            if "terminationGracePeriodSeconds" not in text:
                continue
            self.assertEqual(found(r"terminationGracePeriodSeconds: (\d+)", path), grace, path)
            slept = int((re.findall(r'sleep, "(\d+)"', text) or ["0"])[0])
            self.assertGreaterEqual(int(grace), slept + needed, path)


if __name__ == "__main__":
    unittest.main()
