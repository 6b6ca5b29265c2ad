# SPDX-License-Identifier: Apache-2.0
"""The arithmetic, the table and the keys of bench/total.py, without servers."""

import collections
import pathlib
import tempfile
import unittest

import total_keys
from total_table import Asked, Played, asked_of, calmest, head, make_row, ratios_of, summary


def played(rate=100.0, proxy=1.0, server=1.0, p99=1.0, hits=0.0, stolen=0.0):
    return Played(rate, proxy, server, p99, hits, stolen)


class Arithmetic(unittest.TestCase):
    def test_a_ratio_is_the_median_of_the_ratios_within_pairs(self):
        # The medians of the sides would give 200 / 300; the machine was slow in the third pair.
        pairs = [(played(rate=200), played(rate=100)), (played(rate=900), played(rate=300)),
                 (played(rate=20), played(rate=400))]  # fmt: skip
        self.assertEqual(ratios_of(pairs)["rate"], 2.0)

    def test_proxy_and_server_add_up_before_the_ratio_is_taken(self):
        ratios = ratios_of([(played(proxy=4, server=1), played(proxy=1, server=9))])
        self.assertEqual((ratios["proxy"], ratios["total"]), (4.0, 0.5))

    def test_a_server_without_work_is_no_division_by_zero(self):
        self.assertGreater(ratios_of([(played(server=1), played(server=0))])["server"], 1000)

    def test_pairs_that_the_host_disturbed_do_not_count(self):
        first, bad, last = (
            (played(rate=1, stolen=0.02), played(stolen=0.01)),
            (played(rate=2, stolen=0.01), played(stolen=0.3)),
            (played(rate=3, stolen=0.0), played(stolen=0.0)),
        )
        self.assertEqual(calmest([first, bad, last], 2), [first, last])
        self.assertEqual(calmest([bad], 2), [bad])

    def test_a_ratio_is_judged_as_it_is_printed(self):
        self.assertTrue(Asked("total", 1.0).met({"total": 1.0049}))
        self.assertFalse(Asked("total", 1.0).met({"total": 1.0051}))
        self.assertFalse(Asked("rate", 1.0, at_most=False).met({"rate": 0.9949}))


class WhatIsAsked(unittest.TestCase):
    def limits(self, *row):
        return {each.ratio: each.limit for each in asked_of(*row)}

    def test_keys_that_never_come_again_may_cost_four_percent(self):
        for kind in ("never", "corda"):
            self.assertEqual(self.limits(kind, 1, 0.0), {"total": 1.04, "rate": 0.97})

    def test_one_at_a_time_saves_where_copies_answer_more_than_half(self):
        self.assertEqual(self.limits("scarab", 1, 0.51)["total"], 0.9)
        self.assertEqual(self.limits("scarab", 1, 0.5)["total"], 1.0)
        self.assertEqual(self.limits("scarab", 4, 0.9)["total"], 1.0)

    def test_the_skewed_pipeline_is_to_be_faster(self):
        self.assertEqual(
            self.limits("zipf-1.1", 16, 0.7), {"total": 1.0, "rate": 1.2, "proxy": 0.85, "p99": 1.0}
        )
        self.assertEqual(self.limits("zipf-0.9", 16, 0.7), {"total": 1.0, "rate": 1.0})


class Table(unittest.TestCase):
    def setUp(self):
        slow = [(played(rate=90, proxy=2, hits=0.8), played(rate=100))]
        self.rows = [make_row("scarab", 1, 0, 1, slow),
                     make_row("never", 16, 0.1, 2, [(played(), played())])]  # fmt: skip

    def test_a_row_shows_what_is_asked_beside_what_is_reached(self):
        self.assertEqual(
            self.rows[0].text(),
            "scarab, P=1, GET, 1 worker          0.90*>=1.00  2.00         1.50*<=0.90  "
            "1.00         1.00          80 %    0 %   2.00 + 1.00 | 1.00 + 1.00",
        )
        self.assertRegex(self.rows[1].text(), r"^never, P=16, SET 10 %, 2 workers +1\.00 >=0\.97 ")

    def test_each_figure_stands_below_its_title(self):
        for title in ("throughput", "proxy", "proxy+server", "p99"):
            column = head().index(title)
            self.assertRegex(self.rows[0].text()[column:], r"^\d\.\d\d")

    def test_the_summary_names_what_is_missed(self):
        self.assertEqual(
            summary(self.rows),
            "1 of 2 rows reach what is asked\n"
            "  scarab, P=1, GET, 1 worker: proxy+server 1.50 (asked <=0.90), "
            "throughput 0.90 (asked >=1.00)",
        )


class Keys(unittest.TestCase):
    def test_keys_that_never_repeat_do_not(self):
        self.assertEqual(len(set(total_keys.never_repeated(50_000))), 50_000)

    def test_zipfs_first_key_comes_as_often_as_the_law_says(self):
        counts = collections.Counter(total_keys.zipf(1000, 1.1, 50_000))
        share = 1 / sum((rank + 1) ** -1.1 for rank in range(1000))
        self.assertAlmostEqual(counts["key:000000000"] / 50_000, share, delta=0.01)

    def test_exponent_0_draws_all_keys_as_often(self):
        counts = collections.Counter(total_keys.zipf(10, 0.0, 50_000))
        self.assertTrue(all(4500 < count < 5500 for count in counts.values()))

    def test_a_trace_played_again_has_other_keys(self):
        self.assertEqual(" ".join(total_keys.repeated(["a", "b"], 5)),
                         "key:0:a key:0:b key:1:a key:1:b key:2:a")  # fmt: skip

    def test_a_missing_trace_is_no_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(total_keys.keys_of("scarab", pathlib.Path(folder), 10))


if __name__ == "__main__":
    unittest.main()
