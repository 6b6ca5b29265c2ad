# SPDX-License-Identifier: Apache-2.0
"""What a program does with redis-py, against the port and the RESP version it is given."""

import concurrent.futures
import sys
import time

import redis

PORT, RESP = int(sys.argv[1]), int(sys.argv[2])
BINARY = bytes(range(256)) * 4


def values(r):
    r.set("value", BINARY)
    assert r.get("value") == BINARY
    assert r.get("nothing") is None
    assert r.set("value", b"other", nx=True) is None
    assert r.delete("value") == 1


def pipeline(r):
    pipe = r.pipeline(transaction=False)
    for i in range(1000):
        pipe.incr("pipelined")
    assert pipe.execute() == list(range(1, 1001))


def transaction(r):
    with r.pipeline() as pipe:
        pipe.watch("watched")
        pipe.multi()
        pipe.set("watched", "mine").get("watched")
        assert pipe.execute() == [True, b"mine"]
        pipe.watch("watched")
        r.set("watched", "theirs")
        pipe.multi()
        pipe.set("watched", "mine")
        try:
            pipe.execute()
            raise AssertionError("the conflict was not seen")
        except redis.WatchError:
            pass
    assert r.get("watched") == b"theirs"


def next_message(pubsub):
    while True:
        message = pubsub.get_message(timeout=5)
        assert message is not None, "no message came"
        if message["type"] in ("message", "pmessage"):
            return message


def publish_and_subscribe(r):
    with r.pubsub() as pubsub:
        pubsub.subscribe("news")
        pubsub.psubscribe("ne*")
        while pubsub.get_message(timeout=5)["type"] != "psubscribe":
            pass
        assert r.publish("news", BINARY) == 2
        got = {next_message(pubsub)["type"], next_message(pubsub)["type"]}
        assert got == {"message", "pmessage"}, got
        pubsub.unsubscribe("news")
        assert pubsub.get_message(timeout=5)["type"] == "unsubscribe"
        assert r.publish("news", "again") == 1
        assert next_message(pubsub)["data"] == b"again"


def script(r):
    r.script_flush()
    add = r.register_script("return redis.call('incrby', KEYS[1], ARGV[1])")
    assert add(keys=["scripted"], args=[5]) == 5  # EVALSHA, NOSCRIPT, SCRIPT LOAD, EVALSHA
    assert add(keys=["scripted"], args=[5]) == 10
    assert r.get("scripted") == b"10"


def blocking(r):
    assert r.blpop("queue", timeout=0.1) is None
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        popped = pool.submit(r.blpop, "queue", 5)
        r.rpush("queue", "job")
        assert tuple(popped.result()) == (b"queue", b"job")


def scan(r):
    r.mset({f"scan:{i}": i for i in range(500)})
    assert len(set(r.scan_iter("scan:*", count=50))) == 500


def streams(r):
    first = r.xadd("stream", {"n": 1})
    r.xgroup_create("stream", "group", id="0")
    ((_, entries),) = as_pairs(r.xreadgroup("group", "one", {"stream": ">"}, block=1000))
    entry = entries[0] if isinstance(entries[0], tuple) else entries[0][0]  # RESP3: one list deeper
    assert entry == (first, {b"n": b"1"})
    assert r.xack("stream", "group", first) == 1
    assert not r.xread({"stream": "$"}, block=50)


def as_pairs(reply):
    return list(reply.items()) if isinstance(reply, dict) else [tuple(pair) for pair in reply]


def databases(r):
    r.set("here", "zero")
    other = redis.Redis(port=PORT, protocol=RESP, db=3)
    assert other.get("here") is None
    other.set("here", "three")
    assert (r.get("here"), other.get("here")) == (b"zero", b"three")
    other.select(0)
    other.close()


def reader_and_writer(r, name):
    for i in range(400):
        r.set(f"hot:{name}", i)
        r.get("hot")
        assert r.get(f"hot:{name}") == str(i).encode(), "an own write was not read"


def hot_key_pool(r):
    r.set("hot", "shared")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: reader_and_writer(r, name), range(8)))
    for i in range(200):
        r.set("hot", i)
        assert r.get("hot") == str(i).encode(), "an own write was not read"


def big_value(r):
    big = BINARY * 5120
    r.set("big", big)
    assert r.get("big") == big


def restart(r):
    print("RESTART", flush=True)
    sys.stdin.readline()
    for _ in range(100):
        try:
            r.set("after", "restart")
            break
        except redis.RedisError:
            time.sleep(0.05)
    assert r.get("after") == b"restart"


STEPS = (values, pipeline, transaction, publish_and_subscribe, script, blocking, scan, streams,
         databases, hot_key_pool, big_value, restart)

client = redis.Redis(port=PORT, protocol=RESP, client_name="redis-py", socket_timeout=20)
assert client.client_getname() in (b"redis-py", "redis-py")
for step in STEPS:
    step(client)
    print("ok", step.__name__, flush=True)
