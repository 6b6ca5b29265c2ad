#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a request through heatsink, direct Redis, nutcracker and a bare responder.

All contenders run at once and are measured in turn, round by round, so that a slow minute of the
machine affects all of them. Throughput is a ratio to direct Redis in the same round. On a machine
with few cores it shows how load, proxy and Redis share the cores; there, rely on CPU time per
operation, of the proxy and of Redis.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

from contenders import KEYS, Starter, fill, hot_key, random_key_prefix
from load import RANDOM, requests_for, run_load
from processes import run_bench
from targets import TARGET_VALUE_BYTES, judge

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTENDERS = ("direct", "nutcracker", "bare", "heatsink", "heatsink-blind")
OPERATIONS = ("hot GET", "random GET", "SET")
PIPELINES = (1, 16)


def command_of(operation, value_bytes):
    key = random_key_prefix(value_bytes) + RANDOM
    return {
        "hot GET": ["GET", hot_key(value_bytes)],
        "random GET": ["GET", key],
        "SET": ["SET", key, "x" * value_bytes],
    }[operation]


def measure(contender, redis, command, requests, how):
    """One cell of one round. CPU times are microseconds per operation."""
    own, server = contender.process.cpu_seconds(), redis.process.cpu_seconds()
    load = run_load(contender.port, command, requests, **how)
    own = contender.process.cpu_seconds() - own
    server = redis.process.cpu_seconds() - server
    return {
        "rps": load.rps,
        "p99_ms": load.p99_ms,
        "cpu_us": own * 1e6 / requests,
        "redis_us": server * 1e6 / requests if contender.uses_redis else None,
    }


def medians(rounds, name):
    """The figures of one contender: medians over rounds, ratios taken within each round."""
    mine = [each[name] for each in rounds]
    figures = {
        figure: statistics.median(each[figure] for each in mine)
        for figure in ("rps", "p99_ms", "cpu_us")
    }
    figures["operations_per_cpu_second"] = 1e6 / figures["cpu_us"]
    figures["redis_us"] = (
        None
        if mine[0]["redis_us"] is None
        else statistics.median(each["redis_us"] for each in mine)
    )
    figures["ratio"] = statistics.median(
        each[name]["rps"] / each["direct"]["rps"] for each in rounds
    )
    figures["p99_ratio"] = statistics.median(
        each[name]["p99_ms"] / each["direct"]["p99_ms"] for each in rounds
    )
    if "heatsink-blind" in rounds[0]:
        figures["to_blind"] = statistics.median(
            each[name]["cpu_us"] / each["heatsink-blind"]["cpu_us"] for each in rounds
        )
    if "bare" in rounds[0]:
        figures["to_bare"] = statistics.median(
            each["bare"]["cpu_us"] / each[name]["cpu_us"] for each in rounds
        )
    return figures


def run_case(options, running, operation, pipeline, value_bytes):
    command = command_of(operation, value_bytes)
    how = {
        "pipeline": pipeline,
        "random_keys": 0 if operation == "hot GET" else KEYS,
        "threads": options.threads,
        "cores": options.load_cores,
    }
    requests = {}
    for name, contender in running.items():
        if operation == "hot GET":
            contender.get_ready_for_hot(hot_key(value_bytes))
        requests[name] = requests_for(contender.port, command, options.seconds, **how)
    rounds = []
    for _ in range(options.rounds):
        # Again each round: the key cools down while the others are asked.
        if operation == "hot GET":
            for contender in running.values():
                contender.get_ready_for_hot(hot_key(value_bytes))
        rounds.append(
            {
                name: measure(contender, running["direct"], command, requests[name], how)
                for name, contender in running.items()
            }
        )
    return {name: medians(rounds, name) for name in running}


