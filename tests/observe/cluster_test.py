#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster of three real servers: any node's URL shows them all, and what is missing is said."""

import json
import unittest

from stage import PATIENT, Load, Watching, once, top

from harness import PATIENCE_S, Redis, ValueClient, need_programs, until
from harness.processes import MEET_SOON, all_have_met

SLOTS = ((0, 5460), (5461, 10922), (10923, 16383))
OF_SLOTS = ("b", "c", "a")  # keys of slots 3300, 7365, 15495


class Cluster:
    """Three masters that know each other; stop() ends them."""

    def __init__(self):
        self.servers = [
            Redis(*MEET_SOON, "--maxmemory-policy", "allkeys-lfu")
            for _ in SLOTS
        ]  # fmt: skip
        for server, (first, last) in zip(self.servers, SLOTS):
            with ValueClient(server.port) as client:
                client("CLUSTER", "ADDSLOTSRANGE", first, last)
                client("CLUSTER", "MEET", "127.0.0.1", self.servers[0].port)
        until(lambda: all(map(self._knows_all, self.servers)), 3 * PATIENCE_S, "the cluster is up")
        for server in self.servers:
            with ValueClient(server.port) as client:
                all_have_met(client)

    @staticmethod
    def _knows_all(server):
        with ValueClient(server.port) as client:
            return (
                b"cluster_state:ok" in client("CLUSTER", "INFO")
                and len(client("CLUSTER", "SHARDS")) == len(SLOTS)
            )  # fmt: skip

    def stop(self):
        for server in self.servers:
            server.stop()


class Observed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.ports = [server.port for server in cls.cluster.servers]
        for port, name in zip(cls.ports, OF_SLOTS):
            with ValueClient(port) as client:
                assert client("SET", name, "v") == "OK"

    def names(self):
        return [f"127.0.0.1:{port}" for port in self.ports]

    def test_a_scan_is_of_all_masters(self):
        done = top(self.ports[1], "--json", "--for", "60s", source="lfu")
        self.assertEqual(done.returncode, 0, done.stderr)
        last = done.stdout.splitlines()[-1]
        self.assertIn('"progress":1', last)
        for name, node in zip(OF_SLOTS, self.names()):
            self.assertRegex(last, rf'"name":"{name}".*"node":"{node}"')
        self.assertIn("on each of 3 nodes", last)

    def test_a_scan_has_the_sums_of_all_keys_of_a_slot(self):
        names = [f"{{b}}:{i}" for i in range(300)]  # more than are listed, in one slot
        with ValueClient(self.ports[0]) as client, ValueClient(self.ports[2]) as other:
            client("CONFIG", "SET", "lfu-decay-time", "1000")  # minutes: nothing falls meanwhile
            other("CONFIG", "SET", "lfu-decay-time", "1000")
            self.addCleanup(self.restore, names)
            client.pipeline([("SET", name, "v") for name in names])
            client.pipeline([("GET", name) for name in names] * 20)
            other.pipeline([("GET", "a")] * 100)
            counters = client.pipeline([("OBJECT", "FREQ", name) for name in ["b", *names]])
        done = top(self.ports[1], "--json", "--for", "60s", source="lfu")
        self.assertEqual(done.returncode, 0, done.stderr)
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(last["sources"][0]["progress"], 1)
        slot = last["slots"][0]
        self.assertEqual((slot["slot"], slot["node"], slot["keys"]), (3300, self.names()[0], 301))
        steps = [counter - 5 for counter in counters if counter > 5]
        self.assertGreater(len(steps), 290)
        # Of 1000 minutes each, with the log factor 10.
        self.assertAlmostEqual(slot["rate"], sum(10 * x + 1 for x in steps) / 60_000, 6)
        listed = sum(key["rate"] for key in last["keys"] if key["name"].startswith("{b}"))
        self.assertLess(listed, slot["rate"])
        self.assertEqual((slot["cpu_share"], slot["bytes_rate"]), (None, None))
        self.assertIn((15495, self.names()[2]), [(s["slot"], s["node"]) for s in last["slots"]])

    def restore(self, names):
        for port in (self.ports[0], self.ports[2]):
            with ValueClient(port) as client:
                client("CONFIG", "SET", "lfu-decay-time", "1")
        with ValueClient(self.ports[0]) as client:
            client("UNLINK", *names)

    def test_the_busiest_is_listened_to_unless_another_is_chosen(self):
        with Load(self.ports[2], hot="a", share=1) as load:
            until(lambda: len(load.counts) > 100, what="a load")
            seen = once(self.ports[0], *PATIENT, source="monitor")
            self.assertEqual((seen["keys"][0]["name"], seen["keys"][0]["node"]),
                             ("a", self.names()[2]))  # fmt: skip
            self.assertIn("the busiest: " + self.names()[2], seen["sources"][0]["note"])
            self.assertEqual([node["watched"] for node in seen["nodes"]], [False, False, True])
            self.assertGreater(seen["nodes"][2]["reads_rate"], 100)
            self.assertTrue(seen["cluster"])
        done = top(self.ports[0], "--once", "--node", "127.0.0.1:1", source="monitor")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no master 127.0.0.1:1", done.stderr)
        self.assertIn(self.names()[0], done.stderr)

    def test_what_is_no_node_is_told(self):
        done = top(self.ports[0], "--once", "--node", "every", source="monitor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("all, busiest, or HOST:PORT", done.stderr)


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def test_a_node_that_is_gone_leaves_the_others(self):
        cluster = Cluster()
        self.addCleanup(cluster.stop)
        ports = [server.port for server in cluster.servers]
        for port, name in zip(ports[:2], OF_SLOTS):
            with ValueClient(port) as client:
                client("SET", name, "v")
        cluster.servers[2].process.kill()
        with Watching(f"redis://127.0.0.1:{ports[0]}", source="lfu") as watching:

            def others_told():
                return {key["name"] for key in watching.answers[-1]["keys"]} == {"b", "c"}

            until(others_told, 3 * PATIENCE_S, "the keys of the others")
            note = watching.answers[-1]["sources"][0]["note"]
        self.assertIn(f"1 of 3 masters cannot be reached (127.0.0.1:{ports[2]}", note)


if __name__ == "__main__":
    unittest.main()
