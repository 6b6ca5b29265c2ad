#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares policies that decide which keys have local copies, on traces and generated shapes.

    bench/policy.py [--traces ../shared/traces] [--quick] [--only NAME] [--show fills]

A row is one workload, share of writes, number of copies, and cost of a fill in server commands. A
cell is the net: reads answered by copies, less what the fills cost, in percent of all requests. A
write ends the key's copy, and the next read needs a fill again.

threshold   the best setting of those that `heatsink replay` tries, at that many requests per second
4th read    copies a key at its 4th read within 8192 recent keys, evicts like LRU
Belady      the optimum if fills are free; only shown there
heatsink    what the product chooses (heatsink/admit), told the cost of a fill

A row misses its goal, marked by *, if the net of the last column is below the best threshold's,
below 4th read's, or below zero (for corda, below -1 %); and, if fills are free, below 0.9 of
Caffeine's.
Exit code: 0 no row misses its goal, 1 some do, 2 the table could not be made.

The order of requests decides everything here, and their rate only two things: the thresholds, and
how many requests a copy lives if it expires (--expire-after-write; by default only a write ends
it). With it there is one row for each rate; Belady and Caffeine know no expiry then.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

from processes import BenchError

ROOT = pathlib.Path(__file__).resolve().parents[1]
COSTS = (0, 1, 2)  # server commands per fill
RATES = (2000, 20_000, 200_000)
THRESHOLDS = tuple(f"threshold {rate}/s" for rate in RATES)
POLICIES = (*THRESHOLDS, "4th read", "LRU", "S3-FIFO", "SIEVE", "W-TinyLFU", "Caffeine", "Belady",
            "heatsink")  # fmt: skip
JUDGED = POLICIES[-1]
HEADS = {"threshold 2000/s": "thr.2k", "threshold 20000/s": "thr.20k",
         "threshold 200000/s": "thr.200k"}  # fmt: skip
FIGURES = ("net", "hits", "fills", "invalidated")
LEAST_OF_CAFFEINE = 0.9
LOSSES_ALLOWED = {"corda": 1.0}  # percent of the requests; nothing is worth a copy there
ROUNDING = 0.05  # percent: what the table does not show
NOT_INSTALLED = "not measured: install it by deploy/install-debian-packages bench"
INSTALL_TIMEOUT_S = 300  # a registry that is silent is no registry


class Caffeine:
    """Counts by Caffeine itself, from bench/policy/CaffeineCounts.java. It admits some keys by
    chance, so its counts change a little from run to run."""

    def __init__(self, folder):
        self._folder = folder
        self.why_absent = self._install()

    def _install(self):
        """None, or the reason why there is no Caffeine."""
        for tool in ("mvn", "java", "javac"):
            if shutil.which(tool) is None:
                return NOT_INSTALLED
        source = ROOT / "bench/policy"
        files = [source / name for name in ("pom.xml", "CaffeineCounts.java", "jars.sha256")]
        stamp = self._folder / "installed"
        state = "".join(file.read_text(encoding="utf-8") for file in files)
        if stamp.exists() and stamp.read_text(encoding="utf-8") == state:
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, self._folder)
        for command in (
            ("mvn", "-q", "-B", "compile", "dependency:copy-dependencies"),
            ("sha256sum", "--check", "--quiet", "jars.sha256"),
        ):
            # `timeout` ends also what the command has started.
            done = subprocess.run(
                ["timeout", "--kill-after=5", str(INSTALL_TIMEOUT_S), *command],
                cwd=self._folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode in (124, 137):
                return f"not measured: {' '.join(command)} took longer than {INSTALL_TIMEOUT_S} s"
            if done.returncode != 0:
                said = re.findall(r"ERROR.*|.*FAILED.*", done.stdout + done.stderr)
                why = said[0] if said else f"exit code {done.returncode}"
                return f"not measured: {' '.join(command)} failed: {why}"
        stamp.write_text(state, encoding="utf-8")
        return None

    def counts(self, requests, capacities):
        """By capacity. `requests`: the command that writes them to its standard output."""
        with subprocess.Popen(requests, stdout=subprocess.PIPE) as written:
            played = subprocess.run(
                ["java", "-cp", "target/classes:target/dependency/*", "CaffeineCounts",
                 *map(str, capacities)],
                cwd=self._folder, stdin=written.stdout, capture_output=True, text=True,
                check=False,
            )  # fmt: skip
        if played.returncode != 0 or written.returncode != 0:
            raise BenchError(f"Caffeine: {played.stderr.strip()[-300:] or 'no requests came'}")
        out = {}
        for line in played.stdout.splitlines():
            copies, hits, fills, invalidated = map(int, line.split())
            out[copies] = {"hits": hits, "fills": fills, "invalidated": invalidated}
        return out


def counts_of(row, policy, cost):
    """None: it was not measured. Some policies differ by the cost of a fill."""
    counts = row.get(policy)
    return counts[COSTS.index(cost)] if isinstance(counts, list) else counts


def percent(row, policy, cost, figure="net"):
    """Of the requests; None where the figure means nothing."""
    counts = counts_of(row, policy, cost)
    if counts is None or (policy == "Belady" and cost > 0):
        return None
    value = counts["hits"] - cost * counts["fills"] if figure == "net" else counts[figure]
    return 100 * value / row["requests"]


def goal_of(row, cost):
    """What the judged policy's net must reach, in percent of the requests."""
    rivals = [percent(row, policy, cost) for policy in (*THRESHOLDS, "4th read") if policy in row]
    goal = max(rivals)
    if goal <= 0:
        goal = -LOSSES_ALLOWED.get(row["workload"], 0)
    # An expiry is known to W-TinyLFU here, but not to Caffeine.
    reference = percent(row, "Caffeine", 0) if "expires_after" not in row else None
    if reference is None:
        reference = percent(row, "W-TinyLFU", 0)
    return max(goal, LEAST_OF_CAFFEINE * reference) if cost == 0 else goal


def short_by(row, cost):
    """How much the judged net is below its goal, in percent of the requests; negative: above."""
    return goal_of(row, cost) - percent(row, JUDGED, cost)


def measure(options, caffeine):
    """One row after the other, as the program measures them."""
    command = [str(options.program)]
    if options.traces.is_dir():
        command += ["--traces", str(options.traces)]
    if options.requests:
        command += ["--requests", str(options.requests)]
    more = ["--only", options.only] if options.only else []
    more += ["--quick"] if options.quick else []
    if options.expire_after_write:
        more += ["--expire-after-write", str(options.expire_after_write)]
    try:
        with subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True) as program:
            of_caffeine = {}
            for row in map(json.loads, program.stdout):
                if caffeine is not None:
                    traffic = (row["workload"], row["writes"])
                    if traffic not in of_caffeine:
                        asked = [*command, "--requests", str(row["requests"]), "--write-requests",
                                 row["workload"], str(row["writes"])]  # fmt: skip
                        capacities = (1000,) if options.quick else (1000, 4096, 10_000)
                        of_caffeine[traffic] = caffeine.counts(asked, capacities)
                    row["Caffeine"] = of_caffeine[traffic][row["copies"]]
                yield row
    except FileNotFoundError as error:
        raise BenchError(
            f"there is no {options.program}; build it: cmake --preset release && "
            "cmake --build --preset release --target bench_policy"
        ) from error
    if program.returncode != 0:
        raise BenchError(f"{options.program.name} ended with exit code {program.returncode}")


