# SPDX-License-Identifier: Apache-2.0
"""Clients of one connection: one keeps the bytes of each reply as they came, one their values.

Both read only when asked. Not thread-safe.
"""

import socket
import time

from .patience import PATIENCE_S, SLOW


class Closed(ConnectionError):
    """The other side has closed the connection."""


def encode(*args):
    """A request in multi-bulk form; arguments are bytes, str or int."""
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        raw = arg if isinstance(arg, bytes) else str(arg).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
    return b"".join(parts)


class Scan:
    """How far one reply has been looked at: a big one comes in many pieces, and each is read once.

    Not thread-safe.
    """

    def __init__(self, at=0):
        self.at, self.owed = at, 1  # values that are still to come

    def end(self, data):
        """Where the reply ends in `data`, which only grows; None while it is incomplete."""
        while self.owed > 0:
            line_end = data.find(b"\r\n", self.at)
            if line_end < 0:
                return None
            kind, rest = data[self.at : self.at + 1], data[self.at + 1 : line_end]
            after, within = line_end + 2, 0
            if kind in b"$=!":
                after += int(rest) + 2 if int(rest) >= 0 else 0
                if after > len(data):
                    return None
            elif kind in b"*~>%|":
                within = max(int(rest), 0) * (2 if kind in b"%|" else 1) + (kind == b"|")
            elif kind not in b"+-:_,#(":
                raise AssertionError(f"not a reply: {bytes(data[self.at : self.at + 80])!r}")
            self.at, self.owed = after, self.owed - 1 + within
        return self.at


def end_of_reply(data, at=0):
    """Where the reply that begins at `at` ends; None while it is incomplete."""
    return Scan(at).end(data)


class Connection:
    """What both clients have: a socket to a port of loopback or a `connected` one, and requests."""

    def __init__(self, port, timeout_s, receive_buffer=None, connected=None):
        if connected is not None:
            self.socket = connected
            self.socket.settimeout(timeout_s * SLOW)
            return
        self.socket = socket.socket()
        try:
            if receive_buffer is not None:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            self.socket.settimeout(timeout_s * SLOW)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, *args):
        self.send_raw(encode(*args))

    def send_raw(self, data):
        self.socket.sendall(data)


class RawClient(Connection):
    """Replies and pushes are their bytes, in RESP2 or RESP3.

    `connected` is a socket of any kind (TLS, Unix) instead of a port; the client closes it.
    """

    def __init__(
        self, port=None, resp=2, receive_buffer=None, timeout_s=PATIENCE_S, connected=None
    ):
        super().__init__(port, timeout_s, receive_buffer, connected)
        self.data, self.scan = bytearray(), Scan()
        if resp == 3:
            self.ask("HELLO", 3)

    def receive(self):
        try:
            piece = self.socket.recv(1 << 20)
        except ConnectionResetError:
            piece = b""
        if not piece:
            raise Closed(bytes(self.data[:200]))
        self.data += piece

    def read(self):
        """The raw bytes of the next reply or push."""
        while (reply := self.take()) is None:
            self.receive()
        return reply

    def take(self):
        """The next reply or push, if all of it has been received; else None."""
        end = self.scan.end(self.data)
        if end is None:
            return None
        reply = bytes(self.data[:end])
        del self.data[:end]
        self.scan = Scan()
        return reply

    def read_many(self, count):
        return [self.read() for _ in range(count)]

    def ask(self, *args):
        self.send(*args)
        return self.read()

    def read_to_end(self):
        """Everything until the other side closes."""
        try:
            while True:
                self.receive()
        except Closed:
            return bytes(self.data)


def drain(client, bytes_expected, deadline_s=10 * PATIENCE_S):
    """Reads and counts without keeping: for replies of hundreds of megabytes."""
    limit = time.monotonic() + deadline_s * SLOW
    got = len(client.data)
    client.data.clear()
    client.scan = Scan()
    scratch = bytearray(1 << 20)
    while got < bytes_expected:
        size = client.socket.recv_into(scratch)
        if size == 0:
            raise Closed(f"after {got} of {bytes_expected} bytes")
        got += size
        if time.monotonic() > limit:
            raise AssertionError(f"only {got} of {bytes_expected} bytes within {deadline_s} s")
    return got


class RedisError(str):
    """An error reply; compares as its text."""


class ValueClient(Connection):
    """Replies are values, in RESP2: bytes, int, None, list, str for a status, RedisError."""

    def __init__(self, port, timeout_s=PATIENCE_S):
        super().__init__(port, timeout_s)
        self.stream = self.socket.makefile("rb", buffering=1 << 16)

    def close(self):
        self.stream.close()
        super().close()

    def __call__(self, *args):
        self.send(*args)
        return self.read()

    def pipeline(self, calls):
        self.send_raw(b"".join(encode(*call) for call in calls))
        return [self.read() for _ in calls]

    def read(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise Closed(line)
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.stream.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ConnectionError(f"no RESP2: {line!r}")
