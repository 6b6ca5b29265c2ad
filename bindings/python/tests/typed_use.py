# SPDX-License-Identifier: Apache-2.0
"""What a type checker knows of the package: checked by mypy (python.types), and run by nobody."""

import datetime
from typing import Any, assert_type

import heatsink

client = heatsink.Client(server_url="redis://cache", hot_qps=500)


@client.cached(key="user:{id}")
def user(id: int) -> str:
    return str(id)


assert_type(user(7), str)
assert_type(user.key(7), str | bytes)
user.invalidate(id=7)
user("seven")  # type: ignore[arg-type]
user()  # type: ignore[call-arg]


@client.cached(key="product:{id}")
async def product(id: int) -> dict[str, str] | None:
    return {"id": str(id)}


async def load(key: str) -> bytes | None:
    return key.encode()


async def use() -> None:
    assert_type(await product(1), dict[str, str] | None)
    assert_type(await client.aget("a", load), bytes | None)
    assert_type(await client.aget("a"), Any)


class Shop:
    @client.cached(key="{self}:{item}")
    def stock(self, item: str, count: int = 7) -> str:
        return item * count


assert_type(Shop().stock("apple"), str)
assert_type(Shop.stock.key(Shop(), "apple", count=1), str | bytes)
Shop.stock(Shop(), 1)  # type: ignore[arg-type]


def name_of(id: int) -> bytes:
    return b"price:%d" % id


@client.cached(key=name_of)
def price(id: int) -> bytes:
    return b"1"


assert_type(price(1), bytes)


def load_price(key: str) -> str | None:
    return key


assert_type(client.get("price:1", load_price), str | None)
assert_type(client.get("price:1"), Any)
client.get(b"price:1", load_price)  # type: ignore[arg-type]
client.set("price:1", "1", ttl=datetime.timedelta(minutes=5))
assert_type(client.warm(["price:1"]), list[str])
assert_type(heatsink.__version__, str)

spread = heatsink.SpreadKeys(ttl=datetime.timedelta(seconds=2), server_url="redis://cache")
assert_type(spread.get("product:1"), bytes | None)
assert_type(heatsink.SplitCounter(server_url="redis://cache").value(b"views:1"), int)
