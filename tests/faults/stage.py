# SPDX-License-Identifier: Apache-2.0
"""A redis-server, a heatsink in front of it, and clients: what a test of coherence plays on.

Everything ends with the test (tests/harness). With HEATSINK_LOG=1 the proxies' own words are shown.
"""

import re
import unittest

from harness import (
    LOG, PATIENCE_S, QUIET, Proxy, Redis, RedisError, ValueClient, until, until_seen,
)  # fmt: skip

STALENESS_S = 1.0  # cache.max-staleness


def wait_until(condition, what, limit_s=PATIENCE_S):
    """until(), with more patience: the servers are stopped, killed and busy."""
    return until(condition, limit_s, what)


def is_error(answer):
    return isinstance(answer, (Exception, RedisError))


class Stage(unittest.TestCase):
    """A fresh server and proxy for each test. A class may set server_args and options."""

    server_args = ()
    options = {}

    def setUp(self):
        self.server = Redis(*self.server_args)
        self.addCleanup(self.server.stop)
        self.direct = ValueClient(self.server.port)
        self.addCleanup(self.direct.close)
        self.start_proxy(self.server)

    def start_proxy(self, upstream, rules=()):
        options = QUIET | self.options
        self.proxy = Proxy(upstream, options, rules, stderr=LOG)
        self.addCleanup(self.proxy.stop)

    def client(self):
        client = ValueClient(self.proxy.port)
        self.addCleanup(client.close)
        return client

    def clients(self, count):
        """So many that both workers have some, whatever the kernel's hash does."""
        return [self.client() for _ in range(count)]

    def expect_soon(self, client, key, value):
        """What a change past the proxy comes to, made before this call; errors prove nothing."""
        until_seen(lambda: client("GET", key), value, STALENESS_S, f"{key} is {value}", is_error)

    def heat(self, client, *keys):
        """Reads the keys until each is served locally."""
        for key in keys:
            wait_until(lambda: self.is_local(client, key), f"{key} is served locally")

    def is_local(self, client, key):
        """Whether the server does not see a read of the key by this client."""
        before = self.reads_seen()
        for _ in range(10):
            client("GET", key)
        return self.reads_seen() == before

    def reads_seen(self):
        """Reads the server has executed: the tracker's (GETRANGE) and forwarded ones (GET)."""
        stats = self.direct("INFO", "commandstats").decode()
        return sum(int(calls) for calls in re.findall(r"cmdstat_get(?:range)?:calls=(\d+)", stats))

    def tracker_id(self):
        """The tracking connection's id in the server; None while there is none."""
        clients = self.direct("CLIENT", "LIST").decode()
        found = re.search(r"id=(\d+) [^\n]*name=heatsink-tracker", clients)
        return int(found[1]) if found else None

    def is_coherent(self):
        return self.proxy.metric("heatsink_coherence_up") == 1

    def wait_coherent(self):
        wait_until(self.is_coherent, "the tracker is up")
