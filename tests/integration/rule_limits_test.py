# SPDX-License-Identifier: Apache-2.0
"""Limits of rules before a real server: what is let through, refused, delayed, or stale."""

import base64
import re
import socket
import struct
import subprocess
import time
import unittest

from harness import (
    HEATSINK, Proxy, RawClient, Redis, ValueClient, encode, need_programs, until,
)  # fmt: skip

# No key is hot by these but for a rule.
COLD = {"detection.hot-qps": 1_000_000, "detection.window": "1s", "detection.tick": "20ms"}
# So slow that nothing becomes free while a test runs, however slow the machine.
HOURLY = "limit.rate=1/h"
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: close() resets the connection


class LimitsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def start(self, *rules, options=None):
        with ValueClient(self.redis.port) as server:
            server("FLUSHALL")
            server("CONFIG", "RESETSTAT")
        self.proxy = Proxy(self.redis, {**COLD, **(options or {})}, rules=rules)
        self.addCleanup(self.proxy.stop)
        self.client = self.connect()

    def connect(self, **how):
        client = RawClient(self.proxy.port, **how)
        self.addCleanup(client.close)
        return client

    def ask(self, *args):
        return self.client.ask(*args)

    def calls(self, command):
        """How often the server has run it."""
        with ValueClient(self.redis.port) as server:
            told = server("INFO", "commandstats").decode()
        found = re.search(f"cmdstat_{command}:calls=([0-9]+)", told)
        return int(found.group(1)) if found else 0

    def limited(self, outcome, rule):
        row = f'heatsink_limited_total{{rule="{rule}",outcome="{outcome}"}} '
        (line,) = [each for each in self.proxy.metrics().splitlines() if each.startswith(row)]
        return float(line.split()[-1])


class Refused(LimitsTest):
    BUSY = rb"-BUSY heatsink: key limited to 1/h, retry in (3600|35[0-9][0-9]) s\r\n"

    def test_the_answer_byte_for_byte_in_both_protocols(self):
        self.start(f"match=k:*,{HOURLY},limit.burst=2")
        for resp in (2, 3):
            client, key = self.connect(resp=resp), f"k:{resp}"
            self.assertEqual(client.ask("SET", key, "1"), b"+OK\r\n")
            self.assertEqual(client.ask("GET", key), b"$1\r\n1\r\n")
            self.assertRegex(client.ask("GET", key), b"^" + self.BUSY + b"$")
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        self.assertEqual(self.calls("get"), 2)
        self.assertEqual(self.limited("rejected", "k:*"), 2)

    def test_replies_of_a_pipeline_keep_their_order(self):
        self.start(f"match=k,{HOURLY},limit.burst=1")
        self.client.send_raw(
            encode("ECHO", "a") + encode("GET", "k") * 3 + encode("ECHO", "b") + encode("GET", "x")
        )
        replies = self.client.read_many(6)
        self.assertEqual(replies[:2], [b"$1\r\na\r\n", b"$-1\r\n"])
        self.assertTrue(all(reply.startswith(b"-BUSY") for reply in replies[2:4]), replies)
        self.assertEqual(replies[4:], [b"$1\r\nb\r\n", b"$-1\r\n"])

    def test_of_several_keys_none_is_taken_and_the_refusing_one_is_named(self):
        self.start(f"match=k:*,{HOURLY},limit.burst=2")
        for _ in range(2):
            self.ask("GET", "k:full")
        for _ in range(5):
            self.assertIn(b"-BUSY heatsink: key k:full limited", self.ask("MGET", "k:1", "k:full"))
        self.assertEqual(self.ask("MGET", "k:1", "other"), b"*2\r\n$-1\r\n$-1\r\n")
        self.assertEqual(self.ask("DEL", "k:1"), b":0\r\n")
        self.assertTrue(self.ask("DEL", "k:1").startswith(b"-BUSY"))

    def test_names_are_redacted(self):
        self.start(
            f"match=k:*,{HOURLY},limit.burst=1", f"match=secret,{HOURLY},limit.per=client",
            options={"privacy.redact-keys": "hash"},
        )  # fmt: skip
        for name in ("k:1", "secret"):
            self.ask("GET", name)
        self.assertRegex(self.ask("MGET", "k:2", "k:1"), rb"^-BUSY heatsink: key key#[0-9a-f]+ ")
        self.assertRegex(self.ask("GET", "secret"), rb"^-BUSY heatsink: client, for keys of rule k")
        self.assertNotIn("secret", self.proxy.metrics())

    def test_a_transaction_with_a_refused_command_is_aborted(self):
        self.start(f"match=k,{HOURLY},limit.burst=1")
        self.assertEqual(self.ask("MULTI"), b"+OK\r\n")
        self.assertEqual(self.ask("SET", "k", "1"), b"+QUEUED\r\n")
        self.assertTrue(self.ask("SET", "k", "2").startswith(b"-BUSY"))
        self.assertEqual(self.ask("SET", "other", "1"), b"+QUEUED\r\n")
        aborted = b"-EXECABORT Transaction discarded because of previous errors.\r\n"
        self.assertEqual(self.ask("EXEC"), aborted)
        self.assertEqual(self.ask("EXISTS", "other"), b":0\r\n")
        self.client.send_raw(encode("MULTI") + encode("GET", "k") + encode("EXEC") + encode("PING"))
        replies = self.client.read_many(4)
        self.assertTrue(replies[1].startswith(b"-BUSY"), replies)
        self.assertEqual((replies[2], replies[3]), (aborted, b"+PONG\r\n"))

    def test_scripts_by_their_declared_keys_and_what_has_no_keys_never(self):
        self.start(f"match=*,{HOURLY},limit.burst=1")
        script = ("EVAL", "return 7", 1, "k")
        self.assertEqual(self.ask(*script), b":7\r\n")
        self.assertTrue(self.ask(*script).startswith(b"-BUSY"))
        self.assertTrue(self.ask("GET", "k").startswith(b"-BUSY"))
        for command in (("PING",), ("SELECT", 1), ("CLIENT", "GETNAME"), ("DBSIZE",), ("HELLO", 2)):
            for _ in range(3):
                self.assertFalse(self.ask(*command).startswith(b"-BUSY"), command)
        self.assertEqual(self.ask("GET", "k"), b"$-1\r\n", "another database: another key")

    def test_a_big_request_is_refused_too_and_the_rest_of_it_skipped(self):
        self.start(f"match=k,{HOURLY},limit.burst=1", options={"proxy.stream-threshold": "16kb"})
        self.assertEqual(self.ask("SET", "k", b"x" * 100_000), b"+OK\r\n")
        self.assertTrue(self.ask("SET", "k", b"y" * 100_000).startswith(b"-BUSY"))
        self.assertEqual(self.ask("PING"), b"+PONG\r\n")
        self.assertEqual(self.calls("set"), 1)

    def test_of_writes_per_client_survives_a_reconnect(self):
        self.start(f"match=k:*,{HOURLY},limit.burst=3,limit.of=writes,limit.per=client")
        for i in range(3):
            self.assertEqual(self.connect().ask("SET", f"k:{i}", "v"), b"+OK\r\n")
        again = self.connect()
        busy = b"-BUSY heatsink: client, for keys of rule k:*, limited to 1/h, retry in "
        self.assertTrue(again.ask("SET", "k:9", "v").startswith(busy))
        self.assertEqual(again.ask("GET", "k:1"), b"$1\r\nv\r\n")


