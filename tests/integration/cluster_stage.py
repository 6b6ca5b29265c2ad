# SPDX-License-Identifier: Apache-2.0
"""A cluster, a heatsink in front of it and one server to compare with, for each class of tests."""

import unittest

from harness import Proxy, RawClient, Redis, ValueClient, need_programs
from harness.cluster import Cluster

# These tests are about routing.
WITHOUT_COPIES = {"detection.enabled": "no", "doctor.enabled": "no"}


class ClusterTest(unittest.TestCase):
    """Three masters per test class, with the class's options."""

    REPLICAS = 0
    NODE_TIMEOUT_MS = 15000
    NODE_OPTIONS = ()
    PROXY_OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.cluster = Cluster(3, cls.REPLICAS, cls.NODE_OPTIONS, cls.NODE_TIMEOUT_MS)
        cls.enterClassContext(cls.cluster)
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)
        cls.proxy = Proxy(cls.cluster.url, {**WITHOUT_COPIES, **cls.PROXY_OPTIONS})
        cls.addClassCleanup(cls.proxy.stop)

    def to_server(self, **how):
        return self.keep(RawClient(self.redis.port, **how))

    def to_proxy(self, **how):
        return self.keep(RawClient(self.proxy.port, **how))

    def to_values(self):
        return self.keep(ValueClient(self.proxy.port))

    def open(self, options=None, upstream=None, rules=()):
        """Another proxy, for this test alone."""
        options = {**WITHOUT_COPIES, **(options or {})}
        proxy = Proxy(upstream or self.cluster.url, options, rules)
        self.addCleanup(proxy.stop)
        return proxy

    def ask_at_each_step(self, ask, slot, source, target):
        """Moves the slot, and calls `ask` with 0 before it, 1 and 2 in between, and 3 after it."""
        ask(0)
        self.cluster.begin_move(slot, source, target)
        ask(1)
        self.cluster.move_keys(slot, source, target)
        ask(2)
        self.cluster.end_move(slot, target)
        ask(3)

    def keep(self, client):
        self.addCleanup(client.close)
        return client
