#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What copies cost and spare in total: CPU time of proxy and server per operation, throughput and
p99 of mixed traffic, with default options, beside the same proxy without copies.

    bench/total.py [--kinds zipf-1.1 orm-busy] [--pipelines 1 16] [--writes 0] [--workers 1]

Both sides have a proxy and a server of their own, with the same keys, loaded. 50 clients play the
same keys on one side, then on the other one, as fast as replies come: each client sends --pipeline
requests at once, and the next ones when it has all replies (`heatsink load --closed`). After a
warm-up of both sides, --rounds pairs are measured; each second pair begins with the other side.
Ratios are default to no copies, within a pair. Ratios and figures are medians.

proxy       CPU time of the proxy, all its threads
server      CPU time of the server
total       CPU time of both
hits        reads that copies answered, in percent of all operations
*           misses what is asked

Kinds: never (keys that never repeat), uniform (100 000 keys), zipf-0.9 and zipf-1.1 (1 million
keys), and the traces orm-busy, scarab and corda. --against, --set and --against-programs compare
other options or another build: `--set cache.enabled=false --against cache.enabled=false --against
detection.enabled=false` is what detection costs.

A row takes about a minute with the default --rounds, --seconds and --warm. Exit code: 0 all rows
reach what is asked, 1 some do not, 2 the bench could not run.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import processes
from copies import Connection, Proxy, Server, command

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINES = 900_000  # keys of a kind; a load goes on where the last one ended, and begins again
CLIENTS = 50
VALUE = b"v" * 64
TRACES = {
    "orm-busy": "cache2k-orm-busy.csv.zst",
    "scarab": "scarab-recs.csv.zst",
    "corda": "corda-vaultservice.csv.zst",
}


def zipf(keys, exponent):
    """Keys drawn by Zipf's law; exponent 0 draws all as often."""
    source, sums, total = random.Random(7), [], 0.0
    for rank in range(keys):
        total += (rank + 1) ** -exponent
        sums.append(total)
    return (f"key:{rank:09}" for rank in source.choices(range(keys), cum_weights=sums, k=LINES))


def never_repeated():
    source = random.Random(7)
    return (f"key:{number:012}" for number in source.sample(range(10**12), LINES))


def trace(path):
    """The keys of a trace in its order; None: it is not here."""
    if not path.is_file():
        return None
    try:
        text = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise processes.BenchError(f"cannot read {path} by zstd: {error}") from error
    keys = [line.split(b",")[1].decode() for line in text.splitlines()[1 : LINES + 1]]
    # A short trace is repeated with other keys: played twice, its keys would come again.
    laps = math.ceil(LINES / len(keys))
    return (f"key:{lap}:{key}" for lap in range(laps) for key in keys)


def keys_of(kind, traces):
    if kind in TRACES:
        return trace(traces / TRACES[kind])
    return {
        "never": never_repeated,
        "uniform": lambda: zipf(100_000, 0.0),
        "zipf-0.9": lambda: zipf(1_000_000, 0.9),
        "zipf-1.1": lambda: zipf(1_000_000, 1.1),
    }[kind]()


KINDS = ("never", "uniform", "zipf-0.9", "zipf-1.1", "orm-busy", "scarab", "corda")
NOTHING_TO_COPY = ("never", "corda")


def fill(port, names):
    connection, owed = Connection(port), len(b"+OK\r\n")
    for begin in range(0, len(names), 1000):
        some = names[begin : begin + 1000]
        sets = b"".join(command(b"SET", name.encode(), VALUE) for name in some)
        connection.ask(sets, len(some) * owed)
    connection.close()


@dataclasses.dataclass(frozen=True)
class Played:
    """One run of the load."""

    rate: float
    proxy_us: float  # per operation
    server_us: float
    p99_ms: float
    hits: float  # share of the operations

    @property
    def total_us(self):
        return self.proxy_us + self.server_us


@dataclasses.dataclass(frozen=True)
class Asked:
    text: str
    ratio: str  # of a row
    limit: float
    at_most: bool = True

    def met(self, row):
        reached = round(row[self.ratio], 2)
        return reached <= self.limit if self.at_most else reached >= self.limit


def asked_of(kind, pipeline, hits):
    """What a row is to reach (issue 40)."""
    if kind in NOTHING_TO_COPY:
        return [Asked("total", "total", 1.04), Asked("throughput", "rate", 0.97, at_most=False)]
    out = [Asked("total", "total", 0.9 if pipeline == 1 and hits > 0.5 else 1.0)]
    fast = kind == "zipf-1.1" and pipeline == 16
    out.append(Asked("throughput", "rate", 1.2 if fast else 1.0, at_most=False))
    if fast:
        out += [Asked("proxy", "proxy", 0.85), Asked("p99", "p99", 1.0)]
    return out


