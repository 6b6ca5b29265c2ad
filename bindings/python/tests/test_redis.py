# SPDX-License-Identifier: Apache-2.0
"""redis-py with the library in between, before a real server."""

import asyncio
import threading

import pytest
import redis
import redis.asyncio

import heatsink
from conftest import QUIET, Source
from harness.patience import PATIENCE_S, until


@pytest.fixture
def direct(server):
    with redis.Redis(port=server.port) as one:
        one.flushall()
        yield one


@pytest.fixture
def wrapped(server, direct):
    """Without the server's notices: what a test finds in a copy is what this client put there."""
    one = heatsink.wrap(redis.Redis(port=server.port), coherent=False, **QUIET)
    yield one
    one.heatsink.close()
    one.close()


def make_hot(one, *keys):
    """Hot, with a copy of what is there."""
    one.heatsink.warm([key.encode() for key in keys], Source(None))
    for key in keys:
        one.heatsink.invalidate(key)
        one.get(key)


def test_values_are_those_of_redis_py(server, direct, wrapped):
    direct.mset({"a": "1", "größe": b"\xff\x00", "empty": ""})
    text = redis.Redis(port=server.port, decode_responses=True, encoding_errors="surrogateescape")
    with heatsink.wrap(text, coherent=False, **QUIET).heatsink as client:
        as_text = heatsink.wrap(text, client, coherent=False)
        for is_hot in (False, True):
            for name in ("a", b"a", "größe", "empty", "none"):
                assert wrapped.get(name) == direct.get(name)
                assert as_text.get(name) == text.get(name)
                if is_hot:
                    assert wrapped.heatsink.peek(name) == direct.get(name)
            names = ["none", "a", b"a", "empty", "cold"]
            assert wrapped.mget(names) == wrapped.mget(*names) == direct.mget(names)
            assert as_text.mget(names) == text.mget(names)
            make_hot(wrapped, "a", "größe", "empty", "none")
            make_hot(as_text, "a", "größe", "empty", "none")
    for name in (1, 1.5, memoryview(b"a")):
        assert wrapped.get(name) == direct.get(name)
    for call in (wrapped.get, direct.get):
        with pytest.raises(redis.DataError):
            call(None)
    assert isinstance(wrapped, redis.Redis)
    text.close()


def test_hits_ask_nobody(direct, wrapped):
    direct.mset({"a": "1", "b": "2"})
    make_hot(wrapped, "a", "b")
    asked = direct.info("commandstats")
    assert wrapped.get("a") == b"1" and wrapped.get(b"b") == b"2"
    assert wrapped.mget("a", "b") == [b"1", b"2"]
    now = direct.info("commandstats")
    for command in ("cmdstat_get", "cmdstat_mget"):
        assert now.get(command) == asked.get(command)


WRITES = {
    "set": lambda r: r.set("a", "2"),
    "set with options": lambda r: r.set("a", "2", ex=100),
    "set nx": lambda r: r.set("a", "2", nx=True),
    "setex": lambda r: r.setex("a", 100, "2"),
    "mset": lambda r: r.mset({"b": "1", "a": "2"}),
    "msetnx": lambda r: r.msetnx({"b": "1", "a": "2"}),
    "append": lambda r: r.append(b"a", "2"),
    "incr": lambda r: r.incr("a"),
    "setrange": lambda r: r.setrange("a", 0, "2"),
    "getdel": lambda r: r.getdel("a"),
    "getset": lambda r: r.getset("a", "2"),
    "delete": lambda r: r.delete("b", "a"),
    "unlink": lambda r: r.unlink("a"),
    "rename": lambda r: (r.set("b", "2"), r.rename("b", "a")),
    "pexpire": lambda r: r.pexpire("a", -1),
    "flushdb": lambda r: r.flushdb(),
    "flushall": lambda r: r.flushall(),
    "eval": lambda r: r.eval("redis.call('SET', KEYS[1], '2')", 1, "a"),
    "script": lambda r: r.register_script("redis.call('SET', KEYS[1], '2')")(keys=["a"]),
    "hset": lambda r: (r.delete("a"), r.hset("a", "field", "2"), r.delete("a")),
    "execute_command": lambda r: r.execute_command("SET", "a", "2"),
    "pipeline": lambda r: r.pipeline().set("a", "2").get("a").execute(),
    "plain pipeline": lambda r: r.pipeline(transaction=False).delete("a").execute(),
    "transaction": lambda r: r.transaction(lambda pipe: (pipe.multi(), pipe.incr("a")), "a"),
}


