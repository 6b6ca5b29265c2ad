# SPDX-License-Identifier: Apache-2.0
"""views.py URL: one hot key and one hot counter, on all nodes of a cluster."""

import sys

import heatsink
import redis

url = sys.argv[1]  # any node of the cluster
if "--cluster" in sys.argv:
    source: redis.Redis | redis.RedisCluster = redis.RedisCluster.from_url(url)
else:
    source = redis.Redis.from_url(url)

with (
    heatsink.SpreadKeys(copies=6, server_url=url) as keys,
    heatsink.SplitCounter(parts=8, server_url=url) as views,
):
    for price in ("100", "110"):
        source.set("product:1", price)
        keys.written("product:1")  # before anybody learns of the write
        print("product:1 costs", (keys.get("product:1") or b"").decode())

    before = views.value("views:1")
    for _ in range(1000):
        keys.get("product:1")  # from one of six copies
        views.add("views:1")  # to one of eight parts
    print(views.value("views:1") - before, "views more")
