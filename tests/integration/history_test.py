# SPDX-License-Identifier: Apache-2.0
"""history.file: what was hot survives the proxy, and the disk's troubles do not reach clients."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

from harness import EAGER, HEATSINK, PATIENCE_S, Proxy, RawClient, Redis, need_programs, until
from restart_stage import OPTIONS, Restarts

WRITTEN = "heatsink_history_written_total"


class Load:
    """A client that asks for one key all the time: a proxy without clients counts nothing."""

    def __init__(self, port):
        self.port, self.ends, self.failure = port, threading.Event(), None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        try:
            with RawClient(self.port) as client:
                client.ask("SET", "k", "v")
                while not self.ends.wait(0.002):
                    assert client.ask("GET", "k") == b"$1\r\nv\r\n"
        except (OSError, AssertionError) as failure:
            self.failure = failure

    def stop(self):
        self.ends.set()
        self.thread.join()


def rows(path, sql):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=PATIENCE_S)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


class WithFile(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/history.db"

    def proxy(self, **options):
        proxy = Proxy(self.redis, {**EAGER, "history.file": self.path, **options})
        self.addCleanup(proxy.process.kill)
        return proxy

    def load(self, proxy):
        load = Load(proxy.port)
        self.addCleanup(load.stop)
        return load

    def wait_for_seconds(self, proxy, count):
        until(lambda: proxy.by_label(WRITTEN, "what")["seconds"] >= count, what=f"{count} seconds")

    def ask(self, *flags, code=0):
        done = subprocess.run(
            [HEATSINK, "history", *flags, self.path], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout + done.stderr

    def health(self, proxy):
        return [row for row in proxy.api("health")["findings"] if row["code"] == "history"]


class Survives(WithFile):
    def test_a_kill_loses_the_last_seconds_and_no_more(self):
        proxy = self.proxy()
        self.load(proxy)
        self.wait_for_seconds(proxy, 3)
        killed_at = time.time()
        proxy.process.kill()
        seconds = "SELECT max(unix), count(*) FROM totals WHERE step_seconds = 1"
        last, count = rows(self.path, seconds)[0]
        # The counts of a second come when it is over, and are written within another one.
        self.assertGreaterEqual(last + 1, int(killed_at) - 3)
        self.assertGreaterEqual(count, 3)
        self.assertEqual(rows(self.path, "PRAGMA integrity_check"), [("ok",)])

        told = json.loads(self.ask("--json", "--from", "10m"))
        self.assertEqual(told["counted_seconds"], count)
        self.assertEqual(told["keys"][0]["name"], "k")
        self.assertIn("hot", [event["verdict"] for event in told["events"]])
        self.assertIn(" k: ", self.ask("--key", "k"))
        # The same by client. The first second knows none yet.
        clients = json.loads(self.ask("--json", "--clients", "--from", "10m"))
        self.assertEqual(clients["clients"][0]["name"], "127.0.0.1")
        share = clients["clients"][0]["rate"] / clients["total_rate"]
        self.assertTrue(0.9 < share < 1.1, share)
        self.assertIn("no cluster", self.ask("--nodes", "--from", "10m"))
        sums = rows(self.path, "SELECT sum(bytes_per_second) FROM hot_keys WHERE step_seconds = 1")
        self.assertGreater(sums[0][0], 0)

        # The next process goes on, and its page has the time before it.
        proxy = self.proxy()
        self.load(proxy)
        self.wait_for_seconds(proxy, 1)
        map_of = proxy.api(f"heatmap?from={int(killed_at) - 60}")
        self.assertEqual(map_of["source"], "file")
        self.assertIn(last, map_of["times"])
        # A second is named by its beginning, cut to a whole one: up to two seconds before its end.
        self.assertGreaterEqual(map_of["times"][-1], int(killed_at) - 1)
        self.assertEqual(map_of["rows"][0]["name"], "k")
        # So has its list of events.
        kept = proxy.api(f"events?from={int(killed_at) - 60}&to={int(killed_at)}")
        self.assertEqual(kept["source"], "file")
        self.assertIn(("k", "hot"), [(e.get("name"), e["verdict"]) for e in kept["events"]])
        self.assertEqual(proxy.api("events")["source"], "memory")
        self.assertEqual(proxy.api(f"events?to={int(killed_at) - 60}")["events"], [])

    def test_an_end_loses_nothing_and_cleans_up(self):
        proxy = self.proxy()
        self.load(proxy)
        self.wait_for_seconds(proxy, 1)
        proxy.stop()
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["history.db"])
        self.assertIn("steps of 10s", self.ask())

    def test_without_the_option_there_is_no_file_and_no_metric(self):
        proxy = Proxy(self.redis)
        self.addCleanup(proxy.stop)
        self.assertNotIn("heatsink_history_", proxy.metrics())
        self.assertFalse(proxy.api("heatmap")["has_file"])


class Troubles(WithFile):
    def test_a_full_disk(self):
        proxy = self.proxy()
        load = self.load(proxy)
        self.wait_for_seconds(proxy, 1)
        pid = proxy.process.child.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        until(lambda: proxy.metric("heatsink_history_failing") == 1, what="the failure")
        self.assertIn("cannot be written", self.health(proxy)[0]["what"])
        hits = proxy.hits()
        until(lambda: proxy.hits() > hits, what="clients are served meanwhile")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        until(lambda: proxy.metric("heatsink_history_failing") == 0, what="it goes on")
        self.assertEqual(self.health(proxy), [])
        self.assertEqual(proxy.metric("heatsink_history_lost_total"), 0)
        seconds = rows(self.path, "SELECT unix FROM totals WHERE step_seconds = 1 ORDER BY unix")
        gaps = [b - a for (a,), (b,) in zip(seconds, seconds[1:], strict=False) if b - a > 2]
        self.assertEqual(gaps, [], "what waited is in the file")
        self.assertIsNone(load.failure)
        words = "is written again; lost: 0 seconds"
        until(lambda: words in proxy.process.output(), what="the line")
        self.assertEqual(proxy.process.output().count("cannot be written"), 1, "one line")

    def test_a_damaged_file_is_set_aside(self):
        proxy = self.proxy()
        self.load(proxy)
        self.wait_for_seconds(proxy, 2)
        proxy.stop()  # after a kill, the whole file may be in its log
        with open(self.path, "r+b") as file:
            file.truncate(5000)
            file.seek(200)
            file.write(b"\x5a" * 4000)
        self.assertIn("cannot read the history", self.ask(code=1))
        proxy = self.proxy()
        self.load(proxy)
        self.wait_for_seconds(proxy, 1)
        self.assertEqual(os.path.getsize(self.path + ".damaged-1"), 5000)
        self.assertRegex(proxy.process.output(), r"is damaged \(.*\): it is now '.*damaged-1'")
        self.assertEqual(rows(self.path, "PRAGMA integrity_check"), [("ok",)])

    def test_a_file_that_cannot_be_opened(self):
        os.mkdir(self.path)
        proxy = self.proxy()
        load = self.load(proxy)
        until(lambda: proxy.metric("heatsink_history_failing") == 1, what="the failure")
        self.assertIn("Is a directory", self.health(proxy)[0]["what"])
        self.assertIn("right to write", self.health(proxy)[0]["mend"])
        until(lambda: proxy.hits() > 0, what="clients are served")
        self.assertIsNone(load.failure)
        self.assertEqual(proxy.process.end(signal.SIGTERM), 0)

    def test_two_proxies_do_not_write_one_file(self):
        first = self.proxy()
        self.load(first)
        self.wait_for_seconds(first, 1)
        second = self.proxy()
        self.load(second)
        until(lambda: second.metric("heatsink_history_failures_total") > 0, what="its refusal")
        self.assertEqual(second.metric(WRITTEN), 0)
        first.stop()
        self.wait_for_seconds(second, 1)


class HandOver(Restarts):
    OPTIONS = OPTIONS

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/history.db"
        self.OPTIONS = {**OPTIONS, "history.file": self.path}
        super().setUp()

    def test_the_new_process_goes_on_with_the_file(self):
        load = Load(self.proxy.port)
        self.addCleanup(load.stop)
        until(lambda: self.proxy.metric(WRITTEN) >= 1, what="the first second")
        self.ended(self.restart())
        restarted_at = time.time()
        newest = "SELECT max(unix) FROM totals WHERE step_seconds = 1"
        until(lambda: rows(self.path, newest)[0][0] > restarted_at, what="seconds of the new one")
        self.assertIsNone(load.failure)
        self.assertEqual(rows(self.path, "PRAGMA integrity_check"), [("ok",)])
        self.assertNotIn("cannot be written", self.output())


if __name__ == "__main__":
    unittest.main()
