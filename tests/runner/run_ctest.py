#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_ctest.py FOLDER RESULT [FLAG of ctest ...]: runs ctest, and failed process tests twice.

A test with the label "process" starts programs and may fail on a busy machine. If it fails, it runs
once more, alone, after all others. If it then passes, it counts as passed and is reported as flaky.
Every other test runs once: its time and its input are arguments, so a failure is a fault.

RESULT receives lines `passed N`, `failed N`, `skipped N`, `flaky NAME`, `broken NAME`. Standard
output receives the output of failed tests, and of the first run of flaky tests.
Exit code: 0 the result was written; 1 ctest gave no result, and the output says why.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

LINES_MAX = 200  # of the output of one failed test
COLUMNS_MAX = 400

Case = collections.namedtuple("Case", "name status output seconds")


def ctest(folder, flags, log):
    """Runs ctest; the cases that its report names, None without a report."""
    report = log.with_suffix(".xml")  # a repetition leaves the report of the whole run
    report.unlink(missing_ok=True)
    with open(log, "w", encoding="utf-8") as out:
        subprocess.run(
            ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error"]
            + ["--output-junit", report.resolve(), *flags],
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return cases_of(report) if report.exists() else None


def cases_of(report):
    """ctest's states: run (it passed), fail, notrun or disabled (it was skipped)."""
    return [
        Case(
            case.get("name"),
            case.get("status"),
            case.findtext("system-out") or "",
            float(case.get("time") or 0),
        )
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase")
    ]


def names_with_label(folder, label):
    listed = subprocess.run(
        ["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, check=True
    )
    return {
        test["name"]
        for test in json.loads(listed.stdout)["tests"]
        for row in test.get("properties", [])
        if row["name"] == "LABELS" and label in row["value"]
    }


def show(title, case):
    print(f"---- {title}: {case.name} ({case.seconds:.0f} s)")
    for line in case.output.splitlines()[-LINES_MAX:]:
        print(line[:COLUMNS_MAX])


def run_again(folder, case):
    """Alone; the case as it is then. A fixture that it needs runs with it and is left out here."""
    flags = ["-j", "1", "-R", f"^{re.escape(case.name)}$"]
    for second in ctest(folder, flags, folder / "ctest-again.log") or []:
        if second.name == case.name:
            return second
    return case


def judged(folder, cases):
    """The cases that failed for good, and those that failed only at first."""
    process_tests = names_with_label(folder, "process")
    broken, flaky = [], []
    for case in cases:
        if case.status != "fail":
            continue
        show("failed", case)
        if case.name in process_tests:
            second = run_again(folder, case)
            if second.status == "run":
                flaky.append(case)
                continue
            show("failed again, alone", second)
        broken.append(case)
    return broken, flaky


def main():
    folder, result, *flags = sys.argv[1:]
    folder = pathlib.Path(folder)
    # Most of a process test's time is waiting: two for each core use both.
    jobs = [] if "-j" in flags else ["-j", str(2 * os.cpu_count())]
    cases = ctest(folder, [*jobs, *flags], folder / "ctest.log")
    if not cases:
        print(*(folder / "ctest.log").read_text(errors="replace").splitlines()[-20:], sep="\n")
        return 1
    broken, flaky = judged(folder, cases)
    skipped = [case for case in cases if case.status in ("notrun", "disabled")]
    rows = [
        f"passed {len(cases) - len(broken) - len(skipped)}",
        f"failed {len(broken)}",
        f"skipped {len(skipped)}",
        *(f"flaky {case.name}" for case in flaky),
        *(f"broken {case.name}" for case in broken),
    ]
    pathlib.Path(result).write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(
        f"{folder}: {len(cases)} tests, {len(broken)} failed, {len(flaky)} flaky, "
        f"{len(skipped)} skipped"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