@pytest.fixture
def coherent(server, direct):
    """With the server's notices, as by default."""
    one = heatsink.wrap(redis.Redis(port=server.port), **QUIET)
    until(lambda: one.heatsink.server_problem() == "", PATIENCE_S, "the tracker")
    yield one
    one.heatsink.close()
    one.close()


@pytest.mark.parametrize("level", ("wrapped", "coherent"))
@pytest.mark.parametrize("how", WRITES)
def test_own_writes_are_seen(direct, request, level, how):
    wrapped = request.getfixturevalue(level)
    direct.set("a", "1")
    make_hot(wrapped, "a")
    until(lambda: wrapped.get("a") and wrapped.heatsink.peek("a") == b"1", PATIENCE_S, "a copy")
    theirs = WRITES[how](wrapped)
    assert wrapped.get("a") == direct.get("a")
    value = direct.get("a")
    direct.flushall()
    direct.set("a", "1")
    assert str(WRITES[how](direct)) == str(theirs) or "pipeline" in str(theirs)
    assert direct.get("a") == value


def test_a_plain_set_is_the_copy_from_then_on(direct, wrapped):
    make_hot(wrapped, "a")
    for value, read in (("größe", "größe".encode()), (b"\xff", b"\xff"), (7, b"7"), (1.5, b"1.5")):
        assert wrapped.set("a", value) is True
        assert wrapped.heatsink.peek("a") == read == direct.get("a")
    with pytest.raises(redis.DataError):
        wrapped.set("a", {})
    assert wrapped.get("a") == b"1.5"


def test_reads_of_other_kinds_leave_copies(direct, wrapped):
    direct.set("a", "1")
    make_hot(wrapped, "a")
    assert (wrapped.ttl("a"), wrapped.strlen("a"), wrapped.exists("a")) == (-1, 1, 1)
    wrapped.set("b", "a")
    wrapped.object("encoding", "a")
    assert wrapped.heatsink.peek("a") == b"1"


def test_errors_are_those_of_redis_py(server, direct, wrapped):
    direct.rpush("list", "1")
    for _ in range(2):
        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            wrapped.get("list")
        assert wrapped.mget("list", "none") == [None, None]
        with pytest.raises(redis.ResponseError):
            make_hot(wrapped, "list")
    with pytest.raises(redis.ResponseError):
        wrapped.incr("list")
    gone = heatsink.wrap(redis.Redis(port=1), coherent=False, **QUIET)
    with pytest.raises(redis.ConnectionError):
        gone.get("a")
    with pytest.raises(redis.ConnectionError):
        gone.set("a", "1")
    gone.heatsink.close()


def test_what_redis_py_makes_itself_goes_to_the_server(direct, wrapped):
    direct.set("a", "1")
    make_hot(wrapped, "a")
    direct.set("a", "2")
    with wrapped.client() as single:
        assert single.get("a") == b"2"
    with wrapped.pipeline() as pipe:
        pipe.watch("a")
        assert pipe.get("a") == b"2"  # WATCH would be worth nothing otherwise
        pipe.incr("a")
    assert wrapped.get("a") == b"3"


def test_misuse_is_told(wrapped):
    with pytest.raises(TypeError, match=r"wrap\(\) needs a Redis of redis-py, not int"):
        heatsink.wrap(1)
    with pytest.raises(TypeError, match="options cannot be combined with client"):
        heatsink.wrap(wrapped, wrapped.heatsink, hot_qps=1)
    with pytest.raises(TypeError, match="cannot notify this Client of changes.* coherent=False"):
        heatsink.wrap(wrapped, wrapped.heatsink)


def test_hot_keys_are_found_and_refreshed(server, direct):
    direct.set("a", "1")
    one = heatsink.wrap(
        redis.Redis(port=server.port),
        coherent=False,
        **{"hot_qps": 10, "warm_qps": 5, "window": "1s", "tick": "10ms"},
        refresh_interval="10ms",
    )
    with one.heatsink as client:
        until(lambda: one.get("a") and client.stats().copies, PATIENCE_S, "a copy")
        direct.set("a", "2")
        until(lambda: one.get("a") == b"2", PATIENCE_S, "the write of somebody else")


