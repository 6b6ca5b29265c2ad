#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures each relief on one flash sale: the load left for the server, and client latencies.

    bench/relief.py [--heatsink build/release/apps/heatsink/heatsink] [--rounds 3]
                    [--seconds 6] [--only NAME ...]

The sale, beginning at once: one product page (4 KiB) that is read 12 000 times a second, one
counter that is written 3000 times a second, and one highest bid that is asked 3000 times a second,
every twentieth of these a new bid. Beside it the others: 2000 requests a second for 10 000 keys,
5 % of them writes, which began before. All come at their own pace, however slow the answers are
(`heatsink load --rate`). Each relief has a server and a proxy of its own; rounds in an order drawn
anew, medians told. CPU time is that of the process; commands are the server's own count.
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

CALM_S = 1  # the others alone
KEY = "product:1000:price"  # how the load calls its first
ONE = ["--keys", 1]
CROWDS = {  # flags of the load; the name is the prefix of its keys
    "page": [*ONE, "--rate", 12_000, "--clients", 50, "--write-ratio", 0, "--value-size", 4096],
    "counter": [*ONE, "--rate", 3000, "--clients", 50, "--write-ratio", 1],
    "bid": [*ONE, "--rate", 3000, "--clients", 50, "--write-ratio", 0.05],
}
OTHERS = ["--rate", 2000, "--clients", 8, "--write-ratio", 0.05, "--keys", 10_000, "--zipf", 0.5]

NO_COPIES = {"cache.enabled": "false"}
COPIES = {"detection.hot-qps": 500}
GATHER = "match=counter:*,coalesce=2ms"
REFUSE = "match=*:product:1000:price,limit.rate=1000/s,limit.burst=100"
LAST_COPY = "match=bid:*,window=1s,hot-qps=300,limit.rate=1000/s,limit.over=stale"


class Relief(typing.NamedTuple):
    options: dict
    rules: tuple = ()
    warmed: tuple = ()


RELIEFS = {
    "nothing, no proxy": None,
    "a proxy that only passes on": Relief(NO_COPIES),
    "local copies": Relief(COPIES),
    "local copies, page warmed": Relief(COPIES, (), (f"page:{KEY}",)),
    "gathered writes": Relief(NO_COPIES, (GATHER,)),
    "limit 1000/s, rest refused": Relief(NO_COPIES, (REFUSE,)),
    "copies, bid limited, rest stale": Relief(COPIES, (LAST_COPY,)),
    "all of it": Relief(COPIES, (GATHER, LAST_COPY), (f"page:{KEY}",)),
}


class Told(typing.NamedTuple):
    """Per second, but for what has another unit in its name."""

    first: float  # commands that the server carried out in the first second of the sale
    commands: float  # behind it
    server_cpu: float  # of one core
    proxy_cpu: float
    page: float  # served
    counter: float
    bid: float
    refused: float
    page_p99_ms: float
    counter_p99_ms: float
    others_p99_ms: float


def thousands(value):
    return f"{value:,.0f}"


def percent(value):
    return f"{100 * value:.0f} %"


def millis(value):
    return f"{value:.1f} ms"


COLUMNS = {
    "commands at the server, first second": ("first", thousands),
    "then, per s": ("commands", thousands),
    "its CPU": ("server_cpu", percent),
    "the proxy's": ("proxy_cpu", percent),
    "pages/s": ("page", thousands),
    "counted/s": ("counter", thousands),
    "bids/s": ("bid", thousands),
    "refused/s": ("refused", thousands),
    "p99 page": ("page_p99_ms", millis),
    "p99 counter": ("counter_p99_ms", millis),
    "p99 of the others": ("others_p99_ms", millis),
}


