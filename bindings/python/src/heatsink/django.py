# SPDX-License-Identifier: Apache-2.0
"""Django's cache on Redis with local reads: BACKEND "heatsink.django.RedisCache" (Django 4.0).

CACHES = {"default": {"BACKEND": "heatsink.django.RedisCache", "LOCATION": "redis://cache/1"}}

It is Django's own RedisCache, whose client went through wrap(). OPTIONS are Django's; those of
wrap() stand in its entry "heatsink": {"hot_qps": 500}.
"""

import threading
from typing import Any

from django.core.cache.backends import redis as backend
from django.core.exceptions import ImproperlyConfigured

from heatsink._redis import wrap

# Django makes a cache for each thread. All of them share the copies, and a write by one of them is
# visible to the next read of all others.
_shared: dict[str, Any] = {}
_lock = threading.Lock()


class RedisCacheClient(backend.RedisCacheClient):  # type: ignore[misc]
    """What Django's class is, with one wrapped redis.Redis for all threads."""

    def __init__(
        self, servers: list[str], *, heatsink: dict[str, Any] | None = None, **options: Any
    ) -> None:
        super().__init__(servers, **options)
        if len(servers) != 1:
            raise ImproperlyConfigured(
                "heatsink.django.RedisCache needs one server in LOCATION, the master: "
                "what a replica answers may be old, and would stay in a copy"
            )
        self._heatsink = heatsink or {}
        self._name = repr((servers, sorted(options.items()), sorted(self._heatsink.items())))

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        with _lock:
            if self._name not in _shared:
                plain = self._client(connection_pool=self._get_connection_pool(write=True))
                _shared[self._name] = wrap(plain, **self._heatsink)
            return _shared[self._name]


class RedisCache(backend.RedisCache):  # type: ignore[misc]
    """Django's RedisCache. `cache.heatsink` is the heatsink.Client."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = RedisCacheClient

    @property
    def heatsink(self) -> Any:
        return self._cache.get_client().heatsink
