# SPDX-License-Identifier: Apache-2.0
"""redis-py with local reads: GET and MGET of keys with copies cost no round trip."""

import asyncio
import copy
import functools
from collections.abc import Iterable
from typing import Any, TypeVar

from heatsink._client import Client
from heatsink._native import ServerError
from heatsink._options import option_name
from heatsink._redis_server import server_options

R = TypeVar("R")

# Commands that do not change keys. For any other command, each argument that names a copy drops
# that copy. So this list need not be complete.
_READS = frozenset(
    "BITCOUNT BITFIELD_RO BITPOS DUMP EXISTS EXPIRETIME GET GETBIT GETRANGE LCS MEMORY MGET OBJECT "
    "PEXPIRETIME PTTL STRLEN SUBSTR TOUCH TTL TYPE".split()
)
_FLUSHES = frozenset(("FLUSHALL", "FLUSHDB", "SWAPDB"))
_KEPT_MAX = 10_000
_SOURCES = frozenset(("file", "yaml", "environment"))
_NO_OPTIONS = _SOURCES | {"encode", "decode"}

_MISSING = object()


def wrap(
    redis_client: R, client: Client | None = None, *, coherent: bool = True, **options: Any
) -> R:
    """Returns a copy of a Redis or RedisCluster, of redis or redis.asyncio, with local reads.

    The copy has the same class and the same connections. Writes through it are visible at once,
    including pipelines and scripts with declared keys. Writes by others are visible when the
    server's notice arrives: the Client connects to the same server, database and login as
    `redis_client`, or to server_url if the options name one. While the server sends no notices
    there are no copies: `heatsink.server_problem()` of the copy says why.

    With coherent=False there are no notices and no connections besides those of redis-py. Writes by
    others are then visible when a copy ends (expire_after_write) or is refreshed.

    GET of a RedisCluster goes over the connections of the Client, unless coherent=False: they know
    whether the node that answers still owns the key.

    The attribute `heatsink` is the Client: `client`, which must then be used for these keys only,
    or a new one with `options`.

    TypeError: another class, or contradictory arguments. ValueError: options, or a client whose
    server cannot be told by options; the error says what to pass.
    """
    import redis
    import redis.asyncio

    is_awaited = isinstance(redis_client, (redis.asyncio.Redis, redis.asyncio.RedisCluster))
    if not is_awaited and not isinstance(redis_client, (redis.Redis, redis.RedisCluster)):
        raise TypeError(f"wrap() needs a Redis of redis-py, not {type(redis_client).__name__}")
    is_cluster = isinstance(redis_client, (redis.RedisCluster, redis.asyncio.RedisCluster))
    if client is None:
        client = _client_of(redis_client, coherent, options)
    elif options:
        raise TypeError("options cannot be combined with client: set them on that Client")
    elif coherent and not _has_server(client):
        raise TypeError(
            "the server cannot notify this Client of changes: create it with server_url=, "
            "pass its options to wrap() in place of it, or pass coherent=False"
        )
    elif _has_server(client) and not coherent:
        raise _contradiction()
    reads: type[_Copies] = _AwaitedReads if is_awaited else _Reads
    if is_cluster and _has_server(client):
        reads = _AwaitedProvenReads if is_awaited else _ProvenReads
    served = _awaited if is_awaited else _served
    wrapped: Any = copy.copy(redis_client)
    wrapped.__class__ = served(type(redis_client))  # type: ignore[arg-type]
    wrapped.heatsink = client
    wrapped._reads = reads(redis_client, client)
    result: R = wrapped
    return result


def _client_of(redis_client: Any, coherent: bool, options: dict[str, Any]) -> Client:
    named = any(option_name(keyword) == "server.url" for keyword in options.keys() - _NO_OPTIONS)
    sources = {name: options[name] for name in options.keys() & _SOURCES}
    if sources and not named:  # keywords would override the server that these may name
        with Client(**sources, admin_listen="off") as probe:
            named = _has_server(probe)
    if named and not coherent:
        raise _contradiction()
    if coherent and not named:
        options = {**server_options(redis_client), **options}
    return Client(**options)


def _contradiction() -> TypeError:
    return TypeError("coherent=False contradicts server_url: pass one of them")


def _has_server(client: Client) -> bool:
    # _options() has the values that are set for this Client under the name "default".
    return any(row["name"] == "server.url" and row["default"] for row in client._options())


