# SPDX-License-Identifier: Apache-2.0
"""How much of something may happen in this process."""

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
    """What a Limiter says. True where it allows."""

    allowed: bool
    wait: datetime.timedelta  # allowed, but its turn comes after so long
    retry_after: datetime.timedelta | None  # refused: worth asking again then; None: never
    remaining: int  # so many more would be allowed now

    def __bool__(self) -> bool:
        return self.allowed


class Limiter(_native.Limiter):
    """A limit inside this process: no server, no lock, no thread.

    Any thread may ask. After fork() parent and child have one each, which go on from what had been
    given away.
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
        """`rate` as "100/s" or "200/60s"; `algorithm` also "fixed-window", "sliding-window",
        "leaky-bucket"; `burst` of the buckets, 0: what the rate gives in a second; `slots` of the
        sliding window. `patience` of the token bucket: who must wait for so long at most is
        allowed, and told how long. ValueError says what cannot be, TypeError what is something
        else: a rate is no number.
        """
        super().__init__(
            _arguments.text("algorithm", algorithm, "token-bucket"),
            _arguments.rate(rate),
            _arguments.count("burst", burst),
            _arguments.count("slots", slots, 2**32 - 1),
            _arguments.milliseconds("patience", patience),
        )

    def try_acquire(self, n: int = 1) -> Decision:
        """All `n` or none; 0 takes nothing and tells what remains. Never waits."""
        allowed, wait, retry_after, remaining = self._try(n)
        return Decision(allowed, wait * MICROSECOND, duration(retry_after), remaining)

    def acquire(self, n: int = 1, timeout: datetime.timedelta = TIMEOUT) -> Decision:
        """Waits for its turn. Refused: that will not be within `timeout`."""
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
    """None stays that."""
    return None if microseconds is None else microseconds * MICROSECOND


def pause_before(end: float, retry_after: datetime.timedelta | None) -> datetime.timedelta | None:
    """For which to wait before it is worth asking again; None: not before `end`."""
    if retry_after is None or time.monotonic() + retry_after.total_seconds() > end:
        return None
    return retry_after
