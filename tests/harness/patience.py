# SPDX-License-Identifier: Apache-2.0
"""How long a test waits for another process."""

import os
import time

SLOW = int(os.environ.get("HEATSINK_TEST_SLOWNESS", "1"))  # deadlines are this many times longer
PATIENCE_S = 20.0  # for what must happen, however slow the machine


def until(condition, within_s=PATIENCE_S, what="the condition"):
    """The first true value of `condition()`. Polls: the other side is a process."""
    end = time.monotonic() + within_s * SLOW
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come true within {within_s * SLOW} s")
        time.sleep(0.002)  # a poll's pause: the other process gets the core
    return value


def until_seen(read, expected, bound_s, what="the change", excused=lambda told: False):
    """Reads until it is told `expected`, which became true before this call.

    No read that is asked later than `bound_s` from now may be told anything else, but what is
    `excused` (an error). By when it is asked, not by when its answer is seen: a proxy can promise
    the one, and only the machine the other.
    """
    began = time.monotonic()

    def seen():
        asked = time.monotonic()
        told = read()
        if told != expected and asked > began + bound_s and not excused(told):
            raise AssertionError(
                f"{what}: asked {asked - began:.3f} s later, and told {told!r}, not {expected!r}"
            )
        return told == expected

    until(seen, bound_s + PATIENCE_S, what)
