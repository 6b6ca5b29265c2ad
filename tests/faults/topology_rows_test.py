# SPDX-License-Identifier: Apache-2.0
"""Another server takes over: fail-over behind one address, an upstream that lags."""

import contextlib
import re
import signal
import time
import unittest

from harness import (
    EAGER, ERRORS_WHEN_DOWN, LOG, PATIENCE_S, Proxy, RawClient, Redis, ValueClient, long_form,
    until,
)  # fmt: skip
from harness.processes import free_port
from recorded import COPIES, Recorded, trackers

BRIEF = {"upstream.response-timeout": "3s", "upstream.backoff-max": "100ms"}

AT_ONCE = ("--repl-diskless-sync-delay", "0")  # a replica need not wait for a second one to sync


def offset(port, field):
    with ValueClient(port) as client:
        return int(re.search(rf"{field}:(\d+)", client("INFO", "replication").decode())[1])


class Pair:
    """A context: a replica of the theatre's server, to which the theatre's relay can turn."""

    def __init__(self, theatre):
        self.theatre, self.old = theatre, theatre.server
        self.new = Redis("--replicaof", f"127.0.0.1 {self.old.port}")
        self.new_calls = ValueClient(self.new.port)

    def __enter__(self):
        until(
            lambda: b"master_link_status:up" in self.new_calls("INFO", "replication"),
            PATIENCE_S, "the replica is in step",
        )  # fmt: skip
        return self

    def __exit__(self, *_):
        self.new_calls.close()
        self.new.stop()

    def hold_writes(self):
        """Nothing is acknowledged from now on that the replica does not have."""
        self.theatre.ask("CLIENT", "PAUSE", "600000", "WRITE")
        until(
            lambda: offset(self.new.port, "slave_repl_offset")
            == offset(self.old.port, "master_repl_offset"),
            PATIENCE_S, "the replica has it all",
        )  # fmt: skip

    def take_over(self):
        self.new_calls("REPLICAOF", "NO", "ONE")
        self.theatre.relay.server_port = self.new.port

    def demote(self, master_port):
        self.theatre.ask("REPLICAOF", "127.0.0.1", master_port)

    def kill_clients(self, name=None):
        """As Sentinel does when it has demoted a master; or only those of that name."""
        if name is None:
            self.theatre.ask("CLIENT", "KILL", "TYPE", "normal")
            return
        for line in self.theatre.ask("CLIENT", "LIST").decode().splitlines():
            if f" name={name} " in line:
                self.theatre.ask("CLIENT", "KILL", "ID", re.search(r"id=(\d+)", line)[1])

    def tracked_by_the_new_one(self):
        return len(trackers(self.new.port)) == 1


