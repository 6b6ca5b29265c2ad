# SPDX-License-Identifier: Apache-2.0
"""Reads from replicas while these fail or masters change: no value is older than the bound."""

import contextlib
import signal
import threading
import time
import unittest

from harness import PATIENCE_S, SLOW, Redis, ValueClient, until
from harness.cluster import Cluster
from harness.sentinels import ask, calls_of
from replica_stage import LAG_S, RULE, Readers, ReplicaReadsTest, Writer


class BoundTest(ReplicaReadsTest):
    @contextlib.contextmanager
    def behind_relays(self, rule=RULE):
        """relayed(), a proxy, and a load."""
        self.relayed()
        proxy = self.proxy_for(self.master, rule)
        with Writer(self.master.port) as writer, ValueClient(proxy.port) as client:
            self.until_read_from(client, self.replicas)
            with Readers(proxy.port, writer) as readers:
                yield proxy, writer, readers
        self.assertEqual(readers.errors, [])

    def seen_at(self, server):
        return int(ask(server.port, "GET", "k"))

    def until_old(self, writer, replica, age_s):
        until(
            lambda: writer.age_s(self.seen_at(replica), time.monotonic()) > age_s,
            PATIENCE_S, "the replica's data is old",
        )  # fmt: skip

    def expect_bounded(self, readers, lag_s=LAG_S):
        oldest = readers.oldest_s()
        print(f"{self.id().rsplit('.', 1)[1]}: {len(readers.told)} reads, the oldest value "
              f"{oldest:.3f} s, the slowest {readers.slowest_s():.3f} s")  # fmt: skip
        self.assertLessEqual(oldest, lag_s)

    def test_replicas_cut_off_while_their_links_say_up(self):
        with self.behind_relays() as (proxy, writer, readers):
            for relay in self.relays:
                relay.flows.clear()
            for replica in self.replicas:
                self.until_old(writer, replica, 3.0)
                self.assertTrue(self.link_is_up(replica), "as the replica knows it")
            answered = proxy.metric("heatsink_replica_reads_total")
            count = len(readers.told)
            until(lambda: len(readers.told) > count + 200, PATIENCE_S, "reads go on")
            self.assertEqual(proxy.metric("heatsink_replica_reads_total"), answered)
            self.assertGreater(self.fallbacks(proxy)["behind"], 0)
            for relay in self.relays:
                relay.flows.set()
            until(
                lambda: proxy.metric("heatsink_replica_reads_total") > answered + 100,
                PATIENCE_S, "the replicas answer again",
            )  # fmt: skip
        self.expect_bounded(readers)

    def test_one_replica_cut_off_leaves_the_other(self):
        with self.behind_relays() as (proxy, writer, readers):
            self.relays[0].flows.clear()
            self.until_old(writer, self.replicas[0], 2.0)
            before = [calls_of(each, "get") for each in self.replicas]
            answered = proxy.metric("heatsink_replica_reads_total")
            until(
                lambda: proxy.metric("heatsink_replica_reads_total") > answered + 200,
                PATIENCE_S, "the other one answers",
            )  # fmt: skip
            self.assertGreater(calls_of(self.replicas[1], "get") - before[1], 200)
            self.assertLess(calls_of(self.replicas[0], "get") - before[0], 5, "the test's own")
        self.expect_bounded(readers)

    def test_this_test_sees_what_a_long_bound_allows(self):
        """The same fault, and nothing to stop it: otherwise the tests here could not fail."""
        with self.behind_relays(RULE.replace("1s", "1m")) as (_, writer, readers):
            for relay in self.relays:
                relay.flows.clear()
            self.until_old(writer, self.replicas[0], 3.0)
            until(lambda: readers.oldest_s() > 2.5, PATIENCE_S, "an old value was read")

    def test_a_stopped_replica(self):
        with self.behind_relays() as (proxy, _, readers):
            self.replicas[0].process.freeze()
            repeated = proxy.metric("heatsink_replica_reads_repeated_total")
            until(
                lambda: proxy.metric("heatsink_replica_reads_repeated_total") > repeated,
                PATIENCE_S, "what it owes is repeated",
            )  # fmt: skip
            before = calls_of(self.replicas[1], "get")
            until(lambda: calls_of(self.replicas[1], "get") > before + 100, PATIENCE_S, "the other")
            self.replicas[0].process.signal(signal.SIGCONT)
            before = calls_of(self.replicas[0], "get")
            until(lambda: calls_of(self.replicas[0], "get") > before + 50, PATIENCE_S, "it is back")
        self.expect_bounded(readers)
        # A read that was sent to it is repeated within the bound, and a tick of the worker.
        self.assertLess(readers.slowest_s(), (LAG_S + 1.0) * SLOW)

    def test_killed_and_restarted(self):
        with self.behind_relays() as (proxy, _, readers):
            self.replicas[0].process.kill()
            count = len(readers.told)
            until(lambda: len(readers.told) > count + 200, PATIENCE_S, "reads go on")
            self.replicas[0].restart()
            self.until_read_again(self.replicas[0])
        self.expect_bounded(readers)

    def until_read_again(self, replica):
        until(lambda: calls_of(replica, "get") > 50, PATIENCE_S, "it is read again")

    def test_full_resync(self):
        with self.behind_relays() as (proxy, writer, readers):
            ask(self.master.port, "DEBUG", "POPULATE", 20_000, "filler", 100)
            syncs = self.full_syncs()
            for replica in self.replicas:
                ask(replica.port, "CONFIG", "SET", "key-load-delay", 50)  # microseconds
                ask(replica.port, "CONFIG", "SET", "repl-diskless-load", "swapdb")
            # It loses its place in the stream, and serves what it has until it has all.
            ask(self.master.port, "DEBUG", "CHANGE-REPL-ID")
            ask(self.master.port, "CLIENT", "KILL", "TYPE", "replica")
            until(lambda: self.full_syncs() > syncs + 1, PATIENCE_S, "two full resyncs")
            for replica in self.replicas:
                until(lambda r=replica: self.link_is_up(r), 2 * PATIENCE_S, "it follows again")
            answered = proxy.metric("heatsink_replica_reads_total")
            until(
                lambda: proxy.metric("heatsink_replica_reads_total") > answered + 200,
                PATIENCE_S, "the replicas answer again",
            )  # fmt: skip
            fallbacks = self.fallbacks(proxy)
            print(f"fallbacks: {fallbacks}")
            self.assertGreater(
                fallbacks["syncing"] + fallbacks["link-down"] + fallbacks["other-history"]
                + fallbacks["behind"] + fallbacks["silent"], 0,
            )  # fmt: skip
        self.expect_bounded(readers)

    def full_syncs(self):
        told = ask(self.master.port, "INFO", "stats").decode()
        return int(next(x for x in told.splitlines() if x.startswith("sync_full:")).split(":")[1])


