# SPDX-License-Identifier: Apache-2.0
"""RedisCluster of redis-py with the library in between, before a real cluster."""

import asyncio
from collections.abc import Iterator

import pytest

import heatsink
from conftest import QUIET, Source
from harness.cluster import Cluster
from harness.patience import PATIENCE_S, until

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio.cluster")

KEYS = ("a", "b", "c")  # of three masters


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as one:
        yield one


@pytest.fixture
def direct(cluster):
    one = redis.RedisCluster(host="127.0.0.1", port=cluster.masters[0].port)
    for master in cluster.masters:
        master("FLUSHALL")
    yield one
    one.close()


def client_of(cluster, **options):
    return redis.RedisCluster(host="127.0.0.1", port=cluster.masters[0].port, **options)


@pytest.fixture
def wrapped(cluster, direct):
    """With the servers' notices."""
    one = heatsink.wrap(client_of(cluster), **QUIET)
    until(lambda: one.heatsink.server_problem() == "", PATIENCE_S, "the trackers")
    yield one
    one.heatsink.close()
    one.close()


def make_hot(one, *keys):
    assert one.heatsink.warm(keys) == []
    for key in keys:
        until(lambda: one.get(key) or one.heatsink.peek(key), PATIENCE_S, f"a copy of {key}")


def has_copy(one, key, value):
    return one.get(key) == value and one.heatsink.peek(key) == value


def test_writes_by_others_are_seen(direct, wrapped):
    for key in KEYS:
        direct.set(key, "0")
    make_hot(wrapped, *KEYS)
    for turn in (b"1", b"2", b"3"):
        for key in KEYS:
            direct.set(key, turn)
        for key in KEYS:
            until(lambda: has_copy(wrapped, key, turn), PATIENCE_S, "the write of somebody else")
    assert isinstance(wrapped, redis.RedisCluster)
    assert wrapped.mget(["{a}1", "{a}2"]) == [None, None]


WRITES = {
    "set": lambda one: one.set("a", "new"),
    "set with options": lambda one: one.set("a", "new", ex=100),
    "append": lambda one: one.append("a", "new"),
    "delete": lambda one: one.delete("a"),
    "delete several": lambda one: one.delete("a", "b"),
    "mset": lambda one: one.mset({"a": "new", "{a}2": "new"}),
    "mset over slots": lambda one: one.mset_nonatomic({"a": "new", "b": "new"}),
    "script": lambda one: one.eval("return redis.call('set', KEYS[1], 'new')", 1, "a"),
    "pipeline": lambda one: one.pipeline().set("a", "new").set("b", "new").execute(),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("coherent", (False, True))
def test_own_writes_are_seen(cluster, direct, how, coherent):
    one = heatsink.wrap(client_of(cluster), coherent=coherent, **QUIET)
    with one.heatsink as client:
        until(lambda: client.server_problem() == "", PATIENCE_S, "the trackers")
        direct.set("a", "old")
        client.warm([b"a"], Source(None))
        client.invalidate("a")
        until(lambda: one.get("a") == b"old" and client.peek("a"), PATIENCE_S, "a copy")
        WRITES[how](one)
        assert one.get("a") == direct.get("a") != b"old"


def test_values_are_those_of_redis_py(cluster, direct, wrapped):
    direct.set("a", "größe")
    direct.rpush("b", "1")
    text = client_of(cluster, decode_responses=True)
    as_text = heatsink.wrap(text, wrapped.heatsink)
    make_hot(wrapped, "a")
    for _ in range(2):
        assert wrapped.get("a") == wrapped.get(b"a") == "größe".encode()
        assert as_text.get("a") == "größe"
        assert wrapped.get("none") is None and as_text.get("none") is None
        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            wrapped.get("b")


def test_a_slot_that_moves(cluster, direct, wrapped):
    direct.set("a", "0")
    make_hot(wrapped, "a")
    slot = cluster.slot("a")
    for number in range(1, 4):
        source = cluster.owner_of(slot)
        target = cluster.masters[(cluster.masters.index(source) + 1) % 3]
        cluster.move(slot, source, target)
        assert target("SET", "a", number) == "OK"
        value = str(number).encode()
        until(lambda: has_copy(wrapped, "a", value), PATIENCE_S, "the value at the new owner")


def test_on_an_event_loop(cluster, direct):
    async def play():
        plain = redis.asyncio.RedisCluster(host="127.0.0.1", port=cluster.masters[0].port)
        one = heatsink.wrap(plain, **QUIET)
        client = one.heatsink
        try:
            await asyncio.to_thread(
                until, lambda: client.server_problem() == "", PATIENCE_S, "the trackers"
            )
            await one.set("a", "1")
            client.warm(["a"])
            while client.peek("a") is None:
                assert await one.get("a") == b"1"
            await one.set("a", "2")
            assert await one.get("a") == b"2"
            await one.pipeline().set("a", "3").execute()
            assert await one.get("a") == b"3"
            assert await one.get("none") is None
        finally:
            client.close()
            await one.close()

    asyncio.run(play())


def test_other_classes_are_refused():
    with pytest.raises(TypeError, match="needs a Redis"):
        heatsink.wrap(object())
