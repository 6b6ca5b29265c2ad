# SPDX-License-Identifier: Apache-2.0
"""The server is killed under load and comes back: errors at once that say so, then it works."""

import threading
import time
import unittest

from harness import (
    ERRORS_WHEN_DOWN, Proxy, RawClient, Redis, encode, need_programs, until, until_seen,
)  # fmt: skip
from stage import ProxyTest

# Whoever would wait for one of these time-outs waits for longer than its client does.
QUICK = {
    "upstream.backoff-min": "10ms",
    "upstream.backoff-max": "200ms",
    "upstream.connect-timeout": "1m",
    "upstream.response-timeout": "1m",
}
STALENESS_S = 0.2
# A command that was not executed, and one that may have been.
REFUSALS = (b"-LOADING heatsink: upstream", b"-IOERR heatsink: upstream")


class Outage(ProxyTest):
    PROXY_OPTIONS = {
        **QUICK,
        **ERRORS_WHEN_DOWN,
        "proxy.workers": 1,  # test_attempts_are_paced counts those of one
        "detection.hot-qps": 5,
        "detection.window": "1s",
        "detection.write-hot-ratio": 0,
        "cache.max-staleness": f"{STALENESS_S * 1000:.0f}ms",
        "cache.heartbeat-interval": "50ms",
    }

    def setUp(self):
        self.up()

    def up(self):
        if not self.redis.process.alive():
            self.redis.restart()
        client = self.to_proxy()
        until(lambda: client.ask("SET", "k", "v") == b"+OK\r\n", what="the server is back")

    def unreachable(self, reply, code=b"LOADING"):
        self.assertTrue(reply.startswith(b"-%s heatsink: upstream 127.0.0.1:" % code), reply)
        self.assertIn(b"%d is not reachable: " % self.redis.port, reply)

    def test_errors_at_once_and_back_by_itself(self):
        for resp in (2, 3):
            client = self.to_proxy(resp=resp)
            self.assertEqual(client.ask("GET", "k"), b"$1\r\nv\r\n")
            self.redis.process.kill()
            for command in (["SET", "k", 2], ["WATCH", "k"], ["BLPOP", "x", 0], ["DBSIZE"]):
                self.unreachable(client.ask(*command))
            self.assertEqual(client.ask("MULTI"), b"+OK\r\n")
            self.assertIn(b"a WATCH before this MULTI was refused", client.ask("SET", "k", 2))
            self.assertTrue(client.ask("EXEC").startswith(b"-EXECABORT "))
            fresh = self.to_proxy()
            self.unreachable(fresh.ask("PING"))
            self.up()
            for each in (client, fresh):
                self.assertEqual(each.ask("GET", "k"), b"$1\r\nv\r\n")

    def test_pinned_clients_are_closed(self):
        states = {
            "subscribed": [["SUBSCRIBE", "a"]],
            "in a transaction": [["MULTI"], ["SET", "a", 1]],
            "watching": [["WATCH", "a"]],
            "monitoring": [["MONITOR"]],
            "tracking": [["HELLO", 3], ["CLIENT", "TRACKING", "ON"]],
        }
        clients = {}
        for name, commands in states.items():
            clients[name] = self.to_proxy()
            for command in commands:
                clients[name].ask(*command)
        self.redis.process.kill()
        for name, client in clients.items():
            with self.subTest(state=name), self.assertRaises(ConnectionError):
                while True:  # what the server had said before, and then the end
                    client.read()

    def test_clients_with_scripts_are_closed(self):
        """Their libraries note per connection which scripts the server has: now it has none."""
        uses = {
            "EVAL": [["EVAL", "return 1", 0]],
            "EVALSHA": [["EVALSHA", "0" * 40, 0]],
            "SCRIPT LOAD": [["SCRIPT", "LOAD", "return 1"]],
            "in a transaction": [["MULTI"], ["EVAL", "return 1", 0], ["EXEC"]],
        }
        clients = {}
        for resp in (2, 3):
            for name, commands in uses.items():
                client = clients[resp, name] = self.to_proxy(resp=resp)
                for command in commands:
                    client.ask(*command)
        plain = self.to_proxy()
        plain.ask("GET", "k")
        self.redis.process.kill()
        for use, client in clients.items():
            with self.subTest(use=use), self.assertRaises(ConnectionError):
                client.read()
        self.up()
        self.assertEqual(plain.ask("GET", "k"), b"$1\r\nv\r\n")

    def test_clients_with_scripts_outlive_a_lost_connection(self):
        client, server = self.to_proxy(), self.to_server()
        client.ask("EVAL", "return 1", 0)
        lost = self.proxy.metric("heatsink_upstream_lost_total")
        server.ask("CLIENT", "KILL", "TYPE", "normal")
        until(lambda: self.proxy.metric("heatsink_upstream_lost_total") > lost, what="lost")
        self.up()
        self.assertEqual(client.ask("EVAL", "return 1", 0), b":1\r\n")

    def test_what_was_on_its_way_is_answered(self):
        waiting, piped = self.to_proxy(), self.to_proxy()
        waiting.send("BLPOP", "never", 0)
        server = self.to_server()
        until(lambda: b"cmd=blpop" in server.ask("CLIENT", "LIST"), what="BLPOP waits")
        self.assertEqual(piped.ask("PING"), b"+PONG\r\n")
        before = self.proxy.metric("heatsink_commands_total")
        self.redis.process.freeze()
        piped.send_raw(encode("INCR", "n") * 3 + encode("GET", "k"))
        until(lambda: self.proxy.metric("heatsink_commands_total") == before + 4, what="sent")
        self.redis.process.kill()
        for reply in [waiting.read(), *piped.read_many(3)]:
            self.unreachable(reply, b"IOERR")
            self.assertIn(b"may have executed the command, or may yet execute it)", reply)
        reply = piped.read()
        self.unreachable(reply)
        self.assertNotIn(b"may have executed the command", reply)

    def test_killed_under_load(self):
        """Every command gets one answer: the right one, or an error that says why."""
        stop, faults = threading.Event(), []

        def load(number):
            client = RawClient(self.proxy.port)
            count = 0
            while not stop.is_set():
                count += 1
                value = b"%d-%d" % (number, count)
                client.send_raw(encode("SET", f"load{number}", value) + encode("ECHO", value))
                stored, echoed = client.read(), client.read()
                right = b"$%d\r\n%s\r\n" % (len(value), value)
                if stored != b"+OK\r\n" and not stored.startswith(REFUSALS):
                    faults.append(stored)
                if echoed != right and not echoed.startswith(REFUSALS):
                    faults.append(echoed)
            client.close()

        threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3):
                before = self.proxy.metric("heatsink_upstream_errors_total")
                self.redis.process.kill()
                until(
                    lambda: self.proxy.metric("heatsink_upstream_errors_total") > before + 20,
                    what="errors",
                )
                self.up()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(faults, [])

    def test_no_local_copy_outlives_its_proof(self):
        client = self.to_proxy()

        def served():
            before = self.proxy.metric("heatsink_local_hits_total")
            for _ in range(40):
                client.ask("GET", "k")
            return self.proxy.metric("heatsink_local_hits_total") > before

        until(served, what="k served locally")
        self.redis.process.kill()
        until_seen(
            lambda: client.ask("GET", "k").startswith(b"-LOADING heatsink"),
            True, STALENESS_S, "no copy served",
        )  # fmt: skip

    def test_attempts_are_paced(self):
        self.redis.process.kill()
        client = self.to_proxy()
        before = self.proxy.metric("heatsink_upstream_connects_total")
        begun = time.monotonic()
        while time.monotonic() < begun + 0.5:
            self.unreachable(client.ask("GET", "k"))
        made = self.proxy.metric("heatsink_upstream_connects_total") - before
        # Of two lanes, the tracker and the auditor: 10 ms at first, then half of 200 ms or more.
        # And one each 10 ms for the client that asks.
        took = time.monotonic() - begun
        self.assertLess(made, 4 * (10 + took / 0.1) + took / 0.01)


