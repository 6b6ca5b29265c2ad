# SPDX-License-Identifier: Apache-2.0
"""What is played to the server and through the proxy: conversations of commands, group by group.

A line is a command as redis-cli would take it (quotes, \\x escapes). A leading `~` means that only
the shape of the reply is compared (its digits are masked), because it tells the time or an id. A
leading `%` means that the lines of the reply may come in any order.
"""

import random
import shlex

CONVERSATIONS = {
    "strings": r"""
        SET k v
        GET k
        GET missing
        SET k v2 GET
        SET k v3 NX
        SET k v3 XX KEEPTTL
        SET k v EX 100
        ~TTL k
        SET k v EX 0
        SET k v BADOPT
        SET k
        GET
        GET a b
        get k
        GeT k
        SETNX k x
        SETNX k2 x
        SETEX k3 100 v
        PSETEX k4 100000 v
        GETEX k3 PERSIST
        TTL k3
        GETDEL k3
        GETSET k2 y
        APPEND k2 zzz
        STRLEN k2
        SETRANGE k2 10 xyz
        GETRANGE k2 0 -1
        SUBSTR k2 0 3
        INCR n
        INCRBY n 10
        DECR n
        DECRBY n 3
        INCRBYFLOAT n 1.5
        INCR k2
        MSET a 1 b 2 c 3
        MGET a b nope c
        MSETNX a 1 z 2
        MSET a
        MGET
        LCS a b
        LCS a b LEN
        SET "" empty
        GET ""
        SET bin "\x00\x01\r\n\xff"
        GET bin
        SET "\xff\x00key" "v"
        GET "\xff\x00key"
        SET e ""
        GET e
        STRLEN e
    """,
    "lists": r"""
        RPUSH l a b c d
        LPUSH l z
        LRANGE l 0 -1
        LINDEX l 1
        LINSERT l BEFORE b x
        LSET l 0 q
        LSET l 99 q
        LLEN l
        LPOP l
        RPOP l 2
        LPOP missing
        LPOP missing 2
        LPOS l b
        LREM l 0 b
        LTRIM l 0 1
        RPOPLPUSH l l2
        LMOVE l l2 LEFT RIGHT
        LMPOP 2 l l2 LEFT COUNT 2
        LMPOP 1 nope LEFT
        RPUSHX nope v
        SET s v
        LPUSH s x
        LRANGE s 0 1
        RPUSH l a b c
        BLPOP l 1
        BLMOVE l l3 LEFT LEFT 1
        BLMPOP 1 1 l LEFT
        BRPOPLPUSH l3 l4 1
        RPUSH m message x y
        LRANGE m 0 -1
    """,
    "hashes": r"""
        HSET h f1 v1 f2 v2
        HGET h f1
        HGET h no
        HMGET h f1 no f2
        HGETALL h
        HKEYS h
        HVALS h
        HLEN h
        HEXISTS h f1
        HINCRBY h n 5
        HINCRBYFLOAT h n 0.5
        HINCRBY h f1 1
        HSETNX h f1 x
        HSTRLEN h f1
        HDEL h f1 no
        HSCAN h 0
        HSET h f
        HMSET h a 1
        HRANDFIELD nope 3
        HGETALL nope
        HSET h "\x00" "\r\n"
        HGETALL h
    """,
    "sets": r"""
        SADD s 1 2 3
        SADD t 2 3 4
        SMEMBERS s
        SISMEMBER s 1
        SMISMEMBER s 1 9
        SCARD s
        SINTER s t
        SINTERCARD 2 s t
        SUNION s t
        SDIFF s t
        SDIFFSTORE d s t
        SINTERSTORE d s t
        SUNIONSTORE d s t
        SMOVE s t 1
        SREM s 2
        SSCAN t 0
        ~SRANDMEMBER t
        SRANDMEMBER nope
        SPOP nope
        SPOP d 100
        SADD h2
        TYPE s
        SMEMBERS nope
    """,
    "zsets": r"""
        ZADD z 1 a 2 b 3 c
        ZADD z NX 5 a
        ZADD z GT CH 5 a
        ZADD z INCR 2.5 b
        ZADD z x y
        ZSCORE z a
        ZSCORE z nope
        ZMSCORE z a nope b
        ZRANGE z 0 -1 WITHSCORES
        ZRANGE z 0 -1 REV
        ZRANGE z (1 +inf BYSCORE LIMIT 0 1
        ZRANGEBYSCORE z -inf +inf WITHSCORES
        ZREVRANGE z 0 1
        ZRANGEBYLEX z [a [c
        ZRANK z b
        ZREVRANK z b
        ZCOUNT z 1 3
        ZLEXCOUNT z - +
        ZCARD z
        ZINCRBY z 1 a
        ZADD y 10 b 20 d
        ZUNION 2 z y WITHSCORES
        ZINTER 2 z y
        ZDIFF 2 z y
        ZUNIONSTORE o 2 z y WEIGHTS 1 2 AGGREGATE MAX
        ZINTERSTORE o 2 z y
        ZDIFFSTORE o 2 z y
        ZINTERCARD 2 z y
        ZRANGESTORE o z 0 1
        ZPOPMIN z
        ZPOPMAX z 2
        ZMPOP 2 z y MIN
        BZPOPMIN y 1
        BZMPOP 1 1 z MAX
        ZSCAN y 0
        ZREM y b
        ZRANDMEMBER nope
        ZREMRANGEBYRANK y 0 -1
        ZADD inf inf x -inf y
        ZSCORE inf x
    """,
    "streams": r"""
        XADD s 1-1 f v
        XADD s 1-2 f v2 g w
        XADD s 1-1 f v
        ~XADD s * f v3
        XLEN s
        XRANGE s - 1-9
        XREVRANGE s 1-9 - COUNT 1
        XREAD COUNT 1 STREAMS s 0
        XREAD STREAMS nope 0
        XREAD COUNT 1 BLOCK 10 STREAMS s 0
        XREAD BLOCK 1 STREAMS s $
        XGROUP CREATE s g 0
        XGROUP CREATE s g 0
        XGROUP CREATE nope g 0
        XREADGROUP GROUP g c COUNT 1 STREAMS s >
        ~XPENDING s g
        ~XINFO GROUPS s
        ~XINFO STREAM s
        XACK s g 1-1
        XCLAIM s g c2 0 1-1
        XAUTOCLAIM s g c2 0 0 COUNT 1 JUSTID
        XDEL s 1-1
        XTRIM s MAXLEN 0
        XSETID s 9999999999999-1
        XGROUP DESTROY s g
        XGROUP HELP
        XREADGROUP GROUP nope c STREAMS s >
        XADD s
    """,
    "bitmaps_hll_geo": r"""
        SETBIT b 7 1
        GETBIT b 7
        BITCOUNT b
        BITPOS b 1
        BITOP NOT d b
        BITFIELD b SET u8 0 255 GET u4 0
        BITFIELD_RO b GET u8 0
        BITFIELD_RO b SET u8 0 1
        SETBIT b -1 1
        PFADD p a b c
        PFCOUNT p
        PFADD q c d
        PFMERGE r p q
        PFCOUNT p q
        PFCOUNT b
        GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
        GEODIST g Palermo Catania km
        GEOHASH g Palermo
        GEOPOS g Palermo nope
        GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHCOORD WITHDIST WITHHASH
        GEORADIUS g 15 37 200 km STORE gg
        GEOSEARCHSTORE gs g FROMMEMBER Palermo BYBOX 400 400 km
        GEORADIUSBYMEMBER_RO g Palermo 200 km
    """,
    "generic": r"""
        MSET a 1 b 2 c 3
        EXISTS a b nope a
        DEL a nope
        UNLINK b
        TYPE c
        TYPE nope
        RENAME c d
        RENAME nope x
        RENAMENX d e
        COPY e f
        COPY e f REPLACE
        COPY e e DB 2
        EXPIRE e 100
        EXPIRE e 50 GT
        PEXPIRE e 100000 NX
        EXPIREAT e 99999999999
        EXPIRETIME e
        PEXPIRETIME e
        PERSIST e
        TTL e
        TTL nope
        EXPIRE e -1
        EXISTS e
        EXPIRE x notanumber
        KEYS *
        SCAN 0
        SCAN 0 MATCH f* COUNT 10 TYPE string
        SCAN notacursor
        RANDOMKEY
        TOUCH f nope
        OBJECT ENCODING f
        OBJECT REFCOUNT f
        ~OBJECT IDLETIME f
        OBJECT FREQ f
        OBJECT HELP
        OBJECT NOPE f
        OBJECT
        DUMP f
        RESTORE g 0 "\x00\x03abc\x0a\x00\x00"
        RESTORE h 0 bad
        RPUSH list 3 1 2
        SORT list
        SORT list DESC LIMIT 0 2
        SORT list ALPHA STORE sorted
        SORT_RO list BY nosort GET #
        SORT f
        MOVE f 1
        MOVE f 0
        SELECT 1
        GET f
        DBSIZE
        SELECT 2
        GET e
        SELECT 0
        SELECT 99
        SELECT -1
        SELECT abc
        SELECT
        SELECT 1 2
        GET f
        SWAPDB 0 1
        DBSIZE
        SWAPDB 0 99
        FLUSHDB
        FLUSHDB ASYNC
        FLUSHALL NOPE
        WAIT 0 10
        WAIT a b
        MIGRATE 127.0.0.1 1 nope 0 10
    """,
    "transactions": r"""
        MULTI
        SET a 1
        INCR a
        GET a
        LPUSH a x
        EXEC
        MULTI
        MULTI
        WATCH x
        SET a 2
        EXEC
        MULTI
        NOSUCHCOMMAND
        SET a 3
        EXEC
        GET a
        MULTI
        GET
        EXEC
        MULTI
        SET a 9
        DISCARD
        GET a
        EXEC
        DISCARD
        MULTI x
        EXEC x
        WATCH
        WATCH a b
        SET a changed
        MULTI
        GET a
        EXEC
        GET a
        WATCH a
        UNWATCH
        SET a 5
        MULTI
        GET a
        EXEC
        MULTI
        SELECT 3
        SET three 3
        EXEC
        GET three
        SELECT 0
        GET three
        MULTI
        EXEC
        MULTI
        BLPOP nolist 0
        XREAD BLOCK 0 STREAMS nostream $
        EXEC
        MULTI
        PING
        ECHO hi
        SUBSCRIBE
        EXEC
        MULTI
        MONITOR
        GET a
        EXEC
        MULTI
        CLIENT SETNAME insidemulti
        CLIENT GETNAME
        EXEC
        CLIENT GETNAME
        MULTI
        PING
        RESET
        EXEC
        UNWATCH
        UNWATCH x
    """,
    "scripts": r"""
        EVAL "return 1" 0
        EVAL "return {1,'a',{2,3}}" 0
        EVAL "return redis.call('set',KEYS[1],ARGV[1])" 1 sk sv
        EVAL "return redis.call('get',KEYS[1])" 1 sk
        EVAL "return redis.error_reply('MY ERR')" 0
        EVAL "return redis.call('nosuch')" 0
        EVAL "syntax error here" 0
        EVAL "return 1" 2 a
        EVAL "return 1"
        EVAL "return redis.status_reply('FINE')" 0
        EVAL "redis.setresp(3) return redis.call('hgetall','nope')" 0
        EVAL "return {double=1.5}" 0
        EVAL_RO "return redis.call('get',KEYS[1])" 1 sk
        EVAL_RO "return redis.call('set',KEYS[1],'x')" 1 sk
        SCRIPT LOAD "return 7"
        EVALSHA 4ca238f611c9d0ae4e9a75a5dbac22aedc1e44a0 0
        EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
        SCRIPT EXISTS ffffffffffffffffffffffffffffffffffffffff
        SCRIPT NOPE
        SCRIPT KILL
        SCRIPT HELP
        FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function(k,a) return redis.call('set',k[1],a[1]) end)"
        FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function(k,a) return 1 end)"
        FCALL f 1 fk fv
        FCALL_RO f 1 fk fv
        FCALL nope 0
        GET fk
        FUNCTION LIST
        FUNCTION STATS
        FUNCTION DELETE lib
        FUNCTION DUMP
        FUNCTION KILL
        FUNCTION FLUSH
        SCRIPT FLUSH
    """,
    "server": r"""
        PING
        PING hello
        PING a b
        ECHO hi
        ECHO
        CONFIG GET maxmemory*
        CONFIG GET nope
        CONFIG GET
        CONFIG SET nope 1
        CONFIG NOPE
        CONFIG
        COMMAND COUNT
        COMMAND INFO get set nosuch
        COMMAND DOCS get
        COMMAND GETKEYS MSET a 1 b 2
        COMMAND GETKEYSANDFLAGS SET a b
        COMMAND GETKEYS PING
        COMMAND LIST FILTERBY PATTERN xr*
        COMMAND NOPE
        %COMMAND
        DBSIZE
        DBSIZE x
        SET mem abc
        ~MEMORY USAGE mem
        MEMORY USAGE nope
        MEMORY HELP
        MEMORY NOPE
        LATENCY LATEST
        LATENCY HISTORY nope
        LATENCY RESET
        LATENCY HELP
        ~SLOWLOG LEN
        SLOWLOG HELP
        SLOWLOG NOPE
        ACL WHOAMI
        ACL CAT
        ACL USERS
        ACL GETUSER default
        ACL GETUSER nope
        ACL DRYRUN default GET k
        ~TIME
        ~LASTSAVE
        ROLE
        LOLWUT VERSION 5 1 1 1
        DEBUG SLEEP 0
        DEBUG JMAP
        NOSUCHCOMMAND
        NOSUCHCOMMAND with "quoted \x00 args"
        XINFO
        MODULE LIST
        READONLY
        CLUSTER INFO
        ASKING
        PUBLISH ch m
        PUBSUB CHANNELS
        PUBSUB NUMSUB a b
        PUBSUB NUMPAT
        PUBSUB SHARDCHANNELS
        SPUBLISH ch m
        REPLICAOF NO
        RESTORE-ASKING
        OBJECT ENCODING
        CLIENT
        CLIENT NOPE
        CLIENT HELP
        CLIENT SETNAME me
        CLIENT GETNAME
        CLIENT SETNAME "has space"
        CLIENT SETNAME
        CLIENT SETNAME a b
        CLIENT SETNAME ""
        CLIENT GETNAME
        CLIENT GETNAME x
        CLIENT SETINFO lib-name x
        CLIENT SETINFO
        CLIENT NO-EVICT on
        CLIENT NO-EVICT maybe
        CLIENT KILL ID 999999
        CLIENT KILL nope
        CLIENT UNBLOCK 999999
        CLIENT PAUSE notanumber
        CLIENT REPLY
        CLIENT REPLY NOPE
        CLIENT REPLY ON
        CLIENT TRACKING maybe
        CLIENT TRACKINGINFO
        CLIENT GETREDIR
        CLIENT CACHING yes
        RESET x
        QUITX
    """,
    "hello": r"""
        HELLO 4
        HELLO abc
        HELLO 1
        HELLO -3
        HELLO 3x
        HELLO 2 SETNAME
        HELLO 2 SETNAME "bad name"
        HELLO 2 AUTH
        HELLO 2 AUTH default
        ~HELLO 2 AUTH default wrong
        HELLO 2 AUTH nobody wrong
        HELLO 2 NOPE
        ~HELLO 3 SETNAME x
        CLIENT GETNAME
        CLIENT SETNAME ""
        CLIENT GETNAME
        GET nope
        HGETALL nope
        ~HELLO
        ~HELLO 2
        GET nope
        AUTH
        AUTH pw
        AUTH default pw
        AUTH nobody pw
        AUTH a b c
        ~HELLO 3 AUTH default anything SETNAME y
        CLIENT GETNAME
        RESET
        GET nope
        CLIENT GETNAME
    """,
    "pubsub": r"""
        UNSUBSCRIBE
        PUNSUBSCRIBE
        SUNSUBSCRIBE
        SUBSCRIBE a b c
        PING
        PING x
        SUBSCRIBE a
        UNSUBSCRIBE a nope
        PSUBSCRIBE p* q*
        UNSUBSCRIBE
        PUNSUBSCRIBE
        GET k
        LRANGE nope 0 -1
        SUBSCRIBE
        SSUBSCRIBE s1 s2
        SUNSUBSCRIBE
        PING
        RPUSH messages message message message
        LRANGE messages 0 -1
        SUBSCRIBE a
        GET k
        UNSUBSCRIBE
        LRANGE messages 0 -1
        SUBSCRIBE z
        RESET
        PING
        GET k
    """,
    "select": "\n".join(f"SELECT {i % 16}\nSET where {i % 16}\nGET where" for i in range(64)),
    "reply_modes": r"""
        SET k v
        CLIENT REPLY SKIP
        SET k w
        GET k
        CLIENT REPLY OFF
        SET k x
        GET k
        NOSUCH
        CLIENT REPLY SKIP
        CLIENT REPLY ON
        GET k
        CLIENT REPLY SKIP
        GET k
        GET k
    """,
}


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
    return [parse(line.strip()) for line in CONVERSATIONS[name].splitlines() if line.strip()]


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
