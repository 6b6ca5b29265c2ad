#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what each source of `heatsink top` costs a loaded server, and how accurate it is.

    bench/observe.py [--quick] [--heatsink build/release/apps/heatsink/heatsink]
                     [--rounds 5] [--seconds 10]

**Price.** A redis-server of its own, under as much load as it takes (redis-benchmark, one key gets
about half). In each round each source has a turn between two turns without any, in an order drawn
anew. The price is what a command of the load costs the server in CPU time (INFO cpu: the utime +
stime of /proc/PID/stat to the microsecond, so with what the kernel does for it), with and without:
a server with nothing to spare loses just that part of its throughput, and other programs on the
machine, which change the throughput itself from turn to turn, hardly touch it. Each is the median
over the rounds; price and loss are against the mean of the two neighbours.

**Accuracy.** 20 000 reads a second of 20 000 keys by Zipf's law (s = 1; for `slots`, which tells
only the keys of hot slots and so has no ranks to judge, s = 1.5), each counted by the load itself
(observe_load.py). What a source says last is compared with the counts of just the interval that it
says it is of (observe_accuracy.py).

A capture needs CAP_NET_RAW, slots a Valkey 8 (tests/servers); what cannot be measured is said.
--quick: under four minutes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests/servers"))

import unpack  # noqa: E402
from observe_accuracy import accuracy  # noqa: E402
from observe_load import ExactLoad  # noqa: E402

import harness  # noqa: E402
from harness import Redis, ValueClient, until  # noqa: E402

HOT = "the:hot:key"
KEYS = 100_000  # so many that a scan outlasts its turn
TOP = ["--json", "--interval", "1s", "--max-latency", "10s", "--source"]


class Source(typing.NamedTuple):
    name: str
    server: str = "redis"
    watch_s: float = 12  # until its answer is judged; 0: it has none
    zipf: float = 1.0  # of the load that it is judged by
    ranks: bool = True  # it tells the busiest of all keys


SOURCES = [
    Source("capture"),
    Source("monitor", watch_s=20),
    Source("lfu", watch_s=16),
    Source("slots", "valkey", watch_s=20, zipf=1.5, ranks=False),
    Source("MONITOR without a pause", watch_s=0),  # what `monitor` saves
]


