# SPDX-License-Identifier: Apache-2.0
"""Histories of clients with near caches: no answer of their own is older than they were promised.

Each run is played at a server itself, too, where only the bound of the writer's reply counts: so it
is the proxy that fails, and not the test. near_judge.py says what is promised.

The short form of the checks plays each run for two seconds or so, the long form for 20.
HEATSINK_CONSISTENCY_FOR=600 plays each for that many seconds, HEATSINK_CONSISTENCY_SEED=N others.
"""

import contextlib
import os
import re
import signal
import time
import unittest

import near_judge
from harness import LONG, PATIENCE_S, SLOW, ValueClient, need_programs, until
from harness.near import JEDIS, KINDS, MARKING, NODE
from harness.theatre import Theatre
from harness.two_workers import TwoWorkers, needs_library
from near_player import Played, Reader, Writer

SECONDS = float(os.environ.get("HEATSINK_CONSISTENCY_FOR", "20" if LONG else "2"))
SEED = int(os.environ.get("HEATSINK_CONSISTENCY_SEED", "1"))
BOUND_S = 1.0  # cache.max-staleness
LATE_S = 0.3 * SLOW  # what the machine may add: a client that answers itself asks nobody
NEAR_MIN = 500  # uses in each run, or nothing was tested
KEYS = 6
HITS_MIN = 300  # of each proxy, before anything breaks


class Stage:
    """Of one run: the theatre, and what was written by faults."""

    def __init__(self, theatre, workers):
        self.theatre, self.dice, self.workers = theatre, theatre.dice, workers
        self.server, self.relay = theatre.server, theatre.relay
        self.writes = []

    def flush(self):
        """Past the proxies, and known to the judge."""
        began = time.monotonic()
        self.theatre.ask("FLUSHALL")
        acked = time.monotonic()
        self.writes += [near_judge.Write(f"k{i}", None, began, acked, self.server.port)
                        for i in range(KEYS)]  # fmt: skip


# ---- faults, and the pause behind each


def stop_the_server(stage, for_s=None):
    stage.server.process.freeze()
    time.sleep(for_s or stage.dice.choice((0.3, BOUND_S * 1.6)))  # the fault lasts this long
    stage.server.process.signal(signal.SIGCONT)


def cut_connections(stage):
    stage.theatre.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def kill_the_trackers(stage):
    with ValueClient(stage.server.port) as client:
        for line in client("CLIENT", "LIST").decode().splitlines():
            if "name=heatsink-tracker" in line:
                client("CLIENT", "KILL", "ID", re.search(r"id=(\d+)", line)[1])


def hold_pushes(stage):
    """Longer than the bound, or for a moment; then all is told at once."""
    stage.relay.hold()
    time.sleep(stage.dice.choice((0.2, BOUND_S * 1.6)))  # the fault lasts this long
    stage.relay.go_on()


def lose_pushes(stage):
    """What was written last is never told to the trackers: they are cut off instead."""
    stage.relay.hold()
    time.sleep(stage.dice.uniform(0.1, 0.6))  # the fault lasts this long
    stage.relay.lose()


def hold_for_longer_than_the_bound(stage):
    stage.relay.hold()
    time.sleep(BOUND_S * 2.2)  # the fault lasts this long
    stage.relay.go_on()


def hold_for_a_moment(stage):
    stage.relay.hold()
    time.sleep(0.02)  # the fault lasts this long
    stage.relay.go_on()


def stop_a_worker(stage):
    """The other one goes on; clients come to both, and move."""
    proxy = stage.theatre.proxies[0]
    for _ in range(8):
        with stage.workers.stopped(proxy, stage.dice.randrange(2)):
            time.sleep(stage.dice.uniform(0.001, 0.05))  # the fault lasts this long
        time.sleep(0.05)  # the load goes on meanwhile
    stage.workers.use(stage.dice.randrange(2))


def pause_everybody(stage):
    stage.theatre.ask("CLIENT", "PAUSE", stage.dice.choice((100, 1400)), "ALL")


def flush_everything(stage):
    stage.flush()


def flush_another_database(stage):
    with ValueClient(stage.server.port) as client:
        client("SELECT", "9")
        client("FLUSHDB")


FAULTS = (stop_the_server, cut_connections, kill_the_trackers, hold_pushes, lose_pushes,
          pause_everybody, flush_everything, flush_another_database)  # fmt: skip


def faults_at_random(stage):
    stage.dice.choice(FAULTS)(stage)
    time.sleep(0.3)  # the pause behind a fault: what is wrong then is read in it


# ---- readers and writers, by the ports of a server and of proxies


