# SPDX-License-Identifier: Apache-2.0
"""SIGUSR2 in front of each topology: each kind of client goes along, and loses nothing."""

import re
import signal
import threading
import time
import unittest

from harness import (
    PATIENCE_S, Closed, Proxy, Redis, RedisError, ValueClient, need_programs, until,
)  # fmt: skip
from harness.cluster import Cluster
from harness.sentinels import Replicated, Sentinels
from restart_stage import Restarts

KEYS = [f"k:{i}" for i in range(6)]  # on all masters of a cluster
SHARDS = [f"s:{i}" for i in range(6)]
EVENTS = "__keyspace@0__:e:"
EVENTS_B = EVENTS.encode()
USER, PASSWORD = "alice", "wonder"
LONG_BYTES = 64 * 1024  # of a transaction
HELD_UP_S = 10  # how long a client that cannot move holds up a hand-over


class Publisher:
    """A context: publishes numbers to all channels, and sets all keys to them, until it is left."""

    def __init__(self, test):
        self.count, self.ends = 0, threading.Event()
        self.at = {name: test.owner(name) for name in ["c", *SHARDS, *KEYS]}
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ends.is_set():
            self.at["c"]("PUBLISH", "c", self.count)
            for shard in SHARDS:
                self.at[shard]("SPUBLISH", shard, self.count)
            for key in KEYS:
                self.at[key]("SET", "e:{%s}" % key, self.count)
            self.count += 1
            time.sleep(0.002)  # a pace, so that the messages are few

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


class Topology(Restarts):
    """`start()` makes the servers and returns the URL; `owner(key)` is a client of its server."""

    def setUp(self):
        need_programs()
        self.proxy = Proxy(self.start(), self.OPTIONS)
        self.addCleanup(self.end_all)
        self.pid = self.proxy.process.child.pid
        for server in self.servers():
            server("ACL", "SETUSER", USER, "on", ">" + PASSWORD, "~*", "&*", "+@all")
            server("CONFIG", "SET", "notify-keyspace-events", "K$")
        with ValueClient(self.proxy.port) as client:
            until(lambda: client("SET", "k", "v") == "OK", PATIENCE_S, "the server")

    def client_of(self, user=None):
        client = self.keep(ValueClient(self.proxy.port))
        if user:
            self.assertEqual(client("AUTH", user, PASSWORD), "OK")
        return client

    def servers(self):
        return [self.server_client]

    def owner(self, key):
        return self.server_client

    def serve_at(self, server):
        self.server_client = self.keep(ValueClient(server.port))
        return server

    def test_each_kind_goes_along_twice(self):
        kinds = [kind(self) for kind in KINDS]
        for turn in range(2):
            for kind in kinds:
                kind.before(turn)
            begin = time.monotonic()
            with Publisher(self) as published:
                self.restart()
            self.assertLess(time.monotonic() - begin, HELD_UP_S)
            clients = sum(len(kind.clients) for kind in kinds)
            took = f"took over {clients} connected clients"
            self.said(took, turn + 1)
            for kind in kinds:
                with self.subTest(kind=type(kind).__name__, turn=turn):
                    kind.after(turn, published.count)

    def equal(self, *what):
        self.assertEqual(*what)

    def said(self, words, times):
        try:
            until(lambda: self.output().count(words) == times, PATIENCE_S, words)
        except AssertionError as error:
            raise AssertionError(f"{error}; it said: {self.output()}") from None


class Kind:
    user, count = None, 3

    def __init__(self, test):
        self.test = test
        self.clients = {key: test.client_of(self.user) for key in KEYS[: self.count]}

    def each(self, check):
        for key, client in self.clients.items():
            check(key, client)

    def equal(self, *what):
        self.test.assertEqual(*what)


class Transactions(Kind):
    def before(self, turn):
        def begin(key, client):
            self.equal(client("MULTI"), "OK")
            self.equal(client("SET", f"m:{{{key}}}", turn), "QUEUED")

        self.each(begin)

    def after(self, turn, _):
        def execute(key, client):
            self.equal(client("INCR", f"m:{{{key}}}"), "QUEUED")
            self.equal(client("EXEC"), ["OK", turn + 1])
            self.equal(client("GET", f"m:{{{key}}}"), b"%d" % (turn + 1))

        self.each(execute)


