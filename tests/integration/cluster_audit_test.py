#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The auditor in front of a cluster: silent while slots move under load, loud when a node's
invalidations are lost.
"""

import threading
import time
import unittest

from audit_test import EAGER, STALE
from deaf_relay import DeafRelay
from harness import PATIENCE_S, SLOW, Proxy, RawClient, ValueClient, need_programs, until
from harness.cluster import Cluster

TAGS = ("a", "b", "c")  # of three masters


class Audits(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.cluster = Cluster(3)
        self.enterContext(self.cluster)

    def start(self, upstream, **options):
        self.proxy = Proxy(upstream, {**EAGER, "cache.expire-after-write": "1m", **options})
        self.addCleanup(self.proxy.stop)
        self.client = RawClient(self.proxy.port)
        self.addCleanup(self.client.close)

    def set(self, key, value):
        """By a client that bypasses the proxy."""
        self.assertEqual(self.cluster.owner(key)("SET", key, value), "OK")

    def read_until(self, keys, done, what):
        def asked():
            for key in keys:
                for _ in range(20):
                    self.client.ask("GET", key)
            return done()

        until(asked, PATIENCE_S, what)

class AllIsWell(Audits):
    def test_the_copies_of_every_master_are_audited(self):
        self.start(self.cluster.url)
        for tag in TAGS:
            self.set(tag, "v")
            before = self.proxy.metric("heatsink_audit_audited_total")
            audited = lambda: (  # noqa: E731
                self.proxy.metric("heatsink_audit_audited_total") > before + 3
            )
            self.read_until((tag,), audited, f"{tag} is audited")
        self.assertEqual(self.proxy.metric("heatsink_audit_suspected_total"), 0)
        for node in self.cluster.masters:
            self.assertIn(b"name=heatsink-auditor", node("CLIENT", "LIST"))

    def test_slots_that_move_under_load_are_no_stale_reads(self):
        """Readers and writers of all masters; the slot of each key goes round the masters."""
        self.start(self.cluster.url)
        stop = threading.Event()
        broken = []

        def play(work):
            client = ValueClient(self.proxy.port)
            try:
                for n in iter(int, 1):
                    if stop.is_set():
                        return
                    work(client, n)
            except Exception as error:  # the test reports it
                broken.append(error)
            finally:
                client.close()

        def read(client, _):
            client.pipeline([("GET", tag) for tag in TAGS] * 10)

        values = iter(range(10**9))

        def write(client, _):
            client.pipeline([("SET", tag, next(values)) for tag in TAGS])
            time.sleep(0.01)  # so that copies live long enough for hits

        threads = [threading.Thread(target=play, args=(work,)) for work in (read, read, write)]
        for thread in threads:
            thread.start()
        try:
            self.move_around(rounds=3)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(broken, [])
        until(self.proxy.all_suspicions_are_judged, what="all that is suspected has been judged")
        self.assertGreater(self.proxy.metric("heatsink_audit_audited_total"), 100)
        self.assertGreater(self.proxy.metric("heatsink_audit_suspected_total"), 0)
        self.assertEqual(self.proxy.metric(STALE), 0)

    def move_around(self, rounds):
        masters = self.cluster.masters
        for _ in range(rounds):
            for tag in TAGS:
                source = self.cluster.owner(tag)
                target = masters[(masters.index(source) + 1) % len(masters)]
                self.cluster.move(self.cluster.slot(tag), source, target)
                time.sleep(0.5 * SLOW)  # the bound, and time for audits at the new owner


class InvalidationsAreLost(Audits):
    def setUp(self):
        super().setUp()
        self.relays = [DeafRelay(node.port) for node in self.cluster.masters]
        for relay in self.relays:
            self.addCleanup(relay.close)
        pairs = ",".join(
            f"127.0.0.1:{node.port}=127.0.0.1:{relay.port}"
            for node, relay in zip(self.cluster.masters, self.relays)
        )
        url = f"redis+cluster://127.0.0.1:{self.relays[0].port}"
        self.start(url, **{"upstream.translate": pairs, "log.level": "error"})

    def test_it_is_confirmed_on_the_node_and_ended(self):
        for tag in TAGS:
            self.set(tag, "old")
        hits = self.proxy.hits()
        self.read_until(TAGS, lambda: self.proxy.hits() > hits + 200, "hits")
        owner = self.cluster.owner("b")
        self.relays[self.cluster.masters.index(owner)].deaf.set()
        self.set("b", "new")
        confirmed = lambda: self.proxy.metric(STALE) >= 1  # noqa: E731
        self.read_until(TAGS, confirmed, "the stale read is confirmed")
        (event,) = [e for e in self.proxy.api("events")["events"] if e["verdict"] == "stale-read"]
        self.assertEqual(event["name"], "b")
        self.assertEqual(self.client.ask("GET", "b"), b"$3\r\nnew\r\n")


if __name__ == "__main__":
    unittest.main()
