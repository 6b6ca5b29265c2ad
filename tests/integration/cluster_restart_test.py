# SPDX-License-Identifier: Apache-2.0
"""SIGUSR2 in front of a cluster: clients with a private connection to a node go along."""

import unittest

from harness import PATIENCE_S, Proxy, need_programs, until
from harness.cluster import Cluster
from restart_stage import Restarts


class InFrontOfACluster(Restarts):
    """A private connection leads to one node, which the new process has to find."""

    KEYS = [f"l:{i}" for i in range(12)]  # on all three masters

    def setUp(self):
        need_programs()
        self.cluster = self.enterContext(Cluster(3))
        self.proxy = Proxy(self.cluster.url, self.OPTIONS)
        self.addCleanup(self.end_all)
        self.pid = self.proxy.process.child.pid

    def push(self, key, value):
        self.cluster.owner(key)("RPUSH", key, value)

    def test_consumers_lose_nothing(self):
        consumers = {key: self.client() for key in self.KEYS}
        for turn in range(3):
            for key, consumer in consumers.items():
                consumer.send("BLPOP", key, 0)
            until(self.all_wait, PATIENCE_S, "all wait at their nodes")
            new = self.begin_restart()
            for key in self.KEYS[::2]:  # some while they move
                self.push(key, turn)
            words = f"hand-over: process {new} serves the clients"
            until(lambda words=words: words in self.output(), PATIENCE_S, "the hand-over")
            self.pid = new
            for key in self.KEYS[1::2]:
                self.push(key, turn)
            for key, consumer in consumers.items():
                self.assertIn(str(turn).encode(), consumer.read(), key)

    def all_wait(self):
        rows = "".join(node("CLIENT", "LIST").decode() for node in self.cluster.nodes)
        return rows.count(" flags=b") == len(self.KEYS)

    def test_watches_and_subscribers_go_along(self):
        watching, subscriber = self.client(), self.client()
        watching.ask("WATCH", "k")
        subscriber.ask("SUBSCRIBE", "c")
        self.restart()
        self.cluster.owner("k")("SET", "k", "other")
        watching.ask("MULTI")
        watching.ask("SET", "k", "mine")
        self.assertEqual(watching.ask("EXEC"), b"*-1\r\n")
        self.client().ask("PUBLISH", "c", "m")
        self.assertEqual(
            subscriber.read(), b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n"
        )
        self.assertEqual(watching.ask("GET", "k"), b"$5\r\nother\r\n")


if __name__ == "__main__":
    unittest.main()