def test_writes_by_others_are_seen_without_an_option_set(server, direct):
    """Nothing is refreshed here: only the server's notice ends a copy."""
    direct.set("a", "0")
    one = heatsink.wrap(redis.Redis(port=server.port), **QUIET)
    with one.heatsink as client:
        until(lambda: client.server_problem() == "", PATIENCE_S, "the tracker")
        client.warm(["a"], one._reads._load)
        for turn in ("1", "2", "3"):
            until(lambda: one.get("a") and client.peek("a"), PATIENCE_S, "a copy")
            direct.set("a", turn)
            until(lambda: one.get("a") == turn.encode(), PATIENCE_S, "the server's notice")
        one.set("a", "own")
        assert one.get("a") == b"own"
        one.delete("a")
        assert one.get("a") is None
    alone = heatsink.Client(server_url="redis://127.0.0.1:1")
    assert alone.server_problem() and alone.get("a", Source()) == "a value"
    alone.close()


def test_threads_read_their_own_writes(wrapped):
    faults = []

    def play(number):
        key = f"own:{number}"
        make_hot(wrapped, key)
        for turn in range(200):
            write = WRITES_OF_A_NUMBER[turn % len(WRITES_OF_A_NUMBER)]
            write(wrapped, key, turn)
            if wrapped.get(key) != str(turn).encode():
                faults.append((key, turn))

    threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


WRITES_OF_A_NUMBER = [
    lambda r, key, turn: r.set(key, turn),
    lambda r, key, turn: r.set(key, turn, ex=100),
    lambda r, key, turn: r.pipeline().set(key, turn).execute(),
]


def test_awaited(server, direct):
    async def play():
        plain = redis.asyncio.Redis(port=server.port)
        one = heatsink.wrap(plain, coherent=False, **QUIET)
        client = one.heatsink
        for value in ("1", "2"):
            await one.set("a", value)
            assert await one.get("a") == value.encode()
            assert await one.mget("a", "none") == [value.encode(), None]
            client.warm(["a", "none"], Source(None))
            client.invalidate("a")
            assert await one.mget("a", "none", "cold") == [value.encode(), None, None]
            assert client.peek("a") == value.encode()
        direct.set("a", "by another")
        assert await one.get("a") == b"2"
        pipe = one.pipeline()
        await pipe.set("a", "3").execute()
        assert await one.get("a") == b"3"
        await one.incr("a")
        assert await one.get("a") == b"4"
        await direct_list(one)
        await client.aclose()
        await plain.close()

    async def direct_list(one):
        await one.rpush("list", "1")
        one.heatsink.warm(["list"], Source(None))
        one.heatsink.invalidate("list")
        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            await one.get("list")
        assert await one.mget("list", "a") == [None, b"4"]

    asyncio.run(play())


def test_keys_earn_copies_without_an_option_set(server, direct):
    direct.set("a", "1")
    one = heatsink.wrap(redis.Redis(port=server.port), coherent=False)
    with one.heatsink as client:
        assert one.get("a") == b"1" and not client.is_hot("a")
        assert client.peek("a") == b"1"
        direct.set("a", "2")
        assert one.get("a") == b"1", "a copy"
        one.pipeline().set("a", "3").execute()
        assert one.get("a") == b"3"
    one.close()


def test_a_write_ends_copies_of_any_number_of_keys(server, direct, monkeypatch):
    monkeypatch.setattr(heatsink._redis, "_KEPT_MAX", 10)
    names = [f"many:{number}" for number in range(100)]
    direct.mset({name: "1" for name in names})
    one = heatsink.wrap(redis.Redis(port=server.port), coherent=False)
    with one.heatsink as client:
        assert all(one.get(name) == b"1" for name in names)
        assert client.stats().copies == len(names)
        one.pipeline().mset({name: "2" for name in names}).execute()
        assert all(one.get(name) == b"2" for name in names)
    one.close()


@pytest.mark.parametrize("write", ("set with options", "pipeline", "flushdb"))
def test_own_writes_end_copies_that_the_server_was_asked_for(direct, coherent, write):
    """warm() without a loader: no read of this client has brought the copy."""
    direct.set("a", "1")
    coherent.heatsink.warm(["a"])
    until(lambda: coherent.heatsink.peek("a"), PATIENCE_S, "a copy")
    WRITES[write](coherent)
    assert coherent.get("a") == direct.get("a") != b"1"
