# SPDX-License-Identifier: Apache-2.0
"""SWAPDB sends no invalidation: the proxy asks the server how often it ran, and ends all copies."""

import time
import unittest

from harness import PATIENCE_S, Proxy, RawClient, Redis, need_programs, until

EAGER = {
    "detection.hot-qps": 20,
    "detection.window": "1s",
    "detection.tick": "10ms",
    # Copies end for no other reason.
    "detection.minimum-residence": "1h",
    "cache.expire-after-write": "1h",
    "audit.sample-rate": "0%",
    "doctor.enabled": "no",
}
SWAP = "return redis.call('swapdb', 0, 1)"
FUNCTION = (
    "#!lua name=swaps\n"
    "redis.register_function('swap', function() return redis.call('swapdb', 0, 1) end)"
)
BOUND_S = 1  # cache.max-staleness
READ_FOR_S = 2 * BOUND_S


class SwapDb(unittest.TestCase):
    """Database 0 says "old", database 1 "new", and the key of 0 is served from a copy."""

    SERVER_OPTIONS = ()
    PROXY_OPTIONS = {}
    SWAP_NAME = "SWAPDB"

    def setUp(self):
        need_programs()
        self.redis = Redis(*self.SERVER_OPTIONS)
        self.addCleanup(self.redis.stop)
        self.server = self.connect(self.redis.port)
        self.prepare_server()
        self.server.ask("SET", "k", "old")
        self.server.ask("SELECT", "1")
        self.server.ask("SET", "k", "new")
        self.server.ask("SELECT", "0")
        self.proxy = Proxy(self.redis, {**EAGER, **self.PROXY_OPTIONS})
        self.addCleanup(self.proxy.stop)
        self.client = self.connect(self.proxy.port)
        until(self.is_served_locally, 4 * PATIENCE_S, "the key is served from a copy")

    def prepare_server(self):
        self.server.ask("FUNCTION", "LOAD", FUNCTION)

    def connect(self, port):
        client = RawClient(port)
        self.addCleanup(client.close)
        return client

    def is_served_locally(self):
        before = self.proxy.hits()
        for _ in range(40):
            self.client.ask("GET", "k")
        return self.proxy.hits() >= before + 40

    def assert_no_old_read(self):
        end = time.monotonic() + READ_FOR_S
        while time.monotonic() < end:
            self.assertEqual(self.client.ask("GET", "k"), b"$3\r\nnew\r\n")


class ByCode(SwapDb):
    def swaps(self):
        sha1 = self.server.ask("SCRIPT", "LOAD", SWAP).split(b"\r\n")[1].decode()
        return (["EVAL", SWAP, "0"], ["EVALSHA", sha1, "0"], ["FCALL", "swap", "0"])

    def test_the_same_client_reads_the_other_database_at_once(self):
        for number, swap in enumerate(self.swaps()):
            with self.subTest(swap[0]):
                if number:
                    self.server.ask("SWAPDB", "0", "1")
                    until(lambda: self.client.ask("GET", "k") == b"$3\r\nold\r\n")
                    until(self.is_served_locally, 4 * PATIENCE_S, "a copy again")
                self.assertEqual(self.client.ask(*swap), b"+OK\r\n")
                self.assert_no_old_read()

    def test_what_another_client_ran_is_seen_when_it_has_its_reply(self):
        other = self.connect(self.proxy.port)
        self.assertEqual(other.ask("EVAL", SWAP, "0"), b"+OK\r\n")
        self.assert_no_old_read()

    def test_in_a_transaction(self):
        self.client.ask("MULTI")
        self.client.ask("FCALL", "swap", "0")
        self.assertEqual(self.client.ask("EXEC"), b"*1\r\n+OK\r\n")
        self.assert_no_old_read()


class PastTheProxy(SwapDb):
    def test_copies_end_within_max_staleness(self):
        self.server.ask(self.SWAP_NAME, "0", "1")
        swapped = time.monotonic()
        until(lambda: self.client.ask("GET", "k") == b"$3\r\nnew\r\n", what="the other database")
        self.assertLess(time.monotonic() - swapped, BOUND_S)
        self.assert_no_old_read()


class UnderAnotherName(PastTheProxy):
    SERVER_OPTIONS = ("--rename-command", "SWAPDB", "exchange")
    SWAP_NAME = "exchange"

    def prepare_server(self):
        pass


class WithoutTheRight(SwapDb):
    """The proxy's user may not run INFO: code ends all copies; what others do is not seen."""

    def prepare_server(self):
        super().prepare_server()
        self.server.ask("ACL", "SETUSER", "default", "-info")
        self.addCleanup(self.server.ask, "ACL", "SETUSER", "default", "+info")

    def test_code_ends_all_copies(self):
        self.assertEqual(self.client.ask("FCALL", "swap", "0"), b"+OK\r\n")
        self.assert_no_old_read()


if __name__ == "__main__":
    unittest.main()
