#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of an event loop: the same reply by bare epoll, net::EventLoop, Boost.Asio.

Operations per second of the responder's own CPU time, which does not depend on how the machine's
cores are shared with the load. Rounds are interleaved, so that a slow minute of the machine meets
all three.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from load import requests_for, run_load
from processes import Process, free_port, run_bench

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESPONDERS = {"epoll": "bare_responder", "heatsink": "loop_responder", "asio": "asio_responder"}
COMMAND = ["GET", "hot"]
PIPELINES = (1, 16)


def measure(process, port, pipeline, requests):
    before = process.cpu_seconds()
    run_load(port, COMMAND, requests, pipeline=pipeline)
    return requests / (process.cpu_seconds() - before)


def run(options, stack):
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-bench-"))
    running = {}
    for name, program in RESPONDERS.items():
        port = free_port()
        process = Process(name, [options.programs / program, port], folder)
        stack.callback(process.stop)
        process.wait_until_serving(port)
        running[name] = (process, port)
    figures = {}
    for pipeline in PIPELINES:
        requests = requests_for(running["epoll"][1], COMMAND, options.seconds, pipeline=pipeline)
        rounds = [
            {name: measure(*each, pipeline, requests) for name, each in running.items()}
            for _ in range(options.rounds)
        ]
        figures[f"P={pipeline}"] = {
            name: {
                "operations_per_cpu_second": statistics.median(each[name] for each in rounds),
                "ratio_to_epoll": statistics.median(each[name] / each["epoll"] for each in rounds),
                "ratio_min": min(each[name] / each["epoll"] for each in rounds),
                "ratio_max": max(each[name] / each["epoll"] for each in rounds),
            }
            for name in RESPONDERS
        }
    print_table(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def print_table(figures):
    print(
        f"{'':6} {'loop':10} {'k ops / CPU s':>14} {'us / op':>8} "
        f"{'to bare epoll':>14} {'least .. most':>14}"
    )
    for case, rows in figures.items():
        for name, row in rows.items():
            rate = row["operations_per_cpu_second"]
            spread = f"{row['ratio_min']:.2f} .. {row['ratio_max']:.2f}"
            print(
                f"{case:6} {name:10} {rate / 1000:14.0f} {1e6 / rate:8.3f} "
                f"{row['ratio_to_epoll']:14.3f} {spread:>14}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--programs",
        type=pathlib.Path,
        default=ROOT / "build/release/bench",
        help="folder of the built responders",
    )
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds (default 9)")
    parser.add_argument(
        "--seconds", type=float, default=1.5, help="approximate length of one measurement"
    )
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    options = parser.parse_args()
    options.programs = options.programs.resolve()
    return run_bench("event_loop", run, options)


if __name__ == "__main__":
    sys.exit(main())
