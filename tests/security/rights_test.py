# SPDX-License-Identifier: Apache-2.0
"""A local copy is for whoever the server lets run that command on that key, and for nobody else."""

import time
import unittest

from harness import PATIENCE_S, Redis, until, until_seen
from stage import HOT, DoorTest, tcp

HITS = "heatsink_local_hits_total"
RENEWED = "heatsink_rights_renewed_total"
ACL_STALENESS_S = 0.5
STALENESS_S = 1  # cache.max-staleness
EAGER = {**HOT, "cache.acl-staleness": "500ms", "cache.expire-after-write": "1m"}
VALUE = b"$1\r\nv\r\n"


class RightsTest(DoorTest):
    """The proxy is the server's default user, who may do anything."""

    OPTIONS = EAGER

    def setUp(self):
        super().setUp()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.admin = self.keep(tcp(self.redis.port))
        self.door = self.start()

    def start(self):
        return self.open(f"redis://127.0.0.1:{self.redis.port}", **self.OPTIONS)

    def user(self, name, *rules):
        answer = self.admin.ask("ACL", "SETUSER", name, "on", f">{name}-pw", *rules)
        self.assertEqual(answer, b"+OK\r\n")

    def client(self, user=None, hello=None):
        client = self.keep(tcp(self.door.port))
        if hello is not None:
            self.assertTrue(client.ask("HELLO", hello).startswith(b"%" if hello == 3 else b"*"))
        if user is not None:
            self.assertEqual(client.ask("AUTH", user, f"{user}-pw"), b"+OK\r\n")
        return client

    def set(self, *keys):
        for key in keys:
            self.assertEqual(self.admin.ask("SET", key, "v"), b"+OK\r\n")

    def hits(self):
        return self.door.metric(HITS)

    def gets_hits(self, client, *read):
        """Until some of a row of reads are hits; their answers."""

        def served():
            before = self.hits()
            answers = {client.ask(*read) for _ in range(40)}
            return self.hits() >= before + 20 and answers

        return until(served, PATIENCE_S, f"hits of {read}")

    def gets_none(self, client, *read):
        before = self.hits()
        answers = {client.ask(*read) for _ in range(40)}
        self.assertEqual(self.hits(), before, f"{read} was served locally")
        return answers

    def is_refused(self, client, *read):
        for answer in self.gets_none(client, *read):
            self.assertTrue(answer.startswith(b"-NOPERM"), answer)

    def read_past_the_bound(self, client, told_at):
        """No answer to what was sent later than acl-staleness after `told_at` is the value."""
        late = 0
        while late < 50:
            sent_at = time.monotonic()
            answer = client.ask("GET", "a:1")
            if sent_at - told_at > ACL_STALENESS_S:
                late += 1
                self.assertTrue(answer.startswith(b"-NOPERM"), (answer, sent_at - told_at))


