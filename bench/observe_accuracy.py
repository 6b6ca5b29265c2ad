# SPDX-License-Identifier: Apache-2.0
"""How right the rows of `heatsink top` are, by the exact counts of the load."""

import datetime
import statistics
import typing

TOLD_TO_S = 0.001  # moments are told in milliseconds


class Accuracy(typing.NamedTuple):
    top_10: float  # of the ten busiest keys in truth, the part among the ten first rows
    top_100: float  # likewise of the hundred busiest, among the first hundred
    rate_error: float  # mean of |rate - truth| / truth, of the ten busiest in truth that it lists
    held: float  # the part of the rows whose bounds hold the truth
    rows: int


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def precision(rows, truth, count):
    """Keys that are as busy as the last of the busiest are as good as it."""
    busiest = truth.most_common(count)
    least = busiest[-1][1] if busiest else 0
    return sum(truth[key["name"]] >= least for key in rows[:count]) / count


def accuracy(answer, truth):
    """Of one answer, over just the interval that it says it is of.

    `truth(begin, end)`: counts by name, what was surely within and what may have been; bounds hold
    if they are not wholly outside of that.
    """
    since, until = (moment(answer["sources"][0][end]) for end in ("since", "until"))
    whole, _ = truth(since + TOLD_TO_S, until - TOLD_TO_S)
    _, touched = truth(since - TOLD_TO_S, until + TOLD_TO_S)
    rows, seconds = answer["keys"], until - since
    by_name = {key["name"]: key for key in rows}
    errors = [
        abs(by_name[name]["rate"] * seconds - count) / count
        for name, count in whole.most_common(10)
        if name in by_name
    ]
    return Accuracy(
        precision(rows, whole, 10),
        precision(rows, whole, 100),
        statistics.mean(errors) if errors else float("nan"),
        statistics.mean(holds(key, whole, touched, seconds) for key in rows) if rows else 0,
        len(rows),
    )


def holds(key, whole, touched, seconds):
    """The bounds of a count that was divided by `seconds` to within TOLD_TO_S."""
    high = key["rate_high"] if key["rate_high"] is not None else float("inf")
    low_count = key["rate_low"] * (seconds - 2 * TOLD_TO_S)
    high_count = high * (seconds + 2 * TOLD_TO_S)
    return low_count <= touched[key["name"]] and high_count >= whole[key["name"]]
