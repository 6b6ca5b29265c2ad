# SPDX-License-Identifier: Apache-2.0
"""Limits: of one process, and of several before a real server."""

import asyncio
import datetime
import os
import re
import socket
import subprocess
import sys
import threading
import time

import pytest

import heatsink
from harness.patience import PATIENCE_S, SLOW, until
from harness.relay import Relay

PATIENCE = datetime.timedelta(seconds=PATIENCE_S * SLOW)
HOUR = datetime.timedelta(hours=1)
# So slow that nothing becomes free while a test runs, however slow the machine.
HOURLY = "1/h"


def run(play):
    return asyncio.run(asyncio.wait_for(play, PATIENCE_S * SLOW * 3))


# ---- of this process


def test_a_bucket_gives_its_burst_and_says_when_there_is_more():
    limiter = heatsink.Limiter(HOURLY, burst=3)
    first = limiter.try_acquire(2)
    assert first and first.allowed and first.remaining == 1 and not first.wait
    refused = limiter.try_acquire(2)
    assert not refused and refused.remaining == 1
    assert datetime.timedelta(0) < refused.retry_after <= HOUR
    assert limiter.try_acquire(0).remaining == 1
    assert limiter.try_acquire(4).retry_after is None
    assert limiter.try_acquire() and not limiter.try_acquire()


@pytest.mark.parametrize("algorithm", ["token-bucket", "fixed-window", "sliding-window"])
def test_each_algorithm_gives_its_count_once(algorithm):
    limiter = heatsink.Limiter("5/24h", burst=5 * (algorithm == "token-bucket"),
                               algorithm=algorithm)  # fmt: skip
    assert sum(limiter.try_acquire().allowed for _ in range(100)) == 5


def test_who_has_patience_is_told_his_turn():
    for how in ({"algorithm": "leaky-bucket", "burst": 3}, {"burst": 1, "patience": HOUR}):
        limiter = heatsink.Limiter("1/m", **how)
        turns = [limiter.try_acquire() for _ in range(3)]
        assert all(turns) and not turns[0].wait
        assert turns[1].wait < turns[2].wait <= datetime.timedelta(minutes=2)


def test_acquire_waits_for_its_turn():
    for how in ({"burst": 1}, {"algorithm": "leaky-bucket", "burst": 10}):
        limiter = heatsink.Limiter("50/s", **how)
        begun = time.monotonic()
        assert all(limiter.acquire(timeout=PATIENCE) for _ in range(6))
        assert time.monotonic() - begun >= 0.1 - 0.001


def test_acquire_does_not_wait_for_what_comes_too_late():
    limiter = heatsink.Limiter(HOURLY, burst=1)
    assert limiter.acquire() and not limiter.acquire() and not limiter.acquire(2)


def test_an_event_loop_goes_on_while_a_limiter_waits():
    async def play():
        limiter = heatsink.Limiter("50/s", burst=1)
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)  # the loop goes on with whatever is next

        other = asyncio.create_task(tick())
        waits = [limiter.aacquire(timeout=PATIENCE) for _ in range(6)]
        assert all(await asyncio.gather(*waits)) and ticks > 6
        other.cancel()
        assert not await heatsink.Limiter(HOURLY, burst=1).aacquire(2)

    run(play())


def test_threads_share_it():
    limiter, passed = heatsink.Limiter(HOURLY, burst=1000), []

    def play():
        passed.append(sum(limiter.try_acquire().allowed for _ in range(1000)))

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(passed) == 1000