class Reached(ProxyTest):
    """Once a client is served, no other one is told that the server cannot be reached.

    The pauses between attempts are long, so that a worker or connection that only waits for its own
    next attempt is caught."""

    PROXY_OPTIONS = {
        **ERRORS_WHEN_DOWN,
        "proxy.workers": 2,
        "upstream.backoff-min": "400ms",
        "upstream.backoff-max": "2s",
    }

    def test_whoever_is_served_first(self):
        for _ in range(3):
            # So many that both workers have some, whatever the kernel's hash does.
            clients = [self.to_proxy(resp=resp) for resp in (2, 3) * 8]
            self.redis.process.kill()
            for client in clients:
                self.assertIn(b"is not reachable", client.ask("GET", "k"))
            self.redis.restart()
            first = until(lambda: self.first_served(clients), what="a client is served")
            for client in clients[first:] + clients[:first]:
                self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
                self.assertEqual(client.ask("MULTI"), b"+OK\r\n")
                self.assertEqual(client.ask("INCR", "n"), b"+QUEUED\r\n")
                client.close()

    def first_served(self, clients):
        """Its successor, which is asked next, at once."""
        for number, client in enumerate(clients, 1):
            if client.ask("SET", "k", "v") == b"+OK\r\n":
                return number
        return None


