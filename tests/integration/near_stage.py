# SPDX-License-Identifier: Apache-2.0
"""Clients that track, at a server itself and through a proxy that ends their tracking.

A test that both classes of a pair play is what a server does; it fails at the server if the test
itself is wrong.
"""

import time

from harness import PATIENCE_S, QUIET, SLOW, RawClient
from harness.near import Push, Resp3Client
from stage import ProxyTest, ServerTest

STALENESS_S = 1.0  # cache.max-staleness
ENDS_TRACKING = {**QUIET, "proxy.client-tracking": "pays"}


class Tracking:
    """Helpers; `port` is that of the server or of the proxy."""

    def near(self, *mode):
        """A client that tracks."""
        return self.keep_open(Resp3Client(self.port())).track(*mode)

    def writer(self):
        """A client that does not."""
        return self.keep_open(RawClient(self.port()))

    def keep_open(self, client):
        self.addCleanup(client.close)
        return client

    def is_told(self, client, *names, within_s=STALENESS_S):
        """Waits until the client has been told that all these names end, in whatever order."""
        left, end = set(names), time.monotonic() + within_s * SLOW
        while left and time.monotonic() < end:
            left -= ended(client.events(), names)
        self.assertEqual(left, set(), f"not told within {within_s} s")

    def hears_nothing(self, client, for_s):
        client.socket.settimeout(for_s)
        try:
            self.fail(f"the proxy sent {client.next()}")
        except TimeoutError:
            client.socket.settimeout(PATIENCE_S * SLOW)

    def is_current(self, heard, name, value, last_read):
        """What a client keeps that stores the read at place `last_read` is the value, or ended."""
        if heard[last_read] != value:
            behind = heard[last_read + 1 :]
            self.assertIn(name, ended(behind, [name]), f"{heard} and then {value}")


def ended(heard, names):
    """Those of `names` that pushes among it end."""
    out = set()
    for push in heard:
        if isinstance(push, Push) and push[0] == b"invalidate":
            out |= set(names) if push[1] is None else {name.decode() for name in push[1]}
    return out


class AtTheServer(Tracking, ServerTest):
    def port(self):
        return self.redis.port


class ThroughTheProxy(Tracking, ProxyTest):
    """In front of one server. Keys that begin with `cold:` have no copies."""

    PROXY_OPTIONS = ENDS_TRACKING
    RULES = ["match=cold:*,admission=off"]

    def port(self):
        return self.proxy.port
