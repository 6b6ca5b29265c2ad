# SPDX-License-Identifier: Apache-2.0
"""Limiter: a limit inside this process."""

import asyncio
import datetime
import time
from dataclasses import dataclass

from heatsink import _arguments, _native

NOTHING = datetime.timedelta(0)
MICROSECOND = datetime.timedelta(microseconds=1)
TIMEOUT = datetime.timedelta(seconds=10)


@dataclass(frozen=True)
class Decision:
    """The decision of a Limiter. True if it allows."""

    allowed: bool
    wait: datetime.timedelta  # allowed, but only after this time: the caller waits
    retry_after: datetime.timedelta | None  # refused: ask again after this time; None: never
    remaining: int  # how many more would be allowed now

    def __bool__(self) -> bool:
        return self.allowed


class Limiter(_native.Limiter):
    """A limit inside this process: no server, no lock, no thread.

    Any thread may call it. After fork() parent and child each have one; both continue from the
    state at the fork.
    """

    def __init__(
        self,
        rate: str,
        *,
        burst: int = 0,
        algorithm: str = "token-bucket",
        slots: int = 10,
        patience: datetime.timedelta = NOTHING,
    ) -> None:
        """`rate` is a text: "100/s" or "200/60s". `algorithm` is "token-bucket", "fixed-window",
        "sliding-window" or "leaky-bucket". `burst` is for the buckets; 0 means what the rate gives
        in a second. `slots` is for the sliding window. `patience` is for the token bucket: a call
        that has to wait for at most this time is allowed, and `wait` says how long.

        ValueError: a value is out of bounds. TypeError: a value has the wrong type.
        """
        super().__init__(
            _arguments.text("algorithm", algorithm, "token-bucket"),
            _arguments.rate(rate),
            _arguments.count("burst", burst),
            _arguments.count("slots", slots, 2**32 - 1),
            _arguments.milliseconds("patience", patience),
        )

    def try_acquire(self, n: int = 1) -> Decision:
        """Takes all `n` or none; 0 takes nothing and returns what remains. Never waits."""
        allowed, wait, retry_after, remaining = self._try(n)
        return Decision(allowed, wait * MICROSECOND, duration(retry_after), remaining)

    def acquire(self, n: int = 1, timeout: datetime.timedelta = TIMEOUT) -> Decision:
        """Waits for its turn. Returns a refusal if that does not come within `timeout`."""
        end = time.monotonic() + _arguments.duration("timeout", timeout).total_seconds()
        while True:
            decision = self.try_acquire(n)
            pause = decision.wait if decision else pause_before(end, decision.retry_after)
            if pause:
                time.sleep(pause.total_seconds())
            if decision or pause is None:
                return decision

    async def aacquire(self, n: int = 1, timeout: datetime.timedelta = TIMEOUT) -> Decision:
        """acquire() for an event loop."""
        end = time.monotonic() + _arguments.duration("timeout", timeout).total_seconds()
        while True:
            decision = self.try_acquire(n)
            pause = decision.wait if decision else pause_before(end, decision.retry_after)
            if pause:
                await asyncio.sleep(pause.total_seconds())
            if decision or pause is None:
                return decision


def duration(microseconds: int | None) -> datetime.timedelta | None:
    """Converts microseconds; None stays None."""
    return None if microseconds is None else microseconds * MICROSECOND


def pause_before(end: float, retry_after: datetime.timedelta | None) -> datetime.timedelta | None:
    """How long to wait before asking again; None: not before `end`."""
    if retry_after is None or time.monotonic() + retry_after.total_seconds() > end:
        return None
    return retry_after
