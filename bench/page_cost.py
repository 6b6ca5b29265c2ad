#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what open pages cost a proxy: its CPU time with and without them, at the same load.

Each page does what a browser's does: it follows /api/stream, and asks the other answers with every
fifth column. Seconds with and without pages take turns; the figures are medians. Workers do nothing
for a page, and their time wanders on a busy machine, so the two threads that do are told apart: the
one that answers, and the keeper, which makes the reports.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import re
import socket
import statistics
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

ASKED = ("hotkeys", "advice", "events", "health", "config", "replicas")  # the last three if open


class Page:
    """One open page, until it is closed."""

    def __init__(self, admin_port):
        self.port = admin_port
        self.over = False
        self.is_due = threading.Event()
        self.socket = socket.create_connection(("127.0.0.1", admin_port))
        self.socket.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.bytes = 0
        self.threads = [threading.Thread(target=target) for target in (self.read, self.ask)]
        for thread in self.threads:
            thread.start()

    def read(self):
        with contextlib.suppress(OSError):
            while chunk := self.socket.recv(65536):
                self.bytes += len(chunk)
                numbers = re.findall(rb"^id: (\d+)$", chunk, re.MULTILINE)
                if any(int(number) % 5 == 0 for number in numbers):
                    self.is_due.set()

    def ask(self):
        while self.is_due.wait() and not self.over:
            self.is_due.clear()
            for name in ASKED:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/{name}") as answer:
                    answer.read()

    def close(self):
        self.over = True
        self.is_due.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.socket.close()


def cpu_seconds(pid):
    """By the names of its threads; the kernel's exact times."""
    out = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        out[name] += int((task / "schedstat").read_text().split()[0]) / 1e9
    return out


def measure(harness, arguments):
    redis = harness.Redis()
    proxy = harness.Proxy(redis, {"proxy.workers": 1})
    load = harness.processes.Process(
        [harness.HEATSINK, "load", "--target", f"redis://127.0.0.1:{proxy.port}", "--for", "0",
         "--rate", str(arguments.rate), "--pipeline", "8", "--quiet"]
    )  # fmt: skip
    pid = proxy.process.child.pid
    ratios, threads = [], {"heatsink": [], "keeper": []}
    try:
        time.sleep(arguments.warm_up)  # the copies are there
        for _ in range(arguments.rounds):
            used, beside = [], []
            for count in (0, arguments.pages):
                pages = [Page(proxy.admin_port) for _ in range(count)]
                time.sleep(1)  # what a page asks at its start is over
                before, began = cpu_seconds(pid), proxy.metric("heatsink_commands_total")
                time.sleep(arguments.seconds)
                done = proxy.metric("heatsink_commands_total") - began
                spent = cpu_seconds(pid) - before
                used.append(spent.total() / done)
                beside.append({name: spent[name] / arguments.seconds for name in threads})
                for page in pages:
                    page.close()
            ratios.append(used[1] / used[0] - 1)
            for name, more in threads.items():
                more.append(100 * (beside[1][name] - beside[0][name]))
            print(f"without {used[0] * 1e6:.3f} us per command, with {arguments.pages} pages"
                  f" {used[1] * 1e6:.3f} us: {100 * ratios[-1]:+.2f} %; of one core, the answering"
                  f" thread {threads['heatsink'][-1]:+.2f} %,"
                  f" the keeper {threads['keeper'][-1]:+.2f} %;"
                  f" {done / arguments.seconds:.0f}/s", flush=True)  # fmt: skip
    finally:
        load.kill()
        proxy.process.kill()
        redis.stop()
    print(f"{arguments.pages} pages: {100 * statistics.median(ratios):+.2f} % of its CPU time;"
          f" of one core, the answering thread {statistics.median(threads['heatsink']):+.2f} %,"
          f" the keeper {statistics.median(threads['keeper']):+.2f} %")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--rate", type=int, default=100_000, help="requests per second; 0: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10, help="of one measurement")
    parser.add_argument("--warm-up", type=float, default=15, help="seconds")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    program = arguments.programs / "apps/heatsink/heatsink"
    if not program.exists():
        sys.exit(f"page_cost: no {program}: build it with deploy/build release heatsink")
    os.environ["HEATSINK"] = str(program)
    import harness  # pylint: disable=import-outside-toplevel
    import harness.processes  # pylint: disable=import-outside-toplevel

    measure(harness, arguments)


if __name__ == "__main__":
    main()
