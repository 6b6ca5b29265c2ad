#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py [NAME ...] [--for SECONDS] [--rounds N]: tests whether the checker finds known faults.

It removes one safeguard at a time from a copy of the tree (build/mutants), builds that proxy, and
plays the runs of runs.py against it until one is judged broken. It prints a table. The exit code is
1 if the checker missed a mutant that it should find. It needs
build/dev/tests/consistency/heatsink_history, and takes some minutes on two cores.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutants"
BINARY = COPY / "build" / "dev" / "apps" / "heatsink" / "heatsink"
LIBRARY_HOST = COPY / "build" / "dev" / "tests" / "consistency" / "heatsink_library_host"

RULE = "heatsink/cache/key_rule.h"
LOCAL = "heatsink/proxy/session_local.cc"
DISPATCH = "heatsink/proxy/session_dispatch.cc"
COPIES = "heatsink/proxy/worker_copies.cc"
TABLE = "heatsink/cache/hot_table.cc"
FILLER = "heatsink/proxy/filler.cc"
TRACKER = "heatsink/redis/tracker.cc"
BARRIER = "heatsink/proxy/session_barrier.cc"
CORE = "heatsink/client/core.cc"
SERVER = "heatsink/client/core_server.cc"
ENGINE = "heatsink/client/engine.cc"


@dataclass
class Mutant:
    """`patches`: (file, what stands there, what then stands there). `first`: runs to begin with.

    `why_not`: why no history can show it: then the first runs are all, and it may get away.
    """

    name: str
    patches: list
    first: tuple
    why_not: str = ""


def off(file, condition):
    """The condition is never true, and still compiles."""
    return (file, condition, f"(({condition}) && false)")


IN_FLIGHT = off(RULE, "fences.write_in_flight(entry.name())")
OWN_NAMES = off(LOCAL, "in_flight_names_.test(name.value % in_flight_names_.size())")
READS_FENCE = off(COPIES, "shown == Shown::kPerhaps && shared_.table.has(key.key)")
WATCHING = (LOCAL, "!in_multi_ && !watching_ &&", "!in_multi_ &&")
LOST = ("  static_cast<void>(shared_.lease.begin_generation());\n"
        "  shared_.table.drop_for_outage();\n")
OWN_SLOTS = off(TRACKER, "slots_.has_value() && *slots_ != slots")
PING = [(TRACKER, '{"EXISTS", options_.heartbeat_key}', '{"PING"}'),
        (TRACKER, 'Value::Type::kInteger)\n    return server_said("the heartbeat',
         'Value::Type::kInteger && reply.type != Value::Type::kSimple)\n'
         '    return server_said("the heartbeat')]  # fmt: skip

WATCHED = "    const Watch watched = watch(hash, flight->sent_at);"
LOADED = "    std::shared_ptr<Box> fresh = load();\n"
TRACKED_AFTER = [(CORE, f"{WATCHED}  // before the load, or a change is missed\n{LOADED}",
                  f"{LOADED}{WATCHED}\n")]  # fmt: skip

MUTANTS = [
    Mutant("fence", [off(RULE, "copy->fill_sent_at <= fences.fence(entry.name())")],
           ("one proxy",)),
    Mutant("fence of reads", [READS_FENCE], ("late pushes", "two proxies")),
    Mutant("proof", [off(RULE, "now - validated > terms.max_staleness")], ("a stopped keeper",)),
    Mutant("deadline", [off(RULE, "now >= copy->deadline")], ("short lives",)),
    Mutant("generation", [off(RULE, "copy->generation != lease.generation()"),
                          (FILLER, "shared_.table.drop_all();", ""),
                          (FILLER, "shared_.table.drop_leased();", ""),
                          (FILLER, "shared_.table.drop_for_outage();", "")], ("lost pushes",)),
    Mutant("generation in the rule alone",
           [off(RULE, "copy->generation != lease.generation()")],
           ("one proxy, faults", "lost pushes"), "all its copies have been dropped, too"),
    Mutant("new generation when the tracker is lost",
           [(FILLER, 'drop_proven();\n  state_ = "up"', 'state_ = "up"'), (FILLER, LOST, "")],
           ("lost pushes",)),
    Mutant("writes in flight", [IN_FLIGHT], ("late pushes, one proxy", "one proxy, faults"),
           "the fence and the session's own names cover it"),
    Mutant("names in flight of a session", [OWN_NAMES], ("one proxy", "late pushes")),
    Mutant("both of what is in flight", [IN_FLIGHT, OWN_NAMES], ("one proxy",)),
    Mutant("WATCH asks the server", [WATCHING], ("late pushes",),
           "WATCH raises the fence of its keys, as every read does"),
    Mutant("both of what WATCH does",
           [WATCHING, (DISPATCH, "if (unknown) in_flight_names_.set();",
                       "if (call.route == Route::kWatch) return;\n"
                       "  if (unknown) in_flight_names_.set();")], ("late pushes",)),
    Mutant("keyed heartbeat (PING), and the map of slots", [OWN_SLOTS, *PING], ("moved keys",)),
    Mutant("keyed heartbeat (PING)", PING, ("moved keys",), "the map of slots covers it"),
    Mutant("drop in every database",
           [(TABLE, "      drop(*it->second);", "      if (it == first) drop(*it->second);")],
           ("a stopped keeper",)),
    Mutant("replies held for a barrier",
           [(COPIES, "if (!doubtful)", "if (!doubtful || true)")],
           ("late pushes, one proxy", "one proxy")),
    Mutant("session fence",
           [off(RULE, "terms.level == Level::kSession && validated <= session_fence")],
           ("level session",)),
    Mutant("session: behind what is in flight", [off(LOCAL, "overtakes(key)"),
                                                 off(LOCAL, "overtakes(keys.back())")],
           ("level session",)),
    Mutant("session: no fill is joined that others were shown",
           [(LOCAL, "std::max(told_at_, worker_.shared().table.shown())", "told_at_")],
           ("level session", "level session, two proxies"),
           "an answer would have to wait in a worker's mailbox for as long as two fills take"),
    Mutant("BARRIER: no fill is joined that was sent before",
           [(BARRIER, "shared.fences.raise_unknown(call.now);", "")], ("barriers",),
           "likewise"),
    Mutant("BARRIER waits", [(BARRIER, "barrier_ = Barrier::kAsked;",
                              'return reply("+OK\\r\\n");')], ("barriers",)),
    Mutant("spoiled fills", [off(FILLER, "reply.spoiled")], ("torn fills",)),
    Mutant("tracking with NOLOOP", [(TRACKER, '"TRACKING", "ON"}', '"TRACKING", "ON", "NOLOOP"}')],
           ("two proxies",), "the tracking connection writes nothing"),
    Mutant("library: tracked before it is loaded", TRACKED_AFTER, ("library, late loads",)),
    Mutant("library: proof", [off(ENGINE, "now >= served_until")], ("library, a stopped link",)),
    Mutant("library: a write ends the copy before it is sent",
           [(CORE, "if (server_ != nullptr) hot_.drop(hash);", "")],
           ("library", "library, late loads"),
           "the push of the write ends it, too, but for the readers of an instant"),
    Mutant("library: what is told raises the fence",
           [(SERVER, "fences_.raise(name_of(name), now());\n  hot_.drop(name);",
             "hot_.drop(name);")], ("library, late loads",)),
]  # fmt: skip


