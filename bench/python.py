#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a local read costs in Python, beside a GET by redis-py over loopback.

Builds the wheel with the library of build/release, installs it in a folder of its own, and measures
there: so it is what a user gets. Needs what tests of bindings/python need, Debian's Python first of
all. All contenders run in one process, in turns; what is told is the median of the turns. It is CPU
time of this thread, which other work of the machine changes little: of redis-py that leaves out the
time it waits for the server.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
LESS_MIN = 20  # times cheaper than redis-py


def main():
    with tempfile.TemporaryDirectory(prefix="heatsink-bench-") as folder:
        environment = os.environ | {
            "PYTHON": PYTHON,
            "HEATSINK_BUILD": str(ROOT / "build/release"),
            "PYTHONPATH": str(ROOT / "tests"),
        }
        make = [ROOT / "bindings/python/make_venv", f"{folder}/venv"]
        subprocess.run(make, check=True, env=environment, stdout=subprocess.DEVNULL)
        measured = subprocess.run(
            [f"{folder}/venv/bin/python", "-B", ROOT / "bench/python_reads.py"],
            check=True,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    costs = {name: float(ns) for name, ns in (row.split("\t") for row in measured.splitlines())}
    hit = costs["Client.get"]
    print(f"{'A read of a hot key, of CPU':36}{'ns':>8}{'times':>8}")
    for name, ns in costs.items():
        print(f"{name:36}{ns:8.0f}{ns / hit:8.1f}")
    less = costs["get of redis.Redis, over loopback"] / hit
    verdict = "reached" if less >= LESS_MIN else "MISSED"
    print(f"\na hit, times cheaper than redis-py: asked {LESS_MIN}, {less:.0f}: {verdict}")
    return 0 if less >= LESS_MIN else 1


if __name__ == "__main__":
    sys.exit(main())
