# SPDX-License-Identifier: Apache-2.0
"""A shared connection whose server does not come forward with a reply, while all else is well."""

import contextlib
import threading
import unittest

from harness import (
    ERRORS_WHEN_DOWN, PATIENCE_S, Proxy, RawClient, Redis, encode, need_programs, until,
)  # fmt: skip
from harness.relay import Relay

LIMIT_S = 1


class Forgetful(Relay):
    """The connection on which "hush" is answered (`pair`) tells nothing of its own from then on."""

    def __init__(self, server_port):
        self.hushed, self.here = threading.Event(), threading.local()
        super().__init__(server_port)

    def _tell(self, client, server, tracks):
        self.here.pair = client, server  # filter() is called by this thread
        super()._tell(client, server, tracks)

    def filter(self):
        pair, mute = self.here.pair, False

        def told(piece):
            nonlocal mute
            if b"hush" in piece:
                mute, self.pair = True, pair
                self.hushed.set()
            return b"" if mute else piece

        return told


class Silence(unittest.TestCase):
    def setUp(self):
        need_programs()
        redis = Redis()
        self.addCleanup(redis.stop)
        self.relay = Forgetful(redis.port)
        self.addCleanup(self.relay.close)
        options = {"proxy.workers": 1, "upstream.response-timeout": f"{LIMIT_S}s"}
        url = f"redis://127.0.0.1:{self.relay.port}"
        self.proxy = Proxy(url, ERRORS_WHEN_DOWN | options)
        self.addCleanup(self.proxy.stop)
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")

    def client(self, resp=2):
        # A tenth of what one unanswered command could hold its connection for is the limit.
        client = RawClient(self.proxy.port, resp=resp, timeout_s=5 * LIMIT_S)
        self.addCleanup(client.close)
        return client

    def hush(self, resp=2):
        """Two clients: one whose reply never comes, and one behind it on the same connection."""
        first, second = self.client(resp), self.client(resp)
        first.send("ECHO", "hush")
        self.assertTrue(self.relay.hushed.wait(PATIENCE_S))
        second.send("ECHO", "behind")
        return first, second

    def is_given_up(self, *clients):
        for client in clients:
            self.assertIn(b"the server did not answer for 1s", client.read())
        self.assertEqual(clients[-1].ask("PING"), b"+PONG\r\n")

    def test_nothing_while_the_tracker_is_answered(self):
        clients = self.hush()
        self.assertEqual(self.proxy.metric("heatsink_coherence_up"), 1)
        self.is_given_up(*clients)

    @contextlib.contextmanager
    def babble(self, first, rest):
        """On the connection that owes a reply, all the time."""
        over = threading.Event()

        def tell():
            self.relay.tell(first, [self.relay.pair])
            for _ in range(50 * 10 * LIMIT_S):
                if over.wait(1 / 50):
                    return
                self.relay.tell(rest, [self.relay.pair])

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def test_a_line_that_does_not_end(self):
        first, second = self.hush()
        with self.babble(b"+", b"a"):
            with self.assertRaises(ConnectionError):  # it has seen half of its reply
                first.read()
            self.is_given_up(second)

    def test_pushes_that_do_not_end(self):
        push = encode("heard", "you").replace(b"*", b">", 1)
        clients = self.hush(resp=3)
        with self.babble(push, push):
            self.is_given_up(*clients)


if __name__ == "__main__":
    unittest.main()
