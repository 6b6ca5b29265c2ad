# SPDX-License-Identifier: Apache-2.0
"""What a program does with redis-py. Arguments: port, RESP version, and with TLS the authority."""

import base64
import concurrent.futures
import json
import sys
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_S = 60  # for what must happen, however slow the machine
PORT, RESP, CA = int(sys.argv[1]), int(sys.argv[2]), (sys.argv[3:] or [None])[0]
BINARY = bytes(range(256)) * 4


def connect(**more):
    return redis.Redis(**{"port": PORT, "protocol": RESP, "password": "secret", "ssl": bool(CA),
                          "ssl_ca_certs": CA, "socket_timeout": PATIENCE_S, **more})


def ask(runner_does):
    print(runner_does, flush=True)
    return sys.stdin.readline()


def until(holds, what):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)  # a poll's pause: the servers get the core


def startup(r):
    named = connect(client_name="redis-py")
    assert named.client_getname() in (b"redis-py", "redis-py")
    assert named.info("server")["redis_version"]
    assert named.command_count() > 200
    assert named.echo("hello") == b"hello"
    named.close()


def password(r):
    try:
        connect(password="wrong").ping()
        raise AssertionError("a wrong password was taken")
    except redis.AuthenticationError:
        pass


def acl_user(r):
    app = connect(username="app", password="app-secret")
    assert app.acl_whoami() in (b"app", "app")
    app.set("app's", "1")
    assert (app.get("app's"), r.get("app's")) == (b"1", b"1")
    app.close()


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
        message = pubsub.get_message(timeout=PATIENCE_S)
        assert message is not None, "no message came"
        if message["type"] in ("message", "pmessage"):
            return message


def publish_and_subscribe(r):
    with r.pubsub() as pubsub:
        pubsub.subscribe("news")
        pubsub.psubscribe("ne*")
        while pubsub.get_message(timeout=PATIENCE_S)["type"] != "psubscribe":
            pass
        assert r.publish("news", BINARY) == 2
        got = {next_message(pubsub)["type"], next_message(pubsub)["type"]}
        assert got == {"message", "pmessage"}, got
        pubsub.unsubscribe("news")
        assert pubsub.get_message(timeout=PATIENCE_S)["type"] == "unsubscribe"
        assert r.publish("news", "again") == 1
        assert next_message(pubsub)["data"] == b"again"
        pubsub.punsubscribe("ne*")
        assert pubsub.get_message(timeout=PATIENCE_S)["type"] == "punsubscribe"
        assert r.publish("news", "to nobody") == 0


def script(r):
    r.script_flush()
    add = r.register_script("return redis.call('incrby', KEYS[1], ARGV[1])")
    assert add(keys=["scripted"], args=[5]) == 5  # EVALSHA, NOSCRIPT, SCRIPT LOAD, EVALSHA
    assert add(keys=["scripted"], args=[5]) == 10
    assert r.get("scripted") == b"10"


def function(r):
    r.function_load(
        """#!lua name=numbers
        redis.register_function('add', function(keys, arguments)
          return redis.call('incrby', keys[1], arguments[1])
        end)""", replace=True)
    assert r.fcall("add", 1, "function's", 5) == 5
    assert r.get("function's") == b"5"


def blocking(r):
    assert r.blpop("queue", timeout=0.1) is None
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        popped = pool.submit(r.blpop, "queue", PATIENCE_S // 2)
        until(lambda: r.info("clients")["blocked_clients"] == 1, "BLPOP waits")
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
    other = connect(db=3)
    assert other.get("here") is None
    other.set("here", "three")
    assert (r.get("here"), other.get("here")) == (b"zero", b"three")
    other.select(0)
    other.close()


def use(r, name):
    for i in range(300):
        r.set(f"hot:{name}", i)
        r.get("hot")
        assert r.get(f"hot:{name}") == str(i).encode(), "an own write was not read"


def pool(r):
    r.set("hot", "shared")
    with concurrent.futures.ThreadPoolExecutor(8) as users:
        list(users.map(lambda name: use(r, name), range(8)))


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


def big_value(r):
    for megabytes in (1, 5):
        big = BINARY * 1024 * megabytes
        r.set("big", big)
        assert r.get("big") == big


def is_back(r):
    try:
        return r.set("after", "restart")
    except redis.RedisError:
        return False


def restart_server(r):
    ask("RESTART SERVER")
    until(lambda: is_back(r), "the server is back")
    assert r.get("after") == b"restart"


def outage(r):
    """Neither an idle client nor one that connects sees it, even if it does not try again."""
    once = {"retry": Retry(NoBackoff(), 0)}
    idle = connect(**once)
    assert idle.ping()
    ask("LOSE SERVER")
    assert idle.set("outage", "idle")
    ask("LOSE SERVER")
    fresh = connect(**once)
    assert fresh.set("outage", "fresh")
    idle.close()
    fresh.close()


def restart_proxy(r):
    ask("RESTART PROXY")
    until(lambda: is_back(r), "the proxy is back")
    assert r.get("after") == b"restart"


def take_news(message, hot):
    """As docs/guides/verdicts.md has it."""
    news = json.loads(message["data"])
    if news["type"] == "list":
        hot.clear()
    for key in news.get("keys", [news]):
        name = key["key"] or base64.b64decode(key["key_base64"])
        (hot.add if key["state"] in ("hot", "write-hot") else hot.discard)(name)


def verdicts(r):
    """Keeps the values of hot keys in this process, and of no others."""
    hot, near = set(), {}
    r.mset({"verdict": "kept", b"\xff": "kept"})
    with connect().pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe("__heatsink__:hot")

        def all_are_hot():
            for _ in range(20):
                for name in ("verdict", b"\xff"):
                    value = near[name] if name in near else r.get(name)
                    assert value == b"kept"
                    if name in hot:
                        near[name] = value
            while message := channel.get_message():
                take_news(message, hot)
            return len(near) == 2

        until(all_are_hot, "both are kept here")
        channel.subscribe("__heatsink__:hot", "news")  # once more, beside one of the server
        until(lambda: r.publish("news", "x") == 1, "the server knows the other channel")

        def heard():
            message = channel.get_message(timeout=1)
            return message and message["channel"] == b"news"

        until(heard, "a message of the other channel")


client = connect()
for step in (startup, password, acl_user, values, pipeline, transaction, publish_and_subscribe,
             script, function, blocking, scan, streams, databases, pool, hot_reads, big_value,
             restart_server, outage, restart_proxy, verdicts):
    step(client)
    print("ok", step.__name__, flush=True)
