# SPDX-License-Identifier: Apache-2.0
"""A redis-server and a heatsink in front of it for each class of tests, and raw clients of both."""

import unittest

from harness import Proxy, RawClient, Redis, need_programs


class ProxyTest(unittest.TestCase):
    """A server and a proxy per test class, with the class's options."""

    SERVER_OPTIONS = ()
    PROXY_OPTIONS = {}
    RULES = ()

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis(*cls.SERVER_OPTIONS)
        cls.addClassCleanup(cls.redis.stop)
        cls.proxy = Proxy(cls.redis, cls.PROXY_OPTIONS, cls.RULES)
        cls.addClassCleanup(cls.proxy.stop)

    def to_server(self, **how):
        return self._keep(self.redis.port, how)

    def to_proxy(self, **how):
        return self._keep(self.proxy.port, how)

    def _keep(self, port, how):
        client = RawClient(port, **how)
        self.addCleanup(client.close)
        return client
