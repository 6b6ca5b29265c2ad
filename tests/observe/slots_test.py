#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics per slot of a Valkey that has them, and what is said of a server that has not."""

import os
import pathlib
import sys
import unittest

from stage import PATIENT, Load, once, top

import harness
from harness import Redis, ValueClient, need_programs, until

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "servers"))
import unpack  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("HEATSINK_TEST_SERVERS", "build/servers"))


class WithoutSlots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def test_a_server_outside_of_a_cluster_says_so(self):
        redis = Redis()
        self.addCleanup(redis.stop)
        done = top(redis.port, "--once", source="slots")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "not a cluster node|does not have the command")


class Slots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        try:
            cls.server = str(unpack.unpacked("valkey-8", FOLDER))
        except unpack.Unavailable as why:
            raise unittest.SkipTest(f"no Valkey 8 here: {why}") from None

    def setUp(self):
        before = harness.processes.SERVER
        harness.processes.SERVER = self.server
        self.addCleanup(setattr, harness.processes, "SERVER", before)
        self.valkey = Redis("--cluster-enabled", "yes", "--cluster-slot-stats-enabled", "yes")
        self.addCleanup(self.valkey.stop)
        with ValueClient(self.valkey.port) as client:
            client("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            until(lambda: client("SET", "the:hot:key", "v") == "OK", what="the cluster is up")

    def test_the_key_of_the_hottest_slot_is_named(self):
        with Load(self.valkey.port) as load:
            until(lambda: len(load.counts) > 100, what="a load")
            seen = once(self.valkey.port, *PATIENT, source="slots")
        self.assertEqual(seen["keys"][0]["name"], "the:hot:key")
        self.assertIn("slots by CPU time", seen["sources"][0]["note"])

    def test_where_it_does_not_count_what_to_set_is_said(self):
        with ValueClient(self.valkey.port) as client:
            client("CONFIG", "SET", "cluster-slot-stats-enabled", "no")
        done = top(self.valkey.port, "--once", source="slots")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cluster-slot-stats-enabled yes", done.stderr)


if __name__ == "__main__":
    unittest.main()