class Hits(LimitsTest):
    def until_hit(self, key):
        hits = self.proxy.hits()

        def hit():
            for _ in range(5):
                self.ask("GET", key)
            return self.proxy.hits() > hits

        until(hit, what="a local copy")

    def exhaust(self, key):
        """Asks the server for what has no copy until nothing is let through."""
        reply = b""
        while not reply.startswith(b"-BUSY"):
            self.client.send_raw(encode("OBJECT", "ENCODING", key) * 500)
            reply = self.client.read_many(500)[-1]

    def test_hits_are_free_of_upstream(self):
        self.start(f"match=k,hot-qps=5,warm-qps=1,{HOURLY},limit.burst=5000")
        self.ask("SET", "k", "v")
        self.until_hit("k")
        for _ in range(3):
            self.client.send_raw(encode("GET", "k") * 2500)
            self.assertEqual(set(self.client.read_many(2500)), {b"$1\r\nv\r\n"})

    def test_of_all_counts_hits(self):
        self.start(f"match=k,hot-qps=5,warm-qps=1,{HOURLY},limit.burst=5000,limit.of=all")
        self.ask("SET", "k", "v")
        self.until_hit("k")
        hits = self.proxy.hits()
        self.client.send_raw(encode("GET", "k") * 5001)
        self.assertTrue(self.client.read_many(5001)[-1].startswith(b"-BUSY"))
        self.assertGreater(self.proxy.hits(), hits)

    def test_the_key_row_tells_what_is_held_back(self):
        self.start(f"match=k,hot-qps=5,warm-qps=1,{HOURLY},limit.burst=1")

        def told():
            for _ in range(20):
                self.ask("GET", "k")
            for key in self.proxy.api("hotkeys")["keys"]:
                if base64.b64decode(key["name_base64"]) == b"k" and key["limited_rate"] > 0:
                    return key
            return None

        key = until(told, what="a key that is hot although nearly all is refused")
        counted = "counting commands that go to the server"
        self.assertEqual(key["limit"], f"1/h per key, {counted}; over it: reject")

    def test_stale_gives_the_last_copy_of_a_key_that_has_changed(self):
        rule = f"match=k,hot-qps=5,warm-qps=1,{HOURLY},limit.burst=5000"
        self.start(rule + ",limit.over=stale,limit.stale-max=1h",
                   options={"cache.expire-after-write": "1h"})  # fmt: skip
        self.ask("SET", "k", "old")
        self.until_hit("k")
        self.exhaust("k")
        self.assertTrue(self.ask("SET", "k", "mine").startswith(b"-BUSY"), "writes have none")
        with ValueClient(self.redis.port) as server:
            server("SET", "k", "new")

        def stale():
            self.assertEqual(self.ask("GET", "k"), b"$3\r\nold\r\n")
            return self.limited("stale", "k") > 0

        until(stale, what="a copy that is served without a proof")
        self.assertEqual(self.ask("MULTI"), b"+OK\r\n")
        self.assertTrue(self.ask("GET", "k").startswith(b"-BUSY"), "not within MULTI")


