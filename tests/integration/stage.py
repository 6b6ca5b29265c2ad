# SPDX-License-Identifier: Apache-2.0
"""A redis-server and a heatsink in front of it for each class of tests, and raw clients of both."""

import unittest

from harness import Proxy, RawClient, Redis, need_programs


class ServerTest(unittest.TestCase):
    """A server per test class; each test opens the proxies that it needs."""

    SERVER_OPTIONS = ()
    PROXY_OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis(*cls.SERVER_OPTIONS)
        cls.addClassCleanup(cls.redis.stop)

    def open_proxy(self, options=None, rules=(), upstream=None):
        """With the class's options and these, until the end of the test."""
        options = {**self.PROXY_OPTIONS, **(options or {})}
        proxy = Proxy(upstream or self.redis, options, list(rules))
        self.addCleanup(proxy.stop)
        return proxy

    def to_server(self, **how):
        return self._keep(self.redis.port, how)

    def _keep(self, port, how):
        client = RawClient(port, **how)
        self.addCleanup(client.close)
        return client


class ProxyTest(ServerTest):
    """A server and a proxy per test class, with the class's options."""

    RULES = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.proxy = Proxy(cls.redis, cls.PROXY_OPTIONS, cls.RULES)
        cls.addClassCleanup(cls.proxy.stop)

    def to_proxy(self, **how):
        return self._keep(self.proxy.port, how)
