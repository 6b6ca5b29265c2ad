# SPDX-License-Identifier: Apache-2.0
"""Commands that change a connection, and more in the same write: the replies are the server's."""

import re
import unittest

from harness import EAGER, encode, until
from stage import ProxyTest

NEWS = ["AUTH", "news", "pw"]  # may subscribe to news only
BLIND = ["AUTH", "blind", "pw"]  # may not SELECT
HELLO3 = ["HELLO", 3]


def answers(client, commands, count):
    """`count` replies and messages to all of them in one write."""
    client.send_raw(b"".join(encode(*command) for command in commands))
    heard = b"".join(client.read_many(count))
    return re.sub(rb"(id\r\n):\d+", rb"\1:0", heard)  # of HELLO: another connection


class OneWrite(ProxyTest):
    def setUp(self):
        admin = self.to_server()
        for user, rules in ((NEWS[1], ["&news", "+@all"]), (BLIND[1], ["&*", "+@all", "-select"])):
            admin.ask("ACL", "SETUSER", user, "reset", "on", ">pw", "~*", *rules)

    def same(self, *commands, count=None):
        admin = self.to_server()
        heard = []
        for client in (self.to_server(), self.to_proxy()):
            admin.ask("FLUSHALL")
            heard.append(answers(client, commands, count or len(commands)))
        self.assertEqual(heard[1], heard[0])

    def test_another_protocol_behind_a_script(self):
        script = ["EVAL", "return 1", 0]
        for command in (["CONFIG", "GET", "maxclients"], ["BLPOP", "none", "0.01"],
                        ["SUBSCRIBE", "c"]):  # fmt: skip
            with self.subTest(command=command):
                self.same(script, HELLO3, command, ["HGETALL", "none"])
                self.same(HELLO3, script, ["HELLO", 2], command)

    def test_another_protocol_inside_a_transaction(self):
        read = ["HGETALL", "none"]
        for hello in (["HELLO", 3, "AUTH", "default", "x"], ["HELLO", 3, "SETNAME", "b"],
                      ["HELLO", 3, "AUTH", "default"], ["HELLO", 4], HELLO3):  # fmt: skip
            with self.subTest(hello=hello):
                self.same(["MULTI"], hello, read, ["EXEC"], read, ["MULTI"], read, ["EXEC"])
        self.same(["CLIENT", "SETNAME", "a"], ["MULTI"], HELLO3, ["EXEC"], ["CLIENT", "GETNAME"])
        self.same(["MULTI"], HELLO3, ["SUBSCRIBE", "c"], ["EXEC"], read, ["PING"])
        self.same(["MULTI"], HELLO3, ["DISCARD"], read)
        self.same(["MULTI"], HELLO3, ["NOSUCH"], ["EXEC"], read)
        self.same(["WATCH", "k"], ["SET", "k", 1], ["MULTI"], HELLO3, ["EXEC"], read)

    def test_a_subscription_that_exec_refuses(self):
        # Redis 7.0 takes no SSUBSCRIBE inside MULTI, and says so at EXEC.
        shard = [["MULTI"], ["SSUBSCRIBE", "c"], ["SET", "k", 1], ["EXEC"]]
        self.same(*shard, ["PING"], ["LRANGE", "none", 0, -1])
        self.same(*shard, ["SUNSUBSCRIBE"], ["MULTI"], ["PING"], ["EXEC"])

    def test_two_subscriptions_in_a_transaction_and_their_end(self):
        both = [["MULTI"], ["SUBSCRIBE", "c"], ["SUBSCRIBE", "d"], ["EXEC"], ["UNSUBSCRIBE"]]
        heard = answers(self.to_proxy(), [*both, ["MULTI"], ["PING"], ["EXEC"]], 9)
        self.assertEqual(heard.count(b"unsubscribe"), 2)
        self.assertTrue(heard.endswith(b"+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n"), heard)

    def test_unsubscribe_behind_a_refused_subscribe(self):
        refused, end = ["SUBSCRIBE", "sport"], [["MULTI"], ["PING"], ["EXEC"]]
        self.same(NEWS, refused, ["SUBSCRIBE", "news"], ["UNSUBSCRIBE"], *end)
        self.same(NEWS, HELLO3, refused, ["SUBSCRIBE", "news"], ["UNSUBSCRIBE"], *end)
        self.same(NEWS, refused, ["UNSUBSCRIBE", "x"], ["CLIENT", "REPLY", "OFF"], ["PING"],
                  ["CLIENT", "REPLY", "ON"], ["LRANGE", "none", 0, -1], count=5)  # fmt: skip

    def test_a_refused_select_changes_nothing(self):
        self.same(["SELECT", 4], BLIND, ["SELECT", 2], ["SET", "k", 1], ["MULTI"], ["INCR", "k"],
                  ["EXEC"], ["WATCH", "k"], ["GET", "k"])  # fmt: skip

    def test_an_empty_name_in_hello(self):
        name = ["CLIENT", "GETNAME"]
        none, ann = ["HELLO", 2, "SETNAME", ""], ["HELLO", 3, "SETNAME", "ann"]
        self.same(["CLIENT", "SETNAME", "joe"], none, name)
        self.same(["WATCH", "k"], ann, name, none, name)
        self.same(ann, ["HELLO", 2, "AUTH", "default", "x", "SETNAME", ""], name)


class Cluster(ProxyTest):
    SERVER_OPTIONS = ("--cluster-enabled", "yes")
    PROXY_OPTIONS = EAGER

    def test_keys_in_several_slots(self):
        direct, client = self.to_server(), self.to_proxy()
        direct.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        until(lambda: direct.ask("MSET", "{t}a", 1, "{t}b", 2) == b"+OK\r\n", what="cluster ok")
        direct.ask("SET", "other", 3)

        def hit(*command):
            before = self.proxy.hits()
            self.assertEqual(client.ask(*command), direct.ask(*command))
            return self.proxy.hits() > before

        for command in (["GET", "{t}a"], ["GET", "other"], ["MGET", "{t}a", "{t}b"]):
            until(lambda command=command: hit(*command), what=f"{command} served locally")
        # The proxy executes these in parts; the node itself refuses them.
        parts = {"MGET": b"*2\r\n$1\r\n1\r\n$1\r\n3\r\n", "EXISTS": b":2\r\n"}
        for command, reply in parts.items():
            self.assertEqual(client.ask(command, "{t}a", "other"), reply)
            self.assertTrue(direct.ask(command, "{t}a", "other").startswith(b"-CROSSSLOT"))


if __name__ == "__main__":
    unittest.main()
