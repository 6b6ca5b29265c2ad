# SPDX-License-Identifier: Apache-2.0
"""The judge of near caches: what it lets pass, and what it must find."""

import unittest

from near_judge import UNKNOWN, Read, Write, judge

BOUND_S = 1.0
PROXY, OTHER = 1, 2


def write(value, began, acked, via=OTHER, **more):
    return Write("k", value, began, acked, via, **more)


def near(value, asked, told, uses=1):
    return Read("k", value, asked, told, asked + 0.001, PROXY, uses)


def asked(value, at):
    return Read("k", value, at, at, at + 0.001, PROXY)


class NearJudge(unittest.TestCase):
    def found(self, writes, *reads):
        return judge(writes, reads, BOUND_S).violations

    def passes(self, writes, *reads):
        self.assertEqual(self.found(writes, *reads), [])

    def fails(self, why, writes, *reads):
        found = self.found(writes, *reads)
        self.assertEqual(len(found), 1, found)
        self.assertIn(why, found[0])

    TWO = (write(b"1", 10, 10.1), write(b"2", 20, 20.1))

    def test_the_bound(self):
        self.passes(self.TWO, near(b"1", 15, 14), near(b"1", 21, 15), near(b"2", 99, 98))
        self.fails("1.100 s old", self.TWO, near(b"1", 21.2, 15))
        self.fails("1.100 s old", self.TWO, asked(b"1", 21.2))

    def test_staleness_is_of_the_first_write_that_was_missed(self):
        writes = [*self.TWO, write(b"3", 20.2, 20.3), write(b"4", 20.6, 20.7)]
        self.assertAlmostEqual(judge(writes, [near(b"1", 21, 20)], BOUND_S).staleness_s, 0.9)
        self.fails("1.200 s old", writes, near(b"1", 21.3, 20))

    def test_writes_at_the_same_time_have_no_order(self):
        self.passes([write(b"1", 10, 10.5), write(b"2", 10.4, 10.6)], near(b"1", 99, 98),
                    near(b"2", 99, 98))  # fmt: skip

    def test_the_own_proxys_writes(self):
        writes = [write(b"1", 10, 10.1, PROXY), write(b"2", 20, 20.1, PROXY)]
        self.passes(writes, near(b"1", 20.5, 20.05), near(b"1", 20.05, 20.05))
        self.fails("not told", writes, near(b"1", 20.5, 20.2))
        self.fails("not told", writes, asked(b"1", 20.2))
        self.passes(self.TWO, near(b"1", 20.5, 20.2))

    def test_a_write_whose_outcome_is_not_known(self):
        self.passes([write(b"1", 10, 10.1), write(b"2", 20, UNKNOWN)], near(b"1", 99, 98),
                    near(b"2", 99, 98))  # fmt: skip
        self.passes([write(b"1", 10, UNKNOWN), write(b"2", 20, 20.1)], near(b"1", 99, 98))

    def test_keys_that_are_gone(self):
        writes = [write(b"1", 10, 10.1), write(None, 20, 20.1)]
        self.passes(writes, asked(None, 5), asked(None, 30))
        self.fails("s old", writes, near(b"1", 30, 29))
        self.fails("s old", writes, asked(None, 15))
        self.passes([], asked(None, 15))

    def test_expiry(self):
        writes = [write(b"1", 10, 10.1, life_s=0.5)]
        self.passes(writes, near(b"1", 11.5, 11), asked(None, 11), asked(None, 99))
        self.fails("1.200 s old", writes, near(b"1", 11.8, 11))
        self.fails("s old", [write(b"1", 1, 1.1), write(b"2", 2, 2.1, life_s=50)], asked(None, 9))

    def test_values_from_nowhere(self):
        self.fails("never written", self.TWO, asked(b"3", 30))
        self.fails("later", self.TWO, asked(b"2", 15))

    def test_uses_count(self):
        found = judge(self.TWO, [near(b"1", 12, 11, uses=7), asked(b"1", 12)], BOUND_S)
        self.assertEqual((found.near, found.entries, found.reads), (7, 1, 1))


if __name__ == "__main__":
    unittest.main()
