#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients with an ACL user of their own in front of a cluster: the nodes judge every command."""

import re
import time
import unittest

from cluster_stage import ClusterTest
from harness import RawClient, RedisError, ValueClient, need_programs, until

KEYS = [f"alice:{{{tag}}}" for tag in "abc"]  # of three masters
SECRETS = [f"secret:{{{tag}}}" for tag in "abc"]
PASSWORDS_MAX = 16
DENIED = "NOPERM"


class UsersTest(ClusterTest):
    PROXY_OPTIONS = {"proxy.workers": 1}  # so that all users meet in one

    def setUp(self):
        need_programs()
        self.on_all("FLUSHALL")
        self.on_all("ACL", "SETUSER", "alice", "reset", "on", ">wonder", "~alice:*", "&alice:*",
                    "~{*}heatsink:wait", "+@all", "-acl|setuser")  # fmt: skip
        self.on_all("ACL", "SETUSER", "bob", "reset", "on", ">builder", "~*", "&*",
                    "+@read", "+auth")  # fmt: skip
        self.on_all("ACL", "SETUSER", "default", "reset", "on", "nopass", "~*", "&*", "+@all")

    def on_all(self, *command):
        for node in self.cluster.masters:
            got = node(*command)
            self.assertFalse(isinstance(got, RedisError), got)

    def client(self, *login, proxy=None):
        client = self.keep(ValueClient((proxy or self.proxy).port))
        if login:
            self.assertEqual(client("AUTH", *login), "OK")
        return client

    def denied(self, got):
        self.assertIsInstance(got, RedisError)
        self.assertTrue(str(got).startswith(DENIED), got)

    def connections_of(self, user):
        return sum(
            node("CLIENT", "LIST").count(b" user=%s " % user.encode())
            for node in self.cluster.masters
        )


