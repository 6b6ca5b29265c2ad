#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of one server meet a cluster: command by command, they see what one server answers."""

import re
import socket
import unittest

from cluster_stage import ClusterTest
from harness import RawClient, RedisError, encode, until

# One key of each master: their slots are 3300 (first), 7365 (second) and 15495 (third).
FIRST, SECOND, THIRD = "b", "c", "a"
CROSSSLOT = b"-CROSSSLOT Keys in request don't hash to the same slot\r\n"
BIG = b"v" * 3_000_000


class AsOneServer(ClusterTest):
    """The same commands to one server and to the proxy: the bytes of the replies are the same."""

    def same(self, *commands, resp=2):
        one, many = self.to_server(resp=resp), self.to_proxy(resp=resp)
        for command in commands:
            words = command.split() if isinstance(command, str) else command
            expected, got = one.ask(*words), many.ask(*words)
            self.assertEqual(got[:2000], expected[:2000], words)
            self.assertEqual(len(got), len(expected), words)

    def test_commands_with_one_key(self):
        for key in (FIRST, SECOND, THIRD):
            self.same(
                f"SET {key} 1", f"GET {key}", f"INCR {key}", f"APPEND {key} xy", f"STRLEN {key}",
                f"GETDEL {key}", f"GET {key}", f"RPUSH {key} x y z", f"LRANGE {key} 0 -1",
                f"GET {key}", f"DEL {key}", f"HSET {key} f v", f"HGETALL {key}",
                f"EXPIRE {key} 100",
                f"TYPE {key}", f"OBJECT ENCODING {key}", f"DEL {key}", f"XADD {key} 1-1 f v",
                f"XREAD COUNT 1 STREAMS {key} 0", f"SORT {key}", f"DEL {key}",
                f"ZADD {key} 1 m 2 n",
                f"ZRANGEBYSCORE {key} -inf +inf WITHSCORES", f"SORT {key} DESC ALPHA",
                f"DUMP nothing{key}", f"DEL {key}",
            )  # fmt: skip

    def test_several_keys_of_several_nodes(self):
        for resp in (2, 3):
            self.same(
                "MSET a 1 b 2 c 3", "MGET a b c nothing b", "EXISTS a b c a nothing",
                "TOUCH a b nothing", "UNLINK a nothing", "DEL b c nothing", "MGET a b c",
                "MGET", "DEL", "EXISTS", "MSET", "MSET a", "MSET a 1 b", "MSET {x}a 1 {x}b",
                "MSETNX {x}a 1 {x}b", resp=resp,
            )  # fmt: skip

    def test_an_error_of_one_part(self):
        self.same("LPUSH a x", "MSET b 1 c 2", "MGET a b c", "DEL a b c")

    def test_errors(self):
        self.same(
            "NOTHING a b", "GET", "GET a b", "SET a", "EXEC", "DISCARD", "UNWATCH", "HGET a",
            "BLPOP", "BLPOP a notanumber", "SELECT x", "CLIENT NOTHING", "EVAL", "EVALSHA x 0",
            "SCAN x", "SCAN", "SCAN 0 COUNT 0", "SCRIPT NOTHING", "SUBSCRIBE", "OBJECT NOTHING a",
            "RANDOMKEY x", "DBSIZE x", "KEYS", "WAIT x y",
        )  # fmt: skip

    def test_plain_commands(self):
        self.same(
            "PING", "PING x", "ECHO hello", "CLIENT SETNAME me", "CLIENT GETNAME", "SELECT 0",
            "COMMAND COUNT", "ASKING", "WAIT 0 0", "RESET",
        )  # fmt: skip

    def test_hello_says_standalone(self):
        for version in (2, 3):
            one, many = self.to_server(), self.to_proxy()
            hello = one.ask("HELLO", version), many.ask("HELLO", version)
            without_ids = [each[: each.index(b"id\r\n")] for each in hello]
            self.assertEqual(without_ids[1], without_ids[0])
            self.assertIn(b"standalone", hello[1])

    def test_counting_and_emptying(self):
        self.same("FLUSHALL", "DBSIZE", "RANDOMKEY", "KEYS *", "MSET a 1 b 2 c 3", "DBSIZE",
                  "KEYS nothing*", "KEYS a", "FLUSHDB", "DBSIZE", "FLUSHALL ASYNC")  # fmt: skip
        client = self.to_values()
        client("MSET", *(part for i in range(60) for part in (f"k{i}", i)))
        self.assertEqual(client("DBSIZE"), 60)
        self.assertEqual(len(set(client("KEYS", "*"))), 60)
        self.assertTrue(client("RANDOMKEY").startswith(b"k"))
        found = {client("RANDOMKEY") for _ in range(200)}
        owners = {self.cluster.owner(key).port for key in found}
        self.assertEqual(len(owners), 3)

    def test_inline(self):
        one, many = self.to_server(), self.to_proxy()
        for client in (one, many):
            client.send_raw(b"SET a 1\r\nMGET a b c\nGET a\r\n")
        self.assertEqual(many.read_many(3), one.read_many(3))

    def test_client_reply(self):
        pipeline = [
            ("CLIENT", "REPLY", "SKIP"), ("MSET", "a", "1", "b", "2"), ("MGET", "a", "b"),
            ("CLIENT", "REPLY", "OFF"), ("SET", "c", "3"), ("MGET", "a", "b"), ("DEL", "a", "b"),
            ("CLIENT", "REPLY", "ON"), ("EXISTS", "a", "b", "c"),
        ]  # fmt: skip
        raw = b"".join(encode(*each) for each in pipeline)
        one, many = self.to_server(), self.to_proxy()
        for client in (one, many):
            client.send_raw(raw)
        expected = one.read_many(3)
        self.assertEqual(many.read_many(3), expected)

    def test_big_values_and_replies(self):
        client = self.to_values()
        for key in (FIRST, SECOND, THIRD):
            self.assertEqual(client("SET", key, BIG), "OK")
            self.assertEqual(client("GET", key), BIG)
        self.assertEqual(client("MGET", "a", "b", "c", "no"), [BIG, BIG, BIG, None])
        replies = client.pipeline([("GET", "a"), ("SET", "b", "x"), ("GET", "b"), ("GET", "c")])
        self.assertEqual(replies, [BIG, "OK", b"x", BIG])
        self.assertEqual(client("MSET", "a", BIG, "b", BIG), "OK")
        self.assertEqual(client("DEL", "a", "b", "c"), 3)

    def test_the_order_of_a_pipeline(self):
        client = self.to_values()
        client("DEL", "a", "b", "c")
        calls, expected = [], []
        for i in range(1, 301):
            for key in (FIRST, SECOND, THIRD):
                calls.append(("INCR", key))
                expected.append(i)
            calls.append(("MGET", "a", "b", "c", "nothing"))
            expected.append([b"%d" % i] * 3 + [None])
            if i % 50 == 0:
                calls += [("MULTI",), ("GET", "b"), ("EXEC",), ("EVAL", "return 7", 1, "c")]
                expected += ["OK", "QUEUED", [b"%d" % i], 7]
        self.assertEqual(client.pipeline(calls), expected)


