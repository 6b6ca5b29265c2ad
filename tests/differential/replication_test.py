# SPDX-License-Identifier: Apache-2.0
"""SYNC and PSYNC, to a server and through the proxy before another: the same replies, the same
data, then the same stream of writes, or the same end of it, whatever the client sends meanwhile.

Its replies are no RESP from SYNC on, so that pair.py cannot compare them.
"""

import random
import re
import time
import unittest

from harness import LONG, SLOW, Closed, Proxy, RawClient, Redis, encode, need_programs
from stage import CACHING

SYNC, PSYNC, MONITOR = encode("SYNC"), encode("PSYNC", "?", "-1"), encode("MONITOR")
# How a client becomes a replica, or does not.
BEGINNINGS = (
    (SYNC,), (PSYNC,), (b"SYNC\r\n",), (b"psync ? -1\r\n",), (encode("sync"),),
    (encode("REPLCONF", "listening-port", "7777", "capa", "psync2"), PSYNC),
    (encode("REPLCONF", "listening-port", "x"), SYNC), (encode("REPLCONF", "capa"), SYNC),
    (encode("PING"), SYNC), (encode("SELECT", "1"), PSYNC), (encode("HELLO", "3"), SYNC),
    (encode("CLIENT", "SETNAME", "one"), PSYNC), (encode("GET", "k"), SYNC),
    (encode("SYNC", "x"),), (encode("PSYNC"),), (encode("PSYNC", "?"),),
    (encode("PSYNC", "?", "x"),), (encode("PSYNC", "?", "-1", "x"),),
    (encode("PSYNC", "x", "7"),), (encode("PSYNC", "?", "-1", "FAILOVER"),),
    (encode("PSYNC", "$ID", "$OFFSET"),),
    (encode("PSYNC", "$ID", "1000000"),),
    (encode("MULTI"), SYNC), (encode("MULTI"), PSYNC, encode("EXEC")),
    (encode("SUBSCRIBE", "c"), SYNC), (encode("WATCH", "k"), PSYNC), (MONITOR, SYNC),
    (encode("CLIENT", "REPLY", "SKIP"), PSYNC),
)  # fmt: skip
# What it may send then: ignored, without a reply, or the end of the connection.
LATER = (
    (SYNC,), (PSYNC,), (MONITOR,), (SYNC, PSYNC, MONITOR, SYNC), (b"SYNC\r\n",),
    (encode("PSYNC", "$ID", "$OFFSET"),), (encode("REPLCONF", "ACK", "1"),),
    (encode("REPLCONF", "ACK", "1"), SYNC), (encode("REPLCONF", "GETACK", "*"),),
    (encode("PING"),), (encode("GET", "k"),), (encode("SET", "k", "w"),), (encode("MULTI"),),
    (encode("SYNC", "x"),), (encode("NOTHING"),), (encode("QUIT"),), (encode("RESET"),),
    (b"*1\r\n+x\r\n",),
)  # fmt: skip
SEEDS = 30 if LONG else 4
MARK, END = b"the-mark", b"the-end"
QUIET_S = 1.5  # longer than the server takes to say something
PATIENCE_S = 20  # for the proxy, where the server has said something
PAUSE_S = 0.05  # in which what was sent is executed


class Link:
    """A connection to one of the two, and the words that name the server's history."""

    def __init__(self, server, port):
        self.client, self.heard = RawClient(port), bytearray()
        with RawClient(server.port) as asker:
            told = asker.ask("INFO", "replication").decode()
        self.words = {
            b"$ID": re.search(r"master_replid:(\w+)", told)[1].encode(),
            b"$OFFSET": b"%d" % (int(re.search(r"master_repl_offset:(\d+)", told)[1]) + 1),
        }

    def say(self, piece):
        for word, value in self.words.items():
            piece = piece.replace(b"$%d\r\n%s" % (len(word), word),
                                  b"$%d\r\n%s" % (len(value), value))  # fmt: skip
        try:
            self.client.send_raw(piece)
        except OSError:
            pass  # it was closed meanwhile

    def hear(self, end, patience_s):
        """What it is told until `end` comes by, or it is closed, or told nothing more."""
        self.client.socket.settimeout(patience_s * SLOW)
        how = []
        try:
            while end not in self.client.data:
                self.client.receive()
        except TimeoutError:
            how = ["(nothing)"]
        except Closed:
            how = ["(closed)"]
        data = bytes(self.client.data)
        self.client.data.clear()
        return elements(data) + how


