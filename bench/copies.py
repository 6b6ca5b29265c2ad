#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What copies spare a real server: its CPU time and commands, with heatsink at its defaults, with
copies switched off, and without heatsink.

    bench/copies.py [--traces ../shared/traces] [--rounds 3] [--only NAME] [--writes 0 0.1]

Three servers of the same keys: one without a proxy (direct), one behind a proxy without copies
(cache.enabled false), one behind a proxy at its defaults. Three clients play the same workload at
the same time, so what else the machine does concerns all three. They play it with 20 requests at
once and 20 000/s, then with one at a time and 2000/s, for --seconds each. In each round the
servers change their places, and each proxy has just started, so its learning counts. The servers
share a core of their own. Figures are medians of the rounds.

direct    CPU time of the server without a proxy
no copies CPU time of the server behind a proxy without copies, in percent of direct
cpu       CPU time of the server, with copies, in percent of that behind a proxy without copies
commands  commands that the server ran, heatsink's own included, in percent of direct
hits      reads that copies answered, in percent of all requests
heatsink  CPU time of the proxy with copies, in percent of the server's in direct

How far cpu may be off is seen with --set cache.enabled=false, where both proxies are the same: on a
machine of two cores it was 99 % with 20 requests at once, but 79 to 99 % with one at a time.