class ClusterReplicasTest(ReplicaReadsTest):
    def keys_of_all(self, cluster):
        """One key of each master; the first is "k"."""
        keys = {}
        for name in ["k", *(f"k:{i}" for i in range(50))]:
            keys.setdefault(cluster.owner(name).port, name)
        self.assertEqual(len(keys), len(cluster.masters))
        return list(keys.values())

    def test_replicas_of_each_master(self):
        with Cluster(masters=3, replicas=1) as cluster:
            proxy = self.proxy_for(cluster.url)
            client = self.client_of(proxy.port)
            keys = self.keys_of_all(cluster)
            for key in keys:
                until(lambda k=key: client("SET", k, k) == "OK", PATIENCE_S, "the map is known")
            replicas = {key: cluster.replica_of(cluster.owner(key)) for key in keys}
            for key in keys:
                self.until_read_from(client, [replicas[key].redis], key)
                for _ in range(50):
                    self.assertEqual(client("GET", key), key.encode())
            # A replica takes over: the proxy reads from what is a replica then.
            old, new = cluster.owner("k"), replicas["k"]
            self.assertEqual(new("CLUSTER", "FAILOVER"), "OK")

            def is_over():
                self.assertEqual(client("GET", "k"), b"k")
                return cluster.owner("k") is new

            until(is_over, PATIENCE_S, "the replica is the master")
            self.until_read_from(client, [old.redis])
            until(lambda: client("SET", "k", "new") == "OK", PATIENCE_S, "a write")
            for _ in range(100):
                self.assertEqual(client("GET", "k"), b"new")
            self.assertEqual(client("MGET", *keys), [b"new", *(k.encode() for k in keys[1:])])


    def test_a_slot_that_moves_hides_no_key(self):
        """A replica of Redis 7.0 answers nil for a key that has left its master."""
        with Cluster(masters=3, replicas=1) as cluster:
            proxy = self.proxy_for(cluster.url)
            client = self.client_of(proxy.port)
            until(lambda: client("SET", "k", "0") == "OK", PATIENCE_S, "the map is known")
            source = cluster.owner("k")
            target = next(node for node in cluster.masters if node is not source)
            slot = cluster.slot("k")
            with Writer(proxy.port) as writer:
                self.until_read_from(client, [cluster.replica_of(source).redis])
                with Readers(proxy.port, writer) as readers:
                    for here, there in ((source, target), (target, source)):
                        self.move_slowly(cluster, slot, here, there, readers)
                        self.until_read_from(client, [cluster.replica_of(there).redis])
            self.assertEqual(readers.errors, [])
            print(f"moved: {len(readers.told)} reads, the oldest {readers.oldest_s():.3f} s")
            self.assertLessEqual(readers.oldest_s(), LAG_S)
            self.assertGreater(self.fallbacks(proxy)["slot"], 0)

    def move_slowly(self, cluster, slot, here, there, readers):
        def go_on():
            count = len(readers.told)
            until(lambda: len(readers.told) > count + 200, PATIENCE_S, "reads go on")

        cluster.begin_move(slot, here, there)
        go_on()
        cluster.move_keys(slot, here, there)
        go_on()
        cluster.end_move(slot, there)
        go_on()

    def test_a_slot_that_is_stolen(self):
        """By a higher epoch: no key is moved, and none of the old values may be read for long."""
        with Cluster(masters=3, replicas=1) as cluster:
            proxy = self.proxy_for(cluster.url)
            client = self.client_of(proxy.port)
            until(lambda: client("SET", "k", "old") == "OK", PATIENCE_S, "the map is known")
            source = cluster.owner("k")
            target = next(node for node in cluster.masters if node is not source)
            self.until_read_from(client, [cluster.replica_of(source).redis])
            slot = cluster.slot("k")
            target("CLUSTER", "BUMPEPOCH")
            target("CLUSTER", "SETSLOT", slot, "NODE", target.name)
            stolen = time.monotonic()
            until(lambda: target("SET", "k", "new") == "OK", PATIENCE_S, "the thief's write")
            while time.monotonic() - stolen < 3 * LAG_S:
                asked = time.monotonic()
                value = client("GET", "k")
                if asked - stolen > LAG_S:
                    self.assertEqual(value, b"new")
            self.until_read_from(client, [cluster.replica_of(target).redis])
            self.assertEqual(client("GET", "k"), b"new")


