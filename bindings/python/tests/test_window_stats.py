# SPDX-License-Identifier: Apache-2.0
"""Window statistics of several processes, before a real server."""

import datetime
import os
import subprocess
import sys
import threading

import pytest

import heatsink
from harness.patience import PATIENCE_S, SLOW, until
from harness.relay import Relay

PATIENCE = datetime.timedelta(seconds=PATIENCE_S * SLOW)


@pytest.fixture
def options(server):
    # Kept for an hour, so that no test is slow enough to see a number leave.
    return {
        "server_url": f"redis://127.0.0.1:{server.port}",
        "statistics_length": "1h",
        "statistics_hold": "10m",
        "server_response_timeout": "1m",
    }


def test_what_is_added_is_read(options):
    with heatsink.WindowStats(**options) as stats:
        for i in range(1, 101):
            assert stats.add("read", i) is True
        stats.flush(PATIENCE)
        reading = stats.read(b"read")
        assert (reading.count, reading.sum, reading.min, reading.max) == (100, 5050, 1, 100)
        assert reading.mean == 50.5 and reading.p50 == 50 and abs(reading.p99 - 99) <= 1.6
        assert reading.slot == datetime.timedelta(minutes=1)
        assert reading.length == datetime.timedelta(hours=1)
        assert reading.covered <= reading.length and reading.shards_missing == 0
        assert stats.read("read", datetime.timedelta(minutes=5)).covered.seconds <= 300
        assert stats.counts().delivered == 100 and stats.problem() == ""
        assert stats.read("none") is None
        assert b"read" in stats.names() and stats.names("no*") == []


def test_sums_are_whole(options):
    with heatsink.WindowStats(**options) as stats:
        for value in (2**63 - 1, 2**63 - 1, 2**63 - 1, -(2**63)):
            stats.add("large", value)
        stats.add("below", -(2**63))
        stats.add("below", -(2**63))
        stats.flush(PATIENCE)
        assert stats.read("large").sum == 3 * (2**63 - 1) - 2**63
        assert stats.read("below").sum == -(2**64)


WRITER = """
import datetime, sys, heatsink
url, seed = sys.argv[1], int(sys.argv[2])
stats = heatsink.WindowStats(server_url=url, statistics_length="1h", statistics_hold="10m",
                             server_response_timeout="1m")
for i in range(1000):
    stats.add("processes", seed * i)
stats.flush(datetime.timedelta(minutes=2))
"""


def test_processes_add_up(options):
    url = options["server_url"]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, str(seed)]) for seed in range(6)
    ]
    assert [writer.wait() for writer in writers] == [0] * 6
    with heatsink.WindowStats(**options) as stats:
        reading = stats.read("processes")
        assert (reading.count, reading.sum) == (6000, sum(range(6)) * sum(range(1000)))


def test_threads_add_up(options):
    with heatsink.WindowStats(**options) as stats:

        def play():
            for i in range(2000):
                stats.add("threads", i)

        threads = [threading.Thread(target=play) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats.flush(PATIENCE)
        assert stats.read("threads").sum == 4 * sum(range(2000))


def test_a_child_is_another_writer(options):
    with heatsink.WindowStats(**options) as stats:
        stats.add("forked", 1)
        stats.flush(PATIENCE)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                stats.add("forked", 10)
                stats.flush(PATIENCE)
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        stats.add("forked", 100)
        stats.flush(PATIENCE)
        assert stats.read("forked").sum == 111


def test_the_end_delivers(options):
    code = f"import heatsink; heatsink.WindowStats(**{options!r}).add('end', 7)"
    subprocess.run([sys.executable, "-c", code], check=True)
    # A WindowStats that nobody refers to any more delivers, too.
    with heatsink.WindowStats(**options) as stats:
        assert stats.read("end").sum == 7


class Forgetful(Relay):
    """Cuts a connection off at each third thing that the server says, which nobody hears then."""

    said = 0

    def filter(self):
        def told(piece):
            self.said += 1
            if self.said % 3 == 0:
                raise OSError("lost")
            return piece

        return told


def test_a_reply_that_is_lost_counts_once(server, options):
    relay = Forgetful(server.port)
    url = f"redis://127.0.0.1:{relay.port}"
    fast = {"statistics_flush_interval": "10ms", "server_backoff_min": "1ms"}
    lossy = options | {"server_url": url, "server_backoff_max": "5ms"} | fast
    with heatsink.WindowStats(**lossy) as stats:
        added = 0

        def resent():
            nonlocal added
            added += 1
            stats.add("lossy", added)
            return stats.counts().resent >= 10

        until(resent, 3 * PATIENCE_S, "ten flushes that were sent again")
        stats.flush(3 * PATIENCE)
        with heatsink.WindowStats(**options) as direct:
            reading = direct.read("lossy")
        assert (reading.count, reading.sum) == (added, added * (added + 1) // 2)
        assert stats.counts().dropped == stats.counts().uncertain == 0
    relay.close()


def test_misuse_is_told(options):
    with pytest.raises(ValueError, match=r"server\.url"):
        heatsink.WindowStats()
    with pytest.raises(ValueError, match="statistics.hold"):
        heatsink.WindowStats(**options | {"statistics_length": "1m"})
    with pytest.raises(TypeError, match="^yaml must be a str as in "):
        heatsink.WindowStats(yaml=7)
    with heatsink.WindowStats(statistics_maximum_names=1, **options) as stats:
        with pytest.raises(TypeError):
            stats.add("a", "text")
        with pytest.raises(TypeError):
            stats.add("a", 1.5)
        with pytest.raises(OverflowError):
            stats.add("a", 2**63)
        assert stats.add("a", 1) and not stats.add("b", 1)
        assert stats.counts().refused == 1
    stats.add("a", 2)
    with pytest.raises(heatsink.Error):
        stats.read("a")
    with heatsink.WindowStats(server_url="redis://127.0.0.1:1") as alone:
        assert alone.add("a", 1)
        with pytest.raises(heatsink.Error, match="cannot be reached"):
            alone.read("a")
