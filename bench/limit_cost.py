#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a limit for a request that passes: the proxy's instructions per request.

    bench/limit_cost.py [--heatsink build/release/apps/heatsink/heatsink] [--requests 100000]

The proxy runs under callgrind (Debian's valgrind), one worker. Counted is what a worker does
between the bytes of its clients that it reads and those that it sends to them or to the server,
in user space and inclusive of all that it calls: nothing that depends on how long the run takes.
Replies of the server are not among it; no limit looks at them.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

ROOT = pathlib.Path(__file__).resolve().parents[1]
COUNTED = "heatsink::proxy::ClientConnection::on_readable()"
NEVER_REACHED = "limit.rate=100000000/s,limit.burst=100000000"
ROWS = {
    "no rule has a limit": "match=none:*",
    "another rule has one": f"match=none:*,{NEVER_REACHED}",
    "the key's rule has one": f"match=key:*,{NEVER_REACHED}",
    "the same, for hits too": f"match=key:*,{NEVER_REACHED},limit.of=all",
}
RANDOM_KEYS = 1_000  # which have a place each among the 4096 of limits.maximum-keys


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--heatsink",
        default=str(ROOT / "build/release/apps/heatsink/heatsink"),
        help="the program to measure",
    )
    parser.add_argument(
        "--requests", type=int, default=100_000, help="requests of one run (default 100000)"
    )
    return parser.parse_args()


def load(port, requests, command):
    subprocess.run(
        ["redis-benchmark", "-p", str(port), "-c", "50", "-P", "16", "-q",
         "-n", str(requests), "-r", str(RANDOM_KEYS), *command],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def control(proxy, what):
    subprocess.run(
        ["callgrind_control", what, str(proxy.process.child.pid)],
        check=True,
        capture_output=True,
    )


def counted(folder):
    """The instructions of the newest dump, which is removed."""
    total = 0
    for dump in folder.glob("callgrind.out.*"):
        for line in dump.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                total = max(total, int(line.split()[1]))
        dump.unlink()
    return total


def per_request(proxy, folder, requests, command):
    load(proxy.port, requests // 4, command)  # hot, what shall be; nothing is new any more
    counted(folder)
    control(proxy, "--zero")
    load(proxy.port, requests, command)
    control(proxy, "--dump")
    return counted(folder) / requests


def measure(harness, redis, rule, requests):
    """Of a read that goes to the server, and of a hit."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        proxy = harness.Proxy(
            redis,
            {"proxy.workers": 1, "detection.hot-qps": 100, "detection.warm-qps": 50},
            rules=[rule],
            stderr=subprocess.DEVNULL,
            under=["valgrind", "--tool=callgrind", "-q", f"--toggle-collect={COUNTED}",
                   f"--callgrind-out-file={folder}/callgrind.out.%p"],
        )  # fmt: skip
        try:
            cold = per_request(proxy, folder, requests, ["GET", "key:__rand_int__"])
            hit = per_request(proxy, folder, requests, ["GET", "key:hot"])
            return cold, hit
        finally:
            proxy.stop()


def main():
    arguments = options()
    os.environ["HEATSINK"] = arguments.heatsink
    import harness  # pylint: disable=import-outside-toplevel  # it reads HEATSINK once

    redis = harness.Redis()
    try:
        with harness.ValueClient(redis.port) as server:
            server("SET", "key:hot", "v" * 64)
        print(f"{'instructions of a request':26} {'random GET':>10} {'hit':>6}")
        for row, rule in ROWS.items():
            cold, hit = measure(harness, redis, rule, arguments.requests)
            print(f"{row:26} {cold:10.0f} {hit:6.0f}", flush=True)
    finally:
        redis.stop()


if __name__ == "__main__":
    main()
