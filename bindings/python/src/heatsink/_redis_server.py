# SPDX-License-Identifier: Apache-2.0
"""The server of a redis-py client, as options of a Client: server_url and server_tls_*."""

import ssl
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

_ADDRESSES_MAX = 8  # the Client finds the other nodes by asking these

# What a connection class of redis-py adds to its own, which no URL can say.
_FOREIGN = (
    "credential_provider",
    "redis_connect_func",
    "ssl_ca_data",
    "ssl_ca_path",
    "ssl_password",
    "ssl_validate_ocsp",
    "ssl_validate_ocsp_stapled",
)


def server_options(redis_client: Any) -> dict[str, str]:
    """The options of a Client for the server, and the database, that `redis_client` asks.

    ValueError: an address, login or TLS setting of redis-py that these options cannot express.
    """
    if not hasattr(redis_client, "connection_pool"):
        return _of_cluster(redis_client)
    pool = redis_client.connection_pool
    kind, keywords = pool.connection_class, pool.connection_kwargs
    if hasattr(pool, "sentinel_manager"):
        return _of_sentinels(pool)
    _check(kind, keywords)
    if "path" in keywords:
        database = f"?db={_database(keywords)}" if _database(keywords) else ""
        return {"server_url": f"unix://{_login(keywords)}{quote(keywords['path'])}{database}"}
    url = f"{_login(keywords)}{_address(keywords)}/{_database(keywords)}"
    return {"server_url": f"{_scheme(kind)}://{url}"} | _tls(kind, keywords)


def _of_cluster(cluster: Any) -> dict[str, str]:
    nodes = cluster.nodes_manager
    if getattr(nodes, "address_remap", None):
        raise _unknown("it has an address_remap, which is server_translate here")
    known = list(nodes.startup_nodes.values())
    first = known[0]
    if hasattr(first, "connection_kwargs"):  # of redis.asyncio
        kind, keywords = first.connection_class, first.connection_kwargs
    else:
        pool = cluster.get_redis_connection(cluster.get_default_node()).connection_pool
        kind, keywords = pool.connection_class, pool.connection_kwargs
    # RedisCluster sets this function to send READONLY to replicas.
    is_own = getattr(keywords.get("redis_connect_func"), "__self__", None) is cluster
    _check(kind, {**keywords, "redis_connect_func": None} if is_own else keywords)
    hosts = _listed({"host": node.host, "port": node.port} for node in known)
    return {"server_url": f"{_scheme(kind)}+cluster://{_login(keywords)}{hosts}"} | _tls(
        kind, keywords
    )


def _of_sentinels(pool: Any) -> dict[str, str]:
    if not pool.is_master:
        raise _unknown("it reads from replicas, which lag behind: wrap master_for(...)")
    kind, keywords = pool.connection_class, pool.connection_kwargs
    _check(kind, {name: value for name, value in keywords.items() if name != "connection_pool"})
    sentinels = [each.connection_pool for each in pool.sentinel_manager.sentinels]
    for each in sentinels:
        _check(each.connection_class, each.connection_kwargs)
        if _scheme(each.connection_class) != _scheme(kind):
            raise _unknown("only one of its servers and its Sentinels has TLS")
    hosts = _listed(each.connection_kwargs for each in sentinels)
    place = f"{hosts}/{quote(pool.service_name, safe='')}/{_database(keywords)}"
    options = {"server_url": f"{_scheme(kind)}+sentinel://{_login(keywords)}{place}"}
    for option in ("username", "password"):
        if value := sentinels[0].connection_kwargs.get(option):
            options[f"server_sentinel_{option.removesuffix('name')}"] = _text(value)
    return options | _tls(kind, keywords)


def _check(kind: type, keywords: dict[str, Any]) -> None:
    is_plain = kind.__module__.startswith("redis.")
    if not is_plain:
        raise _unknown(f"its connections are of the class {kind.__module__}.{kind.__qualname__}")
    for name in _FOREIGN:
        if keywords.get(name):
            raise _unknown(f"it has {name}")


def _unknown(why: str) -> ValueError:
    return ValueError(
        f"wrap() cannot take the server from this client: {why}. Pass server_url=, "
        "the URL of the same server and database (docs/reference/library-options.md), "
        "or coherent=False for copies that may be expire_after_write old"
    )


def _scheme(kind: type) -> str:
    return "rediss" if any(base.__name__ == "SSLConnection" for base in kind.__mro__) else "redis"


def _listed(places: Iterable[dict[str, Any]]) -> str:
    hosts = dict.fromkeys(_address(place) for place in places)
    return ",".join(list(hosts)[:_ADDRESSES_MAX])


def _address(keywords: dict[str, Any]) -> str:
    host = keywords.get("host") or "localhost"
    return f"[{host}]:{_port(keywords)}" if ":" in host else f"{host}:{_port(keywords)}"


def _port(keywords: dict[str, Any]) -> int:
    return int(keywords.get("port") or 6379)


def _database(keywords: dict[str, Any]) -> int:
    return int(keywords.get("db") or 0)


def _login(keywords: dict[str, Any]) -> str:
    user, password = keywords.get("username") or "", keywords.get("password") or ""
    return f"{quote(user, safe='')}:{quote(password, safe='')}@" if user or password else ""


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _tls(kind: type, keywords: dict[str, Any]) -> dict[str, str]:
    if _scheme(kind) == "redis":
        return {}
    files = {
        "server_tls_ca": keywords.get("ssl_ca_certs"),
        "server_tls_cert": keywords.get("ssl_certfile"),
        # The key may stand in the file of the certificate.
        "server_tls_key": keywords.get("ssl_keyfile") or keywords.get("ssl_certfile"),
    }
    options = {name: str(path) for name, path in files.items() if path}
    if keywords.get("ssl_cert_reqs", "required") in ("none", None, ssl.CERT_NONE):
        options["server_tls_verify"] = "false"
    return options
