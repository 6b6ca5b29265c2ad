# SPDX-License-Identifier: Apache-2.0
"""What a Client tells, as plain values."""

from dataclasses import dataclass


def _text(key: bytes) -> str:
    return key.decode(errors="backslashreplace")


@dataclass(frozen=True)
class Stats:
    """Rates are per second, over detection.window; totals are since the Client was made."""

    reads_per_second: float
    writes_per_second: float
    hit_ratio: float  # hits of all reads, 0 .. 1
    hot_share: float  # accesses of hot keys of all accesses, 0 .. 1
    hot_keys: int  # now
    copies: int
    promotions: int  # totals, from here on
    demotions: int
    loads: int  # of hot keys without a copy, for somebody who waited
    load_failures: int
    waits: int  # callers who shared another's load
    refusals: int  # LoadRefused
    refreshes: int  # in the background, that succeeded
    refresh_failures: int
    refresh_drops: int  # keys that failed too often in a row
    stale_served: int  # copies past their end, because their load failed
    copies_bytes: int  # now
    distinct_keys: float  # in the window; standard error 3.3 %
    distinct_keys_per_second: float
    reads: int  # totals again
    writes: int
    hits: int
    no_room: int  # values not kept: cache.maximum-bytes, cache.maximum-nil


@dataclass(frozen=True)
class HotKey:
    """A key as detection sees it; the true rate lies within [rate_low, rate_high]."""

    key: bytes
    temperature: str  # "hot", "write-hot", "warm"
    rate_low: float
    rate_high: float
    share: float  # of all traffic, 0 .. 1
    reads: int  # in the window
    writes: int
    hits: int
    reason: str

    @property
    def text(self) -> str:
        """The key for people: what is no UTF-8 as \\x.."""
        return _text(self.key)


@dataclass(frozen=True)
class HotEvent:
    """A key became hot, or is hot no longer."""

    key: bytes
    is_hot: bool
    reason: str

    @property
    def text(self) -> str:
        """The key for people: what is no UTF-8 as \\x.."""
        return _text(self.key)
