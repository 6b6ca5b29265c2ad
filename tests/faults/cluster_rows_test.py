# SPDX-License-Identifier: Apache-2.0
"""Copies of a cluster's keys while slots move, masters are replaced, and nodes stand still.

The rows of docs/design/coherence.md, "Many nodes". All keys of a recorded load are in one slot; its
writers past the proxy write to its owner and to the node that will own it.
"""

import itertools
import signal
import time
import unittest

from cluster_stage import PREFIX, ClusterRows, ClusterTheatre, hold_writes
from harness import PATIENCE_S, ValueClient, until
from recorded import COPIES

BIG_SLOT = 300_000  # keys: such that pushes are late


class Moves(ClusterRows):
    def test_there_and_back_key_by_key(self):
        with self.playing() as (theatre, play):
            there = (theatre.owner, theatre.other)
            for source, target in 2 * [there, there[::-1]]:
                theatre.cluster.begin_move(theatre.slot, source, target)
                time.sleep(0.3)  # keys are missing at the source, and made at the target
                theatre.cluster.move_keys(theatre.slot, source, target)
                theatre.cluster.end_move(theatre.slot, target)
                play.copies_speak(COPIES)

    def test_taken_by_a_higher_epoch(self):
        """The owner hears of it later than everyone else. The proxy was told of one node only."""
        with self.playing(one_address=True) as (theatre, play):
            there = (theatre.owner, theatre.other)
            for owner, thief in (there, there[::-1]):
                hold_writes(owner)
                self.copy_keys(theatre, owner, thief)
                thief("CLUSTER", "BUMPEPOCH")
                taken = thief("CLUSTER", "SETSLOT", theatre.slot, "NODE", thief.name)
                self.assertEqual(taken, "OK")
                until(lambda: self.all_know(theatre, thief), PATIENCE_S, "all know the new owner")
                owner("CLIENT", "UNPAUSE")
                play.copies_speak(COPIES)

    def test_moved_atomically(self):
        """There is no ASK, and the pushes of a big slot come up to seconds after the new owner's
        first write. Valkey answers nobody while it deletes the slot's keys.
        """
        with self.playing() as (theatre, play):
            if not theatre.cluster.moves_atomically():
                self.skipTest("this server cannot move a slot atomically")
            there = (theatre.owner, theatre.other)
            for keys in (0, BIG_SLOT):
                self.fill(there[0], keys)
                for source, target in (there, there[::-1]):
                    theatre.cluster.move_atomically(theatre.slot, source, target)
                    play.copies_speak(COPIES)

    @staticmethod
    def fill(node, keys):
        for begin in range(0, keys, 1000):
            pairs = ((f"{PREFIX}:fill:{n}", "v") for n in range(begin, begin + 1000))
            assert node("MSET", *itertools.chain(*pairs)) == "OK"

    def copy_keys(self, theatre, source, target):
        target("CLUSTER", "SETSLOT", theatre.slot, "IMPORTING", source.name)
        for key in source("CLUSTER", "GETKEYSINSLOT", theatre.slot, 100):
            value = source("DUMP", key)
            target("ASKING")
            self.assertEqual(target("RESTORE", key, 0, value, "REPLACE"), "OK")

    def all_know(self, theatre, owner):
        return all(self.knows(node, theatre.slot, owner) for node in theatre.cluster.masters)

    @staticmethod
    def knows(node, slot, owner):
        for first, last, master, *_ in node("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return master[1] == owner.port
        return False

    def test_other_slots_go_on_from_copies(self):
        """A slot that moves costs the copies of the others nothing."""
        with ClusterTheatre() as theatre, ValueClient(theatre.proxies[0].port) as client:
            key = next(k for k in map(str, range(100)) if theatre.cluster.owner(k) is theatre.owner)
            client("SET", key, "v")
            proxy = theatre.proxies[0]
            until(lambda: client("GET", key) and proxy.hits() > 0, PATIENCE_S, "a copy")
            theatre.cluster.move(theatre.slot, theatre.owner, theatre.other)
            before, reads = proxy.hits(), 500
            for _ in range(reads):
                self.assertEqual(client("GET", key), b"v")
            self.assertGreater(proxy.hits() - before, reads * 0.9)


class Masters(ClusterRows):
    def failed_over(self, theatre):
        return theatre.cluster.replica_of(theatre.owner)

    def is_master(self, node):
        return node("ROLE")[0] == b"master"

    def playing_with_replica(self):
        return self.playing(replicas=1, past=self.failed_over)

    def test_manual_fail_overs(self):
        with self.playing_with_replica() as (theatre, play):
            pair = [theatre.owner, self.failed_over(theatre)]
            for how in ((), ("FORCE",), ("TAKEOVER",)):
                old, new = pair
                if how:
                    self.bring_in_step(old, new)
                self.assertEqual(new("CLUSTER", "FAILOVER", *how), "OK")
                until(lambda: self.is_master(new), PATIENCE_S, "the replica is the master")
                until(lambda: not self.is_master(old), PATIENCE_S, "the master is a replica")
                old("CLIENT", "UNPAUSE")
                play.copies_speak(COPIES)
                until(
                    lambda: b"master_link_status:up" in old("INFO", "replication"),
                    PATIENCE_S, "the replica follows",
                )  # fmt: skip
                pair.reverse()

    def test_killed(self):
        with self.playing_with_replica() as (theatre, play):
            new = self.failed_over(theatre)
            self.bring_in_step(theatre.owner, new)
            theatre.owner.redis.process.kill()
            until(lambda: self.is_master(new), PATIENCE_S, "the replica is the master")
            play.copies_speak(COPIES)

    def test_stopped_replaced_and_continued(self):
        """What lies in its buffers is executed as by a master: nothing of that is served."""
        with self.playing_with_replica() as (theatre, play):
            new = self.failed_over(theatre)
            self.bring_in_step(theatre.owner, new)
            theatre.owner.redis.process.freeze()
            until(lambda: self.is_master(new), PATIENCE_S, "the replica is the master")
            play.copies_speak(COPIES)
            theatre.owner.redis.process.signal(signal.SIGCONT)
            until(lambda: not self.is_master(theatre.owner), PATIENCE_S, "it is a replica")
            play.copies_speak(COPIES)

    def test_only_the_slots_of_a_lost_master(self):
        with ClusterTheatre() as theatre, ValueClient(theatre.proxies[0].port) as client:
            proxy = theatre.proxies[0]
            for node in theatre.cluster.nodes:
                node("CONFIG", "SET", "cluster-require-full-coverage", "no")
            key = next(
                k for k in map(str, range(100)) if theatre.cluster.owner(k) is theatre.others[0]
            )
            client("SET", key, "v")
            until(lambda: client("GET", key) and proxy.hits() > 0, PATIENCE_S, "a copy")
            theatre.owner.redis.process.kill()
            ends = time.monotonic() + 3  # the cluster finds out, and the bound passes
            silent_s, last = 0, proxy.hits()
            while time.monotonic() < ends:
                began = time.monotonic()
                for _ in range(50):
                    self.assertEqual(client("GET", key), b"v")
                hits = proxy.hits()
                silent_s = max(silent_s, time.monotonic() - began if hits == last else 0)
                last = hits
            self.assertLess(silent_s, 0.5)


if __name__ == "__main__":
    unittest.main()
