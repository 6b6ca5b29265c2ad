# SPDX-License-Identifier: Apache-2.0
"""One of the two servers, and the connections that clients have to it or to the proxy before it."""

import socket

from harness import PATIENCE_S, SLOW, Closed, RawClient

CLOSED = b"(closed)"
NOTHING = b"(nothing)"
# What a run begins with: the state that its commands can change.
EMPTY = (
    ("FLUSHALL",), ("SCRIPT", "FLUSH"), ("FUNCTION", "FLUSH"), ("ACL", "DELUSER", "ann", "ben"),
    ("CONFIG", "SET", "maxmemory-samples", "5", "list-max-listpack-size", "-2"),
    ("CONFIG", "SET", "slowlog-max-len", "128", "busy-reply-threshold", "5000"),
)  # fmt: skip


class Wire(RawClient):
    """A connection whose replies are awaited, or read when they are there."""

    def __init__(self, port, resp):
        super().__init__(port, resp=resp, timeout_s=PATIENCE_S)
        self.closed = False

    def push(self, pieces):
        try:
            for piece in pieces:
                self.send_raw(piece)
        except OSError:
            pass  # it was closed meanwhile; what it was told before is still read

    def next(self):
        """The next reply, or what there is instead: CLOSED, NOTHING."""
        try:
            return CLOSED if self.closed else self.read()
        except Closed:
            self.closed = True
            return CLOSED
        except TimeoutError:
            return NOTHING

    def what_is_there(self):
        """The complete replies that have arrived; CLOSED once, behind the last one."""
        if self.closed:
            return []
        self.socket.setblocking(False)
        try:
            while True:
                self.receive()
        except BlockingIOError:
            return self._complete()
        except Closed:
            self.closed = True
            return [*self._complete(), CLOSED]
        finally:
            self.socket.settimeout(PATIENCE_S * SLOW)

    def _complete(self):
        out = []
        while (reply := self.take()) is not None:
            out.append(reply)
        return out


class Side:
    """A server with an administrator of ours, and the clients' connections to `port`."""

    def __init__(self, server, port):
        self.port = port
        self.admin = RawClient(server.port, timeout_s=PATIENCE_S)
        self.clients = []

    def connect(self, protocols):
        """Afresh, one connection for each."""
        self.disconnect()
        self.clients = [Wire(self.port, resp) for resp in protocols]

    def reconnect(self, i, resp):
        self.clients[i].close()
        self.clients[i] = Wire(self.port, resp)

    def disconnect(self):
        for client in self.clients:
            client.close()
        self.clients = []

    def close(self):
        self.disconnect()
        self.admin.close()

    def empty(self):
        for command in EMPTY:
            reply = self.admin.ask(*command)
            if reply[:1] not in b"+:":
                raise AssertionError(f"{command}: {reply}")

    def blocked(self):
        """How many connections wait in a command; while a script runs, the one that runs it."""
        info = self.admin.ask("INFO", "clients")
        if info.startswith(b"-BUSY"):
            return 1
        return int(info.split(b"blocked_clients:")[1].split(b"\r\n")[0])

    def executed(self, names):
        """How often the server has executed these commands."""
        stats = self.admin.ask("INFO", "commandstats") if names else b""
        calls = (stats.partition(b"cmdstat_%s:calls=" % name.lower())[2] for name in set(names))
        return sum(int(text.split(b",")[0]) for text in calls if text)

    def subscriptions(self):
        """How many patterns, and the subscribers of each channel."""
        told = [self.admin.ask("PUBSUB", "NUMPAT")]
        for kind in ("", "SHARD"):
            listed = self.admin.ask("PUBSUB", kind + "CHANNELS").split(b"\r\n")[2::2]
            channels = sorted(listed)
            told.append(self.admin.ask("PUBSUB", kind + "NUMSUB", *channels))
        return told

    def unblock_all(self):
        listed = self.admin.ask("CLIENT", "LIST")
        if listed.startswith(b"-BUSY"):
            for kind in ("SCRIPT", "FUNCTION"):
                self.admin.ask(kind, "KILL")
        for row in listed.split(b"\n"):
            fields = dict(part.split(b"=", 1) for part in row.split() if b"=" in part)
            if b"b" in fields.get(b"flags", b""):
                self.admin.ask("CLIENT", "UNBLOCK", fields[b"id"])

    def quiet(self, sent=0):
        """What the clients hear, by connection, until the server has nothing left to say.

        Only of the server itself, after `sent` bytes: it answers what was there before a PING no
        later than in the turn of its loop in which it answers that, and reads 16 kB a turn.
        """
        heard = [[] for _ in self.clients]
        turns = 2 + sent // 16384
        while turns > 0:
            self.admin.ask("PING")
            turns -= 1
            for mine, client in zip(heard, self.clients):
                said = client.what_is_there()
                mine += said
                turns = max(turns, 2) if said else turns
        return heard
