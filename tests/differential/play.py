#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The differential test by hand: more steps, other seeds, or one conversation again.

    PYTHONPATH=tests python3 tests/differential/play.py --seed 7 --steps 20000
    PYTHONPATH=tests python3 tests/differential/play.py --caching off --seeds 100
    PYTHONPATH=tests python3 tests/differential/play.py --replay found.txt

HEATSINK names the proxy, as for every test (tests/harness). A difference is told with the fewest
steps that were found to make it, as a conversation that --replay plays.
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
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seeds", type=int, default=1, help="so many, from --seed on")
    options.add_argument("--steps", type=int, default=5000)
    options.add_argument("--caching", choices=sorted(CACHING), default="eager")
    options.add_argument("--replay", metavar="FILE")
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
