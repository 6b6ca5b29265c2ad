# SPDX-License-Identifier: Apache-2.0
"""A client that leaves while its command waits takes nothing from anybody."""

import signal
import socket
import struct
import time
import unittest

from harness import RawClient, encode, until
from stage import ProxyTest


def close(client):
    client.close()


def end_output(client):
    client.socket.shutdown(socket.SHUT_WR)


def reset(client):
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


LEAVE = (close, end_output, reset)

# What waits, what comes when its client has left, what proves that it is there, and the answer.
ROWS = (
    (["BLPOP", "q", 0], ["RPUSH", "q", "1", "2"], ["LRANGE", "q", 0, -1], ["1", "2"]),
    (["BRPOP", "p", "q", 0], ["RPUSH", "q", "1", "2"], ["LRANGE", "q", 0, -1], ["1", "2"]),
    (
        ["BLMPOP", 0, 1, "q", "LEFT", "COUNT", 2],
        ["RPUSH", "q", "1", "2", "3"],
        ["LRANGE", "q", 0, -1],
        ["1", "2", "3"],
    ),
    (
        ["BLMPOP", 0, 1, "q", "RIGHT", "COUNT", 2],
        ["RPUSH", "q", "1", "2", "3"],
        ["LRANGE", "q", 0, -1],
        ["1", "2", "3"],
    ),
    (
        ["BLMOVE", "q", "done", "LEFT", "RIGHT", 0],
        ["RPUSH", "q", "1", "2"],
        ["LRANGE", "q", 0, -1],
        ["1", "2"],
    ),
    (["BRPOPLPUSH", "q", "done", 0], ["RPUSH", "q", "1"], ["LRANGE", "q", 0, -1], ["1"]),
    (["BLMOVE", "q", "q", "LEFT", "RIGHT", 0], ["RPUSH", "q", "1"], ["LRANGE", "q", 0, -1], ["1"]),
    (["BZPOPMIN", "z", 0], ["ZADD", "z", "1.5", "m"], ["ZRANGE", "z", 0, -1, "WITHSCORES"],
     ["m", "1.5"]),  # fmt: skip
    (["BZPOPMAX", "z", 0], ["ZADD", "z", "1", "m", "2", "n"], ["ZRANGE", "z", 0, -1], ["m", "n"]),
    (
        ["BZMPOP", 0, 1, "z", "MIN", "COUNT", 5],
        ["ZADD", "z", "1", "m", "2", "n"],
        ["ZRANGE", "z", 0, -1],
        ["m", "n"],
    ),
)


def array(items):
    return b"*%d\r\n" % len(items) + b"".join(
        b"$%d\r\n%s\r\n" % (len(item), item.encode()) for item in items
    )


class Leaving(ProxyTest):
    def setUp(self):
        self.server = self.to_server()
        self.server.ask("FLUSHALL")

    def waiting(self, *request, resp=2, login=()):
        client = RawClient(self.proxy.port, resp)
        self.addCleanup(client.close)
        for command in login:
            self.assertEqual(client.ask(*command), b"+OK\r\n")
        client.send(*request)
        until(self.waits, what=f"{request[0]} waits")
        time.sleep(0.002)  # what comes within 200 us might be what it need not have waited for
        return client

    def waits(self):
        rows = self.server.ask("CLIENT", "LIST").decode().splitlines()
        return [row for row in rows if " flags=b" in row]

    def has_left(self):
        """All of its client: what was to be put back is back."""
        until(lambda: self.proxy.metric("heatsink_clients") == 0, what="its client is gone")

    def unheard(self, client, leave, *push):
        """It leaves and something comes while the proxy does not look: both are there at once."""
        self.proxy.process.freeze()
        leave(client)
        self.assertNotIn(b"-", self.server.ask(*push)[:1])
        until(lambda: not self.waits(), what="the server has given it away")
        self.proxy.process.signal(signal.SIGCONT)
        self.has_left()