def print_case(operation, pipeline, value_bytes, cells):
    print(f"\n{operation}, P={pipeline}, {value_bytes} B")
    print(
        f"  {'':15} {'requests/s':>10} {'to direct':>9} {'p99 ms':>7} "
        f"{'k ops/CPU s':>11} {'own us':>7} "
        f"{'to bare':>7} {'Redis us':>8}"
    )
    for name, row in cells.items():
        redis = "-" if row["redis_us"] is None else f"{row['redis_us']:.2f}"
        to_bare = f"{row['to_bare']:.2f}" if "to_bare" in row else "-"
        print(
            f"  {name:15} {row['rps']:10.0f} {row['ratio']:9.2f} {row['p99_ms']:7.2f} "
            f"{row['operations_per_cpu_second'] / 1000:11.0f} {row['cpu_us']:7.2f} "
            f"{to_bare:>7} {redis:>8}",
            flush=True,
        )


def print_targets(judged):
    if not judged:
        return
    print(f"\nTargets ({TARGET_VALUE_BYTES} B)")
    for row in judged:
        sign = "<=" if row["at_most"] else ">="
        case = f"{row['operation']}, P={row['pipeline']}"
        print(
            f"  {'met ' if row['met'] else 'MISS'} {case:18} "
            f"{row['target']:56} {sign} {row['limit']:<5} "
            f"reached {row['reached']:.3g}"
        )


def run(options, stack):
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-bench-"))
    starter = Starter(options, folder, stack)
    results, targets = [], []
    for value_bytes in options.sizes:
        fill(starter.redis.port, value_bytes)
    shared = {name: starter.start(name, 0) for name in options.only if name != "bare"}
    for value_bytes in options.sizes:
        running = {
            name: starter.start(name, value_bytes) if name == "bare" else shared[name]
            for name in options.only
        }
        if options.server_cores:
            for contender in running.values():
                contender.process.pin(options.server_cores)
        cells = {}
        for operation in options.operations:
            for pipeline in PIPELINES:
                case = run_case(options, running, operation, pipeline, value_bytes)
                print_case(operation, pipeline, value_bytes, case)
                cells[operation, pipeline] = case
                results.append(
                    {
                        "operation": operation,
                        "pipeline": pipeline,
                        "value_bytes": value_bytes,
                        "contenders": case,
                    }
                )
        if value_bytes == TARGET_VALUE_BYTES:
            targets = judge(cells)
    print_targets(targets)
    figures = {
        "rounds": options.rounds,
        "seconds": options.seconds,
        "workers": options.workers,
        "cores": os.cpu_count(),
        "cases": results,
        "targets": targets,
    }
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def names(known):
    def parse(text):
        wanted = [name.strip() for name in text.split(",")]
        for name in wanted:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return wanted

    return parse


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default 5)")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="approximate length of one measurement"
    )
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.5 s, 64 B only")
    parser.add_argument(
        "--only",
        type=names(CONTENDERS),
        default=list(CONTENDERS),
        help=f"contenders, from {','.join(CONTENDERS)}; direct always runs",
    )
    parser.add_argument(
        "--operations",
        type=names(OPERATIONS),
        default=list(OPERATIONS),
        help="operations, from hot GET,random GET,SET",
    )
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(size) for size in text.split(",")],
        default=[64, 1024],
        help="sizes of a value in bytes (default 64,1024)",
    )
    parser.add_argument("--workers", type=int, default=1, help="threads of heatsink")
    parser.add_argument("--threads", type=int, default=1, help="threads of redis-benchmark")
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="option of heatsink"
    )
    parser.add_argument("--pin", action="store_true", help="load on core 0, all servers on core 1")
    parser.add_argument(
        "--programs", type=pathlib.Path, default=ROOT / "build/release", help="the build directory"
    )
    parser.add_argument("--json", type=pathlib.Path, help="also write all figures to this file")
    options = parser.parse_args()
    options.programs = options.programs.resolve()
    if options.quick:
        options.rounds, options.seconds, options.sizes = 3, 0.5, [TARGET_VALUE_BYTES]
    # Every ratio is to direct Redis.
    options.only = [name for name in CONTENDERS if name == "direct" or name in options.only]
    options.load_cores, options.server_cores = ({0}, {1}) if options.pin else (None, None)
    return options


def main():
    return run_bench("proxy", run, parse_options())


if __name__ == "__main__":
    sys.exit(main())
