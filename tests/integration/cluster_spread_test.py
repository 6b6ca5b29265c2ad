#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys with copies on all nodes of a cluster (spread.copies)."""

import subprocess
import time
import unittest

from harness import HEATSINK, PATIENCE_S, SLOW, RawClient, RedisError, ValueClient, until
from spread_stage import COPIES, MACHINE_S, TTL_S, SpreadTest


class Copies(SpreadTest):
    def test_they_are_on_all_nodes(self):
        (client,) = self.clients(self.a)
        client("SET", "hot", "v")
        self.learn("hot")
        self.assertEqual([len(names) for names in self.names()], [2, 2, 2])
        for node, names in zip(self.cluster.masters, self.names()):
            for name in names:
                self.assertTrue(0 < node("PTTL", name) <= TTL_S * 1000)

    def test_they_answer(self):
        (client,) = self.clients(self.a)
        client("SET", "hot", "v")
        clients = self.learn("hot")
        before = self.reads()
        for _ in range(20):
            self.assertEqual({c("GET", "hot") for c in clients}, {b"v"})
        after = self.reads()
        asked = 20 * len(clients)
        self.assertGreater(after["copy"] - before["copy"], asked // 2)
        self.assertEqual(sum(after.values()) - sum(before.values()), asked)

    def test_values_of_all_kinds(self):
        (client,) = self.clients(self.a)
        for value in (b"", b"n", b"t", b"\0\r\n$-1\r\n", b"x" * 70_000, b"y" * 3_000_000):
            client("SET", "hot", value)
            self.assertEqual({c("GET", "hot") for c in self.clients(self.a, 8)}, {value})
            for each in self.clients(self.a, 8):
                self.assertEqual(each("GET", "hot"), value)
        client("DEL", "hot")
        client("LPUSH", "hot", "a")
        for each in self.clients(self.a, 8) * 2:
            self.assertIn("WRONGTYPE", each("GET", "hot"))

    def test_a_missing_key_has_copies_too(self):
        clients = self.learn("hot")
        self.assertEqual({c("GET", "hot") for c in clients}, {None})
        for _ in range(COPIES):
            other = self.keep(RawClient(self.a.port, resp=3))
            self.assertEqual([other.ask("GET", "hot") for _ in range(9)], [b"_\r\n"] * 9)
        clients[0]("SET", "hot", "there")
        self.assertEqual({c("GET", "hot") for c in clients}, {b"there"})

    def test_every_write_ends_them(self):
        """Also those of transactions, scripts, and of commands with several keys."""
        clients = self.learn("hot")
        writer = self.keep(ValueClient(self.open_spread().port))
        script = "return redis.call('SET', KEYS[1], ARGV[1])"
        for step, write in enumerate((
            [("SET", "hot", "0")],
            [("MSET", "other", "x", "hot", "1", "third", "y")],
            [("MULTI",), ("SET", "hot", "2"), ("EXEC",)],
            [("EVAL", script, 1, "hot", "3")],
            [("DEL", "hot"), ("SETNX", "hot", "4")],
            [("GETSET", "hot", "5")],
            [("RENAME", "{hot}from", "hot")],
        )):  # fmt: skip
            with self.subTest(write=write):
                until(lambda: self.filled(clients), what="copies again")
                writer("SET", "{hot}from", "6")
                for command in write:
                    self.assertNotIsInstance(writer(*command), RedisError)
                self.assertEqual({c("GET", "hot") for c in clients}, {b"%d" % step})

    def test_own_pipelines_are_in_order(self):
        (client,) = self.learn("hot")[:1]
        for turn in range(50):
            client.send("SET", "hot", turn)
            for _ in range(4):
                client.send("GET", "hot")
            client.send("SET", "hot", "later")
            self.assertEqual(client.read(), "OK")
            self.assertEqual([client.read() for _ in range(4)], [b"%d" % turn] * 4)
            self.assertEqual(client.read(), "OK")

    def test_the_end_of_the_key(self):
        clients = self.learn("hot")
        clients[0]("SET", "hot", "v", "PX", 300)
        end = time.monotonic() + 0.3
        while time.monotonic() < end + TTL_S:
            asked = time.monotonic()
            told = {c("GET", "hot") for c in clients}
            if asked > end + MACHINE_S:
                self.assertEqual(told, {None})

    def test_a_layout_of_others(self):
        """The proxy uses what it finds; text that it does not understand means: no copies."""
        slot = self.cluster.slot("hot")
        node = self.cluster.owner("hot")
        self.learn("hot")
        (name,) = [name for names in self.names(b":hs:layout:") for name in names]
        self.assertEqual(self.cluster.slot(name), slot)
        node("SET", name, "hs9 something newer")
        proxy = self.open_spread()
        for client in self.clients(proxy, 4):
            client("SET", "hot", "v")
            self.assertEqual(client("GET", "hot"), b"v")
        self.assertEqual(node("GET", name), b"hs9 something newer")
        self.assertEqual(self.reads(proxy)["copy"], 0)


class SingleServer(SpreadTest):
    def test_the_rule_does_nothing_and_says_so(self):
        proxy = self.open_spread(self.redis)
        (client,) = self.clients(proxy)
        client("SET", "hot", "v")
        self.assertEqual(client("GET", "hot"), b"v")
        self.assertEqual([client("INCR", "count") for _ in range(3)], [1, 2, 3])
        self.assertEqual(client("GET", "count"), b"3")
        until(lambda: "spread.* needs a cluster" in proxy.process.output(), what="the log line")


class Configuration(unittest.TestCase):
    def refusal(self, rule):
        done = subprocess.run(
            [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--rule", rule],
            capture_output=True, text=True, check=False, timeout=PATIENCE_S * SLOW,
        )  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        return done.stdout + done.stderr

    def test_what_cannot_be_is_refused(self):
        for rule, why in (
            ("match=a,spread.copies=6", "copies on nodes promise less than local ones"),
            ("match=a,level=off,spread.copies=1", "spread.copies"),
            ("match=a,level=off,spread.copies=six", "spread.copies"),
            ("match=a,level=off,spread.copies=6,spread.parts=8", "only one of them"),
            ("match=a,level=off,spread.ttl=1s", "write spread.copies"),
            ("match=a,level=off,spread.copies=6,reads=all", "write reads: master"),
            ("match=a,level=off,spread.parts=8,coalesce=5ms", "remove coalesce"),
        ):
            with self.subTest(rule=rule):
                self.assertIn(why, self.refusal(rule))


if __name__ == "__main__":
    unittest.main()
