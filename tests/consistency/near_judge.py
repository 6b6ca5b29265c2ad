# SPDX-License-Identifier: Apache-2.0
"""Judges what clients with near caches were told, and what they answered themselves.

Every value is written once. A write w is over when a write of the same key that began after w was
acknowledged has itself been acknowledged: from then on w's value is old. So old may a read be:

    reads, all of them         `bound_s` after a write, whoever made it: cache.max-staleness
    one proxy's own writes     not at all, when the reader has sent a request to that proxy since
                               then, and has its reply

A read that a client answers itself counts as asked when it looks at what it has been told, and the
last request that was answered on the entry's connection says what it must have been told. Only the
last use of an entry is judged: an earlier one is not older.

Times are of the machine's monotonic clock, which its processes share. Pure functions.
"""

import bisect
import collections
import math
from dataclasses import dataclass, field

UNKNOWN = math.inf  # when a write was acknowledged that never was
SHOWN_MAX = 20


@dataclass(slots=True)
class Write:
    """`value`: None if the key is then gone; `via`: the port it went to; `life_s`: until expiry."""

    key: str
    value: object
    began: float
    acked: float
    via: int
    life_s: float = UNKNOWN


@dataclass(slots=True)
class Read:
    """`told`: when the last request was sent that was answered; no `uses`: it was asked for."""

    key: str
    value: object
    asked: float
    told: float
    ended: float
    via: int
    uses: int = 0


@dataclass
class Judgement:
    reads: int = 0
    near: int = 0  # reads that clients answered themselves
    entries: int = 0  # ... from so many entries
    staleness_s: float = 0.0
    violations: list = field(default_factory=list)

    def text(self):
        shown = self.violations[:SHOWN_MAX]
        more = len(self.violations) - len(shown)
        return "\n".join([
            f"{self.near} near hits of {self.entries} entries, {self.reads} reads that were asked",
            f"staleness: {1e3 * self.staleness_s:.3f} ms at most",
            f"violations: {len(self.violations)}", *shown, *([f"and {more} more"] if more else [])
        ])  # fmt: skip


class Later:
    """When a value is over, by the writes of one key: all of them, or those through one proxy."""

    def __init__(self, writes):
        ordered = sorted(writes, key=lambda write: write.began)
        self.began = [write.began for write in ordered]
        self.first_acked = [UNKNOWN]  # of the writes from this place on
        for write in reversed(ordered):
            self.first_acked.append(min(self.first_acked[-1], write.acked))
        self.first_acked.reverse()

    def over(self, write):
        return self.first_acked[bisect.bisect_right(self.began, write.acked)]


class OfKey:
    """What was written to one key."""

    def __init__(self, key, writes):
        self.by_value = {write.value: write for write in writes if write.value is not None}
        self.gone = [Write(key, None, 0, 0, 0), *(w for w in writes if w.value is None)]
        self.lives = [write for write in writes if write.life_s < UNKNOWN]
        self.all = Later(writes)
        ports = {write.via for write in writes}
        self.through = {port: Later([w for w in writes if w.via == port]) for port in ports}

    def written(self, read):
        """The write that the read saw; of deletions the one that ended last. None: it is none."""
        if read.value is not None:
            return self.by_value.get(read.value)
        if any(write.began + write.life_s <= read.ended for write in self.lives):
            return Write(read.key, None, 0, UNKNOWN, 0)  # any time may be right
        return max((w for w in self.gone if w.began <= read.ended), key=lambda write: write.acked)


def judge(writes, reads, bound_s):
    """Of a whole history."""
    by_key = collections.defaultdict(list)
    for write in writes:
        by_key[write.key].append(write)
    keys = {key: OfKey(key, own) for key, own in by_key.items()}
    out = Judgement()
    for read in reads:
        out.reads += read.uses == 0
        out.near += read.uses
        out.entries += read.uses > 0
        of_key = keys.get(read.key) or keys.setdefault(read.key, OfKey(read.key, []))
        if wrong := wrong_with(of_key, read, bound_s, out):
            out.violations.append(f"{wrong}: {read}")
    return out


def wrong_with(of_key, read, bound_s, out):
    """A sentence, or None. Keeps the staleness."""
    write = of_key.written(read)
    if write is None:
        return "a value that was never written"
    if write.began > read.ended:
        return f"a value that was written later, {write}"
    old_s = max(read.asked - of_key.all.over(write), read.asked - write.acked - write.life_s)
    out.staleness_s = max(out.staleness_s, old_s)
    if old_s > bound_s:
        return f"{old_s:.3f} s old, {write}"
    later = of_key.through.get(read.via)
    if later is not None and read.told > later.over(write):
        late_s = read.told - later.over(write)
        return f"not told within {late_s:.6f} s of a write through its own proxy, {write}"
    return None
