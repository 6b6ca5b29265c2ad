# SPDX-License-Identifier: Apache-2.0
"""A master with replicas and no Sentinels: the proxy follows the one that became master last."""

import contextlib
import signal
import unittest

from failover_stage import FailoverTest, Reader
from harness import ERRORS_WHEN_DOWN, PATIENCE_S, Redis, ValueClient, until
from harness.relay import Relay
from harness.sentinels import FirstWrite, Replicated, ask, calls_of, is_error
from moved_name_stage import MovedNameTest


class ReplicasTest(FailoverTest):
    def url(self):
        return "redis+replicas://" + ",".join(
            f"127.0.0.1:{each.port}" for each in reversed(self.replicated.servers)
        )

    def start(self, replicas=1):
        self.replicated = Replicated(replicas)
        self.addCleanup(self.replicated.stop)

    @contextlib.contextmanager
    def failing_over(self):
        self.start(2)
        self.proxy = self.proxy_for(self.url())
        self.old = self.replicated.master
        self.make_hot(self.proxy)
        self.assertEqual(self.upstream_of(self.proxy), self.old.port)
        replicas = self.replicated.others(self.old)
        with Reader(self.proxy.port) as reader, FirstWrite(replicas) as first:
            yield reader, first

    def promote(self, first):
        ask(self.replicated.servers[1].port, "REPLICAOF", "NO", "ONE")
        return first.wait()

    def test_promoted_while_the_master_lives(self):
        with self.failing_over() as (reader, first):
            new = self.promote(first)
            self.expect_back(self.proxy, first)
            self.expect_only_watched(self.old)
            self.expect_quiet(self.old)
            self.write_on(self.proxy, new, reader)
            ask(self.old.port, "REPLICAOF", "127.0.0.1", new.port)
            self.replicated.wait_in_step(self.old)
            # The watch has to see it as a replica: a promotion is one of a replica.
            asked = calls_of(self.old, "role")
            until(lambda: calls_of(self.old, "role") > asked + 1, PATIENCE_S, "it was asked")
            # And back again.
            self.assertEqual(self.upstream_of(self.proxy), new.port)
            ask(self.old.port, "REPLICAOF", "NO", "ONE")
            until(lambda: self.upstream_of(self.proxy) == self.old.port, PATIENCE_S, "back")

    def test_master_killed_and_restarted(self):
        with self.failing_over() as (reader, first):
            self.old.process.kill()
            new = self.promote(first)
            self.expect_back(self.proxy, first)
            self.old.restart()  # it says that it is a master, and has nothing
            self.write_on(self.proxy, new, reader)
            for command in ("get", "set", "getrange"):
                self.assertEqual(calls_of(self.old, command), 0, command)
            self.expect_only_watched(self.old)

    def test_master_stopped_and_back(self):
        with self.failing_over() as (reader, first):
            self.old.process.freeze()
            new = self.promote(first)
            self.expect_back(self.proxy, first)
            self.old.process.signal(signal.SIGCONT)
            self.expect_only_watched(self.old)
            self.expect_quiet(self.old)
            self.write_on(self.proxy, new, reader)

    def test_a_replica_restarted_empty_is_not_followed(self):
        self.start()
        proxy = self.proxy_for(self.url())
        self.make_hot(proxy)
        master, replica = self.replicated.servers
        replica.options = self.replicated.options  # without --replicaof
        replica.process.kill()
        replica.restart()
        until(lambda: "heatsink-watch" in self.names_at(replica), PATIENCE_S, "the watch is back")
        until(lambda: calls_of(replica, "role") > 3, PATIENCE_S, "it was asked")
        self.assertEqual(self.upstream_of(proxy), master.port)
        with ValueClient(proxy.port) as client:
            self.assertEqual(client("GET", "k"), b"old")

    def test_two_masters_at_the_start(self):
        servers = [Redis(), Redis()]
        for each in servers:
            self.addCleanup(each.stop)
        proxy = self.proxy_for(
            "redis+replicas://" + ",".join(f"127.0.0.1:{each.port}" for each in servers),
            ERRORS_WHEN_DOWN,
        )
        with ValueClient(proxy.port) as client:
            refused = client("GET", "k")
            self.assertTrue(is_error(refused), refused)
            self.assertIn("say that they are masters", refused)
            ask(servers[1].port, "REPLICAOF", "127.0.0.1", servers[0].port)
            until(lambda: client("SET", "k", 1) == "OK", PATIENCE_S, "one master is left")
        self.assertEqual(self.upstream_of(proxy), servers[0].port)


class NameTest(FailoverTest):
    """A name, or a balancer behind it, leads to another server; the old one keeps connections."""

    def setUp(self):
        self.replicated = Replicated(1)
        self.addCleanup(self.replicated.stop)
        self.old, self.new = self.replicated.servers
        self.relay = Relay(self.old.port)
        self.addCleanup(self.relay.close)

    def fail_over(self):
        ask(self.new.port, "REPLICAOF", "NO", "ONE")
        self.relay.server_port = self.new.port  # of connections to come
        ask(self.old.port, "REPLICAOF", "127.0.0.1", self.new.port)

    def test_a_demoted_server_is_left(self):
        # An error, where a write was in flight: by default the proxy closes that client.
        options = {"upstream.on-down": "error"}
        proxy = self.proxy_for(f"redis://localhost:{self.relay.port}", options)
        self.make_hot(proxy)
        with ValueClient(proxy.port) as client:
            self.fail_over()
            until(lambda: client("SET", "k", "new") == "OK", 5, "a write at the new master")
            self.assertEqual(ask(self.new.port, "GET", "k"), b"new")
            self.assertEqual(client("GET", "k"), b"new")
        self.expect_only_watched(self.old)

    def test_a_replica_behind_a_name_stays(self):
        """It is what the operator wants: reads pass, and no connection is renewed."""
        self.relay.server_port = self.new.port
        proxy = self.proxy_for(f"redis://localhost:{self.relay.port}")
        with ValueClient(proxy.port) as client:
            refused = client("SET", "k", 1)
            self.assertTrue(refused.startswith("READONLY"), refused)
            made = proxy.metric("heatsink_upstream_connects_total")
            for _ in range(20):
                self.assertTrue(client("SET", "k", 1).startswith("READONLY"))
                self.assertIsNone(client("GET", "k"))
            self.assertEqual(proxy.metric("heatsink_upstream_connects_total"), made)


class ProxyMovedNameTest(MovedNameTest):
    def test_the_proxy_goes_along(self):
        proxy = self.proxy_for(f"redis://{self.NAME}:{self.old.port}", under=self.under)
        self.expect_it_goes_along(proxy)
        self.assertEqual(proxy.metric("heatsink_upstream_changes_total"), 1)


if __name__ == "__main__":
    unittest.main()
