# SPDX-License-Identifier: Apache-2.0
"""What has an end: close(), a `with` block, or the interpreter's."""

import asyncio
import atexit
import weakref
from types import TracebackType
from typing import Self


class Closing:
    """Beside a type of the library's, whose close() comes before this one's."""

    def close(self) -> None:
        """May be called again."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """close(), without holding up the event loop."""
        await asyncio.to_thread(self.close)

    def _opened(self) -> None:
        """From now on, so that the end of the interpreter closes it."""
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
    """Those that somebody still refers to, closed or not."""
    return list(_live)


@atexit.register
def _close_all() -> None:
    """Threads of the library must not meet an interpreter that has gone, and what was added last is
    delivered."""
    for each in live():
        each.close()