class Rights(UsersTest):
    def test_every_node_serves_the_user(self):
        alice = self.client("alice", "wonder")
        for key in KEYS:
            self.assertEqual(alice("SET", key, key), "OK")
        self.assertEqual(alice("MGET", *KEYS), [key.encode() for key in KEYS])
        self.assertEqual(alice("ACL", "WHOAMI"), b"alice")
        self.assertEqual(alice("DEL", *KEYS), 3)
        self.assertEqual(alice("DBSIZE"), 0)

    def test_every_node_refuses_what_the_user_may_not(self):
        other, alice = self.client(), self.client("alice", "wonder")
        for key in SECRETS:
            self.assertEqual(other("SET", key, "1"), "OK")
            self.denied(alice("GET", key))
            self.denied(alice("SET", key, "2"))
            self.assertEqual(other("GET", key), b"1")
        self.denied(alice("MGET", *SECRETS))
        self.denied(alice("MGET", KEYS[0], SECRETS[1]))
        self.denied(alice("ACL", "SETUSER", "alice", "~*"))
        self.denied(alice("EVAL", "return redis.call('GET', KEYS[1])", 1, SECRETS[0]))
        self.assertTrue(all(b"alice" in str(node("ACL", "LOG")).encode()
                            for node in self.cluster.masters))  # fmt: skip

    def test_users_take_turns(self):
        """All users ask all nodes in one worker, pipelined. Each gets only what it may read."""
        clients = {
            "default": self.client(),
            "alice": self.client("alice", "wonder"),
            "bob": self.client("bob", "builder"),
        }
        for key in SECRETS:
            clients["default"]("SET", key, "1")
        calls = [(name, key) for name in ("GET", "DEL") for key in SECRETS]
        for _ in range(20):
            for client in clients.values():
                client.send_raw(b"".join(
                    b"*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(n), n.encode(), len(k), k.encode())
                    for n, k in calls
                ))  # fmt: skip
            got = {name: [client.read() for _ in calls] for name, client in clients.items()}
            for reply in got["alice"] + got["bob"][3:]:
                self.denied(reply)
            for key, reply in zip(SECRETS, got["bob"][:3], strict=True):
                self.assertIn(reply, (b"1", None))
                clients["default"]("SET", key, "1")

    def test_a_login_that_the_server_refuses(self):
        alice = self.client("alice", "wonder")
        self.assertIn("WRONGPASS", str(alice("AUTH", "alice", "wrong")))
        self.assertIn("WRONGPASS", str(alice("AUTH", "bob", "wonder")))
        self.denied(alice("GET", SECRETS[0]))
        self.assertEqual(alice("ACL", "WHOAMI"), b"alice")

    def test_the_user_changes(self):
        client = self.client()
        alice, bob = ("alice", "wonder"), ("bob", "builder")
        for login in (alice, bob, ("default", "any"), bob):
            self.assertEqual(client("AUTH", *login), "OK")
            for key in SECRETS:
                got = client("GET", key)
                self.denied(got) if login is alice else self.assertIsNone(got)
        self.denied(client("SET", SECRETS[0], "1"))
        self.assertEqual(client("RESET"), "RESET")
        self.assertEqual(client("SET", SECRETS[0], "1"), "OK")

    def test_a_connection_that_has_checked_a_password_serves_nobody_else(self):
        """Commands that wait get a private connection, perhaps a used one."""
        other = self.client()
        for _ in range(5):
            self.client("alice", "wonder")
            for key in SECRETS:
                self.assertEqual(other("RPUSH", key, "1"), 1)
                self.assertEqual(other("BLPOP", key, 1), [key.encode(), b"1"])
            alice = self.client("alice", "wonder")
            self.client("bob", "builder")
            for key in KEYS:
                self.assertEqual(alice("RPUSH", key, "1"), 1)
                self.assertEqual(alice("BLPOP", key, 1), [key.encode(), b"1"])
            self.denied(alice("BLPOP", SECRETS[0], 1))

    def test_the_wait_of_the_first_client_is_ended_when_it_leaves(self):
        """The proxy has no other connection to the node then. It opens one: if it only closed the
        client's, an element that is popped at that moment would be lost."""
        proxy = self.open(self.PROXY_OPTIONS)
        for key in KEYS:
            client = RawClient(proxy.port)
            self.assertEqual(client.ask("AUTH", "alice", "wonder"), b"+OK\r\n")
            client.send("BLPOP", key, 0)
            until(lambda: self.waiting() == 1, what="the command waits")
            client.close()
            until(lambda: self.waiting() == 0, what="the wait has ended")
        self.assertEqual(proxy.metric("heatsink_waits_ended_total"), len(KEYS))

    def waiting(self):
        infos = [node("INFO", "clients") for node in self.cluster.masters]
        return sum(int(re.search(rb"blocked_clients:(\d+)", info)[1]) for info in infos)

    def test_hello_logs_in(self):
        client = self.to_proxy()
        got = client.ask("HELLO", 3, "AUTH", "alice", "wonder", "SETNAME", "queen")
        self.assertTrue(got.startswith(b"%"), got)
        self.assertEqual(client.ask("ACL", "WHOAMI"), b"$5\r\nalice\r\n")
        self.assertEqual(client.ask("CLIENT", "GETNAME"), b"$5\r\nqueen\r\n")
        self.assertTrue(client.ask("GET", SECRETS[1]).startswith(b"-NOPERM"))
        self.assertEqual(client.ask("GET", KEYS[1]), b"_\r\n")
        self.assertTrue(client.ask("HELLO", 2).startswith(b"*"))
        self.assertEqual(client.ask("GET", KEYS[1]), b"$-1\r\n")

    def test_a_password_that_has_changed(self):
        alice = self.client("alice", "wonder")
        self.assertEqual(alice("SET", KEYS[0], "1"), "OK")
        self.on_all("ACL", "SETUSER", "alice", "resetpass", ">other")
        self.assertIn("WRONGPASS", str(self.client()("AUTH", "alice", "wonder")))
        again = self.client("alice", "other")
        self.assertEqual(again("MGET", *KEYS), [b"1", None, None])

    def test_a_user_that_was_deleted(self):
        alice = self.client("alice", "wonder")
        self.assertEqual(alice("MGET", *KEYS), [None] * 3)
        self.on_all("ACL", "DELUSER", "alice")
        refused = "the server refused the login of the client's user: WRONGPASS"
        until(lambda: refused in str(alice("GET", KEYS[0])), what="the nodes' refusal")
        for key in KEYS + SECRETS:
            self.assertIn(refused, str(alice("GET", key)))
        self.assertIn("WRONGPASS", str(alice("AUTH", "alice", "wonder")))
        self.assertEqual(alice("AUTH", "bob", "builder"), "OK")
        self.assertEqual(alice("GET", KEYS[0]), None)


