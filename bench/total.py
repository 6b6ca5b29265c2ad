#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What copies cost and spare in total: CPU time of proxy and server per operation, throughput and
p99 of mixed traffic, with default options, beside the same proxy without copies.

    bench/total.py [--quick] [--kinds zipf-1.1 orm-busy] [--pipelines 1 16] [--workers 1]

Each side has a proxy of its own, and a server with the same keys, loaded: one for both where
nothing is written (two processes of one server differ by up to a tenth in their CPU time), else one
each, because a write would make the other side's copies end. 50 clients play the
same keys on one side, then on the other one, as fast as replies come: each client sends --pipeline
requests at once, and the next ones when it has all replies (`heatsink load --closed`). The default
side of a kind first learns which copies pay, from --learn seconds of its keys. Before each row both
sides warm up, and --rounds pairs are measured; each second pair begins with the other side. Ratios
are default to no copies, within a pair. Ratios and figures are medians.

throughput    operations per second
proxy         CPU time of the proxy, all its threads
proxy+server  CPU time of both
server        CPU time of the server
hits          reads that copies answered, in percent of all operations
stolen        CPU time of this machine that its host gave to other machines, in the worst run. What
              runs then takes up to four times as long, by its own clock, too. So up to as many
              pairs again are played if it is more than 3 %, and those with the least of it count

What is asked stands behind what is reached: "0.95*>=1.00" misses it.

Kinds: never (keys that never repeat), uniform (100 000 keys), zipf-0.9 and zipf-1.1 (1 million
keys), and the traces orm-busy, scarab and corda. --against, --set and --against-programs compare
other options or another build: `--set cache.enabled=false --against cache.enabled=false --against
detection.enabled=false` is what detection costs.

A run is that long because the other side's run is a pause for a proxy's copies: they begin anew.
The warm-up is, because copies that do not pay after a row of other traffic are given up within 20
seconds. The whole table, all kinds but corda, has 72 rows and takes an hour and a half.
--quick takes 3 minutes: one worker, and so short that single rows are off by a tenth even on a calm
machine.
Exit code: 0 all rows reach what is asked, 1 some do not, 2 the bench could not run.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import processes
from copies import Connection, Proxy, Server, command
from total_keys import KINDS, TABLE_KINDS, TRACES, keys_of
from total_table import Played, calmest, head, make_row, stolen_of, summary

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLIENTS = 50
VALUE = b"v" * 64
STOLEN_MAX = 0.03


def fill(port, names):
    connection, owed = Connection(port), len(b"+OK\r\n")
    for begin in range(0, len(names), 1000):
        some = names[begin : begin + 1000]
        sets = b"".join(command(b"SET", name.encode(), VALUE) for name in some)
        connection.ask(sets, len(some) * owed)
    connection.close()


