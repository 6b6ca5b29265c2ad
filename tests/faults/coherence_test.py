# SPDX-License-Identifier: Apache-2.0
"""What a local copy may return while nothing is broken: own and foreign writes, expiry, nil."""

import contextlib
import threading
import time
import unittest

import stage
from harness import SLOW, RawClient, RedisError, ValueClient, encode, until
from harness.theatre import Theatre

ROUNDS = 200
WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


class OwnWrites(stage.Stage):
    """What one client of the proxy has been told is what all of them read from then on."""

    def setUp(self):
        super().setUp()
        self.readers = self.clients(6)
        self.writer = self.client()

    def expect_all(self, key, value, why):
        for reader in self.readers:
            self.assertEqual(reader("GET", key), value, why)

    def test_set_is_visible_to_all_at_once(self):
        self.direct("SET", "k", "0")
        self.heat(self.readers[0], "k")
        for i in range(ROUNDS):
            self.writer("SET", "k", i)
            self.expect_all("k", b"%d" % i, "after SET")
        self.assertGreater(self.proxy.hits(), ROUNDS)

    def test_pipelined_write_and_read(self):
        self.direct("SET", "k", "0")
        self.heat(self.readers[0], "k")
        for i in range(ROUNDS):
            read = ("GET", "k")
            got = self.writer.pipeline([read, ("SET", "k", i), read, ("INCR", "k"), read])
            self.assertEqual(got[1:], ["OK", b"%d" % i, i + 1, b"%d" % (i + 1)])

    def test_every_kind_of_write(self):
        writes = [
            (("SETEX", "k", "100", "a"), b"a"),
            (("APPEND", "k", "b"), b"ab"),
            (("GETSET", "k", "c"), b"c"),
            (("SETRANGE", "k", "0", "de"), b"de"),
            (("MSET", "other", "1", "k", "f"), b"f"),
            (("GETDEL", "k"), None),
            (("SETNX", "k", "7"), b"7"),
            (("INCRBY", "k", "2"), b"9"),
            (("DECR", "k"), b"8"),
            (("COPY", "source", "k", "REPLACE"), b"from-source"),
            (("DEL", "k"), None),
            (("PSETEX", "k", "100000", "g"), b"g"),
            (("GETEX", "k", "PERSIST"), b"g"),
            (("UNLINK", "k"), None),
            (("RENAME", "movable", "k"), b"moved"),
            (("SETBIT", "k", "7", "0"), b"loved"),
            (("EVAL", "redis.call('set', KEYS[1], 'h')", "1", "k"), b"h"),
            (("EVAL", "redis.call('set', 'k', 'i')", "0"), b"i"),
            (("EVAL", "redis.call('set', 'k', 'j')", "1", "other"), b"j"),
            (("BITOP", "NOT", "k", "empty"), None),
            (("RESTORE", "k", "0", self.dump_of("l")), b"l"),
            (("MOVE", "k", "3"), None),
            (("EXPIRE", "other", "-1"), None),
            (("SET", "k", "m"), b"m"),
            (("EXPIREAT", "k", "1"), None),
            (("SORT", "list", "STORE", "k"), WRONG_TYPE),
            (("SET", "k", "n"), b"n"),
            (("FLUSHDB",), None),
        ]
        self.direct("MSET", "k", "0", "source", "from-source", "movable", "moved")
        self.direct("RPUSH", "list", "2", "1")
        for write, value in writes:
            self.heat_any("k")
            answer = self.writer(*write)
            self.assertNotIsInstance(answer, RedisError, write)
            self.expect_all("k", value, write)

    def heat_any(self, key):
        """As heat(), for a key that may be a list, which is never served locally."""
        if self.direct("TYPE", key) != "list":
            self.heat(self.readers[0], key)

    def dump_of(self, value):
        self.direct("SET", "template", value)
        return self.direct("DUMP", "template")

    def test_transaction(self):
        self.direct("SET", "k", "0")
        for i in range(50):
            self.heat(self.readers[0], "k")
            self.writer("MULTI")
            self.assertEqual(self.writer("SET", "k", i), "QUEUED")
            self.readers[1]("GET", "k")
            self.assertEqual(self.writer("EXEC"), ["OK"])
            self.expect_all("k", b"%d" % i, "after EXEC")

    def test_watch_and_multi_are_not_served_locally(self):
        self.direct("SET", "k", "0")
        self.heat(self.readers[0], "k")
        for i in range(50):
            self.writer("WATCH", "k")
            value = int(self.writer("GET", "k"))
            self.direct("INCR", "k")
            self.writer("MULTI")
            self.writer("SET", "k", value + 1)
            self.assertIsNone(self.writer("EXEC"), "a lost update")
            self.assertEqual(int(self.direct("GET", "k")), i + 1)

    def test_scripts_that_do_not_say_what_they_write(self):
        self.direct("SET", "k", "0")
        for i in range(ROUNDS):
            if i % 20 == 0:
                self.heat(self.readers[0], "k")
            self.writer("EVAL", "return redis.call('incr', 'k')", "0")
            self.expect_all("k", b"%d" % (i + 1), "after EVAL")

    def test_a_flush_of_everything(self):
        for flush in ("FLUSHALL", "FLUSHDB"):
            self.direct("MSET", "a", "1", "b", "2")
            self.heat(self.readers[0], "a", "b")
            self.writer(flush)
            self.expect_all("a", None, flush)
            self.expect_all("b", None, flush)

    def test_swapdb(self):
        with ValueClient(self.server.port) as other:
            other("SELECT", "1")
            for i in range(20):
                self.direct("SET", "k", f"zero-{i}")
                other("SET", "k", f"one-{i}")
                self.expect_soon(self.readers[0], "k", f"zero-{i}".encode())
                self.heat(self.readers[0], "k")
                self.assertEqual(self.writer("SWAPDB", "0", "1"), "OK")
                self.expect_all("k", f"one-{i}".encode(), "after SWAPDB")

    def test_one_name_in_many_databases(self):
        for db, reader in enumerate(self.readers):
            reader("SELECT", db)
            reader("SET", "k", f"db-{db}")
        for db, reader in enumerate(self.readers):
            self.heat(reader, "k")
        for i in range(50):
            self.readers[i % 6]("SET", "k", f"round-{i}")
            for db, reader in enumerate(self.readers):
                last = i - (i - db) % 6
                value = f"round-{last}" if last >= 0 else f"db-{db}"
                self.assertEqual(reader("GET", "k"), value.encode(), f"database {db}, round {i}")

    def test_a_write_that_waited(self):
        for i in range(3):  # a second each: that is how long a list is left alone
            self.direct("DEL", "k")
            self.expect_soon(self.readers[0], "k", None)
            self.heat(self.readers[0], "k")
            self.writer.send("BLMOVE", "source", "k", "LEFT", "LEFT", "0")
            self.direct("RPUSH", "source", i)
            self.assertEqual(self.writer.read(), b"%d" % i)
            self.expect_all("k", WRONG_TYPE, "after BLMOVE")

    def test_a_write_that_asked_for_no_reply(self):
        self.direct("SET", "k", "-1")
        self.heat(self.readers[0], "k")
        for i in range(50):
            for call in (("CLIENT", "REPLY", "SKIP"), ("SET", "k", i), ("GET", "k")):
                self.writer.send(*call)
            self.assertEqual(self.writer.read(), b"%d" % i)
            self.expect_all("k", b"%d" % i, "after a silent SET")

    def test_a_write_whose_client_has_gone(self):
        self.direct("SET", "k", "-1")
        self.heat(self.readers[0], "k")
        for i in range(50):
            with ValueClient(self.proxy.port) as leaving:
                leaving.send("SET", "k", i)
            # Nobody knows when it is carried out.
            stage.wait_until(lambda: self.readers[0]("GET", "k") == b"%d" % i, "the write")
        self.heat(self.readers[0], "k")  # nothing is left in flight