class AnotherMasterTest(ReplicaReadsTest):
    """A replica that is taken away while it is read: no client sees what it has then."""

    ROUNDS = 6

    def setUp(self):
        self.servers = self.replicated(replicas=1)
        self.replica = self.servers.servers[1]
        self.other = Redis("--repl-diskless-sync-delay", "0")
        self.addCleanup(self.other.stop)
        ask(self.other.port, "SET", "k", "foreign")
        ask(self.servers.master.port, "SET", "k", "own")
        self.proxy = self.proxy_for(self.servers.master)
        self.client = self.client_of(self.proxy.port)
        self.seen = {b"own": 0}
        self.reading = True
        self.threads = [threading.Thread(target=self.read, daemon=True) for _ in range(2)]
        self.until_read_from(self.client, [self.replica])
        for thread in self.threads:
            thread.start()

    def read(self):
        """Pipelines, so that reads are under way whenever the replica changes its master."""
        with ValueClient(self.proxy.port) as client:
            while self.reading:
                for value in client.pipeline([("GET", "k")] * 16):
                    self.seen[value] = self.seen.get(value, 0) + 1

    def until_replica_has(self, value):
        until(lambda: ask(self.replica.port, "GET", "k") == value, PATIENCE_S, "its value")

    def back(self):
        ask(self.replica.port, "REPLICAOF", "127.0.0.1", self.servers.master.port)
        self.until_replica_has(b"own")
        read = self.proxy.metric("heatsink_replica_reads_total")
        until(
            lambda: self.proxy.metric("heatsink_replica_reads_total") > read + 100,
            PATIENCE_S, "it is read again",
        )  # fmt: skip

    def end(self):
        self.reading = False
        for thread in self.threads:
            thread.join()
        print(f"{self.id().rsplit('.', 1)[1]}: {self.seen}")
        self.assertEqual(set(self.seen), {b"own"})
        self.assertGreater(self.proxy.metric("heatsink_replica_reads_total"), 100)

    def test_given_another_master(self):
        for _ in range(self.ROUNDS):
            ask(self.replica.port, "REPLICAOF", "127.0.0.1", self.other.port)
            self.until_replica_has(b"foreign")
            self.back()
        self.end()

    def test_detached_and_written_to(self):
        for _ in range(self.ROUNDS):
            with ValueClient(self.replica.port) as replica:
                replica.pipeline([("REPLICAOF", "NO", "ONE"), ("SET", "k", "foreign")])
            self.back()
        self.end()

    def test_without_the_right_to_role(self):
        ask(self.replica.port, "ACL", "SETUSER", "default", "-role")
        until(lambda: self.fallbacks(self.proxy)["refusing"] > 0, PATIENCE_S, "it is left alone")
        ask(self.replica.port, "ACL", "SETUSER", "default", "+role")
        self.back()
        self.end()


class FailOverTest(ReplicaReadsTest):
    def test_a_promoted_replica(self):
        servers = self.replicated()
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in servers.servers)
        proxy = self.proxy_for(f"redis+replicas://{hosts}")
        old, new, third = servers.servers
        client = self.client_of(proxy.port)
        until(lambda: client("SET", "k", "old") == "OK", PATIENCE_S, "the master is known")
        self.until_read_from(client, [new, third])
        ask(new.port, "REPLICAOF", "NO", "ONE")
        for each in (old, third):
            ask(each.port, "REPLICAOF", "127.0.0.1", new.port)

        def is_written():
            done = client("SET", "k", "new") == "OK"
            return done and ask(new.port, "GET", "k") == b"new"

        until(is_written, PATIENCE_S, "a write at the new master")
        for _ in range(100):
            self.assertEqual(client("GET", "k"), b"new")
        self.until_read_from(client, [old, third])
        self.assertEqual(client("GET", "k"), b"new")


if __name__ == "__main__":
    unittest.main()
