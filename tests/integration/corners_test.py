# SPDX-License-Identifier: Apache-2.0
"""Options at the ends of their ranges, under load: memory stays bounded, and answers stay quick."""

import subprocess
import time
import unittest

from harness import LONG, SLOW, Proxy, RawClient, Redis, need_programs, until

KEYS, CLIENTS = 4096, 50
SETTLE_S, PLAY_S = 2, 6
GROWTH_MAX_BYTES = 48 << 20  # the mailbox without a limit grew by 16 MB/s
FLUSH_MAX_S, PING_MEDIAN_MAX_S = 1.0, 0.1
# Each turn of the keeper's clock brings 2048 busy keys from each worker.
ALL_HOT = {
    "cache.admission": "hot",
    "cache.maximum-nil": 4096,
    "detection.hot-qps": 1,
    "detection.tick": "10ms",
    "detection.top-n": 4096,
    "detection.warm-qps": 0,
    "detection.window": "1s",
}
CORNERS = {
    "fewest": {"cache.maximum-size": 1, "cache.maximum-tracked-keys": 1, "detection.top-n": 1},
    "no waiters": {**ALL_HOT, "cache.maximum-waiters": 0, "cache.maximum-nil": 0},
    "short lives": {**ALL_HOT, "cache.expire-after-write": "10ms", "refresh.interval": "5ms"},
    "paying": {**ALL_HOT, "cache.admission": "pays", "cache.maximum-size": 1_000_000},
    "every hit audited": {**ALL_HOT, "audit.sample-rate": "100%", "audit.maximum-rate": 1000},
    "one slot": {**ALL_HOT, "detection.slots": 1, "detection.burst": "100%"},
    "slow clock": {**ALL_HOT, "detection.tick": "5s", "detection.window": "5s"},
    "least memory": {
        **ALL_HOT, "detection.memory": "256kb", "cache.maximum-bytes": "64kb",
        "cache.maximum-value-bytes": "64kb",
    },  # fmt: skip
}


class CornersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def load(self, port, *words):
        """Until the end of the test. Half of the clients track."""
        child = subprocess.Popen(
            ["redis-benchmark", "-p", str(port), "-r", str(KEYS), "-n", "1000000000", "-q"]
            + ["-P", "16", "-c", str(CLIENTS), *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)

    def play(self, options):
        proxy = Proxy(self.redis, options)
        self.addCleanup(proxy.stop)
        self.load(proxy.port, "-3", "--enable-tracking", "-t", "set,get")
        self.load(proxy.port, "GET", "key:__rand_int__")
        until(lambda: proxy.metric("heatsink_commands_total") > 10 * KEYS, what="the load")
        with RawClient(proxy.port) as client:
            pings = self.pings(client, SETTLE_S)
            before = proxy.process.rss_bytes()
            pings = sorted(self.pings(client, PLAY_S))
            grown = proxy.process.rss_bytes() - before
            asked = time.monotonic()
            self.assertEqual(client.ask("FLUSHDB"), b"+OK\r\n")
            flush_s = time.monotonic() - asked
        self.assertLess(grown, GROWTH_MAX_BYTES)
        self.assertLess(flush_s, FLUSH_MAX_S * SLOW)
        self.assertLess(pings[len(pings) // 2], PING_MEDIAN_MAX_S * SLOW)
        return proxy

    def pings(self, client, for_s):
        took, ends = [], time.monotonic() + for_s
        while time.monotonic() < ends:
            asked = time.monotonic()
            client.ask("PING")
            took.append(time.monotonic() - asked)
            time.sleep(0.01)  # the load needs the cores
        return took

    def test_each_key_hot_at_each_tick(self):
        proxy = self.play(ALL_HOT)
        self.assertEqual(proxy.metric("heatsink_mailbox_refused_total"), 0)
        self.assertLess(proxy.metric("heatsink_mailbox_waiting"), 16_384)

    @unittest.skipUnless(LONG, "HEATSINK_LONG=1 plays all corners")
    def test_all_corners(self):
        for name, options in CORNERS.items():
            with self.subTest(name):
                self.play(options)
                self.doCleanups()


if __name__ == "__main__":
    unittest.main()
