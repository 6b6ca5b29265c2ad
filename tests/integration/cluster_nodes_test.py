#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages, single nodes and replicas of a cluster, as a client of the proxy meets them."""

import signal
import time
import unittest

from cluster_stage import ClusterTest
from harness import SLOW, RawClient, until

# One key of each master.
FIRST, SECOND, THIRD = "b", "c", "a"


class Messages(ClusterTest):
    def test_a_channel_reaches_all(self):
        subscribers = [self.to_values() for _ in range(3)]
        for each in subscribers:
            self.assertEqual(each("SUBSCRIBE", "news"), [b"subscribe", b"news", 1])
        publisher = self.to_values()
        publisher("PUBLISH", "news", "x")
        for each in subscribers:
            self.assertEqual(each.read(), [b"message", b"news", b"x"])
        pattern = self.to_values()
        self.assertEqual(pattern("PSUBSCRIBE", "n*"), [b"psubscribe", b"n*", 1])
        publisher("PUBLISH", "news", "y")
        self.assertEqual(pattern.read(), [b"pmessage", b"n*", b"news", b"y"])

    def test_published_on_any_node(self):
        client = self.to_values()
        client("SUBSCRIBE", "news")
        for node in self.cluster.masters:
            node("PUBLISH", "news", node.port)
        got = sorted(int(client.read()[2]) for _ in range(3))
        self.assertEqual(got, sorted(node.port for node in self.cluster.masters))

    def test_shard_channels_of_several_nodes(self):
        for resp in (2, 3):
            client, publisher = self.to_proxy(resp=resp), self.to_values()
            for count, key in enumerate((FIRST, SECOND, THIRD), 1):
                got = client.ask("SSUBSCRIBE", key)
                self.assertIn(b"ssubscribe", got)
                self.assertTrue(got.endswith(b":%d\r\n" % count), got)
            for key in (FIRST, SECOND, THIRD):
                self.assertEqual(publisher("SPUBLISH", key, f"to {key}"), 1)
                got = client.read()
                self.assertIn(b"smessage", got)
                self.assertIn(b"to " + key.encode(), got)
            self.assertIn(b"sunsubscribe", client.ask("SUNSUBSCRIBE", "b"))
            self.assertEqual(publisher("SPUBLISH", "b", "x"), 0)
            client.send("SUNSUBSCRIBE")
            rest = {client.read() for _ in range(2)}
            self.assertEqual(len(rest), 2)
            self.assertIn(b"PONG", client.ask("PING").upper())
            client.close()

    def test_a_shard_channel_of_a_node_that_is_away(self):
        proxy = self.open({"upstream.connect-wait": "500ms"})  # response-timeout: 10 s
        client = self.keep(RawClient(proxy.port))
        client.ask("SSUBSCRIBE", FIRST)
        node = self.cluster.owner(THIRD).redis.process
        node.freeze()
        self.addCleanup(node.signal, signal.SIGCONT)
        begun = time.monotonic()
        with self.assertRaises(ConnectionError):
            client.ask("SSUBSCRIBE", THIRD)
        self.assertLess(time.monotonic() - begun, 5 * SLOW)

    def test_notifications_of_all_nodes(self):
        for node in self.cluster.masters:
            node("CONFIG", "SET", "notify-keyspace-events", "KEA")
        keyspace, events, patterns = self.to_values(), self.to_values(), self.to_values()
        keyspace.pipeline([("SUBSCRIBE", f"__keyspace@0__:{k}") for k in "abc"])
        events("SUBSCRIBE", "__keyevent@0__:set")
        patterns("PSUBSCRIBE", "__key*__:*")
        writer = self.to_values()
        for key in "abc":
            writer("SET", key, 1)
        for key in (b"a", b"b", b"c"):
            name = b"__keyspace@0__:" + key
            self.assertEqual(keyspace.read(), [b"message", name, b"set"])
        got = {tuple(events.read()) for _ in range(3)}
        self.assertEqual(got, {(b"message", b"__keyevent@0__:set", k) for k in (b"a", b"b", b"c")})
        got = [patterns.read() for _ in range(6)]
        self.assertEqual({each[2] for each in got if b"keyevent" not in each[2]},
                         {b"__keyspace@0__:" + k for k in (b"a", b"b", b"c")})  # fmt: skip

    def test_a_channel_once_with_notifications(self):
        client, publisher = self.to_values(), self.to_values()
        client("PSUBSCRIBE", "__key*")
        self.assertEqual(client("SUBSCRIBE", "news"), [b"subscribe", b"news", 2])
        for i in range(5):
            publisher("PUBLISH", "news", i)
        self.assertEqual([client.read()[2] for _ in range(5)], [b"%d" % i for i in range(5)])
        self.assertEqual(client("UNSUBSCRIBE", "news"), [b"unsubscribe", b"news", 1])


