# SPDX-License-Identifier: Apache-2.0
"""Copies are renewed before they end, one read per expiry, and what is served in an outage."""

import re
import resource
import signal
import time
import unittest

from harness import ERRORS_WHEN_DOWN, PATIENCE_S, QUIET, SLOW, until, until_seen
from stage import ProxyTest

CLIENTS = 1000
# A machine that stands still for a moment ends copies and proofs: then once more.
LONG_S = 4 * PATIENCE_S
V, NIL = b"$1\r\nv\r\n", b"$-1\r\n"


def encoded(value):
    """As GET answers it."""
    return b"$%d\r\n%d\r\n" % (len(str(value)), value)


class Refreshing(ProxyTest):
    PROXY_OPTIONS = QUIET

    def setUp(self):
        self.server, self.client = self.to_server(), self.to_proxy()

    def reads_seen(self):
        """By the server: forwarded ones, and those of fills."""
        stats = self.server.ask("INFO", "commandstats").decode()
        calls = re.findall(r"cmdstat_(?:get|getrange):calls=(\d+)", stats)
        return sum(int(each) for each in calls)

    def heat(self, key="k"):
        def is_local():
            before = self.proxy.hits()
            self.client.ask("GET", key)
            return self.proxy.hits() > before

        until(is_local, PATIENCE_S, f"{key} is served locally")

    def refused(self, rule):
        return self.proxy.by_label("heatsink_local_refusals_total", "rule")[rule]


class Stampede(Refreshing):
    PROXY_OPTIONS = QUIET | {"cache.expire-after-write": "1h"}

    @classmethod
    def setUpClass(cls):
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        super().setUpClass()

    def test_an_expiry_is_one_read_whoever_asks(self):
        everybody = [self.to_proxy() for _ in range(CLIENTS)]
        self.server.ask("SET", "k", "v")
        self.heat()

        def all_ask():
            for client in everybody:
                client.send("GET", "k")
            return {client.read() for client in everybody}

        def one_expiry():
            """How many reads the server sees of it; None: it was over before this looked."""
            self.server.ask("SET", "k", "v", "PX", 1500)
            until(lambda: self.client.ask("GET", "k") == V, PATIENCE_S, "the new value")
            self.heat()
            before = self.reads_seen()
            if int(self.server.ask("PTTL", "k")[1:]) < 100:
                return None
            until(lambda: all_ask() == {NIL}, PATIENCE_S, "it has expired")
            all_ask()
            return self.reads_seen() - before

        def is_one_read():
            """A machine that stands still for longer than the proxy waits makes it more."""
            reads = until(one_expiry, LONG_S, "an expiry that is seen from its beginning")
            self.assertLess(reads, CLIENTS / 10, "a stampede")
            return reads == 1

        for _ in range(2):
            until(is_one_read, LONG_S, "an expiry is one read")
            self.server.ask("SET", "k", "v")  # as the application would
            until_seen(lambda: self.client.ask("GET", "k"), V, 1, "what the application has loaded")


