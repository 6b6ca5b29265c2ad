# SPDX-License-Identifier: Apache-2.0
"""A Client of a server: no loader, no store."""

import asyncio
import datetime
import json
import re

import pytest

import heatsink
from conftest import QUIET
from harness import ValueClient
from harness.patience import PATIENCE_S, until


@pytest.fixture
def url(server):
    with ValueClient(server.port) as other:
        other("FLUSHALL")
    return f"redis://127.0.0.1:{server.port}"


@pytest.fixture
def other(server):
    with ValueClient(server.port) as one:
        yield one


@pytest.fixture
def shop(url):
    with heatsink.Client(server_url=url, **QUIET) as client:
        yield client


def test_reads_and_writes_need_no_functions(shop, other):
    assert shop.get("a") is None
    shop.set("a", b"1")
    assert other("GET", "a") == b"1" and shop.get("a") == shop.get(b"a") == b"1"
    shop.set("a", "größe", ttl=datetime.timedelta(minutes=5))
    assert shop.get("a") == "größe".encode()
    assert 0 < other("PTTL", "a") <= 300_000
    shop.delete("a")
    assert other("EXISTS", "a") == 0 and shop.get("a") is None


def test_what_is_hot_is_read_here_until_the_server_tells(shop, other):
    other("SET", "a", "1")
    until(lambda: shop.server_problem() == "", PATIENCE_S, "the server tells of changes")
    assert shop.warm(["a"]) == []
    until(lambda: shop.get("a") == b"1" and shop.peek("a") == b"1", PATIENCE_S, "a copy")
    other("SET", "a", "2")
    until(lambda: shop.get("a") == b"2", PATIENCE_S, "the other's write")
    shop.set("a", "3")
    assert shop.get("a") == b"3"


def test_a_loader_and_none_share_the_copies(shop):
    shop.set("a", "1")
    until(lambda: shop.server_problem() == "", PATIENCE_S, "the server tells of changes")
    shop.warm(["a"], lambda key: "as text")
    until(lambda: shop.get("a", lambda key: "as text") and shop.peek("a"), PATIENCE_S, "a copy")
    assert shop.get("a") in ("as text", b"1")
    shop.invalidate("a")
    assert shop.get("a") == b"1"


def test_hooks_are_between(url, other):
    with heatsink.Client(server_url=url, encode=json.dumps, decode=json.loads, **QUIET) as shop:
        shop.set("a", {"price": 1})
        assert other("GET", "a") == b'{"price": 1}'
        assert shop.get("a") == {"price": 1}


def test_it_is_awaited_too(url):
    async def play():
        async with heatsink.Client(server_url=url, **QUIET) as shop:
            shop.set("a", "1")
            assert await shop.aget("a") == b"1"
            assert await asyncio.gather(*(shop.aget("b") for _ in range(20))) == [None] * 20

    asyncio.run(play())


def test_what_the_server_says_is_raised(shop, other):
    other("RPUSH", "list", "1")
    with pytest.raises(heatsink.ServerError, match="^WRONGTYPE"):
        shop.get("list")
    with pytest.raises(TypeError, match="not dict: pass encode="):
        shop.set("a", {})
    with pytest.raises(TypeError, match="it is for the server"):
        shop.set("a", "1", lambda *_: None, ttl=datetime.timedelta(seconds=1))
    with pytest.raises(TypeError, match="ttl must be a datetime.timedelta, not 5"):
        shop.set("a", "1", ttl=5)


def test_a_server_that_is_not_there_is_told():
    nowhere = "redis://127.0.0.1:1"
    with heatsink.Client(server_url=nowhere, connect_timeout="100ms", **QUIET) as shop:
        for call in (lambda: shop.get("a"), lambda: shop.set("a", "1"), lambda: shop.delete("a")):
            with pytest.raises(heatsink.ServerError, match="the server cannot be reached"):
                call()


def test_without_a_server_it_is_told_what_to_give(client):
    calls = (lambda: client.get("a"), lambda: client.warm(["a"]))
    for call in calls:
        with pytest.raises(TypeError, match="loader is missing: pass a loader, or create"):
            call()
    with pytest.raises(heatsink.ServerError, match="server.url is not set"):
        client.set("a", "1")
    with pytest.raises(heatsink.ServerError, match="server.url is not set"):
        client.delete("a")


def test_the_version_is_the_projects():
    assert re.fullmatch(r"\d+\.\d+\.\d+", heatsink.__version__)