class _Copies:
    """Which keys may have copies, and which commands drop them."""

    def __init__(self, redis_client: Any, client: Client) -> None:
        self._redis = redis_client
        self._client = client
        pool = getattr(redis_client, "connection_pool", redis_client)  # a cluster has one per node
        self._encoder = pool.get_encoder()
        self._is_utf8 = self._encoder.encoding.lower().replace("_", "-") in ("utf-8", "utf8")
        self._kept: set[bytes] = set()  # and keys that have lost their copies since
        self._kept_max = _KEPT_MAX

    def key(self, name: Any) -> Any:
        """A key name in redis-py's encoding; DataError for types that redis-py rejects."""
        if isinstance(name, bytes) or (self._is_utf8 and isinstance(name, str)):
            return name
        return bytes(self._encoder.encode(name))

    def loading(self, key: str | bytes) -> None:
        """Call it before the load, so that a later command finds the key."""
        self._kept.add(key.encode() if isinstance(key, str) else key)
        if len(self._kept) > self._kept_max:
            self._prune()

    def _prune(self) -> None:
        # Without a lock, because a child may be forked meanwhile: another thread may add any key.
        for key in list(self._kept):
            if self._client._is_kept(key):
                continue
            self._kept.discard(key)
            if self._client._is_kept(key):  # since then
                self._kept.add(key)
        self._kept_max = max(_KEPT_MAX, 2 * len(self._kept))

    def written(self, words: Iterable[Any]) -> None:
        """Call it after a command has ended, even with an error: drops the copies it may change."""
        name, *arguments = words
        command = str(name).upper().split(" ")[0]
        if command in _READS:
            return
        if command in _FLUSHES:
            changed = [*self._kept, *self._client._warmed]
        else:
            named = {bytes(self._encoder.encode(each)) for each in arguments if _may_be_key(each)}
            changed = [key for key in named if self.may_have_copy(key)]
        for key in changed:
            self._client.invalidate(key)

    def may_have_copy(self, key: bytes) -> bool:
        return key in self._kept or key in self._client._warmed

    def value(self, written: Any) -> Any:
        """The value that GET returns after SET of `written`."""
        encoded = self._encoder.encode(written)
        return self._encoder.decode(encoded)

    def copy(self, key: Any) -> Any:
        """The value of the local copy, or _MISSING."""
        return self._client._read(key, _MISSING)

    def local(self, names: tuple[Any, ...]) -> tuple[list[Any], list[int]]:
        """The values of the keys that have copies, and the positions of those that have none."""
        values = [self.copy(self.key(name)) for name in names]
        return values, [place for place, value in enumerate(values) if value is _MISSING]


def _may_be_key(argument: Any) -> bool:
    kinds = (str, bytes, memoryview, int, float)
    return isinstance(argument, kinds) and not isinstance(argument, bool)


def _is_plain(words: tuple[Any, ...], options: dict[str, Any], count: int) -> bool:
    """True if there are no options; newer versions of redis-py repeat the keys in an option."""
    return len(words) == count and options.keys() <= {"keys"}


class _Reads(_Copies):
    """Commands of a redis.Redis."""

    def execute(self, words: tuple[Any, ...], options: dict[str, Any]) -> Any:
        command = words[0]
        if command == "GET" and _is_plain(words, options, 2):
            return self._get(self.key(words[1]))
        if command == "MGET" and _is_plain(words, options, len(words)) and len(words) > 1:
            return self._mget(words[1:])
        if command == "SET" and _is_plain(words, options, 3):
            return self._set(words[1], words[2])
        try:
            return self._redis.execute_command(*words, **options)
        finally:
            self.written(words)

    def _get(self, key: Any) -> Any:
        return self._client.get(key, self._load)

    def _load(self, key: str | bytes) -> Any:
        self.loading(key)
        return self._redis.execute_command("GET", key)

    def _loaded(self, key: Any) -> Any:
        return self._client._load(key, self._load)

    def _mget(self, names: tuple[Any, ...]) -> list[Any]:
        import redis

        values, places = self.local(names)
        cold = []
        for place in places:
            key = self.key(names[place])
            try:
                if self._client.is_hot(key):
                    values[place] = self._loaded(key)
                    continue
            except redis.ResponseError:
                pass  # not a string: GET raises, MGET returns None
            cold.append(place)
        if cold:
            found = self._redis.execute_command("MGET", *(names[place] for place in cold))
            for place, value in zip(cold, found):
                values[place] = value
        return values

    def _set(self, name: Any, value: Any) -> Any:
        replies = []

        def store(_key: object, _value: object) -> None:
            replies.append(self._redis.execute_command("SET", name, value))

        self._client.set(self.key(name), self.value(value), store)
        return replies[0]


class _AwaitedReads(_Copies):
    """Commands of a redis.asyncio.Redis."""

    async def execute(self, words: tuple[Any, ...], options: dict[str, Any]) -> Any:
        command = words[0]
        if command == "GET" and _is_plain(words, options, 2):
            return await self._get(self.key(words[1]))
        if command == "MGET" and _is_plain(words, options, len(words)) and len(words) > 1:
            return await self._mget(words[1:])
        try:
            return await self._redis.execute_command(*words, **options)
        finally:
            self.written(words)

    async def _get(self, key: Any) -> Any:
        return await self._client.aget(key, self._load)

    async def _load(self, key: str | bytes) -> Any:
        self.loading(key)
        return await self._redis.execute_command("GET", key)

    async def _loaded(self, key: Any) -> Any:
        load: Any = self._client._load_group.load
        return await load(key, self._load)

    async def _mget(self, names: tuple[Any, ...]) -> list[Any]:
        import redis

        values, places = self.local(names)
        cold = []
        for place in places:
            key = self.key(names[place])
            try:
                if self._client.is_hot(key):
                    values[place] = await self._loaded(key)
                    continue
            except redis.ResponseError:
                pass  # not a string: GET raises, MGET returns None
            cold.append(place)
        if cold:
            found = await self._redis.execute_command("MGET", *(names[place] for place in cold))
            for place, value in zip(cold, found):
                values[place] = value
        return values


