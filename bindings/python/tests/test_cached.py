# SPDX-License-Identifier: Apache-2.0
"""The decorator."""

import asyncio

import pytest


def test_a_function_is_called_once_while_its_key_is_hot(client):
    calls = []

    @client.cached(key="user:{id}:{lang}")
    def user(id: int, lang: str = "en") -> str:
        """Loads a user."""
        calls.append((id, lang))
        return f"user {id} {lang}"

    assert user.__name__ == "user" and user.__doc__ == "Loads a user."
    assert user(1) == user(id=1) == user(1, lang="en") == "user 1 en"
    assert len(calls) == 3
    client.warm([user.key(1)], lambda key: "warmed")
    assert user(1) == "warmed"
    assert user(1, "de") == "user 1 de"
    user.invalidate(1)
    assert user(1) == "user 1 en" and user(1) == "user 1 en"
    assert calls[3:] == [(1, "de"), (1, "en")]


def test_keys_are_named_in_many_ways(client):
    class Shop:
        name = "corner"

        @client.cached(key="{self.name}:{item[0]}:{count:03d}")
        def stock(self, item, count=7):
            return "some"

        @client.cached(key=lambda self, item: b"by function:" + item)
        def price(self, item):
            return "much"

    @client.cached(key="all")
    def everything() -> str:
        return "everything"

    @client.cached(key="{rest}:{named}")
    def anything(*rest, **named):
        return "anything"

    shop = Shop()
    assert shop.stock(["apple"]) == "some" and shop.price(b"apple") == "much"
    assert Shop.stock.key(shop, ["apple"]) == "corner:apple:007"
    assert Shop.price.key(shop, b"apple") == b"by function:apple"
    assert everything() == "everything" and everything.key() == "all"
    assert anything.key(1, 2, x=3) == "(1, 2):{'x': 3}" and anything(1) == "anything"


def test_misuse_is_told_at_once(client):
    with pytest.raises(ValueError, match=r"names 'user', which is not a parameter of .*load\(id\)"):

        @client.cached(key="{user}")
        def load(id):
            return "x"

    @client.cached(key="{id}")
    def load_one(id):
        return "x"

    with pytest.raises(TypeError, match="missing a required argument: 'id'"):
        load_one()
    with pytest.raises(TypeError, match="unexpected keyword"):
        load_one(1, other=2)


def test_a_coroutine_function_stays_one(client):
    calls = []

    @client.cached(key="user:{id}")
    async def user(id: int) -> str:
        calls.append(id)
        await asyncio.sleep(0)  # a load takes a turn of the loop
        return f"user {id}"

    async def play():
        assert await user(1) == "user 1"
        client.warm(["user:1"], lambda key: "warmed")
        assert await user(1) == "warmed"
        client.invalidate(user.key(1))
        assert await asyncio.gather(*(user(1) for _ in range(100))) == ["user 1"] * 100
        assert calls == [1, 1]

    assert asyncio.iscoroutinefunction(user)
    asyncio.run(play())