class OwnUsersTransactions(Transactions):
    user = USER


class FailedTransactions(Kind):
    def before(self, turn):
        def begin(_, client):
            self.equal(client("MULTI"), "OK")
            self.test.assertIsInstance(client("NO-SUCH-COMMAND"), RedisError)

        self.each(begin)

    def after(self, turn, _):
        self.each(lambda _, client: self.test.assertIn("EXECABORT", str(client("EXEC"))))
        self.each(lambda key, client: self.equal(client("SET", f"x:{{{key}}}", turn), "OK"))


class Watches(Kind):
    def before(self, turn):
        self.each(lambda key, client: self.equal(client("WATCH", f"w:{{{key}}}"), "OK"))

    def after(self, turn, _):
        def execute(key, client):
            is_changed = key == KEYS[turn]
            if is_changed:
                self.test.owner(key)("SET", f"w:{{{key}}}", "other")
            self.equal(client("MULTI"), "OK")
            self.equal(client("SET", f"w:{{{key}}}", "mine"), "QUEUED")
            self.equal(client("EXEC"), None if is_changed else ["OK"])

        self.each(execute)


class Consumers(Kind):
    def before(self, turn):
        self.each(lambda key, client: client.send("BLPOP", f"l:{{{key}}}", 0))
        until(self.all_wait, PATIENCE_S, "all wait")

    def all_wait(self):
        rows = b"".join(server("CLIENT", "LIST") for server in self.test.servers())
        user = (self.user or "default").encode()
        return len([
            row for row in rows.splitlines() if b" flags=b" in row and b" user=" + user in row
        ]) == len(self.clients)  # fmt: skip

    def after(self, turn, _):
        def take(key, client):
            name = f"l:{{{key}}}"
            self.equal(self.test.owner(key)("RPUSH", name, turn), 1)
            self.equal(client.read(), [name.encode(), b"%d" % turn])

        self.each(take)


class OwnUsersConsumers(Consumers):
    user = USER


class Subscribers(Kind):
    """One to a channel, one to all shard channels, one to the events of all keys."""

    def before(self, turn):
        if turn > 0:
            return
        self.channel, self.shards, self.events = self.clients.values()
        self.equal(self.channel("SUBSCRIBE", "c"), [b"subscribe", b"c", 1])
        for i, shard in enumerate(SHARDS):
            self.equal(self.shards("SSUBSCRIBE", shard), [b"ssubscribe", shard.encode(), i + 1])
        self.equal(self.events("PSUBSCRIBE", EVENTS + "*"), [b"psubscribe", EVENTS_B + b"*", 1])

    def after(self, turn, count):
        """Each message once, and in order."""
        numbers = [b"%d" % number for number in range(count)]
        self.equal(self.heard(self.channel, count), {b"c": numbers})
        shards = {shard.encode(): numbers for shard in SHARDS}
        self.equal(self.heard(self.shards, count * len(SHARDS)), shards)
        events = {EVENTS_B + b"{%s}" % key.encode(): [b"set"] * count for key in KEYS}
        self.equal(self.heard(self.events, count * len(KEYS)), events)

    def heard(self, client, count):
        """The messages by their channels; no other one has come."""
        out = {}
        for _ in range(count):
            *_, channel, message = client.read()
            out.setdefault(channel, []).append(message)
        self.equal(client("PING"), [b"pong", b""])
        return out


class OwnUsersSubscribers(Subscribers):
    user = USER


class Monitors(Kind):
    """In front of a cluster it sees one node."""

    count = 1

    def before(self, turn):
        if turn == 0:
            self.each(lambda _, client: self.equal(client("MONITOR"), "OK"))

    def after(self, turn, count):
        def see(_, client):
            numbers = {}
            while not numbers or any(len(each) < count for each in numbers.values()):
                seen = re.search(r'"SET" "e:\{(.*)\}" "(\d+)"', str(client.read()))
                if seen:
                    numbers.setdefault(seen[1], []).append(int(seen[2]))
            for each in numbers.values():
                self.equal(each, list(range(count)))

        self.each(see)


