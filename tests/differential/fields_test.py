# SPDX-License-Identifier: Apache-2.0
"""Hashes whose fields expire (Redis 7.4, Valkey 9): the same to a server and through the proxy.

A seeded sequence of HEXPIRE, HPERSIST, HGETEX, HSETEX, HGETDEL and other writes goes to a server
and through the proxy before another one. The expiry cycles of both are off, so no server says that
a field has ended. In each round one field ends. The proxy answers reads of its hash meanwhile, so
that it has copies; behind the end both sides must reply the same again.

HEATSINK_DIFFERENTIAL_SEED and HEATSINK_DIFFERENTIAL_ROUNDS: the first seed, and how many rounds (a
round takes 0.1 s or so). Skipped where fields do not expire.
"""

import os
import random
import time
import unittest

import end_state
import rules
from harness import EAGER, LONG, PATIENCE_S, Proxy, RawClient, Redis, need_programs, until

ROUNDS = int(os.environ.get("HEATSINK_DIFFERENTIAL_ROUNDS", "300" if LONG else "25"))
SEED = int(os.environ.get("HEATSINK_DIFFERENTIAL_SEED", "1"))

HASHES = ("h", "i")
FIELDS = ("a", "b", "c")
KINDS = 4  # of reads that get copies in a round: a key has at most 8
LIFE_MS = 40  # of the field that ends in a round
FAR_MS, FAR_S = "9000000", "9000"


class Fields(unittest.TestCase):
    def setUp(self):
        need_programs()
        direct, through = (self.redis() for _ in range(2))
        self.servers = [RawClient(each.port) for each in (direct, through)]
        if b"unknown command" in self.servers[0].ask("HPTTL", "h", "FIELDS", "1", "a"):
            self.skipTest("the fields of this server's hashes do not expire")
        for server in self.servers:
            self.addCleanup(server.close)
            server.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        self.proxy = Proxy(through, EAGER)
        self.addCleanup(self.proxy.stop)
        self.direct, self.through = RawClient(direct.port), RawClient(self.proxy.port)
        self.addCleanup(self.direct.close)
        self.addCleanup(self.through.close)

    def redis(self):
        server = Redis()
        self.addCleanup(server.stop)
        return server

    def same(self, rule, *call):
        expected, actual = self.direct.ask(*call), self.through.ask(*call)
        if not rules.same(rule, expected, actual):
            self.fail(f"{call}: the server replies {expected}, the proxy {actual}")

    def write(self, rng):
        key, fields = rng.choice(HASHES), rng.sample(FIELDS, rng.choice((1, 1, 2)))
        named = ("FIELDS", len(fields), *fields)
        values = ("FIELDS", len(fields), *(x for f in fields for x in (f, rng.randrange(100))))
        return rng.choice(
            (
                ("HSET", key, *values[2:]),
                ("HSET", key, *values[2:]),
                ("HSETEX", key, "PX", FAR_MS, *values),
                ("HSETEX", key, "KEEPTTL", *values),
                ("HEXPIRE", key, FAR_S, *named),
                ("HPEXPIRE", key, FAR_MS, rng.choice(("NX", "XX", "LT")), *named),
                ("HPEXPIREAT", key, "1", *named),
                ("HPERSIST", key, *named),
                ("HGETEX", key, *named),
                ("HGETEX", key, "PERSIST", *named),
                ("HGETEX", key, "PX", FAR_MS, *named),
                ("HGETDEL", key, *named),
                ("HDEL", key, *fields),
                ("HINCRBY", key, fields[0], "3"),
            )
        )

    def short_life(self, rng, key, field):
        return rng.choice(
            (
                ("HPEXPIRE", key, LIFE_MS, "FIELDS", "1", field),
                ("HSETEX", key, "PX", LIFE_MS, "FIELDS", "1", field, rng.randrange(100)),
                ("HGETEX", key, "PX", LIFE_MS, "FIELDS", "1", field),
            )
        )

    @staticmethod
    def reads(key):
        """(rule, call), by which copies may differ."""
        yield from (("exact", ("HGET", key, field)) for field in FIELDS)
        yield "exact", ("HMGET", key, *FIELDS)
        yield "exact", ("HEXISTS", key, FIELDS[0])
        yield "exact", ("HSTRLEN", key, FIELDS[1])
        yield "pairs", ("HGETALL", key)
        yield "any_order", ("HKEYS", key)
        yield "any_order", ("HVALS", key)

    def same_reads(self):
        for _ in range(2):
            for key in HASHES:
                for rule, call in self.reads(key):
                    self.same(rule, *call)

    def await_end(self, key, field):
        """Redis deletes what it finds ended; so HLEN and HSET show whether it has done so."""
        for server in self.servers:
            until(
                lambda server=server: server.ask("HEXISTS", key, field) == b":0\r\n",
                PATIENCE_S,
                f"{field} of {key} has ended",
            )
        until(
            lambda: self.direct.ask("HLEN", key) == self.through.ask("HLEN", key),
            PATIENCE_S,
            f"the same HLEN of {key}",
        )

    def round(self, rng):
        for _ in range(rng.randrange(1, 6)):
            self.same("exact", *self.write(rng))
        self.same_reads()
        key, field = rng.choice(HASHES), rng.choice(FIELDS)
        self.same("exact", "HSET", key, field, "1")
        self.same("exact", *self.short_life(rng, key, field))
        some = rng.sample(list(self.reads(key)), KINDS)
        filled_by = time.monotonic() + LIFE_MS / 2000
        while time.monotonic() < filled_by:
            for _, call in some:
                self.through.ask(*call)  # its reply depends on the moment
        self.await_end(key, field)
        for rule, call in some:
            self.same(rule, *call)
        self.same_reads()

    def hit_by(self, call):
        before = self.proxy.hits()
        for _ in range(6):
            self.through.ask(*call)
        return self.proxy.hits() >= before + 6

    def test_the_same_replies_whenever_fields_end(self):
        for key in HASHES:
            self.same("exact", "HSET", key, "a", "1")
            until(lambda key=key: self.hit_by(("HGET", key, "a")), PATIENCE_S, "copies")
        rng = random.Random(SEED)
        for number in range(ROUNDS):
            with self.subTest(seed=SEED, round=number):
                self.round(rng)
        left = end_state.differences(*(server.ask for server in self.servers))
        self.assertEqual("\n".join(left), "")
        self.assertGreater(self.proxy.hits(), ROUNDS, "copies have replied")


if __name__ == "__main__":
    unittest.main()
