# SPDX-License-Identifier: Apache-2.0
"""Histories of clients with near caches in front of a cluster whose slots move and nodes stop.

Writers write through the proxy, and past it at each of three masters: what a node refuses is not
written. near_judge.py says what is promised. SECONDS and SEED as in near_histories_test.py.
"""

import contextlib
import random
import re
import signal
import tempfile
import time
import unittest

import near_judge
from harness import PATIENCE_S, Proxy, need_programs, until
from harness.cluster import Cluster
from harness.processes import EAGER, LOG
from near_histories_test import (
    BOUND_S, HITS_MIN, KEYS, LATE_S, NEAR_MIN, SECONDS, SEED, few_readers_of,
)  # fmt: skip
from near_player import Played, Writer

MISSING_S = 0.4  # keys of a slot that moves may be on either node for so long
LENGTH_S = 6.0  # at least
OPTIONS = EAGER | {"proxy.client-tracking": "pays"}


def move_a_slot(cluster, dice):
    """Of a key; what is missing at its source is made at the target, by the proxy's writers."""
    slot = cluster.slot(f"k{dice.randrange(KEYS)}")
    source = cluster.owner_of(slot)
    target = dice.choice([node for node in cluster.masters if node is not source])
    cluster.begin_move(slot, source, target)
    time.sleep(MISSING_S)  # of the move
    cluster.move_keys(slot, source, target)
    cluster.end_move(slot, target)


def stop_a_node(cluster, dice):
    node = dice.choice(cluster.masters)
    node.redis.process.freeze()
    time.sleep(dice.choice((0.3, BOUND_S * 1.6)))  # the fault lasts this long
    node.redis.process.signal(signal.SIGCONT)


def kill_a_tracker(cluster, dice):
    node = dice.choice(cluster.masters)
    rows = node("CLIENT", "LIST").decode()
    for number in re.findall(r"id=(\d+) [^\n]*name=heatsink-tracker", rows):
        node("CLIENT", "KILL", "ID", number)


class NearClusterHistories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def play(self, *faults):
        dice = random.Random(SEED)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-history-"))
            cluster = stack.enter_context(Cluster(3))
            proxy = Proxy(cluster.url, OPTIONS, stderr=LOG)
            stack.callback(proxy.process.kill)
            playing = []
            for spec in self.players(proxy, cluster):
                playing.append(Played(spec, folder))
                stack.callback(playing[-1].kill)
            until(lambda: proxy.hits() > HITS_MIN, 3 * PATIENCE_S, "all play")
            end = time.monotonic() + max(SECONDS, LENGTH_S)
            while time.monotonic() < end:
                dice.choice(faults)(cluster, dice)
                time.sleep(0.3)  # what is wrong then is read in this pause
            seen = [each.stop() for each in playing]
            proxy.stop()
        self.judge(seen)

    @staticmethod
    def players(proxy, cluster):
        out = [*few_readers_of(proxy.port, 100), Writer(proxy.port, 150, written=4, pause_s=0.03)]
        out += [Writer(node.port, 10 + i, pause_s=0.02) for i, node in enumerate(cluster.masters)]
        for spec in out:
            spec.number += 1000 * SEED
        return out

    def judge(self, seen):
        writes = [write for own, _ in seen for write in own]
        found = near_judge.judge(writes, [read for _, own in seen for read in own],
                                 BOUND_S + LATE_S)  # fmt: skip
        print(f"\n{self.id()}: {len(writes)} writes, {found.text()}", flush=True)
        self.assertEqual(found.violations, [], found.text())
        self.assertGreater(found.near, NEAR_MIN, "clients answered nothing themselves")

    def test_slots_move(self):
        self.play(move_a_slot)

    def test_nodes_stop_and_trackers_are_lost(self):
        self.play(stop_a_node, kill_a_tracker, move_a_slot)


if __name__ == "__main__":
    unittest.main()
