# SPDX-License-Identifier: Apache-2.0
"""Loads that are awaited on an event loop.

The library works with threads: it calls a loader, and callers that share the load block. So a load
of a hot key runs in a separate thread. That thread passes the coroutine to the loop and waits for
it. This costs about 100 us per load, not per read: hits and cold keys never come here.
"""

import asyncio
import concurrent.futures
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from heatsink import _native

K = TypeVar("K", str, bytes)
T = TypeVar("T")

THREADS_MAX = 64  # loads of hot keys at once; one more is not shared and keeps no copy
LOAD_S_MAX = 60.0  # how long a thread waits for one load: the loop may have stopped


class _SharedLoad:
    """A load under way, shared by its waiters on one loop. Used on that loop only."""

    future: asyncio.Future[Any]
    waiters = 0  # not counting the one that began the load


class LoadGroup:
    """The awaited loads of one Client. Thread-safe."""

    def __init__(self, client: _native.Client) -> None:
        self._client = weakref.ref(client)
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        # A load is shared on one loop only, and only until its key is written.
        self._loads: dict[tuple[bytes, asyncio.AbstractEventLoop], _SharedLoad] = {}
        self._awaited: set[Future[Any]] = set()
        self._threads = 0
        # The value that is set for this Client: _options() returns it under the name "default".
        values = {row["name"]: row["default"] for row in client._options()}
        self._waiters_max = int(values["cache.maximum-waiters"])
        self._is_closed = False

    async def load(self, key: K, loader: Callable[[K], Awaitable[T | None]]) -> T | None:
        """Loads the value: the second step of a read."""
        loop = asyncio.get_running_loop()
        value: T | None
        shared = self._loads.get((_bytes(key), loop))
        if shared is not None:
            value = await self._wait(shared)
            return value
        shared = self._start(key, loader, loop)
        if shared is None:
            return await loader(key)
        # If one waiter is cancelled, the others go on waiting.
        value = await asyncio.shield(shared.future)
        return value

    async def _wait(self, shared: _SharedLoad) -> Any:
        """Waits for a load that another caller began. LoadRefused: too many wait already."""
        if shared.waiters >= self._waiters_max:
            raise _native.LoadRefused(
                "cache.maximum-waiters callers already wait for the load of this key"
            )
        shared.waiters += 1
        try:
            return await asyncio.shield(shared.future)
        finally:
            shared.waiters -= 1

    def forget(self, key: str | bytes) -> None:
        """Call it after a write: later reads must not share a load that began before."""
        if not self._loads:
            return
        name = _bytes(key)
        with self._lock:
            for slot in [slot for slot in self._loads if slot[0] == name]:
                del self._loads[slot]

    def close(self) -> None:
        """Cancels all awaited loads. Later loads are awaited, but not shared or kept."""
        with self._lock:
            self._is_closed = True
            awaited = list(self._awaited)
            pool, self._pool = self._pool, None
        for future in awaited:
            future.cancel()
        if pool is not None:
            pool.shutdown(wait=False)

    def _start(
        self, key: K, loader: Callable[[K], Awaitable[T | None]], loop: asyncio.AbstractEventLoop
    ) -> _SharedLoad | None:
        """None: THREADS_MAX loads are under way, or the Client is closed."""
        client = self._client()
        slot = (_bytes(key), loop)
        shared = _SharedLoad()
        load_by_loop = self._on_loop(loader, loop)

        def run() -> T | None:
            try:
                assert client is not None
                return client._load(key, load_by_loop)
            finally:
                with self._lock:
                    self._threads -= 1
                    if self._loads.get(slot) is shared:
                        del self._loads[slot]

        with self._lock:
            if self._is_closed or client is None or self._threads >= THREADS_MAX:
                return None
            if self._pool is None:
                self._pool = ThreadPoolExecutor(THREADS_MAX, "heatsink-load")
            self._threads += 1
            shared.future = loop.run_in_executor(self._pool, run)
            shared.future.add_done_callback(_see)
            self._loads[slot] = shared
        return shared

    def _on_loop(
        self, loader: Callable[[K], Awaitable[T | None]], loop: asyncio.AbstractEventLoop
    ) -> Callable[[K], T | None]:
        """Makes a loader for threads. The library keeps it for refreshes."""

        def load_by_loop(key: K) -> T | None:
            with self._lock:
                if self._is_closed or loop.is_closed():
                    raise _native.Error("the event loop that awaits this load was closed")
                future: Future[T | None] = asyncio.run_coroutine_threadsafe(
                    _coroutine(loader, key), loop
                )
                self._awaited.add(future)
            try:
                return future.result(LOAD_S_MAX)
            except concurrent.futures.CancelledError:
                raise _native.Error("the load of this key was cancelled") from None
            finally:
                future.cancel()
                self._awaited.discard(future)

        return load_by_loop


def _see(future: "asyncio.Future[Any]") -> None:
    """Retrieves the exception, so that asyncio does not log it if all waiters have left."""
    if not future.cancelled():
        future.exception()


async def _coroutine(loader: Callable[[K], Awaitable[T]], key: K) -> T:
    """Makes a coroutine of any awaitable, because run_coroutine_threadsafe() needs one."""
    return await loader(key)


def _bytes(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key
