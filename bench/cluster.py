#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a cluster costs behind the proxy, against one server behind it.

GET: two proxies, one in front of a single server and one in front of a cluster, get the same load
in turns; the figure is the proxies' CPU time per request. MGET of 20 keys: the time of one request
of three nodes, against the slowest of its three parts asked alone, in turns over one connection;
and the same of a client that asks the nodes itself, all at once. That one shows what is the
machine's: three nodes on two cores do not work at the same time.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

QUIET = {"detection.hot-qps": 10_000_000, "doctor.enabled": "no"}  # no key gets a copy
KEYS = 20


def cost_us(proxy, command, requests, pipeline):
    from load import run_load  # pylint: disable=import-outside-toplevel

    before = proxy.process.cpu_s()
    run_load(proxy.port, command, requests, pipeline=pipeline, random_keys=10_000)
    return (proxy.process.cpu_s() - before) * 1e6 / requests


def measure_get(one, many, rounds, requests):
    for name, command in (("GET", ["GET", "key:__rand_int__"]),
                          ("SET", ["SET", "key:__rand_int__", "x" * 64])):  # fmt: skip
        for pipeline in (1, 16):
            pairs = [
                tuple(cost_us(proxy, command, requests * pipeline // 4, pipeline)
                      for proxy in (one, many))
                for _ in range(rounds)
            ]
            ratio = statistics.median(many / one for one, many in pairs)
            of_one, of_many = (statistics.median(column) for column in zip(*pairs))
            print(f"| {name}, {pipeline} at a time | {of_one:.2f} us | {of_many:.2f} us |"
                  f" {ratio:.2f} |", flush=True)  # fmt: skip


def timed_us(client, command):
    begun = time.perf_counter()
    client.ask(*command)
    return (time.perf_counter() - begun) * 1e6


def print_mget(what, whole, alone):
    print(f"| {what} | slowest part {max(alone):.0f} us | {whole:.0f} us |"
          f" {whole / max(alone):.2f} |")  # fmt: skip


def medians_of(rounds, measures):
    rows = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*rows)]


class DirectPart:
    """As the proxy sends it: a request for each slot, and all of a node in one write."""

    def __init__(self, harness, port, names):
        self.client = harness.RawClient(port)
        self.request = b"".join(harness.encode("MGET", name) for name in names)
        self.bytes = sum(len(self.client.ask("MGET", name)) for name in names)

    def send(self):
        self.client.send_raw(self.request)

    def receive(self):
        left = self.bytes
        while left > 0:
            left -= len(self.client.socket.recv(left))


def direct_us(parts):
    begun = time.perf_counter()
    for part in parts:
        part.send()
    for part in parts:
        part.receive()
    return (time.perf_counter() - begun) * 1e6


def measure_mget(harness, cluster, many, rounds):
    client = harness.RawClient(many.port)
    names = [f"m{i}" for i in range(KEYS)]
    for name in names:
        client.ask("SET", name, "x" * 64)
    parts = {}
    for name in names:
        parts.setdefault(cluster.owner(name).port, []).append(name)
    sizes = ", ".join(str(len(part)) for part in parts.values())
    what = f"MGET of {KEYS} keys of {len(parts)} nodes ({sizes})"
    commands = [["MGET", *names], *(["MGET", *part] for part in parts.values())]
    commands += [["GET", names[0]]]
    whole, *alone, get = medians_of(
        rounds, [lambda each=each: timed_us(client, each) for each in commands]
    )
    print_mget(what, whole, alone)
    direct = [DirectPart(harness, port, part) for port, part in parts.items()]
    asked = [direct, *([each] for each in direct)]
    whole, *alone = medians_of(rounds, [lambda each=each: direct_us(each) for each in asked])
    print_mget(f"{what}, by the client itself", whole, alone)
    print(f"| GET | {get:.0f} us | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--requests", type=int, default=60_000)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    os.environ.setdefault("HEATSINK", str(options.programs / "apps/heatsink/heatsink"))
    import harness  # pylint: disable=import-outside-toplevel
    from harness.cluster import Cluster  # pylint: disable=import-outside-toplevel

    redis = harness.Redis()
    proxies = []
    try:
        with Cluster(3) as cluster:
            one, many = harness.Proxy(redis, QUIET), harness.Proxy(cluster.url, QUIET)
            proxies += [one, many]
            for each in proxies:
                cost_us(each, ["SET", "key:__rand_int__", "x" * 64], 50_000, 16)
            print("| request | one server | cluster of three masters | ratio |\n|---|---|---|---|")
            measure_get(one, many, options.rounds, options.requests)
            measure_mget(harness, cluster, many, 300 * options.rounds)
    finally:
        for each in proxies:
            each.stop()
        redis.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