def readers_of(port, number):
    """All kinds, alone and with pools, in all modes."""
    return [
        Reader(port, number, JEDIS),
        Reader(port, number + 1, JEDIS, connections=3),
        Reader(port, number + 2, NODE, connections=2),
        Reader(port, number + 3, MARKING, ("OPTIN",)),
        Reader(port, number + 4, MARKING, ("NOLOOP",), connections=2, writes=0.03),
        Reader(port, number + 5, NODE, ("OPTOUT",)),
        calm(port, number + 6),
        calm(port, number + 7),
    ]


def few_readers_of(port, number):
    readers = [Reader(port, number + i, kind, connections=1 + i % 2)
               for i, kind in enumerate(KINDS)]  # fmt: skip
    return [*readers, calm(port, number + 9)]


def calm(port, number):
    return Reader(port, number, MARKING, writes=0, leaves=0, is_calm=True)


def players(server, proxies, few=False):
    """Some keys are written past the proxies only: nothing but the tracker ends them."""
    make = few_readers_of if few else readers_of
    out = []
    for place, port in enumerate(proxies):
        out += make(port, 100 * (place + 1))
        out += [Writer(port, 100 * (place + 1) + 50, written=4, flushes=True, pause_s=0.03)]
    out += [Writer(server, 10, pause_s=0.05)]
    return out


class NearHistories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def play(self, fault=None, few=False, seconds=SECONDS, bound_s=BOUND_S, workers=None, **stage):
        options = {"proxy.client-tracking": "pays", **stage.pop("options", {})}
        with Theatre(push_delay_s=0.0, options=options, **stage) as theatre:
            theatre.dice.seed(SEED)
            at = Stage(theatre, workers)
            ports = [proxy.port for proxy in theatre.proxies] or [theatre.server.port]
            with contextlib.ExitStack() as running:
                playing = []
                specs = players(theatre.server.port, ports, few)
                for place, spec in enumerate(specs):
                    if workers is not None and place == len(specs) // 2:
                        workers.to_second()
                    spec.number += 1000 * SEED
                    playing.append(Played(spec, theatre.folder.name))
                    running.callback(playing[-1].kill)
                self.break_things(at, fault, seconds, playing)
                seen = [each.stop() for each in playing]
            theatre.stop_proxies()
        self.judge(at, seen, bound_s)

    def judge(self, stage, seen, bound_s):
        writes = [write for own, _ in seen for write in own] + stage.writes
        found = near_judge.judge(writes, [read for _, own in seen for read in own],
                                 bound_s + LATE_S)  # fmt: skip
        print(f"\n{self.id()}: {len(writes)} writes, {found.text()}", flush=True)
        self.assertEqual(found.violations, [], found.text())
        self.assertGreater(found.near, NEAR_MIN, "clients answered nothing themselves")

    def break_things(self, stage, fault, seconds, playing):
        for proxy in stage.theatre.proxies:
            until(lambda proxy=proxy: proxy.hits() > HITS_MIN, 3 * PATIENCE_S, "all play")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.3)  # the load is played meanwhile
            if fault is not None:
                fault(stage)
            self.assertFalse(any(each.ended() for each in playing), "a player has ended")
        stage.relay.go_on()
        until(lambda: stage.theatre.ask("PING") == "PONG", PATIENCE_S, "the server answers")

    def test_the_server_itself(self):
        self.play(proxies=0)

    def test_the_server_itself_with_faults(self):
        """It promises no bound: as long as it stands still between its reply and its push."""
        self.play(faults_at_random, bound_s=2 * BOUND_S, proxies=0)

    def test_one_worker(self):
        self.play(options={"proxy.workers": 1})

    def test_default(self):
        self.play()

    @needs_library
    def test_two_workers(self):
        with TwoWorkers() as workers:
            os.environ.update(workers.environment)
            self.addCleanup(os.environ.pop, *workers.environment)
            try:
                self.play(stop_a_worker, workers=workers, preload=workers.preload)
            except PermissionError as error:
                self.skipTest(f"the system forbids this fault: {error}")

    def test_a_tracker_that_hears_nothing(self):
        self.play(hold_for_longer_than_the_bound, few=True, seconds=max(SECONDS, 5))

    def test_two_proxies(self):
        self.play(few=True, proxies=2)

    def test_late_pushes(self):
        """The tracker hears of each change 20 ms late, and its fills are late, too."""
        self.play(hold_for_a_moment)

    def test_faults(self):
        self.play(faults_at_random, seconds=max(SECONDS, 6))

    def test_faults_of_two_proxies(self):
        self.play(faults_at_random, few=True, seconds=max(SECONDS, 6), proxies=2)


if __name__ == "__main__":
    unittest.main()
