#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a cluster costs behind the proxy, against one server behind it.

GET: two proxies, one in front of a single server and one in front of a cluster, get the same load
in turns; the figure is the proxies' CPU time per request. MGET of 20 keys: the time of one request
of three nodes, against the slowest of its three parts asked alone, in turns over one connection.
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


def measure_mget(harness, cluster, many, rounds):
    client = harness.RawClient(many.port)
    names = [f"m{i}" for i in range(KEYS)]
    for name in names:
        client.ask("SET", name, "x" * 64)
    parts = {}
    for name in names:
        parts.setdefault(cluster.owner(name).port, []).append(name)
    commands = [["MGET", *names], *(["MGET", *part] for part in parts.values())]
    commands += [["GET", names[0]]]
    columns = list(zip(*([timed_us(client, each) for each in commands] for _ in range(rounds))))
    whole, *alone, get = (statistics.median(column) for column in columns)
    sizes = ", ".join(str(len(part)) for part in parts.values())
    print(f"| MGET of {KEYS} keys of {len(parts)} nodes ({sizes}) |"
          f" slowest part {max(alone):.0f} us | {whole:.0f} us |"
          f" {whole / max(alone):.2f} |")  # fmt: skip
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
