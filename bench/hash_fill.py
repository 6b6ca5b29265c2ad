#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server pays for a fill of a hash: without any question for the ends of its fields, with
HPTTL, and with OBJECT ENCODING (docs/decisions/0097).

    bench/hash_fill.py [--server PROGRAM] [--rounds 7]

PROGRAM: a server whose fields can expire, such as tests/servers/unpack.py brings. All cases are
played in each round, interleaved: 20 fills at once, on one tracking connection. The figures are
medians, in microseconds of the server's CPU time for one fill.
"""

import argparse
import pathlib
import socket
import statistics
import sys
import tempfile

import processes

FIELDS = (1, 10, 50, 100, 500, 1000)
AT_ONCE = 20
FILLS = 4000  # of a hash of 10 fields, in a round; fewer of longer ones


def command(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def reply(self):
        line = self.file.readline().strip()
        kind, rest = line[:1], line[1:]
        if kind in (b"*", b"%"):
            return [self.reply() for _ in range(int(rest) * (2 if kind == b"%" else 1))]
        if kind == b"$" and int(rest) >= 0:
            return self.file.read(int(rest) + 2)[:-2].decode()
        return line.decode()

    def ask(self, *words):
        self.socket.sendall(command(*words))
        return self.reply()

    def play(self, commands, times):
        batch = b"".join(command(*words) for words in commands) * AT_ONCE
        for _ in range(times):
            self.socket.sendall(batch)
            for _ in range(AT_ONCE * len(commands)):
                self.reply()


def ways_of(names):
    """The commands of one fill, by the name of the way."""
    ttl, read = ("PTTL", "h"), ("HGETALL", "h")
    ends = ("HPTTL", "h", "FIELDS", len(names), *names)
    encoding = ("OBJECT", "ENCODING", "h")
    return {
        "alone": [ttl, read],
        "HPTTL": [ttl, read, ends],
        "encoding": [ttl, encoding, read],
        "both": [ttl, encoding, read, ends],
        "HGET": [ttl, ("HGET", "h", names[0])],
        "HGET, HPTTL": [ttl, ("HPTTL", "h", "FIELDS", 1, names[0]), ("HGET", "h", names[0])],
        "HGET, encoding": [ttl, encoding, ("HGET", "h", names[0])],
    }


def measure(server, client, count, rounds):
    names = [f"f{number:04}" for number in range(count)]
    client.ask("DEL", "h")
    for name in names:
        client.ask("HSET", "h", name, "v" * 20)
    ways, times = ways_of(names), max(5, FILLS // AT_ONCE * 20 // (count + 10))
    seen = {way: [] for way in ways}
    for _ in range(rounds):
        for way, commands in ways.items():
            before = server.cpu_seconds()
            client.play(commands, times)
            seen[way].append((server.cpu_seconds() - before) / times / AT_ONCE * 1e6)
    cells = " | ".join(f"{statistics.median(costs):.1f}" for costs in seen.values())
    print(f"| {count} | {client.ask('OBJECT', 'ENCODING', 'h')} | {cells} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--server", default="redis-server", help="default redis-server")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = processes.free_port()
        command_line = [chosen.server, "--port", port, "--save", ""]
        server = processes.Process("the server", command_line, pathlib.Path(folder))
        try:
            server.wait_until_serving(port)
            client = Connection(port)
            client.ask("HELLO", "3")
            if not isinstance(client.ask("HPTTL", "h", "FIELDS", "1", "a"), list):
                raise processes.BenchError("the fields of this server's hashes do not expire")
            client.ask("CLIENT", "TRACKING", "ON", "NOLOOP")
            print("| fields | encoding | " + " | ".join(ways_of(["f"])) + " |")
            print("|---" * (2 + len(ways_of(["f"]))) + "|")
            for count in FIELDS:
                measure(server, client, count, chosen.rounds)
        finally:
            server.stop()


if __name__ == "__main__":
    try:
        main()
    except processes.BenchError as error:
        sys.exit(f"hash_fill.py: {error}")
