# SPDX-License-Identifier: Apache-2.0
"""Sessions that read and count up the same hot keys, each in a process, and what they saw."""

import multiprocessing
import random
import time

from harness import ValueClient, encode
from register_checker import Op


class Session(multiprocessing.Process):
    """Batches of `depth` commands on one connection; `writes` of 1000 are INCR."""

    def __init__(self, port, number, keys, depth, writes, seconds):
        super().__init__(daemon=True)
        self.receiver, self.sender = multiprocessing.Pipe(duplex=False)
        self.setting = (port, number, keys, depth, writes, seconds)

    def run(self):
        port, number, keys, depth, writes, seconds = self.setting
        dice = random.Random(number)
        gets = [encode("GET", key) for key in keys]
        incrs = [encode("INCR", key) for key in keys]
        history = []
        with ValueClient(port) as client:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                batch = [(dice.randrange(len(keys)), dice.randrange(1000) < writes)
                         for _ in range(depth)]
                request = b"".join(incrs[key] if is_write else gets[key] for key, is_write in batch)
                invoked = time.monotonic()
                client.send_raw(request)
                versions = [version_of(client) for _ in batch]
                history.append((invoked, time.monotonic(), batch, versions))
        self.sender.send(history)

    def ops(self):
        number, keys = self.setting[1], self.setting[2]
        order = 0
        for invoked, responded, batch, versions in self.receiver.recv():
            for (key, is_write), version in zip(batch, versions):
                if version is not None:  # an error: unknown
                    yield Op(keys[key], version, is_write, invoked, responded, number, order)
                order += 1


def version_of(client):
    line = client.stream.readline()
    if line[:1] == b":":
        return int(line[1:])
    if line == b"$-1\r\n":
        return 0
    if line[:1] == b"$":
        return int(client.stream.readline())
    if line[:1] == b"-":
        return None
    raise ConnectionError(f"not expected: {line!r}")


def play(sessions):
    """Runs them all and returns every operation."""
    for session in sessions:
        session.start()
    ops = [op for session in sessions for op in session.ops()]
    for session in sessions:
        session.join()
    return ops
