# SPDX-License-Identifier: Apache-2.0
"""A master that Sentinels watch: clients follow it, and nothing of the old one is served."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import types
import unittest
import urllib.error
import urllib.request

from failover_stage import FailoverTest, Reader
from harness import ERRORS_WHEN_DOWN, PATIENCE_S, SLOW, Redis, ValueClient, until
from harness.certificates import Authority
from harness.processes import Library, free_port
from harness.sentinels import (
    FirstWrite, Replicated, Sentinel, Sentinels, ask, calls_of, is_error,
)  # fmt: skip


class SentinelTest(FailoverTest):
    def start(self, replicas=2, options=(), **how):
        self.replicated = Replicated(replicas, options)
        self.addCleanup(self.replicated.stop)
        self.sentinels = Sentinels(self.replicated, **how)
        self.addCleanup(self.sentinels.stop)

    @contextlib.contextmanager
    def failing_over(self):
        """With a hot key, a reader of it, and a look-out for the new master's first write."""
        self.start()
        self.proxy = self.proxy_for(self.sentinels.url())
        self.old = self.replicated.master
        self.make_hot(self.proxy)
        self.assertEqual(self.upstream_of(self.proxy), self.old.port)
        replicas = self.replicated.others(self.old)
        with Reader(self.proxy.port) as reader, FirstWrite(replicas) as first:
            yield reader, first

    def test_master_killed(self):
        with self.failing_over() as (reader, first):
            self.old.process.kill()
            new = first.wait()
            self.expect_back(self.proxy, first)
            self.sentinels.fail_over_no_more()
            # It comes back as a master, and stays one for ten seconds.
            self.old.restart()
            self.write_on(self.proxy, new, reader)
            self.assertEqual(ask(self.old.port, "ROLE")[0], b"master", "else this shows nothing")
            for command in ("get", "set", "getrange"):
                self.assertEqual(calls_of(self.old, command), 0, command)
            self.expect_only_watched(self.old)
        self.assertEqual(self.proxy.metric("heatsink_upstream_changes_total"), 1)

    def test_master_stopped_and_back(self):
        with self.failing_over() as (reader, first):
            self.old.process.freeze()
            new = first.wait()
            self.expect_back(self.proxy, first)
            self.sentinels.fail_over_no_more()
            self.old.process.signal(signal.SIGCONT)
            self.expect_only_watched(self.old)
            self.expect_quiet(self.old)
            self.write_on(self.proxy, new, reader)

    def test_planned(self):
        """The old one stays a master for eleven seconds, and all its clients stay connected."""
        with self.failing_over() as (reader, first):
            self.sentinels.ask(self.sentinels.all[0], "SENTINEL", "FAILOVER", "mymaster")
            new = first.wait()
            self.expect_back(self.proxy, first)
            self.sentinels.fail_over_no_more()
            self.expect_only_watched(self.old)
            self.expect_quiet(self.old)
            self.write_on(self.proxy, new, reader)
        self.expect_hits(self.proxy)

    def test_a_fleet_and_its_limits_follow_the_master(self):
        self.start()
        options = {"fleet.enabled": "yes", "fleet.interval": "250ms"}
        rules = ["match=limited,limit.rate=1000/1s,limit.of=all,limit.scope=fleet"]
        proxies = [self.proxy_for(self.sentinels.url(), options, rules=rules) for _ in range(2)]
        library = Library(self.sentinels.url(), {"fleet.enabled": "yes"})
        self.addCleanup(library.stop)
        old = self.replicated.master

        def know_each_other():
            fleets = [proxy.api("hotkeys")["fleet"] for proxy in proxies]
            return all(fleet["known"] and fleet["instances"] == 3 for fleet in fleets)

        def takes_from(server):
            """A proxy asks this server for a part of the limit."""
            before = calls_of(server, "fcall")
            with ValueClient(proxies[0].port) as client:
                client("GET", "limited")
            return calls_of(server, "fcall") > before

        until(know_each_other, PATIENCE_S, "the proxies know each other")
        until(lambda: takes_from(old), PATIENCE_S, "limits at the first master")
        for proxy in proxies:
            self.make_hot(proxy)
        with FirstWrite(self.replicated.others(old)) as first:
            old.process.kill()
            new = first.wait()
            for proxy in proxies:
                self.expect_back(proxy, first)
        reports = calls_of(new, "getrange")
        until(lambda: calls_of(new, "getrange") > reports + 20, PATIENCE_S, "reports there")
        until(know_each_other, PATIENCE_S, "they know each other again")
        until(lambda: takes_from(new), PATIENCE_S, "limits at the new master")

    def test_commands_wait_for_the_new_master(self):
        """A transaction goes to the new one, whole."""
        self.start()
        proxy = self.proxy_for(self.sentinels.url())
        with ValueClient(proxy.port) as client:
            until(lambda: client("SET", "a", 1) == "OK", PATIENCE_S, "a write")
        replicas = self.replicated.others(self.replicated.master)
        with FirstWrite(replicas) as first:
            self.sentinels.ask(self.sentinels.all[0], "SENTINEL", "FAILOVER", "mymaster")
            first.wait()
        until(lambda: self.upstream_of(proxy) == first.server.port, PATIENCE_S, "the new master")
        with ValueClient(proxy.port) as client:
            self.assertEqual(client.pipeline([("MULTI",), ("SET", "a", 2), ("EXEC",)])[2], ["OK"])
        self.assertEqual(ask(first.server.port, "GET", "a"), b"2")

    def test_a_majority_vouches_for_copies(self):
        self.start()
        proxy = self.proxy_for(self.sentinels.url())
        self.make_hot(proxy)
        with ValueClient(proxy.port) as client:
            for each in self.sentinels.all[1:]:
                each.process.freeze()

            def is_silent():
                before = proxy.hits()
                for _ in range(50):
                    self.assertEqual(client("GET", "k"), b"old")  # reads pass
                return proxy.hits() == before

            until(is_silent, PATIENCE_S, "no hits without a majority")
            until(lambda: "only 1 Sentinel of 3" in proxy.coherence(), PATIENCE_S, "the reason")
            answering = proxy.by_label("heatsink_sentinels", "state")
            self.assertEqual(answering["known"], 3)
            self.sentinels.all[1].process.signal(signal.SIGCONT)
            before = proxy.hits()
            until(lambda: client("GET", "k") and proxy.hits() > before, PATIENCE_S, "hits again")

    def test_one_sentinel_of_the_url_is_enough(self):
        """The others are found by asking it."""
        self.start()
        first = self.sentinels.all[0]
        proxy = self.proxy_for(f"redis+sentinel://127.0.0.1:{first.port}/mymaster")
        self.make_hot(proxy)

        def all_answer():
            return proxy.by_label("heatsink_sentinels", "state")["answering"] == 3

        until(all_answer, PATIENCE_S, "three Sentinels")
        first.process.kill()
        with FirstWrite(self.replicated.others(self.replicated.master)) as write:
            self.replicated.master.process.kill()
            write.wait()
            self.expect_back(proxy, write)

    def test_logins_of_their_own(self):
        lines = ("requirepass sentry", "sentinel auth-pass mymaster secret")
        options = ("--requirepass", "secret", "--masterauth", "secret")
        replicated = Replicated(0, options)
        self.addCleanup(replicated.stop)
        sentinels = Sentinels(replicated, count=1, lines=lines, password="sentry")
        self.addCleanup(sentinels.stop)
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
            file.write("sentry\n")
            file.flush()
            proxy = self.proxy_for(
                sentinels.url(":secret@"), {"upstream.sentinel-password-file": file.name}
            )
            with ValueClient(proxy.port) as client:
                client("AUTH", "secret")
                until(lambda: client("SET", "k", 1) == "OK", PATIENCE_S, "a write")
        without = self.proxy_for(sentinels.url(":secret@"))
        status, body = self.health(without)
        self.assertEqual(status, 503)
        self.assertIn("NOAUTH", body)

    def health(self, proxy):
        try:
            url = f"http://127.0.0.1:{proxy.admin_port}/healthz"
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read().decode()

    def test_a_wrong_name(self):
        replicated = Replicated(0)
        self.addCleanup(replicated.stop)
        sentinels = Sentinels(replicated, count=1)
        self.addCleanup(sentinels.stop)
        proxy = self.proxy_for(sentinels.url().replace("mymaster", "shop"), ERRORS_WHEN_DOWN)

        def is_explained():
            return "it does not watch 'shop', but 'mymaster'" in self.health(proxy)[1]

        until(is_explained, PATIENCE_S, "the reason")
        self.assertEqual(self.health(proxy)[0], 503)
        with ValueClient(proxy.port) as client:
            began = time.monotonic()
            refused = client("GET", "k")
            self.assertTrue(is_error(refused), refused)
            self.assertIn("does not watch 'shop'", refused)
            self.assertLess(time.monotonic() - began, PATIENCE_S)

    def test_no_sentinel_is_there(self):
        proxy = self.proxy_for("redis+sentinel://127.0.0.1:1/mymaster")
        status, body = self.health(proxy)
        self.assertEqual(status, 503)
        self.assertIn("no Sentinel names the master", body)


