# SPDX-License-Identifier: Apache-2.0
"""The proxy itself stands still, or its machine's wall clock jumps, during a recorded load."""

import os
import signal
import struct
import tempfile
import time
import unittest

from harness import PATIENCE_S, long_form, until
from recorded import BOUND_S, COPIES, LOAD, Recorded

WALL_CLOCK = os.environ.get("HEATSINK_WALL_CLOCK_LIBRARY", "")
HOUR_S = 3600


@long_form("server_faults_test.py Stopped; 'a stopped proxy'")
class Row05(Recorded):
    # Asks all the while: what waits in its socket is what is answered first.
    PACED = "via=1,count=4,depth=8,pace-us=20000,keys=4"

    def test_stopped_for_longer_than_the_bound(self):
        """The first hit is refused: that it would have been one, a write past the proxy sees to."""
        with self.recorded((*LOAD, self.PACED)) as (theatre, play):
            for _ in range(2):
                theatre.proxies[0].process.freeze()
                time.sleep(1.5 * BOUND_S)  # the fault lasts this long
                theatre.proxies[0].process.signal(signal.SIGCONT)
                play.copies_speak(COPIES)


@unittest.skipIf(not WALL_CLOCK, "not beside a sanitizer's own preloaded library")
class Row06(Recorded):
    def test_an_hour_forth_and_two_back(self):
        with tempfile.NamedTemporaryFile(prefix="heatsink-test-") as file:
            self.turn(file, 0)
            os.environ["HEATSINK_WALL_CLOCK"] = file.name
            self.addCleanup(os.environ.pop, "HEATSINK_WALL_CLOCK")
            with self.recorded(preload=WALL_CLOCK) as (theatre, play):
                until(
                    lambda: self.turned_without_loss(theatre, play, file),
                    3 * PATIENCE_S, "the tracker outlives all turns",
                )  # fmt: skip

    def turned_without_loss(self, theatre, play, file):
        """It may be lost if everything stands still for a second: then once more."""
        lost = self.lost(theatre)
        for seconds in (HOUR_S, -HOUR_S, 0):
            asked = self.asked(file)
            self.turn(file, seconds)
            play.copies_speak(COPIES)
            until(lambda: self.asked_since(theatre, file, asked), PATIENCE_S, "noticed")
        return self.lost(theatre) == lost

    def turn(self, file, seconds):
        os.pwrite(file.fileno(), struct.pack("=q", seconds), 0)
        os.ftruncate(file.fileno(), 16)

    def asked(self, file):
        return struct.unpack("=q", os.pread(file.fileno(), 8, 8))[0]

    def asked_since(self, theatre, file, before):
        theatre.proxies[0].coherence()  # a report bears the time of day
        return self.asked(file) > before


if __name__ == "__main__":
    unittest.main()
