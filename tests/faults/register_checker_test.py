# SPDX-License-Identifier: Apache-2.0
"""The checker finds what it is there to find, and nothing else."""

import unittest

from register_checker import Op, staleness_max, violations


def read(version, invoked, responded, session=0, order=0):
    return Op("k", version, False, invoked, responded, session, order)


def write(version, invoked, responded, session=0, order=0):
    return Op("k", version, True, invoked, responded, session, order)


class Checker(unittest.TestCase):
    def test_reads_concurrent_with_a_write_may_see_either(self):
        history = [write(1, 0, 1), write(2, 2, 9, 0, 1), read(1, 3, 4, 1), read(2, 5, 6, 2)]
        self.assertEqual(violations(history), [])

    def test_a_read_that_misses_a_finished_write(self):
        self.assertEqual(len(violations([write(2, 0, 1, 0), read(1, 2, 3, 1)])), 1)

    def test_a_key_that_goes_back_in_time(self):
        history = [write(2, 0, 99, 0), read(2, 1, 2, 1), read(1, 3, 4, 2)]
        self.assertEqual(len(violations(history)), 1)

    def test_a_pipeline_that_goes_back_in_time(self):
        self.assertEqual(len(violations([read(2, 0, 9, 1, 0), read(1, 0, 9, 1, 1)])), 1)

    def test_a_pipelined_write_that_its_own_read_misses(self):
        self.assertEqual(len(violations([write(2, 0, 9, 1, 0), read(1, 0, 9, 1, 1)])), 1)

    def test_a_write_that_happens_twice(self):
        self.assertEqual(len(violations([write(2, 0, 1, 0), write(2, 2, 3, 1)])), 1)

    def test_a_value_before_it_was_written(self):
        self.assertEqual(len(violations([read(2, 0, 1, 1), write(2, 2, 3, 0)])), 2)

    def test_touching_intervals_are_concurrent(self):
        self.assertEqual(violations([write(2, 0, 1, 0), read(1, 1, 2, 1)]), [])

    def test_keys_are_apart(self):
        self.assertEqual(violations([write(2, 0, 1), read(1, 2, 3, 1)._replace(key="other")]), [])

    def test_staleness_is_counted_from_the_first_write_not_seen(self):
        foreign = {"k": [(2, 10.0), (3, 20.0), (4, 30.0)]}
        self.assertEqual(staleness_max([read(2, 25, 26), read(4, 99, 99)], foreign), 5.0)
        self.assertEqual(staleness_max([read(1, 12, 13)], foreign), 2.0)
        self.assertEqual(staleness_max([read(3, 20, 21)], foreign), 0.0)


if __name__ == "__main__":
    unittest.main()
