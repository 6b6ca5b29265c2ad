# SPDX-License-Identifier: Apache-2.0
"""Client: counts accesses, keeps copies of hot keys, and calls loaders for all other keys."""

import asyncio
import datetime
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ParamSpec, TypeVar, overload

from heatsink import _arguments, _native
from heatsink._awaiting import LoadGroup
from heatsink._cached import Cached, Decorator, cached
from heatsink._closing import Closing, live
from heatsink._options import Setting, yaml_of
from heatsink._told import HotEvent, HotKey, Stats

K = TypeVar("K", str, bytes)
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

_MISSING = object()


def _encoded(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key


class Client(_native.Client, Closing):
    """Counts every access and keeps local copies of the keys whose copies pay.

    Each other read calls the loader. Copies of hot keys are refreshed in the background. A write
    through this object replaces the copy. A write by others is visible when the copy ends (after
    expire_after_write) or is refreshed, or, with `server_url`, when the server's notice arrives.

    Any thread may use it. A hit does not wait and does not release the GIL. After fork() the child
    starts anew with the same options. Close it with close() or a `with` block; until then it keeps
    the loaders of hot keys and everything that they refer to.

    Keys are str or bytes; "a" and b"a" are the same key. Values are str or bytes. `encode` and
    `decode` convert other types (json.dumps, json.loads). None means that there is no such key.

    With `server_url` no loader is needed: get("a"), set("a", b"1"), delete("a") and warm(["a"]) ask
    that server. Its values are bytes; `decode` gets bytes, too. heatsink.ServerError: the server
    replied with an error or cannot be reached.

        client = heatsink.Client()
        price = client.get("price:1", load_price)  # load_price("price:1"): str, bytes or None

    No option has to be set: which keys get copies follows from the traffic. By default a key is hot
    from 1 % of this process's accesses and 100 per second on. With
    admission="hot", only hot keys get copies.
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
        """Options come from a YAML file, YAML text, HEATSINK_* of the environment, and keywords
        (hot_qps=500, or detection_hot_qps=500). Later sources in this list override earlier ones.
        heatsink.options() lists the options. ValueError names the option and its bounds.
        """
        super().__init__(
            _arguments.path("file", file),
            _arguments.optional_text("yaml", yaml, "detection: {hot-qps: 500}"),
            environment,
            yaml_of(options),
            _arguments.function("encode", encode),
            _arguments.function("decode", decode),
        )
        self._load_group = LoadGroup(self)
        self._warmed: set[bytes] = set()  # keys of warm(), for wrap()
        self._opened()

    # ---- reads; get() and peek() are native

    @overload
    async def aget(self, key: str | bytes, /) -> Any: ...
    @overload
    async def aget(self, key: K, loader: Callable[[K], Awaitable[T | None]]) -> T | None: ...
    async def aget(self, key: Any, loader: Callable[[Any], Awaitable[Any]] | None = None) -> Any:
        """get() for an event loop: awaits `loader` on the loop and never blocks it.

        The refreshes in the background run on the loop, too, while the loop runs. Without a loader
        a thread waits for the server.
        """
        value = self._read(key, _MISSING)
        if value is not _MISSING:
            return value
        if loader is None:
            return await asyncio.to_thread(self._load, key, None)
        if not self._is_kept(key):
            return self._fresh(await loader(key))
        return await self._load_group.load(key, loader)

    @overload
    def cached(self, key: str) -> Decorator: ...
    @overload
    def cached(
        self, key: Callable[P, str | bytes]
    ) -> Callable[[Callable[P, R]], Cached[P, R]]: ...
    def cached(self, key: str | Callable[..., str | bytes]) -> Any:
        """Decorates a function, or a coroutine function, that loads one key.

        `key` is a template with parameter names in braces ("user:{id}"), or a function that takes
        the same arguments and returns the key.
        """
        return cached(self, key)

    def warm(
        self,
        keys: Iterable[K],
        loader: Callable[[K], object] | None = None,
        duration: datetime.timedelta = datetime.timedelta(minutes=10),
    ) -> list[K]:
        """Makes these keys hot for `duration`, whatever their traffic, and loads them.

        The loads run in the background; if refresh_enabled is False, this call runs them. A read
        that comes while such a load is under way waits for it. One that comes earlier loads the key
        itself, and the background skips that key. Without a loader it asks the server of
        server_url.

        Returns the keys for which cache.maximum-size has no room.
        """
        lasts = _arguments.duration("duration", duration)
        milliseconds = max(lasts // datetime.timedelta(milliseconds=1), 0)
        refused = []
        self._warmed = {key for key in self._warmed if self._is_kept(key)}
        for key in keys:
            if self._warm(key, loader, milliseconds):
                self._warmed.add(_encoded(key))
            else:
                refused.append(key)
        return refused

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
        """Calls store(key, value) to write to the source, then replaces the copy.

        If `store` raises, the source's value is unknown: the copy is dropped and the exception
        passed on. Without `store`, SET writes the value to the server of server_url, where it
        expires after `ttl`; without `ttl` it does not expire.
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
            self._load_group.forget(key)

    def delete(self, key: K, remove: Callable[[K], object] | None = None, /) -> None:
        """As set(), with remove(key); without it DEL on the server of server_url."""
        try:
            if remove is None:
                self._server_delete(key)
            else:
                super().delete(key, remove)
        finally:
            self._load_group.forget(key)

    def update(self, key: K, value: object, /) -> None:
        """Replaces the copy after the source has been written; None: the key is gone.

        With two writers at once, the last call of update() wins. If that may not be the last write
        of the source, call invalidate() instead.
        """
        if value is None:
            super().delete(key, _nothing)
        else:
            super().update(key, value)
        self._load_group.forget(key)

    def invalidate(self, key: str | bytes, /) -> None:
        """Drops the copy after the source has been written."""
        super().invalidate(key)
        self._load_group.forget(key)

    # ---- statistics and events

    def top(self, n: int = 100) -> list[HotKey]:
        """The busiest keys, busiest first: hot, write-hot and warm ones, by their traffic.

        A key that only warm() made hot is not among them.
        """
        return [HotKey(**row) for row in self._top(n)]

    def stats(self) -> Stats:
        """The statistics now."""
        return Stats(**self._stats())

    def on_hot(self, callback: Callable[[HotEvent], object]) -> None:
        """Calls `callback` when a key becomes hot, and when it is no longer hot, by its traffic.

        A thread of the library calls it; the callback must not wait for long. Exceptions that it
        raises go to sys.unraisablehook.
        """

        def tell(key: bytes, is_hot: bool, reason: str) -> None:
            callback(HotEvent(key, is_hot, reason))

        self._on_hot(tell)

    def on_report(self, callback: Callable[[Stats], object]) -> None:
        """Calls `callback` with stats() every report.interval.

        A thread of the library calls it; the callback must not wait for long. Exceptions that it
        raises go to sys.unraisablehook.
        """

        def tell(row: dict[str, Any]) -> None:
            callback(Stats(**row))

        self._on_report(tell)

    # ---- closing

    def close(self) -> None:
        """From now on the Client keeps and refreshes nothing, and reads call the loader.

        Waits for loads that are under way in the background. Awaited loads are cancelled, so an
        event loop may call this, too.
        """
        self._load_group.close()
        super().close()


def _nothing(_key: object) -> None:
    """Does nothing: the source has been written already."""


def _after_fork() -> None:
    for client in live():
        if isinstance(client, Client):
            client._load_group = LoadGroup(client)


os.register_at_fork(after_in_child=_after_fork)
