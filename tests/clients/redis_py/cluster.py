# SPDX-License-Identifier: Apache-2.0
"""What a program does with redis-py's RedisCluster. Arguments: port, RESP version."""

import concurrent.futures
import sys
import time

import redis
from redis.cluster import LoadBalancingStrategy

PATIENCE_S = 60  # for what must happen, however slow the machine
PORT, RESP = int(sys.argv[1]), int(sys.argv[2])
KEYS = [f"key:{i}" for i in range(100)]


def connect(**more):
    return redis.RedisCluster(host="127.0.0.1", port=PORT, protocol=RESP, password="secret",
                              socket_timeout=PATIENCE_S, **more)


def ask(runner_does):
    print(runner_does, flush=True)
    return sys.stdin.readline()


def until(holds, what):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)  # a poll's pause: the servers get the core


def values(r):
    for key in KEYS:
        r.set(key, key)
    assert [r.get(key) for key in KEYS] == [key.encode() for key in KEYS]
    reader = connect(load_balancing_strategy=LoadBalancingStrategy.ROUND_ROBIN)  # READONLY
    assert reader.get(KEYS[0]) == KEYS[0].encode()
    reader.close()


def same_slot(r):
    r.mset({"{tag}a": 1, "{tag}b": 2})
    assert r.mget("{tag}a", "{tag}b", "{tag}c") == [b"1", b"2", None]
    try:
        r.mget("a", "b")
        raise AssertionError("the library lets keys of several slots pass")
    except redis.RedisClusterException:
        pass


def pipeline(r):
    pipe = r.pipeline()
    for key in KEYS:
        pipe.append(f"{key}:p", "x").get(f"{key}:p")
    assert pipe.execute() == [1, b"x"] * len(KEYS)


def transaction(r):
    with r.pipeline(transaction=True) as pipe:
        pipe.watch("{t}n")
        pipe.multi()
        pipe.set("{t}n", 1)
        pipe.incr("{t}n")
        assert pipe.execute()[-1] == 2
    assert r.get("{t}n") == b"2"


def publish_and_subscribe(r):
    pubsub = r.pubsub()
    pubsub.subscribe("news")
    assert pubsub.get_message(timeout=PATIENCE_S)["type"] == "subscribe"
    r.publish("news", "now")
    assert pubsub.get_message(timeout=PATIENCE_S)["data"] == b"now"
    pubsub.close()


def script(r):
    add = "return redis.call('incrby', KEYS[1], ARGV[1])"
    assert r.eval(add, 1, "scripted", 5) == 5
    sha = r.script_load(add)
    assert r.evalsha(sha, 1, "scripted", 5) == 10


def blocking(r):
    assert r.blpop(["queue"], timeout=0.1) is None
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        popped = pool.submit(r.blpop, ["queue"], PATIENCE_S // 2)
        other = connect()
        other.rpush("queue", "job")
        assert tuple(popped.result()) == (b"queue", b"job")
        other.close()


def scan(r):
    assert {key.decode() for key in r.scan_iter("key:*", count=50)} >= set(KEYS)


def hot_reads(r):
    r.set("hot", "shared")
    before = int(ask("HITS"))

    def served_locally():
        assert r.get("hot") == b"shared"
        return int(ask("HITS")) > before

    until(served_locally, "served locally")
    for i in range(200):
        r.set("hot", i)
        assert r.get("hot") == str(i).encode(), "an own write was not read"


def is_back(r):
    try:
        return all(r.set(f"{key}:after", "restart") for key in KEYS)
    except redis.RedisError:
        return False


def restart_proxy(r):
    ask("RESTART PROXY")
    until(lambda: is_back(r), "the proxy is back")


client = connect()
for step in (values, same_slot, pipeline, transaction, publish_and_subscribe, script, blocking,
             scan, hot_reads, restart_proxy):
    step(client)
    print("ok", step.__name__, flush=True)
