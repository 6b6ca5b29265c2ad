# SPDX-License-Identifier: Apache-2.0
"""Rights that are taken away: nothing is served locally to whom the server would refuse it."""

import time
import unittest

from harness import EAGER, LOG, PATIENCE_S, SLOW, Proxy, Redis, RedisError, ValueClient, until
from recorded import BOUND_S, Recorded


class Row18(Recorded):
    """The copies end in time, and come back with the rights."""

    # cache.acl-staleness, and as much again as a busy machine may be late with asking for it.
    SOON_S = 1 + BOUND_S

    def revoked(self, taken, given_back):
        with self.recorded() as (theatre, play), ValueClient(theatre.proxies[0].port) as client:
            theatre.ask("ACL", "SETUSER", "default", *taken)
            revoked, asked = time.monotonic(), 0
            while asked < revoked + self.SOON_S * SLOW + 0.2:
                asked = time.monotonic()
                answer = client("GET", "k0")
                if asked > revoked + self.SOON_S * SLOW:
                    self.assertIsInstance(answer, RedisError)
                    self.assertIn("NOPERM", answer)
            play.copies_fall_silent()
            theatre.ask("ACL", "SETUSER", "default", *given_back)

    def test_keys_revoked(self):
        self.revoked(("resetkeys", "~other:*", "~heatsink:*"), ("allkeys",))

    def test_command_revoked(self):
        """Strings are filled by GETRANGE: who may still run that reads the same bytes by it."""
        self.revoked(("-get", "-getrange"), ("+get", "+getrange"))


class Row18Users(unittest.TestCase):
    """Clients and proxy are the same user, which the server then knows no longer."""

    def setUp(self):
        self.server = Redis()
        self.addCleanup(self.server.stop)
        self.direct = ValueClient(self.server.port)
        self.addCleanup(self.direct.close)
        self.direct("ACL", "SETUSER", "app", "on", ">secret", "allkeys", "+@all")
        self.direct("SET", "k", "v")
        self.direct("ACL", "SETUSER", "default", "off")
        upstream = f"redis://app:secret@127.0.0.1:{self.server.port}"
        self.proxy = Proxy(upstream, EAGER, stderr=LOG)
        self.addCleanup(self.proxy.stop)
        self.client = self.log_in()
        hits = self.proxy.hits()
        until(
            lambda: self.client("GET", "k") == b"v" and self.proxy.hits() > hits,
            PATIENCE_S, "a hit",
        )  # fmt: skip

    def log_in(self):
        client = ValueClient(self.proxy.port)
        self.addCleanup(client.close)
        self.reply = client("AUTH", "app", "secret")
        return client

    def refused(self, client):
        """Whether it is told no value, be it by an error or by the end of its connection."""
        try:
            return isinstance(client("GET", "k"), RedisError)
        except OSError:
            return True

    def no_hits(self, *clients):
        before = self.proxy.hits()
        for client in clients:
            for _ in range(50):
                self.assertTrue(self.refused(client))
        self.assertEqual(self.proxy.hits(), before)

    def test_user_deleted(self):
        self.direct("ACL", "DELUSER", "app")
        until(lambda: self.refused(self.client), PATIENCE_S, "it is refused")
        late = self.log_in()
        self.assertIsInstance(self.reply, RedisError)
        self.no_hits(self.client, late)

    def test_password_changed(self):
        """Who has logged in stays in, as at the server; nobody gets in by the old one."""
        self.direct("ACL", "SETUSER", "app", "resetpass", ">changed")
        late = self.log_in()
        self.assertIn("WRONGPASS", self.reply)
        self.no_hits(late)
        self.assertEqual(self.client("GET", "k"), b"v")


if __name__ == "__main__":
    unittest.main()
