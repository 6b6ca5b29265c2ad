# SPDX-License-Identifier: Apache-2.0
"""What the words of the templates stand for: keys by type, values, numbers, patterns, scripts.

Few keys and few members, so that commands meet each other's work, and wrong types too. TTLs are so
long or so short that no key ends between the server's turn and the proxy's.
"""

BINARY = b"\x00\r\n\xff$-1\r\n"

# Keys by what is put into them; a key of another kind is drawn now and then.
KINDS = (
    "string", "number", "bits", "hll", "list", "hash", "set", "intset", "zset", "geo", "stream",
)  # fmt: skip
KEYS = {kind: [b"%s:%d" % (kind.encode(), i) for i in (1, 2)] for kind in KINDS}
KEYS["string"] += [b"", BINARY]
KEYS["absent"] = [b"absent:1", b"absent:2"]
EVERY_KEY = [key for keys in KEYS.values() for key in keys]
# Sorted sets of one score: of others, what lies between two names is up to the skip list.
KEYS["even"] = [b"even:1", b"even:2"]

MEMBERS = [b"a", b"b", b"c", b"m1", b"m2", b"7", b"", BINARY, b"Palermo", b"Catania"]
VALUES = [
    b"", b"v", b"777777", b"-1", b"3.5", b"0", b"x" * 100, b"y" * 1500, BINARY, b"+inf", b"OK",
    b"9223372036854775807", b"a b", b"'quoted\"", b"*3\r\n", b"\xc3\xa9",
]  # fmt: skip
ODD = [  # in the place of any argument
    b"", b" ", b"0", b"-1", b"-0", b"+1", b"01", b" 1", b"1 ", b"1.0", b"nan", b"inf", b"-inf",
    b"1e400", b"0x10", b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808",
    b"18446744073709551616", b"notanumber", b"NX", b"COUNT", b"LIMIT", b"$", b"-", b"+", b">",
    b"(1", b"[a", b"\x00", BINARY, b"z" * 300,
]  # fmt: skip
SCORES = [b"0", b"1", b"-1", b"1.5", b"3.0000000000000004", b"1e300", b"inf", b"-inf", b"5e-324"]
SCORE_ENDS = [b"-inf", b"+inf", b"(1", b"0", b"1.5", b"(inf", b"1e300"]
LEX_ENDS = [b"-", b"+", b"[a", b"(b", b"[m2", b"(", b"["]
IDS = [b"1-1", b"1-2", b"2-1", b"5-*", b"0-1", b"7-0", b"0", b"3", b"9-9"]
SCRIPTS = [
    b"return 1",
    b"return {KEYS[1], ARGV[1], #KEYS, #ARGV}",
    b"return redis.call('get', KEYS[1])",
    b"return redis.call('set', KEYS[1], 'from a script')",
    b"return redis.pcall('incr', KEYS[1])",
    b"return redis.call('lrange', KEYS[1], 0, -1)",
    b"redis.call('rpush', KEYS[1], 1) return redis.call('llen', KEYS[1])",
    b"return redis.error_reply('MINE no')",
    b"return redis.status_reply('FINE')",
    b"redis.setresp(3) return {redis.call('hget', KEYS[1], 'a'), true, false}",
    b"return {map = {a = 1}}",
    b"return {double = 1.5}",
    b"return cjson.encode({1, 2, ARGV[1] == nil})",
    b"return redis.sha1hex('x')",
    b"return redis.call('nosuch')",
    b"this is no lua",
    b"return redis.call('append', 'string:1', 'undeclared')",
    b"#!lua flags=no-writes\nreturn redis.call('incr', KEYS[1])",
    b"#!lua\nreturn redis.call('exists', KEYS[1])",
]
LIBRARY = (
    b"#!lua name=%s\n"
    b"redis.register_function('put_%s', function(k, a) return redis.call('set', k[1], a[1]) end)\n"
    b"redis.register_function{function_name='see_%s', flags={'no-writes'},\n"
    b"callback=function(k) return redis.call('get', k[1]) end}"
)


def _pick(values):
    return lambda rng: rng.choice(values)


def _whole(low, high):
    return lambda rng: b"%d" % rng.randint(low, high)


def _key_of(kind):
    def draw(rng):
        return rng.choice(KEYS[kind] if rng.random() < 0.8 else EVERY_KEY)

    return draw


def _even(rng):
    return rng.choice(KEYS["even"] if rng.random() < 0.8 else KEYS["hash"] + KEYS["absent"])


def _library(rng):
    name = rng.choice((b"one", b"two"))
    return LIBRARY % (name, name, name) if rng.random() < 0.8 else b"#!lua name=bad\nreturn 1"


