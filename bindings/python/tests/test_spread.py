# SPDX-License-Identifier: Apache-2.0
"""Copies of keys, and counters in parts, on a cluster and on one server."""

import asyncio
import datetime
import os
import threading
from collections.abc import Iterator

import pytest

import heatsink
from harness import ValueClient
from harness.cluster import Cluster

TIMEOUT = datetime.timedelta(minutes=1)  # however slow the machine
NO_SERVER = {"server_url": "unix:///nonexistent/socket"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as one:
        yield one


@pytest.fixture(params=("cluster", "server"))
def place(request):
    """The URL, and a function that asks the node of a key."""
    if request.param == "server":
        server = request.getfixturevalue("server")
        client = ValueClient(server.port)
        client("FLUSHALL")
        yield f"redis://127.0.0.1:{server.port}", lambda key, *words: client(*words)
        client.close()
        return
    cluster = request.getfixturevalue("cluster")
    for master in cluster.masters:
        master("FLUSHALL")
    url = f"redis://127.0.0.1:{cluster.masters[0].port}"
    yield url, lambda key, *words: cluster.owner(key)(*words)


def test_reads_show_a_write_once_it_is_told(place):
    url, ask = place
    with heatsink.SpreadKeys(timeout=TIMEOUT, server_url=url) as keys:
        assert keys.get("hot") is None
        for value in (b"one", b"two\0\xff", b""):
            ask("hot", "SET", "hot", value)
            assert keys.written(b"hot") is None
            assert {keys.get("hot") for _ in range(30)} == {value}


def test_copies_are_on_all_nodes(cluster):
    url = f"redis://127.0.0.1:{cluster.masters[0].port}"
    for master in cluster.masters:
        master("FLUSHALL")
    with heatsink.SpreadKeys(copies=6, timeout=TIMEOUT, server_url=url) as keys:
        for _ in range(60):
            keys.get("hot")
    names = [master("KEYS", "*:hs:copy:hot") for master in cluster.masters]
    assert all(names) and sum(map(len, names)) == 6


def test_a_counter_is_the_sum_of_what_threads_add(place):
    url, ask = place
    with heatsink.SplitCounter(parts=8, timeout=TIMEOUT, server_url=url) as views:
        assert views.value("views") == 0

        def add():
            for _ in range(50):
                views.add("views")
                views.add("other", -2)

        threads = [threading.Thread(target=add) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert (views.value("views"), views.value(b"other")) == (200, -400)
        assert 0 < int(ask("views", "GET", "views")) < 200


def test_on_an_event_loop(place):
    url, ask = place

    async def play():
        async with (
            heatsink.SpreadKeys(timeout=TIMEOUT, server_url=url) as keys,
            heatsink.SplitCounter(timeout=TIMEOUT, server_url=url) as views,
        ):
            ask("hot", "SET", "hot", "1")
            await keys.awritten("hot")
            await asyncio.gather(*(views.aadd("views", n) for n in range(10)))
            return await keys.aget("hot"), await views.avalue("views")

    assert asyncio.run(play()) == (b"1", 45)


def test_errors_of_the_server(place):
    url, ask = place
    with (
        heatsink.SpreadKeys(timeout=TIMEOUT, server_url=url) as keys,
        heatsink.SplitCounter(timeout=TIMEOUT, server_url=url) as views,
    ):
        ask("list", "LPUSH", "list", "a")
        with pytest.raises(heatsink.Error, match="WRONGTYPE"):
            keys.get("list")
        ask("text", "SET", "text", "no number")
        with pytest.raises(heatsink.Error, match="no integer"):
            views.value("text")
        with pytest.raises(ValueError, match="1025 bytes"):
            views.add("k" * 1025)
        with pytest.raises(OverflowError):
            views.add("views", 2**63)


def test_a_child_has_connections_of_its_own(place):
    url, _ = place
    with heatsink.SplitCounter(timeout=TIMEOUT, server_url=url) as views:
        views.add("views")
        child = os.fork()
        if child == 0:
            try:
                views.add("views", 10)
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert views.value("views") == 11


def test_a_server_that_is_away():
    soon = datetime.timedelta(milliseconds=50)
    with heatsink.SpreadKeys(timeout=soon, **NO_SERVER) as keys:
        with pytest.raises(heatsink.Error):
            keys.get("hot")
        with pytest.raises(heatsink.Error, match="end within 1s"):
            keys.written("hot")
    with heatsink.SplitCounter(timeout=soon, **NO_SERVER) as views, pytest.raises(heatsink.Error):
        views.add("views")


def test_what_is_closed_says_so():
    keys, views = heatsink.SpreadKeys(**NO_SERVER), heatsink.SplitCounter(**NO_SERVER)
    for each in (keys, views):
        each.close()
        each.close()
    with pytest.raises(RuntimeError, match="closed"):
        keys.get("hot")
    with pytest.raises(RuntimeError, match="closed"):
        views.add("views")


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: heatsink.SpreadKeys(), ValueError, "server.url"),
        (lambda: heatsink.SpreadKeys(copies=1, **NO_SERVER), ValueError, "copies is 1"),
        (lambda: heatsink.SpreadKeys(copies=0, **NO_SERVER), ValueError, "copies is 0"),
        (lambda: heatsink.SpreadKeys(ttl=1, **NO_SERVER), TypeError, "ttl must be"),
        (lambda: heatsink.SpreadKeys(ttl=TIMEOUT * 2, **NO_SERVER), ValueError, "ttl is 2m"),
        (lambda: heatsink.SplitCounter(parts=65, **NO_SERVER), ValueError, "parts is 65"),
        (lambda: heatsink.SplitCounter(parts=-1, **NO_SERVER), OverflowError, "parts must be"),
        (lambda: heatsink.SplitCounter(timeout=TIMEOUT * 61, **NO_SERVER), ValueError, "timeout"),
    ],
)
def test_wrong_options_are_named(make, error, text):
    with pytest.raises(error, match=text):
        make()
