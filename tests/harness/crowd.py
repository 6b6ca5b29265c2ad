# SPDX-License-Identifier: Apache-2.0
"""Thousands of connections at once, held by one thread: for what each of them costs the proxy."""

import resource
import socket
import unittest

from .client import encode
from .patience import PATIENCE_S, SLOW

WAVE = 200  # clients that send before the first of them reads
ANSWERED = b"+PONG\r\n"


class Crowd:
    """`count` clients of a port of loopback. A `with` block; `resp` is their protocol.

    `wrap` makes a TLS socket of a connected one. Replies are counted, not looked at: each() says
    how many bytes the replies to its requests have.
    """

    def __init__(self, port, count, resp=2, wrap=lambda plain: plain):
        self.sockets = []
        try:
            for _ in range(count):
                plain = socket.create_connection(("127.0.0.1", port), PATIENCE_S * SLOW)
                self.sockets.append(wrap(plain))
        except OSError:
            self.close()
            raise
        if resp == 3:
            self._greet()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return len(self.sockets)

    def close(self):
        while self.sockets:
            self.sockets.pop().close()

    def _greet(self):
        """The length of the reply differs between clients: it has their number."""
        for client in self.sockets:
            client.sendall(encode("HELLO", 3) + encode("PING"))
        for client in self.sockets:
            told = b""
            while not told.endswith(ANSWERED):
                told += receive(client)

    def each(self, requests, reply_bytes):
        """Every client sends `requests`, and reads that many bytes."""
        for first in range(0, len(self.sockets), WAVE):
            wave = self.sockets[first : first + WAVE]
            for client in wave:
                client.sendall(requests)
            for client in wave:
                left = reply_bytes
                while left > 0:
                    left -= len(receive(client))

    def ping(self):
        self.each(encode("PING"), len(ANSWERED))


def receive(client):
    piece = client.recv(1 << 18)
    if not piece:
        raise ConnectionError("the proxy closed a client of the crowd")
    return piece


def need_descriptors(count):
    """Skips the test unless this process, and so its children, may open that many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    elif soft < count:
        raise unittest.SkipTest(f"needs {count} file descriptors; ulimit -Hn says {hard}")
