# SPDX-License-Identifier: Apache-2.0
"""Reads of hot keys from replicas: who answers, in which order, and what is refused."""

import signal
import subprocess
import tempfile
import time
import unittest

from harness import HEATSINK, PATIENCE_S, SLOW, RawClient, ValueClient, encode, until
from harness.sentinels import Sentinels, ask, calls_of
from replica_stage import LAG_S, RULE, ReplicaReadsTest


class SpreadTest(ReplicaReadsTest):
    def check_spread(self, url, servers):
        master, replicas = servers[0], servers[1:]
        proxy = self.proxy_for(url)
        client = self.client_of(proxy.port)
        until(lambda: client("SET", "k", "v") == "OK", PATIENCE_S, "the master is known")
        self.until_read_from(client, replicas)
        before = [calls_of(each, "get") for each in servers]
        answered = proxy.metric("heatsink_replica_reads_total")
        for _ in range(400):
            self.assertEqual(client("GET", "k"), b"v")
        got = [calls_of(each, "get") - was for each, was in zip(servers, before)]
        self.assertEqual(sum(got), 400)
        # A proof may be late on a busy machine; then the master answers.
        self.assertLess(got[0], 200, got)
        for each in got[1:]:
            self.assertGreater(each, 50, got)
        self.assertEqual(
            proxy.metric("heatsink_replica_reads_total") - answered, sum(got[1:]), got
        )
        self.assertEqual(calls_of(replicas[0], "set"), calls_of(master, "set"))
        return proxy, client

    def test_a_plain_master(self):
        servers = self.replicated()
        proxy, client = self.check_spread(f"redis://127.0.0.1:{servers.master.port}", servers.servers)
        # A cold key, one of another rule, and what may write.
        replica = servers.servers[1]
        for command in (("GET", "other"), ("GETEX", "k"), ("PFCOUNT", "p")):
            before = calls_of(replica, command[0].lower())
            for _ in range(20):
                client(*command)
            if command[0] != "GET":
                self.assertEqual(calls_of(replica, command[0].lower()), before, command)
        # The state of a client keeps its reads at the master.
        before = sum(calls_of(each, "get") for each in servers.servers[1:])
        with ValueClient(proxy.port) as other:
            for _ in range(20):
                other("MULTI")
                other("GET", "k")
                self.assertEqual(other("EXEC"), [b"v"])
            other("WATCH", "k")
            for _ in range(20):
                self.assertEqual(other("GET", "k"), b"v")
        self.assertEqual(sum(calls_of(each, "get") for each in servers.servers[1:]), before)

    def test_behind_a_list_of_replicas(self):
        servers = self.replicated()
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in servers.servers)
        proxy, _ = self.check_spread(f"redis+replicas://{hosts}", servers.servers)
        shown = {each["address"]: each for each in proxy.api("replicas")["replicas"]}
        self.assertEqual(set(shown), {f"127.0.0.1:{each.port}" for each in servers.servers[1:]})
        sent = proxy.by_label("heatsink_replica_sent_total", "replica")
        for address, each in shown.items():
            self.assertGreater(each["sent"], 50)
            self.assertLessEqual(each["sent"], sent[address])
            self.assertLess(each["age_seconds"], PATIENCE_S)
        self.assertEqual(set(proxy.by_label("heatsink_replica_fresh", "replica")), set(shown))

    def test_behind_sentinels(self):
        servers = self.replicated()
        sentinels = Sentinels(servers)
        self.addCleanup(sentinels.stop)
        self.check_spread(sentinels.url(), servers.servers)

    def test_the_master_as_one_of_them(self):
        servers = self.replicated()
        proxy = self.proxy_for(servers.master, RULE.replace("replicas,", "all,"))
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        self.until_read_from(client, servers.servers[1:])
        before = calls_of(servers.master, "get")
        none = sum(self.fallbacks(proxy).values())
        for _ in range(300):
            client("GET", "k")
        none = sum(self.fallbacks(proxy).values()) - none
        self.assertGreater(calls_of(servers.master, "get") - before, 50 + none)

    def test_the_nearest_zone(self):
        servers = self.replicated()
        near, far = servers.servers[1:]
        zones = f"127.0.0.1:{near.port}=a,127.0.0.1:{far.port}=b"
        proxy = self.proxy_for(
            servers.master, options={"upstream.zone": "a", "upstream.zones": zones}
        )
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        self.until_read_from(client, [near])
        before = calls_of(far, "get")
        for _ in range(200):
            client("GET", "k")
        self.assertLess(calls_of(far, "get") - before, 50, "only while the near one had no proof")
        near.process.freeze()
        self.until_read_from(client, [far])
        near.process.signal(signal.SIGCONT)
        self.until_read_from(client, [near])

    def test_another_database_and_resp3(self):
        servers = self.replicated()
        proxy = self.proxy_for(servers.master)
        with RawClient(proxy.port, resp=3) as client:
            client.ask("SELECT", 3)
            client.ask("HSET", "k", "f", "three")
            before = calls_of(servers.servers[1], "hgetall")

            def is_read():
                self.assertEqual(
                    client.ask("HGETALL", "k"), b"%1\r\n$1\r\nf\r\n$5\r\nthree\r\n"
                )
                return calls_of(servers.servers[1], "hgetall") > before

            until(is_read, PATIENCE_S, "a replica answers")

    def test_big_values_come_from_the_master(self):
        servers = self.replicated(1)
        proxy = self.proxy_for(servers.master, options={"proxy.stream-threshold": "16KB"})
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        self.until_read_from(client, servers.servers[1:])
        value = b"x" * 100_000
        client("SET", "k", value)
        for _ in range(500):
            self.assertEqual(client("GET", "k"), value)
        before = calls_of(servers.servers[1], "get")
        for _ in range(50):
            self.assertEqual(client("GET", "k"), value)
        self.assertEqual(calls_of(servers.servers[1], "get"), before, "its size is known")


