# SPDX-License-Identifier: Apache-2.0
"""redis-py with its own cache, at the server itself and through the proxy, as client.py is run."""

import concurrent.futures
import sys
import time

import redis
from redis.cache import CacheConfig
from redis.connection import CacheProxyConnection

PATIENCE_S = 60  # for what must happen, however slow the machine
STALE_MAX_S = 2  # cache.max-staleness, and what the machine adds
PORT, CA = int(sys.argv[1]), (sys.argv[3:] or [None])[0]
# It refuses servers whose name is not redis, or that are older than 7.4; 6.0 has all that it uses.
CacheProxyConnection.MIN_ALLOWED_VERSION = "6.0.0"


def connect(port, near=True):
    own = {"cache_config": CacheConfig()} if near else {}
    tls = {"ssl": True, "ssl_ca_certs": CA} if CA and port == PORT else {}
    return redis.Redis(port=port, protocol=3, password="secret", socket_timeout=PATIENCE_S,
                       **tls, **own)  # fmt: skip


def ask(runner_does):
    print(runner_does, flush=True)
    return sys.stdin.readline()


def until(holds, what, within_s=PATIENCE_S):
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.005)  # a poll's pause: the servers get the core


def keeps(r, key):
    """It is still there when all that was said of it has been read."""
    r.get(key)
    r.ping()
    return any(key in kept.redis_keys for kept in r.get_cache().collection)


def hits(port):
    """What is kept is not asked for: the server sees no read of it."""
    near, other = connect(port), connect(port, near=False)
    other.set("near", "kept")
    until(lambda: keeps(near, "near"), "it is kept")
    server = connect(int(ask("SERVER PORT")), near=False)
    before = server.info("commandstats").get("cmdstat_get", {}).get("calls", 0)
    hits_before = int(ask("HITS"))
    for _ in range(1000):
        assert near.get("near") == b"kept"
    calls = server.info("commandstats").get("cmdstat_get", {}).get("calls", 0) - before
    assert calls < 100, f"{calls} of 1000 reads went to the server"
    assert int(ask("HITS")) - hits_before < 100, "reads went to the proxy"


def changes(port):
    """Own writes at once, others' as soon as they are heard of."""
    near, other = connect(port), connect(port, near=False)
    for i in range(200):
        near.set("near", i)
        assert near.get("near") == str(i).encode(), "an own write was not read"
        if i % 4 == 0:
            until(lambda: keeps(near, "near"), "it is kept")
        value = f"other {i}".encode()
        other.set("near", value)
        until(lambda value=value: near.get("near") == value, "the change", STALE_MAX_S)
    other.flushall()
    until(lambda: near.get("near") is None, "the flush", STALE_MAX_S)


def pool(port):
    """Threads: no value is older than the bound.

    Each has a client of its own. If two share one and read the same key, redis-py waits for a reply
    to what it has not sent, without a proxy, too.
    """
    writes, ends = [(time.monotonic(), 0)], time.monotonic() + 3

    def write():
        with connect(port, near=False) as other:
            while time.monotonic() < ends:
                value = writes[-1][1] + 1
                other.set("counter", value)
                writes.append((time.monotonic(), value))
                time.sleep(0.01)  # the load: copies come back between the writes

    def read(_):
        near = connect(port)
        while time.monotonic() < ends:
            asked = time.monotonic()
            oldest = max(value for at, value in writes if at < asked - STALE_MAX_S or not value)
            assert int(near.get("counter") or 0) >= oldest

    with concurrent.futures.ThreadPoolExecutor(5) as users:
        done = [users.submit(write), *(users.submit(read, i) for i in range(4))]
        for each in done:
            each.result()


def at_server(_):
    port = int(ask("SERVER PORT"))
    for each in (hits, changes, pool):
        each(port)


def lost_server(port):
    """It comes back empty."""
    near = connect(port)
    near.set("near", "lost")
    until(lambda: keeps(near, "near"), "it is kept")
    ask("LOSE SERVER")
    until(lambda: is_gone(near), "the value is forgotten")
    assert near.set("near", "new")
    assert near.get("near") == b"new"


def is_gone(near):
    try:
        return near.get("near") is None
    except redis.RedisError:
        return False


def restart_proxy(port):
    near = connect(port)
    near.set("near", "before")
    until(lambda: keeps(near, "near"), "it is kept")
    ask("RESTART PROXY")
    with connect(int(ask("SERVER PORT")), near=False) as server:
        server.set("near", "after")
    until(lambda: is_after(near), "it is connected again")


def is_after(near):
    try:
        return near.get("near") == b"after"
    except redis.RedisError:
        return False


for step in (at_server, hits, changes, pool, lost_server, restart_proxy):
    step(PORT)
    print("ok", step.__name__, flush=True)