def copy_tree():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, COPY / name
        if not source.is_file():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue  # keeps its time, so that it is not built again
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def build():
    """What the compiler said if it failed."""
    folder = COPY / "build" / "dev"
    if not (folder / "build.ninja").is_file():
        subprocess.run(["cmake", "--preset", "dev", "-DHEATSINK_BENCH=OFF"],
                       cwd=COPY, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    jobs = str(min(2, os.cpu_count() or 1))
    done = subprocess.run(["ninja", "-C", str(folder), "-j", jobs, "heatsink",
                           "heatsink_library_host"],
                          stdout=subprocess.PIPE, text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(done.stdout[-3000:])


def apply(mutant):
    """What stood in the files before, by name."""
    before = {name: (COPY / name).read_text(encoding="utf-8") for name, _, _ in mutant.patches}
    after = dict(before)
    for name, old, new in mutant.patches:
        if old not in after[name]:
            raise SystemExit(f"mutants.py: '{mutant.name}': {name} has no longer: {old}")
        after[name] = after[name].replace(old, new)
    write(after)
    return before


def write(texts):
    for name, text in texts.items():
        (COPY / name).write_text(text, encoding="utf-8")


def hunt(mutant, seconds, rounds):
    """The row of the table: by which run and promise, and after how long; and whether."""
    # Only now: the harness reads its environment when it is imported.
    from runs import RUNS  # pylint: disable=import-outside-toplevel

    order = [run for name in mutant.first for run in RUNS if run.name == name]
    order += [run for run in RUNS if run not in order and not mutant.why_not]
    started = time.monotonic()
    for seed in range(1, rounds + 1):
        for run in order:
            found, _, _ = run.play(seconds, 0, seed)
            if not found.sound:
                by = f"{run.name}: {', '.join(found.promises)}"
                print(f"--- {mutant.name}: {by}\n{found.text}", file=sys.stderr, flush=True)
                return by, time.monotonic() - started, True
    return "not caught", time.monotonic() - started, False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="test only these mutants")
    parser.add_argument("--for", dest="seconds", type=float, default=6, help="seconds of each run")
    parser.add_argument("--rounds", type=int, default=2, help="rounds, each with other seeds")
    flags = parser.parse_args()
    os.environ["HEATSINK"] = str(BINARY)
    os.environ["HEATSINK_LIBRARY_HOST"] = str(LIBRARY_HOST)
    os.environ.setdefault(
        "HEATSINK_HISTORY", str(ROOT / "build/dev/tests/consistency/heatsink_history")
    )
    sys.path.insert(0, str(ROOT / "tests"))
    wanted = [mutant for mutant in MUTANTS if not flags.names or mutant.name in flags.names]
    missed = 0
    copy_tree()
    build()
    print("| without | caught by | after |\n|---|---|---|", flush=True)
    for mutant in wanted:
        before = apply(mutant)
        try:
            build()
            by, took_s, caught = hunt(mutant, flags.seconds, flags.rounds)
        finally:
            write(before)
        missed += not caught and not mutant.why_not
        note = f" ({mutant.why_not})" if mutant.why_not and not caught else ""
        print(f"| {mutant.name} | {by}{note} | {took_s:.0f} s |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
