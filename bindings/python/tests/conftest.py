# SPDX-License-Identifier: Apache-2.0
"""What the tests of the installed package share."""

from collections.abc import Iterator

import pytest

import heatsink
from harness.processes import Redis

# Keys are hot when they are warmed, and nothing is loaded but by who asks; who waits for another's
# load is not given up on, however slow the machine.
QUIET = {"refresh_enabled": False, "detection_enabled": False, "wait_timeout": "10m"}


@pytest.fixture
def client() -> Iterator[heatsink.Client]:
    with heatsink.Client(**QUIET) as one:
        yield one


@pytest.fixture(scope="session")
def server() -> Iterator[Redis]:
    one = Redis()
    yield one
    one.stop()


class Source:
    """A loader that counts."""

    def __init__(self, value: object = "a value") -> None:
        self.value = value
        self.keys: list[str | bytes] = []

    def __call__(self, key: str | bytes) -> object:
        self.keys.append(key)
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    async def awaited(self, key: str | bytes) -> object:
        return self(key)


@pytest.fixture
def source() -> Source:
    return Source()
