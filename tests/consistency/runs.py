# SPDX-License-Identifier: Apache-2.0
"""The runs: who reads and writes, what is broken meanwhile, and what is promised nevertheless."""

import re
import signal
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from faults_at_random import fault_at_random
from harness import LONG, Redis, ValueClient
from harness.one_thread import stopped, thread_named
from harness.theatre import Theatre

BOUND_S = 1.0  # cache.max-staleness


@dataclass
class Run:
    """Rounds: `hits` reads are answered from copies by each proxy, then the fault; at least one.

    `stale_s`: so old must one read have been, or the run proves nothing.
    """

    name: str
    sessions: list
    bound_s: float
    hits: int = 1000
    fault: Optional[Callable] = None
    once: bool = False  # the fault
    seconds_min: float = 0  # however short the others are played
    stage: dict = field(default_factory=dict)  # of Theatre
    in_short_form: bool = False  # else the scenario of this name shows it there
    prefix: str = "k"
    level: str = "key"  # that is promised; the proxies are told by `stage`
    stale_s: float = 0
    moves: bool = False  # writers past the proxies are at another server, to which the keys move

    def play(self, seconds, operations=0, seed=1):
        """The judgement, what the player said, and the hits."""
        seconds = max(seconds, self.seconds_min)
        with Theatre(**self.stage) as theatre:
            theatre.dice.seed(seed)
            if self.moves:
                with_other = Redis(*CLUSTER)
                try:
                    with ValueClient(with_other.port) as client:
                        client("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
                    return self._play(theatre, seconds, operations, seed, with_other.port)
                finally:
                    with_other.stop()
            return self._play(theatre, seconds, operations, seed, None)

    def _play(self, theatre, seconds, operations, seed, past):
        recording = theatre.record(
            self.sessions, past, seconds=seconds, operations=operations, seed=seed,
            prefix=self.prefix,
        )  # fmt: skip
        with recording:
            recording.copies_speak(self.hits)
            while self.fault is not None:
                self.fault(theatre)
                if self.once or recording.played_s() >= seconds:
                    break
                recording.copies_speak(self.hits)
        hits = theatre.hits()
        theatre.stop_proxies()
        return recording.judge(self.bound_s, self.level), recording.said, hits


# ---- faults, each once, and the pause behind it


def stop_the_server(theatre):
    theatre.server.process.freeze()
    time.sleep(0.3)  # the fault lasts this long
    theatre.server.process.signal(signal.SIGCONT)
    time.sleep(0.7)  # the pause behind the fault: what is wrong then is read in it


def stop_a_proxy(theatre):
    """Longer than the bound: its clients ask meanwhile, and nobody hears the pushes."""
    theatre.proxies[0].process.freeze()
    time.sleep(BOUND_S * 2)  # the fault lasts this long
    theatre.proxies[0].process.signal(signal.SIGCONT)
    time.sleep(0.5)  # the pause behind the fault: what is wrong then is read in it


def stop_a_keeper(theatre):
    """The thread that hears the pushes, for longer than the bound; those that serve go on."""
    child = theatre.proxies[0].process.child.pid
    with stopped(thread_named(child, "keeper")):
        time.sleep(BOUND_S * 2)  # the fault lasts this long
    time.sleep(0.5)  # the pause behind the fault: what is wrong then is read in it


def cut_connections(theatre):
    """All, and then the trackers': answers lost, generations, writes of unknown outcome."""
    with ValueClient(theatre.server.port) as client:
        client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(0.3)  # they come back, and copies with them, before the second cut
        for line in client("CLIENT", "LIST").decode().splitlines():
            if "name=heatsink-tracker" in line:
                client("CLIENT", "KILL", "ID", re.search(r"id=(\d+)", line)[1])
    time.sleep(0.5)  # the pause behind the fault: what is wrong then is read in it


def stop_a_link(theatre):
    """The thread of a library that hears the pushes; those that are served go on."""
    child = theatre.proxies[0].process.child.pid
    with stopped(thread_named(child, "heatsink-link")):
        time.sleep(BOUND_S * 2)  # the fault lasts this long
    time.sleep(0.5)  # the pause behind the fault: what is wrong then is read in it


def cut_and_stop(theatre):
    cut_connections(theatre)
    stop_the_server(theatre)


def lose_pushes(theatre):
    """What was written last is never told to the trackers: they are cut off instead."""
    theatre.relay.hold()
    time.sleep(0.5)  # the fault lasts this long
    theatre.relay.lose()
    time.sleep(0.5)  # the pause behind the fault: what is wrong then is read in it


def move_the_keys(theatre):
    """The server no longer owns them, and tells nobody (CLUSTER DELSLOTS sends no push)."""
    with ValueClient(theatre.server.port) as client:
        client("CLUSTER", "DELSLOTS", client("CLUSTER", "KEYSLOT", "heatsink:heartbeat"))
    time.sleep(BOUND_S * 3)  # the pause behind the fault: what is wrong then is read in it


# ---- sessions


def through(via):
    """Everything that clients of a proxy do."""
    return [
        f"via={via},count=6,depth=16,set=10,mget=20,lcs=20",
        f"via={via},count=4,depth=4,set=20,del=5,mget=50,lcs=50,db=1",
        f"via={via},count=2,depth=1,set=50,px=20,expire=10",
        f"via={via},count=1,depth=8,eval=20,flush=1,think-us=2000",
        f"via={via},count=2,cas=2000,think-us=1000",
        f"via={via},count=2,multi=5000,think-us=1000",
    ]


def readers(via):
    """Of few keys with the same names in two databases, asking no faster than it takes to see."""
    return [f"via={via},count=4,depth=8,think-us=500,keys=4,db={db}" for db in (0, 1)]


PAST = ["via=0,count=2,set=5000,think-us=3000", "via=0,set=3000,px=2000,del=500,think-us=5000,db=1"]
SPARSE = [f"via=0,set=10000,keys=4,think-us=400000,db={db}" for db in (0, 1)]
SHORT_LIVED = ["via=0,px=10000,ttl=300,keys=4,think-us=400000"]
PACED = "via=1,count=4,depth=8,pace-us=20000"
# Each key twice in two seconds, the second time while the first one's fill is torn in two.
PAIRS = [f"via=0,set=10000,first={key},keys=1,think-us={pause_us}"
         for key in (0, 1) for pause_us in (2_000_000, 2_050_000)]  # fmt: skip
# So few that copies come back between two writes, though each fill is late, too.
WRITES = "via=1,count=4,depth=4,set=300,mget=100,lcs=100,eval=20,think-us=10000,keys=8"
TRANSACTIONS = "via=1,count=4,cas=10000,think-us=100000,keys=8"
SELDOM_PAST = "via=0,set=10000,think-us=25000,keys=8"
# What the server says of some keys, and then copies of others; writers past the proxies meanwhile.
ACROSS = "count=4,keys=8,lcs=200,mget=500,think-us=500"
BARRIERS = "count=4,depth=2,keys=8,barrier=100,think-us=500"
CLUSTER = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
# Two in each window, and then a pause in which copies come back.
GATHERED = "via=1,count=6,depth=2,set=10000,think-us=60000,keys=4"

# Through a program that links the library, which knows GET, SET and DEL of one database.
BY_LIBRARY = ["via=1,count=6,depth=4,set=20", "via=1,count=2,set=50,px=20,del=10,think-us=500"]
LIBRARY_READERS = "via=1,count=4,depth=8,think-us=500,keys=4"
SPARSE_PAST = ["via=0,set=10000,keys=4,think-us=400000"]

RUNS = [
    Run("one proxy", through(1), 0, 20_000, in_short_form=True),
    Run("two proxies", through(1) + through(2) + PAST, BOUND_S, 20_000, stage={"proxies": 2}),
    Run("one proxy, faults", through(1), 0, 1000, cut_and_stop),
    Run("two proxies, faults", through(1) + through(2) + PAST, BOUND_S, 1000, cut_and_stop,
        in_short_form=True, stage={"proxies": 2}),
    Run("late pushes, one proxy", [*readers(1), WRITES, TRANSACTIONS], 0,
        stage={"push_delay_s": 0.005}),
    Run("late pushes", [*readers(1), WRITES, TRANSACTIONS, SELDOM_PAST], BOUND_S,
        stage={"push_delay_s": 0.005}),
    Run("lost pushes", readers(1) + SPARSE, BOUND_S, 1000, lose_pushes,
        stage={"push_delay_s": 0.0}),
    Run("a stopped proxy", [*readers(1), PACED, *SPARSE], BOUND_S, 1000, stop_a_proxy,
        stage={"push_delay_s": 0.02}),
    Run("a stopped keeper", readers(1) + SPARSE, BOUND_S, 1000, stop_a_keeper),
    Run("short lives", readers(1) + SHORT_LIVED, BOUND_S, in_short_form=True,
        stage={"calls": [("DEBUG", "SET-ACTIVE-EXPIRE", "0")]}),
    Run("level session", [f"via=1,{ACROSS}", *through(1), SELDOM_PAST], BOUND_S, level="session",
        stage={"push_delay_s": 0.005, "options": {"cache.level": "session"}}),
    Run("level session, two proxies", [f"via={via},{ACROSS},set=20" for via in (1, 2)] +
        [SELDOM_PAST], BOUND_S, 1000, cut_and_stop, level="session", in_short_form=True,
        stage={"proxies": 2, "options": {"cache.level": "session"}}),
    Run("level ttl", readers(1) + SPARSE, 3, 1000, lose_pushes, level="ttl", stale_s=0.3,
        seconds_min=6,
        stage={"push_delay_s": 0.0,
               "options": {"cache.level": "ttl", "cache.max-staleness": "200ms",
                           "cache.expire-after-write": "3s", "cache.acl-staleness": "1h"}}),
    Run("barriers", [f"via=1,{BARRIERS}", *readers(1), SELDOM_PAST], BOUND_S, in_short_form=True,
        stage={"push_delay_s": 0.005}),
    Run("torn fills", [*readers(1), *PAIRS], BOUND_S, stage={"push_delay_s": 0.0, "tear_s": 0.1}),
    Run("gathered writes", [*readers(1), GATHERED, SELDOM_PAST], BOUND_S, 1000, cut_and_stop,
        stage={"push_delay_s": 0.005, "rules": ["match=k*,coalesce=20ms"]}),
    Run("faults at random", through(1) + through(2) + PAST + SPARSE, BOUND_S, 300, fault_at_random,
        in_short_form=True, seconds_min=12 if LONG else 2,
        stage={"proxies": 2, "push_delay_s": 0.0}),
    Run("library", BY_LIBRARY, 0, 5000, stage={"library": []}),
    Run("library, own loader", BY_LIBRARY, 0, 5000, stage={"library": ["--own-loader"]}),
    Run("library, faults", BY_LIBRARY, 0, 1000, cut_and_stop, in_short_form=True,
        stage={"library": []}),
    Run("library, late pushes", [*BY_LIBRARY, SELDOM_PAST], BOUND_S, 1000,
        stage={"library": ["--own-loader"], "push_delay_s": 0.005}),
    Run("library, late loads", [LIBRARY_READERS, *PAIRS], BOUND_S, 1000,
        stage={"library": ["--own-loader", "--dawdle-ms", "100"]}),
    Run("library, a stopped link", [LIBRARY_READERS, *SPARSE_PAST], BOUND_S, 1000, stop_a_link,
        stage={"library": ["--own-loader"]}),
    Run("moved keys", ["via=1,count=4,think-us=500,keys=4", "via=0,set=10000,keys=4,"
        "think-us=2200000"], BOUND_S, 1000, move_the_keys, once=True, prefix="{heatsink:heartbeat}",
        moves=True, stage={"server_args": CLUSTER,
                           "calls": [("CLUSTER", "ADDSLOTSRANGE", "0", "16383")]}),
]  # fmt: skip
