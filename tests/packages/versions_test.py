# SPDX-License-Identifier: Apache-2.0
"""The version stands in project() of CMakeLists.txt; every part that states one states that."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness.commands import run
from harness.processes import Proxy
from harness.programs import HEATSINK
from packages import NAMES, ROOT, field, package, project_version, wheel

LIBRARY = os.environ.get("HEATSINK_C", ROOT / "build/release/bindings/c/libheatsink.so")
NOBODY = "redis://127.0.0.1:1"


class Versions(unittest.TestCase):
    def test_of_the_program(self):
        self.assertEqual(run(HEATSINK, "--version"), f"heatsink {project_version()}\n")

    def test_of_the_api_and_the_metrics(self):
        proxy = Proxy(NOBODY)
        self.addCleanup(proxy.stop)
        self.assertEqual(proxy.api("version"), {"version": project_version()})
        self.assertIn(f'heatsink_build_info{{version="{project_version()}"', proxy.metrics())

    def test_of_the_manual_pages(self):
        self.assertIn(f'"heatsink {project_version()}"', run(HEATSINK, "man", "heatsink"))

    def test_of_the_library(self):
        library = ctypes.CDLL(str(LIBRARY))
        library.heatsink_version.restype = ctypes.c_char_p
        self.assertEqual(library.heatsink_version().decode(), project_version())

    def test_of_the_packages(self):
        for name in NAMES:
            version = field(package(name), "Version")
            self.assertEqual(version.partition("-")[0], project_version(), name)

    def test_of_the_python_package(self):
        self.assertTrue(wheel().name.startswith(f"heatsink-{project_version()}-"))
        folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-versions-"))
        self.addCleanup(shutil.rmtree, folder)
        run("python3", "-m", "zipfile", "-e", wheel(), folder)
        code = "import heatsink; print(heatsink.__version__, heatsink.__file__)"
        output = run(
            *("/usr/bin/python3", "-B", "-c", code),
            env=os.environ | {"PYTHONPATH": str(folder)},
        )
        self.assertEqual(output, f"{project_version()} {folder}/heatsink/__init__.py\n")

    def test_of_the_changelog(self):
        newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
        self.assertEqual(newest[1], project_version())

    def test_of_the_tag(self):
        tags = subprocess.run(
            ["git", "-C", ROOT, "tag", "--points-at", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
        )
        named = [tag for tag in tags.stdout.split() if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
        self.assertLessEqual(set(named), {f"v{project_version()}"})


if __name__ == "__main__":
    unittest.main()
