#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What forwarding costs: GET and SET of random keys through the proxy without copies.

    bench/pass_through.py [--predixy PROGRAM] [--before build/release] [--quick]

All contenders run at once and are measured in turn, round by round; each round begins with another
one. 50 clients of redis-benchmark, 64 bytes, 1 and 16 requests at once. Figures are medians, ratios
are taken within a round. The CPU time of a process does not depend on how load, proxy and server
share the cores, so operations per CPU second of the proxy are what counts:

heatsink     without copies, one worker
before       the same of another build (--before DIRECTORY)
predixy      a proxy without TLS and RESP3; the program of --predixy, which Debian does not have
TLS clients  as heatsink, with TLS between clients and proxy, 50 handshakes in each run included
TLS server   as heatsink, with TLS between proxy and server
cluster      as heatsink, in front of a cluster of three servers
2 workers    as heatsink, with two workers

Asked: 1.15 times predixy's operations per CPU second with one request at a time, 1.4 times with 16.
Exit code: 0 reached, 1 missed, 2 the bench could not run.
"""

import argparse
import dataclasses
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from harness.certificates import Authority  # pylint: disable=wrong-import-position
from harness.cluster import Cluster  # pylint: disable=wrong-import-position
from load import RANDOM, requests_for, run_load  # pylint: disable=wrong-import-position
from processes import (  # pylint: disable=wrong-import-position
    Process,
    free_port,
    run_bench,
)

KEYS = 100_000
COMMANDS = {"GET": ["GET", f"key:{RANDOM}"], "SET": ["SET", f"key:{RANDOM}", "x" * 64]}
ASKED = {1: 1.15, 16: 1.4}  # times predixy's operations per CPU second, by requests at once

PREDIXY = """\
Bind 127.0.0.1:{port}
WorkerThreads 1
Authority {{
    Auth {{
        Mode write
    }}
}}
StandaloneServerPool {{
    RefreshMethod fixed
    Group only {{
        + 127.0.0.1:{server}
    }}
}}
"""


@dataclasses.dataclass
class Contender:
    process: object  # its CPU time is measured
    servers: list  # theirs, too
    port: int
    flags: tuple = ()  # of redis-benchmark


@dataclasses.dataclass(frozen=True)
class Measured:
    rps: float
    p99_ms: float
    own_us: float  # of the proxy's CPU time, per operation
    server_us: float


class Node:
    """A server of tests/harness's cluster, as far as it is measured."""

    def __init__(self, process):
        self._process = process

    def cpu_seconds(self):
        return self._process.cpu_s()


class Starter:
    """Starts servers and contenders; `stack` (an ExitStack) ends them."""

    def __init__(self, options, folder, stack):
        self._options, self._folder, self._stack = options, pathlib.Path(folder), stack
        self._authority = Authority(folder)
        self._cert, self._key = self._authority.sign("localhost")
        self._port, self._tls_port = free_port(), free_port()
        tls = self._authority.server_options(self._tls_port, self._cert, self._key)
        self._server = self._launch(
            "server",
            ["redis-server", "--port", self._port, "--bind", "127.0.0.1", "--save", "", *tls],
            self._port,
        )

    def _launch(self, name, arguments, port):
        process = Process(name, arguments, self._folder)
        self._stack.callback(process.stop)
        process.wait_until_serving(port)
        return process

    def all(self):
        out = {"heatsink": self._heatsink("heatsink")}
        if self._options.before is not None:
            out["before"] = self._heatsink("before", programs=self._options.before)
        if self._options.predixy is not None:
            out["predixy"] = self._predixy()
        if self._options.pairs_only:
            return out
        cert = [f"--set=proxy.tls-cert={self._cert}", f"--set=proxy.tls-key={self._key}"]
        out["TLS clients"] = self._heatsink("TLS clients", cert)
        out["TLS clients"].flags = ("--tls", "--cacert", self._authority.cert)
        ca = [f"--set=upstream.tls-ca={self._authority.cert}"]
        out["TLS server"] = self._heatsink(
            "TLS server", ca, url=f"rediss://127.0.0.1:{self._tls_port}"
        )
        masters = self._stack.enter_context(Cluster(3)).masters
        out["cluster"] = self._heatsink("cluster", url=f"redis://127.0.0.1:{masters[0].port}")
        out["cluster"].servers = [Node(each.redis.process) for each in masters]
        out["2 workers"] = self._heatsink("2 workers", workers=2)
        return out

    def _heatsink(self, name, flags=(), url=None, workers=1, programs=None):
        port = free_port()
        program = (programs or self._options.programs) / "apps/heatsink/heatsink"
        process = self._launch(
            name,
            [program.resolve(), "proxy", "--listen", f"127.0.0.1:{port}", "--upstream",
             url or f"redis://127.0.0.1:{self._port}", "--admin", f"127.0.0.1:{free_port()}",
             f"--workers={workers}", "--set=cache.enabled=false", *flags,
             *(f"--set={each}" for each in self._options.set)],
            port,
        )  # fmt: skip
        return Contender(process, [self._server], port)

    def _predixy(self):
        port, config = free_port(), self._folder / "predixy.conf"
        config.write_text(PREDIXY.format(port=port, server=self._port))
        process = self._launch("predixy", [self._options.predixy.resolve(), config], port)
        return Contender(process, [self._server], port)


