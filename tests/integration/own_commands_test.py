# SPDX-License-Identifier: Apache-2.0
"""What the proxy says to the server by itself: in no ACL LOG, and little of it in MONITOR."""

import re
import unittest

from harness import Proxy, RawClient, Redis, need_programs, until
from stage import ProxyTest

NOBODY_HOT = {"detection.hot-qps": 1_000_000}


class Users(ProxyTest):
    """A user who may do no more than this, behind a proxy that logs in as another."""

    RIGHTS = ("~mine:*", "&*", "+get", "+set", "+subscribe", "+wait", "+acl|whoami")

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis("--requirepass", "secret")
        cls.addClassCleanup(cls.redis.stop)
        cls.proxy = Proxy(f"redis://:secret@127.0.0.1:{cls.redis.port}", NOBODY_HOT)
        cls.addClassCleanup(cls.proxy.stop)

    def setUp(self):
        self.server = self.to_server()
        self.server.ask("AUTH", "secret")
        self.server.ask("ACL", "SETUSER", "few", "reset", "on", ">pw", *self.RIGHTS)
        self.server.ask("ACL", "LOG", "RESET")

    def names(self):
        rows = self.server.ask("CLIENT", "LIST").decode()
        return re.findall(r" name=(\S*) .*user=few", rows)

    def tearDown(self):
        self.assertEqual(self.server.ask("ACL", "LOG"), b"*0\r\n")

    def test_one_who_logs_in_at_once(self):
        client = self.to_proxy()
        self.assertEqual(client.ask("AUTH", "few", "pw"), b"+OK\r\n")
        self.assertEqual(client.ask("SET", "mine:k", "v"), b"+OK\r\n")
        self.assertEqual(client.ask("WAIT", 0, 0), b":0\r\n")
        self.assertEqual(self.names(), [""])
        self.assertTrue(client.ask("SUBSCRIBE", "news").endswith(b":1\r\n"))
        self.assertEqual(self.names(), [""])

    def test_one_who_has_been_the_proxys_user_and_has_a_name(self):
        for resp in (2, 3):
            client = self.to_proxy()
            client.ask("HELLO", resp, "AUTH", "default", "secret")
            client.ask("SELECT", 3)
            client.ask("CLIENT", "SETNAME", "orders")
            self.assertEqual(client.ask("AUTH", "few", "pw"), b"+OK\r\n")
            self.assertEqual(client.ask("SET", "mine:k", "v"), b"+OK\r\n")
            self.assertEqual(client.ask("WAIT", 0, 0), b":0\r\n")
            self.assertEqual(self.names(), ["orders"])
            self.assertTrue(client.ask("SUBSCRIBE", "news").endswith(b":1\r\n"))
            client.close()
            until(lambda: self.names() == [], what="its end")

    def test_hello_with_a_name(self):
        client = self.to_proxy()
        reply = client.ask("HELLO", 3, "AUTH", "few", "pw", "SETNAME", "orders")
        self.assertTrue(reply.startswith(b"%"), reply)
        self.assertEqual(client.ask("GET", "mine:none"), b"_\r\n")
        self.assertEqual(self.names(), ["orders"])
        client.ask("AUTH", "few", "pw")
        self.assertEqual(self.names(), ["orders"])

    def test_a_failed_login_leaves_its_name_to_nobody(self):
        client = self.to_proxy()
        client.ask("AUTH", "secret")
        client.ask("CLIENT", "SETNAME", "orders")
        client.ask("AUTH", "few", "wrong")
        other = self.to_proxy()
        other.ask("AUTH", "secret")
        other.ask("EVAL", "return 1", 0)  # on a private connection, which may be one that was left
        self.assertNotIn(b" name=orders ", self.server.ask("CLIENT", "LIST"))
        self.server.ask("ACL", "LOG", "RESET")  # the login itself is noted, as it should be


class Waiting(ProxyTest):
    """A queue counts its workers in CLIENT LIST, by their names."""

    PROXY_OPTIONS = {**NOBODY_HOT, "proxy.workers": 1}

    def is_listed(self):
        return b" name=worker " in self.to_server().ask("CLIENT", "LIST")

    def test_the_name_of_a_client_that_waits(self):
        for resp in (2, 3):
            client, other = self.to_proxy(resp=resp), self.to_proxy(resp=resp)
            client.ask("CLIENT", "SETNAME", "worker")
            client.send("BLPOP", "queue", 0)
            until(self.is_listed, what="its name")
            self.to_server().ask("RPUSH", "queue", "job")
            self.assertTrue(client.read().endswith(b"\r\njob\r\n"))
            until(lambda: not self.is_listed(), what="the end of its name")
            opened = self.proxy.metric("heatsink_upstream_connects_total")
            other.ask("BLPOP", "queue", 0.01)
            self.assertFalse(self.is_listed())
            self.assertEqual(self.proxy.metric("heatsink_upstream_connects_total"), opened)


