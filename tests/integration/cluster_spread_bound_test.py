#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two writers of one key with copies on all nodes: no copy is older than the stated bound.

`--seconds N`: the length of the runs with two writers; without it 5, or 60 in the long form.
"""

import contextlib
import signal
import sys
import time
import unittest

from harness import LONG, PATIENCE_S, RedisError, ValueClient, until
from spread_stage import COPIES, MACHINE_S, TTL_S, Ages, SpreadTest, Turns, Writes

LENGTH_S = 60 if LONG else 5


class Load:
    """Two writers, readers of all copies through proxies, and one that compares the copies."""

    def __init__(self):
        self.writes = Writes()
        self.told = Ages(self.writes)  # to clients of the proxies
        self.kept = Ages(self.writes)  # by the nodes, in the copies themselves


class TwoWriters(SpreadTest):
    @contextlib.contextmanager
    def load(self, writers, proxies, compares=True, pause_s=0.1):
        load = Load()
        clients = [client for proxy in proxies for client in self.clients(proxy, COPIES)]
        until(lambda: self.filled(clients), what="there are copies")

        def write(client):
            load.writes.wrote(client("INCR", "hot"))
            time.sleep(pause_s)  # the load of a writer

        def read(client):
            asked = time.monotonic()
            load.told.read(asked, int(client("GET", "hot") or 0))

        turns = [lambda c=c: write(c) for c in writers]
        turns += [lambda c=c: read(c) for c in clients]
        turns += self.comparers(load) if compares else []
        with Turns(turns) as threads:
            yield load
        self.assertEqual(threads.errors, [])
        for proxy in proxies:
            self.assertGreater(self.reads(proxy)["copy"], 0)

    def comparers(self, load):
        def compare(node, names):
            for name in names:
                asked = time.monotonic()
                text = node("GET", name) or b""
                if text.startswith(b"v"):
                    load.kept.read(asked, int(text[1:]))
            time.sleep(0.002)  # so that it is no load

        nodes = [self.keep(ValueClient(node.port)) for node in self.cluster.masters]
        return [lambda n=n, k=k: compare(n, k) for n, k in zip(nodes, self.names())]

    def report(self, what, load, bound_s):
        print(
            f"{what}: {len(load.writes.acknowledged)} writes; reads: {load.told}; copies compared:"
            f" {load.kept}; bound {bound_s * 1000:.0f} ms"
        )
        self.assertGreater(len(load.writes.acknowledged), 15)
        self.assertLess(load.told.longest_s, bound_s)
        self.assertLess(load.kept.longest_s, bound_s)

    def expect_agreement(self):
        """The writers have ended: after the bound all copies have the key's value, or none."""
        value = self.cluster.owner("hot")("GET", "hot")
        end = time.monotonic() + TTL_S

        def agree():
            asked = time.monotonic()
            nodes = zip(self.cluster.masters, self.names())
            texts = {node("GET", name) or b"" for node, names in nodes for name in names}
            old = {text for text in texts if text.startswith(b"v")} - {b"v" + value}
            self.assertFalse(old and asked > end, old)
            return not old

        until(agree, what="the copies agree")

    def test_through_two_proxies(self):
        """No read, and no copy, is older than an acknowledged write."""
        b = self.open_spread()
        writers = self.clients(self.a) + self.clients(b)
        with self.load(writers, (self.a, b)) as load:
            time.sleep(LENGTH_S)  # the load of this test
        self.expect_agreement()
        self.report("two writers through two proxies", load, TTL_S)
        self.assertEqual((load.told.old, load.kept.old), (0, 0))

    def test_past_the_proxies(self):
        """Writers that the proxies do not see are bounded by the life of the copies."""
        port = self.cluster.owner("hot").port
        writers = [self.keep(ValueClient(port)) for _ in range(2)]
        with self.load(writers, (self.a, self.open_spread())) as load:
            time.sleep(LENGTH_S)  # the load of this test
        self.expect_agreement()
        self.report("two writers past the proxies", load, TTL_S + MACHINE_S)
        self.assertGreater(load.told.old, 0, "the readers see what they should see")

    def test_while_slots_move(self):
        """The slots of two copies, and that of the key."""
        b = self.open_spread()
        writers = self.clients(self.a) + self.clients(b)
        masters = self.cluster.masters
        with self.load(writers, (self.a, b), compares=False) as load:
            for name in [names[0] for names in self.names() if names][:2] + ["hot"]:
                source = self.cluster.owner(name)
                target = masters[(masters.index(source) + 1) % len(masters)]
                before = len(load.writes.acknowledged)
                self.cluster.move(self.cluster.slot(name), source, target)
                until(
                    lambda b=before: len(load.writes.acknowledged) > b + 10, what="writes go on"
                )
        self.report("three slots move", load, TTL_S + MACHINE_S)

    def other_node(self):
        owner = self.cluster.owner("hot")
        return next(node for node in self.cluster.masters if node is not owner)

    def test_a_node_with_copies_stops(self):
        node = self.other_node()
        b = self.open_spread()
        writers = self.clients(self.a) + self.clients(b)
        with self.load(writers, (self.a, b), compares=False) as load:
            time.sleep(1)  # the load before the fault
            for _ in range(3):
                node.redis.process.freeze()
                time.sleep(TTL_S * 1.5)  # the node stands still
                node.redis.process.signal(signal.SIGCONT)
                time.sleep(0.5)  # the load between two faults
        self.report("a node stops and goes on", load, TTL_S + MACHINE_S)

    def restart(self, node):
        node.redis.restart()
        node.reconnect()
        until(lambda: node.knows(3), what="the node is in the cluster")

    def test_a_node_with_copies_dies(self):
        node = self.other_node()
        writers = self.clients(self.a)
        with self.load(writers, (self.a,), compares=False) as load:
            time.sleep(1)  # the load before the fault
            node.redis.process.kill()
            time.sleep(2)  # the load without the node
            self.restart(node)
            time.sleep(1)  # the load after the fault
        self.report("a node dies and comes back", load, TTL_S + MACHINE_S)
        self.learn("hot")  # the node has lost its scripts, and gets copies again

    def test_the_node_of_the_key_dies(self):
        clients = self.learn("hot")
        node = self.cluster.owner("hot")
        node.redis.process.kill()

        def told():
            return [client("GET", "hot") for client in clients]

        until(
            lambda: all(isinstance(reply, RedisError) for reply in told()),
            PATIENCE_S, "the copies have ended",
        )  # fmt: skip
        self.restart(node)
        until(lambda: clients[0]("SET", "hot", "new") == "OK", PATIENCE_S, "the node is back")
        until(lambda: set(told()) == {b"new"}, PATIENCE_S, "all clients can read")


if __name__ == "__main__":
    if "--seconds" in sys.argv:
        at = sys.argv.index("--seconds")
        LENGTH_S = float(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()
