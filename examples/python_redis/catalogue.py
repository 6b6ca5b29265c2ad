# SPDX-License-Identifier: Apache-2.0
"""catalogue.py URL: the same shop with redis-py."""

import sys

import redis

import heatsink

server = redis.Redis.from_url(sys.argv[1], decode_responses=True)
# The same client, but GET and MGET of hot keys cost no round trip. Lower thresholds than in a
# service: this program is the only reader.
shop = heatsink.wrap(server, hot_qps=100)
cache = shop.heatsink

with cache:
    while not cache.is_hot("product:1"):
        shop.get("product:1")
    shop.get("product:1")
    asked = server.info("commandstats")["cmdstat_get"]["calls"]
    for _ in range(1000):
        price = shop.get("product:1")
    now_asked = server.info("commandstats")["cmdstat_get"]["calls"]
    print("product:1 costs", price)
    print(f"{1000 - (now_asked - asked)} of 1000 reads did not reach the server")

    shop.incrby("product:1", 10)  # a write through the same client is visible at once
    print("product:1 costs", shop.get("product:1"))