class Library(ProxyTest):
    """CLIENT SETINFO, which servers know from Redis 7.2 on."""

    PROXY_OPTIONS = NOBODY_HOT

    def setUp(self):
        if self.to_server().ask("CLIENT", "SETINFO", "LIB-NAME", "x") != b"+OK\r\n":
            self.skipTest("the server does not know CLIENT SETINFO")
        self.client = self.to_proxy()

    def told(self, client=None):
        info = (client or self.client).ask("CLIENT", "INFO").decode()
        return tuple(re.findall(r" lib-(?:name|ver)=(\S*)", info))

    def test_it_is_the_connections(self):
        self.assertEqual(self.client.ask("CLIENT", "SETINFO", "LIB-NAME", "lib"), b"+OK\r\n")
        self.assertEqual(self.client.ask("CLIENT", "SETINFO", "lib-ver", "1.2"), b"+OK\r\n")
        self.assertEqual(self.told(), ("lib", "1.2"))
        self.assertEqual(self.told(self.to_proxy()), ("", ""))
        self.client.ask("CLIENT", "SETINFO", "LIB-NAME", "other")
        self.assertEqual(self.told(), ("other", "1.2"))
        self.client.ask("RESET")
        self.assertEqual(self.told(), ("other", "1.2"))

    def test_what_is_refused_changes_nothing(self):
        self.client.ask("CLIENT", "SETINFO", "LIB-NAME", "lib")
        for words in (("LIB-NAME", "two words"), ("LIB-NOPE", "x"), ("LIB-VER",)):
            refused = [c.ask("CLIENT", "SETINFO", *words) for c in (self.client, self.to_server())]
            self.assertEqual(refused[0], refused[1])
        self.assertEqual(self.told(), ("lib", ""))

    def test_another_user_keeps_it(self):
        rights = ("~*", "+get", "+client|info")
        self.to_server().ask("ACL", "SETUSER", "few", "reset", "on", ">pw", *rights)
        self.to_server().ask("ACL", "LOG", "RESET")
        self.client.ask("CLIENT", "SETINFO", "LIB-NAME", "lib")
        self.assertEqual(self.client.ask("AUTH", "few", "pw"), b"+OK\r\n")
        self.assertEqual(self.told(), ("lib", ""))
        self.assertEqual(self.to_server().ask("ACL", "LOG"), b"*0\r\n")


class Monitor(ProxyTest):
    """Under way from the start; the seconds are those that the server writes."""

    PROXY_OPTIONS = {
        "detection.hot-qps": 20,
        "detection.window": "1s",
        "detection.tick": "10ms",
        "cache.expire-after-write": "1h",
    }

    def heartbeats(self, monitor, count):
        """The moments of so many that the tracker sends."""
        at = []
        while len(at) < count:
            line = monitor.read().decode()
            if '"exists"' in line.lower() and "heatsink:heartbeat" in line:
                at.append((float(line[1:].split()[0]), line.split()[2]))
        tracker = max({who for _, who in at}, key=[who for _, who in at].count)
        return [moment for moment, who in at if who == tracker]

    def gaps(self, count):
        with RawClient(self.redis.port) as monitor:
            monitor.ask("MONITOR")
            at = self.heartbeats(monitor, count)
        return sorted(b - a for a, b in zip(at, at[1:]))

    def test_once_a_second_while_nothing_is_copied(self):
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, what="the tracker is up")
        self.assertGreater(self.gaps(6)[0], 0.9)

    def test_as_often_as_it_should_while_something_is(self):
        client = self.to_proxy()

        def hit():
            before = self.proxy.hits()
            for _ in range(40):
                client.ask("GET", "k")
            return self.proxy.hits() > before

        until(hit, what="a copy")
        until(lambda: self.gaps(12)[4] < 0.3, what="heartbeats every 100 ms")
        self.assertGreaterEqual(self.proxy.metric("heatsink_tracked_keys"), 1)
        self.to_server().ask("SET", "k", "v")
        until(lambda: self.proxy.metric("heatsink_tracked_keys") == 0, what="k is forgotten")
        until(lambda: self.gaps(4)[0] > 0.9, what="a rest")


class Tracked(ProxyTest):
    """Names that the server must remember until their keys change."""

    PROXY_OPTIONS = {
        "detection.hot-qps": 5,
        "detection.window": "1s",
        "detection.tick": "10ms",
        "detection.minimum-residence": "1h",
        "cache.maximum-tracked-keys": 2,
    }

    def hit(self, key):
        before = self.proxy.hits()
        for _ in range(30):
            self.client.ask("GET", key)
        return self.proxy.hits() > before

    def noted(self):
        """What the server has in its table: the heartbeat's key is always there."""
        info = self.to_server().ask("INFO", "stats").decode()
        return int(re.search(r"tracking_total_keys:(\d+)", info)[1])

    def test_no_more_than_the_limit_and_told(self):
        self.client = self.to_proxy()
        until(lambda: self.hit("a"), what="a copy of a")
        until(lambda: self.hit("b"), what="a copy of b")

        def left_out():
            self.hit("c")
            notes = {key["name"]: key["cache_note"] for key in self.proxy.api("hotkeys")["keys"]}
            return "cache.maximum-tracked-keys" in notes.get("c", "")

        until(left_out, what="c is told to have no place")
        until(lambda: self.proxy.metric("heatsink_tracked_keys") == 2, what="two names told")
        self.assertLessEqual(self.noted(), 3)
        self.assertEqual(self.client.ask("GET", "c"), b"$-1\r\n")
        self.to_server().ask("SET", "a", "v")
        until(lambda: self.hit("c"), what="a copy of c")


if __name__ == "__main__":
    unittest.main()