def elements(data):
    """What the bytes tell, without what depends on the server's identity or clock."""
    out = []
    while data:
        if data[:1] == b"\n":  # the server is making its dump
            data = data[1:]
            continue
        line, _, rest = data.partition(b"\r\n")
        if line[:1] == b"$" and rest.startswith(b"REDIS"):
            out.append(dump_without_facts(rest[: int(line[1:])]))
            data = rest[int(line[1:]) :]
            continue
        if line[:1] in b"*$" and line[1:].isdigit():
            is_array = line[:1] == b"*"
            words, rest = words_of(int(line[1:]), rest) if is_array else words_of(1, data)
            line = b" ".join(words)
        line = re.sub(rb"(?<=FULLRESYNC )\w+ \d+", b"ID OFFSET", line)
        is_mark = MARK in line or END in line
        is_of_monitor = re.match(rb"\+\d+\.\d+ \[", line)  # it shows what the proxy does, too
        line = re.sub(rb"^:\d+$", b":NUMBER", line)  # the id in the reply to HELLO
        if not is_mark and not is_of_monitor and line not in (b"PING", b"REPLCONF GETACK *"):
            out.append(line)
        data = rest
    return out


def words_of(count, data):
    words = []
    for _ in range(count):
        line, _, data = data.partition(b"\r\n")
        size = int(line[1:])
        words.append(data[:size])
        data = data[size + 2 :]
    return words, data


def dump_without_facts(dump):
    """Without the facts about the server at its beginning (ctime, used-mem), and the checksum."""
    at = 9  # REDIS0010
    while dump[at] == 0xFA:
        at = behind_string(dump, behind_string(dump, at + 1))
    return dump[:9] + dump[at:-8]


def behind_string(dump, at):
    kind, low = dump[at] >> 6, dump[at] & 63
    if kind == 3:
        return at + 1 + (1, 2, 4)[low]  # a number
    return at + 1 + low if kind == 0 else at + 2 + (low << 8 | dump[at + 1])


class Replication(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.servers = [Redis("--repl-ping-replica-period", "3600") for _ in range(2)]
        for server in cls.servers:
            cls.addClassCleanup(server.stop)
        cls.proxy = Proxy(cls.servers[1], CACHING["eager"])
        cls.addClassCleanup(cls.proxy.stop)
        cls.admins = [RawClient(server.port) for server in cls.servers]
        for admin in cls.admins:
            cls.addClassCleanup(admin.close)
        cls.marks = 0

    def write(self, value):
        """To both servers."""
        for admin in self.admins:
            self.assertEqual(admin.ask("SET", "k", value), b"+OK\r\n")

    def has_replica(self):
        """Whether the server that is spoken to directly has one."""
        return b"connected_slaves:0" not in self.admins[0].ask("INFO", "replication")

    def compare(self, links, what):
        """What both are told until the next write, or until the reply to an ECHO. False: closed."""
        type(self).marks += 1
        end = MARK + b"-%d." % self.marks
        if self.has_replica():
            self.write(end)
        else:
            end = END + b"-%d." % self.marks
            for link in links:
                link.say(encode("ECHO", end))
        direct = links[0].hear(end, QUIET_S)
        is_quiet = "(nothing)" in direct
        through = links[1].hear(end, QUIET_S if is_quiet else PATIENCE_S)
        self.assertEqual(through, direct, what)
        return "(closed)" not in direct

    def play(self, *parts):
        """The pieces of each part come one by one: SYNC behind a reply that has not left yet is
        refused, which the proxy leaves out (docs/reference/differences.md).
        """
        for db in ("1", "0"):
            for admin in self.admins:
                self.assertEqual(admin.ask("SELECT", db), b"+OK\r\n")
            self.write(f"v{db}")
        ports = (self.servers[0].port, self.proxy.port)
        links = [Link(server, port) for server, port in zip(self.servers, ports)]
        try:
            for part in parts:
                for piece in part:
                    for link in links:
                        link.say(piece)
                    time.sleep(PAUSE_S * SLOW)  # so that its reply has left before the next
                if not self.compare(links, parts):
                    return
            self.compare(links, parts)  # a server ends a connection a moment later
        finally:
            for link in links:
                link.client.close()

    def test_how_it_begins(self):
        for beginning in BEGINNINGS:
            with self.subTest(beginning=beginning):
                self.play(beginning)

    def test_what_a_replica_sends(self):
        for begins in ((SYNC,), (PSYNC,)):
            for later in LATER:
                with self.subTest(begins=begins, later=later):
                    self.play(begins, later)

    def test_in_any_order(self):
        for seed in range(SEEDS):
            rng = random.Random(seed)
            parts = [rng.choice(BEGINNINGS)] + [rng.choice(LATER) for _ in range(4)]
            with self.subTest(seed=seed, parts=parts):
                self.play(*parts)

    def test_a_stream_is_played(self):
        """Writes come by, so that nothing else is compared with nothing."""
        link = Link(self.servers[0], self.proxy.port)
        self.addCleanup(link.client.close)
        link.say(PSYNC)
        time.sleep(PAUSE_S * SLOW)  # so that the dump is not of the writes behind it
        self.write("a-write")
        self.write("the-last")
        told = link.hear(b"the-last", PATIENCE_S)
        self.assertEqual(told[0], b"+FULLRESYNC ID OFFSET")
        self.assertTrue(told[1].startswith(b"REDIS"), told[1])
        self.assertIn(b"SET k a-write", told[2:])


if __name__ == "__main__":
    unittest.main()
