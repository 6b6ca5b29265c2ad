# SPDX-License-Identifier: Apache-2.0
"""One Client and many threads."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import heatsink
from conftest import QUIET, Source
from harness.patience import PATIENCE_S, until


class Gate:
    """A loader that says when it was asked, and answers when it may."""

    def __init__(self, value):
        self.source = Source(value)
        self.is_asked = threading.Event()
        self.may_answer = threading.Event()

    def __call__(self, key):
        self.is_asked.set()
        assert self.may_answer.wait(PATIENCE_S * 10)
        return self.source(key)


def share(client, gate, count):
    """Futures of so many who wait for one load, which has been answered."""
    with ThreadPoolExecutor(count) as pool:
        first = pool.submit(client.get, "a", gate)
        assert gate.is_asked.wait(PATIENCE_S * 10)
        others = [pool.submit(client.get, "a", gate) for _ in range(count - 1)]
        until(lambda: client.stats().waits + client.stats().refusals == count - 1, PATIENCE_S)
        gate.may_answer.set()
    return first, others


def test_a_load_is_shared(client):
    client.warm(["a"], Source(None))
    client.invalidate("a")
    gate = Gate("a value")
    first, others = share(client, gate, 8)
    assert [future.result() for future in (first, *others)] == ["a value"] * 8
    assert len(gate.source.keys) == 1


def test_who_reads_a_warmed_key_joins_its_load():
    gate = Gate("a value")
    with heatsink.Client(detection_enabled=False, wait_timeout="10m") as client:
        client.warm(["a"], gate)
        assert gate.is_asked.wait(PATIENCE_S * 10)
        with ThreadPoolExecutor(8) as pool:
            readers = [pool.submit(client.get, "a", gate) for _ in range(8)]
            until(lambda: client.stats().waits + client.stats().loads == 8, PATIENCE_S)
            gate.may_answer.set()
        assert {reader.result() for reader in readers} == {"a value"}
        assert client.stats().waits == 8 and len(gate.source.keys) == 1


class Lost(Exception):
    pass


def test_who_shares_a_load_shares_what_it_raises(client):
    client.warm(["a"], Source(None))
    client.invalidate("a")
    error = Lost("the source", 1)
    first, others = share(client, Gate(error), 4)
    assert first.exception() is error
    for other in others:
        assert isinstance(other.exception(), Lost) and other.exception().args == ("the source", 1)
        assert other.exception() is not error  # nor the frames it came through


class Uncopied(Exception):
    def __reduce__(self):
        raise TypeError("cannot be copied")


def test_what_cannot_be_copied_is_told(client):
    client.warm(["a"], Source(None))
    client.invalidate("a")
    first, (other,) = share(client, Gate(Uncopied("why")), 2)
    assert isinstance(first.exception(), Uncopied)
    with pytest.raises(heatsink.LoadFailed, match=r"^Uncopied\('why'\)$"):
        other.result()


def test_too_many_who_wait_are_refused():
    with heatsink.Client(maximum_waiters=1, **QUIET) as client:
        client.warm(["a"], Source(None))
        client.invalidate("a")
        _, others = share(client, Gate("a value"), 4)
        refused = [future.exception() for future in others if future.exception()]
        assert len(refused) == 2
        assert all(isinstance(error, heatsink.LoadRefused) for error in refused)
        assert client.stats().refusals == 2


def test_threads_do_everything_at_once():
    """Own writes are seen, values belong to their keys, and nothing hangs."""
    keys = [f"key:{i}" for i in range(20)]

    def play(client, seed):
        choice = random.Random(seed)
        own = f"own:{seed}"
        client.warm([own], lambda key: "none yet")
        for turn in range(2_000):
            key = choice.choice(keys)
            assert client.get(key, lambda key: f"{key} loaded").startswith(key)
            match choice.randrange(40):
                case 0:
                    client.set(key, f"{key} set", lambda *_: None)
                case 1:
                    client.invalidate(key)
                case 2:
                    client.set(own, str(turn), lambda *_: None)
                    assert client.get(own, lambda key: str(turn)) == str(turn)
                case 3:
                    client.top(5)
                    client.stats()
                case 4:
                    client.warm([key], lambda key: f"{key} warmed")

    with heatsink.Client(
        hot_qps=5, warm_qps=1, window="1s", tick="10ms", refresh_interval="10ms"
    ) as client:
        client.on_hot(lambda event: None)
        with ThreadPoolExecutor(4) as pool:
            for played in [pool.submit(play, client, seed) for seed in range(4)]:
                played.result()


def test_clients_come_and_go_while_others_read():
    def live(_):
        with heatsink.Client(detection_tick="10ms", refresh_interval="10ms") as client:
            client.warm(["a"], Source())
            return {client.get("a", Source()) for _ in range(200)}

    with ThreadPoolExecutor(4) as pool:
        assert all(values == {"a value"} for values in pool.map(live, range(20)))


def test_who_is_closed_while_others_read():
    client = heatsink.Client(refresh_interval="10ms")
    is_closed = threading.Event()

    def read(_):
        while not is_closed.is_set():
            assert client.get("a", Source()) == "a value"

    with ThreadPoolExecutor(3) as pool:
        readers = pool.map(read, range(3))
        client.warm(["a"], Source())
        client.close()
        is_closed.set()
        list(readers)