class UsersOfTheirOwn(Kind):
    user = USER

    def before(self, turn):
        self.each(lambda key, client: self.equal(client("SET", f"u:{{{key}}}", turn), "OK"))

    def after(self, turn, _):
        for key in KEYS:  # with connections to all nodes
            for client in self.clients.values():
                self.equal(client("ACL", "WHOAMI"), USER.encode())
                self.equal(client("SET", f"v:{{{key}}}", turn), "OK")
                self.equal(client("GET", f"v:{{{key}}}"), b"%d" % turn)


KINDS = (
    Transactions, OwnUsersTransactions, FailedTransactions, Watches, Consumers, OwnUsersConsumers,
    Subscribers, OwnUsersSubscribers, Monitors, UsersOfTheirOwn,
)  # fmt: skip


class OneServer(Topology):
    def start(self):
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        return self.serve_at(self.redis)

    def test_a_replica_gets_no_error_into_its_stream(self):
        replica = self.client()
        replica.send("SYNC")
        replica.receive()
        self.restart()
        replica.send("SET", "k", "v")

        def is_closed():
            try:
                return replica.receive()
            except Closed:
                return True

        until(is_closed, PATIENCE_S, "the end of the stream, as the server ends it")
        self.assertNotIn(b"-ERR", bytes(replica.data))


class Sentinel(Topology):
    def start(self):
        replicated = Replicated(0)
        self.addCleanup(replicated.stop)
        self.sentinels = Sentinels(replicated, count=1)
        self.addCleanup(self.sentinels.stop)
        self.serve_at(replicated.master)
        return self.sentinels.url()

    def test_clients_go_on_in_the_old_process_until_the_new_one_has_a_master(self):
        watching, waiting = self.client_of(), self.client_of()
        watching("WATCH", "w")
        waiting.send("BLPOP", "l", 0)
        until(lambda: b" flags=b" in self.owner("l")("CLIENT", "LIST"), PATIENCE_S, "it waits")
        self.sentinels.all[0].process.freeze()
        new = self.begin_restart()
        self.said("a client goes on in the process before this one", 1)
        self.equal(self.owner("l")("RPUSH", "l", "v"), 1)
        self.equal(waiting.read(), [b"l", b"v"])
        self.sentinels.all[0].process.signal(signal.SIGCONT)
        self.said(f"process {new} serves the clients", 1)
        self.said("took over 2 connected clients", 1)
        self.owner("w")("SET", "w", "other")
        self.equal(watching("MULTI"), "OK")
        self.equal(watching("SET", "w", "mine"), "QUEUED")
        self.equal(watching("EXEC"), None)
        self.equal(waiting("GET", "w"), b"other")


class Replicas(Topology):
    def start(self):
        self.replicated = Replicated(1)
        self.addCleanup(self.replicated.stop)
        self.serve_at(self.replicated.master)
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.replicated.servers)
        return f"redis+replicas://{hosts}"

    def test_wait_counts_what_was_written_before(self):
        """From Redis 7.2 on, WAIT needs to know of writes on other connections."""
        client = self.client_of()
        self.equal(client("WAIT", 1, 10_000), 1)
        self.replicated.servers[1].process.freeze()
        self.equal(client("SET", "a", 1), "OK")
        self.restart()
        self.equal(client("WAIT", 1, 100), 0)
        self.replicated.servers[1].process.signal(signal.SIGCONT)
        self.equal(client("WAIT", 1, 10_000), 1)


class InFrontOfACluster(Topology):
    def start(self):
        self.cluster = self.enterContext(Cluster(3))
        return self.cluster.url

    def servers(self):
        return self.cluster.masters

    def owner(self, key):
        return self.cluster.owner(key)

    def test_a_long_transaction_ends_in_the_old_process(self):
        client, other = self.client_of(), self.client_of()
        self.equal(client("MULTI"), "OK")
        self.equal(client("SET", "k", b"x" * (LONG_BYTES + 1)), "QUEUED")
        self.equal(other("MULTI"), "OK")
        self.equal(other("SET", "j", b"x" * (LONG_BYTES - 1000)), "QUEUED")
        begin = time.monotonic()
        old = self.restart()
        self.assertLess(time.monotonic() - begin, HELD_UP_S)
        self.said("took over 1 connected clients", 1)
        self.equal(client("EXEC"), ["OK"])
        self.ended(old)
        self.equal(other("EXEC"), ["OK"])
        self.assertIn("drained: 1 client closed after all replies", self.output())


del Topology  # it is no test by itself


if __name__ == "__main__":
    unittest.main()
