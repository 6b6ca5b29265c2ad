# SPDX-License-Identifier: Apache-2.0
"""SIGUSR2: a new process takes over the sockets and the clients; no client notices."""

import os
import signal
import socket
import struct
import subprocess
import threading
import unittest

from harness import HEATSINK, PATIENCE_S, Closed, ValueClient, until
from restart_stage import OPTIONS, Restarts

BIG_BYTES = 32 << 20


class Moves(Restarts):
    """Each kind of state goes along."""

    def test_an_idle_client_goes_on_and_the_old_process_ends(self):
        client = self.client(resp=3)
        client.ask("SELECT", 3)
        client.ask("CLIENT", "SETNAME", "me")
        client.ask("SET", "k", "v")
        old = self.restart()
        self.ended(old)
        self.assertEqual(self.proxy.process.child.wait(PATIENCE_S), 0)
        self.assertEqual(client.ask("GET", "k"), b"$1\r\nv\r\n")
        self.assertEqual(client.ask("CLIENT", "GETNAME"), b"$2\r\nme\r\n")
        self.assertEqual(self.server.ask("SELECT", 3), b"+OK\r\n")
        self.assertEqual(self.server.ask("GET", "k"), b"$1\r\nv\r\n")
        self.assertEqual(self.client().ask("PING"), b"+PONG\r\n")
        self.assertIn("took over 1 connected clients", self.output())

    def test_half_a_request_is_completed_in_the_new_process(self):
        client = self.client()
        client.ask("PING")
        client.send_raw(b"*3\r\n$3\r\nSET\r\n$4\r\nhal")
        self.restart()
        client.send_raw(b"f\r\n$1\r\nx\r\n")
        self.assertEqual(client.read(), b"+OK\r\n")
        self.assertEqual(self.server.ask("GET", "half"), b"$1\r\nx\r\n")

    def test_a_blocking_command_keeps_its_place_and_gets_its_element(self):
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        connection = self.blocked()[0].split()[0]
        self.restart()
        self.restart()
        self.assertEqual(self.blocked()[0].split()[0], connection)
        self.server.ask("RPUSH", "q", "v")
        self.assertEqual(waiting.read(), b"*2\r\n$1\r\nq\r\n$1\r\nv\r\n")
        self.assertEqual(waiting.ask("PING"), b"+PONG\r\n")

    def test_a_client_that_leaves_the_new_process_while_it_waits_takes_nothing(self):
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        self.restart()
        waiting.close()
        until(lambda: not self.blocked(), what="the wait ended")
        self.server.ask("RPUSH", "q", "v")
        self.assertEqual(self.server.ask("LLEN", "q"), b":1\r\n")

    def test_a_transaction_and_a_watch_go_on(self):
        client, watcher = self.client(), self.client()
        client.ask("MULTI")
        client.ask("SET", "t", "1")
        watcher.ask("WATCH", "w")
        self.restart()
        self.assertEqual(client.ask("INCR", "t"), b"+QUEUED\r\n")
        self.assertEqual(client.ask("EXEC"), b"*2\r\n+OK\r\n:2\r\n")
        self.server.ask("SET", "w", "changed")
        watcher.ask("MULTI")
        watcher.ask("SET", "w", "mine")
        self.assertEqual(watcher.ask("EXEC"), b"*-1\r\n")
        self.assertEqual(client.ask("GET", "t"), b"$1\r\n2\r\n")

    def test_subscribers_and_monitors_miss_nothing(self):
        subscriber, monitor = self.client(), self.client()
        subscriber.ask("SUBSCRIBE", "c")
        subscriber.ask("PSUBSCRIBE", "p*")
        monitor.ask("MONITOR")
        self.restart()
        self.assertEqual(self.server.ask("PUBLISH", "c", "one"), b":1\r\n")
        self.assertIn(b"one", subscriber.read())
        self.server.ask("PUBLISH", "pat", "two")
        self.assertIn(b"two", subscriber.read())
        while b"PUBLISH" not in monitor.read():
            pass
        self.assertIn(b"unsubscribe", subscriber.ask("UNSUBSCRIBE", "c"))

    def test_a_login_goes_along_without_its_password(self):
        self.server.ask("ACL", "SETUSER", "alice", "on", ">secret", "~a:*", "+@all")
        client = self.client()
        self.assertEqual(client.ask("AUTH", "alice", "secret"), b"+OK\r\n")
        self.restart()
        self.assertEqual(client.ask("ACL", "WHOAMI"), b"$5\r\nalice\r\n")
        self.assertTrue(client.ask("GET", "b").startswith(b"-NOPERM"))
        self.assertEqual(client.ask("SET", "a:1", "x"), b"+OK\r\n")