class Renewal(Refreshing):
    LIFE_S = 0.6 * min(SLOW, 3)
    PROXY_OPTIONS = QUIET | {"cache.expire-after-write": f"{round(1000 * LIFE_S)}ms"}
    RULES = ("match=plain,refresh=off",)

    def read_for(self, key, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.client.ask("GET", key)

    def test_no_reader_waits_for_a_copy_that_ends(self):
        self.server.ask("SET", "k", "v")

        def nobody_waited():
            self.heat()
            waited, fills = self.refused("deadline"), self.proxy.metric("heatsink_fills_total")
            renewed = self.proxy.metric("heatsink_refreshes_total")
            self.read_for("k", 3 * self.LIFE_S)
            renewed = self.proxy.metric("heatsink_refreshes_total") - renewed
            fills = self.proxy.metric("heatsink_fills_total") - fills
            return self.refused("deadline") == waited and renewed >= 3 and fills == renewed

        until(nobody_waited, LONG_S, "three lives in which nobody waits")
        self.assertEqual(self.proxy.metric("heatsink_refreshes_given_up_total"), 0)

    def test_where_the_rule_says_off_they_do(self):
        self.server.ask("SET", "plain", "v")
        self.heat("plain")
        before = self.refused("deadline")

        def somebody_waited():
            self.client.ask("GET", "plain")
            return self.refused("deadline") > before

        until(somebody_waited, PATIENCE_S, "a read behind the end of a copy")

    def test_what_is_read_no_longer_is_renewed_no_longer(self):
        self.server.ask("SET", "k", "v")
        self.heat()

        def rests():
            before = self.proxy.metric("heatsink_refreshes_total")
            time.sleep(self.LIFE_S)  # nothing else tells that something does not happen
            return self.proxy.metric("heatsink_refreshes_total") == before

        until(rests, PATIENCE_S, "nothing is renewed")

    def test_a_write_is_seen_whatever_is_being_renewed(self):
        for value in range(200):
            self.client.ask("SET", "k", value)
            self.assertEqual(self.client.ask("GET", "k"), encoded(value))


class Outage(Refreshing):
    PROXY_OPTIONS = QUIET | ERRORS_WHEN_DOWN | {
        "upstream.response-timeout": "1m",
        "cache.expire-after-write": "1s",
        "cache.max-staleness": "300ms",
    }
    RULES = ("match=k*,stale-while-error=60s",)

    def setUp(self):
        if not self.redis.process.alive():
            self.redis.restart()
        self.redis.process.signal(signal.SIGCONT)
        super().setUp()
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")

    def served_stale(self):
        return self.proxy.metric("heatsink_stale_while_error_hits_total")

    def begin(self, key="k", *how):
        """A copy is served although its own bound is over and the server cannot be reached."""
        self.server.ask("SET", key, "v", *how)
        self.heat(key)

    def hang(self, *keys):
        """The server hangs, and each key has a copy.

        A machine that stands still for a moment may end a copy before that: then once more.
        """

        def hangs_and_all_are_copied():
            for key in keys:
                self.heat(key)
            self.redis.process.freeze()
            try:
                reply = self.to_proxy(timeout_s=2).ask("MGET", *keys)
            except TimeoutError:
                self.redis.process.signal(signal.SIGCONT)
                return False
            self.assertEqual(reply, b"*%d\r\n" % len(keys) + V * len(keys))
            return True

        until(hangs_and_all_are_copied, LONG_S, f"a copy of each of {keys}")

    def until_stale(self, key="k"):
        before = self.served_stale()

        def is_stale():
            self.assertEqual(self.client.ask("GET", key), V)
            return self.served_stale() >= before + 10

        until(is_stale, PATIENCE_S, "a copy is served past its proof")

    def events(self):
        events = self.proxy.api("events")["events"]
        return [each["reason"] for each in events if each["verdict"] == "stale-while-error"]

    def test_a_server_that_hangs(self):
        self.begin()
        self.begin("k3")
        self.hang("k", "k3")
        for _ in range(2):  # the first may find out that its proof is over
            self.assertEqual(self.client.ask("MGET", "k", "k3"), b"*2\r\n" + V + V)
        self.until_stale()
        end = time.monotonic() + 1  # past the bound of the copies, too
        while time.monotonic() < end:
            self.assertEqual(self.client.ask("GET", "k"), V)
        stale = self.served_stale()
        self.assertEqual(self.client.ask("MGET", "k", "k3", "k"), b"*3\r\n" + 3 * V)
        self.assertGreater(self.served_stale(), stale)
        self.assertIn("2 copies may be served for up to 1m after the last proof", self.events()[-1])
        self.redis.process.signal(signal.SIGCONT)
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")
        stale = self.served_stale()
        self.server.ask("SET", "k", "w")
        until_seen(lambda: self.client.ask("GET", "k"), b"$1\r\nw\r\n", 0.3, "the new value")
        self.heat()
        self.assertEqual(self.served_stale(), stale)
        self.assertIn("the server answers again", self.events()[-1])

    def test_a_server_that_is_killed_and_comes_back_empty(self):
        self.begin()
        self.redis.process.kill()
        self.until_stale()
        self.redis.restart()
        until(lambda: self.client.ask("GET", "k") == NIL, PATIENCE_S, "what the server has now")
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")
        for value in range(50):
            self.client.ask("SET", "k", value)
            self.assertEqual(self.client.ask("GET", "k"), encoded(value))

    def test_an_own_write_is_not_undone(self):
        """One that never left the proxy is none; of one on its way nobody knows."""
        self.begin()
        writer = self.to_proxy()
        writer.ask("SET", "other", "v")
        self.hang("k")
        self.until_stale()
        before = self.proxy.metric("heatsink_commands_total")
        writer.send("SET", "k", "w")
        until(lambda: self.proxy.metric("heatsink_commands_total") > before, what="it is sent")
        self.redis.process.kill()
        reply = writer.read()
        self.assertIn(b"may have executed the command, or may yet execute it)", reply)
        self.assertTrue(self.client.ask("GET", "k").startswith(b"-LOADING heatsink: upstream"))

    def test_never_past_the_own_end_of_the_value(self):
        def outlived():
            if not self.redis.process.alive():
                self.redis.restart()
                until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, what="coherent")
            self.server = self.to_server()
            self.begin("k2", "PX", 1500)
            ends = time.monotonic() + 1.5
            self.redis.process.kill()
            served = 0
            while time.monotonic() < ends + 0.5:
                asked = time.monotonic()
                reply = self.client.ask("GET", "k2")
                self.assertFalse(reply == V and asked > ends, "its TTL is over")
                served += reply == V and time.monotonic() > ends - 1
            return served

        until(outlived, LONG_S, "a copy that outlives its server")

    def test_without_a_rule_it_is_an_error(self):
        self.begin("other")
        self.begin()
        self.redis.process.kill()

        def is_refused():
            return self.client.ask("GET", "other").startswith(b"-LOADING heatsink: upstream")

        until(is_refused, PATIENCE_S, "an error")
        self.assertTrue(is_refused())
        self.until_stale()
        together = self.client.ask("MGET", "k", "other")
        self.assertTrue(together.startswith(b"-LOADING heatsink: upstream"), "all of them, or none")


if __name__ == "__main__":
    unittest.main()
