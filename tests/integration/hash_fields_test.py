# SPDX-License-Identifier: Apache-2.0
"""Fields of hashes that expire alone (HPEXPIRE: Redis 7.4, Valkey 9), read from local copies.

The server's expiry cycle is off, so it sends no invalidation when a field expires: only the copy's
own deadline can end it. tests/servers runs this with the servers that have such fields.
"""

import time
import unittest

from harness import PATIENCE_S, until, until_seen
from stage import ProxyTest

OPTIONS = {
    "detection.hot-qps": 2,
    "detection.window": "1s",
    "detection.minimum-residence": "1h",
    "detection.tick": "10ms",
    "detection.write-hot-ratio": 0,
}
FIELDS = ("HSET", "h", "a", "1", "b", "2", "c", "3")
READS = (
    ("HGET", "h", "a"),
    ("HMGET", "h", "b", "a"),
    ("HEXISTS", "h", "a"),
    ("HSTRLEN", "h", "a"),
    ("HGETALL", "h"),
    ("HKEYS", "h"),
    ("HVALS", "h"),
)
LIFE_MS = 700  # of a field
STALENESS_S = 1.0  # cache.max-staleness


class HashFields(ProxyTest):
    SERVER_OPTIONS = ("--enable-debug-command", "yes")
    PROXY_OPTIONS = OPTIONS

    def setUp(self):
        self.server, self.client = self.to_server(), self.to_proxy()
        if b"unknown command" in self.server.ask("HPTTL", "h", "FIELDS", "1", "a"):
            self.skipTest("the fields of this server's hashes do not expire")
        self.server.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        self.server.ask("DEL", "h")
        self.server.ask(*FIELDS)

    def hits(self):
        return self.proxy.hits()

    def heat(self, call):
        """Asks until the reply is a copy's."""

        def hit():
            before = self.hits()
            for _ in range(6):
                self.client.ask(*call)
            return self.hits() >= before + 6

        until(hit, PATIENCE_S, f"{call} is served locally")

    def expire(self, field, ms):
        self.assertEqual(
            self.server.ask("HPEXPIRE", "h", ms, "FIELDS", "1", field), b"*1\r\n:1\r\n"
        )

    def test_no_read_shows_a_field_that_has_expired(self):
        for call in READS:
            with self.subTest(call=call):
                self.server.ask("DEL", "h")
                self.server.ask(*FIELDS)
                alive = self.server.ask(*call)
                self.heat(call)
                before = self.hits()
                self.expire("a", LIFE_MS)
                seen_expired = False
                ends = time.monotonic() + PATIENCE_S
                while not seen_expired and time.monotonic() < ends:
                    expired = self.server.ask(*call) != alive  # asked and answered first
                    got = self.client.ask(*call)
                    self.assertFalse(expired and got == alive, f"{call}: {got} is too old")
                    seen_expired = got != alive
                self.assertTrue(seen_expired)
                self.assertGreater(self.hits(), before, "copies served it meanwhile")
                self.heat(call)
                self.assertEqual(self.client.ask(*call), self.server.ask(*call))

    def test_a_field_that_is_not_read_does_not_end_the_copy(self):
        self.expire("c", 100)
        self.heat(("HGET", "h", "a"))
        until(
            lambda: self.server.ask("HEXISTS", "h", "c") == b":0\r\n", PATIENCE_S, "c has expired"
        )
        self.heat(("HGET", "h", "a"))
        self.assertEqual(self.client.ask("HGET", "h", "a"), b"$1\r\n1\r\n")

    def test_the_number_of_fields_is_the_servers(self):
        """HLEN counts fields that have expired and are not deleted; a deletion invalidates."""
        self.heat(("HLEN", "h"))
        self.expire("a", 50)
        self.heat(("HLEN", "h"))
        until(
            lambda: self.server.ask("HEXISTS", "h", "a") == b":0\r\n", PATIENCE_S, "a has expired"
        )
        self.server.ask("DEBUG", "SET-ACTIVE-EXPIRE", "1")
        until_seen(
            lambda: self.client.ask("HLEN", "h"), b":2\r\n", PATIENCE_S, "the deletion is seen"
        )

    def encoding(self, name):
        return self.server.ask("OBJECT", "ENCODING", name)

    def test_a_plain_listpack_has_no_field_that_expires(self):
        """What the tracker relies on (docs/decisions/0097), whichever command sets the expiry."""
        changes = [
            ("HPEXPIRE", "h", "60000", "FIELDS", "1", "a"),
            ("HPEXPIREAT", "h", "9000000000000", "FIELDS", "1", "a"),
            ("HGETEX", "h", "PX", "60000", "FIELDS", "1", "a"),
            ("HSETEX", "h", "PX", "60000", "FIELDS", "1", "a", "9"),
            ("HSETEX", "h", "PX", "60000", "FIELDS", "1", "new", "9"),
        ]
        plain = b"$8\r\nlistpack\r\n"
        for change in changes:
            with self.subTest(change=change):
                self.server.ask("DEL", "h", "i")
                self.server.ask(*FIELDS)
                self.assertEqual(self.encoding("h"), plain)
                if b"unknown command" in self.server.ask(*change):
                    continue
                self.assertNotEqual(self.encoding("h"), plain)
                self.server.ask("COPY", "h", "i")
                self.assertNotEqual(self.encoding("i"), plain)
                self.server.ask("RENAME", "i", "h")
                self.assertNotEqual(self.encoding("h"), plain)
                self.server.ask("DEBUG", "RELOAD")
                self.assertNotEqual(self.encoding("h"), plain)

    def test_a_user_who_may_not_ask_for_encodings_has_copies(self):
        self.addCleanup(self.server.ask, "ACL", "SETUSER", "default", "+object|encoding")
        self.heat(("HGETALL", "h"))
        allowed = self.server.ask("ACL", "SETUSER", "default", "-object|encoding")
        self.assertEqual(allowed, b"+OK\r\n")
        for call in (("HGETALL", "h"), ("HVALS", "h")):
            self.server.ask("HSET", "h", "a", "7")
            self.heat(call)
            self.assertEqual(self.client.ask(*call), self.server.ask(*call))

    def test_a_user_who_may_not_ask_for_the_ends_has_no_copies_of_hashes(self):
        self.heat(("HGET", "h", "a"))
        self.addCleanup(self.server.ask, "ACL", "SETUSER", "default", "+hpttl")
        self.assertEqual(self.server.ask("ACL", "SETUSER", "default", "-hpttl"), b"+OK\r\n")
        self.assertIn(b"NOPERM", self.server.ask("HPTTL", "h", "FIELDS", "1", "a"))
        self.heat(("HLEN", "h"))
        before = self.hits()
        for _ in range(20):
            self.assertEqual(self.client.ask("HGET", "h", "b"), b"$1\r\n2\r\n")
        self.assertEqual(self.hits(), before)

    def test_foreign_changes_of_an_expiry_are_seen(self):
        read = ("HGET", "h", "a")
        changes = [
            (("HPEXPIRE", "h", "80", "FIELDS", "1", "a"), b"$-1\r\n"),
            (("HPEXPIREAT", "h", "1", "FIELDS", "1", "a"), b"$-1\r\n"),
            (("HPERSIST", "h", "FIELDS", "1", "a"), b"$1\r\n1\r\n"),
            (("HGETEX", "h", "PX", "80", "FIELDS", "1", "a"), b"$-1\r\n"),
            (("HSETEX", "h", "PX", "60000", "FIELDS", "1", "a", "9"), b"$1\r\n9\r\n"),
            (("HSETEX", "h", "PX", "80", "FIELDS", "1", "a", "9"), b"$-1\r\n"),
            (("HGETDEL", "h", "FIELDS", "1", "a"), b"$-1\r\n"),
        ]
        for change, expected in changes:
            with self.subTest(change=change):
                self.server.ask("DEL", "h")
                self.server.ask(*FIELDS)
                self.expire("a", 60_000)
                self.heat(read)
                if b"unknown command" in self.server.ask(*change):
                    continue
                time.sleep(0.1)  # longer than the lives above; nothing else shows their end
                until_seen(lambda: self.client.ask(*read), expected, STALENESS_S, f"{change}")

    def test_own_changes_of_an_expiry_are_seen_at_once(self):
        read = ("HGET", "h", "a")
        self.heat(read)
        self.client.ask("HPEXPIREAT", "h", "1", "FIELDS", "1", "a")
        self.assertEqual(self.client.ask(*read), b"$-1\r\n")
        self.client.ask("HSET", "h", "a", "4")
        self.assertEqual(self.client.ask(*read), b"$1\r\n4\r\n")


if __name__ == "__main__":
    unittest.main()
