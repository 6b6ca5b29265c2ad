#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon copies save what they save in the end: after a start, and after the traffic has moved.

    bench/soon.py [--kinds scarab orm-busy zipf-1.1] [--pipeline 1] [--rate 20000]

A server with all keys loaded and a proxy that has just started. 50 clients read the keys of a kind
at --rate for --seconds. Then the clients read the same sequence of other keys for as long. The
saving of a window of two seconds is

  1 - commands that the server ran (INFO commandstats) / commands of the clients

with all that heatsink itself sends. The steady saving is the median of the windows of the second
half of each part. The figure is the time until the first window ends whose saving, as the mean of
it and the next one, is 90 % of the steady one.

Kinds: as bench/total.py has them. A kind takes 2 * --seconds. Exit code: 0 all times are at most
--within, 1 some are not, 2 the bench could not run.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import processes
from copies import Connection, Proxy, Server
from total import fill
from total_keys import KINDS, TRACES, keys_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
WINDOW_S = 2.0
CLIENTS = 50
PART = 0.9  # of the steady saving
MOVED = "moved:"


class Counted:
    """What the clients sent and what the server ran so far."""

    def __init__(self, server, admin):
        control = Connection(server)
        stats = control.info(b"commandstats")
        control.close()
        # The bench's own connections send INFO, and wait_until_serving() nothing.
        self.executed = sum(calls for name, calls in stats.items() if name != "cmdstat_info")
        self.sent = metric(admin, "heatsink_commands_total")


def metric(admin, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=5) as page:
        text = page.read().decode()
    for line in text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise processes.BenchError(f"the proxy has no metric {name}")


def choice_of(admin):
    """The choice of what gets a copy, for --verbose."""
    with urllib.request.urlopen(f"http://127.0.0.1:{admin}/api/hotkeys", timeout=5) as page:
        told = json.load(page).get("copies") or {}
    return json.dumps({key: value for key, value in told.items() if not isinstance(value, list)})


def curve(options, load, server, proxy):
    """The saving of each window while the load runs."""
    out, seconds = [], round(options.seconds / WINDOW_S) * WINDOW_S
    player = subprocess.Popen(
        [*load, "--for", f"{round(1000 * (seconds + 1))}ms"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        before, begin = Counted(server.port, proxy.admin), time.monotonic()
        while len(out) * WINDOW_S < seconds:
            end = begin + (len(out) + 1) * WINDOW_S
            time.sleep(max(0.0, end - time.monotonic()))
            now = Counted(server.port, proxy.admin)
            sent = now.sent - before.sent
            if sent == 0:
                raise processes.BenchError("the load sends nothing")
            out.append(1 - (now.executed - before.executed) / sent)
            before = now
            if options.verbose:
                print(f"  {len(out) * WINDOW_S:4.0f} s {100 * out[-1]:5.1f} %,"
                      f" {sent / WINDOW_S:.0f}/s {choice_of(proxy.admin)}", flush=True)  # fmt: skip
    finally:
        player.terminate()
        player.wait()
    return out


def seconds_to_steady(savings):
    """(the steady saving, seconds until PART of it is reached)"""
    steady = statistics.median(savings[len(savings) // 2 :])
    for number in range(len(savings) - 1):
        if (savings[number] + savings[number + 1]) / 2 >= PART * steady:
            return steady, (number + 1) * WINDOW_S
    return steady, len(savings) * WINDOW_S


def shown(savings):
    return " ".join(f"{100 * each:.0f}" for each in savings)


def run_kind(options, folder, kind):
    """True: it is soon enough."""
    lines = round(options.rate * (options.seconds + WINDOW_S))
    made = keys_of(kind, options.traces, lines)
    if made is None:
        print(f"{kind}: skipped, there is no trace {TRACES[kind]} in {options.traces}")
        return True
    names = list(made)
    program = (options.program).resolve()
    server, proxy = Server("server", folder), None
    reached = True
    try:
        server.begin()
        settings = [f"--set={each}" for each in options.set]
        proxy = Proxy("proxy", program, server, settings, folder)
        for prefix in ("", MOVED):
            fill(server.port, sorted({prefix + name for name in names}))
        proxy.begin()
        for part, prefix in (("start", ""), ("moved", MOVED)):
            file = folder / f"{kind}-{part}.keys"
            file.write_text("".join(f"{prefix}{name}\n" for name in names))
            load = [program, "load", "--target", f"redis://127.0.0.1:{proxy.port}", "--keys", file,
                    "--prefix", "", "--no-preload", "--quiet", "--rate", options.rate,
                    "--clients", CLIENTS, "--pipeline", options.pipeline]  # fmt: skip
            savings = curve(options, [str(word) for word in load], server, proxy)
            steady, seconds = seconds_to_steady(savings)
            is_soon = seconds <= options.within
            reached = reached and is_soon
            print(f"{kind + ', P=' + str(options.pipeline):16} {part} {100 * steady:4.0f} % steady,"
                  f" {100 * PART:.0f} % of it after {seconds:3.0f} s{' ' if is_soon else '*'}"
                  f" [{shown(savings)}]", flush=True)  # fmt: skip
    finally:
        server.stop()
        if proxy is not None:
            proxy.stop()
    return reached


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, metavar="KIND",
                        default=["scarab", "orm-busy", "zipf-1.1"])  # fmt: skip
    parser.add_argument("--pipeline", type=int, default=1)
    parser.add_argument("--rate", type=int, default=20_000, help="(default: 20000)")
    parser.add_argument("--seconds", type=float, default=40, help="of a part (default: 40)")
    parser.add_argument("--within", type=float, default=10, help="seconds (default: 10)")
    parser.add_argument("--traces", type=pathlib.Path, default=ROOT / "../shared/traces",
                        help="folder of the traces (default: ../shared/traces)")  # fmt: skip
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE",
                        help="of the proxy")  # fmt: skip
    parser.add_argument("--program", type=pathlib.Path,
                        default=ROOT / "build/release/apps/heatsink/heatsink",
                        help="(default: that of build/release)")  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="each window, with the choice")
    return parser.parse_args()


def main():
    options = parse_options()
    processes.end_on_signals()
    try:
        with tempfile.TemporaryDirectory(prefix="heatsink-bench-") as folder:
            reached = [run_kind(options, pathlib.Path(folder), kind) for kind in options.kinds]
            return 0 if all(reached) else 1
    except (processes.BenchError, OSError) as error:
        print(f"soon: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
