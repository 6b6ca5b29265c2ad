# SPDX-License-Identifier: Apache-2.0
"""A load whose every access is known: Zipf reads at an even pace, counted by key and by time."""

import bisect
import collections
import itertools
import random
import socket
import threading
import time

KEYS = 20_000
VALUE = b"v" * 100
BATCH = 20  # requests that are sent together
BATCHES = 4_000  # different ones; each is sent again and again, in an order drawn anew


def name_of(rank):
    return f"key:{rank:06d}"


class ExactLoad:
    """A context: its thread asks `per_s` GETs a second; the key of rank k gets k^-zipf of them.

    All keys are written first. Moments are those of time.time(), as heatsink tells them.
    """

    def __init__(self, port, per_s=20_000, zipf=1.0, seed=1):
        draw = random.Random(seed)
        weights = list(itertools.accumulate((rank + 1) ** -zipf for rank in range(KEYS)))
        self.ranks = [draw.choices(range(KEYS), cum_weights=weights, k=BATCH)
                      for _ in range(BATCHES)]  # fmt: skip
        self.requests = [
            b"".join(b"*2\r\n$3\r\nGET\r\n$10\r\n%s\r\n" % name_of(rank).encode() for rank in ranks)
            for ranks in self.ranks
        ]
        self.draw, self.per_s = draw, per_s
        self.sent, self.answered, self.batches = [], [], []  # when, when, and which
        self.done = threading.Event()
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._write_keys()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        self.socket.close()

    def truth(self, begin, end):
        """Reads by name between two moments: those that were surely within, and those that may
        have been, since they were under way at one of them."""
        whole = self._counts(bisect.bisect_left(self.sent, begin),
                             bisect.bisect_right(self.answered, end))  # fmt: skip
        touched = self._counts(bisect.bisect_left(self.answered, begin),
                               bisect.bisect_right(self.sent, end))  # fmt: skip
        return whole, touched

    def _counts(self, first, last):
        counts = collections.Counter()
        for batch, times in collections.Counter(self.batches[first:last]).items():
            for rank in self.ranks[batch]:
                counts[name_of(rank)] += times
        return counts

    def _write_keys(self):
        for first in range(0, KEYS, 500):
            names = [name_of(rank).encode() for rank in range(first, first + 500)]
            form = b"*3\r\n$3\r\nSET\r\n$10\r\n%s\r\n$100\r\n%s\r\n"
            self.socket.sendall(b"".join(form % (name, VALUE) for name in names))
            self._read(len(names) * len(b"+OK\r\n"))

    def _read(self, count):
        while count > 0:
            count -= len(self.socket.recv(count))

    def _run(self):
        began, asked = time.monotonic(), 0
        answer = BATCH * (len(b"$100\r\n") + len(VALUE) + len(b"\r\n"))
        while not self.done.is_set():
            ahead = asked / self.per_s - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -0.5:
                began -= ahead  # what was missed is not made up for: the pace stays even
            batch = self.draw.randrange(BATCHES)
            self.batches.append(batch)
            self.sent.append(time.time())
            self.socket.sendall(self.requests[batch])
            self._read(answer)
            self.answered.append(time.time())
            asked += BATCH
