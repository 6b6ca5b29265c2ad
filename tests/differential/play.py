#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the differential test by hand: more steps, other seeds, or one recorded conversation.

    PYTHONPATH=tests python3 tests/differential/play.py --seed 7 --steps 20000
    PYTHONPATH=tests python3 tests/differential/play.py --caching off --seeds 100
    PYTHONPATH=tests python3 tests/differential/play.py --replay found.txt

The environment variable HEATSINK names the proxy, as for every test (tests/harness). If the replies
differ, the script prints the shortest conversation that it found with this difference; --replay
plays it again.
"""

import argparse
import sys
import time

import generate
import step
from pair import Difference
from shrink import shrunk
from stage import CACHING, Stage


def replay(stage, path):
    with open(path, encoding="utf-8") as lines:
        stage.play(step.parse(lines), generate.PROTOCOLS)


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--seed", type=int, default=1, help="first seed (default 1)")
    options.add_argument("--seeds", type=int, default=1, help="number of seeds (default 1)")
    options.add_argument(
        "--steps", type=int, default=5000, help="steps for each seed (default 5000)"
    )
    options.add_argument(
        "--caching", choices=sorted(CACHING), default="eager", help="cache settings of the proxy"
    )
    options.add_argument("--replay", metavar="FILE", help="play this conversation only")
    chosen = options.parse_args()
    with Stage(chosen.caching) as stage:
        if chosen.replay:
            replay(stage, chosen.replay)
            print("no difference")
            return
        for seed in range(chosen.seed, chosen.seed + chosen.seeds):
            begun, before = time.monotonic(), stage.hits()
            steps = stage.steps(seed, chosen.steps)
            try:
                stage.play(steps, generate.PROTOCOLS)
            except Difference as difference:
                sys.exit(f"seed {seed}, {chosen.caching}:\n{difference}\n"
                         + "\n".join(shrunk(stage, steps, difference)))
            print(f"seed {seed}: {len(steps)} steps, {stage.hits() - before:.0f} hits,"
                  f" {time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