class OtherUsers(RightsTest):
    def test_what_they_may_read_is_served_locally(self):
        self.set("a:1", "b:1")
        self.user("alice", "~a:*", "+@all")
        for hello in (None, 3):
            alice = self.client("alice", hello)
            self.assertEqual(self.gets_hits(alice, "GET", "a:1"), {VALUE})
            self.assertEqual(alice.ask("SET", "a:1", "w"), b"+OK\r\n")
            self.assertEqual(alice.ask("GET", "a:1"), b"$1\r\nw\r\n")
            self.set("a:1")

    def test_what_they_may_not_is_refused_however_hot(self):
        self.set("a:1", "b:1")
        self.user("alice", "~a:*", "+@all")
        alice = self.client("alice")
        self.gets_hits(alice, "GET", "a:1")
        self.gets_hits(self.client(), "GET", "b:1")
        self.is_refused(alice, "GET", "b:1")
        self.is_refused(alice, "MGET", "a:1", "b:1")

    def test_a_right_is_to_a_command(self):
        self.set("a:1")
        self.user("bob", "~*", "+@all", "-get")
        bob = self.client("bob")
        self.gets_hits(self.client(), "GET", "a:1")
        self.assertEqual(self.gets_hits(bob, "STRLEN", "a:1"), {b":1\r\n"})
        self.is_refused(bob, "GET", "a:1")
        self.assertEqual(self.gets_hits(bob, "MGET", "a:1"), {b"*1\r\n" + VALUE})

    def test_rights_to_read_and_to_write_are_two(self):
        self.set("r:1", "w:1")
        self.user("carol", "%R~r:*", "%W~w:*", "+@all")
        carol = self.client("carol")
        self.assertEqual(self.gets_hits(carol, "GET", "r:1"), {VALUE})
        self.assertTrue(carol.ask("SET", "r:1", "w").startswith(b"-NOPERM"))
        self.gets_hits(self.client(), "GET", "w:1")
        self.is_refused(carol, "GET", "w:1")
        self.assertEqual(carol.ask("SET", "w:1", "w"), b"+OK\r\n")

    def test_two_selectors_do_not_add_up(self):
        self.set("s:1", "s:2")
        self.user("dave", "(+mget ~s:1)", "(+mget ~s:2)")
        dave = self.client("dave")
        for key in ("s:1", "s:2"):
            self.assertEqual(self.gets_hits(dave, "MGET", key), {b"*1\r\n" + VALUE})
        self.gets_hits(self.client(), "MGET", "s:1", "s:2")
        self.is_refused(dave, "MGET", "s:1", "s:2")

    def test_a_proof_is_of_one_user(self):
        self.set("a:1")
        self.user("alice", "~a:*", "+@all")
        self.user("eve", "~e:*", "+@all")
        self.gets_hits(self.client("alice"), "GET", "a:1")
        eve = self.client("eve")
        self.is_refused(eve, "GET", "a:1")
        self.assertEqual(eve.ask("AUTH", "alice", "wrong")[:10], b"-WRONGPASS")
        self.is_refused(eve, "GET", "a:1")
        self.assertEqual(eve.ask("AUTH", "alice", "alice-pw"), b"+OK\r\n")
        self.gets_hits(eve, "GET", "a:1")
        self.assertEqual(eve.ask("AUTH", "eve", "eve-pw"), b"+OK\r\n")
        self.is_refused(eve, "GET", "a:1")

    def test_databases_and_transactions(self):
        self.user("alice", "~a:*", "+@all")
        alice = self.client("alice")
        self.assertEqual(alice.ask("SELECT", 1), b"+OK\r\n")
        self.assertEqual(alice.ask("SET", "a:1", "v"), b"+OK\r\n")
        self.assertEqual(self.gets_hits(alice, "GET", "a:1"), {VALUE})
        self.assertEqual(alice.ask("MULTI"), b"+OK\r\n")
        self.assertEqual(alice.ask("GET", "a:1"), b"+QUEUED\r\n")
        self.assertEqual(alice.ask("EXEC"), b"*1\r\n" + VALUE)
        self.assertEqual(self.gets_hits(alice, "GET", "a:1"), {VALUE})

    def test_rights_are_proven_anew_beside_the_hits(self):
        self.set("a:1")
        self.user("alice", "~a:*", "+@all")
        alice = self.client("alice")
        self.gets_hits(alice, "GET", "a:1")
        unproven = 'heatsink_local_refusals_total{rule="rights"}'

        def renewed_in_time():
            """A machine that stands still lets a proof end: then once more."""
            renewals, refusals = self.door.metric(RENEWED), self.door.metric(unproven, exact=True)
            while self.door.metric(RENEWED) < renewals + 5:
                for _ in range(100):
                    self.assertEqual(alice.ask("GET", "a:1"), VALUE)
                if self.door.metric(unproven, exact=True) != refusals:
                    return False
            return True

        until(renewed_in_time, 3 * PATIENCE_S, "five renewals, and no hit that was refused")


