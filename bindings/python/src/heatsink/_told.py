# SPDX-License-Identifier: Apache-2.0
"""The statistics, hot keys and events of a Client, as plain values."""

from dataclasses import dataclass


def _text(key: bytes) -> str:
    return key.decode(errors="backslashreplace")


@dataclass(frozen=True)
class Stats:
    """Rates are per second, over detection.window; totals are since the Client was made."""

    reads_per_second: float
    writes_per_second: float
    hit_ratio: float  # hits among all reads, 0 .. 1
    hot_share: float  # accesses of hot keys among all accesses, 0 .. 1
    hot_keys: int  # now
    copies: int  # now
    promotions: int  # totals, from here on
    demotions: int
    loads: int  # of hot keys without a copy, for a caller that waited
    load_failures: int
    waits: int  # callers that waited for another caller's load
    refusals: int  # LoadRefused
    refreshes: int  # successful loads in the background
    refresh_failures: int
    refresh_drops: int  # keys whose refresh failed too often in a row
    stale_served: int  # expired copies served because their load failed
    copies_bytes: int  # now
    distinct_keys: float  # in the window; standard error 3.3 %
    distinct_keys_per_second: float
    reads: int  # totals again
    writes: int
    hits: int
    no_room: int  # values not kept: cache.maximum-bytes, cache.maximum-nil


@dataclass(frozen=True)
class HotKey:
    """A key as detection sees it; the true rate is in [rate_low, rate_high]."""

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
        """The key as text; bytes that are not UTF-8 are shown as \\x.."""
        return _text(self.key)


@dataclass(frozen=True)
class HotEvent:
    """A key became hot, or is no longer hot."""

    key: bytes
    is_hot: bool
    reason: str

    @property
    def text(self) -> str:
        """The key as text; bytes that are not UTF-8 are shown as \\x.."""
        return _text(self.key)
