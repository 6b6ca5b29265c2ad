# SPDX-License-Identifier: Apache-2.0
"""Twenty processes want as much of one limit as they can get: what they get, and when.

HEATSINK_LIMITS_SECONDS=60 plays each case for a minute instead of a few seconds.
"""

import os
import time
import unittest

from harness import SLOW, Redis, ValueClient
from players import PLAYER, SECONDS, play

PROCESSES = 20
RATE, BURST = 1000, 500
PLAYS_MAX = 3
USE_MIN = 0.8 if SLOW == 1 else 0.3  # of the limit


class DistributedLimits(unittest.TestCase):
    def setUp(self):
        if not os.access(PLAYER, os.X_OK):
            self.skipTest("HEATSINK_LIMIT_PLAYER names no program")
        self.server = Redis()
        self.addCleanup(self.server.stop)

    def play(self, settings, meanwhile=None):
        url = f"redis://127.0.0.1:{self.server.port}"
        common = {"url": url, "rate": f"{RATE}/s", "burst": BURST}
        return play(PROCESSES, common | settings, meanwhile)

    def check(self, outcome, what, held_max, bursts=1):
        """No interval has more than is promised, and all of it is the longest.

        `held_max`: by one process, paid for and unspent, that which it waits for included.
        """
        exact = bursts * BURST + RATE * outcome.duration_s
        print(
            f"{what}: {outcome.admitted} admitted in {outcome.duration_s:.1f} s,"
            f" {outcome.admitted / exact:.1%} of {exact:.0f};"
            f" {outcome.counts['asked']} asks of the server, {outcome.counts['lapsed']} lapsed",
            flush=True,
        )
        excess_max = bursts * BURST + PROCESSES * held_max
        self.assertLessEqual(outcome.worst_excess(RATE), excess_max)
        self.assertEqual(outcome.counts["unlimited"], 0)

    def check_use(self, settings, what, held_max):
        """Nothing is lost but what lapsed and what is left: the bucket's burst, what is held.

        The bucket runs over while the machine gives the players no time, so one play of three has
        to show it. A limiter that loses tokens loses them in each play.
        """
        shares = []
        for _ in range(PLAYS_MAX):
            outcome = self.play(settings)
            self.check(outcome, what, held_max)
            shares.append((outcome.admitted + BURST) / (BURST + RATE * outcome.duration_s))
            if shares[-1] > USE_MIN:
                return
        self.fail(f"{what}: the players got {shares} of the limit, not {USE_MIN}")

    def test_each_asks_the_server(self):
        self.check_use({"algorithm": "token-bucket"}, "token bucket", held_max=1)

    def test_leases(self):
        share = 0.02
        settings = {"algorithm": "token-bucket", "share": share}
        self.check_use(settings, "token bucket, leased", held_max=share * BURST + 1)

    def test_functions_are_flushed_all_the_time(self):
        def flush():
            with ValueClient(self.server.port) as client:
                for _ in range(20):
                    client("FUNCTION", "FLUSH")
                    client("SCRIPT", "FLUSH")
                    time.sleep(SECONDS / 30)  # paces the fault; nothing waits for it

        outcome = self.play({"algorithm": "token-bucket", "share": 0.01}, flush)
        self.check(outcome, "flushed", held_max=0.01 * BURST + 1)
        self.assertGreater(outcome.counts["loads"], 1)
        self.assertEqual(outcome.counts["failures"], 0)

    def test_the_server_is_killed_and_comes_back(self):
        def kill():
            time.sleep(SECONDS / 3)  # the players play: it is in the middle of it
            self.server.process.kill()
            time.sleep(SECONDS / 4)  # the fault lasts this long: no player waits so for its turn
            self.server.restart()

        outcome = self.play({"algorithm": "token-bucket", "share": 0.02}, kill)
        self.check(outcome, "killed", held_max=0.02 * BURST + 1, bursts=2)
        self.assertGreater(outcome.counts["failures"], 0)

    def test_a_window_is_never_exceeded(self):
        outcome = self.play({"algorithm": "sliding-window"})
        exact = RATE * (outcome.duration_s + 1)
        print(
            f"sliding window: {outcome.admitted} admitted in {outcome.duration_s:.1f} s,"
            f" {outcome.admitted / exact:.1%} of {exact:.0f}",
            flush=True,
        )
        for at in outcome.got:
            in_window = sum(outcome.got[at + i] for i in range(9))  # surely within a second
            self.assertLessEqual(in_window, RATE + PROCESSES)


if __name__ == "__main__":
    unittest.main()