class ForeignWrites(stage.Stage):
    """Writes past the proxy: seen within the bound, typically much sooner; never taken back."""

    def test_how_soon_a_foreign_write_is_seen(self):
        readers = self.clients(4)
        self.direct("SET", "k", "-1")
        self.heat(readers[0], "k")
        delays = []
        for i in range(ROUNDS):
            self.direct("SET", "k", i)
            written = time.monotonic()
            for reader in readers:
                self.expect_soon(reader, "k", b"%d" % i)
            delays.append(time.monotonic() - written)
            for reader in readers:
                self.assertEqual(reader("GET", "k"), b"%d" % i, "it went back in time")
        delays.sort()
        median, p99, longest = (delays[i] * 1e3 for i in (ROUNDS // 2, ROUNDS * 99 // 100, -1))
        print(f"\nforeign write seen by {len(readers)} clients: "
              f"median {median:.2f} ms, p99 {p99:.2f} ms, longest {longest:.2f} ms")
        self.assertLess(median, stage.STALENESS_S / 2 * 1e3, "not by the push, but by the bound")

    def test_what_one_client_was_shown_by_the_server_no_other_reads_behind(self):
        """MGET always asks the server. Caught with the fence of reads removed: within a second."""
        asks, reads = self.clients(2)
        self.direct("SET", "k", "0")
        self.heat(reads, "k")
        writer = ValueClient(self.server.port)
        self.addCleanup(writer.close)
        for i in range(1, 3001):
            writer.send("SET", "k", i)
            shown = int(asks("MGET", "k")[0])
            self.assertGreaterEqual(int(reads("GET", "k")), shown, f"round {i}")
            writer.read()

    def test_missing_keys_and_their_birth(self):
        reader = self.client()
        for i in range(20):
            self.direct("DEL", "k")
            self.expect_soon(reader, "k", None)
            self.heat(reader, "k")
            self.direct("SET", "k", i)
            self.expect_soon(reader, "k", b"%d" % i)

    def test_flush_by_another(self):
        reader = self.client()
        for flush in ("FLUSHALL", "FLUSHDB"):
            self.direct("SET", "k", "1")
            self.expect_soon(reader, "k", b"1")
            self.heat(reader, "k")
            self.direct(flush)
            self.expect_soon(reader, "k", None)

    def test_nothing_is_served_past_its_expiry(self):
        reader = self.client()
        for ttl_ms in (30, 80, 150, 300):
            self.direct("SET", "k", ttl_ms, "PX", 600_000)
            self.expect_soon(reader, "k", b"%d" % ttl_ms)
            self.heat(reader, "k")
            self.direct("PEXPIRE", "k", ttl_ms)
            end = time.monotonic() + ttl_ms / 1e3  # the server's clock started before ours
            seen = 0
            while seen < 20:
                asked = time.monotonic()
                value = reader("GET", "k")
                if asked >= end + 0.001:  # the server counts whole milliseconds
                    self.assertIsNone(value, f"{asked - end:.4f} s after it expired")
                    seen += 1


class EndsOnItsWay(unittest.TestCase):
    """A value whose time is over before the proxy has heard of it."""

    LIFE_S = 0.5 * min(SLOW, 3)
    LATE = 8  # clients: most of them are of a worker that asks already

    def test_who_comes_after_its_end_is_not_given_it(self):
        options = {"cache.max-staleness": "30s", "cache.expire-after-write": "10m"}
        with Theatre(push_delay_s=0.0, options=options) as theatre, contextlib.ExitStack() as stack:
            proxy = theatre.proxies[0]
            early, *late = [RawClient(proxy.port) for _ in range(1 + self.LATE)]
            for client in (early, *late):
                stack.enter_context(client)
            theatre.ask("SET", "k", "v")
            until(lambda: early.ask("GET", "k") and proxy.hits() > 20, what="hits")
            told = proxy.metric("heatsink_invalidations_total")
            theatre.ask("SET", "k", "brief", "PX", round(1000 * self.LIFE_S))
            until(lambda: proxy.metric("heatsink_invalidations_total") > told, what="the push")
            theatre.relay.hold()
            early.send("GET", "k")
            until(lambda: theatre.ask("EXISTS", "k") == 0, what="its end")
            joined = proxy.metric("heatsink_joined_fills_total")
            for client in late:
                client.send("GET", "k")
            until(lambda: proxy.metric("heatsink_joined_fills_total") >= joined + self.LATE - 1,
                  what="they wait for the same")  # fmt: skip
            theatre.relay.go_on()
            self.assertEqual({client.read() for client in late}, {b"$-1\r\n"})
            early.read()  # either is right
            theatre.stop_proxies()


class SingleFlight(stage.Stage):
    CLIENTS = 500
    options = {"cache.max-staleness": "30s", "cache.expire-after-write": "10m"}

    def test_many_readers_of_one_change_cost_one_read(self):
        readers = self.clients(self.CLIENTS)
        self.direct("SET", "k", "0")
        self.heat(readers[0], "k")
        request = encode("GET", "k")
        costs = []
        for i in range(1, 21):
            self.direct("SET", "k", i)
            stage.wait_until(lambda: readers[0]("GET", "k") == b"%d" % i, "the write")
            self.heat(readers[0], "k")
            before = self.reads_seen()
            written = b"%d" % -i
            self.direct("SET", "k", written)
            # The push is there: what is measured is the rush, not the bound.
            self.assertEqual(readers[0]("HEATSINK", "BARRIER", "60000"), "OK")
            for reader in readers:
                reader.send_raw(request)
            for reader in readers:
                self.assertEqual(reader.read(), written)
            costs.append(self.reads_seen() - before)
        costs.sort()
        median = costs[len(costs) // 2]
        print(f"\nreads per change, {self.CLIENTS} clients: median {median}, most {costs[-1]}")
        self.assertLessEqual(median, 2)


class FewWaiters(stage.Stage):
    """Past cache.maximum-waiters readers ask the server themselves, and raise fences."""

    options = {"cache.maximum-waiters": 4}

    def test_copies_come_back_under_a_rush(self):
        self.direct("SET", "k", "0")
        self.heat(self.client(), "k")
        stop = threading.Event()
        readers = [self.client() for _ in range(60)]

        def rush(mine):
            request = encode("GET", "k")
            while not stop.is_set():
                for reader in mine:
                    reader.send_raw(request)
                for reader in mine:
                    reader.read()

        threads = [threading.Thread(target=rush, args=(readers[i::3],)) for i in range(3)]
        for thread in threads:
            thread.start()
        try:
            for i in range(10):
                self.direct("SET", "k", i)
                before = self.proxy.hits()
                stage.wait_until(lambda: self.proxy.hits() > before + 200, "hits after a write")
        finally:
            stop.set()
            for thread in threads:
                thread.join()


if __name__ == "__main__":
    unittest.main()
