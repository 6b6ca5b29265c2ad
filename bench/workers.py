#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the default number of workers with one worker, for few and for many clients.

The default must never be worse than the better of both: a worker is filled before the next one is
used (docs/decisions/0030-a-worker-is-filled-first.md). Both proxies, and direct Redis, run at once
and are measured in turn, round by round. --before adds the program of another build with its
default. On a machine with few cores, load, proxy and Redis share them: compare ratios within a row.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

from contenders import KEYS, Starter, fill, hot_key, random_key_prefix
from load import RANDOM, requests_for, run_load
from processes import run_bench

ROOT = pathlib.Path(__file__).resolve().parent.parent
VALUE_BYTES = 64
OPERATIONS = ("hot GET", "random GET")


def command_of(operation):
    if operation == "hot GET":
        return ["GET", hot_key(VALUE_BYTES)]
    return ["GET", random_key_prefix(VALUE_BYTES) + RANDOM]


def measure(contender, command, requests, how):
    own = contender.process.cpu_seconds()
    load = run_load(contender.port, command, requests, **how)
    own = contender.process.cpu_seconds() - own
    return {"rps": load.rps, "p99": load.p99_ms, "cpu": own * 1e6 / requests}


def run_case(options, running, operation, pipeline, clients):
    command = command_of(operation)
    how = {
        "pipeline": pipeline,
        "random_keys": 0 if operation == "hot GET" else KEYS,
        "threads": options.threads,
        "connections": clients,
    }
    requests = requests_for(running["direct"].port, command, options.seconds, **how)
    rounds = []
    for _ in range(options.rounds):
        if operation == "hot GET":
            for contender in running.values():
                contender.get_ready_for_hot(hot_key(VALUE_BYTES))
        rounds.append(
            {
                name: measure(contender, command, requests, how)
                for name, contender in running.items()
            }
        )
    row = {}
    for name in running:
        row[name] = {
            "rps": statistics.median(each[name]["rps"] / each["direct"]["rps"] for each in rounds),
            "p99": statistics.median(each[name]["p99"] for each in rounds),
            "cpu": statistics.median(each[name]["cpu"] for each in rounds),
            "to one": statistics.median(each[name]["rps"] / each["one"]["rps"] for each in rounds),
        }
    return row


def print_row(operation, pipeline, clients, row):
    cells = [
        f"{name}: {figures['rps']:5.2f} of direct, {figures['to one']:5.2f} of one, "
        f"p99 {figures['p99']:6.2f} ms, {figures['cpu']:6.2f} us"
        for name, figures in row.items()
    ]
    print(f"{operation}, P={pipeline}, {clients} clients", flush=True)
    for cell in cells:
        print("  " + cell, flush=True)


def run(options, stack):
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-bench-"))
    starter = Starter(options, folder, stack)
    fill(starter.redis.port, VALUE_BYTES)
    running = {
        "direct": starter.redis,
        "one": starter.start_heatsink("one", [], caches=True, workers=1),
        "default": starter.start_heatsink("default", [], caches=True, workers=0),
    }
    if options.before:
        running["before"] = starter.start_heatsink(
            "before", [], caches=True, workers=0, programs=options.before
        )
    print(f"{os.cpu_count()} CPUs; medians of {options.rounds} rounds")
    for operation in options.operations:
        for pipeline in options.pipelines:
            for clients in options.clients:
                row = run_case(options, running, operation, pipeline, clients)
                print_row(operation, pipeline, clients, row)


def numbers(text):
    return [int(number) for number in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default 5)")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="approximate length of one measurement"
    )
    parser.add_argument("--clients", type=numbers, default=[1, 2, 10, 50, 500])
    parser.add_argument("--pipelines", type=numbers, default=[1, 16])
    parser.add_argument("--operations", type=lambda text: text.split(","), default=OPERATIONS)
    parser.add_argument("--threads", type=int, default=1, help="threads of redis-benchmark")
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="option of heatsink"
    )
    parser.add_argument(
        "--programs", type=pathlib.Path, default=ROOT / "build/release", help="the build directory"
    )
    parser.add_argument("--before", type=pathlib.Path, help="the build directory of another tree")
    options = parser.parse_args()
    options.programs = options.programs.resolve()
    options.before = options.before.resolve() if options.before else None
    options.workers = 1
    return options


def main():
    return run_bench("workers", run, parse_options())


if __name__ == "__main__":
    sys.exit(main())