class AcrossSlots(ClusterTest):
    """What a cluster cannot do with keys of several slots."""

    def test_refused(self):
        client = self.to_proxy()
        for command in (
            "MSETNX a 1 b 2", "RENAME a b", "SMOVE a b m", "SINTERSTORE a b c", "BITOP AND a b c",
            "PFMERGE a b", "LMOVE a b LEFT LEFT", "RPOPLPUSH a b", "SUNION a b", "PFCOUNT a b",
            "BLPOP a b 1", "XREAD STREAMS a b 0 0", "XREAD BLOCK 1 STREAMS a b 0 0", "COPY a b",
            "SORT a STORE b", "ZUNIONSTORE a 2 b c", "EVAL x 2 a b", "WATCH a b",
        ):  # fmt: skip
            self.assertEqual(client.ask(*command.split()), CROSSSLOT, command)
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")

    def test_mset_is_split_or_refused(self):
        proxy = self.open({"upstream.cross-slot": "refuse"})
        client = self.keep(RawClient(proxy.port))
        self.assertEqual(client.ask("MSET", "a", 1, "b", 2), CROSSSLOT)
        self.assertEqual(client.ask("MSET", "{x}a", 1, "{x}b", 2), b"+OK\r\n")
        got = client.ask("MGET", "{x}a", "{x}b", "a")
        self.assertEqual(got, b"*3\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n")

    def test_databases(self):
        client = self.to_values()
        refused = self.cluster.masters[0]("SELECT", 1)  # Valkey 9: out of range
        self.assertIsInstance(refused, RedisError)
        self.assertEqual(client("SELECT", 1), refused)
        self.assertEqual(client("SELECT", 0), "OK")
        self.assertTrue(client("SWAPDB", 0, 1).startswith("ERR"))
        self.assertTrue(client("MOVE", "a", 1).startswith("ERR"))


