# SPDX-License-Identifier: Apache-2.0
"""The cache of Django, with Django's own classes where it is installed, before a real server."""

import pickle
import threading

import pytest
import redis

import played_django
from conftest import QUIET
from harness.patience import PATIENCE_S, until

try:
    import django.conf
    import django.core.cache.backends.redis  # Django 4.0

    django.conf.settings.configure()
except ImportError:
    played_django.install()

from django.core.exceptions import ImproperlyConfigured

import heatsink.django


@pytest.fixture
def direct(server):
    with redis.Redis(port=server.port, db=1) as one:
        one.flushdb()
        yield one


@pytest.fixture
def cache(server, direct):
    one = cache_of(server)
    one.set("other", "made")
    until(lambda: one.heatsink.server_problem() == "", PATIENCE_S, "the tracker")
    yield one
    one.heatsink.close()
    heatsink.django._shared.clear()


def cache_of(server, **options):
    params = {"OPTIONS": {"heatsink": QUIET | options}}
    return heatsink.django.RedisCache(f"redis://127.0.0.1:{server.port}/1", params)


def make_hot(cache, key):
    cache.heatsink.warm([f":1:{key}".encode()])
    until(lambda: cache.get(key) and cache.heatsink.peek(f":1:{key}"), PATIENCE_S, "a copy")


def test_hits_do_not_reach_the_server(cache, direct):
    cache.set("a", {"price": 1})
    make_hot(cache, "a")
    asked = direct.info("commandstats")["cmdstat_get"]["calls"]
    for _ in range(100):
        assert cache.get("a") == {"price": 1}
    # A late notice of the own write may end the copy once.
    assert direct.info("commandstats")["cmdstat_get"]["calls"] - asked <= 2


def test_own_writes_and_those_of_others_are_seen(cache, direct):
    cache.set("a", 1.5)
    make_hot(cache, "a")
    cache.set("a", 2.5, 100)
    assert cache.get("a") == 2.5 and cache.get_many(["a", "none"]) == {"a": 2.5}
    make_hot(cache, "a")
    direct.set(":1:a", pickle.dumps(3.5))
    until(lambda: cache.get("a") == 3.5, PATIENCE_S, "the write of somebody else")
    make_hot(cache, "a")
    cache.delete("a")
    assert cache.get("a", "none") == "none"
    cache.set("a", 4.5)
    make_hot(cache, "a")
    cache.clear()
    assert cache.get("a") is None


def test_the_caches_of_all_threads_share_the_copies(server, cache):
    """Django makes a cache for each thread."""
    cache.set("a", "old")
    make_hot(cache, "a")
    seen = []

    def play():
        mine = cache_of(server)
        seen.append((mine.heatsink is cache.heatsink, mine.get("a")))
        mine.set("a", "new")

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert seen == [(True, "old")] and cache.get("a") == "new"


def test_options_are_those_of_wrap(server, cache):
    other = cache_of(server, coherent=False)
    with other.heatsink as client:
        assert client is not cache.heatsink and client.server_problem() == ""
        assert not any(r["name"] == "server.url" and r["default"] for r in client._options())


def test_replicas_are_refused(server):
    servers = f"redis://127.0.0.1:{server.port},redis://127.0.0.1:1"
    one = heatsink.django.RedisCache(servers, {})
    with pytest.raises(ImproperlyConfigured, match="needs one server"):
        one.get("a")
