#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters in parts on all nodes of a cluster (spread.parts)."""

import threading
import unittest

from harness import RedisError, ValueClient, until
from spread_stage import PARTS, SpreadTest


class Counters(SpreadTest):
    def parts_but_first(self):
        return sum(map(len, self.names(b":hs:part:")))

    def test_the_sum_of_the_parts(self):
        (client,) = self.clients(self.a)
        self.assertIsNone(client("GET", "count"))
        self.assertEqual(client("EXISTS", "count"), 0)
        for _ in range(200):
            self.assertIsInstance(client("INCR", "count"), int)
        client("INCRBY", "count", 50)
        client("DECR", "count")
        client("DECRBY", "count", 9)
        self.assertEqual(client("GET", "count"), b"240")
        self.assertEqual(client("EXISTS", "count"), 1)
        self.assertEqual(self.parts_but_first(), PARTS - 1)
        self.assertEqual(client("SET", "count", "7"), "OK")
        self.assertEqual(client("GET", "count"), b"7")
        self.assertEqual(client("DEL", "count"), 1)
        self.assertEqual(client("DEL", "count"), 0)
        self.assertIsNone(client("GET", "count"))

    def test_a_counter_that_was_there_counts(self):
        self.cluster.owner("count")("SET", "count", "1000")
        (client,) = self.clients(self.a)
        for _ in range(20):
            client("INCR", "count")
        self.assertEqual(client("GET", "count"), b"1020")

    def test_the_edges(self):
        (client,) = self.clients(self.a)
        client("SET", "count", "9223372036854775807")
        until(lambda: self.parts_but_first() > 0 or self.grow(client))
        self.assertIn("out of range", client("GET", "count"))
        client("DEL", "count")
        self.cluster.owner("count")("SET", "count", "no number")
        self.assertIn("not an integer", client("GET", "count"))

    @staticmethod
    def grow(client):
        client("INCR", "count")  # part 0 refuses: it would overflow

    def test_other_commands_are_refused(self):
        (client,) = self.clients(self.a)
        client("INCR", "count")
        for command in (
            ("APPEND", "count", "1"), ("EXPIRE", "count", 5), ("MGET", "count", "other"),
            ("DEL", "count", "other"), ("SET", "count", "1", "EX", 5), ("SET", "count", "x"),
            ("GETSET", "count", "1"), ("INCRBYFLOAT", "count", "1"), ("WATCH", "count"),
            ("EVAL", "return 1", 1, "count"), ("RENAME", "count", "{count}"),
        ):  # fmt: skip
            reply = client(*command)
            self.assertIsInstance(reply, RedisError, command)
            self.assertIn("counter in parts", reply)
        client("MULTI")
        self.assertIn("counter in parts", client("INCR", "count"))
        self.assertIn("EXECABORT", client("EXEC"))
        self.assertEqual(client("GET", "count"), b"1")

    def test_exact_while_a_slot_moves(self):
        """Each acknowledged INCR counts once; a GET shows at least those before it."""
        added, errors, ended = [0] * 4, [], threading.Event()

        def add(number):
            client = ValueClient(self.a.port)
            while not ended.is_set():
                reply = client("INCR", "count")
                if isinstance(reply, RedisError):
                    errors.append(reply)
                else:
                    added[number] += 1
            client.close()

        threads = [threading.Thread(target=add, args=(i,), daemon=True) for i in range(4)]
        for thread in threads:
            thread.start()
        (client,) = self.clients(self.a)
        masters = self.cluster.masters
        until(lambda: self.parts_but_first() == PARTS - 1, what="all parts exist")
        for name in [name for names in self.names(b":hs:part:") for name in names][:3]:
            source = self.cluster.owner(name)
            target = masters[(masters.index(source) + 1) % len(masters)]
            before = sum(added)
            self.assertGreaterEqual(int(client("GET", "count")), before)
            self.cluster.move(self.cluster.slot(name), source, target)
            self.assertGreaterEqual(int(client("GET", "count")), before)
        ended.set()
        for thread in threads:
            thread.join()
        self.assertEqual(errors[:5], [])
        self.assertEqual(int(client("GET", "count")), sum(added))
        print(f"counter in parts: {sum(added)} INCRs while three slots moved, the sum is exact")


if __name__ == "__main__":
    unittest.main()