class AllNodes(ClusterTest):
    """Commands whose answer is a part on each node: clients see what one server would say."""

    def test_subscribers_of_all_nodes(self):
        for port, channel in zip([node.port for node in self.cluster.masters], "xyz", strict=True):
            subscriber = self.keep(RawClient(port))
            for words in (("SUBSCRIBE", channel), ("SUBSCRIBE", "news"), ("PSUBSCRIBE", "n*")):
                subscriber.ask(*words)
        for resp in (2, 3):
            client = self.to_proxy(resp=resp)
            got = client.ask("PUBSUB", "CHANNELS")
            self.assertTrue(got.startswith(b"*4\r\n"), got)
            self.assertTrue(client.ask("PUBSUB", "CHANNELS", "[xyz]").startswith(b"*3\r\n"))
            got = client.ask("PUBSUB", "NUMSUB", "news", "y", "none")
            expected = b"*6\r\n$4\r\nnews\r\n:3\r\n$1\r\ny\r\n:1\r\n$4\r\nnone\r\n:0\r\n"
            self.assertEqual(got, expected)
            self.assertEqual(client.ask("PUBSUB", "NUMPAT"), b":3\r\n")
            self.assertEqual(client.ask("PUBSUB", "NUMSUB"), b"*0\r\n")

    def test_subscribers_of_shard_channels(self):
        subscriber, client = self.to_proxy(), self.to_values()
        for key in (FIRST, SECOND, THIRD):
            subscriber.ask("SSUBSCRIBE", key)
        self.assertEqual(sorted(client("PUBSUB", "SHARDCHANNELS")), [b"a", b"b", b"c"])
        self.assertEqual(client("PUBSUB", "SHARDNUMSUB", "a", "b", "c", "d"),
                         [b"a", 1, b"b", 1, b"c", 1, b"d", 0])  # fmt: skip

    def test_settings_and_users_of_all_masters(self):
        client = self.to_values()
        self.assertEqual(client("CONFIG", "SET", "notify-keyspace-events", "Kg"), "OK")
        self.assertEqual(client("ACL", "SETUSER", "of-all", "on", ">pw", "~*", "+get"), "OK")
        for node in self.cluster.masters:
            self.assertEqual(node("CONFIG", "GET", "notify-keyspace-events")[1], b"gK")
            self.assertIn(b"of-all", node("ACL", "USERS"))
        self.assertIn("ERR", client("CONFIG", "SET", "no-such-setting", "1"))
        self.cluster.masters[0]("ACL", "DELUSER", "of-all")
        self.assertEqual(client("ACL", "DELUSER", "of-all", "nobody-else"), 1)
        for node in self.cluster.masters:
            self.assertNotIn(b"of-all", node("ACL", "USERS"))
        client("CONFIG", "SET", "notify-keyspace-events", "")

    def test_a_setting_of_one_node_stays_there(self):
        client = self.to_values()
        self.assertEqual(client("CONFIG", "SET", "replica-announce-ip", "10.1.2.3"), "OK")
        got = [node("CONFIG", "GET", "replica-announce-ip")[1] for node in self.cluster.masters]
        self.assertEqual(sorted(got), [b"", b"", b"10.1.2.3"])
        for node in self.cluster.masters:
            node("CONFIG", "SET", "replica-announce-ip", "")

    def test_keys_of_a_slot(self):
        client = self.to_values()
        for key in (FIRST, SECOND, THIRD):
            client("SET", key, 1)
            slot = client("CLUSTER", "KEYSLOT", key)
            self.assertEqual(client("CLUSTER", "COUNTKEYSINSLOT", slot), 1)
            self.assertEqual(client("CLUSTER", "GETKEYSINSLOT", slot, 9), [key.encode()])

    def test_a_function_that_runs_on_another_node(self):
        client, busy = self.to_values(), self.to_values()
        code = "redis.register_function('spin', function() while true do end end)"
        client("FUNCTION", "LOAD", "REPLACE", "#!lua name=spinner\n" + code)
        for node in self.cluster.masters:
            node("CONFIG", "SET", "busy-reply-threshold", 20)
        for key in (FIRST, SECOND, THIRD):
            busy.send("FCALL", "spin", 1, key)
            until(lambda: client("FUNCTION", "STATS")[1] is not None, what="a busy node")
            self.assertEqual(client("FUNCTION", "STATS")[1][1], b"spin")
            self.assertEqual(client("FUNCTION", "KILL"), "OK")
            self.assertIn("killed", busy.read())
        self.assertIsNone(client("FUNCTION", "STATS")[1])


