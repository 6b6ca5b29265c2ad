# SPDX-License-Identifier: Apache-2.0
"""Rules with `coalesce`: many writes to a key reach the server as one, and nobody can tell."""

import math
import re
import time
import unittest

from harness import Proxy, RawClient, Redis, need_programs, until
from harness.client import encode

WINDOW_S = 0.2
RULES = [f"match=hot:*,coalesce={int(WINDOW_S * 1000)}ms"]


class Coalesce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis("--save", "")
        cls.addClassCleanup(cls.redis.stop)
        cls.proxy = Proxy(cls.redis, {"proxy.workers": 1, "cache.enabled": "true"}, rules=RULES)
        cls.addClassCleanup(cls.proxy.stop)

    def setUp(self):
        self.server = self.client(self.redis)
        self.server.ask("FLUSHALL")
        self.server.ask("CONFIG", "RESETSTAT")

    def client(self, of=None, **how):
        client = RawClient((of or self.proxy).port, **how)
        self.addCleanup(client.close)
        return client

    def calls(self, *commands):
        stats = self.server.ask("INFO", "commandstats").decode()
        found = [re.search(rf"cmdstat_{command}:calls=(\d+)", stats) for command in commands]
        return sum(int(each[1]) for each in found if each)

    def open_window(self, *write):
        """Whatever follows within it is gathered."""
        first = self.client()
        return first.ask(*write)

    def gathered(self):
        return self.proxy.metric("heatsink_coalesced_writes_total")


class Counters(Coalesce):
    def test_each_client_is_told_a_number_of_its_own(self):
        clients, rounds = [self.client(resp=2 + i % 2) for i in range(20)], 4
        seen, before, began = [], self.gathered(), time.monotonic()
        for _ in range(rounds):
            for client in clients:
                client.send("INCR", "hot:count")
            seen.append([int(client.read()[1:]) for client in clients])
        windows = math.ceil((time.monotonic() - began) / WINDOW_S) + 1
        total = len(clients) * rounds
        self.assertEqual(sorted(sum(seen, [])), list(range(1, total + 1)))
        for earlier, later in zip(seen, seen[1:]):
            self.assertTrue(all(a < b for a, b in zip(earlier, later)), "a counter went back")
        # Two protocols are two lines.
        self.assertLessEqual(self.calls("incr", "incrby"), 2 * windows)
        self.assertEqual(self.gathered() - before, total - self.calls("incr", "incrby"))

    def test_amounts_and_both_directions(self):
        self.open_window("INCRBY", "hot:n", 100)
        up, down = self.client(), self.client()
        up.send_raw(encode("INCRBY", "hot:n", 7) + encode("INCRBY", "hot:n", 3))
        self.assertEqual([up.read(), up.read()], [b":107\r\n", b":110\r\n"])
        down.send_raw(encode("DECR", "hot:n") * 3 + encode("DECRBY", "hot:n", 10))
        self.assertEqual([down.read() for _ in range(4)],
                         [b":109\r\n", b":108\r\n", b":107\r\n", b":97\r\n"])  # fmt: skip

    def test_an_error_is_told_to_whom_it_concerns(self):
        self.server.ask("SET", "hot:n", 2**63 - 4)
        self.open_window("INCR", "hot:n")
        one, two, three = (self.client() for _ in range(3))
        for client in (one, two, three):
            client.send("INCR", "hot:n")
        replies = sorted(client.read() for client in (one, two, three))
        self.assertEqual(replies[1:], [b":%d\r\n" % (2**63 - 2), b":%d\r\n" % (2**63 - 1)])
        self.assertEqual(replies[0], b"-ERR increment or decrement would overflow\r\n")

    def test_a_key_that_is_no_number(self):
        self.server.ask("RPUSH", "hot:list", "x")
        wrong = self.open_window("INCR", "hot:list")
        self.assertTrue(wrong.startswith(b"-WRONGTYPE"), wrong)
        one, two = self.client(), self.client()
        one.send("INCR", "hot:list")
        two.send("INCRBY", "hot:list", 4)
        self.assertEqual([one.read(), two.read()], [wrong, wrong])

    def test_other_keys_wait_for_nobody(self):
        client = self.client()
        client.send_raw(encode("INCR", "cold") * 50)
        self.assertEqual([client.read() for _ in range(50)], [b":%d\r\n" % i for i in range(1, 51)])
        self.assertEqual(self.calls("incr"), 50)


