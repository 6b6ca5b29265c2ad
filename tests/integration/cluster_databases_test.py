# SPDX-License-Identifier: Apache-2.0
"""A cluster with several databases (Valkey 9: cluster-databases), while a slot moves."""

import unittest

from harness import Proxy, RawClient, Redis, ValueClient, need_programs, until
from harness.cluster import Cluster
from harness.processes import EAGER

DATABASES = 4


def need_databases():
    need_programs()
    redis = Redis()
    try:
        with ValueClient(redis.port) as client:
            several = client("CONFIG", "GET", "cluster-databases")
    finally:
        redis.stop()
    if not several:
        raise unittest.SkipTest("a cluster of this server has one database")


class Databases(unittest.TestCase):
    def setUp(self):
        need_databases()
        options = ("--cluster-databases", DATABASES)
        self.cluster = self.enterContext(Cluster(3, 0, tuple(map(str, options))))
        self.proxy = Proxy(self.cluster.url, EAGER)
        self.addCleanup(self.proxy.stop)
        self.slot = self.cluster.slot("b")

    def client(self, db):
        client = ValueClient(self.proxy.port)
        self.addCleanup(client.close)
        self.assertEqual(client("SELECT", db), "OK")
        return client

    def test_keys_of_two_databases(self):
        zero, one = self.client(0), self.client(1)
        self.assertEqual(zero("MSET", "a", "zero", "b", "zero", "c", "zero"), "OK")
        self.assertEqual(one("MSET", "a", "one", "b", "one"), "OK")
        self.assertEqual(zero("MGET", "a", "b", "c"), [b"zero"] * 3)
        self.assertEqual(one("MGET", "a", "b", "c"), [b"one", b"one", None])
        self.assertEqual((zero("DBSIZE"), one("DBSIZE")), (3, 2))
        self.assertEqual(one("FLUSHDB"), "OK")
        self.assertEqual((zero("DBSIZE"), one("DBSIZE")), (3, 0))

    def test_what_it_refuses(self):
        raw = RawClient(self.proxy.port)
        self.addCleanup(raw.close)
        direct = RawClient(self.cluster.masters[0].port)
        self.addCleanup(direct.close)
        for command in (("SELECT", DATABASES), ("SWAPDB", 0, 1), ("COPY", "b", "c", "DB", 1)):
            self.assertEqual(raw.ask(*command), direct.ask(*command))

    def test_copies_of_each_database(self):
        """An invalidation names no database; a copy of each one must go."""
        zero, one = self.client(0), self.client(1)
        past = self.cluster.owner("b").client
        for db in range(2):
            past("SELECT", db)
            past("SET", "b", f"{db}")
        self.wait_for_copies((zero, b"0"), (one, b"1"))
        past("SELECT", 1)
        past("SET", "b", "new")
        until(lambda: one("GET", "b") == b"new", what="the write past the proxy")
        self.assertEqual(zero("GET", "b"), b"0")

    def wait_for_copies(self, *expected):
        for client, value in expected:
            before = self.proxy.hits()
            until(
                lambda c=client, v=value, b=before: c("GET", "b") == v and self.proxy.hits() > b,
                what="a copy",
            )

    def test_a_move_key_by_key(self):
        """ASK leads to the same database of the other node."""
        one = self.client(1)
        source, target = self.cluster.owner("b"), self.cluster.masters[1]
        self.cluster.begin_move(self.slot, source, target)
        self.assertEqual(one("SET", "b", "asked"), "OK")
        self.assertEqual(one("GET", "b"), b"asked")
        self.cluster.end_move(self.slot, target)
        self.assertEqual(one("GET", "b"), b"asked")
        self.assertEqual(self.client(0)("GET", "b"), None)

    def test_an_atomic_move(self):
        zero, one = self.client(0), self.client(1)
        zero("SET", "b", "zero")
        one("SET", "b", "one")
        self.wait_for_copies((zero, b"zero"), (one, b"one"))
        source, target = self.cluster.owner("b"), self.cluster.masters[1]
        self.cluster.move_atomically(self.slot, source, target)
        self.assertEqual(one("SET", "b", "more"), "OK")
        self.assertEqual((zero("GET", "b"), one("GET", "b")), (b"zero", b"more"))
        self.wait_for_copies((zero, b"zero"), (one, b"more"))


if __name__ == "__main__":
    unittest.main()
