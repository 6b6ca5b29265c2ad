# SPDX-License-Identifier: Apache-2.0
"""SpreadKeys and SplitCounter: hot keys and counters on all nodes of a cluster."""

import asyncio
import datetime
import os

from heatsink import _arguments, _native
from heatsink._closing import Closing
from heatsink._options import Setting, yaml_of

_SECOND = datetime.timedelta(seconds=1)


def _pieces(name: str, value: int) -> int:
    """How many copies or parts. Native code takes 0 for its default, and checks the rest."""
    if _arguments.count(name, value, 2**32 - 1) == 0:
        raise ValueError(f"{name} is 0, but must be from 2 to 64")
    return value


class SpreadKeys(_native.SpreadKeys, Closing):
    """Reads hot keys from copies on all nodes of a cluster, as proxies with spread.copies do.

        keys = heatsink.SpreadKeys(copies=6, server_url="redis://10.0.0.5:6379")  # any node
        value = keys.get("product:42")
        keys.written("product:42")  # after each write, before anybody learns of it

    Any thread may use it. After fork() the child starts anew, with new connections. Close it with
    close() or a `with` block; the interpreter's exit closes it, too.
    """

    def __init__(
        self,
        *,
        copies: int = 6,
        ttl: datetime.timedelta = _SECOND,
        timeout: datetime.timedelta = _SECOND,
        file: str | os.PathLike[str] | None = None,
        yaml: str | None = None,
        environment: bool = False,
        **options: Setting,
    ) -> None:
        """copies: of each key, from 2 to 64; a multiple of the number of masters is best.
        ttl: the longest life of a copy, from 100 ms to 1 min.
        timeout: of one call.

        Takes the options of Client: server_url is needed, and the group server is used.
        ValueError, OverflowError: a value is out of bounds. More: docs/guides/spread.md.
        """
        super().__init__(
            _arguments.path("file", file),
            _arguments.optional_text("yaml", yaml, "server: {url: redis://cache}"),
            environment,
            yaml_of(options),
            _pieces("copies", copies),
            max(_arguments.milliseconds("ttl", ttl), 1),
            max(_arguments.milliseconds("timeout", timeout), 1),
        )
        self._opened()

    async def aget(self, key: str | bytes) -> bytes | None:
        """get() for an event loop: a thread waits for the server."""
        return await asyncio.to_thread(self.get, key)

    async def awritten(self, key: str | bytes) -> None:
        """written() for an event loop: a thread waits for the server."""
        await asyncio.to_thread(self.written, key)

    def close(self) -> None:
        """Calls of other threads end normally. Later calls raise RuntimeError."""
        self._close()


class SplitCounter(_native.SplitCounter, Closing):
    """Counters in parts on all nodes of a cluster, as those of proxies with spread.parts.

        views = heatsink.SplitCounter(parts=8, server_url="redis://10.0.0.5:6379")  # any node
        views.add("views:42")
        total = views.value("views:42")

    Each key is a counter. All processes and proxies need the same number of parts, which may grow
    and must never shrink. Threads, fork() and the end: as SpreadKeys.
    """

    def __init__(
        self,
        *,
        parts: int = 8,
        timeout: datetime.timedelta = _SECOND,
        file: str | os.PathLike[str] | None = None,
        yaml: str | None = None,
        environment: bool = False,
        **options: Setting,
    ) -> None:
        """parts: of each counter, from 2 to 64.
        timeout: of one call.

        Takes the options of Client: server_url is needed, and the group server is used.
        ValueError, OverflowError: a value is out of bounds. More: docs/guides/spread.md.
        """
        super().__init__(
            _arguments.path("file", file),
            _arguments.optional_text("yaml", yaml, "server: {url: redis://cache}"),
            environment,
            yaml_of(options),
            _pieces("parts", parts),
            max(_arguments.milliseconds("timeout", timeout), 1),
        )
        self._opened()

    def add(self, key: str | bytes, amount: int = 1) -> None:
        """Adds to one part, which costs one call of the server.

        heatsink.Error: not added, or, if the server did not answer, perhaps added.
        """
        self._add(key, amount)

    async def aadd(self, key: str | bytes, amount: int = 1) -> None:
        """add() for an event loop: a thread waits for the server. If cancelled, it may be added."""
        await asyncio.to_thread(self.add, key, amount)

    async def avalue(self, key: str | bytes) -> int:
        """value() for an event loop: a thread waits for the server."""
        return await asyncio.to_thread(self.value, key)

    def close(self) -> None:
        """Calls of other threads end normally. Later calls raise RuntimeError."""
        self._close()
