# SPDX-License-Identifier: Apache-2.0
"""A service that reads products from Redis, and hot products from its own memory.

Start it: REDIS_URL=redis://127.0.0.1 uvicorn service:app
Its options come from the environment, such as HEATSINK_DETECTION_HOT_QPS.
"""

import json
import os
from typing import Any

import redis.asyncio
from fastapi import FastAPI, HTTPException

import heatsink

server = redis.asyncio.from_url(os.environ["REDIS_URL"], decode_responses=True)
# Made once, when the module is loaded. Workers that are forked later start anew with the same
# options.
cache = heatsink.Client(environment=True, encode=json.dumps, decode=json.loads)
app = FastAPI()


@cache.cached(key="product:{product_id}")
async def load_product(product_id: str) -> dict[str, Any] | None:
    """Awaited on the event loop, and called again in the background while the product is hot."""
    fields: dict[Any, Any] = await server.hgetall(f"product:{product_id}")
    return fields or None


@app.get("/products/{product_id}")
async def read_product(product_id: str) -> dict[str, Any]:
    product = await load_product(product_id)
    if product is None:
        raise HTTPException(404, "there is no such product")
    return product


@app.put("/products/{product_id}")
async def write_product(product_id: str, product: dict[str, str]) -> None:
    fields: dict[Any, Any] = dict(product)
    try:
        await server.hset(f"product:{product_id}", mapping=fields)
    finally:
        load_product.invalidate(product_id)  # after an error, too: it may have been written


@app.get("/hot")
async def read_hot() -> dict[str, Any]:
    return {"keys": [key.text for key in cache.top(10)], "hit_ratio": cache.stats().hit_ratio}


@app.on_event("shutdown")
async def close() -> None:
    await cache.aclose()
    await server.close()
