# SPDX-License-Identifier: Apache-2.0
"""What a server does not see when reads are served locally, and what the proxy does about it."""

import json
import re
import time
import unittest
import urllib.request

from harness import PATIENCE_S, until
from stage import ProxyTest

EAGER = {
    "detection.hot-qps": 20,
    "detection.window": "1s",
    "detection.tick": "10ms",
    "detection.minimum-residence": "10ms",
}


class SideEffects(ProxyTest):
    PROXY_OPTIONS = EAGER

    def setUp(self):
        self.admin = self.to_server()
        self.client = self.to_proxy()
        self.admin.ask("SET", "k", "v")

    def calls(self, command):
        """How often the server has executed it."""
        stats = self.admin.ask("INFO", "commandstats").decode()
        found = re.search(rf"cmdstat_{command}:calls=(\d+)", stats)
        return int(found[1]) if found else 0

    def read(self):
        for _ in range(40):
            self.client.ask("GET", "k")

    def heat(self):
        def hot():
            before = self.proxy.hits()
            self.read()
            return self.proxy.hits() >= before + 40

        until(hot, PATIENCE_S, "k is hot")

    def read_locally_for(self, seconds):
        self.heat()
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            self.read()
            time.sleep(0.05)


class UnderLru(SideEffects):
    SERVER_OPTIONS = ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")

    def test_the_key_does_not_look_idle(self):
        reads = self.calls("get")
        self.read_locally_for(5)
        self.assertLess(self.calls("get") - reads, 500, "it was to be read locally")
        idle = int(self.admin.ask("OBJECT", "IDLETIME", "k")[1:])
        self.assertLessEqual(idle, 2)

    def test_at_most_about_once_a_second(self):
        self.heat()
        before = self.calls("touch")
        self.read_locally_for(3)
        touches = self.calls("touch") - before
        self.assertGreaterEqual(touches, 1)
        self.assertLessEqual(touches, 6)

    def test_hits_keep_the_key_hot_and_are_told_by_key(self):
        """Were they not fed back to detection, the key would look cold and flap."""
        self.read_locally_for(2)
        self.assertEqual(self.proxy.metric("heatsink_demotions_total"), 0)
        url = f"http://127.0.0.1:{self.proxy.admin_port}/api/hotkeys"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            report = json.load(answer)
        (key,) = [each for each in report["keys"] if each["name"] == "k"]
        self.assertGreater(key["hits"], 100)
        self.assertGreater(self.proxy.metric("heatsink_key_local_hits_per_second"), 10)


class WrittenTooOften(SideEffects):
    PROXY_OPTIONS = {**EAGER, "detection.write-hot-ratio": 10}

    def test_the_key_leaves_the_cache_and_comes_back(self):
        self.heat()

        def verdict():
            keys = [key for key in self.proxy.api("hotkeys")["keys"] if key["name"] == "k"]
            return (keys[0]["verdict"], keys[0]["cached"]) if keys else None

        def written():
            for n in range(40):
                self.client.ask("SET", "k", n)
                self.client.ask("GET", "k")
            return verdict() == ("write-hot", False)

        until(written, PATIENCE_S, "k is write-hot")
        before, fills = self.proxy.hits(), self.proxy.metric("heatsink_fills_total")
        self.client.ask("SET", "k", "last")
        self.assertEqual(self.client.ask("GET", "k"), b"$4\r\nlast\r\n")
        self.assertEqual(self.proxy.hits(), before)
        self.assertEqual(self.proxy.metric("heatsink_fills_total"), fills)
        self.heat()
        self.assertEqual(verdict(), ("hot", True))


class UnderLfu(SideEffects):
    # Each use counts one: OBJECT FREQ tells how many the server has seen.
    SERVER_OPTIONS = (
        *("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lfu"),
        *("--lfu-log-factor", "0"),
    )

    def test_the_key_does_not_look_rarely_used(self):
        self.heat()
        self.admin.ask("DEL", "k")  # the count ends at 255, and may be there by now
        self.admin.ask("SET", "k", "v")
        self.heat()
        before, refills = int(self.admin.ask("OBJECT", "FREQ", "k")[1:]), self.calls("getrange")
        self.assertLess(before, 200)
        self.read_locally_for(4)
        seen = int(self.admin.ask("OBJECT", "FREQ", "k")[1:]) - before
        self.assertGreaterEqual(seen, 3)
        self.assertLessEqual(self.calls("getrange") - refills, 3)


class WithoutEviction(SideEffects):
    SERVER_OPTIONS = ("--maxmemory-policy", "noeviction")

    def test_nothing_is_touched_until_it_is_needed(self):
        self.read_locally_for(3)
        self.assertEqual(self.calls("touch"), 0)


if __name__ == "__main__":
    unittest.main()
