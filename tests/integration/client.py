# SPDX-License-Identifier: Apache-2.0
"""A Redis client that keeps the bytes of each reply as they came, and reads only when asked."""

import socket
import time

from processes import SLOW


class Closed(Exception):
    """The other side has closed the connection."""


def encode(*args):
    """A request in multi-bulk form; arguments are bytes, str or int."""
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        raw = arg if isinstance(arg, bytes) else str(arg).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
    return b"".join(parts)


def end_of_reply(data, at=0):
    """Where the reply that begins at `at` ends; None while it is incomplete."""
    line_end = data.find(b"\r\n", at)
    if line_end < 0:
        return None
    kind, rest, after = data[at : at + 1], data[at + 1 : line_end], line_end + 2
    if kind in b"+-:_,#(":
        return after
    length = int(rest)
    if kind in b"$=!":
        end = after + (length + 2 if length >= 0 else 0)
        return end if end <= len(data) else None
    if kind in b"*~>%|":
        elements = max(length, 0) * (2 if kind in b"%|" else 1) + (kind == b"|")
        for _ in range(elements):
            after = end_of_reply(data, after)
            if after is None:
                return None
        return after
    raise AssertionError(f"not a reply: {bytes(data[at : at + 80])!r}")


class Client:
    def __init__(self, port, resp=2, receive_buffer=None, timeout_s=5):
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout_s * SLOW)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.connect(("127.0.0.1", port))
        self.data = bytearray()
        if resp == 3:
            self.ask("HELLO", 3)

    def close(self):
        self.socket.close()

    def send(self, *args):
        self.send_raw(encode(*args))

    def send_raw(self, data):
        self.socket.sendall(data)

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
        while True:
            end = end_of_reply(self.data) if self.data else None
            if end is not None:
                reply = bytes(self.data[:end])
                del self.data[:end]
                return reply
            self.receive()

    def read_many(self, count):
        return [self.read() for _ in range(count)]

    def ask(self, *args):
        self.send(*args)
        return self.read()

    def is_silent(self, for_s=0.05):
        """True if nothing is there to be read, and nothing comes for a moment."""
        before, self.socket_timeout = self.socket.gettimeout(), None
        self.socket.settimeout(for_s)
        try:
            self.receive()
        except (TimeoutError, socket.timeout):
            return not self.data
        finally:
            self.socket.settimeout(before)
        return False

    def read_to_end(self):
        """Everything until the other side closes."""
        try:
            while True:
                self.receive()
        except Closed:
            return bytes(self.data)


def drain(client, bytes_expected, deadline_s=60):
    """Reads and counts without keeping: for replies of hundreds of megabytes."""
    limit = time.monotonic() + deadline_s * SLOW
    got = len(client.data)
    client.data.clear()
    scratch = bytearray(1 << 20)
    while got < bytes_expected:
        size = client.socket.recv_into(scratch)
        if size == 0:
            raise Closed(f"after {got} of {bytes_expected} bytes")
        got += size
        if time.monotonic() > limit:
            raise AssertionError(f"only {got} of {bytes_expected} bytes within {deadline_s} s")
    return got
