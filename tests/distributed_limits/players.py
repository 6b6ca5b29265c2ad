# SPDX-License-Identifier: Apache-2.0
"""Processes that want as much of one limit as they can get, and what they got together."""

import collections
import os
import re
import subprocess

from harness import PATIENCE_S, SLOW

PLAYER = os.environ.get(
    "HEATSINK_LIMIT_PLAYER", "build/dev/tests/distributed_limits/heatsink_limit_player"
)
SECONDS = float(os.environ.get("HEATSINK_LIMITS_SECONDS", "2"))
KEY = "heatsink:limit:token-bucket:default:the one that all want"
BUCKET_S = 0.1
CLOCKS = 1.001  # the server's clock against ours: what may be between them


class Player:
    """One process; what it got by tenths of a second, and what it counted."""

    def __init__(self, settings):
        self.child = subprocess.Popen(
            [PLAYER, *(f"{name}={value}" for name, value in settings.items())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def is_ready(self):
        return self.child.stdout.readline() == "ready\n"

    def begin(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()

    def told(self):
        output, errors = self.child.communicate(timeout=10 * (SECONDS + PATIENCE_S) * SLOW)
        if self.child.returncode != 0 or "Sanitizer" in errors:
            raise AssertionError(f"ended with {self.child.returncode}: {errors}")
        counts = {name: int(n) for name, n in re.findall(r"^([a-z]+) (\d+)$", output, re.MULTILINE)}
        got = re.findall(r"^at (\d+) (\d+)$", output, re.MULTILINE)
        return counts, {int(at): int(n) for at, n in got}

    def stop(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.communicate()


class Outcome:
    """Of all processes together."""

    def __init__(self, told):
        self.counts, self.got = collections.Counter(), collections.Counter()
        for counts, got in told:
            self.counts.update(counts)
            self.got.update(got)
        self.admitted = sum(self.got.values())
        self.duration_s = (max(self.got) - min(self.got) + 1) * BUCKET_S

    def worst_excess(self, rate):
        """Over all intervals of whole tenths: how many more than rate x time were admitted."""
        worst = sum_before = lowest = 0
        for i, at in enumerate(range(min(self.got), max(self.got) + 1)):
            # The best beginning for an interval that ends here is where the sum was lowest.
            lowest = min(lowest, sum_before - rate * CLOCKS * i * BUCKET_S)
            sum_before += self.got[at]
            worst = max(worst, sum_before - rate * CLOCKS * (i + 1) * BUCKET_S - lowest)
        return worst


def play(count, settings, meanwhile=None):
    """`settings` as the player takes them; `meanwhile` runs while they play."""
    players = []
    try:
        for _ in range(count):
            players.append(Player({"on-failure": "refuse", "seconds": SECONDS} | settings))
        for each in players:
            if not each.is_ready():
                raise AssertionError("a player does not start")
        for each in players:
            each.begin()
        if meanwhile is not None:
            meanwhile()
        return Outcome([each.told() for each in players])
    finally:
        for each in players:
            each.stop()