class Transactions(ClusterTest):
    def test_each_node(self):
        client = self.to_values()
        for key in (FIRST, SECOND, THIRD):
            client("DEL", key)
            calls = [("MULTI",), ("SET", key, 1), ("INCR", key), ("GET", key), ("EXEC",)]
            expected = ["OK", "QUEUED", "QUEUED", "QUEUED", ["OK", 2, b"2"]]
            self.assertEqual(client.pipeline(calls), expected)

    def test_empty_and_without_keys(self):
        client = self.to_values()
        self.assertEqual(client.pipeline([("MULTI",), ("EXEC",)]), ["OK", []])
        calls = [("MULTI",), ("PING",), ("ECHO", "x"), ("EXEC",)]
        self.assertEqual(client.pipeline(calls), ["OK", "QUEUED", "QUEUED", ["PONG", b"x"]])

    def test_another_slot_is_refused_at_once(self):
        client = self.to_values()
        client("SET", "b", "before")
        replies = client.pipeline([("MULTI",), ("SET", "b", 1), ("SET", "a", 2), ("EXEC",)])
        self.assertEqual(replies[:2], ["OK", "QUEUED"])
        self.assertIn("CROSSSLOT", replies[2])
        self.assertIn("EXECABORT", replies[3])
        self.assertEqual(client("GET", "b"), b"before")

    def test_discard(self):
        client = self.to_values()
        client("SET", "b", "before")
        self.assertEqual(client.pipeline([("MULTI",), ("SET", "b", 1), ("DISCARD",)])[2], "OK")
        self.assertEqual(client("GET", "b"), b"before")
        self.assertIn("without MULTI", client("EXEC"))

    def test_an_error_at_run_time(self):
        client = self.to_values()
        client("SET", "b", "text")
        replies = client.pipeline([("MULTI",), ("INCR", "b"), ("SET", "b", 1), ("EXEC",)])
        self.assertIn("not an integer", replies[3][0])
        self.assertEqual(replies[3][1], "OK")

    def test_watch(self):
        client, other = self.to_values(), self.to_values()
        for key in (FIRST, SECOND, THIRD):
            client("SET", key, 1)
            self.assertEqual(client("WATCH", key), "OK")
            self.assertEqual(client("GET", key), b"1")
            calls = [("MULTI",), ("INCR", key), ("EXEC",)]
            self.assertEqual(client.pipeline(calls), ["OK", "QUEUED", [2]])
            self.assertEqual(client("WATCH", key), "OK")
            other("SET", key, 5)
            self.assertEqual(client.pipeline(calls), ["OK", "QUEUED", None])
            self.assertEqual(client("GET", key), b"5")
            self.assertEqual(client("WATCH", key), "OK")
            other("SET", key, 6)
            self.assertEqual(client("UNWATCH"), "OK")
            self.assertEqual(client.pipeline(calls), ["OK", "QUEUED", [7]])

    def test_a_watch_and_another_slot(self):
        client, other = self.to_values(), self.to_values()
        client("MSET", "a", 1, "b", 1)
        self.assertEqual(client("WATCH", "a"), "OK")
        # A key of another node, read on the way: as many programs do.
        self.assertEqual(client("GET", "b"), b"1")
        other("SET", "a", 2)
        self.assertEqual(client.pipeline([("MULTI",), ("SET", "a", 3), ("EXEC",)])[2], None)

    def test_resp3(self):
        client = self.to_proxy(resp=3)
        client.ask("DEL", "a")
        for each in (("MULTI",), ("HSET", "a", "f", "v"), ("HGETALL", "a"), ("EXEC",)):
            client.send(*each)
        expected = [b"+OK\r\n", b"+QUEUED\r\n", b"+QUEUED\r\n"]
        expected.append(b"*2\r\n:1\r\n%1\r\n$1\r\nf\r\n$1\r\nv\r\n")
        self.assertEqual(client.read_many(4), expected)