class LooksAtOnce(ProxyTest):
    """Pauses that are longer than a test's patience: only who asks can find the server."""

    PROXY_OPTIONS = {
        **ERRORS_WHEN_DOWN,
        "upstream.backoff-min": "1m",
        "upstream.backoff-max": "1m",
    }

    def found_by(self, *args, resp=2):
        client = self.to_proxy(resp=resp)
        self.redis.process.kill()
        self.assertIn(b"is not reachable", client.ask(*args))
        self.redis.restart()
        until(lambda: client.ask(*args).startswith(b"+"), what="the first success")

    def test_on_a_shared_connection(self):
        self.found_by("PING")
        self.found_by("PING", resp=3)

    def test_on_a_connection_of_its_own(self):
        self.found_by("WATCH", "k")


class ClosesWhenDown(ProxyTest):
    """As the server's own connections end, so that client libraries connect again."""

    PROXY_OPTIONS = {**QUICK, "upstream.connect-wait": 0, "proxy.workers": 1}

    def setUp(self):
        if not self.redis.process.alive():
            self.redis.restart()
        until(self.is_served, what="the server is back")

    def is_served(self):
        client = self.to_proxy()
        client.send("PING")
        try:
            return client.read() == b"+PONG\r\n"
        except ConnectionError:
            return False

    def test_a_command_on_any_connection(self):
        commands = (
            ["GET", "k"], ["MULTI"], ["BLPOP", "x", 0], ["WATCH", "k"], ["HELLO", 3], ["HELLO"],
            ["PSUBSCRIBE", "a*"], ["AUTH", "a", "b"], ["MONITOR"],
        )  # fmt: skip
        clients = [self.to_proxy() for _ in commands]
        self.redis.process.kill()
        for client, command in zip(clients, commands, strict=True):
            client.send_raw(encode(*command) + encode("PING"))
            self.assertEqual(client.read_to_end(), b"", command)

    def test_waiting_and_subscribing_clients_are_closed(self):
        waiting, subscribed = self.to_proxy(), self.to_proxy()
        waiting.send("BLPOP", "never", 0)
        subscribed.ask("SUBSCRIBE", "a")
        server = self.to_server()
        until(lambda: b"cmd=blpop" in server.ask("CLIENT", "LIST"), what="BLPOP waits")
        self.redis.process.kill()
        self.assertEqual(waiting.read_to_end(), b"")
        self.assertEqual(subscribed.read_to_end(), b"")

    def test_what_was_on_its_way_is_not_answered(self):
        waiting = self.to_proxy()
        self.assertEqual(waiting.ask("PING"), b"+PONG\r\n")
        before = self.proxy.metric("heatsink_commands_total")
        self.redis.process.freeze()
        waiting.send_raw(encode("INCR", "n") * 3)
        until(lambda: self.proxy.metric("heatsink_commands_total") == before + 3, what="sent")
        self.redis.process.kill()
        self.assertEqual(waiting.read_to_end(), b"")

    def test_a_new_client_is_served_when_it_is_back(self):
        self.redis.process.kill()
        client = self.to_proxy()
        client.send("PING")
        self.assertEqual(client.read_to_end(), b"")
        self.redis.restart()
        until(self.is_served, what="served")


