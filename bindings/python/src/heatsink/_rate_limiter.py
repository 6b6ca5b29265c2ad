# SPDX-License-Identifier: Apache-2.0
"""How much of something may happen in all processes together."""

import asyncio
import contextlib
import datetime
import os
import threading
import time
from dataclasses import dataclass
from typing import Literal

from heatsink import _arguments, _native
from heatsink._closing import Closing
from heatsink._limiter import TIMEOUT, duration, pause_before
from heatsink._options import Setting, yaml_of

_Row = tuple[bool, int, int | None, int]  # of _native
_BASES: tuple[Literal["server", "lease", "denial", "failure"], ...] = (
    "server",
    "lease",
    "denial",
    "failure",
)


@dataclass(frozen=True)
class Verdict:
    """What a RateLimiter says. True where it allows."""

    allowed: bool
    # The server said so; it was paid for before; the server had said so, and cannot have changed
    # its mind; there was no answer of the server (on_failure).
    basis: Literal["server", "lease", "denial", "failure"]
    retry_after: datetime.timedelta | None  # refused: worth asking again then; None: never
    remaining: int  # of all by the server, of what is held here by a lease

    def __bool__(self) -> bool:
        return self.allowed


@dataclass(frozen=True)
class LimiterCounts:
    """Numbers since the RateLimiter was made."""

    asked: int  # asks that the server has answered
    allowed: int  # of these
    refused: int
    by_lease: int  # allowed without it
    by_denial: int  # refused without it
    failures: int  # asks that on_failure has answered
    leased_tokens: int  # paid for to be spent later
    lapsed_tokens: int  # of these: not spent in time


class RateLimiter(_native.RateLimiter, Closing):
    """A limit that all processes share, kept by a Redis or Valkey server; each key has its own.

    Any thread may ask, and any event loop. After fork() the child begins anew, with a connection of
    its own. It ends with close(), a `with` block, or the interpreter.
    """

    def __init__(
        self,
        rate: str,
        *,
        name: str = "default",
        burst: int = 0,
        algorithm: str = "token-bucket",
        slots: int = 10,
        lease_share: float = 0,
        lease_lasts: datetime.timedelta = datetime.timedelta(milliseconds=200),
        on_failure: Literal["allow", "refuse"] = "allow",
        patience: datetime.timedelta = datetime.timedelta(milliseconds=100),
        file: str | os.PathLike[str] | None = None,
        yaml: str | None = None,
        environment: bool = False,
        **options: Setting,
    ) -> None:
        """All processes that share `name` say the same numbers: docs/guides/distributed-limits.md
        tells what they mean. `algorithm` is "token-bucket" or "sliding-window"; `patience` is how
        long a call waits for the server, whose silence `on_failure` decides about.

        Options as those of Client: server_url is needed, and those of the group server count.
        ValueError says what cannot be.
        """
        if on_failure not in ("allow", "refuse"):
            raise ValueError(f"on_failure must be 'allow' or 'refuse', not {on_failure!r}")
        super().__init__(
            _arguments.path("file", file),
            _arguments.optional_text("yaml", yaml, "server: {url: redis://cache}"),
            environment,
            yaml_of(options),
            _arguments.text("name", name, "logins"),
            _arguments.text("algorithm", algorithm, "token-bucket"),
            _arguments.rate(rate),
            _arguments.count("burst", burst),
            _arguments.count("slots", slots, 2**32 - 1),
            on_failure == "refuse",
            _arguments.number("lease_share", lease_share),
            max(_arguments.milliseconds("lease_lasts", lease_lasts), 1),
            max(_arguments.milliseconds("patience", patience), 1),
        )
        self._opened()

    def try_acquire(self, key: str | bytes, n: int = 1) -> Verdict:
        """All `n` or none; 0 takes nothing and tells what remains. Waits for the server at most."""
        return _verdict(self._try(key, n))

    def acquire(
        self, key: str | bytes, n: int = 1, timeout: datetime.timedelta = TIMEOUT
    ) -> Verdict:
        """Waits for its turn, too. Refused: that will not be within `timeout`."""
        end = time.monotonic() + _arguments.duration("timeout", timeout).total_seconds()
        while True:
            verdict = self.try_acquire(key, n)
            pause = _pause_before(end, verdict)
            if pause is None:
                return verdict
            time.sleep(pause.total_seconds())

    async def atry_acquire(self, key: str | bytes, n: int = 1) -> Verdict:
        """try_acquire() for an event loop, which never waits. Cancelled: `n` may be spent."""
        loop, thread = asyncio.get_running_loop(), threading.get_ident()
        answer: asyncio.Future[_Row] = loop.create_future()

        def tell(row: _Row) -> None:
            if not answer.done():
                answer.set_result(row)

        def done(row: _Row) -> None:
            if threading.get_ident() == thread:
                tell(row)
                return
            with contextlib.suppress(RuntimeError):  # the loop has gone
                loop.call_soon_threadsafe(tell, row)

        self._ask(key, n, done)
        return _verdict(await answer)

    async def aacquire(
        self, key: str | bytes, n: int = 1, timeout: datetime.timedelta = TIMEOUT
    ) -> Verdict:
        """acquire() for an event loop."""
        end = time.monotonic() + _arguments.duration("timeout", timeout).total_seconds()
        while True:
            verdict = await self.atry_acquire(key, n)
            pause = _pause_before(end, verdict)
            if pause is None:
                return verdict
            await asyncio.sleep(pause.total_seconds())

    def counts(self) -> LimiterCounts:
        """What it has done."""
        return LimiterCounts(**self._counts())

    def close(self) -> None:
        """Who awaits an answer is given that of `on_failure`; calls of other threads end as they
        would have; who asks later is told RuntimeError.
        """
        self._close()


def _verdict(row: _Row) -> Verdict:
    allowed, basis, retry_after, remaining = row
    return Verdict(allowed, _BASES[basis], duration(retry_after), remaining)


def _pause_before(end: float, verdict: Verdict) -> datetime.timedelta | None:
    """Who is allowed, or has no answer of the server, does not ask again."""
    if verdict or verdict.basis == "failure":
        return None
    return pause_before(end, verdict.retry_after)
