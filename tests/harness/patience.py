# SPDX-License-Identifier: Apache-2.0
"""How long a test waits for another process."""

import os
import time

SLOW = int(os.environ.get("HEATSINK_TEST_SLOWNESS", "1"))  # deadlines are this many times longer
PATIENCE_S = 20.0  # for what must happen, however slow the machine


def until(condition, within_s=10.0, what="the condition"):
    """The first true value of `condition()`. Polls: the other side is a process."""
    end = time.monotonic() + within_s * SLOW
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise AssertionError(f"{what} did not come true within {within_s * SLOW} s")