class TakesNothing(Leaving):
    def test_what_comes_behind_it_stays(self):
        for leave in LEAVE:
            for request, push, look, expected in ROWS:
                with self.subTest(request[0], leave=leave.__name__):
                    self.server.ask("FLUSHALL")
                    leave(self.waiting(*request))
                    self.server.ask(*push)
                    self.has_left()
                    self.assertEqual(self.server.ask(*look), array(expected))
                    self.assertEqual(self.waits(), [])

    def test_what_was_given_away_meanwhile_is_put_back(self):
        before = self.proxy.metric("heatsink_put_back_total")
        for resp in (2, 3):
            for request, push, look, expected in ROWS:
                with self.subTest(request[0], resp=resp):
                    self.server.ask("FLUSHALL")
                    self.unheard(self.waiting(*request, resp=resp), LEAVE[resp - 1], *push)
                    self.assertEqual(self.server.ask(*look), array(expected))
        rows = self.proxy.by_label("heatsink_put_back_total", "outcome")
        self.assertEqual(rows, {"done": before + 2 * len(ROWS), "failed": 0})

    def test_the_next_in_line_gets_it(self):
        client = self.waiting("BLPOP", "q", 0)
        other = self.to_server()
        other.send("BLPOP", "q", 0)
        until(lambda: len(self.waits()) == 2, what="both wait")
        self.proxy.process.freeze()
        close(client)
        self.server.ask("RPUSH", "q", "v")
        self.proxy.process.signal(signal.SIGCONT)
        self.assertEqual(other.read(), array(["q", "v"]))

    def lost(self, request, ways, times=300):
        """Of so many elements, each pushed at once behind the end of a client of `request()`."""
        for i in range(times):
            client = request()
            ways[i % len(ways)](client)
            self.server.ask("RPUSH", "q", i)
            self.has_left()
            self.server.ask("LMOVE", "q", "jobs", "LEFT", "RIGHT")
        return times - int(self.server.ask("LLEN", "jobs")[1:-2])

    def test_none_of_many_is_lost(self):
        """The window of which differences.md speaks."""
        self.assertEqual(self.lost(lambda: self.waiting("BLPOP", "q", 0), LEAVE), 0)

    def hasty(self):
        """It leaves before anybody knows whether it has to wait."""
        client = RawClient(self.proxy.port)
        self.addCleanup(client.close)
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        client.send("BLPOP", "q", 0)
        return client

    def test_none_is_lost_to_those_in_a_hurry(self):
        self.assertEqual(self.lost(self.hasty, (close, reset)), 0)

    def test_who_only_ends_its_output_has_it_or_leaves_it(self):
        for _ in range(100):
            client = self.hasty()
            end_output(client)
            self.server.ask("RPUSH", "q", "v")
            heard = client.read_to_end()
            client.close()
            self.has_left()
            there = self.server.ask("LRANGE", "q", 0, -1)
            self.assertEqual((heard, there) in self.EITHER, True, (heard, there))
            self.server.ask("DEL", "q")

    EITHER = ((b"", array(["v"])), (array(["q", "v"]), b"*0\r\n"))

    def test_an_element_that_another_has_taken_is_not_doubled(self):
        client = self.waiting("BLMOVE", "q", "done", "LEFT", "RIGHT", 0)
        self.proxy.process.freeze()
        close(client)
        self.server.ask("RPUSH", "q", "v")
        self.assertEqual(self.server.ask("RPOP", "done"), b"$1\r\nv\r\n")
        self.proxy.process.signal(signal.SIGCONT)
        self.has_left()
        self.assertEqual(self.server.ask("EXISTS", "q", "done"), b":0\r\n")

    def test_a_groups_entry_is_delivered_to_the_next(self):
        read = ["XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", "s", ">"]
        for resp in (2, 3):
            self.server.ask("DEL", "s")
            self.server.ask("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
            self.unheard(self.waiting(*read, resp=resp), close, "XADD", "s", "7-1", "f", "v")
            self.assertTrue(self.server.ask("XPENDING", "s", "g").startswith(b"*4\r\n:0\r\n"))
            self.assertIn(b"7-1", self.server.ask(*read))

    def test_a_groups_entry_stays_pending_if_there_was_another(self):
        read = ["XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", "s", ">"]
        self.server.ask("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
        client = self.waiting(*read)
        self.proxy.process.freeze()
        close(client)
        self.server.ask("XADD", "s", "7-1", "f", "v")
        self.server.ask("XADD", "s", "7-2", "f", "v")
        self.assertIn(b"7-2", self.server.ask("XREADGROUP", "GROUP", "g", "d", "STREAMS", "s", ">"))
        self.proxy.process.signal(signal.SIGCONT)
        self.has_left()
        self.assertTrue(self.server.ask("XPENDING", "s", "g").startswith(b"*4\r\n:2\r\n"))

    def test_nothing_behind_it_is_executed(self):
        for leave in LEAVE:
            client = RawClient(self.proxy.port)
            behind = encode("SET", "s", 1) + encode("BLPOP", "r", 0)
            client.send_raw(encode("BLPOP", "q", 0) + behind)
            until(self.waits, what="BLPOP waits")
            leave(client)
            self.has_left()
            self.assertEqual(self.server.ask("EXISTS", "s"), b":0\r\n")
            self.assertEqual(self.waits(), [])
            client.close()

    def test_what_it_need_not_wait_for_is_its_own(self):
        for _ in range(50):
            client = RawClient(self.proxy.port)
            pop = encode("RPUSH", "l", "v") + encode("BLPOP", "l", 0)
            self.proxy.process.freeze()  # so that it finds the commands and their end together
            client.send_raw(pop + encode("INCR", "n"))
            end_output(client)
            self.proxy.process.signal(signal.SIGCONT)
            replies = client.read_to_end()
            self.assertTrue(replies.startswith(b":1\r\n" + array(["l", "v"]) + b":"), replies)
            client.close()

    def test_while_the_server_puts_writes_off(self):
        self.server.ask("CLIENT", "PAUSE", 300, "WRITE")
        client = RawClient(self.proxy.port)
        client.send("BLPOP", "q", 0)
        until(lambda: b"cmd=blpop" in self.server.ask("CLIENT", "LIST"), what="BLPOP is there")
        close(client)
        self.has_left()
        self.server.ask("CLIENT", "UNPAUSE")
        self.assertEqual(self.server.ask("RPUSH", "q", "v"), b":1\r\n")
        self.assertEqual(self.server.ask("LLEN", "q"), b":1\r\n")


class OfOtherUsers(Leaving):
    """Alice may do as she likes; the proxy's own user may not end the wait of others."""

    def test_put_back_where_it_came_from(self):
        self.server.ask("ACL", "SETUSER", "alice", "on", ">pw", "~*", "+@all")
        login = (["AUTH", "alice", "pw"], ["SELECT", 3])
        self.server.ask("RPUSH", "a", "v")
        client = self.waiting("BLPOP", "q", 0, login=login)
        self.unheard(client, close, "COPY", "a", "q", "DB", 3)
        self.server.ask("SELECT", 3)
        self.assertEqual(self.server.ask("LRANGE", "q", 0, -1), array(["v"]))
        self.server.ask("SELECT", 0)

    def test_who_may_not_push_has_lost_it(self):
        self.server.ask("ACL", "SETUSER", "bob", "on", ">pw", "~*", "+blpop")
        before = self.proxy.by_label("heatsink_put_back_total", "outcome")["failed"]
        client = self.waiting("BLPOP", "q", 0, login=(["AUTH", "bob", "pw"],))
        self.unheard(client, close, "RPUSH", "q", "v")
        failed = self.proxy.by_label("heatsink_put_back_total", "outcome")["failed"]
        self.assertEqual(failed, before + 1)

    def test_a_proxy_that_may_not_unblock_closes(self):
        self.server.ask("ACL", "SETUSER", "default", "-client|unblock")
        self.addCleanup(self.server.ask, "ACL", "SETUSER", "default", "+client|unblock")
        for leave in LEAVE:
            leave(self.waiting("BLPOP", "q", 0))
            until(lambda: not self.waits(), what="the server forgets it")
            self.has_left()


if __name__ == "__main__":
    unittest.main()
