# SPDX-License-Identifier: Apache-2.0
"""The data is flushed, swapped or no longer tracked, or one key is written all the time."""

import re
import time
import unittest

from harness import EAGER, LOG, PATIENCE_S, Proxy, Redis, ValueClient, long_form, until
from recorded import COPIES, LOAD, Recorded, readers, trackers


class Row09(Recorded):
    FLUSHER = "via=0,flush=10000,think-us=150000"  # FLUSHALL

    @long_form("coherence_test.py test_flush_by_another; 'fail-over, the old server hangs'")
    def test_flush_of_everything_past_the_proxy(self):
        with self.recorded((*LOAD, self.FLUSHER)) as (theatre, _):
            flushes = theatre.proxies[0].metric("heatsink_flushes_total")
            until(
                lambda: theatre.proxies[0].metric("heatsink_flushes_total") > flushes + 3,
                PATIENCE_S, "flushes during the load",
            )

    def test_flush_of_another_database(self):
        """Takes all copies along, and the values come back from the server."""
        with self.recorded() as (theatre, play):
            flushes = theatre.proxies[0].metric("heatsink_flushes_total")
            with ValueClient(theatre.server.port) as client:
                client("SELECT", "5")
                for _ in range(3):
                    client("FLUSHDB")
                    play.copies_speak(COPIES)
            until(
                lambda: theatre.proxies[0].metric("heatsink_flushes_total") >= flushes + 3,
                PATIENCE_S, "three flushes",
            )  # fmt: skip


class Row09Swap(unittest.TestCase):
    """SWAPDB past the proxy: the server tells nobody, and the copy's own end is the bound."""

    END_S = 1

    def test_swapdb(self):
        server = Redis()
        self.addCleanup(server.stop)
        options = EAGER | {"cache.expire-after-write": f"{self.END_S}s"}
        proxy = Proxy(server, options, stderr=LOG)
        self.addCleanup(proxy.stop)
        with ValueClient(server.port) as direct, ValueClient(proxy.port) as client:
            direct("SET", "k", "old")
            direct("SELECT", "1")
            direct("SET", "k", "new")
            hits = proxy.hits()
            until(
                lambda: client("GET", "k") == b"old" and proxy.hits() > hits + 20,
                PATIENCE_S, "hits",
            )  # fmt: skip
            direct("SWAPDB", "0", "1")
            swapped = time.monotonic()
            while time.monotonic() < swapped + self.END_S + 1:
                asked = time.monotonic()
                if client("GET", "k") == b"old":
                    self.assertLess(asked, swapped + self.END_S)
            self.assertEqual(client("GET", "k"), b"new")


@long_form("server_faults_test.py CutOff; 'faults at random'")
class Row10(Recorded):
    def test_the_tracking_table_has_room_for_one_name(self):
        """What is forgotten is told as if it had changed: hits are lost, and nothing else."""
        with self.recorded() as (theatre, play):
            until(
                lambda: self.forgets_without_loss(theatre, play),
                3 * PATIENCE_S, "the tracker outlives what is forgotten",
            )  # fmt: skip

    def forgets_without_loss(self, theatre, play):
        """The tracker may be lost if everything stands still for a second: then once more."""
        tracker, lost = trackers(theatre.server.port), self.lost(theatre)
        theatre.ask("CONFIG", "SET", "tracking-table-max-keys", "1")
        invalidations = theatre.proxies[0].metric("heatsink_invalidations_total")
        until(
            lambda: theatre.proxies[0].metric("heatsink_invalidations_total") > invalidations + 100,
            PATIENCE_S, "names that are forgotten",
        )  # fmt: skip
        theatre.ask("CONFIG", "SET", "tracking-table-max-keys", "1000000")
        play.copies_speak(COPIES)
        return trackers(theatre.server.port) == tracker and self.lost(theatre) == lost


class Row19(Recorded):
    """A key that is written 1000 times a second stops being copied; the others do not notice."""

    WRITER = "via=1,set=10000,first=9,keys=1,pace-us=1000"
    READER = "via=1,count=2,first=9,keys=1,think-us=1000"

    def test_a_key_that_is_written_all_the_time(self):
        options = {"detection.write-hot-ratio": 10, "detection.minimum-residence": "0s"}
        with self.recorded((*LOAD, readers(), self.WRITER, self.READER),
                           options=options) as (theatre, play):  # fmt: skip
            until(lambda: self.temperature(theatre, "k9") == "write-hot", PATIENCE_S, "write-hot")
            fills = theatre.proxies[0].metric("heatsink_fills_total")
            written, began = self.written(theatre), time.monotonic()
            until(lambda: self.written(theatre) > written + 1000, PATIENCE_S, "writes of it")
            refilled = theatre.proxies[0].metric("heatsink_fills_total") - fills
            others_max = 50 * (time.monotonic() - began)  # the load's own writes
            self.assertLess(refilled - others_max, 300)
            until(lambda: self.temperature(theatre, "k9") == "write-hot", PATIENCE_S, "write-hot")
            play.copies_speak(COPIES)

    def temperature(self, theatre, key):
        for row in theatre.proxies[0].api("hotkeys")["keys"]:
            if row["name"] == key:
                return row["verdict"]
        return None

    def written(self, theatre):
        """Nearly all of what is written is this key."""
        stats = theatre.ask("INFO", "commandstats").decode()
        return int(re.search(r"cmdstat_set:calls=(\d+)", stats)[1])


if __name__ == "__main__":
    unittest.main()