class TlsTest(FailoverTest):
    """`rediss+sentinel://`: TLS to the Sentinel, and to the servers that it names."""

    def setUp(self):
        if shutil.which("openssl") is None:
            self.skipTest("needs openssl")
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.authority = Authority(folder.name)
        self.cert, self.key = self.authority.sign("server")

    def tls(self, port):
        given = self.authority.server_options(port, self.cert, self.key)
        return (*given, "--tls-replication", "yes")

    def server(self, *options):
        """It has a port without TLS, too, for the test's own questions."""
        port = free_port()
        redis = Redis(*self.tls(port), "--repl-diskless-sync-delay", "0", *options)
        self.addCleanup(redis.stop)
        redis.tls_port = port
        return redis

    def sentinel_of(self, master):
        """The Sentinel, and its port with TLS."""
        port = free_port()
        words = self.tls(port)
        lines = [f"{name[2:]} {value}" for name, value in zip(words[::2], words[1::2])]
        sentinel = Sentinel(types.SimpleNamespace(port=master.tls_port), quorum=1, lines=lines)
        self.addCleanup(sentinel.stop)
        return sentinel, port

    def test_the_master_moves(self):
        old = self.server()
        new = self.server("--replicaof", "127.0.0.1", str(old.tls_port))
        sentinel, port = self.sentinel_of(old)
        replicas = lambda: ask(sentinel.port, "SENTINEL", "REPLICAS", "mymaster")  # noqa: E731
        until(replicas, 60, "the Sentinel knows the replica")
        proxy = self.proxy_for(
            f"rediss+sentinel://127.0.0.1:{port}/mymaster", {"upstream.tls-ca": self.authority.cert}
        )
        self.make_hot(proxy)
        self.assertEqual(self.upstream_of(proxy), old.tls_port)
        with FirstWrite([new]) as first:
            old.process.kill()
            first.wait()
            self.assertLess(self.back_after(proxy, first), 2 * SLOW)
        self.assertEqual(self.upstream_of(proxy), new.tls_port)

    def test_a_stranger_is_not_believed(self):
        """The proxy does not ask a Sentinel whose certificate it does not trust."""
        _, port = self.sentinel_of(self.server())
        proxy = self.proxy_for(f"rediss+sentinel://127.0.0.1:{port}/mymaster", ERRORS_WHEN_DOWN)
        with ValueClient(proxy.port) as client:
            refused = client("GET", "k")
            self.assertTrue(is_error(refused), refused)
            self.assertIn("certificate", refused)