class OneNode(ClusterTest):
    """Commands about one node."""

    def test_of_a_node(self):
        client = self.to_values()
        for node in self.cluster.masters:
            for name in (f"127.0.0.1:{node.port}",):
                info = client("HEATSINK", "NODE", name, "INFO", "server")
                self.assertIn(b"tcp_port:%d" % node.port, info)
        node = self.cluster.masters[1]
        name = f"127.0.0.1:{node.port}"
        client("HEATSINK", "NODE", name, "CONFIG", "SET", "slowlog-max-len", 77)
        self.assertEqual(node("CONFIG", "GET", "slowlog-max-len"), [b"slowlog-max-len", b"77"])
        self.assertIn("no node", client("HEATSINK", "NODE", "127.0.0.1:1", "PING"))
        for refused in ("GET a", "MULTI", "SUBSCRIBE x", "BLPOP a 0", "FLUSH", "CLIENT REPLY OFF"):
            self.assertIn("ERR", client("HEATSINK", "NODE", name, *refused.split()), refused)
        self.assertEqual(client("PING"), "PONG")

    def test_the_nodes_are_listed(self):
        listed = dict(self.to_values()("HEATSINK", "NODES"))
        for node in self.cluster.masters:
            self.assertIn(b"master of 546", listed[b"127.0.0.1:%d" % node.port])

    def test_load_of_the_nodes(self):
        proxy = self.open()
        client = self.keep(RawClient(proxy.port))
        node = f"127.0.0.1:{self.cluster.owner('b').port}"

        def slots():
            for _ in range(2000):
                client.ask("GET", "b")
            return proxy.api("slots")

        until(lambda: slots()["imbalance"] > 2.5, what="the load of one node")
        seen = slots()
        self.assertEqual(seen["busiest"], node)
        self.assertEqual(seen["slots"][0]["slot"], 3300)
        self.assertIn(f"slot 3300 is 100 % of the load of node {node}", seen["advice"][0]["text"])
        self.assertEqual(len(seen["nodes"]), 3)
        self.assertGreater(proxy.metric("heatsink_node_imbalance"), 2.5)

    def test_wait_counts_every_node(self):
        client = self.to_values()
        client.pipeline([("SET", key, 1) for key in "abc"])
        begun = time.monotonic()
        self.assertEqual(client("WAIT", 1, 100), 0)  # there are no replicas
        self.assertGreater(time.monotonic() - begun, 0.09)
        self.assertEqual(client("WAIT", 0, 100), 0)


class Replicated(ClusterTest):
    REPLICAS = 1

    def test_wait_is_for_all_nodes_written_to(self):
        of_b = next(n for n in self.cluster.replicas
                    if n is self.cluster.replica_of(self.cluster.owner("b")))  # fmt: skip
        client, other = self.to_values(), self.to_values()
        client.pipeline([("SET", key, 1) for key in "ab"])
        self.assertEqual(client("WAIT", 1, 10_000), 1)
        of_b.redis.process.freeze()
        self.addCleanup(of_b.redis.process.signal, signal.SIGCONT)
        client.pipeline([("SET", key, 2) for key in "ba"])
        self.assertEqual(client("WAIT", 1, 200), 0)  # the last node written to has one
        self.assertEqual(other("SET", "a", 3), "OK")
        self.assertEqual(other("WAIT", 1, 10_000), 1)  # it has written to the other node alone
        of_b.redis.process.signal(signal.SIGCONT)
        self.assertEqual(client("WAIT", 1, 10_000), 1)


class Detected(ClusterTest):
    def test_from_any_address(self):
        for node in self.cluster.masters:
            proxy = self.open(upstream=f"redis://127.0.0.1:{node.port}")
            client = self.keep(RawClient(proxy.port))
            until(lambda c=client: c.ask("MGET", "a", "b", "c").startswith(b"*3"), what="detected")
            for key in (FIRST, SECOND, THIRD):
                self.assertEqual(client.ask("SET", key, 1), b"+OK\r\n")

    def test_from_its_first_moment(self):
        """Before the map is there, no client sees a redirect."""
        for _ in range(5):
            proxy = self.open()
            client = self.keep(RawClient(proxy.port))
            for key in (THIRD, SECOND, FIRST):
                self.assertEqual(client.ask("SET", key, 1), b"+OK\r\n")
            self.assertEqual(client.ask("DEL", "a", "b", "c"), b":3\r\n")


if __name__ == "__main__":
    unittest.main()