class Delayed(LimitsTest):
    def test_all_are_answered_in_order_and_the_server_gets_its_rate(self):
        self.start("match=k,limit.rate=50/s,limit.burst=1,limit.over=delay,limit.delay-max=1m")
        begun = time.monotonic()
        clients = [self.connect() for _ in range(3)]
        for client in clients:
            client.send_raw(b"".join(encode("INCR", "k") + encode("ECHO", i) for i in range(10)))
        for client in clients:
            replies = client.read_many(20)
            self.assertEqual(replies[1::2], [b"$1\r\n%d\r\n" % i for i in range(10)])
            numbers = [int(reply[1:]) for reply in replies[0::2]]
            self.assertEqual(numbers, sorted(numbers))
        self.assertGreaterEqual(time.monotonic() - begun, 29 / 50 - 0.01)
        self.assertEqual(self.calls("incr"), 30)
        self.assertGreater(self.limited("delayed", "k"), 0)
        self.assertEqual(self.limited("rejected", "k"), 0)
        self.assertEqual(self.proxy.metric("heatsink_limit_waiting"), 0)

    def test_who_would_wait_too_long_is_refused(self):
        self.start("match=k,limit.rate=1/m,limit.burst=1,limit.over=delay,limit.delay-max=1m")
        self.ask("GET", "k")
        self.connect().send("GET", "k")
        until(lambda: self.proxy.metric("heatsink_limit_waiting") == 1, what="it waits")
        self.assertRegex(self.ask("GET", "k"), b"^-BUSY heatsink: key limited to 1/m, retry in ")

    def test_a_client_that_leaves_while_it_waits_is_forgotten(self):
        self.start("match=k,limit.rate=1/m,limit.burst=1,limit.over=delay,limit.delay-max=1m")
        self.ask("GET", "k")
        for _ in range(5):
            with RawClient(self.proxy.port) as leaves:
                leaves.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                leaves.send("GET", "k")
                until(lambda: self.proxy.metric("heatsink_limit_waiting") == 1, what="it waits")
            until(lambda: self.proxy.metric("heatsink_limit_waiting") == 0, what="it is gone")

    def test_a_client_that_has_only_finished_sending_gets_its_turns(self):
        self.start("match=k,limit.rate=20/s,limit.burst=1,limit.over=delay,limit.delay-max=1m")
        with RawClient(self.proxy.port) as half:
            half.send_raw(encode("INCR", "k") * 5)
            half.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(half.read_to_end(), b":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n")

    def test_a_client_that_has_closed_takes_a_turn_or_two_and_no_more(self):
        """Its end looks like that of one who still reads, until it is told something."""
        self.start("match=k,limit.rate=5/s,limit.burst=1,limit.over=delay,limit.delay-max=1m")
        with RawClient(self.proxy.port) as gone:
            gone.send_raw(encode("INCR", "k") * 100)
            self.assertEqual(gone.read(), b":1\r\n")
            until(lambda: self.proxy.metric("heatsink_clients") == 2, what="it is seen")
        until(lambda: self.proxy.metric("heatsink_clients") == 1, what="it is gone")
        self.assertLess(self.calls("incr"), 50)
        self.assertEqual(self.proxy.metric("heatsink_limit_waiting"), 0)


