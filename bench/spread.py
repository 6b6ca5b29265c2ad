#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much load of one hot key the busiest node of a cluster has, without and with spread.

Two proxies in front of the same cluster get the same load in turns, one without rules. GET of one
key, while a writer changes it ten times a second, and INCR of one counter. The figures are the
commands that the busiest of three nodes executed, and its CPU time.
"""

import argparse
import os
import pathlib
import statistics
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

COMMON = {"detection.enabled": "no", "doctor.enabled": "no"}
WITHOUT = ("match=*,level=off",)
WITH = (
    "match=hot,level=off,spread.copies=6",
    "match=count,level=off,spread.parts=12",
)


class Writer:
    """Sets the key ten times a second."""

    def __init__(self, port):
        import harness  # pylint: disable=import-outside-toplevel

        self.client = harness.ValueClient(port)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()

    def _run(self):
        while not self.ended.wait(0.1):
            self.client("SET", "hot", os.urandom(32).hex())

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.client.close()


def commands_of(node):
    info = dict(line.split(b":", 1) for line in node("INFO", "stats").splitlines() if b":" in line)
    return int(info[b"total_commands_processed"])


def load_of_nodes(cluster, proxy, command, requests):
    """Of each node: its part of the commands, and CPU us per request of the load."""
    from load import run_load  # pylint: disable=import-outside-toplevel

    def state():
        return [(commands_of(node), node.redis.process.cpu_s()) for node in cluster.masters]

    before = state()
    with Writer(proxy.port):
        run_load(proxy.port, command, requests, pipeline=16)
    return [
        ((commands - c) / requests, (cpu - s) * 1e6 / requests)
        for (commands, cpu), (c, s) in zip(state(), before)
    ]


def measure(cluster, proxies, command, requests, rounds):
    busiest = {name: [] for name in proxies}
    for _ in range(rounds):
        for name, proxy in proxies.items():
            nodes = load_of_nodes(cluster, proxy, command, requests)
            busiest[name].append(tuple(map(max, zip(*nodes))))
    for name, rows in busiest.items():
        commands, cpu = (statistics.median(column) for column in zip(*rows))
        print(f"| {command[0]} | {name} | {commands:.2f} | {cpu:.2f} us |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=300_000)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    os.environ.setdefault("HEATSINK", str(options.programs / "apps/heatsink/heatsink"))
    import harness  # pylint: disable=import-outside-toplevel
    from harness.cluster import Cluster  # pylint: disable=import-outside-toplevel

    made = []
    try:
        with Cluster(3) as cluster:
            proxies = {}
            for name, rules in (("without", WITHOUT), ("spread", WITH)):
                proxies[name] = harness.Proxy(cluster.url, COMMON, rules)
                made.append(proxies[name])
            print("| request | rules | commands of the busiest node per request | its CPU |")
            print("|---|---|---|---|")
            measure(cluster, proxies, ["GET", "hot"], options.requests, options.rounds)
            measure(cluster, proxies, ["INCR", "count"], options.requests, options.rounds)
    finally:
        for each in made:
            each.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
