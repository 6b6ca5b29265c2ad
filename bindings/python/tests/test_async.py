# SPDX-License-Identifier: Apache-2.0
"""Reads that are awaited."""

import asyncio
import threading

import pytest

import heatsink
from conftest import QUIET, Source
from harness.patience import PATIENCE_S, until


def run(play):
    asyncio.run(asyncio.wait_for(play, PATIENCE_S * 10))


class Gate:
    """A loader that says when it was asked, and answers when it may."""

    def __init__(self, value="a value"):
        self.value, self.threads = value, []
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def __call__(self, key):
        self.threads.append(threading.current_thread())
        self.is_asked.set()
        await self.may_answer.wait()
        return self.value


def hot(client):
    """Hot, and without a copy."""
    client.warm(["a"], Source(None))
    client.invalidate("a")


def test_cold_and_hot(client, source):
    async def play():
        assert await client.aget("a", source.awaited) == "a value"
        assert await client.aget("a", source.awaited) == "a value"
        hot(client)
        for _ in range(3):
            assert await client.aget("a", source.awaited) == "a value"
        assert len(source.keys) == 3
        assert client.get("a", source) == "a value"
        assert len(source.keys) == 3

    run(play())


def test_who_awaits_a_warmed_key_joins_its_load(source):
    is_asked, may_answer = threading.Event(), threading.Event()

    def warming(key):
        is_asked.set()
        assert may_answer.wait(PATIENCE_S * 10)
        return "warmed"

    async def play():
        async with heatsink.Client(detection_enabled=False, wait_timeout="10m") as client:
            client.warm(["a"], warming)
            assert await asyncio.to_thread(is_asked.wait, PATIENCE_S * 10)
            readers = [asyncio.create_task(client.aget("a", source.awaited)) for _ in range(8)]
            seen = lambda: client.stats().waits + client.stats().loads  # noqa: E731
            await asyncio.to_thread(until, seen, PATIENCE_S, "a read waits or loads")
            may_answer.set()
            assert await asyncio.gather(*readers) == ["warmed"] * 8
            assert source.keys == []

    run(play())


def test_loads_run_on_the_loop_and_are_shared(client):
    async def play():
        hot(client)
        load = Gate()
        readers = [asyncio.create_task(client.aget("a", load)) for _ in range(100)]
        await load.is_asked.wait()
        readers[0].cancel()
        load.may_answer.set()
        assert await asyncio.gather(*readers[1:]) == ["a value"] * 99
        assert readers[0].cancelled() and load.threads == [threading.main_thread()]

    run(play())


def test_too_many_who_wait_are_refused():
    async def play():
        load = Gate()
        async with heatsink.Client(maximum_waiters=2, **QUIET) as client:
            hot(client)
            first, *others = [asyncio.create_task(client.aget("a", load)) for _ in range(3)]
            await load.is_asked.wait()
            with pytest.raises(heatsink.LoadRefused, match="cache.maximum-waiters"):
                await client.aget("a", load)
            others[0].cancel()  # which makes room for one
            await asyncio.wait([others[0]])
            others[0] = asyncio.create_task(client.aget("a", load))
            await asyncio.sleep(0)  # the task begins, and waits
            load.may_answer.set()
            assert await asyncio.gather(first, *others) == ["a value"] * 3
            assert len(load.threads) == 1

    run(play())


def test_what_a_loader_raises_comes_back(client):
    async def play():
        for key in ("a", "cold"):
            hot(client)
            with pytest.raises(KeyError, match="lost"):
                await client.aget(key, Source(KeyError("lost")).awaited)
        with pytest.raises(TypeError, match="not int"):
            await client.aget("cold", Source(1).awaited)

    run(play())


def test_who_reads_after_a_write_does_not_share_a_load_from_before(client):
    async def play():
        hot(client)
        old, new = Gate("old"), Gate("new")
        before = asyncio.create_task(client.aget("a", old))
        await old.is_asked.wait()
        client.invalidate("a")
        after = asyncio.create_task(client.aget("a", new))
        await new.is_asked.wait()
        new.may_answer.set()
        assert await after == "new"
        old.may_answer.set()
        assert await before == "old"
        assert client.peek("a") == "new"

    run(play())


def test_refreshes_run_on_the_loop():
    threads = set()
    count = 0

    async def load(key):
        nonlocal count
        threads.add(threading.current_thread())
        count += 1
        return str(count)

    async def play():
        async with heatsink.Client(refresh_interval="10ms", detection_enabled=False) as client:
            client.warm(["a"], Source(None))
            until(lambda: client.stats().copies, PATIENCE_S)
            while int((value := await client.aget("a", load)) or 0) < 5:
                if not value:  # the copy that warm() made, or refreshed
                    client.invalidate("a")
                await asyncio.sleep(0.001)  # the loop is free for refreshes
        assert threads == {threading.main_thread()}

    run(play())


def test_a_loop_may_close_while_its_loads_are_awaited():
    async def play():
        client = heatsink.Client(**QUIET)
        hot(client)
        never = Gate()
        reader = asyncio.create_task(client.aget("a", never))
        await never.is_asked.wait()
        client.close()  # on the loop that the load needs
        with pytest.raises(heatsink.Error, match="cancelled"):
            await reader
        assert await client.aget("a", Source().awaited) == "a value"

    run(play())


def test_a_loop_that_has_gone_fails_its_refreshes():
    with heatsink.Client(refresh_interval="10ms", detection_enabled=False) as client:
        client.warm(["a"], Source(None))
        until(lambda: client.stats().copies, PATIENCE_S)
        lost = Source()
        while not lost.keys:  # a refresh of what warm() was given may come before
            client.invalidate("a")
            run(client.aget("a", lost.awaited))
        until(lambda: client.stats().refresh_drops, PATIENCE_S, "the key was dropped")
        run(client.aget("a", Source("another").awaited))


def test_more_loads_than_threads_are_not_shared(client):
    """So no chain of loads can wait for itself."""
    keys = [str(i) for i in range(100)]
    client.warm(keys, Source(None))
    for key in keys:
        client.invalidate(key)

    async def load(key):
        await asyncio.sleep(0.01)  # the next loads of the chain come meanwhile
        return await client.aget(str(int(key) + 1), load) if int(key) < 99 else "the last"

    async def play():
        assert await client.aget("0", load) == "the last"

    run(play())


def test_loops_in_several_threads(client):
    hot(client)
    done = []

    async def play():
        for _ in range(50):
            assert await client.aget("a", Source().awaited) == "a value"
            client.invalidate("a")

    threads = [threading.Thread(target=lambda: done.append(run(play()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 4