class Values(Coalesce):
    def test_the_last_one_counts(self):
        self.open_window("SET", "hot:v", "first")
        client = self.client()
        client.send_raw(
            b"".join(encode("SET", "hot:v", f"v{i}", "EX", 100 + i) for i in range(30))
            + encode("GET", "hot:v")
        )
        self.assertEqual([client.read() for _ in range(31)],
                         [b"+OK\r\n"] * 30 + [b"$3\r\nv29\r\n"])  # fmt: skip
        self.assertIn(self.server.ask("TTL", "hot:v"), [b":%d\r\n" % s for s in range(60, 130)])

    def test_what_depends_on_the_value_is_never_gathered(self):
        self.open_window("SET", "hot:v", "1")
        client = self.client()
        self.assertEqual(client.ask("SET", "hot:v", "2", "NX"), b"$-1\r\n")
        self.assertEqual(client.ask("SET", "hot:v", "2", "GET"), b"$1\r\n1\r\n")
        self.assertEqual(client.ask("APPEND", "hot:v", "3"), b":2\r\n")

    def test_replies_keep_the_order_of_the_requests(self):
        self.open_window("INCR", "hot:n")
        client = self.client()
        client.send_raw(
            encode("INCR", "hot:n") + encode("GET", "hot:n") + encode("SET", "hot:n", 10)
            + encode("INCR", "hot:n") + encode("PING") + encode("SELECT", 1)
            + encode("INCR", "hot:n") + encode("MULTI") + encode("INCR", "hot:n") + encode("EXEC")
        )  # fmt: skip
        wanted = [b":2\r\n", b"$1\r\n2\r\n", b"+OK\r\n", b":11\r\n", b"+PONG\r\n", b"+OK\r\n",
                  b":1\r\n", b"+OK\r\n", b"+QUEUED\r\n", b"*1\r\n:2\r\n"]  # fmt: skip
        self.assertEqual([client.read() for _ in wanted], wanted)

    def test_silent_clients(self):
        self.open_window("INCR", "hot:n")
        client = self.client()
        client.send_raw(
            encode("CLIENT", "REPLY", "SKIP") + encode("INCR", "hot:n") + encode("INCR", "hot:n")
        )
        self.assertEqual(client.read(), b":3\r\n")

    def test_who_leaves_has_written_nevertheless(self):
        self.open_window("INCR", "hot:n")
        client = self.client()
        client.send("INCR", "hot:n")
        client.close()
        until(lambda: self.server.ask("GET", "hot:n") == b"$1\r\n2\r\n", what="the sum")


class WithoutServer(unittest.TestCase):
    def test_gathered_writes_are_refused_and_never_acknowledged(self):
        need_programs()
        redis = Redis("--save", "")
        self.addCleanup(redis.stop)
        proxy = Proxy(redis, {"proxy.workers": 1}, rules=["match=hot:*,coalesce=1s"])
        self.addCleanup(proxy.stop)
        one, two = RawClient(proxy.port), RawClient(proxy.port)
        self.addCleanup(one.close)
        self.addCleanup(two.close)
        self.assertEqual(one.ask("INCR", "hot:n"), b":1\r\n")
        redis.process.freeze()
        for client in (one, two):
            client.send("INCR", "hot:n")
        redis.stop()
        for client in (one, two):
            self.assertEqual(client.read_to_end(), b"")


if __name__ == "__main__":
    unittest.main()