class StartsWarm(Restarts):
    def test_hot_keys_have_copies_when_the_first_client_comes(self):
        client = self.client()
        client.ask("SET", "hot", "v")

        def is_served():
            before = self.proxy.hits()
            for _ in range(50):
                client.ask("GET", "hot")
            return self.proxy.hits() > before

        until(is_served, what="copies")
        self.restart()
        self.assertIn("loaded the copies of 1 keys", self.output())
        until(lambda: self.proxy.metric("heatsink_clients_taken_over_total") == 1, what="metrics")
        self.assertGreaterEqual(self.proxy.metric("heatsink_cache_entries"), 1)


class StartsWithWhatPays(Restarts):
    OPTIONS = {**OPTIONS, "detection.hot-qps": 1_000_000, "cache.admission": "pays"}
    KEYS = 2000  # 1000 of them go along
    BUSY = 10

    def test_the_best_copies_and_what_was_learned_go_along(self):
        client = self.client()
        names = [f"key:{number}" for number in range(self.KEYS)]
        for name in names:
            client.ask("SET", name, "v")

        def all_have_copies():
            # One at a time: beside many commands at once a copy of such a key would not pay.
            for name in names:
                client.ask("GET", name)
            return self.proxy.metric("heatsink_cache_entries") >= len(names)

        until(all_have_copies, 60, "copies of all keys")
        busy = names[:: self.KEYS // self.BUSY][: self.BUSY]
        for _ in range(30):
            for name in busy:
                client.ask("GET", name)
        until(lambda: self.prices()["server"]["measured"], what="the server's prices")
        self.restart()
        self.assertIn("loaded the copies of 1000 keys", self.output())
        self.assertRegex(self.output(), r"begins with what was learned: CPU times: server \d")
        warmed = {row["name"] for row in self.proxy.api("warm")["keys"]}
        self.assertEqual(len(warmed), 1000)
        self.assertEqual(set(busy) - warmed, set(), "the best keys go along")

    def prices(self):
        return self.proxy.api("hotkeys")["copies"]["prices"]


class LiveRules(Restarts):
    def rule(self, *words):
        command = [HEATSINK, "rule", *words, "--admin", f"127.0.0.1:{self.proxy.admin_port}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_they_go_along_twice(self):
        self.rule("add", "match=cart:*,level=off")
        before = self.rule("list")
        self.assertIn("match=cart:*,level=off  (added live ", before)
        self.restart()
        self.restart()
        self.assertEqual(self.rule("list"), before)
        self.rule("remove", "cart:*")
        self.assertNotIn("cart:", self.rule("list"))


class Fails(Restarts):
    """The old process goes on when the new one does not succeed."""

    def serves(self, client):
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        self.assertEqual(self.client().ask("SET", "k", "v"), b"+OK\r\n")

    def test_killed_while_it_starts(self):
        client = self.client()
        client.ask("PING")
        new = self.begin_restart()
        os.kill(new, signal.SIGKILL)
        self.assertIn("was ended by signal 9", self.failed())
        self.serves(client)
        self.restart()
        self.serves(client)

    def test_a_hanging_one_does_not_disturb_and_sigterm_ends_both(self):
        client = self.client()
        client.ask("PING")
        new = self.begin_restart()
        os.kill(new, signal.SIGSTOP)
        self.serves(client)
        os.kill(self.pid, signal.SIGTERM)
        self.assertEqual(client.read_to_end(), b"")
        client.close()
        self.ended(new)

    def half_handed_over(self):
        """Two clients: one is in the new process, one cannot be moved. And the new process."""
        moved, reader = self.client(), self.client(receive_buffer=4096)
        moved.ask("PING")
        self.server.ask("SET", "big", b"x" * BIG_BYTES)
        reader.send("GET", "big")  # not read yet: it stays
        new = self.begin_restart()
        until(
            lambda: "accepting clients with" in self.output()
            and self.proxy.metric("heatsink_clients_taken_over_total") == 1,
            what="one client is moved",
        )
        return moved, reader, new

    def test_killed_while_it_takes_clients(self):
        moved, reader, new = self.half_handed_over()
        os.kill(new, signal.SIGKILL)
        self.assertIn("was ended by signal 9 during the hand-over", self.failed())
        self.assertGreater(len(reader.read()), BIG_BYTES)
        self.serves(reader)
        with self.assertRaises(Closed):
            moved.ask("PING")

    def test_the_old_one_is_killed_while_it_gives_clients(self):
        moved, reader, new = self.half_handed_over()
        os.kill(self.pid, signal.SIGKILL)
        self.pid = new
        self.serves(moved)
        with self.assertRaises(Closed):
            reader.read()

    def test_the_old_one_is_killed(self):
        client = self.client()
        client.ask("PING")
        old = self.restart()
        if self.is_running(old):
            os.kill(old, signal.SIGKILL)
        self.ended(old)
        self.serves(client)


class Load:
    """50 clients that never pause; the first surprise of each is kept."""

    KINDS = ("reads", "writes", "pipelines", "transactions", "consumes", "listens", "connects")

    def __init__(self, port, server_port):
        self.port, self.server_port = port, server_port
        self.ends = threading.Event()
        self.surprises, self.rounds = [], {}
        self.threads = []
        for number in range(50):
            kind = self.KINDS[number % len(self.KINDS)]
            thread = threading.Thread(target=self.run, args=(kind, number))
            self.threads.append(thread)
            thread.start()

    def run(self, kind, number):
        try:
            with ValueClient(self.port) as client:
                play = getattr(self, kind)(client, number)
                while not self.ends.is_set():
                    next(play)
                    self.rounds[number] = self.rounds.get(number, 0) + 1
        except Exception as error:  # any error of a client fails the test
            self.surprises.append(f"{kind} {number}: {error!r}")

    def expect(self, got, wanted):
        if got != wanted:
            raise AssertionError(f"{got!r} instead of {wanted!r}")

    def reads(self, client, number):
        """Of a shared hot counter: never backwards."""
        last = 0
        while True:
            now = int(client("GET", "counter") or 0)
            if now < last:
                raise AssertionError(f"{now} after {last}")
            last = now
            yield

    def writes(self, client, number):
        value = 0
        while True:
            value += 1
            self.expect(client("SET", f"own:{number}", value), "OK")
            for _ in range(5):
                self.expect(client("GET", f"own:{number}"), b"%d" % value)
            counter = client("INCR", "counter")
            if int(client("GET", "counter")) < counter:
                raise AssertionError("own INCR not seen")
            yield

    def pipelines(self, client, number):
        value = 0
        while True:
            calls = [("INCR", f"pipe:{number}"), ("GET", f"pipe:{number}")] * 20
            for reply, (command, _) in zip(client.pipeline(calls), calls):
                if command == "INCR":
                    value += 1
                    self.expect(reply, value)
                else:
                    self.expect(reply, b"%d" % value)
            yield

    def transactions(self, client, number):
        while True:
            self.expect(client("WATCH", f"t:{number}"), "OK")
            before = int(client("GET", f"t:{number}") or 0)
            self.expect(client("MULTI"), "OK")
            self.expect(client("INCR", f"t:{number}"), "QUEUED")
            self.expect(client("GET", "counter"), "QUEUED")
            self.expect(client("EXEC")[0], before + 1)
            yield

    def consumes(self, client, number):
        with ValueClient(self.server_port) as producer:
            for value in range(10**9):
                client.send("BLPOP", f"q:{number}", 0)
                self.ends.wait(0.02)  # so that it waits on the server: a restart may meet it there
                producer("RPUSH", f"q:{number}", value)
                self.expect(client.read(), [b"q:%d" % number, b"%d" % value])
                yield

    def listens(self, client, number):
        channel = f"c:{number}"
        self.expect(client("SUBSCRIBE", channel), [b"subscribe", channel.encode(), 1])
        with ValueClient(self.server_port) as publisher:
            for value in range(10**9):
                self.expect(publisher("PUBLISH", channel, value), 1)
                self.expect(client.read(), [b"message", channel.encode(), b"%d" % value])
                yield

    def connects(self, client, number):
        """The port never refuses, and a new connection is served."""
        while True:
            with ValueClient(self.port) as other:
                self.expect(other("ECHO", "hello"), b"hello")
                linger = struct.pack("ii", 1, 0)  # no ports in TIME_WAIT
                other.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.expect(client("PING"), "PONG")
            yield

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


class UnderLoad(Restarts):
    def test_two_restarts_in_a_row_cut_nobody(self):
        load = Load(self.proxy.port, self.redis.port)
        try:
            for _ in range(2):
                seen = dict(load.rounds)
                old = self.restart()

                def all_went_on(seen=seen):
                    went_on = all(load.rounds.get(n, 0) > seen.get(n, 0) + 2 for n in range(50))
                    return load.surprises or went_on

                until(all_went_on, 3 * PATIENCE_S, "every client goes on")
                self.assertEqual(load.surprises, [])
                self.ended(old)
        finally:
            load.stop()
        self.assertEqual(load.surprises, [])
        self.assertNotIn(" cut because", self.output())


class UnderLoadAtLevelSession(UnderLoad):
    OPTIONS = {**OPTIONS, "cache.level": "session"}


if __name__ == "__main__":
    unittest.main()