class OrderTest(ReplicaReadsTest):
    def test_own_writes_are_seen(self):
        self.relayed()
        proxy = self.proxy_for(self.master)
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        for i in range(5):
            self.until_read_from(client, self.replicas)
            for relay in self.relays:
                relay.flows.clear()
            # For the rest of the bound the replicas are proven, and do not have this write.
            end = time.monotonic() + LAG_S / 2
            while time.monotonic() < end:
                client("SET", "k", i)
                for _ in range(5):
                    self.assertEqual(client("GET", "k"), str(i).encode())
            for relay in self.relays:
                relay.flows.set()
        self.assertGreater(self.fallbacks(proxy)["own-write"], 0)

    def test_a_pipeline_keeps_its_order(self):
        servers = self.replicated()
        proxy = self.proxy_for(servers.master)
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        client("SET", "k:2", "w")
        self.until_read_from(client, servers.servers[1:])
        self.until_read_from(client, servers.servers[1:], "k:2")
        with RawClient(proxy.port) as raw:
            before = b"v"
            for i in range(200):
                value = str(i).encode()
                commands = [("GET", "k"), ("GET", "k:2"), ("PING",), ("GET", "k"),
                            ("SET", "k", value), ("GET", "k"), ("GET", "k:2")]  # fmt: skip
                raw.send_raw(b"".join(encode(*each) for each in commands))
                replies = raw.read_many(len(commands))

                def bulk(text):
                    return b"$%d\r\n%s\r\n" % (len(text), text)

                self.assertEqual(
                    replies,
                    [bulk(before), bulk(b"w"), b"+PONG\r\n", bulk(before), b"+OK\r\n",
                     bulk(value), bulk(b"w")],
                )  # fmt: skip
                before = value


class ConfigurationTest(ReplicaReadsTest):
    def check(self, rule):
        """The status and the output of `heatsink config check` for a file with this rule."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="ascii") as file:
            lines = "\n    ".join(rule)
            file.write(f"rules:\n  - {lines}\n")
            file.flush()
            done = subprocess.run(
                [HEATSINK, "config", "check", file.name],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def test_levels_that_promise_more_are_refused(self):
        status, said = self.check(['match: "k*"', "level: off", "reads: replicas"])
        self.assertEqual(status, 0, said)
        for level in ("key", "session"):
            status, said = self.check(['match: "k*"', f"level: {level}", "reads: replicas"])
            self.assertNotEqual(status, 0, said)
            self.assertIn(f"promises of level {level}", said)
        refused = subprocess.run(
            [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--rule", "match=k,reads=all"],
            capture_output=True, text=True, check=False, timeout=PATIENCE_S * SLOW,
        )  # fmt: skip
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("promises of level key", refused.stdout + refused.stderr)

    def heatsink_connections(self, server):
        return ask(server.port, "CLIENT", "LIST").decode().count("name=heatsink")

    def test_a_rule_comes_and_goes(self):
        servers = self.replicated(1)
        proxy = self.proxy_for(servers.master, "match=other,level=off")
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        self.rule(proxy, "add", RULE)
        self.until_read_from(client, servers.servers[1:])
        self.assertGreater(self.heatsink_connections(servers.servers[1]), 0)
        self.rule(proxy, "remove", "k*")
        before = calls_of(servers.servers[1], "get")
        for _ in range(200):
            self.assertEqual(client("GET", "k"), b"v")
        self.assertEqual(calls_of(servers.servers[1], "get"), before)
        until(
            lambda: self.heatsink_connections(servers.servers[1]) == 0,
            PATIENCE_S, "the connections to the replica are closed",
        )  # fmt: skip

    def rule(self, proxy, *words):
        command = [HEATSINK, "rule", *words, "--admin", f"127.0.0.1:{proxy.admin_port}"]
        subprocess.run(command, capture_output=True, check=True)

    def test_the_master_does_not_take_the_key_for_idle(self):
        servers = self.replicated(1)
        for option in ("maxmemory", "100mb"), ("maxmemory-policy", "allkeys-lru"):
            ask(servers.master.port, "CONFIG", "SET", *option)
        proxy = self.proxy_for(servers.master)
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        self.until_read_from(client, servers.servers[1:])
        touched = calls_of(servers.master, "touch")

        def is_touched():
            for _ in range(20):
                client("GET", "k")
            return calls_of(servers.master, "touch") > touched + 1

        until(is_touched, PATIENCE_S, "TOUCH")

    def test_without_a_rule_no_replica_is_asked(self):
        servers = self.replicated(1)
        proxy = self.proxy_for(servers.master, "match=k*,level=off")
        client = self.client_of(proxy.port)
        client("SET", "k", "v")
        for _ in range(50):
            client("GET", "k")
        self.assertEqual(calls_of(servers.servers[1], "get"), 0)
        names = ask(servers.servers[1].port, "CLIENT", "LIST").decode()
        self.assertNotIn("heatsink", names)


if __name__ == "__main__":
    unittest.main()
