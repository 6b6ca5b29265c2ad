# SPDX-License-Identifier: Apache-2.0
"""Every command that is served from local copies, over generated data: bytes as the server's own.

Each call is compared cold, while its copy is being filled, as a hit, after a write and after the
key has expired, in RESP2 and RESP3. The proxy's counters show that the hits were hits.
"""

import time
import unittest

import reads_corpus
from harness import PATIENCE_S, encode, until, until_seen
from stage import ProxyTest

# Hot after a few reads, and for good.
EAGER = {
    "detection.hot-qps": 2,
    "detection.window": "1s",
    "detection.minimum-residence": "1h",
    "detection.tick": "10ms",
    "detection.write-hot-ratio": 0,
    "cache.maximum-value-bytes": "64kb",
}
ASKED = 6  # of the same: forwarded, filled, and hit
STALENESS_S = 1.0  # cache.max-staleness


class LocalReads(ProxyTest):
    PROXY_OPTIONS = EAGER

    def setUp(self):
        self.ordered = {}  # by command
        self.direct = {resp: self.to_server(resp=resp) for resp in (2, 3)}
        self.through = {resp: self.to_proxy(resp=resp) for resp in (2, 3)}
        self.direct[2].ask("FLUSHALL")

    def has_order(self, command):
        """False if the server may choose the order of the elements, by its own COMMAND."""
        if command not in self.ordered:
            told = self.direct[2].ask("COMMAND", "INFO", command)
            self.ordered[command] = b"nondeterministic_output_order" not in told
        return self.ordered[command]

    def comparable(self, call, reply):
        """The order of a large collection may change without a write, while its table grows."""
        if call[1].startswith("large-") and not self.has_order(call[0]):
            return sorted(reply.split(b"\r\n"))
        return reply

    def load(self, commands):
        for command in commands:
            reply = self.direct[2].ask(*command)
            self.assertFalse(reply.startswith(b"-"), (command, reply))

    def hits(self):
        """By command."""
        return self.proxy.by_label("heatsink_local_hits_by_command_total", "command")

    def heat(self, *keys, client=None):
        """Reads until EXISTS of each is answered locally."""
        client = client or self.through[2]
        for key in keys:

            def hot(key=key):
                before = self.hits()["exists"]
                for _ in range(ASKED):
                    client.ask("EXISTS", key)
                return self.hits()["exists"] >= before + ASKED

            until(hot, PATIENCE_S, f"{key} is hot")

    def same(self, call, times=1):
        """The call through the proxy, in both protocols, against the server's word."""
        for resp in (2, 3):
            expected = self.direct[resp].ask(*call)
            for i in range(times):
                self.assert_equal(call, self.through[resp].ask(*call), expected, (resp, i))

    def assert_equal(self, call, actual, expected, when):
        self.assertEqual(
            self.comparable(call, actual), self.comparable(call, expected), (when, call)
        )

    def assert_hits(self, call, resp):
        """It is asked until it is served locally; every reply is the server's."""
        name = call[0].lower()
        expected = self.direct[resp].ask(*call)
        before = self.hits()[name]

        def hit():
            for _ in range(ASKED):
                self.assert_equal(call, self.through[resp].ask(*call), expected, resp)
            return self.hits()[name] > before

        if expected.startswith(b"-"):
            self.assertFalse(hit(), f"an error was cached: {call}")
        else:
            until(hit, PATIENCE_S, f"RESP{resp}: {call} is served locally")

    def expect_seen(self, call):
        """What a change past the proxy comes to."""
        expected = self.comparable(call, self.direct[3].ask(*call))
        until_seen(
            lambda: self.comparable(call, self.through[3].ask(*call)),
            expected, STALENESS_S, f"{call} is seen",
        )  # fmt: skip

    def calls_of(self, data, seed):
        self.load(data.commands)
        self.heat(*data.keys)
        return reads_corpus.calls(data, seed)

    def test_every_command_of_the_list_hits_in_both_protocols(self):
        data = reads_corpus.Data(seed=1)
        calls = self.calls_of(data, 1)
        tried = {call[0].lower() for call in calls}
        self.assertEqual(set(self.hits()) - tried, set(), "commands that this test does not know")
        for resp in (2, 3):
            before = self.hits()
            for call in calls:
                self.assert_hits(call, resp)
            after = self.hits()
            silent = [name for name in after if after[name] == before[name]]
            self.assertEqual(silent, [], f"never served locally to RESP{resp}")

    def test_generated_values_and_arguments(self):
        for seed in (2, 3):
            data = reads_corpus.Data(seed)
            self.direct[2].ask("FLUSHALL")
            for call in self.calls_of(data, seed):
                self.same(call, times=4)

    def test_after_a_write_through_the_proxy(self):
        data = reads_corpus.Data(seed=4)
        calls = self.calls_of(data, 4)
        writer = self.to_proxy()
        for round_ in range(3):
            for key, kind in data.keys.items():
                mine = [call for call in calls if call[1] == key]
                for call in mine:
                    self.same(call, times=3)
                writer.ask(*reads_corpus.write(key, kind, round_))
                for call in mine:
                    self.same(call)

    def test_while_it_is_filled(self):
        data = reads_corpus.Data(seed=5)
        calls = self.calls_of(data, 5)
        clients = [(resp, self.to_proxy(resp=resp)) for resp in (2, 3, 2, 3)]
        writer = self.to_proxy()
        for i, call in enumerate(calls):
            self.same(call)
            key = call[1]
            writer.ask(*reads_corpus.write(key, data.keys[key], i))
            for _, client in clients:
                client.send_raw(encode(*call) * 3)
            for resp, client in clients:
                expected = self.direct[resp].ask(*call)
                for reply in client.read_many(3):
                    self.assert_equal(call, reply, expected, resp)

    def test_after_expiry(self):
        data = reads_corpus.Data(seed=6)
        calls = self.calls_of(data, 6)
        for key in data.keys.keys() - {"none"}:
            mine = [call for call in calls if call[1] == key]
            for call in mine:
                self.same(call, times=3)
            self.assertEqual(self.direct[2].ask("PEXPIRE", key, 30), b":1\r\n")
            absent = self.through[2]
            until(lambda: absent.ask("EXISTS", key) == b":0\r\n", PATIENCE_S, f"{key} expires")
            self.assertEqual(self.direct[2].ask("EXISTS", key), b":0\r\n")
            for call in mine:
                self.same(call, times=4)

    def test_a_foreign_write_is_seen_by_every_command(self):
        data = reads_corpus.Data(seed=7)
        calls = self.calls_of(data, 7)
        for key, kind in data.keys.items():
            # One by one: any read that goes to the server would end the copies of the others.
            for i, call in enumerate(call for call in calls if call[1] == key):
                self.same(call, times=3)
                self.direct[2].ask(*reads_corpus.write(key, kind, i))
                self.expect_seen(call)

    def test_wrong_types_are_the_servers_errors(self):
        data = reads_corpus.Data(seed=8)
        calls = self.calls_of(data, 8)
        for call in calls:
            for key in ("string", "hash", "zset"):
                wrong = (call[0], key) + tuple(call[2:])
                self.same(wrong, times=2)

    def test_a_refused_read_does_not_hinder_the_others(self):
        """GET of a hash, asked all the time: its HGETALL is still served locally."""
        self.load([("HSET", "h", "f", "v")])
        self.heat("h")
        client = self.through[2]
        before = self.hits()["hgetall"]
        for _ in range(60):  # the reply of each GET raises the fence: so not each is a hit
            self.assertTrue(client.ask("GET", "h").startswith(b"-WRONGTYPE"))
            client.ask("HGETALL", "h")

        def hit():
            client.ask("HGETALL", "h")
            return self.hits()["hgetall"] > before

        until(hit, what="a hit of HGETALL")

    def test_arguments_are_told_apart_and_names_are_not(self):
        self.load([("HSET", "h", "f", "1", "F", "2", "", "3"), ("RPUSH", "l", "a", "b", "c")])
        self.heat("h", "l")
        for call in (
            ("HGET", "h", "f"),
            ("HGET", "h", "F"),
            ("HGET", "h", ""),
            ("hGeT", "h", "f"),
            ("HMGET", "h", "f", "F"),
            ("HMGET", "h", "F", "f"),
            ("LRANGE", "l", "0", "-1"),
            ("LRANGE", "l", "0", "-01"),
            ("LRANGE", "l", "00", "-1"),
            ("GET", "h", "x"),
            ("HGET", "h"),
        ):
            self.same(call, times=ASKED)

    def test_more_reads_than_a_key_has_places(self):
        self.load([("HSET", "h") + tuple(str(i) for i in range(40))])
        self.heat("h")
        for _ in range(3):
            for i in range(20):
                self.same(("HGET", "h", i), times=3)

    def test_fills_that_do_not_pay_are_not_made(self):
        """A key read in a hundred ways, evenly: nearly each fill would be pushed out unused."""
        self.load([("HSET", "h") + tuple(str(i) for i in range(200))])
        self.heat("h")
        client, rounds, fields = self.through[2], 12, range(0, 200, 2)
        began, fills = time.monotonic(), self.proxy.metric("heatsink_fills_total")
        for _ in range(rounds):
            for i in fields:
                client.ask("HGET", "h", i)
        made = self.proxy.metric("heatsink_fills_total") - fills
        tried = 20 * (2 + time.monotonic() - began)  # 16 in each second (fill_benefit.h)
        self.assertLess(made, tried + rounds * len(fields) / 8)

    def test_databases_are_told_apart(self):
        for db in (0, 3):
            self.direct[2].ask("SELECT", db)
            self.load([("HSET", "h", "f", f"in {db}"), ("SET", "s", f"in {db}")])
        self.direct[2].ask("SELECT", 0)
        for db in (0, 3, 0, 3):
            for resp in (2, 3):
                self.assertEqual(self.through[resp].ask("SELECT", db), b"+OK\r\n")
                self.assertEqual(self.direct[resp].ask("SELECT", db), b"+OK\r\n")
            self.heat("h", "s")
            for call in (("HGET", "h", "f"), ("HGETALL", "h"), ("GET", "s"), ("MGET", "s", "s")):
                self.same(call, times=ASKED)
                self.assert_hits(call, 2)
                self.assert_hits(call, 3)
        self.direct[2].ask("HSET", "h", "f", "new")  # in database 3
        self.expect_seen(("HGETALL", "h"))

    def test_large_replies_are_not_kept(self):
        """64 kb is the limit here; a larger one goes upstream, whoever asks, however often."""
        for i in range(8):
            self.load([("HSET", "h", f"f{i}", "y" * 20_000)])
        self.heat("h")
        several = ("HMGET", "h", "f0", "f1", "f2", "f3", "f4")
        for call in (("HGETALL", "h"), ("HVALS", "h"), several):
            before = self.hits()[call[0].lower()]
            self.same(call, times=ASKED)
            self.assertEqual(self.hits()[call[0].lower()], before, call)
        self.assert_hits(("HGET", "h", "f1"), 2)
        self.assert_hits(("HLEN", "h"), 2)

    def test_a_value_that_becomes_huge_is_not_read_by_the_tracker_for_long(self):
        """A small hash, hot, is replaced by one of 40 MB: the tracker gives up, and comes back."""
        self.load([("HSET", "h", "f", "v"), ("SET", "other", "1")])
        self.heat("h", "other")
        self.assert_hits(("HGETALL", "h"), 2)
        big = ["HSET", "huge"]
        for i in range(40):
            big += [f"f{i}", "x" * 1_000_000]
        self.load([tuple(big)])
        given_up = self.proxy.process.output().count("has become larger than")
        self.load([("RENAME", "huge", "h")])
        for _ in range(3):
            self.same(("HGETALL", "h"))
        again = self.proxy.process.output().count("has become larger than") - given_up
        self.assertLessEqual(again, 2)
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "the tracker")
        self.heat("other")

    def test_several_keys(self):
        self.load([("MSET", "a", "1", "b", "", "c", "3"), ("RPUSH", "l", "x")])
        self.heat("a", "b", "c", "none", "l")
        for call in (
            ("MGET", "a", "b", "c"),
            ("MGET", "c", "none", "a", "a"),
            ("MGET", "a"),
            ("EXISTS", "a", "b", "none"),
            ("EXISTS", "a", "a", "l"),
        ):
            for resp in (2, 3):
                self.assert_hits(call, resp)
        self.same(("MGET", "a", "l", "b"), times=ASKED)  # GET says WRONGTYPE, MGET says nil
        self.same(("MGET", "a", "cold", "b"), times=ASKED)
        writer = self.to_proxy()
        for i in range(50):
            self.same(("MGET", "a", "b", "c"), times=2)
            self.assertEqual(writer.ask("MSET", "a", i, "c", i), b"+OK\r\n")
            self.same(("MGET", "a", "b", "c"))
            self.same(("EXISTS", "a", "none"))

    def test_the_order_of_a_set_is_one_that_the_server_gave(self):
        """While its table grows, a server may give a set in another order without a write."""
        self.load([("SADD", "s") + tuple(f"member:{i}" for i in range(600))])
        self.heat("s")
        expected = sorted(self.direct[2].ask("SMEMBERS", "s").split(b"\r\n"))
        for _ in range(ASKED):
            got = self.through[2].ask("SMEMBERS", "s").split(b"\r\n")
            self.assertEqual(sorted(got), expected)
            self.direct[2].ask("SISMEMBER", "s", "member:1")


class WatchersAndTransactions(ProxyTest):
    """What the session forbids is forbidden for every command."""

    PROXY_OPTIONS = EAGER

    def test_inside_multi_and_after_watch_the_server_answers(self):
        admin, client, other = self.to_server(), self.to_proxy(), self.to_proxy()
        admin.ask("HSET", "h", "f", "1")

        def hits():
            return self.proxy.hits()

        def hot():
            before = hits()
            for _ in range(ASKED):
                client.ask("HGETALL", "h")
            return hits() > before

        until(hot, PATIENCE_S, "h is hot")
        client.ask("WATCH", "h")
        before = hits()
        for _ in range(ASKED):
            client.ask("HGETALL", "h")
        self.assertEqual(hits(), before)
        other.ask("HSET", "h", "f", "2")
        client.ask("MULTI")
        self.assertEqual(client.ask("HGETALL", "h"), b"+QUEUED\r\n")
        self.assertEqual(client.ask("EXEC"), b"*-1\r\n")
        client.send_raw(encode("HSET", "h", "f", "3") + encode("HGET", "h", "f"))
        self.assertEqual(client.read_many(2), [b":0\r\n", b"$1\r\n3\r\n"])


if __name__ == "__main__":
    unittest.main()
