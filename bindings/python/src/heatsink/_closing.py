# SPDX-License-Identifier: Apache-2.0
"""Closes objects of the library: by close(), by a `with` block, or when the interpreter exits."""

import asyncio
import atexit
import weakref
from types import TracebackType
from typing import Self


class Closing:
    """A mixin beside a native type, whose close() overrides this one."""

    def close(self) -> None:
        """May be called more than once."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """close() without blocking the event loop."""
        await asyncio.to_thread(self.close)

    def _opened(self) -> None:
        """Registers the object, so that it is closed when the interpreter exits."""
        _live.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


_live: "weakref.WeakSet[Closing]" = weakref.WeakSet()


def live() -> list[Closing]:
    """The objects that are still referenced, closed or not."""
    return list(_live)


@atexit.register
def _close_all() -> None:
    """Stops the library's threads before the interpreter is gone, and delivers the last numbers."""
    for each in live():
        each.close()
