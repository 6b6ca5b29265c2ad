#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what reads from replicas take off the master of one hot key.

    bench/replica_reads.py [--programs build/release] [--rounds 7] [--seconds 2]

One master with two replicas, and two proxies: one whose rule reads from replicas, and one whose
rule does not. Each gets the same load in turns, in an order drawn anew for each round: GET of a
short value, and ZRANGE of 1000 members, which costs a server more than it costs the proxy. Medians
of the rounds. CPU time is that of the processes.
"""

import argparse
import os
import pathlib
import random
import statistics
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

OPTIONS = {"cache.enabled": "no", "doctor.enabled": "no", "detection.hot-qps": 100}
RULES = {"master": "match=hot:*,level=off", "replicas": "match=hot:*,level=off,reads=replicas"}
MEMBERS = 1000
COMMANDS = {"GET": ["GET", "hot:text"],
            f"ZRANGE of {MEMBERS}": ["ZRANGE", "hot:set", "0", "-1"]}  # fmt: skip


class Told(typing.NamedTuple):
    """Reads per second, and CPU time in us per read."""

    reads: float
    master: float
    replicas: float
    proxy: float


def measure(proxy, servers, command, requests):
    from load import run_load  # pylint: disable=import-outside-toplevel

    processes = [server.process for server in servers] + [proxy.process]
    before = [each.cpu_s() for each in processes]
    done = run_load(proxy.port, command, requests)
    us = 1e6 / requests
    master, *replicas, own = [(p.cpu_s() - was) * us for p, was in zip(processes, before)]
    return Told(done.rps, master, sum(replicas), own)


def run(options, servers, proxies):
    from load import requests_for  # pylint: disable=import-outside-toplevel

    print("| read | from | reads/s | CPU per read: master | replicas | proxy |")
    print("|---|---|---|---|---|---|")
    for name, command in COMMANDS.items():
        requests = requests_for(proxies["master"].port, command, options.seconds)
        told = {rule: [] for rule in proxies}
        for round_ in range(options.rounds + 1):
            for rule in random.sample(list(proxies), len(proxies)):
                one = measure(proxies[rule], servers, command, requests)
                if round_ > 0:  # the first one makes the keys hot
                    told[rule].append(one)
        for rule, rounds in told.items():
            reads, *cpu = (statistics.median(column) for column in zip(*rounds))
            shown = " | ".join(f"{each:.1f} us" for each in cpu)
            print(f"| {name} | {rule} | {reads:.0f} | {shown} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    os.environ.setdefault("HEATSINK", str(options.programs / "apps/heatsink/heatsink"))
    import harness  # pylint: disable=import-outside-toplevel
    from harness.sentinels import Replicated  # pylint: disable=import-outside-toplevel

    made = Replicated(2)
    proxies = {}
    try:
        with harness.ValueClient(made.master.port) as client:
            client("SET", "hot:text", "x" * 64)
            members = [word for i in range(MEMBERS) for word in (i, f"member:{i:010}")]
            client("ZADD", "hot:set", *members)
        for name, rule in RULES.items():
            proxies[name] = harness.Proxy(made.master, OPTIONS, [rule])
        run(options, made.servers, proxies)
    finally:
        for proxy in proxies.values():
            proxy.stop()
        made.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