class Commands(UsersTest):
    """What needs more than a shared connection to one node."""

    def setUp(self):
        super().setUp()
        self.alice = self.client("alice", "wonder")

    def test_transactions(self):
        for key in KEYS:
            self.assertEqual(self.alice("WATCH", key), "OK")
            self.assertEqual(self.alice("MULTI"), "OK")
            self.assertEqual(self.alice("INCR", key), "QUEUED")
            self.assertEqual(self.alice("EXEC"), [1])
        self.alice("MULTI")
        self.alice("SET", SECRETS[0], "1")
        self.assertIn("EXECABORT", str(self.alice("EXEC")))
        self.denied(self.alice("WATCH", SECRETS[0]))

    def test_scripts(self):
        sha = self.alice("SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])")
        for key in KEYS:
            self.assertEqual(self.alice("EVALSHA", sha, 1, key), 1)

    def test_a_scan(self):
        for number in range(100):
            self.alice("SET", f"alice:{number}", "")
        found, cursor = set(), b"0"
        while True:
            cursor, keys = self.alice("SCAN", cursor)
            found.update(keys)
            if cursor == b"0":
                break
        self.assertEqual(len(found), 100)

    def test_waiting_commands(self):
        for key in KEYS:
            self.client()("RPUSH", key, "1")
            self.assertEqual(self.alice("BLPOP", key, 1), [key.encode(), b"1"])
        self.denied(self.alice("BLPOP", SECRETS[0], 1))
        self.alice("SET", KEYS[0], "1")
        self.assertEqual(self.alice("WAIT", 0, 100), 0)

    def test_big_values(self):
        big = b"v" * 3_000_000
        for key in KEYS:
            self.assertEqual(self.alice("SET", key, big), "OK")
        self.assertEqual(self.alice("MGET", *KEYS), [big] * 3)
        for key in KEYS:
            self.assertEqual(self.alice("GET", key), big)

    def test_channels(self):
        messages = self.client("alice", "wonder")
        for kind, channel in (("SUBSCRIBE", "alice:news"), ("SSUBSCRIBE", "alice:{b}")):
            self.assertEqual(messages(kind, channel)[:2], [kind.lower().encode(), channel.encode()])
            publish = kind.replace("SUBSCRIBE", "PUBLISH")
            self.alice(publish, channel, "hello")
            self.assertEqual(messages.read()[1:], [channel.encode(), b"hello"])
        for kind in ("SUBSCRIBE", "SSUBSCRIBE"):
            self.denied(self.client("alice", "wonder")(kind, "bob:news"))

    def test_state_stays_with_its_user(self):
        client = self.keep(RawClient(self.proxy.port, resp=3))
        client.ask("AUTH", "alice", "wonder")
        client.ask("SUBSCRIBE", "alice:news")
        got = client.ask("AUTH", "bob", "builder")
        self.assertIn(b"must log in as another user before it subscribes", got)
        self.assertEqual(client.ask("AUTH", "alice", "wonder"), b"+OK\r\n")
        self.assertEqual(client.ask("ACL", "WHOAMI"), b"$5\r\nalice\r\n")

    def test_a_slot_moves(self):
        slot = self.cluster.slot(KEYS[1])
        source = self.cluster.owner_of(slot)
        target = next(node for node in self.cluster.masters if node is not source)
        tagged = [f"alice:{{b}}{name}" for name in ("", "old", "new")]

        def asked(turn):
            for key in tagged:
                self.assertEqual(self.alice("SET", key, turn), "OK")
                self.assertEqual(self.alice("GET", key), b"%d" % turn)
            self.denied(self.alice("GET", SECRETS[1]))

        self.ask_at_each_step(asked, slot, source, target)
        self.ask_at_each_step(asked, slot, target, source)