class Side:
    """A proxy and its server, which is another side's, too, if one is given."""

    def __init__(self, name, program, workers, settings, lines, folder, shared=None):
        self._owns_server = shared is None
        self._server = shared or Server(f"server-{name}", folder)
        self._proxy = None
        self._lines = lines  # of the keys; a load goes on where the last one ended, then again
        self._played = 0
        self._make = lambda: Proxy(
            name, program, self._server,
            [f"--workers={workers}", *(f"--set={each}" for each in settings)], folder,
        )  # fmt: skip

    @property
    def server(self):
        return self._server

    def begin(self, names):
        if self._owns_server:
            self._server.begin()
            fill(self._server.port, names)
        self._proxy = self._make()
        self._proxy.begin()

    def stop(self):
        if self._owns_server:
            self._server.stop()
        if self._proxy is not None:
            self._proxy.stop()

    def play(self, load, seconds):
        hits, own, server = self._work()
        stolen = processes.StolenTime()
        first_line = self._played % self._lines + 1
        told = subprocess.run(
            [*load, "--target", f"redis://127.0.0.1:{self._proxy.port}",
             "--for", f"{round(1000 * seconds)}ms", "--first-line", str(first_line)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        work, share_stolen = self._work(), stolen.share()
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
            hits=(work[0] - hits) / done, stolen=share_stolen,
        )  # fmt: skip

    def _work(self):
        return self._proxy.hits(), self._proxy.cpu_seconds(), self._server.cpu_seconds()


def measure(options, load, default, other):
    """The rounds of a row: pairs of default and other."""
    for side in (default, other):
        side.play(load, options.warm)
    pairs = []
    for number in range(2 * options.rounds):
        if sum(stolen_of(pair) <= STOLEN_MAX for pair in pairs) >= options.rounds:
            break
        order = [default, other] if number % 2 == 0 else [other, default]
        played = {side: side.play(load, options.seconds) for side in order}
        pairs.append((played[default], played[other]))
    return calmest(pairs, options.rounds)


def sides_of(options, workers, writes, lines, folder):
    programs = (options.programs, options.against_programs or options.programs)
    default, other = ((each / "apps/heatsink/heatsink").resolve() for each in programs)
    first = Side("default", default, workers, options.set, lines, folder)
    shared = None if any(writes) else first.server
    return [first, Side("other", other, workers, options.against, lines, folder, shared)]


def load_of(options, file, pipeline, writes):
    """The command of a load, without its target, duration and first line."""
    words = [(options.programs / "apps/heatsink/heatsink").resolve(), "load", "--keys", file,
             "--prefix", "", "--no-preload", "--closed", "--json", "--clients", CLIENTS,
             "--pipeline", pipeline, "--write-ratio", writes,
             "--value-size", len(VALUE)]  # fmt: skip
    return [str(word) for word in words]


def run_kind(options, folder, kind, workers, writes):
    """Prints the rows of the kind, and returns them. `writes`: their shares, with 0 or without."""
    names = keys_of(kind, options.traces, options.lines)
    if names is None:
        print(f"{kind}: skipped, there is no trace {TRACES[kind]} in {options.traces}")
        return []
    file = folder / f"{kind}.keys"
    file.write_text("\n".join(names) + "\n")
    sides, rows = sides_of(options, workers, writes, len(names), folder), []
    try:
        names = sorted(set(names))
        for side in sides:
            side.begin(names)
        if options.learn > 0:
            sides[0].play(load_of(options, file, max(options.pipelines), 0), options.learn)
        for pipeline in options.pipelines:
            for share in writes:
                pairs = measure(options, load_of(options, file, pipeline, share), *sides)
                rows.append(make_row(kind, pipeline, share, workers, pairs))
                print(rows[-1].text(), flush=True)
    finally:
        for side in sides:
            side.stop()
    return rows


QUICK = {"rounds": 3, "seconds": 0.3, "warm": 0.3, "learn": 6, "workers": [1], "lines": 300_000}


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def add(name, help_text, **how):
        parser.add_argument(name, help=f"{help_text} (default: %(default)s)", **how)

    add("--kinds", "of keys", nargs="+", choices=KINDS, default=TABLE_KINDS, metavar="KIND")
    add("--pipelines", "requests at once", type=int, nargs="+", default=[1, 4, 16])
    add("--writes", "shares of writes, to the same keys", type=float, nargs="+", default=[0, 0.1])
    add("--workers", "of both sides", type=int, nargs="+", default=[1, 2])
    add("--rounds", "pairs", type=int, default=3)
    add("--seconds", "per run", type=float, default=8)
    add("--learn", "seconds before the first row of a kind", type=float, default=10)
    add("--warm", "seconds of warm-up per row and side", type=float, default=15)
    add("--lines", "keys of a kind, before they come again", type=int, default=900_000)
    add("--traces", "their folder", type=pathlib.Path, default=ROOT / "../shared/traces")
    add("--set", "of the default side", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--against", action="append", metavar="OPTION=VALUE",
                        help="of the other side (default: cache.enabled=false)")  # fmt: skip
    add("--programs", "the build directory", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--against-programs", type=pathlib.Path,
                        help="the build directory of the other side's proxy")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="other defaults, for 3 minutes")
    if parser.parse_args().quick:
        parser.set_defaults(**QUICK)
    options = parser.parse_args()
    if options.against is None:
        options.against = ["cache.enabled=false"]
    return options


def run(options, stack):
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-bench-"))
    print(head(), flush=True)
    rows = []
    groups = [[share for share in options.writes if (share > 0) == written]
              for written in (False, True)]  # fmt: skip
    for workers, kind, writes in itertools.product(options.workers, options.kinds, groups):
        if writes:
            rows += run_kind(options, pathlib.Path(folder), kind, workers, writes)
    print(f"\n{summary(rows)}")
    return not any(row.missed() for row in rows)


def main():
    return processes.run_bench("total", run, parse_options())


if __name__ == "__main__":
    sys.exit(main())