class Waiting(ClusterTest):
    def test_pops_on_each_node(self):
        pusher = self.to_values()
        for key in (FIRST, SECOND, THIRD):
            waiter = self.to_values()
            waiter.send("BLPOP", key, 30)
            until(lambda k=key: self.blocked(k) == 1, what="the pop waits")
            self.assertEqual(pusher("RPUSH", key, "x"), 1)
            self.assertEqual(waiter.read(), [key.encode(), b"x"])

    def test_the_wait_of_a_client_that_leaves_is_ended_once(self):
        self.to_values()("GET", FIRST)  # opens the connection to the node that ends the wait
        before = self.calls(FIRST)
        waiter = self.to_values()
        waiter.send("BLPOP", FIRST, 0)
        until(lambda: self.blocked(FIRST) == 1, what="the pop waits")
        waiter.close()
        until(lambda: self.calls(FIRST)["client|unblock"] > before["client|unblock"],
              what="the proxy ends the wait")  # fmt: skip
        until(lambda: self.blocked(FIRST) == 0, what="no command waits")
        pusher = self.to_values()
        self.assertEqual(pusher("RPUSH", FIRST, "x"), 1)
        self.assertEqual(pusher("LPOP", FIRST), b"x")
        after = self.calls(FIRST)
        for command, calls in before.items():
            self.assertEqual(after[command], calls + 1, command)

    def calls(self, key):
        stats = self.cluster.owner(key)("INFO", "commandstats").decode()
        calls = dict(re.findall(r"cmdstat_(\S+?):calls=(\d+)", stats))
        return {name: int(calls.get(name, 0)) for name in ("blpop", "client|unblock")}

    def test_an_administrator_ends_a_wait(self):
        node = self.cluster.owner(FIRST)
        waiter = self.to_values()
        waiter.send("BLPOP", FIRST, 0)
        until(lambda: self.blocked(FIRST) == 1, what="the pop waits")
        line = next(line for line in node("CLIENT", "LIST").decode().splitlines()
                    if " cmd=blpop " in line)  # fmt: skip
        self.assertEqual(node("CLIENT", "UNBLOCK", re.match(r"id=(\d+)", line)[1], "ERROR"), 1)
        self.assertIn("UNBLOCKED", str(waiter.read()))
        self.assertEqual(waiter("PING"), "PONG")

    def blocked(self, key):
        info = self.cluster.owner(key)("INFO", "clients").decode()
        return int(info.split("blocked_clients:")[1].split()[0])

    def test_a_time_out(self):
        client = self.to_values()
        self.assertIsNone(client("BLPOP", "a", "0.05"))
        self.assertIsNone(client("XREAD", "BLOCK", 50, "STREAMS", "b", "$"))
        self.assertEqual(client("GET", "c") or b"", client("GET", "c") or b"")

    def test_a_stream(self):
        waiter, writer = self.to_values(), self.to_values()
        waiter.send("XREAD", "BLOCK", 0, "STREAMS", "b{s}", "$")
        until(lambda: self.blocked("b{s}") == 1, what="the read waits")
        writer("XADD", "b{s}", "1-1", "f", "v")
        self.assertEqual(waiter.read(), [[b"b{s}", [[b"1-1", [b"f", b"v"]]]]])
        writer("DEL", "b{s}")


