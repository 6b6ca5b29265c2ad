#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands in flight to a server that hangs: when they end, and whether they run later."""

import signal
import socket
import time
import unittest

from cluster_stage import WITHOUT_COPIES
from harness import (
    PATIENCE_S, SLOW, Proxy, RawClient, Redis, ValueClient, encode, need_programs, until,
)  # fmt: skip
from harness.cluster import Cluster
from harness.relay import Relay
from harness.sentinels import Replicated, Sentinels, ask

WAITS = ("BLPOP", "{a}list", 0)
COMMANDS = WAITS, ("GET", "a"), ("SET", "a", "deposed")


class StoppedMaster(unittest.TestCase):
    """A master is stopped, and its replica takes over."""

    def proxy_for(self, url):
        need_programs()
        self.proxy = Proxy(url, WITHOUT_COPIES)  # upstream.response-timeout: 10 s
        self.addCleanup(self.proxy.stop)
        self.watching = self.to_proxy(ValueClient)
        until(lambda: self.watching("SET", "a", "before") == "OK", PATIENCE_S, "it is reached")

    def to_proxy(self, kind):
        client = kind(self.proxy.port)
        self.addCleanup(client.close)
        return client

    def stop_with_commands_in_flight(self, master):
        waiting = {command: self.to_proxy(RawClient) for command in COMMANDS}
        waiting[WAITS].send(*WAITS)
        until(lambda: b"cmd=blpop" in ask(master.port, "CLIENT", "LIST"), what="BLPOP waits")
        master.process.freeze()
        for command in COMMANDS[1:]:
            waiting[command].send(*command)
        return waiting

    def subscriber(self):
        client = self.to_proxy(RawClient)
        self.assertIn(b"subscribe", client.ask("SUBSCRIBE", "news"))
        return client

    def expect_closed(self, subscriber):
        """Called as soon as the proxy knows of the new master. It owes the subscriber nothing."""
        knows_at = time.monotonic()
        with self.assertRaises(ConnectionError):
            subscriber.read()
        took = time.monotonic() - knows_at
        print(f"a subscriber: closed {took:.3f} s after the proxy knew")
        self.assertLess(took, 0.5 * SLOW)

    def upstream_is(self, port):
        """As the proxy says."""
        (server,) = self.proxy.by_label("heatsink_upstream_info", "server")
        return server.endswith(f":{port}")

    def expect_all_ended(self, waiting, why):
        """Called as soon as the proxy knows of the new master."""
        knows_at = time.monotonic()
        for command, client in waiting.items():
            self.ended_with_its_error(command, client, why)
            took = time.monotonic() - knows_at
            print(f"{command[0]}: ended {took:.3f} s after the proxy knew")
            self.assertLess(took, 0.5 * SLOW, command)

    def ended_with_its_error(self, command, client, why):
        """Or by closing, as upstream.on-down says."""
        try:
            reply = client.read()
        except ConnectionError:
            return
        self.assertEqual(reply[:1], b"-", command)
        self.assertIn(why, reply, command)
        self.assertEqual(b"may yet execute it" in reply, command[0] != "GET", command)

    def expect_new_value_stands(self, master):
        until(lambda: self.watching("SET", "a", "after") == "OK", PATIENCE_S, "the new master")
        master.process.signal(signal.SIGCONT)
        self.assertIn(b"role:", ask(master.port, "INFO", "replication"), "it goes on")
        self.assertEqual(self.watching("GET", "a"), b"after")

    def test_of_a_cluster(self):
        cluster = self.enterContext(Cluster(3, 1, timeout_ms=1000))
        self.proxy_for(cluster.url)
        master = cluster.owner("a")
        leads = b"127.0.0.1:%d" % cluster.replica_of(master).port

        def proxy_knows():
            nodes = self.watching("HEATSINK", "NODES")
            return any(node == leads and what.startswith(b"master") for node, what in nodes)

        waiting = self.stop_with_commands_in_flight(master.redis)
        until(proxy_knows, PATIENCE_S, "the proxy knows")
        self.expect_all_ended(waiting, b"another node has replaced it")
        self.expect_new_value_stands(master.redis)

    def test_a_subscriber_of_a_cluster(self):
        cluster = self.enterContext(Cluster(3, 1, timeout_ms=1000))
        self.proxy_for(cluster.url)
        subscriber = self.subscriber()
        (master,) = [n for n in cluster.masters if b"cmd=subscribe" in n("CLIENT", "LIST")]
        leads = b"127.0.0.1:%d" % cluster.replica_of(master).port
        master.redis.process.freeze()

        def proxy_knows():
            nodes = self.watching("HEATSINK", "NODES")
            return any(node == leads and what.startswith(b"master") for node, what in nodes)

        until(proxy_knows, PATIENCE_S, "the proxy knows")
        self.expect_closed(subscriber)
        again = self.subscriber()
        self.watching("PUBLISH", "news", "x")
        self.assertIn(b"message", again.read())

    def replicated(self):
        servers = Replicated(1)
        self.addCleanup(servers.stop)
        return servers

    def test_of_replicas(self):
        old, new = (servers := self.replicated()).servers
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in servers.servers)
        self.proxy_for(f"redis+replicas://{hosts}")
        subscriber = self.subscriber()
        waiting = self.stop_with_commands_in_flight(old)
        ask(new.port, "REPLICAOF", "NO", "ONE")
        until(lambda: self.upstream_is(new.port), PATIENCE_S, "the proxy knows")
        self.expect_closed(subscriber)
        self.expect_all_ended(waiting, b"another server is the master now")
        self.expect_new_value_stands(old)

    def test_of_sentinels(self):
        old, new = (servers := self.replicated()).servers
        sentinels = Sentinels(servers)
        self.addCleanup(sentinels.stop)
        self.proxy_for(sentinels.url())
        subscriber = self.subscriber()
        waiting = self.stop_with_commands_in_flight(old)
        until(lambda: self.upstream_is(new.port), 2 * PATIENCE_S, "the proxy knows")
        self.expect_closed(subscriber)
        self.expect_all_ended(waiting, b"another server is the master now")
        self.expect_new_value_stands(old)


class CutOff(unittest.TestCase):
    """The network to the server stands still for longer than upstream.response-timeout."""

    def test_what_was_not_delivered_is_not_executed_later(self):
        need_programs()
        redis = Redis()
        self.addCleanup(redis.stop)
        relay = Relay(redis.port)
        # So the command stays with the proxy's machine, but for its beginning.
        relay.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
        self.addCleanup(relay.close)
        options = {**WITHOUT_COPIES, "upstream.response-timeout": "1s"}
        proxy = Proxy(f"redis://127.0.0.1:{relay.port}", options)
        self.addCleanup(proxy.stop)
        client, direct = RawClient(proxy.port), ValueClient(redis.port)
        self.addCleanup(client.close)
        self.addCleanup(direct.close)
        self.assertEqual(client.ask("SET", "a", "first"), b"+OK\r\n")
        relay.stop_reading()
        client.send_raw(encode("SET", "a", "late" * 150_000) + encode("SET", "b", "late"))
        for _ in range(2):
            try:
                self.assertIn(b"may yet execute it", client.read())
            except ConnectionError:
                break  # upstream.on-down: close
        self.assertEqual(direct("SET", "a", "newer"), "OK")
        relay.read_on()
        # The connection that has brought the first value ends, with all that came on it.
        until(lambda: b"cmd=set" not in direct("CLIENT", "LIST"), what="it has ended")
        value, behind = direct("MGET", "a", "b")
        self.assertEqual((value[:10], behind), (b"newer", None))


if __name__ == "__main__":
    unittest.main()
