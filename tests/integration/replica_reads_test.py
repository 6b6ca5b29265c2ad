# SPDX-License-Identifier: Apache-2.0
"""Reads of hot keys from replicas: spread, own writes, and no value older than the bound."""

import contextlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from harness import (
    EAGER, HEATSINK, LOG, PATIENCE_S, SLOW, Proxy, RawClient, Redis, ValueClient, encode,
    need_programs, until,
)  # fmt: skip
from harness.cluster import Cluster
from harness.relay import Relay
from harness.sentinels import Replicated, Sentinels, ask, calls_of, is_error

LAG_S = 1.0
RULE = "match=k*,level=off,reads=replicas,replica-lag=1s"
# The checks of the doctor would read, too.
OPTIONS = {name: value for name, value in EAGER.items() if name != "cache.admission"} | {
    "doctor.enabled": "no"
}


class Stall(Relay):
    """Between a replica and its master: what the master says can be held back, link and all."""

    def __init__(self, port):
        self.flows = threading.Event()
        self.flows.set()
        super().__init__(port)

    def filter(self):
        def wait(piece):
            self.flows.wait()
            return piece

        return wait

    def close(self):
        self.flows.set()
        super().close()


class Writer:
    """A context: writes rising numbers to `key` at the master, and keeps when each was confirmed."""

    def __init__(self, port, key="k"):
        self.port, self.key, self.running = port, key, True
        self.done = []  # the time at which the number that is its index was confirmed
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        with ValueClient(self.port) as client:
            while self.running:
                assert client("SET", self.key, len(self.done)) == "OK"
                self.done.append(time.monotonic())
                time.sleep(0.002)  # its pace: the relay's buffers must hold what is kept back

    def __enter__(self):
        self.thread.start()
        until(lambda: self.done, PATIENCE_S, "the first write")
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()

    def age_s(self, value, asked):
        """How long before `asked` the write after `value` had been confirmed: 0 if it was not."""
        after = int(value) + 1
        return max(0.0, asked - self.done[after]) if after < len(self.done) else 0.0


class Readers:
    """A context: clients that read `key` all the time; `ages` are those of the values, by time."""

    def __init__(self, port, writer, count=3):
        self.port, self.writer, self.running = port, writer, True
        self.told, self.errors = [], []  # (when it was asked, when answered, the value)
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]

    def _run(self):
        with ValueClient(self.port) as client:
            while self.running:
                asked = time.monotonic()
                value = client("GET", self.writer.key)
                if is_error(value) or value is None:
                    self.errors.append(value)
                else:
                    self.told.append((asked, time.monotonic(), value))
                time.sleep(0.001)  # its pace

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        for thread in self.threads:
            thread.join()

    def oldest_s(self):
        return max(self.writer.age_s(value, asked) for asked, _, value in self.told)

    def slowest_s(self):
        return max(answered - asked for asked, answered, _ in self.told)


class ReplicaReadsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def replicated(self, replicas=2, options=()):
        made = Replicated(replicas, options)
        self.addCleanup(made.stop)
        return made

    def link_is_up(self, replica):
        return b"master_link_status:up" in (ask(replica.port, "INFO", "replication") or b"")

    def relayed(self):
        """A master, and two replicas that follow it through relays."""
        self.master = Redis("--repl-diskless-sync-delay", "0")
        self.addCleanup(self.master.stop)
        self.relays, self.replicas = [], []
        for _ in range(2):
            relay = Stall(self.master.port)
            self.addCleanup(relay.close)
            replica = Redis("--replicaof", f"127.0.0.1 {relay.port}")
            self.addCleanup(replica.stop)
            self.relays.append(relay)
            self.replicas.append(replica)
        for replica in self.replicas:
            until(lambda r=replica: self.link_is_up(r), PATIENCE_S, "the replica follows")

    def proxy_for(self, upstream, rule=RULE, options=None):
        proxy = Proxy(upstream, OPTIONS | (options or {}), [rule], stderr=LOG)
        self.addCleanup(proxy.stop)
        return proxy

    def client_of(self, port):
        client = ValueClient(port)
        self.addCleanup(client.close)
        return client

    def until_read_from(self, client, servers, key="k", command=("GET",)):
        """Reads until each of `servers` has answered once more than before."""
        name = command[0].lower()
        before = {server.port: calls_of(server, name) for server in servers}

        def all_have():
            for _ in range(20):
                client(command[0], key, *command[1:])
            return all(calls_of(s, name) > before[s.port] for s in servers)

        until(all_have, PATIENCE_S, "reads from each server")

    def fallbacks(self, proxy):
        return proxy.by_label("heatsink_replica_fallbacks_total", "reason")


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


class ConfigurationTest(ReplicaReadsTest):
    def check(self, rule):
        """The status and the output of `heatsink config check` for a file with this rule."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="ascii") as file:
            lines = "\n    ".join(rule)
            file.write(f"rules:\n  - {lines}\n")
            file.flush()
            done = subprocess.run(
                [HEATSINK, "config", "check", file.name], capture_output=True, text=True, check=False
            )
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
