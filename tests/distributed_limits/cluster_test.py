# SPDX-License-Identifier: Apache-2.0
"""A limit in a cluster: asked at the wrong node, and while its slot moves."""

import os
import re
import time
import unittest

from harness import PATIENCE_S, Redis, ValueClient, until
from harness.processes import MEET_SOON, all_have_met, free_port
from harness.relay import Relay
from players import KEY, PLAYER, SECONDS, play

PROCESSES = 4
RATE, BURST, SHARE = 1000, 500, 0.02


class Node:
    """A server of the cluster, and a client of it."""

    def __init__(self, test):
        self.redis = Redis(*MEET_SOON, "--cluster-port", str(free_port()))
        test.addCleanup(self.redis.stop)
        self.ask = ValueClient(self.redis.port)
        test.addCleanup(self.ask.close)
        self.name = self.ask("CLUSTER", "MYID")

    def bus_port(self):
        return re.search(r":\d+@(\d+)\S* myself", self.ask("CLUSTER", "NODES").decode())[1]

    def knows(self, nodes):
        info = self.ask("CLUSTER", "INFO")
        return b"cluster_known_nodes:%d" % nodes in info and b"cluster_state:ok" in info


class Cluster(unittest.TestCase):
    def setUp(self):
        if not os.access(PLAYER, os.X_OK):
            self.skipTest("HEATSINK_LIMIT_PLAYER names no program")
        # The one that is asked first has nothing.
        self.first, self.owner = Node(self), Node(self)
        self.owner.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        self.first.ask(
            "CLUSTER", "MEET", "127.0.0.1", self.owner.redis.port, self.owner.bus_port()
        )
        for node in (self.first, self.owner):
            until(lambda node=node: node.knows(2), PATIENCE_S, "the nodes know each other")
        all_have_met(self.first.ask, self.owner.ask)

    def play(self, meanwhile=None, **settings):
        url = f"redis://127.0.0.1:{self.first.redis.port}"
        settings = {"url": url, "rate": f"{RATE}/s", "burst": BURST, "share": SHARE, **settings}
        outcome = play(PROCESSES, settings, meanwhile)
        held_max = SHARE * BURST + 1  # by one process, as in limits_test.py
        self.assertLessEqual(outcome.worst_excess(RATE), BURST + PROCESSES * held_max)
        self.assertGreaterEqual(outcome.admitted, BURST)
        self.assertEqual(outcome.counts["failures"], 0)
        return outcome

    def test_the_node_that_has_the_key_is_found(self):
        self.play()
        self.assertEqual(self.owner.ask("EXISTS", KEY), 1)

    def test_addresses_of_another_network(self):
        first, owner = Relay(self.first.redis.port), Relay(self.owner.redis.port)
        self.addCleanup(first.close)
        self.addCleanup(owner.close)
        self.play(
            lambda: until(lambda: owner.pairs, what="the owner is reached through its relay"),
            url=f"redis://127.0.0.1:{first.port}",
            translate=f"127.0.0.1:{self.owner.redis.port}=127.0.0.1:{owner.port}",
        )

    def test_the_key_moves_while_it_is_asked(self):
        def move():
            time.sleep(SECONDS / 4)  # the players play: it is in the middle of it
            slot = self.owner.ask("CLUSTER", "KEYSLOT", KEY)
            self.first.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", self.owner.name)
            self.owner.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", self.first.name)
            self.owner.ask("MIGRATE", "127.0.0.1", self.first.redis.port, KEY, 0, 5000)
            time.sleep(SECONDS / 4)  # the fault lasts this long: the answer is ASK
            for node in (self.first, self.owner):
                node.ask("CLUSTER", "SETSLOT", slot, "NODE", self.first.name)

        outcome = self.play(move)
        self.assertEqual(self.first.ask("EXISTS", KEY), 1)
        self.assertGreater(outcome.counts["redirects"], 2 * PROCESSES)


if __name__ == "__main__":
    unittest.main()