class Restarts(ProxyTest):
    """By default a server that restarts at once is a delay, for clients that were idle and for
    clients that connect meanwhile."""

    # The server of a busy test machine may take longer than the default.
    PROXY_OPTIONS = {"proxy.workers": 2, "upstream.connect-wait": "20s"}
    COMMANDS = (
        ["GET", "k"], ["SET", "k", 1], ["HELLO", 3], ["MULTI"], ["WATCH", "k"], ["SUBSCRIBE", "a"],
        ["EVAL", "return 1", 0], ["SELECT", 1], ["BLPOP", "x", 0.1], ["CLIENT", "ID"], ["DBSIZE"],
    )  # fmt: skip

    def awaited(self):
        return self.proxy.metric("heatsink_upstream_awaited_total")

    def test_requests_wait_for_it(self):
        idle = [self.to_proxy() for _ in self.COMMANDS]
        for client in idle:
            client.ask("PING")
        before = self.awaited()
        self.redis.process.kill()
        until(lambda: self.proxy.metric("heatsink_upstream_up") == 0, what="it is down")
        fresh = [self.to_proxy() for _ in self.COMMANDS]
        clients = list(zip(idle + fresh, self.COMMANDS * 2, strict=True))
        for client, command in clients:
            client.send(*command)
        until(lambda: self.awaited() == before + len(clients), what="all of them wait")
        self.redis.restart()
        for client, command in clients:
            reply = client.read()
            self.assertFalse(reply.startswith(b"-"), (command, reply))


class LongerOutages(ProxyTest):
    PROXY_OPTIONS = {"proxy.workers": 2}

    def test_requests_do_not_wait_for_long(self):
        first, second = self.to_proxy(), self.to_proxy()
        self.assertEqual(first.ask("PING"), b"+PONG\r\n")
        self.redis.process.kill()
        until(lambda: self.proxy.metric("heatsink_upstream_up") == 0, what="it is down")
        for client in (first, second):
            client.send("PING")
            self.assertEqual(client.read_to_end(), b"")
        self.redis.restart()


class NeverThere(unittest.TestCase):
    def start(self, options):
        need_programs()
        redis = Redis()
        self.addCleanup(redis.stop)
        redis.process.kill()
        proxy = Proxy(redis, options)
        self.addCleanup(proxy.stop)
        client = RawClient(proxy.port)
        self.addCleanup(client.close)
        return redis, proxy, client

    def test_a_server_that_comes_soon(self):
        redis, proxy, client = self.start({})
        client.send("PING")
        until(lambda: proxy.metric("heatsink_upstream_awaited_total") == 1, what="PING waits")
        redis.restart()
        self.assertEqual(client.read(), b"+PONG\r\n")

    def test_a_server_that_comes_later(self):
        redis, _, client = self.start(QUICK | ERRORS_WHEN_DOWN)
        self.assertIn(b"is not reachable", client.ask("PING"))
        redis.restart()
        until(lambda: client.ask("PING") == b"+PONG\r\n", what="reached")


if __name__ == "__main__":
    unittest.main()
