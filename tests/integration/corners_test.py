# SPDX-License-Identifier: Apache-2.0
"""Options at the ends of their ranges, under load: memory stays bounded, and answers stay quick."""

import random
import re
import subprocess
import time
import unittest

from harness import HEATSINK, LONG, SLOW, RawClient, until
from stage import ServerTest

KEYS, CLIENTS = 4096, 50
SETTLE_S, PLAY_S = 2, 6
GROWTH_MAX_BYTES = 48 << 20  # the mailbox without a limit grew by 16 MB/s
FLUSH_MAX_S, PING_MEDIAN_MAX_S = 1.0, 0.1
ROW = re.compile(r"^\| `([a-z0-9.-]+)` \| `[^`]*` \| `([^`]*)` \|", re.MULTILINE)
# Names and files, other servers, and how the test itself reaches the proxy.
NOT_PLAYED = {
    "proxy.present-as", "proxy.tls-client-auth", "proxy.unix-mode", "upstream.protocol",
    "upstream.verify", "log.format",
}  # fmt: skip
# Clients that these refuse or cut are no fault.
FEW_CLIENTS = ("proxy.", "limits.", "upstream.", "shutdown.")
SEED, SHORT, RANDOM, RANDOM_OPTIONS = 39, 4, 40, 12
QUICK_SETTLE_S, QUICK_PLAY_S = 0.3, 0.7
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


def ends_of(bounds):
    """`2 .. 64 | auto` has the corners 2, 64 and auto."""
    for part in bounds.replace("\\|", "|").split("|"):
        yield from part.strip().split(" .. ")


def option_table():
    """The corners of each option that has bounds, from the generated reference."""
    page = subprocess.run(
        [HEATSINK, "config", "print", "--markdown"], capture_output=True, text=True, check=True
    ).stdout
    # The options of rules follow.
    page = page.partition("## rules")[0]
    return {
        name: list(ends_of(bounds))
        for name, bounds in ROW.findall(page)
        if bounds != "any text" and name not in NOT_PLAYED
    }


def generated(table, seed):
    """Each corner alone, and combinations of extremes, in an order by the seed."""
    draw = random.Random(seed)
    out = [{name: end} for name, ends in table.items() for end in ends]
    draw.shuffle(out)
    for _ in range(RANDOM):
        names = draw.sample(sorted(table), RANDOM_OPTIONS)
        out.append({name: draw.choice(table[name]) for name in names})
    return out


class CornersTest(ServerTest):
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
        proxy = self.open_proxy(options)
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

    def play_quickly(self, options):
        """False: the proxy refuses these options together, and says why."""
        settings = [word for option in options.items() for word in ("--set", "=".join(option))]
        checked = subprocess.run(
            [HEATSINK, "config", "print", *settings],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertIn(checked.returncode, (0, 2), checked.stderr)
        if checked.returncode == 2:
            return False
        proxy = self.open_proxy(options)
        self.load(proxy.port, "-3", "--enable-tracking", "-t", "set,get")
        time.sleep(QUICK_SETTLE_S)  # under load, if these options admit it
        before = proxy.process.rss_bytes()
        time.sleep(QUICK_PLAY_S)  # memory may grow in this time
        if proxy.process.rss_bytes() - before > GROWTH_MAX_BYTES:  # perhaps not settled yet
            time.sleep(PLAY_S)  # tables fill up
            before = proxy.process.rss_bytes()
            time.sleep(PLAY_S)  # memory may grow in this time
            self.assertLess(proxy.process.rss_bytes() - before, GROWTH_MAX_BYTES)
        self.flush(proxy.port, any(name.startswith(FEW_CLIENTS) for name in options))
        self.assertTrue(proxy.process.alive(), proxy.process.output())
        return True

    def flush(self, port, may_be_refused):
        asked = time.monotonic()
        try:
            with RawClient(port, timeout_s=10 * SLOW) as client:
                reply = client.ask("FLUSHDB")
        except OSError as error:
            self.assertTrue(may_be_refused, error)
            return
        self.assertTrue(reply == b"+OK\r\n" or may_be_refused, reply)
        self.assertLess(time.monotonic() - asked, FLUSH_MAX_S * SLOW)

    def play_generated(self, corners):
        refused = 0
        for options in corners:
            words = " ".join("=".join(option) for option in options.items())
            with self.subTest(words):
                refused += not self.play_quickly(options)
            # Each proxy ends before the next one begins, and its exit status counts.
            with self.subTest(f"the end of {words}"):
                self.doCleanups()
        return refused

    def test_the_table_has_the_corners_of_all_ranges(self):
        table = option_table()
        self.assertGreater(len(table), 70)
        self.assertEqual(table["detection.tick"], ["10ms", "5s"])
        self.assertEqual(table["cache.maximum-size"][0], "1")
        self.assertLess(self.play_generated(generated(table, SEED)[:SHORT]), SHORT)

    @unittest.skipUnless(LONG, "HEATSINK_LONG=1 plays the corners of all ranges")
    def test_the_corners_of_all_ranges(self):
        corners = generated(option_table(), SEED)
        refused = self.play_generated(corners)
        print(f"{len(corners)} corners, {refused} refused by the check of the configuration")
        self.assertLess(refused, len(corners) / 4)

    def test_each_key_hot_at_each_tick(self):
        proxy = self.play(ALL_HOT)
        self.assertEqual(proxy.metric("heatsink_mailbox_refused_total"), 0)
        self.assertLess(proxy.metric("heatsink_mailbox_waiting"), 16_384)

    @unittest.skipUnless(LONG, "HEATSINK_LONG=1 plays all corners")
    def test_corners_of_copies(self):
        for name, options in CORNERS.items():
            with self.subTest(name):
                self.play(options)
                self.doCleanups()


if __name__ == "__main__":
    unittest.main()
