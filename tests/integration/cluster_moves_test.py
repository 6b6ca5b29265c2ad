#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Slots move and masters change under load: the clients of the proxy notice nothing, or little."""

import shutil
import signal
import tempfile
import time
import unittest

import cluster_load
from cluster_load import Counter, Lister, Popper, Scripter, Trader, errors_of, load, turned
from cluster_stage import WITHOUT_COPIES, ClusterTest
from harness import (
    ERRORS_WHEN_DOWN, SLOW, Proxy, RawClient, RedisError, ValueClient, need_programs, until,
)  # fmt: skip
from harness.certificates import Authority
from harness.cluster import Cluster, Node
from harness.processes import Redis, all_have_met, free_port
from harness.relay import Relay

TAGS = ("a", "b", "c")  # of three masters
BACK_WITHIN_S = 2


class Resharding(ClusterTest):
    # A command with several keys waits for the end of its slot's move, and the machine may be slow.
    PROXY_OPTIONS = {"upstream.response-timeout": "20s"}

    def owner_and_next(self, tag):
        source = self.cluster.owner(tag)
        masters = self.cluster.masters
        return source, masters[(masters.index(source) + 1) % len(masters)]

    def no_errors(self, askers):
        self.assertEqual(errors_of(askers)[:5], [])
        self.assertTrue(all(each.turns > 0 for each in askers))

    def test_slots_move_round_the_cluster(self):
        with load(self.proxy.port, TAGS) as askers:
            turned(askers, 2)
            for _ in range(3):
                for tag in TAGS:
                    source, target = self.owner_and_next(tag)
                    slot = self.cluster.slot(tag)
                    self.cluster.begin_move(slot, source, target)
                    # Others wait for the end of the move: several keys, and BLPOP at the old node.
                    turned(askers, 2, (Counter,))
                    self.cluster.move_keys(slot, source, target)
                    turned(askers, 1, (Counter,))
                    self.cluster.end_move(slot, target)
        self.no_errors(askers)

    def test_there_and_back(self):
        """No request lives through two whole moves: a node that imports the slot once more would
        execute it, because of the first time's ASK, while the key is still on the other."""
        slot = self.cluster.slot("a")
        with load(self.proxy.port, ("a",)) as askers:
            turned(askers, 2)
            for _ in range(12):
                source, target = self.owner_and_next("a")
                self.cluster.move(slot, source, target)
                turned(askers, 1)
                self.cluster.move(slot, target, source)
        self.no_errors(askers)

    def test_resp3(self):
        """Each step of a move: no step, ASK, TRYAGAIN, MOVED."""
        client = self.keep(RawClient(self.proxy.port, resp=3))
        def asked(turn):
            one, all_ = b"$1\r\n%d\r\n" % turn, {"{b}old": turn, f"{{b}}{turn}": turn}
            for key, value in all_.items():
                self.assertEqual(client.ask("SET", key, value), b"+OK\r\n")
                self.assertEqual(client.ask("GET", key), one)
            self.assertEqual(client.ask("MGET", *all_, "{b}none"), b"*3\r\n" + one * 2 + b"_\r\n")
            self.assertIn(client.ask("HSET", "{b}hash", "f", turn), (b":0\r\n", b":1\r\n"))
            self.assertEqual(client.ask("HGETALL", "{b}hash"), b"%1\r\n$1\r\nf\r\n" + one)

        self.ask_at_each_step(asked, self.cluster.slot("b"), *self.owner_and_next("b"))
        self.assertEqual(client.ask("GET", "{b}1"), b"$1\r\n1\r\n")

    def test_a_big_request_while_its_slot_moves(self):
        source, target = self.owner_and_next("b")
        slot = self.cluster.slot("b")
        client = self.to_values()
        value = b"v" * 3_000_000
        self.cluster.begin_move(slot, source, target)
        self.assertEqual(client("SET", "{b}big", value), "OK")  # ASK: the key is new
        self.cluster.move_keys(slot, source, target)
        self.cluster.end_move(slot, target)
        other = self.keep(RawClient(self.open().port))  # its map is of now
        self.assertEqual(client("GET", "{b}big"), value)
        self.assertEqual(client("SET", "{b}big", value + b"x"), "OK")  # MOVED, or the new map
        self.assertEqual(other.ask("STRLEN", "{b}big"), b":3000001\r\n")
        self.assertEqual(client("DEL", "{b}big"), 1)

    def test_keys_of_one_command_on_two_nodes(self):
        """TRYAGAIN until the move goes on; reads of several keys do not wait for that."""
        source, target = self.owner_and_next("c")
        slot = self.cluster.slot("c")
        client = self.to_values()
        client("MSET", "{c}1", 1, "{c}2", 2)
        self.cluster.begin_move(slot, source, target)
        source("MIGRATE", "127.0.0.1", target.port, "{c}1", 0, 5000)
        self.assertEqual(client("MGET", "{c}1", "{c}2"), [b"1", b"2"])
        self.assertEqual(client("EXISTS", "{c}1", "{c}2", "{c}3"), 2)
        self.assertEqual(client("TOUCH", "{c}1", "{c}2"), 2)
        writer = self.to_values()
        writer.send("MSET", "{c}1", 3, "{c}2", 4)
        self.assertEqual(client("GET", "{c}2"), b"2")
        self.cluster.move_keys(slot, source, target)
        self.cluster.end_move(slot, target)
        self.assertEqual(writer.read(), "OK")
        self.assertEqual(client("MGET", "{c}1", "{c}2"), [b"3", b"4"])

    def test_a_move_that_does_not_end(self):
        source, target = self.owner_and_next("c")
        slot = self.cluster.slot("c")
        proxy = self.open({"upstream.response-timeout": "300ms"})
        client = self.keep(ValueClient(proxy.port))
        client("MSET", "{c}1", 1, "{c}2", 2)
        self.cluster.begin_move(slot, source, target)
        source("MIGRATE", "127.0.0.1", target.port, "{c}1", 0, 5000)
        refused = client("MSET", "{c}1", 3, "{c}2", 4)
        self.assertIsInstance(refused, RedisError)
        self.assertIn("is being moved", refused)
        self.cluster.move_keys(slot, source, target)
        self.cluster.end_move(slot, target)
        self.assertEqual(client("MSET", "{c}1", 3, "{c}2", 4), "OK")

    def test_stolen_by_epoch(self):
        source, target = self.owner_and_next("a")
        slot = self.cluster.slot("a")
        client = self.to_values()
        client.pipeline([("SET", "{a}1", 1), ("GET", "b"), ("GET", "c")])
        source("DEL", "{a}1")
        target("CLUSTER", "BUMPEPOCH")
        target("CLUSTER", "SETSLOT", slot, "NODE", target.name)
        given_up = lambda: self.cluster.owner_by(source, slot) == target.name  # noqa: E731
        until(given_up, what="the source gives it up")
        self.assertEqual(client("SET", "{a}1", 2), "OK")
        self.assertEqual(target("GET", "{a}1"), b"2")
        self.cluster.end_move(slot, target)

    def test_a_slot_of_no_node(self):
        slot = self.cluster.slot("b")
        owner = self.cluster.owner("b")
        client = self.to_values()
        self.assertIn(client("SET", "b", 1), ("OK",))
        for node in self.cluster.masters:
            node("CLUSTER", "DELSLOTS", slot)
        until(lambda: "CLUSTERDOWN" in str(client("GET", "b")), what="CLUSTERDOWN")
        owner("CLUSTER", "ADDSLOTS", slot)
        for node in self.cluster.masters:
            if node is not owner:
                node("CLUSTER", "SETSLOT", slot, "NODE", owner.name)
        until(lambda: client("SET", "b", 2) == "OK", what="the slot is served again")
        self.assertEqual(client("GET", "b"), b"2")

    def test_shard_channels_follow_their_slot(self):
        source, target = self.owner_and_next("b")
        subscriber, publisher = self.to_values(), self.to_values()
        self.assertEqual(subscriber("SSUBSCRIBE", "b"), [b"ssubscribe", b"b", 1])
        self.assertEqual(subscriber("SSUBSCRIBE", "a"), [b"ssubscribe", b"a", 2])
        self.cluster.move(self.cluster.slot("b"), source, target)
        until(lambda: publisher("SPUBLISH", "b", "again") == 1, what="subscribed at the new owner")
        self.assertEqual(subscriber.read(), [b"smessage", b"b", b"again"])
        self.assertEqual(publisher("SPUBLISH", "a", "x"), 1)
        self.assertEqual(subscriber.read(), [b"smessage", b"a", b"x"])

    def test_a_scan_while_slots_move(self):
        client = self.to_values()
        client("FLUSHALL")
        lasting = {f"{{{tag}}}scan{i}".encode() for tag in TAGS for i in range(200)}
        lasting |= {f"scan{i}".encode() for i in range(400)}
        client.pipeline([("SET", name, 1) for name in lasting])
        for _ in range(3):
            cursor, found, turns = b"0", set(), 0
            while cursor != b"0" or turns == 0:
                cursor, keys = client("SCAN", cursor, "COUNT", 40)
                found |= set(keys)
                turns += 1
                if turns % 4 == 0 and turns < 60:
                    tag = TAGS[turns // 4 % 3]
                    source, target = self.owner_and_next(tag)
                    self.cluster.move(self.cluster.slot(tag), source, target)
            missed = sorted(lasting - found)
            self.assertEqual(client("EXISTS", *missed) if missed else 0, 0, missed[:5])
            self.assertEqual(missed[:5], [], "lost by the cluster")

    def test_a_scan_during_a_slow_move(self):
        """The slot's owner stays the same from the first page to the last, and its keys move."""
        client = self.to_values()
        client("FLUSHALL")
        others = {b"k%d" % i for i in range(300)}
        client.pipeline([("SET", name, 1) for name in others])
        # To the node that is scanned first: its keys have been scanned when the others arrive.
        first = self.cluster.owner(client("SCAN", 0, "COUNT", 1000)[1][0].decode())
        last = next(node for node in self.cluster.masters if node is not first)
        slot = next(s for s in range(16384) if self.cluster.owner_of(s) is last
                    and last("CLUSTER", "COUNTKEYSINSLOT", s) == 0)  # fmt: skip
        tag = self.cluster.tag_of(slot)
        lasting = {f"{{{tag}}}{i}".encode() for i in range(100)} | others
        client.pipeline([("SET", name, 1) for name in lasting])
        self.cluster.begin_move(slot, last, first)
        cursor, keys = client("SCAN", 0, "COUNT", 1000)
        found = set(keys)
        self.assertNotIn(f"{{{tag}}}0".encode(), found)
        self.cluster.move_keys(slot, last, first)
        while cursor != b"0":
            cursor, keys = client("SCAN", cursor, "COUNT", 1000)
            found |= set(keys)
        self.assertEqual(lasting - found, set())
        self.cluster.end_move(slot, first)


class AtomicMoves(ClusterTest):
    """Valkey 9 and Redis 8.4 move whole slots without ASK (`MIGRATESLOTS`, `MIGRATION IMPORT`)."""

    def test_under_load(self):
        if not self.cluster.moves_atomically():
            self.skipTest("this server cannot move a slot atomically")
        first, second = self.cluster.masters[:2]
        slot = self.cluster.slot("b")
        with load(self.proxy.port, ("b",)) as askers:
            turned(askers, 2)
            for source, target in ((first, second), (second, first)) * 3:
                self.cluster.move_atomically(slot, source, target)
                turned(askers, 2)
        self.assertEqual(errors_of(askers)[:5], [])


def may_have_executed(error):
    """The server was lost: who asks it now, or had asked it, gets to know that."""
    return (
        "upstream 127.0.0.1:" in error
        or "CLUSTERDOWN" in error
        or error == Trader.LOST
    )


class FailOver(unittest.TestCase):
    """A cluster for each test."""

    def setUp(self):
        need_programs()
        self.cluster = self.enterContext(Cluster(3, 1, timeout_ms=1000))
        options = {**WITHOUT_COPIES, **ERRORS_WHEN_DOWN, "upstream.response-timeout": "1s"}
        self.proxy = Proxy(self.cluster.url, options)
        self.addCleanup(self.proxy.stop)

    def pair(self, tag="a"):
        """The master of the tag, and its replica."""
        master = self.cluster.owner(tag)
        return master, self.cluster.replicas[self.cluster.masters.index(master)]

    def back_in_time(self, replica, before=lambda: None):
        """From the new master's first write on, the proxy serves again soon."""
        direct = ValueClient(replica.port)
        client = ValueClient(self.proxy.port)
        self.addCleanup(direct.close)
        self.addCleanup(client.close)
        until(lambda: direct("SET", "{a}direct", 1) == "OK", what="the new master takes writes")
        begun = time.monotonic()
        until(lambda: client("SET", "{a}through", 1) == "OK", what="the proxy follows")
        self.assertLess(time.monotonic() - begun, BACK_WITHIN_S * SLOW)

    def test_planned(self):
        _, replica = self.pair()
        with load(self.proxy.port, TAGS) as askers:
            turned(askers, 2)
            self.assertEqual(replica("CLUSTER", "FAILOVER"), "OK")
            until(lambda: b"role:master" in replica("INFO", "replication"), what="the fail-over")
            turned(askers, 3)
            self.back_in_time(replica)
        self.assertEqual(errors_of(askers)[:5], [])

    def test_taken_over(self):
        """Writes to the old master may be lost, as the cluster says: no errors for all that."""
        _, replica = self.pair()
        client = ValueClient(self.proxy.port)
        self.addCleanup(client.close)
        errors = []
        self.assertEqual(replica("CLUSTER", "FAILOVER", "TAKEOVER"), "OK")
        end = time.monotonic() + 1
        while time.monotonic() < end:
            errors += [e for e in client.pipeline([("SET", "a", 1), ("GET", "a")] * 10)
                       if isinstance(e, RedisError)]  # fmt: skip
        self.assertEqual(errors, [])
        self.back_in_time(replica)
        self.assertEqual(client("SET", "a", 2), "OK")
        self.assertEqual(replica("GET", "a"), b"2")

    def test_killed(self):
        master, replica = self.pair()
        kinds = (Counter, Lister, Trader, Scripter)
        with load(self.proxy.port, TAGS, kinds, may_have_executed) as askers:
            turned(askers, 2)
            master.redis.process.kill()
            self.back_in_time(replica)
            turned(askers, 3)
        self.assertEqual(errors_of(askers)[:5], [])
        self.assertTrue(any(each.excused for each in askers))

    def test_stopped(self):
        master, replica = self.pair()
        with load(self.proxy.port, TAGS, (Counter, Lister, Scripter), may_have_executed) as askers:
            turned(askers, 2)
            master.redis.process.freeze()
            self.back_in_time(replica)
            turned(askers, 2)
            master.redis.process.signal(signal.SIGCONT)
            turned(askers, 3)
        self.assertEqual(errors_of(askers)[:5], [])

    def test_the_others_go_on(self):
        """While one master is down, keys of the others are served without an error."""
        master, replica = self.pair("a")
        for node in self.cluster.nodes:
            node("CONFIG", "SET", "cluster-require-full-coverage", "no")
        with load(self.proxy.port, ("b", "c"), (Counter, Lister, Trader)) as askers:
            turned(askers, 2)
            master.redis.process.kill()
            turned(askers, 5)
            self.back_in_time(replica)
        self.assertEqual(errors_of(askers)[:5], [])


class Nodes(unittest.TestCase):
    """Nodes come, go, and are not there yet."""

    def setUp(self):
        need_programs()

    def open(self, upstream, **options):
        proxy = Proxy(upstream, {**WITHOUT_COPIES, **ERRORS_WHEN_DOWN, **options})
        self.addCleanup(proxy.stop)
        return proxy, self.client(proxy)

    def client(self, proxy):
        client = ValueClient(proxy.port)
        self.addCleanup(client.close)
        return client

    def works(self, client):
        calls = [("SET", tag, i) for i, tag in enumerate(TAGS)]
        self.assertEqual(client.pipeline(calls), ["OK"] * 3)
        self.assertEqual(client("MGET", *TAGS), [b"0", b"1", b"2"])

    def test_one_more_and_one_less(self):
        with Cluster(3) as cluster:
            proxy, client = self.open(cluster.url)
            self.works(client)
            added = Node(())
            self.addCleanup(added.stop)
            added("CLUSTER", "MEET", "127.0.0.1", cluster.masters[0].port)
            until(lambda: all(n.knows(4) for n in [*cluster.masters, added]), what="they have met")
            all_have_met(*cluster.masters, added)
            slot, source = cluster.slot("a"), cluster.owner("a")
            with load(proxy.port, TAGS, cluster_load.ALL) as askers:
                turned(askers, 1)
                cluster.masters.append(added)
                cluster.move(slot, source, added)
                turned(askers, 3)
                self.assertTrue(named(added, b"heatsink"))
                cluster.move(slot, added, source)
                turned(askers, 3)
            self.assertEqual(errors_of(askers)[:5], [])
            cluster.masters.remove(added)
            for node in cluster.masters:
                node("CLUSTER", "FORGET", added.name)
            workers = lambda: named(added, b"heatsink ")  # noqa: E731
            until(lambda: not workers(), what="the proxy has left the node")
            self.works(client)

    def test_a_seed_that_is_down(self):
        with Cluster(3) as cluster:
            ports = [free_port(), *(node.port for node in cluster.masters[1:])]
            url = "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports)
            _, client = self.open(url)
            until(lambda: client("SET", "a", 1) == "OK", what="the proxy finds another seed")
            self.works(client)

    def test_before_the_cluster_is_there(self):
        nodes = [Redis("--cluster-enabled", "yes") for _ in range(3)]
        for node in nodes:
            self.addCleanup(node.stop)
            node.process.kill()
        url = "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        _, client = self.open(url)
        self.assertIsInstance(client("GET", "a"), RedisError)
        for node in nodes:
            node.restart()
        clients = [ValueClient(node.port) for node in nodes]
        for i, each in enumerate(clients):
            self.addCleanup(each.close)
            each("CLUSTER", "ADDSLOTSRANGE", i * 16384 // 3, (i + 1) * 16384 // 3 - 1)
            each("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            if i:
                each("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
        until(lambda: client("SET", "a", 1) == "OK" and client("SET", "b", 1) == "OK",
              what="the proxy finds the cluster")  # fmt: skip
        until(lambda: "OK" == client("MSET", "a", 0, "b", 1, "c", 2), what="all of it")

    def test_addresses_of_another_network(self):
        with Cluster(3) as cluster:
            relays = [Relay(node.port) for node in cluster.masters]
            for each in relays:
                self.addCleanup(each.close)
            pairs = ",".join(
                f"127.0.0.1:{node.port}=127.0.0.1:{relay.port}"
                for node, relay in zip(cluster.masters, relays)
            )
            _, client = self.open(
                f"redis+cluster://127.0.0.1:{relays[0].port}", **{"upstream.translate": pairs}
            )
            until(lambda: client("SET", "a", 1) == "OK", what="the map")
            self.works(client)
            self.assertTrue(all(relay.pairs for relay in relays))

    @unittest.skipIf(shutil.which("openssl") is None, "needs openssl")
    def test_tls(self):
        folder = tempfile.mkdtemp(prefix="hs-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        authority = Authority(folder)
        cert, key = authority.sign("server")
        tls = lambda: (  # noqa: E731
            *authority.server_options(free_port(), cert, key), "--tls-cluster", "yes",
        )  # fmt: skip
        with Cluster(3, options=tls) as cluster:
            url = f"rediss+cluster://127.0.0.1:{cluster.masters[0].bus_port}"
            _, client = self.open(url, **{"upstream.tls-ca": authority.cert})
            until(lambda: client("SET", "a", 1) == "OK", what="the map")
            self.works(client)
            source, target = cluster.owner("a"), cluster.owner("b")
            cluster.move(cluster.slot("a"), source, target)
            self.works(client)


def named(node, name):
    """The clients of the node whose names begin so."""
    lines = node("CLIENT", "LIST").splitlines()
    return [line for line in lines if b" name=" + name in line]


if __name__ == "__main__":
    unittest.main()
