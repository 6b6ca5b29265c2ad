# SPDX-License-Identifier: Apache-2.0
"""The runs: who reads and writes, what is broken meanwhile, and what is promised nevertheless."""

import re
import signal
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from harness import Redis, ValueClient
from one_thread import stopped, thread_named
from theatre import Theatre

BOUND_S = 1.0  # cache.max-staleness


@dataclass
class Run:
    """`hits_share`: so many of the reads at least come from copies, or the run proves nothing."""

    name: str
    sessions: list
    bound_s: float
    hits_share: float = 0.5
    fault: Optional[Callable] = None
    stage: dict = field(default_factory=dict)  # of Theatre
    prefix: str = "k"
    moves: bool = False  # writers past the proxies are at another server, to which the keys move

    def play(self, seconds, operations=0, seed=1):
        """The judgement, what the player said, and the hits."""
        with Theatre(**self.stage) as theatre:
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
        path = theatre.play(self, seconds, operations, seed, past)
        hits = theatre.hits()
        theatre.stop_proxies()
        return theatre.judge(path, self.bound_s), theatre.said, hits


# ---- faults, each once, and the pause behind it


def stop_the_server(theatre, over):
    theatre.server.process.freeze()
    time.sleep(0.3)
    theatre.server.process.signal(signal.SIGCONT)
    over.wait(0.7)


def stop_a_proxy(theatre, over):
    """Longer than the bound: its clients ask meanwhile, and nobody hears the pushes."""
    theatre.proxies[0].process.freeze()
    time.sleep(BOUND_S * 2)
    theatre.proxies[0].process.signal(signal.SIGCONT)
    over.wait(1.5)


def stop_a_keeper(theatre, over):
    """The thread that hears the pushes, for longer than the bound; those that serve go on."""
    child = theatre.proxies[0].process.child.pid
    with stopped(thread_named(child, "keeper")):
        time.sleep(BOUND_S * 2)
    over.wait(1)


def cut_connections(theatre, over):
    """All, and then the trackers': answers lost, generations, writes of unknown outcome."""
    with ValueClient(theatre.server.port) as client:
        client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        over.wait(0.3)
        for line in client("CLIENT", "LIST").decode().splitlines():
            if "name=heatsink-tracker" in line:
                client("CLIENT", "KILL", "ID", re.search(r"id=(\d+)", line)[1])
    over.wait(0.5)


def cut_and_stop(theatre, over):
    cut_connections(theatre, over)
    stop_the_server(theatre, over)


def lose_pushes(theatre, over):
    """What was written last is never told to the trackers: they are cut off instead."""
    theatre.relay.hold()
    time.sleep(0.5)
    theatre.relay.lose()
    over.wait(1.5)


def move_the_keys(theatre, over):
    """The server no longer owns them, and tells nobody (CLUSTER DELSLOTS sends no push)."""
    over.wait(1)
    with ValueClient(theatre.server.port) as client:
        client("CLUSTER", "DELSLOTS", client("CLUSTER", "KEYSLOT", "heatsink:heartbeat"))
    over.wait()


# ---- sessions


def through(via):
    """Everything that clients of a proxy do."""
    return [
        f"via={via},count=6,depth=16,set=10,mget=20,lcs=20",
        f"via={via},count=4,depth=4,set=20,del=5,mget=50,lcs=50,db=1",
        f"via={via},count=2,depth=1,set=50,px=20,expire=10",
        f"via={via},count=1,depth=8,eval=20,flush=1,think-us=2000",
        f"via={via},count=2,cas=2000,think-us=1000",
    ]


def readers(via):
    """Of few keys with the same names in two databases, asking no faster than it takes to see."""
    return [f"via={via},count=4,depth=8,think-us=500,keys=4,db={db}" for db in (0, 1)]


PAST = ["via=0,count=2,set=5000,think-us=3000", "via=0,set=3000,px=2000,del=500,think-us=5000,db=1"]
SPARSE = [f"via=0,set=10000,keys=4,think-us=400000,db={db}" for db in (0, 1)]
SHORT_LIVED = ["via=0,px=10000,ttl=300,keys=4,think-us=400000"]
PACED = "via=1,count=4,depth=8,pace-us=20000"
# So few that copies come back between two writes, though each fill is late, too.
WRITES = "via=1,count=4,depth=4,set=300,mget=100,lcs=100,eval=20,think-us=10000,keys=8"
TRANSACTIONS = "via=1,count=4,cas=10000,think-us=100000,keys=8"
SELDOM_PAST = "via=0,set=10000,think-us=25000,keys=8"
CLUSTER = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")

RUNS = [
    Run("one proxy", through(1), 0),
    Run("two proxies", through(1) + through(2) + PAST, BOUND_S, stage={"proxies": 2}),
    Run("one proxy, faults", through(1), 0, 0.2, cut_and_stop),
    Run("two proxies, faults", through(1) + through(2) + PAST, BOUND_S, 0.2, cut_and_stop,
        stage={"proxies": 2}),
    Run("late pushes, one proxy", [*readers(1), WRITES, TRANSACTIONS], 0, 0.1,
        stage={"push_delay_s": 0.005}),
    Run("late pushes", [*readers(1), WRITES, TRANSACTIONS, SELDOM_PAST], BOUND_S, 0.1,
        stage={"push_delay_s": 0.005}),
    Run("lost pushes", readers(1) + SPARSE, BOUND_S, 0.2, lose_pushes,
        stage={"push_delay_s": 0.0}),
    Run("a stopped proxy", [*readers(1), PACED, *PAST, *SPARSE], BOUND_S, 0.05, stop_a_proxy,
        stage={"push_delay_s": 0.02}),
    Run("a stopped keeper", readers(1) + SPARSE, BOUND_S, 0.2, stop_a_keeper),
    Run("short lives", readers(1) + SHORT_LIVED, BOUND_S, 0.2,
        stage={"calls": [("DEBUG", "SET-ACTIVE-EXPIRE", "0")]}),
    Run("moved keys", ["via=1,count=4,think-us=500,keys=4", "via=0,set=10000,keys=4,"
        "think-us=2200000"], BOUND_S, 0.1, move_the_keys, prefix="{heatsink:heartbeat}", moves=True,
        stage={"server_args": CLUSTER, "calls": [("CLUSTER", "ADDSLOTSRANGE", "0", "16383")]}),
]  # fmt: skip
