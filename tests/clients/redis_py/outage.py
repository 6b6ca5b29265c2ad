# SPDX-License-Identifier: Apache-2.0
"""A server that restarts within a second, as programs with redis-py see it: direct and through the
proxy. Arguments: the proxy's port and the RESP version."""

import concurrent.futures
import sys

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PROXY, RESP = int(sys.argv[1]), int(sys.argv[2])
PATIENCE_S = 60
WAIT_S = 5  # longer than the server takes to be lost
ONCE = {"retry": Retry(NoBackoff(), 0)}  # and not the ten times of redis-py 8


def connect(port, **more):
    return redis.Redis(port=port, protocol=RESP, password="secret", socket_timeout=PATIENCE_S,
                       **more)  # fmt: skip


def ask(runner_does):
    print(runner_does, flush=True)
    return sys.stdin.readline().strip()


def listen(client, begun):
    with client.pubsub() as listener:
        listener.psubscribe("a*")
        listener.get_message(timeout=PATIENCE_S)
        begun()
        return listener.get_message(timeout=WAIT_S)


def begin_and(wait):
    """Waits on a connection that is there already."""

    def run(client, begun):
        client.ping()
        begun()
        return wait(client)

    return run


# What a client waits for while the server is lost.
WAITING = {
    "BLPOP": begin_and(lambda client: client.blpop("nothing", WAIT_S)),
    "XREAD": begin_and(lambda client: client.xread({"stream": "$"}, block=WAIT_S * 1000)),
    "BZPOPMIN": begin_and(lambda client: client.bzpopmin("nothing", WAIT_S)),
    "PSUBSCRIBE": listen,
}
# What it does next, on connections that were idle.
IDLE = {
    "SET": lambda client: client.set("k", 1),
    "GET": lambda client: client.get("k"),
    "INCR": lambda client: client.incr("n"),
    "RPUSH": lambda client: client.rpush("list", 1),
    "PIPELINE": lambda client: client.pipeline().set("a", 1).incr("a").execute(),
    "XADD": lambda client: client.xadd("stream", {"a": 1}),
    "BLPOP": lambda client: client.blpop("nothing", 0.05),
    "SCAN": lambda client: list(client.scan_iter()),
    "PUBLISH": lambda client: client.publish("a", 1),
    "INFO": lambda client: client.info("server"),
    "SELECT": lambda client: client.execute_command("SELECT", 1),
}


def outcome(call, *args):
    """None, or the error that the program gets."""
    try:
        call(*args)
    except redis.RedisError as error:
        return error
    return None


def lose(port, more):
    """A restart. Each operation's outcome."""
    with concurrent.futures.ThreadPoolExecutor(len(WAITING) + len(IDLE)) as pool:
        waits, begun = {}, []
        for name, wait in WAITING.items():
            has_begun = concurrent.futures.Future()
            begun.append(has_begun)
            waits[f"waiting {name}"] = pool.submit(
                outcome, wait, connect(port, **more), lambda f=has_begun: f.set_result(True)
            )
        for each in begun:
            each.result(PATIENCE_S)
        idle = {name: connect(port, **more) for name in IDLE}
        for client in idle.values():
            client.ping()
        ask("LOSE SERVER")
        calls = {name: pool.submit(outcome, call, idle[name]) for name, call in IDLE.items()}
        return {name: each.result(2 * PATIENCE_S) for name, each in (waits | calls).items()}


def without_errors():
    """Idle clients that never try again see nothing of it; those that waited lose a connection."""
    found = lose(PROXY, ONCE)
    for name in IDLE:
        assert found[name] is None, f"{name}: {found[name]!r}"
    for name in WAITING:
        error = found[f"waiting {name}"]
        assert isinstance(error, redis.ConnectionError), f"{name}: {error!r}"
        assert "heatsink" not in str(error), error


def as_direct():
    """With redis-py's own retries."""
    direct = lose(int(ask("SERVER PORT")), {})
    through = lose(PROXY, {})
    for name, error in through.items():
        print(f"{name}: direct {direct[name]!r}, through the proxy {error!r}", flush=True)
        assert error is None or type(error) is type(direct[name]), name


for step in (without_errors, as_direct):
    step()
    print("ok", step.__name__, flush=True)