class HeldBack(LimitsTest):
    """Who is refused, asks again at once, and asks for nothing else."""

    AT_ONCE = 64  # kAtOnce of refusal_pace.h
    RULE = f"match=k,{HOURLY},limit.burst=1"

    def refused(self, count):
        for _ in range(count):
            self.assertTrue(self.ask("GET", "k").startswith(b"-BUSY heatsink: key limited to 1/h"))

    def held(self):
        return self.proxy.metric("heatsink_limit_refusals_held_total")

    def test_is_told_late(self):
        self.start(self.RULE, options={"limits.refusal-delay": "20ms"})
        self.ask("GET", "k")
        self.refused(self.AT_ONCE)
        self.assertEqual(self.held(), 0)
        begun = time.monotonic()
        self.refused(10)
        self.assertGreaterEqual(time.monotonic() - begun, 10 * 0.020)
        self.assertEqual(self.held(), 10)
        self.assertEqual(self.limited("rejected", "k"), self.AT_ONCE + 10)

    def test_any_other_request_ends_that(self):
        self.start(self.RULE, options={"limits.refusal-delay": "1s"})
        self.ask("GET", "k")
        for other in (("PING",), ("GET", "free"), ("SET", "free", "1")):
            self.refused(self.AT_ONCE)
            self.assertFalse(self.ask(*other).startswith(b"-"))
        self.assertEqual(self.held(), 0)

    def test_a_pipeline_is_answered_in_order_and_waits_now_and_then(self):
        self.start(self.RULE, options={"limits.refusal-delay": "5ms"})
        self.ask("GET", "k")
        many = 10 * self.AT_ONCE
        self.client.send_raw(encode("GET", "k") * many + encode("ECHO", "end"))
        replies = self.client.read_many(many + 1)
        self.assertTrue(all(reply.startswith(b"-BUSY") for reply in replies[:-1]))
        self.assertEqual(replies[-1], b"$3\r\nend\r\n")
        self.assertGreaterEqual(self.held(), 9)
        self.assertLess(self.held(), many / 2)

    def test_a_big_request_is_held_back_too_and_the_rest_of_it_skipped(self):
        self.start(self.RULE, options={"proxy.stream-threshold": "16kb"})
        self.ask("GET", "k")
        self.refused(self.AT_ONCE)
        self.assertTrue(self.ask("SET", "k", b"y" * 100_000).startswith(b"-BUSY"))
        self.assertEqual(self.held(), 1)
        self.assertEqual(self.ask("PING"), b"+PONG\r\n")

    def test_who_has_finished_sending_is_told_and_who_has_gone_is_forgotten(self):
        self.start(self.RULE, options={"limits.refusal-delay": "50ms"})
        self.ask("GET", "k")
        with RawClient(self.proxy.port) as half:
            half.send_raw(encode("GET", "k") * (self.AT_ONCE + 1))
            half.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(half.read_to_end().count(b"-BUSY"), self.AT_ONCE + 1)
        with RawClient(self.proxy.port) as leaves:
            leaves.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            leaves.send_raw(encode("GET", "k") * (self.AT_ONCE + 1))
            until(lambda: self.held() == 2, what="it is held back")
        until(lambda: self.proxy.metric("heatsink_clients") == 1, what="it is gone")

    def test_by_option_nobody_is(self):
        self.start(self.RULE, options={"limits.refusal-delay": "0"})
        self.ask("GET", "k")
        self.refused(3 * self.AT_ONCE)
        self.assertEqual(self.held(), 0)


class Automatic(LimitsTest):
    def test_a_very_hot_key_gets_a_limit_by_itself(self):
        self.start(options={"limits.automatic-qps": 50, "detection.warm-qps": 5,
                            "cache.enabled": "no"})  # fmt: skip

        def limited():
            self.client.send_raw(encode("GET", "hot") * 200)
            return any(reply.startswith(b"-BUSY") for reply in self.client.read_many(200))

        until(limited, what="an automatic limit")
        told = [e for e in self.proxy.api("events")["events"] if e["verdict"] == "limited"]
        self.assertEqual([event["name"] for event in told], ["hot"])
        self.assertIn(">= limits.automatic-qps 50: ", told[0]["reason"])
        line = "hot (db 0) is limited: "
        until(lambda: line in self.proxy.process.output(), what="the log's line")
        (key,) = [k for k in self.proxy.api("hotkeys")["keys"] if k["name"] == "hot"]
        self.assertTrue(key["limit"].endswith("(limits.automatic-qps)"), key["limit"])
        self.assertEqual(self.ask("GET", "cold"), b"$-1\r\n")
        self.assertEqual(self.proxy.metric("heatsink_automatic_limits"), 1)


class Faults(unittest.TestCase):
    def test_config_check_names_them(self):
        need_programs()
        for rule, words in {
            "match=a,limit.rate=0/s": "0 would refuse everything",
            "match=a,limit.burst=5": "limit.rate is missing",
            "match=a,limit.rate=5/s,limit.over=stale,level=off": "level: off excludes",
            "match=a,limit.rate=5/s,limit.over=later": "reject | delay | stale",
        }.items():
            run = subprocess.run(
                [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--rule", rule],
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(words, run.stderr)


if __name__ == "__main__":
    unittest.main()
