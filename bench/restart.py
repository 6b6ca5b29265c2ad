#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a hand-over (SIGUSR2) with many clients: how long it takes, and what one notices.

Idle clients are connected, each with a database of its own choice. One more asks all the time; its
longest wait during the hand-over is shown beside that of the second before. Then all of the others
ask something: each one has to be answered.
"""

import argparse
import os
import pathlib
import re
import resource
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]


def measure(harness, redis, count):
    from harness.asking import Asking  # pylint: disable=import-outside-toplevel

    proxy = harness.Proxy(redis, {"proxy.maximum-clients": count + 100})
    output = proxy.process.output
    try:
        clients = [harness.RawClient(proxy.port, timeout_s=60) for _ in range(count)]
        for number, client in enumerate(clients):
            client.ask("SELECT", number % 16)
        with Asking(proxy.port) as asking:
            time.sleep(0.2)  # it is at work
            asking.longest_s = 0.0
            time.sleep(1)
            before_s, asking.longest_s = asking.longest_s, 0.0
            began = time.monotonic()
            os.kill(proxy.process.child.pid, signal.SIGUSR2)
            harness.until(lambda: "serves the clients" in output(), 60, "the hand-over")
            took_s = time.monotonic() - began
            during_s = asking.longest_s
        lost = 0
        for client in clients:
            try:
                lost += client.ask("PING") != b"+PONG\r\n"
            except (harness.Closed, OSError):
                lost += 1
        print(f"| {count} | {took_s:.2f} s | {before_s * 1000:.1f} ms | {during_s * 1000:.1f} ms |"
              f" {lost} |", flush=True)  # fmt: skip
    finally:
        for pid in re.findall(r"started process (\d+)", output()):
            os.kill(int(pid), signal.SIGKILL)
        proxy.process.kill()
    return lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, nargs="+", default=[100, 1_000, 9_900])
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    os.environ["HEATSINK"] = str(options.programs.resolve() / "apps/heatsink/heatsink")
    import harness  # pylint: disable=import-outside-toplevel  # it reads HEATSINK once

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    redis = harness.Redis("--maxclients", "30000")
    try:
        print("| clients | the hand-over takes | longest wait before | during | lost |")
        print("|---|---|---|---|---|")
        return 1 if sum(measure(harness, redis, count) for count in options.clients) else 0
    finally:
        redis.stop()


if __name__ == "__main__":
    sys.exit(main())
