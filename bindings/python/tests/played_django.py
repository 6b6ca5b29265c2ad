# SPDX-License-Identifier: Apache-2.0
"""The parts of Django's Redis cache that heatsink.django builds on, as Django 4.0 to 5.2 have them.

Debian 12 has Django 3.2, which has no such cache yet.
"""

import pickle
import random
import sys
import types
from typing import Any

import redis


class ImproperlyConfigured(Exception):
    pass


class RedisCacheClient:
    def __init__(self, servers: list[str], **options: Any) -> None:
        self._servers = servers
        self._pools: dict[int, redis.ConnectionPool] = {}
        self._client = redis.Redis
        self._pool_options = options

    def _get_connection_pool(self, write: bool) -> redis.ConnectionPool:
        is_first = write or len(self._servers) == 1
        index = 0 if is_first else random.randint(1, len(self._servers) - 1)
        if index not in self._pools:
            url = self._servers[index]
            self._pools[index] = redis.ConnectionPool.from_url(url, **self._pool_options)
        return self._pools[index]

    def get_client(self, key: Any = None, *, write: bool = False) -> redis.Redis:
        return self._client(connection_pool=self._get_connection_pool(write))

    def get(self, key: str, default: Any) -> Any:
        value = self.get_client(key).get(key)
        return default if value is None else pickle.loads(value)

    def get_many(self, keys: list[str]) -> dict[str, Any]:
        found = zip(keys, self.get_client(None).mget(keys))
        return {key: pickle.loads(value) for key, value in found if value is not None}

    def set(self, key: str, value: Any, timeout: int | None) -> None:
        self.get_client(key, write=True).set(key, pickle.dumps(value), ex=timeout)

    def delete(self, key: str) -> bool:
        return bool(self.get_client(key, write=True).delete(key))

    def clear(self) -> bool:
        return bool(self.get_client(None, write=True).flushdb())


class RedisCache:
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        self._servers = server.split(",")
        self._class = RedisCacheClient
        self._options = params.get("OPTIONS", {})
        self._made: RedisCacheClient | None = None

    @property
    def _cache(self) -> RedisCacheClient:
        if self._made is None:
            self._made = self._class(self._servers, **self._options)
        return self._made

    def get(self, key: str, default: Any = None) -> Any:
        return self._cache.get(f":1:{key}", default)

    def get_many(self, keys: list[str]) -> dict[str, Any]:
        found = self._cache.get_many([f":1:{key}" for key in keys])
        return {name.removeprefix(":1:"): value for name, value in found.items()}

    def set(self, key: str, value: Any, timeout: int | None = 300) -> None:
        self._cache.set(f":1:{key}", value, timeout)

    def delete(self, key: str) -> bool:
        return self._cache.delete(f":1:{key}")

    def clear(self) -> bool:
        return self._cache.clear()


def install() -> None:
    """Makes `import django...` find these classes."""
    for name in ("django", "django.core", "django.core.cache", "django.core.cache.backends"):
        sys.modules[name] = types.ModuleType(name)
    backend: Any = types.ModuleType("django.core.cache.backends.redis")
    backend.RedisCache, backend.RedisCacheClient = RedisCache, RedisCacheClient
    sys.modules[backend.__name__] = backend
    sys.modules["django.core.cache.backends"].redis = backend  # type: ignore[attr-defined]
    exceptions: Any = types.ModuleType("django.core.exceptions")
    exceptions.ImproperlyConfigured = ImproperlyConfigured
    sys.modules[exceptions.__name__] = exceptions
