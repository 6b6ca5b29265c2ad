#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What clients with near caches of their own (CLIENT TRACKING) cost the server, and the proxy.

    bench/near.py [--only reads cost fan-out] [--clients 10000]

reads    50 and 500 clients read 20 000 times a second in all, zipf 1.1 of 10 000 keys, with one
         write for 1000 reads. Each keeps what it reads until a push ends it. The pushes come from
         the server (direct), from the server behind heatsink (off), or from heatsink (pays).
cost     50 clients read 100 hot keys as fast as replies come. CPU time of the proxy per read of
         clients that track, beside that of clients that do not; none uses what it keeps.
fan-out  all clients keep the same 100 keys, and one of these changes: how long it takes until the
         last client has been told, and how long another client waits for a PING meanwhile.

What is asked stands behind what is reached. Exit code: 0 all is reached, 1 some is not, 2 the bench
could not run.
"""

import argparse
import contextlib
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import processes
from copies import Proxy, Server

ROOT = pathlib.Path(__file__).resolve().parents[1]
KINDS = ("reads", "cost", "fan-out")
KEYS = 100
# Copies of all keys of `cost` and `fan-out`, for as long as these take.
FOR_GOOD = ("detection.hot-qps=2", "detection.window=1s", "detection.minimum-residence=1h",
            "detection.write-hot-ratio=0", "cache.admission=hot", "cache.expire-after-write=1h",
            "cache.max-staleness=10s")  # fmt: skip


class Crowd:
    """bench_near, and what it says."""

    def __init__(self, program, *words):
        self._popen = subprocess.Popen(
            [str(program), *(str(word) for word in words)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def line(self):
        line = self._popen.stdout.readline().strip()
        if not line:
            raise processes.BenchError("bench_near has ended: see above")
        return line

    def go_on(self):
        self._popen.stdin.write("\n")
        self._popen.stdin.flush()

    def figures(self):
        return json.loads(self.line())

    def stop(self):
        self._popen.kill()
        self._popen.wait()


class Bench:
    def __init__(self, options, folder):
        self._options, self._folder = options, folder
        self._missed = []

    def run(self):
        for kind in self._options.only:
            getattr(self, kind.replace("-", "_"))()
        for text in self._missed:
            print(f"missed: {text}")
        return not self._missed

    def judge(self, name, reached, asked, unit=""):
        """`reached`, with what is asked behind it."""
        if reached > asked:
            self._missed.append(f"{name}: {reached:.2f} {unit} (asked <= {asked:g})")
        return f"{reached:.2f}{'*' if reached > asked else ' '}<={asked:g}"

    def stage(self, stack, name, settings):
        """A server, and its proxy; settings None: no proxy. Both are stopped with `stack`."""
        server = Server(f"server-{name}", self._folder)
        stack.callback(server.stop)
        server.begin()
        if settings is None:
            return server, None
        program = self._options.programs / "apps/heatsink/heatsink"
        proxy = Proxy(f"proxy-{name}", program.resolve(), server,
                      ["--set=proxy.maximum-clients=20000",
                       *(f"--set={each}" for each in settings)], self._folder)  # fmt: skip
        stack.callback(proxy.stop)
        proxy.begin()
        return server, proxy

    def crowd(self, stack, *words):
        crowd = Crowd(self._options.programs / "bench/bench_near", *words)
        stack.callback(crowd.stop)
        return crowd

    def reads(self):
        print("| clients | path | server CPU us per read | commands/s at the server "
              "| proxy CPU us per read | near hits | told after ms: p50, p99, max |")  # fmt: skip
        print("|---|---|---|---|---|---|---|")
        for clients in (50, 500):
            for path in ("direct", "off", "pays"):
                with contextlib.ExitStack() as stack:
                    settings = None if path == "direct" else [f"proxy.client-tracking={path}"]
                    server, proxy = self.stage(stack, path, settings)
                    port = (proxy or server).port
                    crowd = self.crowd(stack, "reads", port, clients, 10_000, 20_000, 10)
                    crowd.line()
                    began, before = time.monotonic(), work_of(server, proxy)
                    told = crowd.figures()
                    took, after = time.monotonic() - began, work_of(server, proxy)
                cpu, commands, own = (after[i] - before[i] for i in range(3))
                used, commands = 1e6 * cpu / told["reads"], commands / took
                own = f"{1e6 * own / told['reads']:.2f}" if proxy else "-"
                push = told["push_ms"]
                print(f"| {clients} | {path} | {used:.2f} | {commands:.0f} | {own} "
                      f"| {told['near'] / told['reads']:.0%} | {push['p50']:.2f}, "
                      f"{push['p99']:.2f}, {push['max']:.2f} |", flush=True)  # fmt: skip

    def cost(self):
        spent = {"tracks": [], "plain": []}
        with contextlib.ExitStack() as stack:
            _, proxy = self.stage(stack, "cost", ["proxy.client-tracking=pays", *FOR_GOOD])
            for each in range(2 * self._options.rounds):
                kind = ("tracks", "plain", "plain", "tracks")[each % 4]
                crowd = self.crowd(stack, "closed", proxy.port, 50, KEYS, 3, kind)
                crowd.line()
                before = proxy.cpu_seconds()
                replies = crowd.figures()["replies"]
                spent[kind].append(1e6 * (proxy.cpu_seconds() - before) / replies)
                crowd.stop()
        tracks, plain = (statistics.median(spent[kind]) for kind in ("tracks", "plain"))
        ratio = self.judge("proxy CPU of clients that track", tracks / plain, 1.1)
        print(f"proxy CPU per read: {tracks:.2f} us of clients that track, {plain:.2f} us of "
              f"others: {ratio}")  # fmt: skip

    def fan_out(self):
        clients = self._options.clients
        with contextlib.ExitStack() as stack:
            _, proxy = self.stage(stack, "fan-out", ["proxy.client-tracking=pays", *FOR_GOOD])
            crowd = self.crowd(stack, "fan-out", proxy.port, clients, KEYS, 20)
            crowd.line()
            before = settled_bytes(proxy.pid)
            crowd.go_on()
            kept = int(crowd.line())
            each = (settled_bytes(proxy.pid) - before) / max(kept, 1)
            crowd.go_on()
            told = crowd.figures()
        print(f"{clients} clients keep {KEYS} keys: {kept} of {clients * KEYS} registrations, "
              f"{self.judge('bytes per registration', each, 64)} bytes each")  # fmt: skip
        if kept < clients * KEYS or told["untold"] > 0:
            self._missed.append(f"kept {kept} of {clients * KEYS}; untold: {told['untold']}")
        for name, asked in (("push", 50), ("last", 50), ("writer", 50), ("ping", 2)):
            ms = told[f"{name}_ms"]
            print(f"{WHAT[name]:44} p50 {ms['p50']:.2f} ms, p99 {ms['p99']:.2f}, max "
                  f"{self.judge(WHAT[name], ms['max'], asked, 'ms')}")  # fmt: skip


WHAT = {
    "push": "a client has been told of the change after",
    "last": "all clients have been told after",
    "writer": "the writer gets its reply after",
    "ping": "the longest PING of a round, of another",
}


def work_of(server, proxy):
    """CPU seconds and commands of the server, CPU seconds of the proxy, so far."""
    return (*server.work(), proxy.cpu_seconds() if proxy else 0)


def settled_bytes(pid):
    """Of its memory in RAM, when idle clients have given back their buffers."""
    time.sleep(25)
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return 1024 * int(line.split()[1])
    return 0


def run(options, stack):
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-bench-"))
    return Bench(options, folder).run()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--clients", type=int, default=10_000, help="of fan-out")
    parser.add_argument("--rounds", type=int, default=4, help="pairs of cost")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release",
                        help="the build directory")  # fmt: skip
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return processes.run_bench("near", run, options)


if __name__ == "__main__":
    sys.exit(main())
