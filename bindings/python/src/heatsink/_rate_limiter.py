# SPDX-License-Identifier: Apache-2.0
"""RateLimiter: one limit for all processes together."""

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

_Row = tuple[bool, int, int | None, int]  # as _native returns it
_BASES: tuple[Literal["server", "lease", "denial", "failure"], ...] = (
    "server",
    "lease",
    "denial",
    "failure",
)


@dataclass(frozen=True)
class Verdict:
    """The decision of a RateLimiter. True if it allows."""

    allowed: bool
    # server: the server decided. lease: paid for earlier. denial: an earlier refusal still holds.
    # failure: the server did not answer, so on_failure decided.
    basis: Literal["server", "lease", "denial", "failure"]
    retry_after: datetime.timedelta | None  # refused: ask again after this time; None: never
    remaining: int  # of the limit (server), or of this process's lease (lease)

    def __bool__(self) -> bool:
        return self.allowed


@dataclass(frozen=True)
class LimiterCounts:
    """Numbers since the RateLimiter was made."""

    asked: int  # questions that the server has answered
    allowed: int  # of `asked`
    refused: int  # of `asked`
    by_lease: int  # allowed without asking the server
    by_denial: int  # refused without asking the server
    failures: int  # decisions by on_failure
    leased_tokens: int  # paid for, to be spent later
    lapsed_tokens: int  # of leased_tokens: not spent in time


class RateLimiter(_native.RateLimiter, Closing):
    """A limit that all processes share, kept on a Redis or Valkey server. Each key has a limit.

        logins = heatsink.RateLimiter("200/60s", name="logins", server_url="redis://cache")
        verdict = logins.try_acquire(address)  # true: allowed; else see verdict.retry_after

    Any thread and any event loop may call it. After fork() the child starts anew, with a new
    connection. Close it with close() or a `with` block; the interpreter's exit closes it, too.
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
        """All processes that share `name` must pass the same values.

        rate: a text, "100/s" or "200/60s".
        burst: how many at once, for the token bucket; 0: what the rate gives in a second.
        algorithm: "token-bucket", or "sliding-window", which counts in `slots` parts.
        lease_share: share of the burst, 0 to 1, that this process may pay for in advance per key,
            to decide without asking the server; 0: it asks each time. What is not spent within
            `lease_lasts` expires.
        on_failure: "allow" or "refuse" everything if the server does not answer.
        patience: how long a call waits for the server.

        Takes the options of Client: server_url is needed, and the group server is used.
        ValueError, OverflowError: a value is out of bounds.
        More: docs/guides/limits.md.
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
        """Takes all `n` or none; 0 takes nothing and returns what remains. Waits for the server,
        but not for its turn.
        """
        return _verdict(self._try(key, n))

    def acquire(
        self, key: str | bytes, n: int = 1, timeout: datetime.timedelta = TIMEOUT
    ) -> Verdict:
        """Waits for its turn. Returns a refusal if that does not come within `timeout`."""
        end = time.monotonic() + _arguments.duration("timeout", timeout).total_seconds()
        while True:
            verdict = self.try_acquire(key, n)
            pause = _pause_before(end, verdict)
            if pause is None:
                return verdict
            time.sleep(pause.total_seconds())

    async def atry_acquire(self, key: str | bytes, n: int = 1) -> Verdict:
        """try_acquire() for an event loop, without blocking it. If cancelled, `n` may be spent."""
        loop, thread = asyncio.get_running_loop(), threading.get_ident()
        answer: asyncio.Future[_Row] = loop.create_future()

        def tell(row: _Row) -> None:
            if not answer.done():
                answer.set_result(row)

        def done(row: _Row) -> None:
            if threading.get_ident() == thread:
                tell(row)
                return
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell, row)

        self._ask(key, n, done)
        return _verdict(await answer)

    async def aacquire(
        self, key: str | bytes, n: int = 1, timeout: datetime.timedelta = TIMEOUT
    ) -> Verdict:
        """acquire() for an event loop, without blocking it."""
        end = time.monotonic() + _arguments.duration("timeout", timeout).total_seconds()
        while True:
            verdict = await self.atry_acquire(key, n)
            pause = _pause_before(end, verdict)
            if pause is None:
                return verdict
            await asyncio.sleep(pause.total_seconds())

    def counts(self) -> LimiterCounts:
        """How often it has decided what."""
        return LimiterCounts(**self._counts())

    def close(self) -> None:
        """Awaited calls get the decision of `on_failure`; blocking calls of other threads end
        normally. Later calls raise RuntimeError.
        """
        self._close()


def _verdict(row: _Row) -> Verdict:
    allowed, basis, retry_after, remaining = row
    return Verdict(allowed, _BASES[basis], duration(retry_after), remaining)


def _pause_before(end: float, verdict: Verdict) -> datetime.timedelta | None:
    """None if there is nothing to ask again: it was allowed, or the server did not answer."""
    if verdict or verdict.basis == "failure":
        return None
    return pause_before(end, verdict.retry_after)
