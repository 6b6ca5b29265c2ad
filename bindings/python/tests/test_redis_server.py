# SPDX-License-Identifier: Apache-2.0
"""Which server wrap() takes from a client of redis-py. No test here connects to one."""

import ssl

import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel

import heatsink
from conftest import QUIET
from heatsink._redis_server import server_options

FLAVOURS = {"plain": redis, "asyncio": redis.asyncio}


@pytest.fixture(params=FLAVOURS)
def flavour(request):
    return FLAVOURS[request.param]


SERVERS = {
    "redis://localhost:6379/0": {},
    "redis://cache:7000/3": {"host": "cache", "port": "7000", "db": "3"},
    "redis://[::1]:6379/0": {"host": "::1"},
    "redis://:a%2Fb%40c@localhost:6379/0": {"password": "a/b@c"},
    "redis://shop:gr%C3%B6%C3%9Fe@localhost:6379/0": {"username": "shop", "password": "größe"},
    "unix:///run/a%20b.sock": {"unix_socket_path": "/run/a b.sock"},
    "unix://u:p@/run/redis.sock?db=2": {
        "unix_socket_path": "/run/redis.sock",
        "db": 2,
        "username": "u",
        "password": "p",
    },
}


@pytest.mark.parametrize("url", SERVERS)
def test_the_server_and_the_login(flavour, url):
    options = server_options(flavour.Redis(**SERVERS[url]))
    assert options == {"server_url": url}
    heatsink.Client(**options, **QUIET).close()  # a URL that the library accepts


@pytest.mark.parametrize(
    "keywords, expected",
    [
        ({}, {}),
        ({"ssl_ca_certs": "/ca.pem"}, {"server_tls_ca": "/ca.pem"}),
        ({"ssl_cert_reqs": "none"}, {"server_tls_verify": "false"}),
        ({"ssl_cert_reqs": ssl.CERT_NONE}, {"server_tls_verify": "false"}),
        ({"ssl_cert_reqs": None}, {"server_tls_verify": "false"}),
        ({"ssl_cert_reqs": ssl.CERT_REQUIRED}, {}),
        (
            {"ssl_certfile": "/one.pem", "ssl_keyfile": "/key.pem"},
            {"server_tls_cert": "/one.pem", "server_tls_key": "/key.pem"},
        ),
        (
            {"ssl_certfile": "/both.pem"},
            {"server_tls_cert": "/both.pem", "server_tls_key": "/both.pem"},
        ),
    ],
)
def test_tls(flavour, keywords, expected):
    one = flavour.Redis(host="cache", ssl=True, **keywords)
    assert server_options(one) == {"server_url": "rediss://cache:6379/0"} | expected


def test_a_url_of_redis_py(flavour):
    one = flavour.Redis.from_url("rediss://u:p@cache:7000/2?ssl_cert_reqs=none")
    expected = {"server_url": "rediss://u:p@cache:7000/2", "server_tls_verify": "false"}
    assert server_options(one) == expected


def test_sentinels(flavour):
    places = [("a", 26379), ("b", 26380)]
    sentinels = flavour.sentinel.Sentinel(
        places, sentinel_kwargs={"username": "s", "password": "sp"}, password="p"
    )
    assert server_options(sentinels.master_for("my/master", db=1)) == {
        "server_url": "redis+sentinel://:p@a:26379,b:26380/my%2Fmaster/1",
        "server_sentinel_user": "s",
        "server_sentinel_password": "sp",
    }
    with pytest.raises(ValueError, match=r"reads from replicas.*: wrap master_for\(\.\.\.\)"):
        server_options(sentinels.slave_for("my/master"))
    with pytest.raises(ValueError, match="only one of its servers and its Sentinels has TLS"):
        server_options(sentinels.master_for("my/master", ssl=True))


def test_a_cluster_that_no_command_has_asked_yet():
    cluster = pytest.importorskip("redis.asyncio.cluster")
    nodes = [cluster.ClusterNode(host, 7000) for host in ("a", "b")]
    one = cluster.RedisCluster(startup_nodes=nodes, password="p")
    url = server_options(one)["server_url"]
    assert url.startswith("redis+cluster://") and url.endswith("a:7000,b:7000")


def foreign_class(flavour):
    class Own(flavour.Connection):
        pass

    return flavour.Redis(connection_pool=flavour.ConnectionPool(connection_class=Own))


def foreign_keyword(name):
    def make(flavour):
        one = flavour.Redis()
        one.connection_pool.connection_kwargs[name] = object()
        return one

    return make


@pytest.mark.parametrize(
    "make, why",
    [
        (foreign_class, "its connections are of the class test_redis_server.*Own"),
        (foreign_keyword("credential_provider"), "it has credential_provider"),
        (foreign_keyword("redis_connect_func"), "it has redis_connect_func"),
        (foreign_keyword("ssl_ca_data"), "it has ssl_ca_data"),
        (foreign_keyword("ssl_password"), "it has ssl_password"),
    ],
)
def test_what_no_url_can_say_is_refused_with_the_way_out(flavour, make, why):
    one = make(flavour)
    with pytest.raises(ValueError, match=f"{why}.* Pass server_url=.*, or coherent=False"):
        heatsink.wrap(one)
    heatsink.wrap(one, coherent=False, **QUIET).heatsink.close()
    heatsink.wrap(one, server_url="redis://127.0.0.1:1", **QUIET).heatsink.close()


def url_of(client):
    return next(row["default"] for row in client._options() if row["name"] == "server.url")


@pytest.mark.parametrize("keyword", ("server_url", "url"))
def test_a_server_that_the_options_name_wins(flavour, tmp_path, monkeypatch, keyword):
    own = "redis://127.0.0.1:1"
    file = tmp_path / "heatsink.yaml"
    file.write_text(f"server: {{url: '{own}'}}")
    monkeypatch.setenv("HEATSINK_SERVER_URL", own)
    for options in ({keyword: own}, {"file": file}, {"environment": True}):
        with heatsink.wrap(flavour.Redis(port=2), **options).heatsink as client:
            assert url_of(client) == own
        with pytest.raises(TypeError, match="coherent=False contradicts server_url"):
            heatsink.wrap(flavour.Redis(port=2), coherent=False, **options)
    with heatsink.wrap(flavour.Redis(port=2), yaml="refresh: {enabled: false}").heatsink as client:
        assert url_of(client) == "redis://localhost:2/0"


def test_an_option_of_tls_adds_to_what_redis_py_has(flavour):
    one = flavour.Redis(port=1, ssl=True, ssl_cert_reqs="none")
    wrapped = heatsink.wrap(one, server_tls_server_name="cache", **QUIET)
    with wrapped.heatsink as client:
        assert client.server_problem()
