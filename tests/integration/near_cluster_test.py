# SPDX-License-Identifier: Apache-2.0
"""Near caches in front of a cluster: whatever happens to a node or a slot ends what is kept of it.

A client keeps a key of each of three masters. Changes are made through the proxy, and past it at
the node that has the key.
"""

import re
import signal
import time
import unittest

from cluster_stage import ClusterTest
from harness import PATIENCE_S, SLOW, RawClient, until
from harness.near import Push, Resp3Client, invalidate
from near_stage import ENDS_TRACKING, STALENESS_S, Tracking, ended

LATE_S = 0.5  # what the machine may add to the bound
ON = ("CLIENT", "TRACKING", "ON")
# A slot needs no proof for its copies 2.3 s after the last fill.
SHORT_COPIES = {"cache.expire-after-write": "300ms", "cache.acl-staleness": "100ms",
                "detection.minimum-residence": "100ms"}  # fmt: skip
COPIES_GO_S = 4


class NearClusterTest(Tracking, ClusterTest):
    PROXY_OPTIONS = {**ENDS_TRACKING, "detection.enabled": "yes"}

    def setUp(self):
        self.names = [self.name_at(node) for node in self.cluster.masters]

    def port(self):
        return self.proxy.port

    def name_at(self, node, number=0):
        """One of this node's names; others for other numbers."""
        mine = (name for name in (f"n{i}" for i in range(1000)) if self.cluster.owner(name) is node)
        return [next(mine) for _ in range(number + 1)][-1]

    def is_told_in_time(self, client, *names):
        """It is asked for nothing: its node may be away."""
        left, end = set(names), time.monotonic() + (STALENESS_S + LATE_S) * SLOW
        while left:
            client.socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                said = client.next()
            except TimeoutError:
                self.fail(f"{left} are kept for too long")
            self.assertIsInstance(said, Push)
            left -= ended([said], names)
        client.socket.settimeout(PATIENCE_S * SLOW)


class Changes(NearClusterTest):
    def test_through_the_proxy(self):
        client, writer = self.near(), self.writer()
        for i in range(20):
            client.keep(*self.names)
            for name in self.names:
                writer.ask("SET", name, i)
                self.assertEqual(client.events(), [invalidate(name.encode())])

    def test_past_the_proxy(self):
        client = self.near()
        for i in range(10):
            client.keep(*self.names)
            for name, node in zip(self.names, self.cluster.masters):
                self.assertEqual(node("SET", name, i), "OK")
                self.is_told(client, name)

    def test_of_several_nodes_in_one_command(self):
        client, writer = self.near(), self.writer()
        ends = [invalidate(name.encode()) for name in self.names]
        for i in range(10):
            client.keep(*self.names)
            writer.ask("MSET", *(word for name in self.names for word in (name, i)))
            self.assertCountEqual(client.events(), ends)
            heard = client.events(("MGET", *self.names))
            self.assertEqual(heard[0], 3 * [str(i).encode()])
            kept = set(self.names) - ended(heard[1:], self.names)
            writer.ask("DEL", *self.names)
            self.assertEqual(ended(client.events(), self.names), kept)

    def test_its_own(self):
        """The push is there when the reply is."""
        client = self.near()
        for i in range(10):
            client.keep(*self.names)
            heard = client.events(("MSET", *(word for name in self.names for word in (name, i))))
            self.assertEqual(ended(heard, self.names), set(self.names))

    def test_flushes_end_by_name(self):
        client, writer = self.near(), self.writer()
        for flush in ("FLUSHALL", "FLUSHDB"):
            client.keep(*self.names)
            writer.ask(flush)
            heard = client.events()
            self.assertEqual([push for push in heard if push[1] is None], [])
            self.assertEqual(ended(heard, self.names), set(self.names))
        client.keep(*self.names)
        self.cluster.masters[1]("FLUSHALL")
        self.is_told(client, self.names[1])

    def test_scripts_whose_keys_are_not_known(self):
        client, writer = self.near(), self.writer()
        name = self.names[0]
        client.keep(name)
        said = writer.ask("EVAL", f"return redis.call('set', '{name}', ARGV[1])", 1,
                          f"{{{name}}}other", "v")  # fmt: skip
        self.assertEqual(said, b"+OK\r\n")
        self.assertEqual(ended(client.events(), [name]), {name})

    def test_a_transaction_ends_what_it_has_read(self):
        client = self.near()
        name = self.names[0]
        client.keep(name)
        heard = client.events(("MULTI",), ("GET", name), ("EXEC",))
        self.assertEqual(heard[:2], ["OK", "QUEUED"])
        self.assertEqual(ended(heard[3:], [name]), {name})


