# SPDX-License-Identifier: Apache-2.0
"""`heatsink stats` and /api/stats, as a user would, of statistics that are written here by hand."""

import json
import os
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import HEATSINK, PATIENCE_S, SLOW, Redis, ValueClient
from stage import ProxyTest

SLOT_MS = 3_600_000  # of an hour, and three are asked for: no number leaves while a test runs
FIRST_BUCKET = 1888  # of the row of buckets, where those of numbers from 0 on begin


def pack(*numbers):
    """MessagePack, each integer in nine bytes."""
    return b"".join(b"\xcf" + number.to_bytes(8, "big") for number in numbers)


def part(*numbers):
    """Of numbers from 0 to 63, which have a bucket each."""
    rows = []
    before = 0
    for number in sorted(set(numbers)):
        rows += [FIRST_BUCKET + number - before, numbers.count(number)]
        before = FIRST_BUCKET + number
    head = [sum(numbers), 0, 0, 0, 0, min(numbers), 0, max(numbers)]
    return b"\xdc" + len(head + rows).to_bytes(2, "big") + pack(*head, *rows)


def write(client, name, shard, *numbers):
    slot = int(time.time() * 1000) // SLOT_MS
    key = b"heatsink:stats:{%d:%s}" % (shard, name.encode())
    field = str(slot % 60)
    client("HSET", key, "head", pack(SLOT_MS, 60, slot, 1), field, pack(slot) + part(*numbers))


def stats(*arguments, environment=None):
    return subprocess.run(
        [HEATSINK, "stats", *arguments],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S * SLOW,
        env=os.environ | (environment or {}),
        check=False,
    )


class StatsVerb(ProxyTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.url = f"redis://127.0.0.1:{cls.redis.port}"
        with ValueClient(cls.redis.port) as client:
            write(client, "checkout:us", 0, 1, 2, 3, 4)
            write(client, "checkout:us", 3, 10, 10)
            write(client, "other name", 2, 5)

    def told(self, *arguments):
        done = stats(self.url, *arguments, "--window", "3h", "--timeout", "60s")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def failed(self, *arguments, **how):
        done = stats(*arguments, **how)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_one(self):
        lines = [line.split() for line in self.told("checkout:us").splitlines()]
        self.assertEqual(lines[0][0], "checkout:us:")
        told = {words[0]: words[1] for words in lines[1:]}
        expected = {"count": "6", "sum": "30", "mean": "5", "min": "1", "max": "10"}
        self.assertEqual(told, expected | {"p50": "3", "p90": "10", "p99": "10"})

    def test_json(self):
        told = json.loads(self.told("checkout:us", "--json"))
        self.assertEqual((told["count"], told["sum"], told["max"]), (6, 30, 10))
        self.assertEqual((told["slot_seconds"], told["length_seconds"]), (3600, 216000))
        self.assertLessEqual(told["covered_seconds"], 3 * 3600)
        listed = json.loads(self.told("--json"))["statistics"]
        self.assertEqual([each["name"] for each in listed], ["checkout:us", "other name"])

    def test_a_table(self):
        table = self.told("*").splitlines()
        names = [line[:11].rstrip() for line in table]
        self.assertEqual(names, ["name", "checkout:us", "other name"])
        self.assertEqual(len(self.told("check*").splitlines()), 2)

    def test_watch_goes_on(self):
        command = [HEATSINK, "stats", self.url, "checkout:us", "--json", "--window", "3h"]
        again = [*command, "--watch", "--every", "10ms"]
        with subprocess.Popen(again, stdout=subprocess.PIPE) as watch:
            for _ in range(3):
                self.assertEqual(json.loads(watch.stdout.readline())["count"], 6)
            watch.terminate()

    def test_nothing_there(self):
        self.assertIn('no statistic "none"', self.failed(self.url, "none"))
        self.assertIn("no statistic matches none*", self.failed(self.url, "none*"))

    def test_nobody_there(self):
        self.assertIn("refused", self.failed("redis://127.0.0.1:1", "a", "--timeout", "1s"))

    def test_misuse(self):
        for arguments, said in (
            ((), "SERVER is required"),
            (("http://nonsense",), "redis://"),
            ((self.url, "a", "--window", "5"), "write a number and us"),
            ((self.url, "a", "--window", "0s"), "must be longer than 0"),
            ((self.url, "--every", "1ms"), "at least 10ms"),
        ):
            done = stats(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(said, done.stderr)

    def test_something_else_at_the_key(self):
        with ValueClient(self.redis.port) as client:
            client("SET", "heatsink:stats:{0:odd}", "text")
            self.assertIn("WRONGTYPE", self.failed(self.url, "odd"))
            client("DEL", "heatsink:stats:{0:odd}")

    def test_by_password(self):
        redis = Redis()
        self.addCleanup(redis.stop)
        url = f"redis://127.0.0.1:{redis.port}"
        with ValueClient(redis.port) as client:
            write(client, "a", 0, 7)
            client("CONFIG", "SET", "requirepass", "a/b@c:d")
        self.assertIn("NOAUTH", self.failed(url, "a"))
        done = stats(url, "a", "--json", "--window", "3h", environment={"REDISCLI_AUTH": "a/b@c:d"})
        self.assertEqual(json.loads(done.stdout)["sum"], 7)

    # ---- the admin API

    def asked(self, query):
        url = f"http://127.0.0.1:{self.proxy.admin_port}/api/stats{query}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_over_http(self):
        name = urllib.parse.quote("checkout:us")
        status, told = self.asked(f"?key={name}&window=3h")
        self.assertEqual((status, told["count"], told["sum"]), (200, 6, 30))
        self.assertEqual(self.asked("?window=3h&key=other+name")[1]["sum"], 5)
        self.assertEqual(self.asked("?key=none")[0], 404)
        self.assertEqual(self.asked("")[0], 400)
        self.assertEqual(self.asked(f"?key={name}&window=x")[0], 400)


if __name__ == "__main__":
    unittest.main()
