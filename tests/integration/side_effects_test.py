# SPDX-License-Identifier: Apache-2.0
"""What a server does not see when reads are served locally, and what the proxy does about it."""

import re
import time
import unittest

from harness import PATIENCE_S, until
from stage import ProxyTest

EAGER = {
    "detection.hot-qps": 20,
    "detection.window": "1s",
    "detection.tick": "10ms",
    "detection.minimum-residence": "10ms",
    # What the server sees is only what these tests are about.
    "cache.expire-after-write": "1h",
    "audit.sample-rate": "0%",
    "doctor.enabled": "no",
}
# A machine that stands still for a second ends proofs and residences: then once more.
LONG_S = 4 * PATIENCE_S


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

    def reads_seen(self):
        """Forwarded ones, and those of fills."""
        return self.calls("get") + self.calls("getrange")

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
            time.sleep(0.05)  # paces the reads; nothing waits for them


class UnderLru(SideEffects):
    SERVER_OPTIONS = ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")

    def test_the_key_does_not_look_idle(self):
        def idle_after_hits_alone_s():
            self.heat()
            reads = self.reads_seen()
            self.read_locally_for(4)
            idle_s = int(self.admin.ask("OBJECT", "IDLETIME", "k")[1:])
            return idle_s if self.reads_seen() == reads else None

        def was_touched():
            idle_s = idle_after_hits_alone_s()
            return idle_s is not None and idle_s <= 2

        until(was_touched, LONG_S, "a key that is read locally is touched")

    def test_at_most_about_once_a_second(self):
        self.heat()
        began, before = time.monotonic(), self.calls("touch")

        def touched_again():
            self.read_locally_for(0.5)
            return self.calls("touch") >= before + 3

        until(touched_again, PATIENCE_S, "touches")
        touches = self.calls("touch") - before
        self.assertLessEqual(touches, time.monotonic() - began + 2)

    def test_hits_keep_the_key_hot_and_are_told_by_key(self):
        """Were they not fed back to detection, the key would look cold and flap."""

        def stays_hot():
            before = self.proxy.metric("heatsink_demotions_total")
            self.read_locally_for(3)
            return self.proxy.metric("heatsink_demotions_total") == before

        def told():
            self.read()
            keys = [key for key in self.proxy.api("hotkeys")["keys"] if key["name"] == "k"]
            per_s = self.proxy.metric("heatsink_key_local_hits_per_second")
            return keys and keys[0]["hits"] > 100 and per_s > 10

        until(stays_hot, LONG_S, "it stays hot by hits alone")
        until(told, PATIENCE_S, "its hits are told")


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

        def hot_again():
            self.read()
            return verdict() == ("hot", True)

        until(hot_again, PATIENCE_S, "k is copied again")
        self.heat()


class UnderLfu(SideEffects):
    # Each use counts one: OBJECT FREQ tells how many the server has seen.
    SERVER_OPTIONS = (
        *("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lfu"),
        *("--lfu-log-factor", "0"),
    )

    def test_the_key_does_not_look_rarely_used(self):
        def uses_beside_reads():
            self.admin.ask("DEL", "k")  # the count ends at 255, and may be there by now
            self.admin.ask("SET", "k", "v")
            self.heat()
            uses, reads = self.uses(), self.reads_seen()
            self.read_locally_for(4)
            return self.uses() - uses - (self.reads_seen() - reads)

        until(lambda: uses_beside_reads() >= 3, LONG_S, "uses that are no reads")

    def uses(self):
        return int(self.admin.ask("OBJECT", "FREQ", "k")[1:])


class WithoutEviction(SideEffects):
    SERVER_OPTIONS = ("--maxmemory-policy", "noeviction")

    def test_nothing_is_touched_until_it_is_needed(self):
        self.read_locally_for(2)
        self.assertEqual(self.calls("touch"), 0)


if __name__ == "__main__":
    unittest.main()