class Forms(NearClusterTest):
    def test_what_the_proxy_cannot_do_is_refused(self):
        refusal = "unknown subcommand 'TRACKING'. heatsink:"
        client = self.keep_open(Resp3Client(self.port()))
        for form in (("BCAST",), ("REDIRECT", "1"), ("OPTIN", "PREFIX", "a")):
            self.assertIn(refusal, str(client.say(*ON, *form)))
        self.assertIn(refusal.encode(), self.writer().ask(*ON))
        self.assertEqual(client.say(*ON, "OPTIN"), "OK")
        self.assertIn("BCAST", str(client.say(*ON, "BCAST")))
        self.assertEqual(client.say("CLIENT", "TRACKING", "OFF"), "OK")

    def test_the_default_refuses_all(self):
        proxy = self.open()
        client = self.keep_open(Resp3Client(proxy.port))
        self.assertIn("proxy.client-tracking: pays", str(client.say(*ON)))

    def test_a_presented_cluster(self):
        proxy = self.open({**self.PROXY_OPTIONS, "proxy.present-as": "cluster"})
        client = self.keep_open(Resp3Client(proxy.port))
        self.assertIn(b"cluster", client.say("HELLO", 3))
        client.track()
        writer = self.keep_open(RawClient(proxy.port))
        for i in range(10):
            client.keep(*self.names)
            for name in self.names:
                writer.ask("SET", name, i)
                self.assertEqual(client.events(), [invalidate(name.encode())])
        for name, node in zip(self.names, self.cluster.masters):
            client.keep(name)
            node("SET", name, "past it")
            self.is_told(client, name)

    def test_if_the_proxy_found_the_cluster_by_itself(self):
        one_node = self.cluster.url.split(",")[0].replace("+cluster", "")
        proxy = self.open(self.PROXY_OPTIONS, upstream=one_node)
        client = self.keep_open(Resp3Client(proxy.port)).track()
        client.keep(*self.names)
        self.cluster.masters[2]("SET", self.names[2], "v")
        self.is_told(client, self.names[2])


class Nodes(NearClusterTest):
    def test_a_tracker_that_is_lost(self):
        client = self.near()
        for name, node in zip(self.names, self.cluster.masters):
            client.keep(*self.names)
            rows = node("CLIENT", "LIST").decode()
            for number in re.findall(r"id=(\d+) [^\n]*name=heatsink-tracker", rows):
                node("CLIENT", "KILL", "ID", number)
            self.is_told_in_time(client, name)

    def test_a_node_that_stands_still(self):
        client, node = self.near(), self.cluster.masters[1]
        client.keep(*self.names)
        node.redis.process.freeze()
        try:
            self.is_told_in_time(client, self.names[1])
        finally:
            node.redis.process.signal(signal.SIGCONT)
        client.keep(*self.names)

    def test_a_client_that_is_idle_keeps_what_does_not_change(self):
        client = self.near()
        client.keep(*self.names)
        until(lambda: not client.events(), what="all is kept")
        client.keep(*self.names)
        self.hears_nothing(client, 2 * STALENESS_S)