class Side:
    """A server and its proxy."""

    def __init__(self, name, program, workers, settings, folder):
        self._server, self._proxy = Server(f"server-{name}", folder), None
        self._played = 0  # lines
        self._make = lambda: Proxy(
            name, program, self._server,
            [f"--workers={workers}", *(f"--set={each}" for each in settings)], folder,
        )  # fmt: skip

    def begin(self, names):
        self._server.begin()
        fill(self._server.port, names)
        self._proxy = self._make()
        self._proxy.begin()

    def stop(self):
        self._server.stop()
        if self._proxy is not None:
            self._proxy.stop()

    def play(self, load, seconds):
        hits, own, server = self._work()
        told = subprocess.run(
            [*load, "--target", f"redis://127.0.0.1:{self._proxy.port}",
             "--for", f"{round(1000 * seconds)}ms", "--first-line", str(self._played % LINES + 1)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        work = self._work()
        if told.returncode != 0:
            raise processes.BenchError(f"heatsink load failed: {told.stderr or told.stdout}")
        figures = json.loads(told.stdout)
        if figures["errors"] > 0:
            raise processes.BenchError(f"the load had errors: {told.stdout}")
        done = figures["operations"]
        self._played += done
        return Played(
            rate=done / figures["seconds"], proxy_us=(work[1] - own) / done * 1e6,
            server_us=(work[2] - server) / done * 1e6, p99_ms=figures["p99_ms"],
            hits=(work[0] - hits) / done,
        )  # fmt: skip

    def _work(self):
        return self._proxy.hits(), self._proxy.cpu_seconds(), self._server.cpu_seconds()


def measure(options, load, default, other):
    """The rounds of a row: pairs of default and other."""
    for side in (default, other):
        side.play(load, options.warm)
    pairs = []
    for number in range(options.rounds):
        order = [default, other] if number % 2 == 0 else [other, default]
        played = {side: side.play(load, options.seconds) for side in order}
        pairs.append((played[default], played[other]))
    return pairs


def ratios_of(pairs):
    def ratio(figure):
        return statistics.median(
            getattr(a, figure) / max(getattr(b, figure), 1e-9) for a, b in pairs
        )

    return {"rate": ratio("rate"), "proxy": ratio("proxy_us"), "server": ratio("server_us"),
            "total": ratio("total_us"), "p99": ratio("p99_ms")}  # fmt: skip


def print_head():
    print("default to no copies                     throughput  proxy server  total    p99  hits "
          " [us per operation: proxy + server, of both sides]")  # fmt: skip


def print_row(name, pairs, asked, row):
    def median(side, figure):
        return statistics.median(getattr(pair[side], figure) for pair in pairs)

    missed = {each.ratio for each in asked if not each.met(row)}

    def cell(ratio, width):
        return f"{row[ratio]:{width}.2f}{'*' if ratio in missed else ' '}"

    print(f"{name:40} {cell('rate', 10)} {cell('proxy', 5)} {cell('server', 5)} "
          f"{cell('total', 5)} {cell('p99', 5)} {100 * median(0, 'hits'):3.0f} %  "
          f"[{median(0, 'proxy_us'):.2f} + {median(0, 'server_us'):.2f}, "
          f"{median(1, 'proxy_us'):.2f} + {median(1, 'server_us'):.2f}]")  # fmt: skip
    limits = (f"{each.text} {'<=' if each.at_most else '>='} {each.limit:.2f}" for each in asked)
    print(f"{'  asked':40} {', '.join(limits)}", flush=True)
    return not missed


def run_kind(options, folder, kind, workers):
    """True: all rows of the kind reach what is asked."""
    made = keys_of(kind, options.traces)
    if made is None:
        print(f"{kind}: skipped, there is no trace {TRACES[kind]} in {options.traces}")
        return True
    names = list(made)
    file = folder / f"{kind}.keys"
    file.write_text("\n".join(names) + "\n")
    settings = (options.set, options.against)
    sides = [
        Side(name, (programs / "apps/heatsink/heatsink").resolve(), workers, settings[i], folder)
        for i, (name, programs) in enumerate(
            [("default", options.programs), ("other", options.against_programs or options.programs)]
        )
    ]
    reached = True
    try:
        names = sorted(set(names))
        for side in sides:
            side.begin(names)
        for pipeline in options.pipelines:
            for writes in options.writes:
                load = [(options.programs / "apps/heatsink/heatsink").resolve(), "load", "--keys",
                        file, "--prefix", "", "--no-preload", "--closed", "--json",
                        "--clients", CLIENTS, "--pipeline", pipeline, "--write-ratio", writes,
                        "--value-size", len(VALUE)]  # fmt: skip
                pairs = measure(options, [str(word) for word in load], *sides)
                hits = statistics.median(default.hits for default, _ in pairs)
                name = f"{kind}, P={pipeline}, SET {100 * writes:g} %, workers {workers}"
                asked, row = asked_of(kind, pipeline, hits), ratios_of(pairs)
                reached = print_row(name, pairs, asked, row) and reached
    finally:
        for side in sides:
            side.stop()
    return reached


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    parser.add_argument("--pipelines", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--writes", type=float, nargs="+", default=[0, 0.1],
                        help="shares of writes, to the same keys (default: 0 0.1)")  # fmt: skip
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="(default: 1 2)")
    parser.add_argument("--rounds", type=int, default=5, help="pairs (default: 5)")
    parser.add_argument("--seconds", type=float, default=4, help="per run (default: 4)")
    parser.add_argument("--warm", type=float, default=8,
                        help="seconds of warm-up per row and side (default: 8)")  # fmt: skip
    parser.add_argument("--traces", type=pathlib.Path, default=ROOT / "../shared/traces",
                        help="folder of the traces (default: ../shared/traces)")  # fmt: skip
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE",
                        help="of the default side")  # fmt: skip
    parser.add_argument("--against", action="append", metavar="OPTION=VALUE",
                        help="of the other side (default: cache.enabled=false)")  # fmt: skip
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release",
                        help="the build directory (default: build/release)")  # fmt: skip
    parser.add_argument("--against-programs", type=pathlib.Path,
                        help="the build directory of the other side's proxy")  # fmt: skip
    options = parser.parse_args()
    if options.against is None:
        options.against = ["cache.enabled=false"]
    return options


def main():
    options = parse_options()
    processes.end_on_signals()
    try:
        with tempfile.TemporaryDirectory(prefix="heatsink-bench-") as folder:
            print_head()
            reached = [
                run_kind(options, pathlib.Path(folder), kind, workers)
                for workers in options.workers
                for kind in options.kinds
            ]
            return 0 if all(reached) else 1
    except (processes.BenchError, OSError) as error:
        print(f"total: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