def measure(contender, command, requests, pipeline):
    def cpu():
        own = contender.process.cpu_seconds()
        return own, sum(server.cpu_seconds() for server in contender.servers)

    before = cpu()
    load = run_load(contender.port, command, requests, pipeline=pipeline, random_keys=KEYS,
                    flags=contender.flags)  # fmt: skip
    own, server = ((after - at) * 1e6 / requests for after, at in zip(cpu(), before))
    return Measured(load.rps, load.p99_ms, own, server)


def run_case(options, running, command, pipeline):
    """The rounds: contender -> Measured each."""
    requests = {
        name: requests_for(each.port, command, options.seconds, pipeline=pipeline,
                           random_keys=KEYS, flags=each.flags)
        for name, each in running.items()
    }  # fmt: skip
    names, rounds = list(running), []
    for number in range(options.rounds):
        turn = number % len(names)
        order = names[turn:] + names[:turn]
        played = {name: measure(running[name], command, requests[name], pipeline) for name in order}
        rounds.append(played)
    return rounds


def to(rounds, name, other):
    """The operations per CPU second of `name` to those of `other`."""
    return statistics.median(each[other].own_us / each[name].own_us for each in rounds)


def print_case(operation, pipeline, rounds):
    print(f"\n{operation}, P={pipeline}\n  {'':12} {'ops/CPU s':>10} {'own us':>7} "
          f"{'to heatsink':>11} {'to predixy':>10} {'requests/s':>10} {'p99 ms':>7} "
          f"{'server us':>9}")  # fmt: skip
    for name in rounds[0]:

        def median(figure, mine=name):
            return statistics.median(getattr(each[mine], figure) for each in rounds)

        own = median("own_us")
        predixy = f"{to(rounds, name, 'predixy'):.2f}" if "predixy" in rounds[0] else "-"
        print(f"  {name:12} {1e6 / own:10.0f} {own:7.3f} {to(rounds, name, 'heatsink'):11.3f} "
              f"{predixy:>10} {median('rps'):10.0f} {median('p99_ms'):7.2f} "
              f"{median('server_us'):9.2f}", flush=True)  # fmt: skip


def run(options, stack):
    """True: what is asked is reached, or predixy is not there."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-bench-"))
    running = Starter(options, folder, stack).all()
    for name in ("heatsink", "cluster"):  # writes most of the keys
        if name in running:
            run_load(running[name].port, COMMANDS["SET"], 4 * KEYS, pipeline=16, random_keys=KEYS)
    verdicts = []
    for operation in options.operations:
        for pipeline in options.pipelines:
            rounds = run_case(options, running, COMMANDS[operation], pipeline)
            print_case(operation, pipeline, rounds)
            if "predixy" in running and pipeline in ASKED:
                reached = to(rounds, "heatsink", "predixy")
                met = round(reached, 2) >= ASKED[pipeline]
                text = (f"{operation}, P={pipeline}: {reached:.2f} times predixy's operations per "
                        f"CPU second, asked >= {ASKED[pipeline]:.2f}")  # fmt: skip
                verdicts.append((met, text))
    print()
    for met, text in verdicts:
        print(f"{'met ' if met else 'MISS'} {text}")
    return all(met for met, _ in verdicts)


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--predixy", type=pathlib.Path, help="its program")
    parser.add_argument("--before", type=pathlib.Path, help="the build directory of another tree")
    parser.add_argument("--pairs-only", action="store_true",
                        help="only heatsink, before and predixy")  # fmt: skip
    parser.add_argument("--operations", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--pipelines", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--rounds", type=int, default=7, help="(default: 7)")
    parser.add_argument("--seconds", type=float, default=1, help="per run (default: 1)")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.4 s")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE",
                        help="of all proxies")  # fmt: skip
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release",
                        help="the build directory (default: build/release)")  # fmt: skip
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 3, 0.4
    return options


def main():
    return run_bench("pass_through", run, parse_options())


if __name__ == "__main__":
    sys.exit(main())