A row misses its goal, marked by *, if cpu is above 100 % by more than chance: --tolerance percent.
Exit code: 0 no row misses its goal, 1 some do, 2 the bench could not run.
"""

import argparse
import array
import dataclasses
import multiprocessing
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import processes

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKLOADS = ("scarab-recs", "orm-busy", "web07", "corda", "zipf 0.9", "zipf 1.1")
PACES = ((20, 20_000), (1, 2_000))  # requests at once, requests per second
WRITE_BIT = 1 << 31
VALUE = b"v" * 100
REPLY_BYTES = {"GET": len(VALUE) + 8, "SET": 5}  # $100\r\n...\r\n, +OK\r\n
CONNECTIONS = 10


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def name_of(number):
    return b"item:%09d" % number


class Connection:
    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, requests, reply_bytes):
        self._socket.sendall(requests)
        while reply_bytes > 0:
            received = len(self._socket.recv(1 << 16))
            if received == 0:
                raise processes.BenchError("the server or the proxy closed the connection")
            reply_bytes -= received

    def info(self, section):
        """The integers of INFO; of commandstats: the calls."""
        self._socket.sendall(command(b"INFO", section))
        reply = b""
        while b"\r\n" not in reply or len(reply) < self._owed(reply):
            reply += self._socket.recv(1 << 16)
        out = {}
        for line in reply.decode().splitlines():
            name, _, value = line.partition(":")
            value = value.partition("calls=")[2].partition(",")[0] or value
            if value.isdigit():
                out[name] = int(value)
        return out

    @staticmethod
    def _owed(reply):
        head = reply.partition(b"\r\n")[0]
        return len(head) + 2 + int(head[1:]) + 2

    def close(self):
        self._socket.close()


def requests_of(options, workload, writes, count):
    """Numbers of keys; a write has WRITE_BIT. None: there is no such trace here."""
    asked = [str(options.program), "--requests", str(count), "--write-requests", workload,
             str(writes)]  # fmt: skip
    if options.traces.is_dir():
        asked += ["--traces", str(options.traces)]
    try:
        told = subprocess.run(asked, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise processes.BenchError(
            f"there is no {options.program}; build it: deploy/build release bench_policy"
        ) from error
    numbers = array.array("I")
    numbers.frombytes(told.stdout[: len(told.stdout) // 4 * 4])
    return numbers if told.returncode == 0 and len(numbers) > 0 else None


def batches_of(numbers, at_once):
    out = []
    for begin in range(0, len(numbers), at_once):
        words, owed = [], 0
        for number in numbers[begin : begin + at_once]:
            key = name_of(number & ~WRITE_BIT)
            if number & WRITE_BIT:
                words.append(command(b"SET", key, VALUE))
                owed += REPLY_BYTES["SET"]
            else:
                words.append(command(b"GET", key))
                owed += REPLY_BYTES["GET"]
        out.append((b"".join(words), owed))
    return out


def fill(port, numbers):
    connection = Connection(port)
    keys = sorted({number & ~WRITE_BIT for number in numbers})
    for begin in range(0, len(keys), 500):
        some = keys[begin : begin + 500]
        sets = b"".join(command(b"SET", name_of(key), VALUE) for key in some)
        connection.ask(sets, len(some) * REPLY_BYTES["SET"])
    connection.close()


def play(port, batches, interval_s):
    connections = [Connection(port) for _ in range(CONNECTIONS)]
    begin = time.monotonic()
    for number, (requests, owed) in enumerate(batches):
        connections[number % CONNECTIONS].ask(requests, owed)
        time.sleep(max(0.0, begin + (number + 1) * interval_s - time.monotonic()))
    for connection in connections:
        connection.close()


def play_at_once(ports, batches, interval_s):
    """One client per port."""
    fork = multiprocessing.get_context("fork")
    clients = [fork.Process(target=play, args=(port, batches, interval_s)) for port in ports]
    try:
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    finally:
        for client in clients:
            if client.is_alive():
                client.terminate()
    if any(client.exitcode != 0 for client in clients):
        raise processes.BenchError("a client failed: see above")


def hits_of(admin_port):
    with urllib.request.urlopen(f"http://127.0.0.1:{admin_port}/metrics", timeout=5) as page:
        text = page.read()
    for line in text.decode().splitlines():
        if line.startswith("heatsink_local_hits_total "):
            return float(line.split()[1])
    raise processes.BenchError("the proxy has no metric heatsink_local_hits_total")


@dataclasses.dataclass(frozen=True)
class Played:
    cpu_s: float  # of the server
    commands: int
    own_cpu_s: float = 0.0  # of the proxy
    hits: float = 0.0


@dataclasses.dataclass(frozen=True)
class Round:
    direct: Played
    no_copies: Played
    copies: Played


class Server:
    """A redis-server."""

    def __init__(self, name, folder):
        self.port = processes.free_port()
        self._process = processes.Process(
            name, ["redis-server", "--port", self.port, "--save", ""], folder
        )

    def begin(self, cores=None):
        """On these cores, or on any."""
        self._process.wait_until_serving(self.port)
        if cores is not None:
            self._process.pin(cores)

    def stop(self):
        self._process.stop()

    def cpu_seconds(self):
        return self._process.cpu_seconds()

    def work(self):
        """CPU time in seconds, and commands, so far."""
        control = Connection(self.port)
        commands = sum(control.info(b"commandstats").values())
        control.close()
        return self._process.cpu_seconds(), commands


class Proxy:
    """A heatsink in front of a Server."""

    def __init__(self, name, program, server, options, folder):
        self.port, self._admin = processes.free_port(), processes.free_port()
        self._process = processes.Process(
            name,
            [program, "proxy", "--listen", f"127.0.0.1:{self.port}",
             "--upstream", f"127.0.0.1:{server.port}", "--admin", f"127.0.0.1:{self._admin}",
             *options],
            folder,
        )  # fmt: skip

    @property
    def pid(self):
        return self._process.pid

    @property
    def admin(self):
        return self._admin

    def begin(self):
        for port in (self.port, self._admin):
            self._process.wait_until_serving(port)

    def cpu_seconds(self):
        return self._process.cpu_seconds()

    def hits(self):
        return hits_of(self._admin)

    def stop(self):
        self._process.stop()


class Bench:
    def __init__(self, options, folder):
        self._options, self._folder = options, folder
        self._servers = [Server(f"server{number}", folder) for number in range(3)]

    def begin(self):
        cores = sorted(os.sched_getaffinity(0))
        for server in self._servers:
            server.begin(cores[:1])
        if len(cores) > 1:
            os.sched_setaffinity(0, cores[1:])  # and those of the proxies and clients to come

    def stop(self):
        for server in self._servers:
            server.stop()

    def rounds(self, numbers, at_once, rate):
        for server in self._servers:
            fill(server.port, numbers)
        batches, interval_s = batches_of(numbers, at_once), at_once / rate
        for _ in range(self._options.rounds):
            yield self._round(batches, interval_s)
            self._servers.append(self._servers.pop(0))

    def _round(self, batches, interval_s):
        program = self._options.heatsink.resolve()
        without = Proxy("without", program, self._servers[1], ["--set=cache.enabled=false"],
                        self._folder)  # fmt: skip
        copies = Proxy("copies", program, self._servers[2], self._options.set, self._folder)
        try:
            without.begin()
            copies.begin()
            before = [server.work() for server in self._servers]
            play_at_once([self._servers[0].port, without.port, copies.port], batches, interval_s)
            done = [server.work() for server in self._servers]
            played = [
                Played(cpu_s - cpu_before, commands - commands_before)
                for (cpu_s, commands), (cpu_before, commands_before) in zip(done, before)
            ]
            played[2] = dataclasses.replace(
                played[2], own_cpu_s=copies.cpu_seconds(), hits=copies.hits()
            )
            return Round(*played)
        finally:
            without.stop()
            copies.stop()


def row_of(name, requests, rounds, tolerance):
    """The row, and whether it reaches the goal."""

    def percent(part):
        return 100 * statistics.median(part(played) for played in rounds)

    seconds = statistics.median(played.direct.cpu_s for played in rounds)
    no_copies = percent(lambda played: played.no_copies.cpu_s / played.direct.cpu_s)
    cpu = percent(lambda played: played.copies.cpu_s / played.no_copies.cpu_s)
    commands = percent(lambda played: played.copies.commands / played.direct.commands)
    hits = percent(lambda played: played.copies.hits / requests)
    own = percent(lambda played: played.copies.own_cpu_s / played.direct.cpu_s)
    missed = cpu > 100 + tolerance
    return (
        f"{name} {seconds:7.2f} s {no_copies:8.0f} % {cpu:6.0f} %{'*' if missed else ' '} "
        f"{commands:8.0f} % {hits:5.0f} % {own:8.0f} %"
    ), not missed


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--program", type=pathlib.Path, default=ROOT / "build/release/bench/bench_policy",
        help="writes the requests (default: build/release/bench/bench_policy)",
    )  # fmt: skip
    parser.add_argument(
        "--heatsink", type=pathlib.Path, default=ROOT / "build/release/apps/heatsink/heatsink",
        help="the proxy (default: build/release/apps/heatsink/heatsink)",
    )  # fmt: skip
    parser.add_argument(
        "--traces", type=pathlib.Path, default=ROOT / "../shared/traces",
        help="folder of the traces (default: ../shared/traces)",
    )  # fmt: skip
    parser.add_argument("--only", choices=WORKLOADS, help="one workload")
    parser.add_argument("--writes", type=float, nargs="+", default=[0, 0.1, 0.5],
                        help="shares of writes, to the same keys (default: 0 0.1 0.5)")  # fmt: skip
    parser.add_argument("--set", action="append", default=[], type=lambda text: f"--set={text}",
                        metavar="OPTION=VALUE", help="of the proxy with copies")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=3, help="(default: 3)")
    parser.add_argument("--seconds", type=float, default=15, help="per play (default: 15)")
    parser.add_argument("--tolerance", type=float, default=3, help="percent (default: 3)")
    return parser.parse_args()


def run(options, bench):
    """True: all rows reach their goals."""
    reached = True
    print(f"{'workload':12} writes           pace    direct  no copies      cpu  commands    hits "
          f" heatsink")  # fmt: skip
    for workload in [options.only] if options.only else WORKLOADS:
        for writes in options.writes:
            for at_once, rate in PACES:
                numbers = requests_of(options, workload, writes, int(rate * options.seconds))
                name = f"{workload:12} {100 * writes:4.0f} %  {at_once:4} x {rate:6}/s"
                if numbers is None:
                    print(f"{name}  skipped: there is no such trace in {options.traces}")
                    continue
                rounds = list(bench.rounds(numbers, at_once, rate))
                row, is_met = row_of(name, len(numbers), rounds, options.tolerance)
                print(row, flush=True)
                reached = reached and is_met
    return reached


def main():
    options = parse_options()
    processes.end_on_signals()
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options, pathlib.Path(folder))
            try:
                bench.begin()
                return 0 if run(options, bench) else 1
            finally:
                bench.stop()
    except (processes.BenchError, OSError) as error:
        print(f"copies: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