class RestartTest(FailoverTest):
    """SIGUSR2: the new process serves the same clients, and follows the master."""

    def test_the_new_process_follows_the_master(self):
        replicated = Replicated(1)
        self.addCleanup(replicated.stop)
        sentinels = Sentinels(replicated, count=1)
        self.addCleanup(sentinels.stop)
        proxy = self.proxy_for(sentinels.url(), ERRORS_WHEN_DOWN, stderr=subprocess.STDOUT)
        self.make_hot(proxy)
        with ValueClient(proxy.port) as client:
            self.assertEqual(client("GET", "k"), b"old")
            os.kill(proxy.process.child.pid, signal.SIGUSR2)
            served = lambda: re.search(r"hand-over: process (\d+) serves the clients",  # noqa: E731
                                       proxy.process.output())  # fmt: skip
            pid = int(until(served, PATIENCE_S, "the hand-over")[1])
            self.addCleanup(self.end, pid)
            self.assertEqual(client("GET", "k"), b"old")
            with FirstWrite(replicated.others(replicated.master)) as first:
                replicated.master.process.kill()
                new = first.wait()
            until(lambda: client("SET", "k", "new") == "OK", PATIENCE_S, "a write")
            self.assertEqual(ask(new.port, "GET", "k"), b"new")
            self.assertEqual(client("GET", "k"), b"new")

    def end(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