class Scripts(ClusterTest):
    def test_eval_on_each_node(self):
        client = self.to_values()
        for key in (FIRST, SECOND, THIRD):
            text = "return redis.call('SET', KEYS[1], ARGV[1])"
            self.assertEqual(client("EVAL", text, 1, key, 7), "OK")
            self.assertEqual(client("GET", key), b"7")
        self.assertEqual(client("EVAL", "return 5", 0), 5)

    def test_a_script_of_one_node_is_known_to_all(self):
        client = self.to_values()
        sha = client("SCRIPT", "LOAD", "return ARGV[1]")
        self.assertEqual(client("SCRIPT", "EXISTS", sha, "0" * 40), [1, 0])
        for key in (FIRST, SECOND, THIRD):
            self.assertEqual(client("EVALSHA", sha, 1, key, "x"), b"x")

    def test_evalsha_after_eval_on_another_node(self):
        client, other = self.to_values(), self.to_values()
        text = "return {KEYS[1], ARGV[1]}"
        self.assertEqual(client("EVAL", text, 1, "a", "x"), [b"a", b"x"])
        import hashlib

        sha = hashlib.sha1(text.encode()).hexdigest()
        for asks in (client, other):
            for key in (FIRST, SECOND, THIRD):
                self.assertEqual(asks("EVALSHA", sha, 1, key, "y"), [key.encode(), b"y"])
                self.assertEqual(asks("EVALSHA_RO", sha.upper(), 1, key, "y"), [key.encode(), b"y"])
        replies = client.pipeline([("MULTI",), ("EVALSHA", sha, 1, "b", "z"), ("EXEC",)])
        self.assertEqual(replies[2], [[b"b", b"z"]])

    def test_a_node_that_forgot(self):
        client = self.to_values()
        sha = client("SCRIPT", "LOAD", "return 'kept' .. ARGV[1]")
        for node in self.cluster.masters:
            node("SCRIPT", "FLUSH")  # as a node that was restarted, or is new
        for key in (FIRST, SECOND, THIRD):
            self.assertEqual(client("EVALSHA", sha, 1, key, 1), b"kept1")
        for node in self.cluster.masters:
            node("SCRIPT", "FLUSH")
        replies = client.pipeline([("MULTI",), ("EVALSHA", sha, 1, "b", 2), ("EXEC",)])
        self.assertEqual(replies[2], [b"kept2"])
        replies = client.pipeline([("EVALSHA", sha, 1, key, i) for i in range(5) for key in "abc"])
        self.assertEqual(replies, [b"kept%d" % i for i in range(5) for _ in "abc"])

    def test_a_flush_is_for_all(self):
        client = self.to_values()
        sha = client("SCRIPT", "LOAD", "return 9")
        self.assertEqual(client("SCRIPT", "FLUSH"), "OK")
        for key in (FIRST, SECOND, THIRD):
            self.assertIn("NOSCRIPT", client("EVALSHA", sha, 1, key))
        self.assertEqual(client("SCRIPT", "EXISTS", sha), [0])

    def test_an_error_that_a_script_makes_up(self):
        # It leads to no node that the cluster does not name, however long the proxy looks for it.
        with socket.create_server(("127.0.0.1", 0)) as stranger:
            port = stranger.getsockname()[1]
            client = self.to_values()
            client("SET", "a", 0)
            text = "redis.call('INCR', KEYS[1]) return redis.error_reply('MOVED 1 127.0.0.1:%d')"
            self.assertIn("do not agree", client("EVAL", text % port, 1, "a"))
            self.assertEqual(client("GET", "a"), b"1")
            stranger.setblocking(False)
            with self.assertRaises(BlockingIOError):
                stranger.accept()

    def test_functions(self):
        client = self.to_values()
        code = "#!lua name=lib\nredis.register_function('f', function(k, a) return k[1] end)"
        self.assertEqual(client("FUNCTION", "LOAD", "REPLACE", code), b"lib")
        for key in (FIRST, SECOND, THIRD):
            self.assertEqual(client("FCALL", "f", 1, key), key.encode())
        self.assertEqual(client("FUNCTION", "DELETE", "lib"), "OK")
        self.assertIn("Function not found", client("FCALL", "f", 1, "a"))
        self.assertIn("not found", client("FUNCTION", "DELETE", "lib"))

    def test_a_slow_script_is_killed(self):
        client, killer = self.to_values(), self.to_values()
        for node in self.cluster.masters:
            node("CONFIG", "SET", "busy-reply-threshold", 50)
        client.send("EVAL", "while true do end", 1, "a")
        until(lambda: killer("SCRIPT", "KILL") == "OK", what="the kill")
        self.assertIn("killed", client.read())
        self.assertIn("NOTBUSY", killer("SCRIPT", "KILL"))


class Scans(ClusterTest):
    def all_of(self, client, *args):
        cursor, found = b"0", []
        while True:
            cursor, keys = client("SCAN", cursor, *args)
            found += keys
            if cursor == b"0":
                return found

    def test_complete(self):
        client = self.to_values()
        client("FLUSHALL")
        names = {f"scan{i}".encode() for i in range(2000)}
        client.pipeline([("SET", name, 1) for name in names])
        self.assertEqual(set(self.all_of(client)), names)
        self.assertEqual(sorted(self.all_of(client, "COUNT", 100)), sorted(names))
        expected = {name for name in names if name.startswith(b"scan1")}
        self.assertEqual(set(self.all_of(client, "MATCH", "scan1*", "COUNT", 500)), expected)
        self.assertEqual(self.all_of(client, "TYPE", "list"), [])

    def test_many_clients_share_a_scan(self):
        first, second = self.to_values(), self.to_values()
        first("FLUSHALL")
        first.pipeline([("SET", f"s{i}", 1) for i in range(300)])
        cursor, found, turn = b"0", set(), 0
        while True:
            cursor, keys = (first, second)[turn % 2]("SCAN", cursor, "COUNT", 7)
            found |= set(keys)
            turn += 1
            if cursor == b"0":
                break
        self.assertEqual(len(found), 300)

    def test_a_scan_of_one_key(self):
        client = self.to_values()
        client.pipeline([("DEL", "b"), ("SADD", "b", *range(50))])
        self.assertEqual(len(client("SSCAN", "b", 0, "COUNT", 100)[1]), 50)


if __name__ == "__main__":
    unittest.main()
