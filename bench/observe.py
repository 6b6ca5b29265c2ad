#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each source of `heatsink top` takes of a loaded server, and how right it is.

    bench/observe.py [--heatsink build/release/apps/heatsink/heatsink] [--rounds 5] [--seconds 10]

A redis-server of its own, under as much load as it takes (redis-benchmark, one key gets about
half), for `--rounds` rounds. In each round each source has a turn between two turns without any, in
an order drawn anew. The price is what a command of the load costs the server's main thread in CPU
time, with and without: a server with nothing to spare loses just that part of its throughput, and
other programs on the machine, which change the throughput itself from turn to turn, hardly touch
it. Told is the median over the rounds, against the mean of the two neighbours; the throughput
lost stands beside it. Exact counts are the server's own: the hot key is asked for with STRLEN and
the others with GET, and INFO commandstats counts each.
"""

import argparse
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from harness import Redis, ValueClient  # noqa: E402

HOT = "the:hot:key"
KEYS = 20_000
SOURCES = {
    "monitor": ["--source", "monitor", "--max-latency", "10s"],
    "lfu": ["--source", "lfu"],
    "MONITOR without a pause": None,  # what the first one saves
}


def benchmark(port, *command):
    """A load that never ends; pinned to nothing: the machine decides, as elsewhere."""
    return subprocess.Popen(
        ["redis-benchmark", "-p", str(port), "-c", "20", "-P", "4", "-n", "1000000000", "-q",
         "-r", str(KEYS), *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


class Server:
    def __init__(self):
        self.redis = Redis("--maxmemory-policy", "allkeys-lfu")
        self.client = ValueClient(self.redis.port)
        self.client.pipeline([("SET", f"key:{i:012d}", "v" * 100) for i in range(KEYS)])
        self.client("SET", HOT, "v" * 100)
        self.loads = [
            benchmark(self.redis.port, "STRLEN", HOT),
            benchmark(self.redis.port, "GET", "key:__rand_int__"),
        ]
        time.sleep(1)

    def close(self):
        for load in self.loads:
            load.send_signal(signal.SIGKILL)
            load.wait()
        self.client.close()
        self.redis.stop()

    def counts(self):
        """Commands of the load so far, those for the hot key, and seconds of CPU time."""
        cpu = self.client("INFO", "cpu").decode()
        by_command = self.client("INFO", "commandstats").decode()
        hot = int(re.search(r"cmdstat_strlen:calls=(\d+)", by_command)[1])
        others = int(re.search(r"cmdstat_get:calls=(\d+)", by_command)[1])
        parts = re.findall(r"used_cpu_(?:sys|user)_main_thread:([\d.]+)", cpu)
        return hot + others, hot, sum(map(float, parts))

    def turn(self, seconds):
        began, before = time.monotonic(), self.counts()
        time.sleep(seconds)
        took = time.monotonic() - began
        commands, hot, cpu_s = (now - then for now, then in zip(self.counts(), before))
        return Turn(commands / took, hot / took, cpu_s / commands)


class Turn(typing.NamedTuple):
    commands_per_s: float
    hot_per_s: float
    cpu_s: float  # of a command


class Watcher:
    """A context: the source runs; `answers` afterwards."""

    def __init__(self, heatsink, port, name, seconds):
        flags = SOURCES[name]
        if flags is None:
            command = ["redis-cli", "-p", str(port), "MONITOR"]
        else:
            url = f"redis://127.0.0.1:{port}"
            command = [heatsink, "top", url, "--json", "--interval", "1s", *flags]
            command += ["--for", f"{round(1000 * (seconds + 2))}ms"]
        self.answers = []
        self.is_top = flags is not None
        self.output = tempfile.TemporaryFile("w+") if self.is_top else subprocess.DEVNULL
        self.child = subprocess.Popen(command, stdout=self.output, stderr=subprocess.DEVNULL)

    def __enter__(self):
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()
        if self.is_top:
            self.output.seek(0)
            self.answers = [json.loads(line) for line in self.output if line.endswith("\n")]
            self.output.close()


def judged(answers, truth):
    """Whether the hot key came first, and whether its bounds hold the true rate."""
    with_keys = [answer for answer in answers if answer["keys"]]
    if not with_keys:
        return "no rows"
    key = with_keys[-1]["keys"][0]
    named = "named first" if key["name"] == HOT else f"another first: {key['name']}"
    high = key["rate_high"] if key["rate_high"] is not None else float("inf")
    held = key["rate_low"] <= truth <= high
    error = abs(key["rate"] - truth) / truth
    return f"{named}, {100 * error:.0f} % off, bounds {'hold' if held else 'MISS'}"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--heatsink", default="build/release/apps/heatsink/heatsink")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=10)
    chosen = options.parse_args()
    random.seed(1)
    server = Server()
    prices = {name: [] for name in SOURCES}
    losses = {name: [] for name in SOURCES}
    verdicts = {name: [] for name in SOURCES}
    try:
        before = server.turn(chosen.seconds)
        for _ in range(chosen.rounds):
            for name in random.sample(list(SOURCES), len(SOURCES)):
                port = server.redis.port
                with Watcher(chosen.heatsink, port, name, chosen.seconds) as watcher:
                    during = server.turn(chosen.seconds)
                after = server.turn(chosen.seconds)
                prices[name].append(1 - (before.cpu_s + after.cpu_s) / 2 / during.cpu_s)
                without = (before.commands_per_s + after.commands_per_s) / 2
                losses[name].append(1 - during.commands_per_s / without)
                verdicts[name].append(judged(watcher.answers, during.hot_per_s))
                before = after
    finally:
        server.close()
    print(f"{before.commands_per_s:.0f} commands/s without a source; {os.cpu_count()} cores")
    print("| source | price (CPU time) | least .. most | throughput lost | the hot key |")
    print("|---|---|---|---|---|")
    for name, price in prices.items():
        texts = "; ".join(verdicts[name]) if SOURCES[name] else "-"
        print(
            f"| {name} | {100 * statistics.median(price):.1f} % "
            f"| {100 * min(price):.1f} .. {100 * max(price):.1f} % "
            f"| {100 * statistics.median(losses[name]):.1f} % | {texts} |"
        )


if __name__ == "__main__":
    main()
