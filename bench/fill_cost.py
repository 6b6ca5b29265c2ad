#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server pays for a wake-up, a GET, a fill and a push: the figures of ServerPrices
(heatsink/admit/cost_model.h).

    bench/fill_cost.py [--rounds 9]

Starts a redis-server, and plays each case in each round, interleaved. The figures are medians, in
microseconds of the server's CPU time.
"""

import argparse
import contextlib
import pathlib
import socket
import statistics
import tempfile
import time

import processes

KEYS = 100_000
BATCHES = 500
PACE_S = 0.001
VALUE = b"v" * 100
GET_REPLY, PTTL_REPLY, SET_REPLY = len(VALUE) + 8, 5, 5


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def get(key):
    return command(b"GET", key), GET_REPLY


def fill(key):
    return command(b"PTTL", key) + command(b"GET", key), PTTL_REPLY + GET_REPLY


def write(key):
    return command(b"SET", key, VALUE), SET_REPLY


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, requests):
        self.socket.sendall(b"".join(request for request, _ in requests))
        owed = sum(length for _, length in requests)
        while owed > 0:
            owed -= len(self.socket.recv(1 << 16))

    def tell(self, *words):
        """Sends a command, and drops what has come so far: replies, pushes."""
        self.socket.sendall(command(*words))
        time.sleep(0.05)
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(1 << 16):
                pass
        self.socket.setblocking(True)


class Bench:
    def __init__(self, server, port):
        self.server = server
        self.clients, self.tracker = Connection(port), Connection(port)
        self.next = 0
        for _ in range(KEYS // 500):
            self.clients.ask([write(self.key()) for _ in range(500)])
        self.tracker.tell(b"HELLO", b"3")

    def key(self):
        self.next = (self.next + 7919) % KEYS
        return b"key:%09d" % self.next

    def paced(self, ask):
        """CPU time of the server per call of `ask`; each call wakes it up."""
        before, begin = self.server.cpu_seconds(), time.monotonic()
        for number in range(1, BATCHES + 1):
            ask()
            time.sleep(max(0.0, begin + number * PACE_S - time.monotonic()))
        return (self.server.cpu_seconds() - before) / BATCHES * 1e6

    def gets(self, at_once):
        return self.paced(lambda: self.clients.ask([get(self.key()) for _ in range(at_once)]))

    def fills(self):
        """32 at once, tracked, of keys that the server does not remember yet."""
        self.tracker.tell(b"CLIENT", b"TRACKING", b"OFF")
        self.tracker.tell(b"CLIENT", b"TRACKING", b"ON")
        return self.paced(lambda: self.tracker.ask([fill(self.key()) for _ in range(32)]))

    def sets(self, tracked):
        """One at a time; if `tracked`, each makes a push."""
        keys = [self.key() for _ in range(BATCHES)]
        self.tracker.tell(b"CLIENT", b"TRACKING", b"OFF")
        if tracked:
            self.tracker.tell(b"CLIENT", b"TRACKING", b"ON")
            self.tracker.ask([get(key) for key in keys])
        left = iter(keys)
        return self.paced(lambda: self.clients.ask([write(next(left))]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        port = processes.free_port()
        server = processes.Process(
            "redis-server", ["redis-server", "--port", port, "--save", ""], pathlib.Path(folder)
        )
        try:
            server.wait_until_serving(port)
            bench = Bench(server, port)
            cases = {
                "GET, alone": lambda: bench.gets(1),
                "20 GETs at once": lambda: bench.gets(20),
                "32 fills at once": bench.fills,
                "SET, alone": lambda: bench.sets(False),
                "SET, alone, and its push": lambda: bench.sets(True),
            }
            seen = {name: [] for name in cases}
            for _ in range(rounds):
                for name, case in cases.items():
                    seen[name].append(case())
        finally:
            server.stop()
    at = {name: statistics.median(values) for name, values in seen.items()}
    for name, value in at.items():
        print(f"{name:26} {value:7.1f} us")
    one = (at["20 GETs at once"] - at["GET, alone"]) / 19
    wake = at["GET, alone"] - one
    print("In GETs that come with others:")
    print(f"  a wake-up {wake / one:.1f}")
    print(f"  a fill {(at['32 fills at once'] - wake) / 32 / one:.2f}")
    print(f"  a push {(at['SET, alone, and its push'] - at['SET, alone']) / one:.1f}")


if __name__ == "__main__":
    main()