class Row03(Recorded):
    @contextlib.contextmanager
    def failing_over(self):
        stage = {
            "push_delay_s": 0, "options": BRIEF | ERRORS_WHEN_DOWN, "server_args": AT_ONCE,
        }  # fmt: skip
        with self.recorded(**stage) as (theatre, play), Pair(theatre) as pair:
            yield theatre, play, pair
            self.see_out(play)

    def test_master_stopped_and_back(self):
        """Stopped, replaced, continued: nothing of what it still has to say is served."""
        with self.failing_over() as (theatre, play, pair), contextlib.ExitStack() as stack:
            # The lanes of RESP3 owe nobody anything while the server goes.
            idle = [RawClient(theatre.proxies[0].port, resp=3) for _ in range(8)]
            for client in idle:
                stack.enter_context(client)
                client.ask("DBSIZE")
            pair.hold_writes()
            pair.old.process.freeze()
            pair.take_over()
            until(pair.tracked_by_the_new_one, PATIENCE_S, "a tracker at the new master")
            theatre.wait_coherent()
            # Not after ten times the time-out: the tracker that answers is of another server.
            for client in idle:
                client.send("DBSIZE")
            for client in idle:
                client.read()
            play.copies_speak(COPIES)
            pair.old.process.signal(signal.SIGCONT)
            play.copies_speak(COPIES)
            until(lambda: not trackers(pair.old.port), PATIENCE_S, "no tracker at the old one")
            pair.demote(pair.new.port)
            pair.kill_clients()  # whoever wrote past the proxy

    @long_form("servers_test.cc AReplicaIsNoSourceOfCopies")
    def test_master_demoted_while_everybody_stays_connected(self):
        """It answers every read and every heartbeat, and what it holds no longer ages well."""
        with self.failing_over() as (theatre, play, pair):
            pair.hold_writes()
            before = self.lost(theatre)
            pair.demote(free_port())  # and it never hears from its new master
            self.wait_for_loss(theatre, before)
            play.copies_fall_silent()
            until(lambda: "replica" in theatre.proxies[0].coherence(), PATIENCE_S, "the reason")
            silent = theatre.hits()
            time.sleep(0.5)  # only time shows that no copy speaks
            self.assertEqual(theatre.hits(), silent)
            pair.take_over()
            pair.kill_clients()

    @long_form("servers_test.cc; 'fail-over, the old server keeps the trackers'")
    def test_lanes_move_and_the_tracker_follows(self):
        """Both servers are masters, and only the tracker is still connected to the old one."""
        with self.failing_over() as (theatre, play, pair):
            pair.hold_writes()
            pair.take_over()
            pair.kill_clients("heatsink")
            until(pair.tracked_by_the_new_one, PATIENCE_S, "a tracker at the new master")
            until(lambda: not trackers(pair.old.port), PATIENCE_S, "no tracker at the old one")
            pair.demote(pair.new.port)
            pair.kill_clients()  # whoever wrote past the proxy, and would wait for the old one


@long_form("servers_test.cc AReplicaIsNoSourceOfCopies")
class Row08(unittest.TestCase):
    """What a replica holds may be of any age: nothing is served locally from one."""

    def setUp(self):
        self.master = Redis(*AT_ONCE)
        self.addCleanup(self.master.stop)
        self.replica = Redis("--replicaof", f"127.0.0.1 {self.master.port}")
        self.addCleanup(self.replica.stop)
        self.direct = ValueClient(self.replica.port)
        self.addCleanup(self.direct.close)
        with ValueClient(self.master.port) as client:
            client("SET", "k", "v")
        until(lambda: self.direct("GET", "k") == b"v", PATIENCE_S, "a replica in step")
        self.proxy = Proxy(self.replica, EAGER | BRIEF, stderr=LOG)
        self.addCleanup(self.proxy.stop)
        self.client = ValueClient(self.proxy.port)
        self.addCleanup(self.client.close)

    def read_until_hit(self):
        before = self.proxy.hits()

        def hit():
            self.client("GET", "k")
            return self.proxy.hits() > before

        until(hit, PATIENCE_S, "a hit")

    def expect_no_hits(self):
        before = self.proxy.hits()
        for _ in range(300):
            self.assertEqual(self.client("GET", "k"), b"v")
        self.assertEqual(self.proxy.hits(), before)
        until(lambda: "replica" in self.proxy.coherence(), PATIENCE_S, "it is known to be one")

    def test_link_up_link_down_and_full_resync(self):
        self.expect_no_hits()
        self.direct("REPLICAOF", "127.0.0.1", free_port())
        self.expect_no_hits()
        self.direct("REPLICAOF", "NO", "ONE")
        self.read_until_hit()
        self.direct("REPLICAOF", "127.0.0.1", self.master.port)
        until(lambda: "replica" in self.proxy.coherence(), PATIENCE_S, "it is found out")
        self.expect_no_hits()
        with ValueClient(self.master.port) as client:
            client("SET", "k", "new")
        until(lambda: self.client("GET", "k") == b"new", PATIENCE_S, "the resync")


if __name__ == "__main__":
    unittest.main()