def benchmark(port, *command):
    """A load that never ends; pinned to nothing: the machine decides, as elsewhere."""
    return subprocess.Popen(
        ["redis-benchmark", "-p", str(port), "-c", "20", "-P", "4", "-n", "1000000000", "-q",
         "-r", str(KEYS), *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@contextlib.contextmanager
def started(kind):
    """A server that answers for all keys; what cannot be had raises unpack.Unavailable."""
    options = ["--maxmemory-policy", "allkeys-lfu"]
    program = harness.processes.SERVER
    if kind == "valkey":
        options += ["--cluster-enabled", "yes", "--cluster-slot-stats-enabled", "yes"]
        folder = pathlib.Path(os.environ.get("HEATSINK_TEST_SERVERS", ROOT / "build/servers"))
        harness.processes.SERVER = str(unpack.unpacked("valkey-8", folder))
    try:
        redis = Redis(*options)
    finally:
        harness.processes.SERVER = program
    try:
        if kind == "valkey":
            with ValueClient(redis.port) as client:
                client("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
                until(lambda: client("SET", HOT, "v") == "OK", what="the cluster is up")
        yield redis
    finally:
        redis.stop()


class LoadedServer:
    """A context: a server with all the load it takes."""

    def __init__(self, redis):
        self.redis = redis
        self.client = ValueClient(redis.port)
        self.client.pipeline([("SET", f"key:{i:012d}", "v" * 100) for i in range(KEYS)])
        self.client("SET", HOT, "v" * 100)

    def __enter__(self):
        self.loads = [
            benchmark(self.redis.port, "STRLEN", HOT),
            benchmark(self.redis.port, "GET", "key:__rand_int__"),
        ]
        time.sleep(1)
        return self

    def __exit__(self, *_):
        for load in self.loads:
            load.send_signal(signal.SIGKILL)
            load.wait()
        self.client.close()

    def counts(self):
        """Commands of the load so far, and seconds of CPU time."""
        cpu = self.client("INFO", "cpu").decode()
        by_command = self.client("INFO", "commandstats").decode()
        calls = re.findall(r"cmdstat_(?:strlen|get):calls=(\d+)", by_command)
        parts = re.findall(r"used_cpu_(?:sys|user):([\d.]+)", cpu)
        return sum(map(int, calls)), sum(map(float, parts))

    def turn(self, seconds):
        began, before = time.monotonic(), self.counts()
        time.sleep(seconds)
        took = time.monotonic() - began
        commands, cpu_s = (now - then for now, then in zip(self.counts(), before))
        return Turn(commands / took, cpu_s / commands)


class Turn(typing.NamedTuple):
    commands_per_s: float
    cpu_s: float  # of a command


class Watcher:
    """A context: the source runs."""

    def __init__(self, heatsink, port, name):
        url = f"redis://127.0.0.1:{port}"
        command = [heatsink, "top", url, *TOP, name]
        if name.startswith("MONITOR"):
            command = ["redis-cli", "-p", str(port), "MONITOR"]
        self.output = tempfile.TemporaryFile("w+") if "top" in command else subprocess.DEVNULL
        self.child = subprocess.Popen(command, stdout=self.output, stderr=subprocess.DEVNULL)

    def __enter__(self):
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()

    def answers(self):
        """Once it has ended."""
        self.output.seek(0)
        return [json.loads(line) for line in self.output if line.endswith("\n")]


class Round(typing.NamedTuple):
    during: Turn
    without: Turn  # the mean of the two neighbours

    def price(self):
        return 1 - self.without.cpu_s / self.during.cpu_s

    def lost(self):
        return 1 - self.during.commands_per_s / self.without.commands_per_s


def mean(one, other):
    return Turn(*map(statistics.mean, zip(one, other)))


def prices(server, heatsink, names, rounds, seconds):
    """The rounds of each source."""
    out = {name: [] for name in names}
    before = server.turn(seconds)
    for _ in range(rounds):
        for name in random.sample(names, len(names)):
            with Watcher(heatsink, server.redis.port, name):
                during = server.turn(seconds)
            after = server.turn(seconds)
            out[name].append(Round(during, mean(before, after)))
            before = after
    return out


def judged(port, heatsink, source, load):
    """The accuracy of what it says after source.watch_s, or a sentence."""
    watcher = Watcher(heatsink, port, source.name)
    with watcher:
        time.sleep(source.watch_s)
    for answer in reversed(watcher.answers()):
        by = answer["sources"][0]
        if answer["keys"] and by["name"] == source.name and by["since"] is not None:
            return accuracy(answer, load.truth)
    return "no keys told"


def may_capture(heatsink):
    done = subprocess.run(
        [heatsink, "top", "--source", "capture", "--interface", "lo", "--json", "--for", "100ms"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "CAP_NET_RAW" not in done.stderr


def percent(part):
    return "-" if part != part else f"{100 * part:.1f} %"


def loaded(turns):
    """What the server managed, and what each command took of it."""
    per_s = statistics.median(turn.commands_per_s for turn in turns)
    cpu_s = statistics.median(turn.cpu_s for turn in turns)
    return [f"{per_s / 1e3:.0f} k/s", f"{1e6 * cpu_s:.2f} µs"]


def row(source, rounds, found):
    prices_paid = [each.price() for each in rounds]
    cells = [
        source.name,
        *loaded([each.during for each in rounds]),
        percent(statistics.median(prices_paid)),
        f"{100 * min(prices_paid):.1f} .. {100 * max(prices_paid):.1f} %",
        percent(statistics.median(each.lost() for each in rounds)),
    ]
    if found is None:
        cells += ["-"] * 4
    elif isinstance(found, str):
        cells += [found] * 4
    else:
        ranks = (found.top_10, found.top_100)
        cells += [percent(part) if source.ranks else "-" for part in ranks]
        cells += [percent(found.rate_error), f"{percent(found.held)} of {found.rows}"]
    return line(cells)


def line(cells):
    return "| " + " | ".join(cells) + " |"


def measure(kind, sources, chosen):
    """A row of the table for each source of this kind of server."""
    rounds, seconds = (3, 3.5) if chosen.quick else (chosen.rounds, chosen.seconds)
    with started(kind) as redis, LoadedServer(redis) as server:
        names = [source.name for source in sources]
        price = prices(server, chosen.heatsink, names, rounds, seconds)
    found = {}
    with started(kind) as redis, ExactLoad(redis.port, zipf=sources[0].zipf) as load:
        time.sleep(5 if chosen.quick else 60)  # access counters take their time
        for source in sources:
            if source.watch_s > 0:
                found[source.name] = judged(redis.port, chosen.heatsink, source, load)
    without = loaded([each.without for rounds in price.values() for each in rounds])
    return [
        line([f"none ({kind})", *without, *["-"] * 7]),
        *(row(source, price[source.name], found.get(source.name)) for source in sources),
    ]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--heatsink",
        default=str(ROOT / "build/release/apps/heatsink/heatsink"),
        help="the program to measure",
    )
    options.add_argument("--quick", action="store_true", help="finish in less than four minutes")
    options.add_argument("--rounds", type=int, default=5, help="number of rounds (default 5)")
    options.add_argument(
        "--seconds", type=float, default=10, help="length of one measurement (default 10)"
    )
    options.add_argument(
        "--sources",
        default=",".join(source.name for source in SOURCES),
        help="sources to measure, with commas between them (default: all)",
    )
    chosen = options.parse_args()
    if not os.access(chosen.heatsink, os.X_OK):
        sys.exit(f"{chosen.heatsink} is not there: cmake --preset release, then build it")
    random.seed(1)
    wanted = [source for source in SOURCES if source.name in chosen.sources.split(",")]
    rows = []
    if any(source.name == "capture" for source in wanted) and not may_capture(chosen.heatsink):
        wanted = [source for source in wanted if source.name != "capture"]
        rows.append("| capture | not measured: it needs CAP_NET_RAW |")
    for kind in ("redis", "valkey"):
        sources = [source for source in wanted if source.server == kind]
        try:
            rows += measure(kind, sources, chosen) if sources else []
        except unpack.Unavailable as why:
            rows += [f"| {source.name} | not measured: {why} |" for source in sources]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end", file=sys.stderr)
    print("| source | commands | CPU of each | price | least .. most | throughput lost "
          "| top 10 | top 100 | rates off | bounds hold |")  # fmt: skip
    print("|---" * 10 + "|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
