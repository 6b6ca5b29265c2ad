# SPDX-License-Identifier: Apache-2.0
"""What each level promises, and no more; and HEATSINK BARRIER: with pushes that are held back.

A relay stands before the server: while it holds, the server's answers on the tracking connection
do not come, so that a copy is old for as long as a test wants.
"""

import time
import unittest

import stage
from harness import PATIENCE_S, RawClient, Redis, ValueClient, until
from harness.relay import Relay

LONG = {"cache.max-staleness": "30s", "cache.expire-after-write": "40s"}


class Levels(stage.Stage):
    """One proxy whose rules have all levels: keys off:*, ttl:*, s:*; others have level key."""

    rules = ("match=off:*,level=off", "match=ttl:*,level=ttl", "match=s:*,level=session")
    options = LONG

    def setUp(self):
        self.server = Redis()
        self.addCleanup(self.server.stop)
        self.relay = Relay(self.server.port)
        self.addCleanup(self.relay.close)
        self.direct = ValueClient(self.server.port)
        self.addCleanup(self.direct.close)
        self.start_proxy(f"redis://127.0.0.1:{self.relay.port}", self.rules)
        self.reader = self.client()

    def make_hot(self, *keys):
        for key in keys:
            self.direct("SET", key, "old")
        self.heat(self.reader, *keys)

    def told(self, name):
        """What is said of a key; None while it is not known."""
        found = [key for key in self.proxy.api("hotkeys")["keys"] if key["name"] == name]
        return found[0] if found else None

    def named(self, name):
        return until(lambda: self.told(name), PATIENCE_S, f"{name} is named")


class Off(Levels):
    def test_hot_keys_are_named_and_never_copied(self):
        def found_hot():
            for _ in range(20):
                self.reader("GET", "off:k")
            key = self.told("off:k")
            return key and key["verdict"] == "hot" and key

        key = until(found_hot, PATIENCE_S, "off:k is found hot")
        self.assertEqual((key["level"], key["max_staleness_seconds"]), ("off", None))
        self.assertEqual((key["cached"], key["cache_note"]), (False, "its level is off"))
        before = self.reads_seen()
        for _ in range(100):
            self.reader("GET", "off:k")
        self.assertEqual(self.reads_seen() - before, 100)
        self.assertEqual(self.proxy.hits(), 0)


class Ttl(Levels):
    """On a slow machine a copy may be over before it was looked at: then once more."""

    options = {
        "cache.max-staleness": "200ms",
        "cache.expire-after-write": "4s",
        "cache.acl-staleness": "1h",
    }

    def make_old(self, *keys):
        """The copies are old, and nobody has told the proxy."""
        self.relay.go_on()
        self.make_hot(*keys)
        self.relay.hold()
        for key in keys:
            self.direct("SET", key, "new")

    def test_served_until_its_deadline_though_nothing_proves_it(self):
        def served_longer_than_any_proof_allows():
            self.make_old("ttl:k")
            started = time.monotonic()
            while self.reader("GET", "ttl:k") == b"old":
                self.assertLess(time.monotonic() - started, 4 + PATIENCE_S, "its deadline is over")
            return time.monotonic() - started > 0.25

        until(served_longer_than_any_proof_allows, 3 * PATIENCE_S, "an old value for long")
        key = self.named("ttl:k")
        self.assertEqual((key["level"], key["max_staleness_seconds"]), ("ttl", None))

    def test_outlives_the_tracker(self):
        def old_is_read_behind_the_loss():
            lost = self.proxy.metric("heatsink_tracker_lost_total")
            self.make_old("ttl:k", "key:k")
            self.relay.lose()
            until(lambda: self.proxy.metric("heatsink_tracker_lost_total") > lost, PATIENCE_S)
            until(lambda: self.reader("GET", "key:k") == b"new", PATIENCE_S, "key:k is dropped")
            return self.reader("GET", "ttl:k") == b"old"

        until(old_is_read_behind_the_loss, 3 * PATIENCE_S, "an old value behind the loss")
        until(lambda: self.reader("GET", "ttl:k") == b"new", PATIENCE_S, "its deadline")

    def test_own_pipeline_and_watch_go_to_the_server(self):
        self.make_hot("ttl:k")
        self.relay.hold()
        answers = self.reader.pipeline([("SET", "ttl:k", "mine"), ("GET", "ttl:k")])
        self.assertEqual(answers, ["OK", b"mine"])
        self.direct("SET", "ttl:k", "new")
        self.reader("WATCH", "ttl:k")
        self.assertEqual(self.reader("GET", "ttl:k"), b"new")
        self.reader("MULTI")
        self.reader("GET", "ttl:k")
        self.assertEqual(self.reader("EXEC"), [b"new"])


