#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys with copies on all nodes of a cluster (spread.copies), and counters in parts."""

import contextlib
import signal
import threading
import time
import unittest

from cluster_stage import WITHOUT_COPIES, ClusterTest
from harness import LONG, SLOW, Proxy, RawClient, RedisError, ValueClient, until

TTL_S = 1.0  # of the copies
COPIES = 6
PARTS = 8
RULES = (
    f"match=hot*,level=off,spread.copies={COPIES},spread.ttl={int(TTL_S * 1000)}ms",
    f"match=count*,level=off,spread.parts={PARTS}",
)
# What two threads of a busy machine need to take their turns.
MACHINE_S = 0.25 * SLOW


class SpreadTest(ClusterTest):
    NODE_OPTIONS = ("--cluster-require-full-coverage", "no")

    def setUp(self):
        self.a = self.open_spread()
        for node in self.cluster.masters:
            node("FLUSHALL")

    def open_spread(self, upstream=None, rules=RULES):
        proxy = Proxy(upstream or self.cluster.url, WITHOUT_COPIES, rules)
        self.addCleanup(proxy.stop)
        return proxy

    def clients(self, proxy, count=1):
        return [self.keep(ValueClient(proxy.port)) for _ in range(count)]

    def names(self, part=b":hs:copy:"):
        """The names with this part, by node."""
        nodes = self.cluster.masters
        return [[name for name in node("KEYS", "*") if part in name] for node in nodes]

    def learn(self, key, proxy=None):
        """Clients of all copies, once the proxy knows where these are and each has a value."""
        clients = self.clients(proxy or self.a, 2 * COPIES)
        until(lambda: self.filled(clients, key), what="all copies have a value")
        return clients

    def filled(self, clients, key="hot"):
        for client in clients:
            client("GET", key)
        texts = [
            node("GET", name) or b""
            for node, names in zip(self.cluster.masters, self.names())
            for name in names
        ]
        return len(texts) == COPIES and all(text[:1] in (b"v", b"n") for text in texts)

    def reads(self, proxy=None):
        return (proxy or self.a).by_label("heatsink_spread_reads_total", "from")


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


class Watch:
    """Readers of one counter, which judge how long after a write they were told an older value."""

    def __init__(self):
        self.acknowledged = {}  # when, by value
        self.lock = threading.Lock()
        self.longest_s, self.reads, self.behind = 0.0, 0, 0
        self.errors = []
        self.ended = threading.Event()

    def wrote(self, value):
        with self.lock:
            self.acknowledged[value] = time.monotonic()

    def read(self, asked, value):
        with self.lock:
            self.reads += 1
            since = self.acknowledged.get(value + 1)
            if since is not None and since < asked:
                self.behind += 1
                self.longest_s = max(self.longest_s, asked - since)

    def run(self, turn):
        def repeat():
            try:
                while not self.ended.is_set():
                    turn()
            except Exception as error:  # pylint: disable=broad-except
                self.errors.append(repr(error))

        return threading.Thread(target=repeat, daemon=True)


class TwoWriters(SpreadTest):
    LENGTH_S = 60 if LONG else 5

    @contextlib.contextmanager
    def watched(self, writers, proxies, pause_s=0.1):
        watch = Watch()
        clients = [client for proxy in proxies for client in self.clients(proxy, COPIES)]
        until(lambda: self.filled(clients), what="there are copies")

        def write(client):
            watch.wrote(client("INCR", "hot"))
            time.sleep(pause_s)  # the load of a writer

        def read(client):
            asked = time.monotonic()
            watch.read(asked, int(client("GET", "hot") or 0))

        threads = [watch.run(lambda c=c: write(c)) for c in writers]
        threads += [watch.run(lambda c=c: read(c)) for c in clients]
        for thread in threads:
            thread.start()
        try:
            yield watch
        finally:
            watch.ended.set()
            for thread in threads:
                thread.join()
        self.assertEqual(watch.errors, [])
        for proxy in proxies:
            by = self.reads(proxy)
            self.assertGreater(by["copy"], sum(by.values()) / 2, by)

    def report(self, what, watch, bound_s):
        print(
            f"{what}: {len(watch.acknowledged)} writes, {watch.reads} reads, {watch.behind} told an"
            f" older value, at most {watch.longest_s * 1000:.1f} ms after a newer one was"
            f" acknowledged (bound {bound_s * 1000:.0f} ms)"
        )
        self.assertGreater(len(watch.acknowledged), 15)
        self.assertLess(watch.longest_s, bound_s)

    def test_through_two_proxies(self):
        """No read is asked after an acknowledged write and told an older value."""
        b = self.open_spread()
        writers = self.clients(self.a) + self.clients(b)
        with self.watched(writers, (self.a, b)) as watch:
            time.sleep(self.LENGTH_S)  # the load of this test
        self.report("two writers through two proxies", watch, TTL_S)
        self.assertEqual(watch.behind, 0)

    def test_past_the_proxies(self):
        """Writers that the proxies do not see are bounded by the life of the copies."""
        port = self.cluster.owner("hot").port
        writers = [self.keep(ValueClient(port)) for _ in range(2)]
        with self.watched(writers, (self.a, self.open_spread())) as watch:
            time.sleep(self.LENGTH_S)  # the load of this test
        self.report("two writers past the proxies", watch, TTL_S + MACHINE_S)
        self.assertGreater(watch.behind, 0, "the readers see what they should see")

    def other_node(self):
        owner = self.cluster.owner("hot")
        return next(node for node in self.cluster.masters if node is not owner)

    def test_a_node_with_copies_stops(self):
        node = self.other_node()
        b = self.open_spread()
        writers = self.clients(self.a) + self.clients(b)
        with self.watched(writers, (self.a, b)) as watch:
            time.sleep(1)  # the load before the fault
            for _ in range(3):
                node.redis.process.freeze()
                time.sleep(TTL_S * 1.5)  # the node stands still
                node.redis.process.signal(signal.SIGCONT)
                time.sleep(0.5)  # the load between two faults
        self.report("a node stops and goes on", watch, TTL_S + MACHINE_S)

    def test_a_node_with_copies_dies(self):
        node = self.other_node()
        writers = self.clients(self.a)
        with self.watched(writers, (self.a,)) as watch:
            time.sleep(1)  # the load before the fault
            node.redis.process.kill()
            time.sleep(2)  # the load without the node
            node.redis.restart()
            node.reconnect()
            until(lambda: node.knows(3), what="the node is in the cluster")
            time.sleep(1)  # the load after the fault
        self.report("a node dies and comes back", watch, TTL_S + MACHINE_S)


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


class SingleServer(SpreadTest):
    def test_the_rule_does_nothing_and_says_so(self):
        proxy = self.open_spread(self.redis)
        (client,) = self.clients(proxy)
        client("SET", "hot", "v")
        self.assertEqual(client("GET", "hot"), b"v")
        self.assertEqual([client("INCR", "count") for _ in range(3)], [1, 2, 3])
        self.assertEqual(client("GET", "count"), b"3")
        until(lambda: "spread.* needs a cluster" in proxy.process.output(), what="the log line")


if __name__ == "__main__":
    unittest.main()