class Connections(UsersTest):
    def test_clients_of_a_user_share_connections(self):
        clients = [self.client("alice", "wonder") for _ in range(40)]
        for client in clients:
            self.assertEqual(client("MGET", *KEYS), [None] * 3)
        self.assertLessEqual(self.connections_of("alice"), 2 * 3)

    def test_a_user_has_few_passwords(self):
        """One without a password has as many logins as there are passwords."""
        self.on_all("ACL", "SETUSER", "any", "on", "nopass", "~*", "+@all")
        self.addCleanup(self.on_all, "ACL", "DELUSER", "any")
        clients = [self.client("any", str(number)) for number in range(PASSWORDS_MAX)]
        one_more = self.client()
        self.assertIn("16 passwords of this user", str(one_more("AUTH", "any", "more")))
        self.assertEqual(one_more("GET", KEYS[0]), None)
        self.assertEqual(one_more("AUTH", "any", "0"), "OK")
        for login in (("alice", "wonder"), ("default", "")):
            self.client(*login)
        clients.pop().close()
        until(lambda: one_more("AUTH", "any", "more") == "OK", what="room for another password")
        self.assertIn("limited to 16 KiB", str(one_more("AUTH", "any", "x" * 20_000)))

    def test_shard_channels_outlive_another_password(self):
        self.on_all("ACL", "SETUSER", "alice", ">renewed")
        client = self.keep(RawClient(self.proxy.port, resp=3))
        self.assertEqual(client.ask("AUTH", "alice", "wonder"), b"+OK\r\n")
        client.ask("SSUBSCRIBE", "alice:{b}")
        self.assertEqual(client.ask("AUTH", "alice", "renewed"), b"+OK\r\n")
        owner = self.cluster.owner("alice:{b}")
        owner("CLIENT", "KILL", "TYPE", "pubsub")

        def heard():
            owner("SPUBLISH", "alice:{b}", "hello")
            reply = client.ask("PING")
            return b"hello" in reply + b"".join(client.read() for _ in range(b"PONG" not in reply))

        until(heard, what="a message after the connection was lost")
        self.assertIn(b"must log in", client.ask("AUTH", "bob", "builder"))

    def test_a_user_that_one_node_does_not_know(self):
        home = self.home()
        tag = next(tag for tag in "abc" if self.cluster.owner(tag) is not home)
        lacks = self.cluster.owner(tag)
        self.on_all("ACL", "SETUSER", "alice", "&__keyspace@0__:alice:*")
        lacks("ACL", "DELUSER", "alice")
        alice = self.client("alice", "wonder")
        mine = next(key for key in KEYS if self.cluster.owner(key) is home)
        refused = "the server refused the login of the client's user"
        self.assertEqual(alice("GET", mine), None)
        self.assertIn(refused, str(alice("GET", f"alice:{{{tag}}}")))
        self.assertIn(refused, str(alice("SSUBSCRIBE", f"alice:{{{tag}}}")))
        tried = self.tries(lacks)
        self.assertEqual(alice("PSUBSCRIBE", "__keyspace@0__:alice:*")[2], 1)
        time.sleep(1)  # only time shows that nothing comes
        self.assertLess(self.tries(lacks) - tried, 40)

    def home(self):
        """The node that has the commands without keys."""
        port = int(self.client()("CONFIG", "GET", "port")[1])
        return next(node for node in self.cluster.masters if node.port == port)

    @staticmethod
    def tries(node):
        """How often somebody has tried to log in there."""
        stats = node("INFO", "commandstats").decode()
        return sum(int(n) for n in re.findall(r"cmdstat_(?:auth|hello):calls=(\d+)", stats))

    def test_the_proxy_has_a_user_of_its_own(self):
        """Clients that do not log in are the server's default user, which may do less here."""
        self.on_all("ACL", "SETUSER", "proxy", "reset", "on", ">secret", "~*", "&*", "+@all")
        self.on_all("ACL", "SETUSER", "default", "-@write")
        self.addCleanup(self.on_all, "ACL", "SETUSER", "default", "+@all")
        url = self.cluster.url.replace("://", "://proxy:secret@")
        proxy = self.open(self.PROXY_OPTIONS, url)
        client = self.client(proxy=proxy)
        until(lambda: client("ACL", "WHOAMI") == b"default", what="that the default user may enter")
        for key in KEYS:
            self.assertEqual(client("GET", key), None)
            self.denied(client("SET", key, "1"))
        self.assertEqual(client("AUTH", "proxy", "secret"), "OK")
        self.assertEqual(client("MSET", *[word for key in KEYS for word in (key, "1")]), "OK")
        self.assertEqual(client("RESET"), "RESET")
        self.denied(client("SET", KEYS[0], "1"))


class Copies(UsersTest):
    PROXY_OPTIONS = {
        "proxy.workers": 1, "detection.enabled": "yes", "detection.hot-qps": 5,
        "cache.enabled": "yes",
    }  # fmt: skip

    def test_a_copy_is_for_those_who_may_read_the_key(self):
        default, bob = self.client(), self.client("bob", "builder")
        alice = self.client("alice", "wonder")
        default("SET", SECRETS[0], "1")

        def hits():
            before = self.proxy.hits()
            default.pipeline([("GET", SECRETS[0])] * 50)
            return self.proxy.hits() > before

        until(hits, what="hits of the copy")
        before = self.proxy.hits()
        for reply in alice.pipeline([("GET", SECRETS[0])] * 50):
            self.denied(reply)
        self.assertEqual(self.proxy.hits(), before)
        self.assertEqual(bob.pipeline([("GET", SECRETS[0])] * 50), [b"1"] * 50)
        self.assertGreater(self.proxy.hits(), before, "once a node has let bob read the key")
        self.on_all("ACL", "SETUSER", "bob", "-@read")
        until(lambda: isinstance(bob("GET", SECRETS[0]), RedisError), what="the end of bob's right")


if __name__ == "__main__":
    unittest.main()
