# SPDX-License-Identifier: Apache-2.0
"""Each manual page is read without a warning by man (groff) and by mandoc."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from harness.programs import HEATSINK, need_programs

DATE = {"SOURCE_DATE_EPOCH": "1795609200"}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-man-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(
            [HEATSINK, "man", "--folder", cls.folder], check=True, env=os.environ | DATE
        )
        cls.pages = sorted(cls.folder.iterdir())

    def expect_silence(self, command):
        for page in self.pages:
            with self.subTest(page=page.name):
                done = subprocess.run(
                    [*command, page],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                    env=os.environ | {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"},
                )
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_each_verb_has_one(self):
        verbs = subprocess.run([HEATSINK, "--help"], capture_output=True, text=True, check=True)
        rows = [line.split()[0] for line in verbs.stdout.splitlines() if line.startswith("  ")]
        names = {page.name for page in self.pages}
        self.assertGreater(len(rows), 8)
        self.assertLessEqual({f"heatsink-{verb}.1" for verb in rows}, names)
        self.assertLessEqual({"heatsink.1", "heatsink.yaml.5", "heatsink-metrics.7"}, names)

    @unittest.skipIf(shutil.which("man") is None, "there is no program 'man'")
    def test_groff_reads_them(self):
        self.expect_silence(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"])

    @unittest.skipIf(shutil.which("mandoc") is None, "there is no program 'mandoc'")
    def test_mandoc_reads_them(self):
        self.expect_silence(["mandoc", "-T", "lint", "-W", "warning"])

    def test_two_builds_write_the_same_bytes(self):
        again = self.folder / "again"
        again.mkdir()
        self.addCleanup(shutil.rmtree, again)
        subprocess.run([HEATSINK, "man", "--folder", again], check=True, env=os.environ | DATE)
        for page in self.pages:
            self.assertEqual(page.read_bytes(), (again / page.name).read_bytes(), page.name)


if __name__ == "__main__":
    unittest.main()
