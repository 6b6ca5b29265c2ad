# SPDX-License-Identifier: Apache-2.0
"""Mixes of commands, and clients that send them in a steady rate."""

import threading
import time

from harness import RawClient
from harness.client import encode

CLIENTS = 3
KEYS = 200


def zipf(i):
    """A few keys have most of the accesses: key 0 a third of them."""
    return f"k:{KEYS // (1 + (i * 7919) % KEYS) - 1}"


def mix(writes, read=lambda i: ("GET", zipf(i)), write=lambda i: ("SET", zipf(i // 3), "v" * 50)):
    """Of a hundred commands, this many writes, evenly spread."""
    return lambda i: write(i) if (i * writes) % 100 < writes else read(i)


class Load:
    """Clients that send the commands of a mix, `depth` at once."""

    def __init__(self, port, command, depth=1):
        self.depth = depth
        self.stops = threading.Event()
        self.counts = [0] * CLIENTS
        self.threads = [
            threading.Thread(target=self.run, args=(RawClient(port), command, number))
            for number in range(CLIENTS)
        ]
        for thread in self.threads:
            thread.start()

    def sent(self):
        return sum(self.counts)

    def run(self, client, command, number):
        i = number * 1009
        while not self.stops.is_set():
            batch = b"".join(encode(*command(i + k)) for k in range(self.depth))
            client.socket.sendall(batch)
            for _ in range(self.depth):
                client.read()
            i += self.depth
            self.counts[number] += self.depth
            time.sleep(0.001)  # one client in a steady rate
        client.close()

    def stop(self):
        self.stops.set()
        for thread in self.threads:
            thread.join()