class _Proven(_Copies):
    """Values that the Client itself has read from the node that it tracks.

    What redis-py reads may come from a node that another one has replaced: such a value must not
    become a copy.
    """

    def copy(self, key: Any) -> Any:
        value = super().copy(key)
        return value if value is _MISSING else self._decoded(value)

    def _decoded(self, value: bytes | None) -> Any:
        return None if value is None else self._encoder.decode(value)

    def _fetched(self, key: Any) -> Any:
        """_MISSING: redis-py has to ask, or to raise the error."""
        self.loading(key)
        try:
            return self._decoded(self._client._load(key, None))
        except ServerError:
            return _MISSING


class _ProvenReads(_Proven, _Reads):
    def _get(self, key: Any) -> Any:
        value = self.copy(key)
        return self._loaded(key) if value is _MISSING else value

    def _loaded(self, key: Any) -> Any:
        value = self._fetched(key)
        return self._redis.execute_command("GET", key) if value is _MISSING else value


class _AwaitedProvenReads(_Proven, _AwaitedReads):
    async def _get(self, key: Any) -> Any:
        value = self.copy(key)
        return await self._loaded(key) if value is _MISSING else value

    async def _loaded(self, key: Any) -> Any:
        value = await asyncio.to_thread(self._fetched, key)
        return await self._redis.execute_command("GET", key) if value is _MISSING else value


# ---- the classes: all commands end in one method, which is overridden here


@functools.cache
def _served(base: type) -> type:
    class Served(base):  # type: ignore[misc]
        _reads: _Reads | None = None

        def __del__(self) -> None:
            pass  # the original has the same connections, and closes them

        def execute_command(self, *words: Any, **options: Any) -> Any:
            if self._reads is None:  # made by redis-py, as by client()
                return super().execute_command(*words, **options)
            return self._reads.execute(words, options)

        def pipeline(self, *arguments: Any, **options: Any) -> Any:
            return _watched(super().pipeline(*arguments, **options), self._reads, _pipeline)

    Served.__name__ = Served.__qualname__ = base.__name__
    return Served


@functools.cache
def _awaited(base: type) -> type:
    class Served(base):  # type: ignore[misc]
        _reads: _AwaitedReads | None = None

        async def close(self, *arguments: Any, **options: Any) -> None:
            # The original has the same connections, and knows that they are closed.
            original = super() if self._reads is None else self._reads._redis
            await original.close(*arguments, **options)

        def __del__(self) -> None:
            pass  # the original is closed with the last reference to it

        async def execute_command(self, *words: Any, **options: Any) -> Any:
            if self._reads is None:
                return await super().execute_command(*words, **options)
            return await self._reads.execute(words, options)

        def pipeline(self, *arguments: Any, **options: Any) -> Any:
            return _watched(super().pipeline(*arguments, **options), self._reads, _awaited_pipeline)

    Served.__name__ = Served.__qualname__ = base.__name__
    return Served


def _watched(pipeline: Any, copies: _Copies | None, class_of: Any) -> Any:
    if copies is not None:
        pipeline.__class__ = class_of(type(pipeline))
        pipeline._copies = copies
    return pipeline


def _commands(pipeline: Any) -> list[Any]:
    name = "command_stack" if hasattr(pipeline, "command_stack") else "_command_stack"
    stack = getattr(pipeline, name)
    return [each.args if hasattr(each, "args") else each[0] for each in stack]


@functools.cache
def _pipeline(base: type) -> type:
    class Watched(base):  # type: ignore[misc]
        _copies: _Copies

        def execute(self, *arguments: Any, **options: Any) -> Any:
            commands = _commands(self)
            try:
                return super().execute(*arguments, **options)
            finally:
                for words in commands:
                    self._copies.written(words)

        def immediate_execute_command(self, *words: Any, **options: Any) -> Any:
            try:
                return super().immediate_execute_command(*words, **options)
            finally:
                self._copies.written(words)

    return Watched


@functools.cache
def _awaited_pipeline(base: type) -> type:
    class Watched(base):  # type: ignore[misc]
        _copies: _Copies

        async def execute(self, *arguments: Any, **options: Any) -> Any:
            commands = _commands(self)
            try:
                return await super().execute(*arguments, **options)
            finally:
                for words in commands:
                    self._copies.written(words)

        async def immediate_execute_command(self, *words: Any, **options: Any) -> Any:
            try:
                return await super().immediate_execute_command(*words, **options)
            finally:
                self._copies.written(words)

    return Watched
