# SPDX-License-Identifier: Apache-2.0
"""run_ctest.py on small lists of tests: which failures it repeats, and what it reports."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).with_name("run_ctest.py")
# Fails at its first run and passes at every later one.
AT_FIRST = "test -e ran || {{ touch ran; echo the-first-run; exit 1; }}"


class RunCtest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-runner-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tests(self, *tests):
        """Each test is (name, shell command, label); the result's lines and the output."""
        rows = []
        for name, command, label in tests:
            script = self.folder / f"{name}.sh"
            script.write_text(command.replace("ran", f"{self.folder}/{name}-ran") + "\n")
            rows.append(f'add_test("{name}" "/bin/sh" "{script}")')
            properties = f'SKIP_RETURN_CODE 77 LABELS "{label}"' if label else "SKIP_RETURN_CODE 77"
            rows.append(f'set_tests_properties("{name}" PROPERTIES {properties})')
        (self.folder / "CTestTestfile.cmake").write_text("\n".join(rows) + "\n")
        result = self.folder / "result"
        done = subprocess.run(
            [sys.executable, "-B", RUNNER, self.folder, result],
            capture_output=True,
            text=True,
            check=False,
        )
        return (result.read_text().splitlines() if result.exists() else None), done

    def test_counts_what_passed_and_was_skipped(self):
        result, done = self.run_tests(
            ("one", "true", ""), ("two", "true", "process"), ("three", "exit 77", "")
        )
        self.assertEqual(result, ["passed 2", "failed 0", "skipped 1"])
        self.assertEqual(done.returncode, 0)

    def test_a_process_test_that_passes_alone_is_flaky(self):
        result, done = self.run_tests(("slow", AT_FIRST.format(), "process"), ("one", "true", ""))
        self.assertEqual(result, ["passed 2", "failed 0", "skipped 0", "flaky slow"])
        self.assertIn("the-first-run", done.stdout)  # its output is evidence for the ledger

    def test_a_process_test_that_fails_twice_has_failed(self):
        result, _ = self.run_tests(("slow", "exit 1", "process"))
        self.assertEqual(result, ["passed 0", "failed 1", "skipped 0", "broken slow"])

    def test_any_other_test_runs_once(self):
        result, _ = self.run_tests(("unit", AT_FIRST.format(), ""), ("one", "true", "tree"))
        self.assertEqual(result, ["passed 1", "failed 1", "skipped 0", "broken unit"])

    def test_a_name_is_not_a_pattern(self):
        result, _ = self.run_tests(
            ("a.b", AT_FIRST.format(), "process"), ("axb", "exit 1", "process")
        )
        self.assertEqual(
            result, ["passed 1", "failed 1", "skipped 0", "flaky a.b", "broken axb"]
        )

    def test_no_test_at_all_is_a_failure(self):
        result, done = self.run_tests()
        self.assertIsNone(result)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