MAKERS = {
    **{kind: _key_of(kind) for kind in (*KINDS, "absent")},
    "even": _even,
    "key": _pick(EVERY_KEY),
    "value": _pick(VALUES),
    "field": _pick(MEMBERS),
    "member": _pick(MEMBERS),
    "pivot": _pick(MEMBERS),
    "score": _pick(SCORES),
    "weight": _pick([b"1", b"2", b"0.5", b"-1", b"0"]),
    "index": _whole(-4, 8),
    "count": _whole(0, 5),
    "some": _whole(1, 4),
    "signed": _whole(-5, 5),
    "offset": _whole(0, 90),
    "bit": _pick([b"0", b"1", b"2"]),
    "by": _pick([b"1", b"-3", b"0", b"100", b"9223372036854775807", b"0.5"]),
    "decimal": _pick([b"0.1", b"-2.5", b"3", b"1e5", b"inf", b"1.1e-7"]),
    "seconds": _pick([b"1000", b"5000", b"100000", b"0", b"-1"]),
    "milliseconds": _pick([b"1000000", b"9999999", b"0", b"-5"]),
    "at": _pick([b"33177117420", b"33177117421", b"1", b"0"]),
    "at_ms": _pick([b"33177117420000", b"33177117420001", b"1"]),
    "db": _pick([b"0", b"1", b"2", b"2", b"16", b"-1"]),
    "low": _pick(SCORE_ENDS),
    "high": _pick(SCORE_ENDS[::-1]),
    "lex": _pick(LEX_ENDS),
    "id": _pick(IDS),
    "group": _pick([b"g", b"g", b"h"]),
    "consumer": _pick([b"alice", b"bob"]),
    "unit": _pick([b"m", b"km", b"ft", b"mi"]),
    "longitude": _pick([b"13.361389", b"15.087269", b"0", b"-179.5", b"200"]),
    "latitude": _pick([b"38.115556", b"37.502669", b"0", b"85", b"-86"]),
    "distance": _pick([b"100", b"200.5", b"1", b"0", b"10000", b"-1"]),
    "bitfield": _pick([b"u8", b"i16", b"u1", b"i64", b"u63", b"u64"]),
    "bit_offset": _pick([b"0", b"7", b"#1", b"#3", b"-1", b"100"]),
    "pattern": _pick([b"*", b"s*", b"*:1", b"[hz]*", b"nothing*", b"h?sh:1", b"\\*"]),
    "channel": _pick([b"news", b"weather", b"\x00"]),
    "shard_channel": _pick([b"orders", b"bills"]),
    "channels": _pick([b"n*", b"w?ather", b"*"]),
    "script": _pick(SCRIPTS),
    "sha": _pick([b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db", b"f" * 40, b"abc"]),
    "library": _library,
    "library_name": _pick([b"one", b"two", b"three"]),
    "function": _pick([b"put_one", b"see_one", b"put_two", b"see_two", b"nosuch"]),
    "user": _pick([b"ann", b"ben"]),
    "rights": _pick([b"+@all", b"-@write", b"on", b"nopass", b"~*", b"&*", b"resetkeys", b"+x"]),
    "command": _pick([b"get", b"SET", b"xadd", b"nosuch", b"config|get", b"eval"]),
    "setting": _pick([b"maxmemory-samples", b"list-max-listpack-size", b"slowlog-max-len", b"no"]),
    "any": _pick(VALUES + ODD),
}


def draw(name, rng):
    return MAKERS[name](rng)


def spoil(args, rng):
    """The request with a fault that a client could make: wrong number, order, kind of arguments."""
    args, at = list(args), rng.randrange(1, len(args) + 1)
    how = rng.randrange(4)
    if how == 0 and at < len(args):
        del args[at]
    elif how == 1:
        args.insert(at, rng.choice(ODD))
    elif how == 2 and len(args) > 2:
        i = rng.randrange(1, len(args) - 1)
        args[i], args[i + 1] = args[i + 1], args[i]
    elif at < len(args):
        args[at] = rng.choice(ODD)
    return tuple(args)


def refreshed(rng):
    """Requests that put back what the keys of one kind are for."""
    kind = rng.choice(KINDS)
    key = rng.choice(KEYS[kind])
    size = rng.choice((3, 3, 3, 200))  # 200: the other encoding
    words = [b"%d" % i if kind == "intset" else b"m%d" % i for i in range(size)]
    fill = {
        "string": (b"SET", key, rng.choice(VALUES)),
        "number": (b"SET", key, b"%d" % rng.randrange(1000)),
        "bits": (b"SETRANGE", key, b"0", b"\x0f\xf0\x55" * 5),
        "hll": (b"PFADD", key, *words),
        "list": (b"RPUSH", key, *words),
        "hash": (b"HSET", key, *(part for w in words + MEMBERS[:3] for part in (w, w))),
        "set": (b"SADD", key, *words, b"a"),
        "intset": (b"SADD", key, *words),
        "zset": (b"ZADD", key, *(p for i, w in enumerate(words) for p in (b"%d" % (i % 7), w))),
        "geo": (b"GEOADD", key, b"13.361389", b"38.115556", b"Palermo", b"15.087269", b"37.502669",
                b"Catania"),
        "stream": (b"XADD", key, b"1-1", b"f", b"v"),
    }  # fmt: skip
    requests = [(b"DEL", key), fill[kind]]
    if kind == "stream":
        requests.append((b"XADD", key, b"1-2", b"f", b"w", b"g", b""))
        requests.append((b"XGROUP", b"CREATE", key, b"g", b"0"))
    return requests
