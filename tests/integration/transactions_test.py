# SPDX-License-Identifier: Apache-2.0
"""Transactions that the server never gets to know: nothing of them is executed."""

import unittest

from cluster_stage import ClusterTest
from harness import RawClient, encode, until
from stage import ProxyTest

OK, ABORTED = b"+OK\r\n", b"-EXECABORT Transaction discarded because of previous errors.\r\n"
TRANSACTION = [["MULTI"], ["SET", "a", 0], ["INCR", "b"], ["EXEC"]]


def replies_of(client, commands):
    """To all of them in one write, as client libraries send a transaction."""
    client.send_raw(b"".join(encode(*command) for command in commands))
    return client.read_many(len(commands))


class Refused(ProxyTest):
    PROXY_OPTIONS = {"proxy.maximum-private-connections": 1}

    def setUp(self):
        self.server = self.to_server()
        self.server.ask("MSET", "a", "before", "b", 1)
        self.holder, self.late = self.to_proxy(), self.to_proxy()
        # The only connection there is, once the test before has given it back.
        until(lambda: self.holder.ask("WATCH", "k") == OK, what="WATCH")

    def unchanged(self):
        expected = b"*2\r\n$6\r\nbefore\r\n$1\r\n1\r\n"
        self.assertEqual(self.server.ask("MGET", "a", "b"), expected)

    def aborted(self, replies, why):
        self.assertEqual([replies[0], replies[-1]], [OK, ABORTED])
        for reply in replies[1:-1]:
            self.assertTrue(reply.startswith(b"-"), reply)
            self.assertIn(why, reply)
        self.unchanged()

    def test_in_one_write(self):
        for _ in range(2):
            self.aborted(replies_of(self.late, TRANSACTION), b"proxy.maximum-private-connections")
        self.assertEqual(self.late.ask("GET", "b"), b"$1\r\n1\r\n")  # nothing is left of it
        self.holder.close()
        until(lambda: replies_of(self.late, TRANSACTION)[-1] == b"*2\r\n+OK\r\n:2\r\n", what="EXEC")

    def test_one_by_one_and_discarded(self):
        replies = [self.late.ask(*command) for command in [*TRANSACTION[:3], ["DISCARD"]]]
        self.assertEqual([replies[0], replies[-1]], [OK, OK])
        self.unchanged()
        self.assertIn(b"EXEC without MULTI", self.late.ask("EXEC"))

    def test_what_a_transaction_does_not_take(self):
        nested = replies_of(self.late, [["MULTI"], ["MULTI"], ["WATCH", "a"], ["EXEC"]])
        self.assertIn(b"can not be nested", nested[1])
        self.assertIn(b"WATCH inside MULTI is not allowed", nested[2])
        self.assertEqual(nested[3], ABORTED)

    def test_a_request_too_big_to_be_buffered(self):
        big = [["MULTI"], ["SET", "a", b"x" * 3_000_000], ["INCR", "b"], ["EXEC"]]
        self.aborted(replies_of(self.late, big), b"proxy.maximum-private-connections")

    def test_silent(self):
        self.late.send_raw(encode("CLIENT", "REPLY", "SKIP") + encode("MULTI"))
        self.assertEqual(replies_of(self.late, TRANSACTION[1:])[-1], ABORTED)
        self.unchanged()

    def test_reset(self):
        self.assertEqual(replies_of(self.late, [*TRANSACTION[:2], ["RESET"]])[-1], b"+RESET\r\n")
        self.assertEqual(self.late.ask("INCR", "n"), b":1\r\n")

    def test_a_watch_before_it(self):
        self.assertIn(b"maximum-private-connections", self.late.ask("WATCH", "a"))
        self.assertEqual(self.late.ask("GET", "b"), b"$1\r\n1\r\n")
        self.holder.close()  # from now on there would be a connection
        self.aborted(replies_of(self.late, TRANSACTION), b"a WATCH before this MULTI was refused")
        # A refused attempt would fail the transaction, too: it is given up.
        until(lambda: self.late.ask("UNWATCH") == OK and self.late.ask("WATCH", "a") == OK,
              what="WATCH again")  # fmt: skip
        self.assertEqual(replies_of(self.late, TRANSACTION)[-1], b"*2\r\n+OK\r\n:2\r\n")

    def test_a_watch_that_is_given_up(self):
        self.late.ask("WATCH", "a")
        self.assertEqual(self.late.ask("UNWATCH"), OK)
        self.holder.close()
        until(lambda: replies_of(self.late, TRANSACTION)[-1] == b"*2\r\n+OK\r\n:2\r\n", what="EXEC")


class Limited(ProxyTest):
    RULES = ("match=guard,limit.rate=1/h,limit.burst=1",)

    def test_a_watch_that_a_limit_refuses(self):
        client = self.to_proxy()
        until(lambda: client.ask("WATCH", "guard").startswith(b"-BUSY"), what="WATCH refused")
        self.assertEqual(replies_of(client, TRANSACTION)[-1], ABORTED)
        self.assertEqual(self.to_server().ask("EXISTS", "a", "b"), b":0\r\n")


class LimitedInFrontOfACluster(ClusterTest):
    """The proxy queues the transaction: there is no server yet that could refuse EXEC."""

    def test_a_command_that_a_limit_refuses(self):
        proxy = self.open(rules=("match=guard,limit.rate=1/h,limit.burst=1",))
        client = self.keep(RawClient(proxy.port))
        client.ask("SET", "guard", 0)
        until(lambda: client.ask("SET", "guard", 0).startswith(b"-BUSY"), what="SET refused")
        for watch in ([], [["WATCH", "w{guard}"]]):
            replies = replies_of(client, [*watch, ["MULTI"], ["SET", "guard", 1], ["EXEC"]])
            self.assertTrue(replies[-2].startswith(b"-BUSY"), replies)
            self.assertEqual(replies[-1], ABORTED)
        self.assertEqual(self.to_values()("GET", "guard"), b"0")


class BusyScript(ProxyTest):
    """A server that says BUSY takes MULTI, but not the SELECT before it."""

    SERVER_OPTIONS = ("--lua-time-limit", "50")

    def setUp(self):
        self.server = self.to_server()
        self.server.ask("FLUSHALL")

    def clients(self):
        """All in a database other than 0; some connections in the pool have been there before."""
        clients = [self.to_proxy() for _ in range(16)]
        for client in clients:
            self.assertEqual(client.ask("SELECT", 9), OK)
        for client in clients[::4]:
            self.assertEqual(client.ask("WATCH", "k"), OK)
        for client in clients[::4]:
            self.assertEqual(client.ask("UNWATCH"), OK)
        return clients

    def test_nothing_is_executed_and_nobody_is_disconnected(self):
        clients, script = self.clients(), self.to_server()
        script.send("EVAL", "while true do end", 0)
        until(lambda: self.server.ask("PING").startswith(b"-BUSY"), what="BUSY")
        for client in clients:
            self.assertEqual(client.ask("MULTI"), OK)
            self.assertTrue(client.ask("SET", "a", 0).startswith(b"-BUSY"))
        for client in clients:
            client.send_raw(encode("INCR", "b"))
        self.assertEqual(self.server.ask("SCRIPT", "KILL"), OK)
        script.read()
        for client in clients:
            client.send_raw(encode("EXEC"))
            client.read()
            self.assertEqual(client.read(), ABORTED)
        for db in (0, 9):
            self.server.ask("SELECT", db)
            self.assertEqual(self.server.ask("EXISTS", "a", "b"), b":0\r\n")
        for client in clients:
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")


if __name__ == "__main__":
    unittest.main()
