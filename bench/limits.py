#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how a flood on one key slows down other clients, without a limit and with one.

    bench/limits.py [--heatsink build/release/apps/heatsink/heatsink] [--rounds 5] [--seconds 3]

A redis-server, and a proxy before it. Twenty clients ask for LRANGE of one list of 20 000 elements
as fast as they are answered, whatever the answer: about a millisecond of the server each. Meanwhile
another client reads small keys, one after the other with a pause of a millisecond: their latency is
told, how often the server has run LRANGE (its own count), and how many asks of the flood the proxy
has refused. Each round has a turn for each row, in an order drawn anew; told is the median over the
rounds. The flood is a process of its own that takes a core when it is refused all the time: with
fewer than four cores it is in the way of the others by that alone.
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = "match=big,limit.rate=50/s,limit.burst=5"
ROWS = {  # the rule of the flooded key, None: nobody floods; and options
    "no flood": (None, {}),
    "flood, no limit": ("", {}),
    "flood, reject at once": (LIMIT, {"limits.refusal-delay": "0"}),
    "flood, reject": (LIMIT, {}),
    "flood, delay": (LIMIT + ",limit.over=delay", {}),
}
ELEMENTS = 20_000


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--heatsink",
        default=str(ROOT / "build/release/apps/heatsink/heatsink"),
        help="the program to measure",
    )
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default 5)")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="length of one measurement (default 3)"
    )
    return parser.parse_args()


def elements():
    return [f"element:{i}" for i in range(ELEMENTS)]


def calls(server):
    found = re.search(r"cmdstat_lrange:calls=(\d+)", server("INFO", "commandstats").decode())
    return int(found[1]) if found else 0


def refusals(proxy):
    found = re.search(r'limited_total\{[^}]*outcome="rejected"\} (\S+)', proxy.metrics())
    return float(found[1]) if found else 0


def latencies_ms(port, seconds, client_class):
    out, end = [], time.monotonic() + seconds
    with client_class(port) as client:
        while time.monotonic() < end:
            begun = time.monotonic()
            client("GET", f"small:{len(out) % 100}")
            out.append((time.monotonic() - begun) * 1000)
            time.sleep(0.001)  # the pace of the probe
    return sorted(out)


def turn(harness, redis, rule, options_of_row, flood, seconds):
    """(p50, p99, max in ms; LRANGEs per second at the server; refusals per second)

    `flood` begins one on a port.
    """
    cold = {"cache.enabled": "no", "proxy.workers": 2, **options_of_row}
    with contextlib.ExitStack() as stack:
        proxy = harness.Proxy(redis, cold, rules=[rule] if rule else [], stderr=subprocess.DEVNULL)
        stack.callback(proxy.stop)
        server = stack.enter_context(harness.ValueClient(redis.port))
        if rule is not None:
            before = calls(server)
            stack.enter_context(flood(proxy.port))
            while calls(server) < before + 5:  # the burst, which is spent then
                time.sleep(0.01)
        time.sleep(0.2)
        before, refused, begun = calls(server), refusals(proxy), time.monotonic()
        found = latencies_ms(proxy.port, seconds, harness.ValueClient)
        took_s = time.monotonic() - begun
        asked, refused = calls(server) - before, refusals(proxy) - refused
    p50, p99 = found[len(found) // 2], found[len(found) * 99 // 100]
    return p50, p99, found[-1], asked / took_s, refused / took_s


def main():
    arguments = options()
    os.environ["HEATSINK"] = arguments.heatsink
    # pylint: disable=import-outside-toplevel  # it reads HEATSINK once
    import harness
    from harness.flood import Flood

    redis = harness.Redis()
    figures = {row: [] for row in ROWS}
    try:
        with harness.ValueClient(redis.port) as server:
            server("RPUSH", "big", *elements())
            server.pipeline([("SET", f"small:{i}", "v" * 100) for i in range(100)])
        reply_bytes = len(harness.encode(*elements()))

        def flood(port):
            return Flood(port, reply_bytes, "LRANGE", "big", 0, -1)

        for _ in range(arguments.rounds):
            for row in random.sample(list(ROWS), len(ROWS)):
                figures[row].append(turn(harness, redis, *ROWS[row], flood, arguments.seconds))
    finally:
        redis.stop()
    print(f"{'other clients':22} {'p50 ms':>7} {'p99 ms':>7} {'max ms':>7}", end=" ")
    print(f"{'LRANGE/s at the server':>23} {'refused/s':>10}")
    for row, turns in figures.items():
        p50, p99, most, asked, refused = (statistics.median(each) for each in zip(*turns))
        print(f"{row:22} {p50:7.2f} {p99:7.2f} {most:7.2f} {asked:23.0f} {refused:10.0f}")


if __name__ == "__main__":
    main()