def test_parent_and_child_have_one_each():
    limiter = heatsink.Limiter(HOURLY, burst=2)
    assert limiter.try_acquire()
    child = os.fork()
    if child == 0:
        os._exit(0 if limiter.try_acquire() and not limiter.try_acquire() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert limiter.try_acquire() and not limiter.try_acquire()


def test_what_cannot_be_is_told():
    for rate, how in (
        ("often", {}),
        ("0/s", {}),
        ("1/s", {"algorithm": "bucket"}),
        ("1/s", {"algorithm": "sliding-window", "slots": 65}),
        ("1/s", {"patience": datetime.timedelta(days=1)}),
        ("1/s", {"patience": datetime.timedelta(-1)}),
    ):
        with pytest.raises(ValueError):
            heatsink.Limiter(rate, **how)
    for how, error in (
        ({"burst": -1}, OverflowError),
        ({"burst": 1.5}, TypeError),
        ({"slots": 2**32 + 1}, OverflowError),
    ):
        with pytest.raises(error, match=f"^{next(iter(how))} must be "):
            heatsink.Limiter("1/s", **how)
    limiter = heatsink.Limiter("1/s")
    for n, error in ((-1, OverflowError), ("1", TypeError), (1.0, TypeError)):
        with pytest.raises(error):
            limiter.try_acquire(n)


@pytest.mark.parametrize("kind", [heatsink.Limiter, heatsink.RateLimiter])
def test_an_argument_of_another_type_is_told_by_its_name(kind):
    with pytest.raises(TypeError, match="^rate must be a str as in '5/s', not 5$"):
        kind(5)
    with pytest.raises(TypeError, match=r"^rate must be a str as in '100/s', not 2\.5$"):
        kind(2.5)
    with pytest.raises(TypeError, match="^patience must be a datetime.timedelta, not 5$"):
        kind("5/s", patience=5)
    with pytest.raises(TypeError, match="^algorithm must be a str as in 'token-bucket', not 7$"):
        kind("5/s", algorithm=7)
    with pytest.raises(TypeError, match="^burst must be a whole number, not '5'$"):
        kind("5/s", burst="5")
    with pytest.raises(ValueError, match="^rate must not have a null character"):
        kind("5/s\0")


def test_a_time_to_wait_is_no_number():
    limiter = heatsink.Limiter("5/s")
    with pytest.raises(TypeError, match="^timeout must be a datetime.timedelta, not 5$"):
        limiter.acquire(timeout=5)
    with pytest.raises(TypeError, match="^timeout must be "):
        run(limiter.aacquire(timeout=5))


# ---- of all processes


@pytest.fixture
def options(server):
    # Nobody is let through because the machine is slow.
    return {
        "server_url": f"redis://127.0.0.1:{server.port}",
        "server_response_timeout": "1m",
        "patience": PATIENCE,
        "on_failure": "refuse",
    }


class Held(Relay):
    """hold() is for everybody."""

    def filter(self):
        def told(piece):
            self.through.wait()
            return piece

        return told


@pytest.fixture
def relay(server):
    one = Held(server.port)
    yield one
    one.close()


@pytest.fixture
def relayed(options, relay):
    return options | {"server_url": f"redis://127.0.0.1:{relay.port}"}


def test_two_share_one_limit(options):
    with (
        heatsink.RateLimiter(HOURLY, name="two", burst=3, **options) as one,
        heatsink.RateLimiter(HOURLY, name="two", burst=3, **options) as other,
    ):
        verdict = one.try_acquire("k", 2)
        assert verdict and verdict.basis == "server" and verdict.remaining == 1
        assert other.try_acquire(b"k") and not other.try_acquire("k")
        refused = one.try_acquire("k")
        assert not refused and datetime.timedelta(0) < refused.retry_after <= HOUR
        assert one.try_acquire("k").basis == "denial"
        assert one.try_acquire("k", 4).retry_after is None
        assert other.try_acquire("another")
        assert one.problem() == "" and one.counts().asked == 2
        assert (one.counts().allowed, one.counts().refused, one.counts().by_denial) == (1, 1, 2)


ASKER = """
import datetime, sys, heatsink
with heatsink.RateLimiter("1/h", name="processes", burst=100, server_url=sys.argv[1],
                          on_failure="refuse", patience=datetime.timedelta(minutes=2),
                          server_response_timeout="1m") as limiter:
    print(sum(limiter.try_acquire("k").allowed for _ in range(60)))
"""


def test_processes_share_one_limit(options):
    askers = [
        subprocess.Popen(
            [sys.executable, "-c", ASKER, options["server_url"]], stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    assert sum(int(asker.communicate()[0]) for asker in askers) == 100


def test_leased_tokens_need_no_server(options):
    lasts = datetime.timedelta(minutes=1)
    with heatsink.RateLimiter(
        HOURLY, name="leased", burst=1000, lease_share=1, lease_lasts=lasts, **options
    ) as limiter:
        bases = [limiter.try_acquire("k").basis for _ in range(500)]
        assert "lease" in bases and limiter.counts().leased_tokens > 0


def test_a_turn_is_waited_for(options):
    with heatsink.RateLimiter("50/s", name="turns", burst=1, **options) as limiter:
        begun = time.monotonic()
        assert all(limiter.acquire("k", timeout=PATIENCE) for _ in range(6))
        assert time.monotonic() - begun >= 0.1 - 0.001
        assert not limiter.acquire("k", 2)
    with heatsink.RateLimiter(HOURLY, name="late", burst=1, **options) as limiter:
        assert limiter.acquire("k") and not limiter.acquire("k")


def test_an_event_loop_goes_on_while_the_server_is_asked(relay, relayed):

    async def play():
        async with heatsink.RateLimiter("50/s", name="loop", burst=1, **relayed) as limiter:
            asks = [limiter.aacquire("k", timeout=PATIENCE) for _ in range(6)]
            assert all(await asyncio.gather(*asks))
            assert (await limiter.aacquire("k", 2)).basis == "denial"
            relay.hold()  # the server's answers
            waiting = asyncio.create_task(limiter.atry_acquire("held"))
            for _ in range(100):
                await asyncio.sleep(0)  # the loop is free: it takes its turns
            assert not waiting.done()
            relay.go_on()
            assert await waiting
            relay.hold()
            given_up = asyncio.create_task(limiter.atry_acquire("held"))
            await asyncio.sleep(0)  # the task begins, and asks
            given_up.cancel()
            relay.go_on()
            assert (await limiter.atry_acquire("another")).basis == "server"
            assert given_up.cancelled()

    run(play())


def test_who_waits_when_it_is_closed_is_told(relay, relayed):

    async def play():
        limiter = heatsink.RateLimiter(HOURLY, name="closed", **relayed)
        assert await limiter.atry_acquire("k")
        relay.hold()
        waiting = [asyncio.create_task(limiter.atry_acquire("k")) for _ in range(3)]
        await asyncio.sleep(0)  # the tasks begin, and ask
        await limiter.aclose()
        assert [verdict.basis for verdict in await asyncio.gather(*waiting)] == ["failure"] * 3
        with pytest.raises(RuntimeError, match="closed"):
            await limiter.atry_acquire("k")

    run(play())


def test_calls_of_other_threads_outlive_its_end(relay, relayed):
    limiter = heatsink.RateLimiter(HOURLY, name="outlive", **relayed)
    relay.hold()
    told = []

    def play():
        try:
            told.append(limiter.try_acquire("k").basis)
        except RuntimeError:
            told.append("closed")

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: relay.pairs, what="the first of them asks")
    limiter.close()
    relay.go_on()
    for thread in threads:
        thread.join()
    assert "server" in told and set(told) <= {"server", "denial", "closed"}


def test_a_child_has_its_own_connection(options):
    with heatsink.RateLimiter(HOURLY, name="forked", burst=3, **options) as limiter:
        assert limiter.try_acquire("k")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if limiter.try_acquire("k").basis == "server" else 1
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert limiter.try_acquire("k") and not limiter.try_acquire("k")


def test_without_its_server_it_does_what_it_was_told():
    for on_failure, allowed in (("allow", True), ("refuse", False)):
        with heatsink.RateLimiter(
            "1/s", server_url="redis://127.0.0.1:1", on_failure=on_failure
        ) as limiter:
            verdict = limiter.acquire("k")
            assert (verdict.allowed, verdict.basis) == (allowed, "failure")
            assert run(limiter.aacquire("k")).allowed is allowed
            assert "cannot" in limiter.problem() and limiter.counts().failures == 2


def test_nobody_has_to_close_it(options):
    """The interpreter does, also while somebody waits: who is told then what a failure means."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        options = options | {"server_url": "redis://127.0.0.1:%d" % silent.getsockname()[1]}
        code = f"""
import atexit
atexit.register(print, "over")
import datetime, heatsink
limiter = heatsink.RateLimiter("1/s", **{options!r})
limiter._ask("k", 1, print)
print("waits")
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"waits\n\(False, .*\)\nover\n", done.stdout), done.stdout


def test_misuse_of_a_shared_one_is_told(options):
    with pytest.raises(ValueError, match=r"server\.url"):
        heatsink.RateLimiter("1/s")
    for how in (
        {"rate": "often"},
        {"algorithm": "leaky-bucket"},
        {"name": ""},
        {"lease_share": 2},
        {"lease_lasts": HOUR},
        {"on_failure": "panic"},
        {"patience": datetime.timedelta(-1)},
    ):
        with pytest.raises(ValueError):
            heatsink.RateLimiter(**{"rate": "1/s"} | options | how)
    for how in ({"name": 7}, {"lease_share": "half"}, {"lease_lasts": 1}, {"file": 7}, {"yaml": 7}):
        with pytest.raises(TypeError, match=f"^{next(iter(how))} must be "):
            heatsink.RateLimiter(**{"rate": "1/s"} | options | how)
    with pytest.raises(TypeError, match="serverurl"):
        heatsink.RateLimiter("1/s", serverurl="redis://127.0.0.1:1")
    with heatsink.RateLimiter("1/s", name="misuse", **options) as limiter:
        for key, n, error in ((1, 1, TypeError), ("k", -1, OverflowError), ("k", "1", TypeError)):
            with pytest.raises(error):
                limiter.try_acquire(key, n)
            with pytest.raises(error):
                run(limiter.atry_acquire(key, n))
    limiter.close()
    for call in (limiter.counts, limiter.problem, lambda: limiter.try_acquire("k")):
        with pytest.raises(RuntimeError, match="this object is closed"):
            call()
