# SPDX-License-Identifier: Apache-2.0
"""Decides whether a history of counters is linearizable. No Redis, no clock.

Every write is an INCR, so its reply is the version of the key: unique, and the order of versions is
the order in which the server executed the writes. A history is linearizable if and only if, per
key,
  * no operation invoked after another's response has a lower version (a write: nor the same one),
  * no operation's response comes before the invocation of the write that made its version,
and sessions see their own order, also within a pipeline. Sorting decides it: O(n log n).
"""

from collections import namedtuple

# `order` is the place within its session (program order, which a pipeline's times do not show).
Op = namedtuple("Op", "key version is_write invoked responded session order")


def violations(ops):
    """Sentences; none: the history is linearizable, and each session saw its own order."""
    by_key = {}
    for op in ops:
        by_key.setdefault(op.key, []).append(op)
    found = []
    for key_ops in by_key.values():
        found += real_time(key_ops) + sessions(key_ops) + from_the_future(key_ops)
    return found


def real_time(ops):
    """The highest version that had been shown when an operation was invoked is a floor for it."""
    events = [(op.responded, 1, op) for op in ops] + [(op.invoked, 0, op) for op in ops]
    events.sort(key=lambda event: event[:2])  # at the same instant: concurrent, invocation first
    found, floor = [], None
    for _, ends, op in events:
        if ends:
            if floor is None or op.version > floor.version:
                floor = op
        elif floor is not None and behind(op, floor):
            found.append(f"{floor} had been shown before {op} began")
    return found


def sessions(ops):
    found, last = [], {}
    for op in sorted(ops, key=lambda op: (op.session, op.order)):
        before = last.get(op.session)
        if before is not None and behind(op, before):
            found.append(f"session {op.session}: {before}, then {op}")
        last[op.session] = op
    return found


def from_the_future(ops):
    made = {}
    for op in ops:
        if op.is_write:
            made.setdefault(op.version, op)
    return [f"{op} ended before {made[op.version]} began" for op in ops
            if op.version in made and op.responded < made[op.version].invoked]


def behind(op, shown):
    return op.version < shown.version or (op.is_write and op.version == shown.version)


def staleness_max(ops, foreign):
    """How long after a foreign write's reply a read was begun that did not see it, at most.

    `foreign` are the writes past the proxy: {key: [(version, responded), ...]}, both rising.
    """
    worst = 0.0
    for op in ops:
        writes = foreign.get(op.key)
        if not writes:
            continue
        low, high = 0, len(writes)
        while low < high:  # the first write that the operation has not seen
            middle = (low + high) // 2
            low, high = (middle + 1, high) if writes[middle][0] <= op.version else (low, middle)
        if low < len(writes):
            worst = max(worst, op.invoked - writes[low][1])
    return worst