class Slots(NearClusterTest):
    """A slot moves from the first master to the second one."""

    def setUp(self):
        super().setUp()
        self.source, self.target = self.cluster.masters[:2]
        # A slot for each test, so that none finds what another one has left behind.
        self.name = f"{{{self.name_at(self.source, number=len(self.id()) % 7)}}}{self.id()}"
        self.slot = self.cluster.slot(self.name)

    def at_target(self, *command):
        self.target("ASKING")
        return self.target(*command)

    def test_a_missing_key_is_made_at_the_target(self):
        """No node tells the tracker of it."""
        client = self.near()
        self.assertEqual(client.keep(self.name), [None])
        self.cluster.begin_move(self.slot, self.source, self.target)
        self.assertEqual(self.at_target("SET", self.name, "made"), "OK")
        self.is_told_in_time(client, self.name)
        self.cluster.end_move(self.slot, self.target)
        self.assertEqual(client.keep(self.name), [b"made"])

    def test_when_no_copy_needs_the_slot_any_more(self):
        proxy = self.open({**self.PROXY_OPTIONS, **SHORT_COPIES})
        client = self.keep_open(Resp3Client(proxy.port)).track()
        self.assertEqual(client.keep(self.name), [None])
        self.hears_nothing(client, COPIES_GO_S)
        self.cluster.begin_move(self.slot, self.source, self.target)
        self.assertEqual(self.at_target("SET", self.name, "made"), "OK")
        self.is_told_in_time(client, self.name)
        self.cluster.end_move(self.slot, self.target)

    def test_a_key_that_moves_and_is_written_at_the_target(self):
        client = self.near()
        self.source("SET", self.name, "old")
        self.assertEqual(client.keep(self.name), [b"old"])
        self.cluster.begin_move(self.slot, self.source, self.target)
        self.cluster.move_keys(self.slot, self.source, self.target)
        self.assertEqual(self.at_target("SET", self.name, "new"), "OK")
        self.is_told_in_time(client, self.name)
        self.cluster.end_move(self.slot, self.target)
        self.assertEqual(client.keep(self.name), [b"new"])
        self.target("SET", self.name, "newer")
        self.is_told(client, self.name)

    def test_a_write_through_the_proxy_follows_the_slot(self):
        client, writer = self.near(), self.writer()
        writer.ask("SET", self.name, "old")
        client.keep(self.name)
        self.cluster.move(self.slot, self.source, self.target)
        self.assertEqual(writer.ask("SET", self.name, "new"), b"+OK\r\n")
        self.assertLessEqual(ended(client.events(), [self.name]), {self.name})
        self.assertEqual(client.keep(self.name), [b"new"])

    def test_a_slot_that_is_taken(self):
        """By a higher epoch: a missing key is not told of, and the old owner hears of it last."""
        client = self.near()
        self.assertEqual(client.keep(self.name), [None])
        self.target("CLUSTER", "BUMPEPOCH")
        taken = self.target("CLUSTER", "SETSLOT", self.slot, "NODE", self.target.name)
        self.assertEqual(taken, "OK")
        self.assertEqual(self.target("SET", self.name, "taken"), "OK")
        self.is_told_in_time(client, self.name)
        self.cluster.end_move(self.slot, self.target)

    def test_a_transaction_that_is_sent_again(self):
        """The source refuses it while its key is at the target, and the proxy asks there."""
        client = self.near()
        self.source("SET", self.name, "old")
        self.cluster.begin_move(self.slot, self.source, self.target)
        self.cluster.move_keys(self.slot, self.source, self.target)
        heard = client.events(("MULTI",), ("GET", self.name), ("EXEC",))
        place = heard.index([b"old"])
        self.assertEqual(ended(heard[place + 1 :], [self.name]), {self.name})
        self.cluster.end_move(self.slot, self.target)


class Masters(NearClusterTest):
    REPLICAS = 1
    NODE_TIMEOUT_MS = 2000 * SLOW

    def setUp(self):
        """Another test may have changed the roles."""
        self.name = "k"
        self.old = self.cluster.owner(self.name)
        self.new = next(node for node in self.cluster.nodes if self.follows(node, self.old))

    def follows(self, node, master):
        own = next(line for line in node("CLUSTER", "NODES").decode().splitlines()
                   if "myself" in line)  # fmt: skip
        return own.split()[3] == master.name

    def is_master(self):
        return self.new("ROLE")[0] == b"master"

    def new_master_writes(self, value):
        until(self.is_master, 3 * PATIENCE_S, "the replica is the master")
        until(lambda: self.new("SET", self.name, value) == "OK", PATIENCE_S, "it writes")

    def is_kept_as(self, client, value):
        until(lambda: client.keep(self.name, within_s=3 * PATIENCE_S) == [value], what="the value")

    def test_a_fail_over_by_hand(self):
        client = self.near()
        client.keep(self.name)
        self.assertEqual(self.new("CLUSTER", "FAILOVER"), "OK")
        self.new_master_writes("by hand")
        self.is_told_in_time(client, self.name)
        self.is_kept_as(client, b"by hand")

    def test_a_master_that_stands_still_and_goes_on(self):
        client = self.near()
        client.keep(self.name)
        self.old.redis.process.freeze()
        try:
            self.is_told_in_time(client, self.name)
            self.new_master_writes("elected")
        finally:
            self.old.redis.process.signal(signal.SIGCONT)
        for _ in range(20):
            self.is_kept_as(client, b"elected")
        until(lambda: self.old("ROLE")[0] != b"master", PATIENCE_S, "it is a replica")
        self.is_kept_as(client, b"elected")


if __name__ == "__main__":
    unittest.main()
