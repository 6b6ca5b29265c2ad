# SPDX-License-Identifier: Apache-2.0
"""What heatsink is to reach, one row each, and what a run reached.

What forwarding is to reach beside predixy, which Debian does not have: bench/pass_through.py.
"""

import dataclasses
from collections.abc import Callable

GETS = ("hot GET", "random GET", "SET")


@dataclasses.dataclass(frozen=True)
class Target:
    text: str
    case: tuple  # (operation, pipeline)
    figure: Callable  # of the cells of that case, by contender; KeyError when one did not run
    limit: float
    at_most: bool = True

    def met(self, reached):
        return reached <= self.limit if self.at_most else reached >= self.limit


def _cost(pipeline):
    hit = {1: 5.0, 16: 0.40}[pipeline]
    miss = {1: 5.5, 16: 0.75}[pipeline]
    redis = {1: 1.3, 16: 0.35}[pipeline]
    to_bare = {1: 0.95, 16: 0.87}[pipeline]
    hot, random = ("hot GET", pipeline), ("random GET", pipeline)
    return [
        Target("hit: us of proxy CPU", hot, lambda at: at["heatsink"]["cpu_us"], hit),
        Target(
            "hit: operations per CPU second, to the bare responder's",
            hot,
            lambda at: at["heatsink"]["to_bare"],
            to_bare,
            at_most=False,
        ),
        Target(
            "hit: throughput, to direct Redis",
            hot,
            lambda at: at["heatsink"]["ratio"],
            1.0,
            at_most=False,
        ),
        Target("miss: us of proxy CPU", random, lambda at: at["heatsink"]["cpu_us"], miss),
        Target("miss: us of Redis CPU", random, lambda at: at["heatsink"]["redis_us"], redis),
        Target(
            "miss: CPU of detection, on to off", random, lambda at: at["heatsink"]["to_blind"], 1.03
        ),
        *[
            Target(
                "p99, to direct Redis",
                (operation, pipeline),
                lambda at: at["heatsink"]["p99_ratio"],
                1.0,
            )
            for operation in GETS
        ],
    ]


TARGETS = [target for pipeline in (1, 16) for target in _cost(pipeline)]
# The targets are for this size of value; other sizes are shown beside.
TARGET_VALUE_BYTES = 64


def judge(cells):
    """One row per target that `cells` can tell: (operation, P) -> contender -> figures."""
    out = []
    for target in TARGETS:
        try:
            reached = target.figure(cells[target.case])
        except KeyError:
            continue
        out.append(
            {
                "target": target.text,
                "operation": target.case[0],
                "pipeline": target.case[1],
                "limit": target.limit,
                "at_most": target.at_most,
                "reached": reached,
                "met": target.met(reached),
            }
        )
    return out
