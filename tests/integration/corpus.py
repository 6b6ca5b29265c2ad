# SPDX-License-Identifier: Apache-2.0
"""What is played to the server and through the proxy: one conversation per file
of corpus/, each on a connection of its own.

A line is a command as redis-cli would take it (quotes, \\x escapes). A leading `~` means that only
the shape of the reply is compared (its digits are masked), because it tells the time or an id. A
leading `%` means that the lines of the reply may come in any order.
"""

import os
import random
import shlex

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
NAMES = sorted(name.removesuffix(".txt") for name in os.listdir(FOLDER))


def parse(line):
    """(arguments as bytes, how the reply is compared: "", "~" or "%")"""
    how = line[0] if line[0] in "~%" else ""
    words = split_escaped(line[len(how) :]) if "\\" in line else shlex.split(line[len(how) :])
    return [w if isinstance(w, bytes) else w.encode() for w in words], how


def split_escaped(line):
    """Double-quoted words with escapes, as inline commands have them."""
    words, word, quoted, at, begun = [], "", False, 0, False
    while at < len(line):
        char = line[at]
        if char == "\\" and quoted:
            size = 4 if line[at + 1] == "x" else 2
            word += line[at : at + size].encode("latin1").decode("unicode_escape")
            at += size
            continue
        if char == '"':
            quoted, begun = not quoted, True
        elif char == " " and not quoted:
            if begun:
                words.append(word.encode("latin1"))
            word, begun = "", False
        else:
            word, begun = word + char, True
        at += 1
    return words + ([word.encode("latin1")] if begun else [])


def conversation(name):
    with open(os.path.join(FOLDER, name + ".txt"), encoding="ascii") as lines:
        return [parse(line.strip()) for line in lines if line.strip() and line[0] != "#"]


KEYS = ["s1", "s2", "l1", "l2", "h1", "z1", "set1", "x1", "num", "", "\x00bin\r\n"]
VALUES = ["", "v", "7", "-1", "3.5", "\xff\x00\r\n", "x" * 100, "y" * 5000]
TEMPLATES = [
    "GET k", "GET k", "GET k", "SET k v", "SET k v", "DEL k", "INCR k", "APPEND k v", "STRLEN k",
    "GETRANGE k n n", "SETRANGE k p v", "MGET k k k", "MSET k v k v", "EXISTS k k", "TYPE k",
    "RPUSH k v v", "LPUSH k v", "LRANGE k n n", "LPOP k", "LLEN k", "LINDEX k n", "LTRIM k n n",
    "HSET k v v", "HGET k v", "HGETALL k", "HDEL k v", "HLEN k", "SADD k n n", "SCARD k",
    "SISMEMBER k n", "ZADD k n v", "ZRANGE k n n WITHSCORES", "ZSCORE k v", "ZCARD k",
    "XADD k 5-n f v", "XLEN k", "XRANGE k - +", "SETBIT k p 1", "BITCOUNT k", "PFADD k v",
    "PFCOUNT k", "GETSET k v", "GETDEL k", "RENAME k k", "COPY k k", "PERSIST k", "TTL k",
    "EXPIRE k 1000", "OBJECT ENCODING k", "DUMP k", "SORT k ALPHA", "SELECT d", "SELECT 0",
    "MULTI", "EXEC", "DISCARD", "WATCH k", "UNWATCH", "PING", "ECHO v", "GET", "SET k", "NOSUCH k",
    "BLPOP k 0.01", "RPOPLPUSH k k", "LMOVE k k LEFT RIGHT", "SUNIONSTORE k k k", "DBSIZE",
    "EVAL return{KEYS[1],ARGV[1]} 1 k v", "EVAL return(redis.call('get',KEYS[1])) 1 k",
    "MEMORY USAGE k", "TOUCH k", "UNLINK k", "SETNX k v", "HINCRBY k v n", "LREM k n v",
]  # fmt: skip


def generated(seed, length):
    """Commands over few keys of all types, so that wrong types and wrong arguments are frequent."""
    rng = random.Random(seed)
    choices = {
        "k": lambda: rng.choice(KEYS),
        "v": lambda: rng.choice(VALUES),
        "n": lambda: str(rng.randint(-3, 9)),
        "p": lambda: str(rng.randint(0, 99)),
        "d": lambda: str(rng.randint(0, 16)),
    }
    commands = []
    for _ in range(length):
        words = rng.choice(TEMPLATES).split(" ")
        args = [words[0], *(choices[w]() if w in choices else w for w in words[1:])]
        how = "~" if words[0] in ("TTL", "MEMORY") else ""
        commands.append(([arg.encode("latin1") for arg in args], how))
    return commands
