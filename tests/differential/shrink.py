# SPDX-License-Identifier: Apache-2.0
"""Fewer steps that still make the difference."""

import dataclasses
import time

from pair import Difference

PATIENCE_S = 30


def still_differs(play, steps, difference):
    """The same command is answered otherwise; another difference is another story."""
    try:
        play(steps)
    except Difference as found:
        return found.command == difference.command
    return False


def fewest(play, steps, difference, end):
    """The last ones suffice, often; then halves, quarters, ... are left out while it stays.

    Until time `end`.
    """
    for last in (10, 100, 1000):
        if last < len(steps) and still_differs(play, steps[-last:], difference):
            steps = steps[-last:]
            break
    size = len(steps) // 2
    while size > 0 and time.monotonic() < end:
        at = 0
        while at < len(steps) and time.monotonic() < end:
            fewer = steps[:at] + steps[at + size :]
            if still_differs(play, fewer, difference):
                steps = fewer
            else:
                at += size
        size //= 2
    return steps


def shorter(play, steps, difference, end):
    """Single commands are left out of the pipelines."""
    for i, step in enumerate(steps):
        at = 0
        while at < len(step.commands) > 1 and time.monotonic() < end:
            commands = step.commands[:at] + step.commands[at + 1 :]
            less = dataclasses.replace(step, commands=commands)
            if still_differs(play, [*steps[:i], less, *steps[i + 1 :]], difference):
                step = less
                steps = [*steps[:i], less, *steps[i + 1 :]]
            else:
                at += 1
    return steps


def shrunk(stage, steps, difference):
    """Lines that --replay of play.py takes."""
    played = []

    def play(some):
        stage.play(some, stage.pair.protocols)

    try:
        stage.play(steps, stage.pair.protocols, played.append)
    except Difference as found:
        if found.command != difference.command:
            return [f"# it does not come again by itself: {len(played)} steps, by the seed"]
    else:
        return ["# it does not come again by itself: play the seed"]
    end = time.monotonic() + PATIENCE_S
    least = shorter(play, fewest(play, played, difference, end), difference, end)
    return [f"# of {len(steps)} steps:", *(line for each in least for line in each.lines())]
