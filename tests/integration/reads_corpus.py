# SPDX-License-Identifier: Apache-2.0
"""Values of every type, the reads that are served locally with arguments for them, and writes."""

import random
import string

# Scores whose digits a careless conversion would change.
SCORES = ["0", "-0", "1", "-1.5", "0.1", "3.0000000000000004", "1e300", "5e-324", "inf", "-inf"]
PLACES = [("13.361389", "38.115556", "Palermo"), ("15.087269", "37.502669", "Catania")]


def word(rng, longest=12):
    kind = rng.randrange(6)
    if kind == 0:
        return str(rng.randrange(-1000, 10**12))
    if kind == 1:
        return ""
    if kind == 2:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, longest)))
    if kind == 3:
        return "$-1\r\n_\r\n,1.5\r\n"
    return "".join(rng.choices(string.ascii_letters, k=rng.randrange(1, longest)))


class Data:
    """Keys by name with their types, and the commands that make them."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.keys = {}
        self.commands = []
        self.members = {}
        self._add("string", "string", ("SET", "string", word(rng) or "x"))
        self._add("number", "string", ("SET", "number", rng.randrange(10**9)))
        self._add("empty", "string", ("SET", "empty", ""))
        self._add("bits", "string", ("SET", "bits", bytes(rng.randrange(256) for _ in range(64))))
        self._collections(rng, "", 6)
        self._collections(rng, "large-", 400)  # in the server's other encodings
        numbers = [rng.randrange(10**9) for _ in range(9)]
        self._add("integers", "set", ("SADD", "integers", *numbers))
        geo = [part for place in PLACES for part in place]
        self._add("geo", "geo", ("GEOADD", "geo", *geo))
        for i in range(5):
            self._add("stream", "stream", ("XADD", "stream", f"{i + 1}-1", "f", word(rng)))
        self._add("lex", "lex", ("ZADD", "lex", *(part for m in "abcdef" for part in ("0", m))))
        self._add("timed", "string", ("SET", "timed", "v", "PXAT", "33177117420000"))
        self.keys["none"] = "none"

    def _add(self, key, kind, command):
        self.keys[key] = kind
        self.commands.append(command)

    def _collections(self, rng, prefix, size):
        words = list(dict.fromkeys([f"m{i}" for i in range(size)] + [word(rng) for _ in range(4)]))
        self.members[prefix] = words
        pairs = [part for w in words for part in (w, word(rng))]
        self._add(prefix + "hash", "hash", ("HSET", prefix + "hash", *pairs))
        self._add(prefix + "list", "list", ("RPUSH", prefix + "list", *words, *words[:2]))
        self._add(prefix + "set", "set", ("SADD", prefix + "set", *words))
        scored = [part for w in words for part in (rng.choice(SCORES), w)]
        self._add(prefix + "zset", "zset", ("ZADD", prefix + "zset", *scored))


def calls(data, seed):
    """A list of requests; at least one for each command that is served locally."""
    rng = random.Random(seed)
    out = []
    for key, kind in data.keys.items():
        out += [("EXISTS", key), ("TYPE", key), ("EXPIRETIME", key), ("PEXPIRETIME", key)]
        if kind in MAKERS:
            out += MAKERS[kind](key, data, rng)
    out += [("HGETALL", "none"), ("SMEMBERS", "none"), ("ZRANGE", "none", 0, -1), ("GET", "none")]
    out += [("ZSCORE", "none", "m"), ("LRANGE", "none", 0, -1), ("ZRANK", "none", "m")]
    out += [("GEOPOS", "none", "m"), ("HMGET", "none", "f", "g"), ("GETRANGE", "none", 0, 5)]
    return out


def member(key, data, rng):
    words = data.members.get("large-" if key.startswith("large-") else "", ["m"])
    return rng.choice([*words[-6:], "absent"])


def strings(key, data, rng):
    start, end = sorted(rng.randrange(-9, 9) for _ in range(2))
    return [
        ("GET", key),
        ("MGET", key),
        ("STRLEN", key),
        ("GETRANGE", key, start, end),
        ("SUBSTR", key, 0, -1),
        ("GETBIT", key, rng.randrange(64)),
        ("BITCOUNT", key),
        ("BITCOUNT", key, start, end, rng.choice(["BYTE", "BIT"])),
        ("BITPOS", key, rng.randrange(2)),
        ("BITFIELD_RO", key, "GET", "u8", 0, "GET", "i16", 8),
    ]


def hashes(key, data, rng):
    return [
        ("HGETALL", key),
        ("HKEYS", key),
        ("HVALS", key),
        ("HLEN", key),
        ("HGET", key, member(key, data, rng)),
        ("HGET", key, "absent"),
        ("HMGET", key, member(key, data, rng), "absent", member(key, data, rng)),
        ("HEXISTS", key, member(key, data, rng)),
        ("HSTRLEN", key, member(key, data, rng)),
    ]


def lists(key, data, rng):
    start, end = sorted(rng.randrange(-9, 9) for _ in range(2))
    return [
        ("LLEN", key),
        ("LRANGE", key, 0, -1),
        ("LRANGE", key, start, end),
        ("LINDEX", key, rng.randrange(-3, 12)),
        ("LINDEX", key, 100_000),
        ("LPOS", key, member(key, data, rng)),
        ("LPOS", key, "absent"),
        ("LPOS", key, "m0", "COUNT", 0),
    ]


def sets(key, data, rng):
    return [
        ("SMEMBERS", key),
        ("SCARD", key),
        ("SISMEMBER", key, member(key, data, rng)),
        ("SMISMEMBER", key, member(key, data, rng), "absent"),
    ]


def zsets(key, data, rng):
    return [
        ("ZCARD", key),
        ("ZCOUNT", key, "-inf", "+inf"),
        ("ZCOUNT", key, "(0", "1"),
        ("ZSCORE", key, member(key, data, rng)),
        ("ZSCORE", key, "absent"),
        ("ZMSCORE", key, member(key, data, rng), "absent"),
        ("ZRANK", key, member(key, data, rng)),
        ("ZRANK", key, "absent"),
        ("ZREVRANK", key, member(key, data, rng)),
        ("ZRANGE", key, 0, -1),
        ("ZRANGE", key, 0, 3, "WITHSCORES"),
        ("ZRANGE", key, 5, 2, "WITHSCORES"),
        ("ZRANGE", key, 0, 3, "REV", "WITHSCORES"),
        ("ZRANGE", key, "-inf", "(1e300", "BYSCORE", "LIMIT", 1, 4, "WITHSCORES"),
        ("ZREVRANGE", key, 0, 4, "withscores"),
        ("ZRANGEBYSCORE", key, "-inf", "+inf", "WITHSCORES"),
        ("ZRANGEBYSCORE", key, "(0", "+inf", "LIMIT", 0, 2),
        ("ZREVRANGEBYSCORE", key, "+inf", "-inf", "WITHSCORES"),
    ]


def lexicals(key, data, rng):
    return [
        ("ZLEXCOUNT", key, "-", "+"),
        ("ZRANGEBYLEX", key, "[b", "(e"),
        ("ZREVRANGEBYLEX", key, "+", "(b"),
        ("ZRANGE", key, "[a", "+", "BYLEX"),
    ]


def places(key, data, rng):
    circle = ("FROMLONLAT", "15", "37", "BYRADIUS", "200", "km", "ASC")
    return [
        ("GEOPOS", key, "Palermo", "absent", "Catania"),
        ("GEODIST", key, "Palermo", "Catania", rng.choice(["m", "km", "mi"])),
        ("GEODIST", key, "Palermo", "absent"),
        ("GEOHASH", key, "Palermo", "absent"),
        ("GEOSEARCH", key, *circle),
        ("GEOSEARCH", key, *circle, "WITHCOORD", "WITHDIST", "WITHHASH"),
        ("GEORADIUS_RO", key, "15", "37", "200", "km", "WITHCOORD"),
        ("GEORADIUSBYMEMBER_RO", key, "Palermo", "200", "km", "WITHDIST"),
    ]


def streams(key, data, rng):
    return [
        ("XLEN", key),
        ("XRANGE", key, "-", "+"),
        ("XRANGE", key, "2", "+", "COUNT", 2),
        ("XRANGE", key, "-", "+", "COUNT", 0),
        ("XREVRANGE", key, "+", "-", "COUNT", 0),
        ("XREVRANGE", key, "+", "-"),
    ]


MAKERS = {
    "string": strings,
    "hash": hashes,
    "list": lists,
    "set": sets,
    "zset": zsets,
    "lex": lexicals,
    "geo": places,
    "stream": streams,
}


def write(key, kind, number):
    """A command that changes the key; the number makes it another one each time."""
    return {
        "string": ("APPEND", key, number),
        "none": ("SETBIT", key, 7, number % 2),
        "hash": ("HSET", key, "m0", f"written {number}", f"new {number}", "1"),
        "list": ("LPUSH", key, f"new {number}"),
        "set": ("SADD", key, 10**6 + number),
        "zset": ("ZADD", key, number + 0.5, "m0", -number, f"new {number}"),
        "lex": ("ZADD", key, 0, f"b{number}"),
        "geo": ("GEOADD", key, 13 + number % 9, 38, f"new {number}"),
        "stream": ("XADD", key, f"{10 + number}-1", "f", number),
    }[kind]