class TtlHeard(Levels):
    def test_dropped_by_an_invalidation_that_comes(self):
        self.make_hot("ttl:k")
        self.direct("SET", "ttl:k", "new")
        until(lambda: self.reader("GET", "ttl:k") == b"new", PATIENCE_S, "the push")


class Session(Levels):
    """Two keys are hot; somebody writes one and then the other past the proxy, unheard."""

    def test_key_may_show_new_and_then_old(self):
        self.make_hot("a", "b")
        self.relay.hold()
        self.direct("SET", "b", "new")
        self.direct("SET", "seen", "new")
        self.assertEqual(self.reader("GET", "seen"), b"new")
        self.assertEqual(self.reader("GET", "b"), b"old", "so that the tests below can fail")

    def proofs(self):
        """How often a session has waited for one."""
        return self.proxy.metric("heatsink_session_proofs_total")

    def show_new(self, reader):
        """The reader is told something newer than what the writer did to s:b."""
        self.relay.hold()
        self.direct("SET", "s:b", "new")
        self.direct("SET", "seen", "new")
        self.assertEqual(reader("GET", "seen"), b"new")

    def expect_new(self, reader, *call, answer=b"new"):
        """The read waits for a proof that cannot come yet; then it is right."""
        before = self.proofs()
        reader.send(*call)
        until(lambda: self.proofs() > before, PATIENCE_S, "waits")
        self.relay.go_on()
        self.assertEqual(reader.read(), answer)

    def test_nothing_older_than_what_it_was_told(self):
        self.make_hot("s:a", "s:b")
        self.assertEqual(self.named("s:a")["level"], "session")
        self.show_new(self.reader)
        self.expect_new(self.reader, "GET", "s:b")

    def test_nor_in_an_mget(self):
        self.make_hot("s:a", "s:b")
        self.show_new(self.reader)
        self.expect_new(self.reader, "MGET", "s:a", "s:b", answer=[b"old", b"new"])

    def test_another_session_was_told_nothing(self):
        self.make_hot("s:a", "s:b")
        until(lambda: self.is_local(self.reader, "s:b"), PATIENCE_S, "proven again")
        other = self.client()
        self.assertEqual(other("GET", "s:b"), b"old")
        self.show_new(other)
        self.assertEqual(self.reader("GET", "s:b"), b"old")

    def test_behind_what_is_in_flight_it_is_the_server_that_answers(self):
        self.make_hot("s:b")
        self.relay.hold()
        self.direct("SET", "s:b", "new")
        answers = self.reader.pipeline([("GET", "seen"), ("GET", "s:b")])
        self.assertEqual(answers, [None, b"new"])

    def test_after_a_message(self):
        subscriber = RawClient(self.proxy.port, resp=3)
        self.addCleanup(subscriber.close)
        subscriber.ask("SUBSCRIBE", "news")
        self.make_hot("s:b")
        until(lambda: subscriber.ask("GET", "s:b") == b"$3\r\nold\r\n", PATIENCE_S, "a value")
        self.relay.hold()
        self.direct("SET", "s:b", "new")
        self.direct("PUBLISH", "news", "s:b")
        self.assertIn(b"message", subscriber.read())
        before = self.proofs()
        subscriber.send("GET", "s:b")
        until(lambda: self.proofs() > before, PATIENCE_S, "waits")
        self.relay.go_on()
        self.assertEqual(subscriber.read(), b"$3\r\nnew\r\n")

    def test_hits_go_on(self):
        """One proof serves all that follow, and PING says nothing of any key."""
        self.make_hot("s:a", "s:b")
        self.reader("GET", "cold")
        self.reader("GET", "s:a")
        seen, hits, proofs = self.reads_seen(), self.proxy.hits(), self.proofs()
        for _ in range(200):
            self.reader("PING")
            self.reader("GET", "s:a")
            self.reader("GET", "s:b")
        # Next to nothing: copies end after 40 s, and are not proven while everything stands still.
        self.assertLess(self.reads_seen() - seen, 20)
        self.assertLess(self.proofs() - proofs, 20)
        self.assertGreater(self.proxy.hits() - hits, 380)


if __name__ == "__main__":
    unittest.main()