class Revoked(RightsTest):
    def setUp(self):
        super().setUp()
        self.set("a:1")
        self.user("alice", "~a:*", "+@all")
        self.alice = self.client("alice")
        self.gets_hits(self.alice, "GET", "a:1")

    def test_behind_the_back_of_the_proxy(self):
        for rule in (("resetkeys", "~b:*"), ("-get",), ("nocommands",)):
            self.user("alice", "resetkeys", "~a:*", "+@all")
            self.gets_hits(self.alice, "GET", "a:1")
            self.user("alice", *rule)
            self.read_past_the_bound(self.alice, time.monotonic())

    def test_through_the_proxy_at_once(self):
        self.assertEqual(self.client().ask("ACL", "SETUSER", "alice", "resetkeys"), b"+OK\r\n")
        self.assertTrue(self.alice.ask("GET", "a:1").startswith(b"-NOPERM"))

    def test_a_deleted_user_is_gone(self):
        self.admin.ask("ACL", "DELUSER", "alice")
        told_at = time.monotonic()
        with self.assertRaises(ConnectionError):
            while True:
                sent_at = time.monotonic()
                self.alice.ask("GET", "a:1")
                self.assertLess(sent_at - told_at, ACL_STALENESS_S)
        again = self.client()
        self.assertTrue(again.ask("AUTH", "alice", "alice-pw").startswith(b"-WRONGPASS"))

    def test_a_changed_password_keeps_new_clients_out(self):
        self.user("alice", "resetpass", ">other")
        self.assertEqual(self.alice.ask("GET", "a:1"), VALUE)  # as the server has it
        self.assertTrue(self.client().ask("AUTH", "alice", "alice-pw").startswith(b"-WRONGPASS"))
        self.assertEqual(self.client().ask("AUTH", "alice", "other"), b"+OK\r\n")


class TheProxysOwnUser(RightsTest):
    """Its clients are that user, and so are the copies."""

    RULES = ("~*", "+@all")

    def start(self):
        self.user("app", *self.RULES)
        return self.open(f"redis://app:app-pw@127.0.0.1:{self.redis.port}", **self.OPTIONS)

    def test_is_told_when_it_may_do_less(self):
        self.set("a:1")
        app = self.client("app")
        self.gets_hits(app, "GET", "a:1")
        self.user("app", "resetkeys", "~b:*", "~heatsink:*")
        until_seen(
            lambda: app.ask("GET", "a:1").startswith(b"-NOPERM"),
            True, ACL_STALENESS_S + STALENESS_S, "a refusal",
        )  # fmt: skip

    def test_through_the_proxy_at_once(self):
        self.set("a:1")
        app = self.client("app")
        self.gets_hits(app, "GET", "a:1")
        change = ("ACL", "SETUSER", "app", "resetkeys", "~b:*", "~heatsink:*")
        self.assertEqual(self.client("app").ask(*change), b"+OK\r\n")
        self.assertTrue(app.ask("GET", "a:1").startswith(b"-NOPERM"))

    def test_whoever_says_nothing_is_the_servers_default_user(self):
        self.set("a:1")
        self.admin.ask("ACL", "SETUSER", "default", "resetkeys", "~d:*")
        self.gets_hits(self.client("app"), "GET", "a:1")
        self.is_refused(self.client(), "GET", "a:1")


class AUserWhoMayNotAsk(TheProxysOwnUser):
    """The server does not say what it may do: each copy is a proof, and lives no longer."""

    RULES = ("~*", "+@all", "-acl")
    test_through_the_proxy_at_once = None

    def test_is_told_when_it_may_do_less(self):
        self.set("a:1")
        app = self.client("app")
        self.gets_hits(app, "GET", "a:1")
        self.user("app", "resetkeys", "~b:*", "~heatsink:*")
        self.read_past_the_bound(app, time.monotonic())


if __name__ == "__main__":
    unittest.main()
