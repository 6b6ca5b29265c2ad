# SPDX-License-Identifier: Apache-2.0
"""The Client."""

import asyncio
import datetime
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ParamSpec, TypeVar, overload

from heatsink import _arguments, _native
from heatsink._awaiting import Flights
from heatsink._cached import Cached, Decorator, cached
from heatsink._closing import Closing, live
from heatsink._options import Setting, yaml_of
from heatsink._told import HotEvent, HotKey, Stats

K = TypeVar("K", str, bytes)
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

_MISSING = object()


class Client(_native.Client, Closing):
    """Counts every access, and keeps local copies of the keys that are hot.

    Cold keys go to the loader, each time. A copy is refreshed in the background; a write through
    this object replaces it; a write by anybody else is seen at the next refresh, or, with
    `server_url`, when the server tells of it.

    Any thread may use it. A hit neither waits nor gives up the GIL. After fork() the child begins
    anew with the same options. It ends with close(), or a `with` block: until then it keeps the
    loaders of hot keys, and what they refer to.

    Keys are str or bytes; the same text as either is one key. Values are str, bytes, or, with
    `encode` and `decode`, what those make of them (json.dumps, json.loads); None: no such key.

    With `server_url` no loader is needed: get("a"), set("a", b"1"), delete("a") and warm(["a"]) ask
    that server. What it has is bytes, for `decode` too. heatsink.ServerError: it says no, or cannot
    be asked.
    """

    def __init__(
        self,
        *,
        file: str | os.PathLike[str] | None = None,
        yaml: str | None = None,
        environment: bool = False,
        encode: Callable[[Any], str | bytes] | None = None,
        decode: Callable[[Any], Any] | None = None,
        **options: Setting,
    ) -> None:
        """Options come from a YAML file, from YAML, from HEATSINK_* of the environment, and from
        keywords (hot_qps=500, or detection_hot_qps=500); later ones count more. heatsink.options()
        lists them. ValueError names the option and its bounds.
        """
        super().__init__(
            _arguments.path("file", file),
            _arguments.optional_text("yaml", yaml, "detection: {hot-qps: 500}"),
            environment,
            yaml_of(options),
            _arguments.function("encode", encode),
            _arguments.function("decode", decode),
        )
        self._flights = Flights(self)
        self._opened()

    # ---- reads; get() and peek() are native

    @overload
    async def aget(self, key: str | bytes, /) -> Any: ...
    @overload
    async def aget(self, key: K, loader: Callable[[K], Awaitable[T | None]]) -> T | None: ...
    async def aget(self, key: Any, loader: Callable[[Any], Awaitable[Any]] | None = None) -> Any:
        """get() for an event loop, which never waits: `loader` is awaited on it.

        Also the refreshes in the background run on the loop, for as long as it does. Without a
        loader a thread waits for the server.
        """
        value = self._read(key, _MISSING)
        if value is not _MISSING:
            return value
        if loader is None:
            return await asyncio.to_thread(self._load, key, None)
        if not self.is_hot(key):
            return self._fresh(await loader(key))
        return await self._flights.load(key, loader)

    @overload
    def cached(self, key: str) -> Decorator: ...
    @overload
    def cached(
        self, key: Callable[P, str | bytes]
    ) -> Callable[[Callable[P, R]], Cached[P, R]]: ...
    def cached(self, key: str | Callable[..., str | bytes]) -> Any:
        """Decorates a function, or a coroutine function, that loads one key.

        `key` names it: by a text with the parameters in braces ("user:{id}"), or by a function of
        the same arguments.
        """
        return cached(self, key)

    def warm(
        self,
        keys: Iterable[K],
        loader: Callable[[K], object] | None = None,
        duration: datetime.timedelta = datetime.timedelta(minutes=10),
    ) -> list[K]:
        """These keys are hot for so long, whatever their traffic, and loaded in the background.

        Without refresh_enabled they are loaded here, before this returns. A read that comes while
        such a load is under way joins it; one that comes before loads the key itself, and the
        background leaves that key out. Without a loader the server of server_url is asked.

        Gives those for which cache.maximum-size has no room.
        """
        lasts = _arguments.duration("duration", duration)
        milliseconds = max(lasts // datetime.timedelta(milliseconds=1), 0)
        return [key for key in keys if not self._warm(key, loader, milliseconds)]

    # ---- writes

    def set(
        self,
        key: K,
        value: T,
        store: Callable[[K, T], object] | None = None,
        /,
        *,
        ttl: datetime.timedelta | None = None,
    ) -> None:
        """Writes to the source by store(key, value), then to the copy.

        If that raises, nobody knows what the source holds: the copy goes, and the exception is
        passed on. Without `store` it is written to the server of server_url, by SET, where it
        stays for so long as `ttl` says, or for ever.
        """
        if store is not None and ttl is not None:
            raise TypeError("ttl cannot be combined with store: it is for the server of server_url")
        lasts = 0 if ttl is None else max(_arguments.milliseconds("ttl", ttl), 1)
        try:
            if store is None:
                self._server_set(key, value, lasts)
            else:
                super().set(key, value, store)
        finally:
            self._flights.forget(key)

    def delete(self, key: K, remove: Callable[[K], object] | None = None, /) -> None:
        """Likewise, by remove(key); without it by DEL on the server of server_url."""
        try:
            if remove is None:
                self._server_delete(key)
            else:
                super().delete(key, remove)
        finally:
            self._flights.forget(key)

    def update(self, key: K, value: object, /) -> None:
        """The source has been written already: the copy is this from now on; None: is no more.

        Of two writers at once, the last to call this wins: where that may not be the last who
        wrote, invalidate().
        """
        if value is None:
            super().delete(key, _nothing)
        else:
            super().update(key, value)
        self._flights.forget(key)

    def invalidate(self, key: str | bytes, /) -> None:
        """The source has been written already: the copy goes."""
        super().invalidate(key)
        self._flights.forget(key)

    # ---- what it tells

    def top(self, n: int = 100) -> list[HotKey]:
        """The busiest keys, busiest first: hot, write-hot and warm ones."""
        return [HotKey(**row) for row in self._top(n)]

    def stats(self) -> Stats:
        """The state now."""
        return Stats(**self._stats())

    def on_hot(self, callback: Callable[[HotEvent], object]) -> None:
        """`callback` is called when a key becomes hot, and when it is hot no longer.

        By a thread of the library's, which must not wait for long. What it raises goes to
        sys.unraisablehook.
        """

        def tell(key: bytes, is_hot: bool, reason: str) -> None:
            callback(HotEvent(key, is_hot, reason))

        self._on_hot(tell)

    def on_report(self, callback: Callable[[Stats], object]) -> None:
        """`callback` is called each report.interval, with what stats() would tell then.

        By a thread of the library's, which must not wait for long. What it raises goes to
        sys.unraisablehook.
        """

        def tell(row: dict[str, Any]) -> None:
            callback(Stats(**row))

        self._on_report(tell)

    # ---- the end

    def close(self) -> None:
        """Nothing is kept or refreshed any more, and reads go to the loader.

        Waits for loads that are under way in the background; those that are awaited are cancelled,
        so that an event loop may call this, too.
        """
        self._flights.close()
        super().close()


def _nothing(_key: object) -> None:
    """The source needs no more of it."""


def _after_fork() -> None:
    for client in live():
        if isinstance(client, Client):
            client._flights = Flights(client)


os.register_at_fork(after_in_child=_after_fork)
