# SPDX-License-Identifier: Apache-2.0
"""Clients that ask for one and the same as fast as they are answered, whatever the answer.

A process of its own, so that it takes no turn from the Python that measures. Not redis-benchmark,
which ends at the first error.
"""

import pathlib
import selectors
import subprocess
import sys

from .client import RawClient, encode

TESTS = pathlib.Path(__file__).resolve().parents[1]


class Flood:
    """`clients` of them, one request of each under way. `reply_bytes`: of an answer without fault.

    A `with` block; it must not end by itself.
    """

    def __init__(self, port, reply_bytes, *request, clients=20):
        words = [port, clients, reply_bytes, *request]
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-m", "harness.flood", *map(str, words)], cwd=TESTS
        )

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        ended = self._process.poll()
        self._process.kill()
        self._process.wait()
        if ended is not None and kind is None:
            raise AssertionError("the flood ended by itself: what was measured was without it")


def play(port, clients, reply_bytes, request):
    """Until it is killed."""
    selector = selectors.DefaultSelector()
    for _ in range(clients):
        client = RawClient(port)
        client.send_raw(request)
        selector.register(client.socket, selectors.EVENT_READ, [client, 0])
    buffer = bytearray(1 << 20)
    while True:
        for ready, _ in selector.select():
            client, read = ready.data
            size = client.socket.recv_into(buffer)
            if size == 0:
                raise ConnectionError("a client of the flood was cut off")
            is_refused = read == 0 and buffer.startswith(b"-")
            whole = is_refused or read + size == reply_bytes
            ready.data[1] = 0 if whole else read + size
            if whole:
                client.send_raw(request)


if __name__ == "__main__":
    play(*map(int, sys.argv[1:4]), encode(*sys.argv[4:]))