def line_of(row, cost, figure):
    copies = f"{row['copies']}"
    if "expires_after" in row:
        copies += f" x{row['expires_after']}"
    cells = [f"{row['workload']:16} {100 * row['writes']:3.0f} % {copies:>6} {cost:4}"]
    for policy in POLICIES:
        value = percent(row, policy, cost, figure)
        width = len(HEADS.get(policy, policy))
        cells.append(f"{'-' if value is None else f'{value:.1f}':>{max(width, 6)}}")
    missed = figure == "net" and short_by(row, cost) > ROUNDING
    return "  ".join(cells) + ("*" if missed else "")


def print_head(figure):
    heads = [HEADS.get(policy, policy) for policy in POLICIES]
    print(f"{figure} in percent of the requests")
    row = f"{'workload':16} {'writes':>5} {'copies':>5} {'cost':>4}"
    print("  ".join([row, *(f"{head:>6}" for head in heads)]))


def print_summary(rows):
    """True: all rows reach their goals."""
    judged = [(short_by(row, cost), row, cost) for row in rows for cost in COSTS]
    missed = sorted((each for each in judged if each[0] > ROUNDING), key=lambda each: -each[0])
    print(f"\n{len(judged) - len(missed)} of {len(judged)} rows reach their goal")
    for short, row, cost in missed:
        print(
            f"  {row['workload']}, {100 * row['writes']:.0f} % writes, {row['copies']} copies, "
            f"{cost} commands per fill: {percent(row, JUDGED, cost):.1f}, {short:.1f} below"
        )
    return not missed


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--program", type=pathlib.Path, default=ROOT / "build/release/bench/bench_policy",
        help="the program to run (default: build/release/bench/bench_policy)",
    )  # fmt: skip
    parser.add_argument(
        "--traces", type=pathlib.Path, default=ROOT / "../shared/traces",
        help="folder of the traces (default: ../shared/traces)",
    )  # fmt: skip
    parser.add_argument("--only", help="the name of one workload")
    parser.add_argument("--requests", type=int, help="requests of a workload (see the program)")
    parser.add_argument(
        "--quick", action="store_true", help="1000 copies, 0 and 10 %% writes, 50000 requests"
    )
    parser.add_argument(
        "--expire-after-write", type=float, metavar="SECONDS", help="copies expire so long after "
        "their fill"
    )  # fmt: skip
    parser.add_argument(
        "--show", choices=FIGURES, default="net", help="what the cells show (default: net)"
    )
    parser.add_argument("--without-caffeine", action="store_true", help="needs no Java")
    parser.add_argument("--json", type=pathlib.Path, help="also write all counts to this file")
    return parser.parse_args()


def caffeine_for(options):
    if options.without_caffeine:
        return None
    caffeine = Caffeine(ROOT / "build/caffeine")
    if caffeine.why_absent:
        print(f"Caffeine is {caffeine.why_absent}; W-TinyLFU stands in for it")
        return None
    return caffeine


def main():
    options = parse_options()
    options.program = options.program.resolve()
    if not options.traces.is_dir():
        print(f"traces are skipped: there is no {options.traces}")
    rows = []
    try:
        caffeine = caffeine_for(options)
        print_head(options.show)
        for row in measure(options, caffeine):
            rows.append(row)
            for cost in COSTS:
                print(line_of(row, cost, options.show), flush=True)
    except BenchError as error:
        print(f"policy: {error}", file=sys.stderr)
        return 2
    reached = print_summary(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
