# SPDX-License-Identifier: Apache-2.0
"""deploy/debian-packages.txt: who needs what, and that packaging needs little."""

import pathlib
import re
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


def packages_of(who):
    lines = (DEPLOY / "debian-packages.txt").read_text("utf-8").splitlines()
    rows = [line.split()[:2] for line in lines if line and not line.startswith("#")]
    return {name.split("/")[0] for names, name in rows if who in names.split(",")}


class PackagesList(unittest.TestCase):
    def test_packaging_needs_what_the_packages_say_and_the_wheel(self):
        control = (DEPLOY / "debian/control").read_text("utf-8")
        depends = re.search(r"Build-Depends:\n((?: .*\n)+)", control)[1]
        named = set(re.findall(r"(?m)^ ([a-z0-9.+-]+)", depends)) - {"debhelper-compat"}
        self.assertEqual(packages_of("package"), named | {"debhelper", "python3", "python3-wheel"})

    def test_the_rows_are_one_list_for_each(self):
        servers = {"redis-server", "redis-tools"}
        self.assertEqual(packages_of("run") - packages_of("package"), servers)
        self.assertIn("libgtest-dev", packages_of("check") - packages_of("package"))


if __name__ == "__main__":
    unittest.main()