class Load:
    """`heatsink load` under way; told() waits for its end."""

    def __init__(self, heatsink, port, prefix, flags, seconds):
        self.child = subprocess.Popen(
            [heatsink, "load", "--target", f"redis://127.0.0.1:{port}", "--prefix", prefix,
             "--quiet", "--for", f"{seconds}s", *map(str, flags)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def told(self):
        """(answered per second, refused per second, p99 in ms)"""
        said = self.child.communicate()[0]
        found = re.search(r"^(\d+) operations in ([\d.]+)s", said, re.MULTILINE)
        p99 = re.search(r"p99 ([\d.]+) ms", said)
        errors = re.search(r"^errors: (\d+)", said, re.MULTILINE)
        if not (found and p99 and errors):
            raise SystemExit(f"bench/relief.py: heatsink load said: {said}")
        seconds = float(found[2])
        return int(found[1]) / seconds, int(errors[1]) / seconds, float(p99[1])

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()


class Sale:
    """A context: a server, and a proxy if there is one."""

    def __init__(self, harness, heatsink, relief):
        self.harness, self.heatsink, self.relief = harness, heatsink, relief
        self.redis = self.proxy = self.client = None
        self.loads = []

    def __enter__(self):
        self.redis = self.harness.Redis()
        self.client = self.harness.ValueClient(self.redis.port)
        self.client("SET", f"page:{KEY}", "p" * 4096)
        if self.relief is not None:
            self.proxy = self.harness.Proxy(
                self.redis, self.relief.options, self.relief.rules, stderr=subprocess.DEVNULL
            )
            self.warm()
        return self

    def __exit__(self, *_):
        for load in self.loads:
            load.stop()
        self.client.close()
        if self.proxy is not None:
            self.proxy.process.kill()
        self.redis.stop()

    def warm(self):
        for key in self.relief.warmed:
            subprocess.run(
                [self.heatsink, "warm", key, "--for", "10m", "--admin",
                 f"127.0.0.1:{self.proxy.admin_port}"],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip

    def begin(self, prefix, flags, seconds):
        port = (self.proxy or self.redis).port
        load = Load(self.heatsink, port, prefix, flags, seconds)
        self.loads.append(load)
        return load

    def counts(self):
        """Moment, commands, CPU seconds of the server and of the proxy."""
        stats = self.client("INFO", "commandstats").decode()
        commands = sum(map(int, re.findall(r"cmdstat_\S+:calls=(\d+)", stats)))
        proxy = self.proxy.process.cpu_s() if self.proxy is not None else 0
        return time.monotonic(), commands, self.redis.process.cpu_s(), proxy

    def told(self, seconds):
        others = self.begin("", OTHERS, seconds + CALM_S)
        time.sleep(CALM_S)
        begun = self.counts()
        crowds = [self.begin(f"{name}:", flags, seconds) for name, flags in CROWDS.items()]
        time.sleep(1)
        first = self.counts()
        time.sleep(max(0.0, begun[0] + seconds - 0.5 - time.monotonic()))
        last = self.counts()
        took_s = last[0] - first[0]
        page, counter, bid = (crowd.told() for crowd in crowds)
        return Told(
            (first[1] - begun[1]) / (first[0] - begun[0]),
            *((to - since) / took_s for since, to in zip(first[1:], last[1:])),
            page[0], counter[0], bid[0], page[1] + counter[1] + bid[1],
            page[2], counter[2], others.told()[2],
        )  # fmt: skip


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--heatsink",
        default=str(ROOT / "build/release/apps/heatsink/heatsink"),
        help="the program to measure",
    )
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds (default 3)")
    parser.add_argument(
        "--seconds", type=int, default=6, help="length of one measurement (default 6)"
    )
    parser.add_argument(
        "--only", choices=list(RELIEFS), action="append", help="measure only this; may be repeated"
    )
    return parser.parse_args()


def main():
    chosen = options()
    os.environ["HEATSINK"] = chosen.heatsink
    import harness  # pylint: disable=import-outside-toplevel  # it reads HEATSINK once

    random.seed(1)
    names = chosen.only or list(RELIEFS)
    told = {name: [] for name in names}
    for _ in range(chosen.rounds):
        for name in random.sample(names, len(names)):
            with Sale(harness, chosen.heatsink, RELIEFS[name]) as sale:
                told[name].append(sale.told(chosen.seconds))
    print("| relief | " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---:|" * len(COLUMNS))
    for name in names:
        medians = Told(*map(statistics.median, zip(*told[name])))
        cells = [show(getattr(medians, field)) for field, show in COLUMNS.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
