#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py [NAME ...] [--simulate]: tests whether the checker finds known faults.

It builds a copy of the tree (build/mutants) in which each safeguard of mutant_list.py can be
switched off, and plays with one of them off until something is judged broken: the runs of runs.py,
or with --simulate the scenarios of the simulation, for at most --for seconds of processor time.
With --simulate it then plays as long with every safeguard on. It prints a table. The exit code is 1
if the checker missed a mutant that it should find, or found a fault where there is none. Without
--simulate it needs build/dev/tests/consistency/heatsink_history.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

from mutant_list import ACTIVE, MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutants"
BUILD = COPY / "build" / "dev"
BINARY = BUILD / "apps" / "heatsink" / "heatsink"
LIBRARY_HOST = BUILD / "tests" / "consistency" / "heatsink_library_host"
SIMULATE = BUILD / "tests" / "simulation" / "heatsink_simulate"

SWITCH = "HEATSINK_MUTANT"  # the number of the one that is played; 0: none
HEADER = "heatsink/base/mutant_switch.h"
HEADER_TEXT = """// SPDX-License-Identifier: Apache-2.0
// Which safeguard is off.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace heatsink {

inline const int active_mutant = [] {
  const char* const text = std::getenv("%s");
  return text == nullptr ? 0 : std::atoi(text);
}();

inline bool is_active_mutant(std::initializer_list<int> numbers) {
  return std::find(numbers.begin(), numbers.end(), active_mutant) != numbers.end();
}

}  // namespace heatsink
"""


def patched(wanted):
    """The texts of the files that mutants change, by name. Those of others are left out if they
    do not fit any longer."""
    numbers = {}  # of the mutants that each patch is of
    for number, mutant in enumerate(MUTANTS, 1):
        for patch in mutant.patches:
            numbers.setdefault(patch, []).append(number)
    texts = {HEADER: HEADER_TEXT % SWITCH}
    for patch, its_numbers in numbers.items():
        text = texts.get(patch.file) or with_switch((ROOT / patch.file).read_text(encoding="utf-8"))
        if patch.old not in text:
            names = [MUTANTS[number - 1].name for number in its_numbers]
            if any(MUTANTS[number - 1] in wanted for number in its_numbers):
                raise SystemExit(f"mutants.py: {names}: {patch.file} has no longer: {patch.old}")
            continue
        is_one = "::heatsink::is_active_mutant({" + ", ".join(map(str, its_numbers)) + "})"
        texts[patch.file] = text.replace(patch.old, patch.new.replace(ACTIVE, is_one))
    return texts


def with_switch(text):
    return text.replace("#include", f'#include "{HEADER}"\n#include', 1)


def copy_tree(texts):
    """What is there already keeps its time, so that it is not built again."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
    for name in [HEADER, *filter(None, listed.split("\0"))]:
        source, target = ROOT / name, COPY / name
        if name not in texts and not source.is_file():
            continue
        data = texts[name].encode() if name in texts else source.read_bytes()
        if target.is_file() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if name not in texts:
            target.chmod(source.stat().st_mode)


def build(targets):
    if not (BUILD / "build.ninja").is_file():
        subprocess.run(["cmake", "--preset", "dev", "-DHEATSINK_BENCH=OFF"],
                       cwd=COPY, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    jobs = str(min(2, os.cpu_count() or 1))
    done = subprocess.run(["ninja", "-C", str(BUILD), "-j", jobs, *targets],
                          stdout=subprocess.PIPE, text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(done.stdout[-3000:])


# ---- both ways to play: the row of the table (by what and after how long), and whether


def play_processes(mutant, flags):
    # Only now: the harness reads its environment when it is imported.
    from runs import RUNS  # pylint: disable=import-outside-toplevel

    order = [run for name in mutant.first for run in RUNS if run.name == name]
    order += [run for run in RUNS if run not in order and not mutant.why_not]
    started = time.monotonic()
    for seed in range(flags.seed, flags.seed + flags.rounds):
        for run in order:
            found, _, _ = run.play(flags.seconds or 6, 0, seed)
            if not found.sound:
                by = f"{run.name}: {', '.join(found.promises)}"
                print(f"--- {mutant.name}: {by}\n{found.text}", file=sys.stderr, flush=True)
                return by, time.monotonic() - started, True
    return "not caught", time.monotonic() - started, False


def simulate(first, flags):
    known = subprocess.run([SIMULATE, "--list"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()  # fmt: skip
    command = [SIMULATE, "--until-broken", "--for", str(flags.seconds or 60),
               "--seed", str(flags.seed)]  # fmt: skip
    for name in filter(known.__contains__, first):
        command += ["--first", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)  # fmt: skip
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}: {done.stderr[-200:].strip()}", 0, True
    found = re.search(r"broken after ([\d.]+) s: seed (\d+), scenario '([^']*)'", done.stdout)
    if found is None:
        return "not caught", float(re.search(r"in ([\d.]+) s: ", done.stdout)[1]), False
    promises = re.findall(r"^  ([a-z ]+): \d+$", done.stdout, re.MULTILINE)
    return (f"{found[3]} (seed {found[2]}): {', '.join(promises)}", float(found[1]), True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="test only these mutants")
    parser.add_argument("--simulate", action="store_true", help="in the simulation")
    parser.add_argument("--for", dest="seconds", type=float,
                        help="seconds of each run (6), or of each mutant in the simulation (60)")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of all runs")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    flags = parser.parse_args()
    os.environ["HEATSINK"] = str(BINARY)
    os.environ["HEATSINK_LIBRARY_HOST"] = str(LIBRARY_HOST)
    os.environ.setdefault(
        "HEATSINK_HISTORY", str(ROOT / "build/dev/tests/consistency/heatsink_history")
    )
    sys.path.insert(0, str(ROOT / "tests"))
    wanted = [mutant for mutant in MUTANTS if not flags.names or mutant.name in flags.names]
    copy_tree(patched(wanted))
    targets = ["heatsink_simulate"] if flags.simulate else ["heatsink", "heatsink_library_host"]
    build(targets)
    missed = 0
    print("| without | caught by | after |\n|---|---|---|", flush=True)
    for mutant in wanted:
        os.environ[SWITCH] = str(MUTANTS.index(mutant) + 1)
        if flags.simulate:
            by, took_s, caught = simulate(mutant.scenarios(), flags)
            excuse = mutant.never
        else:
            by, took_s, caught = play_processes(mutant, flags)
            excuse = mutant.why_not
        missed += not caught and not excuse
        note = f" ({excuse})" if excuse and not caught else ""
        print(f"| {mutant.name} | {by}{note} | {took_s:.1f} s |", flush=True)
    if flags.simulate and not flags.names:
        os.environ[SWITCH] = "0"
        by, took_s, broken = simulate((), flags)
        missed += broken
        print(f"| nothing | {by} | {took_s:.1f} s |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
