#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each source of `heatsink top` takes of a loaded server, and how right it is.

    bench/observe.py [--heatsink build/release/apps/heatsink/heatsink] [--rounds 5] [--seconds 10]

A redis-server of its own, under as much load as it takes (redis-benchmark, one key gets about
half), for `--rounds` rounds. In each round each source has a turn between two turns without any, in
an order drawn anew, so that what the machine does to one turn it does to all; the price is the
median of the losses against the mean of the two neighbours. Exact counts are the server's own: the
hot key is asked for with STRLEN and the others with GET, and INFO commandstats counts each.
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
        """Commands so far, and those for the hot key."""
        stats = self.client("INFO", "stats").decode()
        by_command = self.client("INFO", "commandstats").decode()
        return (
            int(re.search(r"total_commands_processed:(\d+)", stats)[1]),
            int(re.search(r"cmdstat_strlen:calls=(\d+)", by_command)[1]),
        )

    def rates(self, seconds):
        """Of all commands and of those for the hot key, per second."""
        began, before = time.monotonic(), self.counts()
        time.sleep(seconds)
        took = time.monotonic() - began
        return [(now - then) / took for now, then in zip(self.counts(), before)]


class Watcher:
    """A context: the source runs; `answers` afterwards."""

    def __init__(self, heatsink, port, name, seconds):
        flags = SOURCES[name]
        if flags is None:
            command = ["redis-cli", "-p", str(port), "MONITOR"]
        else:
            url = f"redis://127.0.0.1:{port}"
            command = [heatsink, "top", url, "--json", "--interval", "1s", *flags]
            command += ["--for", f"{seconds + 2}s"]
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
    losses = {name: [] for name in SOURCES}
    verdicts = {name: [] for name in SOURCES}
    try:
        without, _ = server.rates(chosen.seconds)
        for _ in range(chosen.rounds):
            for name in random.sample(list(SOURCES), len(SOURCES)):
                port = server.redis.port
                with Watcher(chosen.heatsink, port, name, chosen.seconds) as watcher:
                    during, hot = server.rates(chosen.seconds)
                after, _ = server.rates(chosen.seconds)
                losses[name].append(1 - during / ((without + after) / 2))
                verdicts[name].append(judged(watcher.answers, hot))
                without = after
    finally:
        server.close()
    print(f"{without:.0f} commands/s without a source; {os.cpu_count()} cores")
    print("| source | throughput lost (median of the rounds) | least .. most | the hot key |")
    print("|---|---|---|---|")
    for name, values in losses.items():
        texts = " / ".join(sorted(set(verdicts[name]))) if SOURCES[name] else "-"
        print(
            f"| {name} | {100 * statistics.median(values):.1f} % "
            f"| {100 * min(values):.1f} .. {100 * max(values):.1f} % | {texts} |"
        )


if __name__ == "__main__":
    main()
