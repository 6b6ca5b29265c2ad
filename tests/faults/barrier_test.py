# SPDX-License-Identifier: Apache-2.0
"""HEATSINK BARRIER: after OK nobody reads behind what had been written before it was asked."""

import unittest

import stage
from harness import LOG, PATIENCE_S, Proxy, RawClient, Redis, ValueClient, until
from harness.relay import Relay

ROUNDS = 100
UNKNOWN = "ERR unknown command 'HEATSINK', with args beginning with: "
ARGUMENTS = "ERR heatsink: the timeout of HEATSINK BARRIER must be 1 to 60000 milliseconds"


class BarrierTest(stage.Stage):
    """The relay before the server delays what the proxy's tracker is told."""

    options = {"cache.max-staleness": "30s", "cache.expire-after-write": "40s"}
    delay_s = 0.0

    def setUp(self):
        self.server = Redis(*self.server_args)
        self.addCleanup(self.server.stop)
        self.relay = Relay(self.server.port, self.delay_s)
        self.addCleanup(self.relay.close)
        self.direct = ValueClient(self.server.port)
        self.addCleanup(self.direct.close)
        self.start_proxy(f"redis://127.0.0.1:{self.relay.port}")
        self.one = self.client()

    def raw(self, resp=2):
        client = RawClient(self.proxy.port, resp)
        self.addCleanup(client.close)
        return client

    def make_old(self, key="k"):
        """The copy is old, and nobody has told the proxy."""
        self.direct("SET", key, "old")
        self.heat(self.one, key)
        self.relay.hold()
        self.direct("SET", key, "new")
        self.assertEqual(self.one("GET", key), b"old")


class LatePushes(BarrierTest):
    delay_s = 0.01

    def test_all_clients_read_what_was_written_before(self):
        readers = self.clients(4)
        self.direct("SET", "k", "0")
        self.heat(self.one, "k")
        hits = self.proxy.hits()
        for i in range(ROUNDS):
            self.direct("SET", "k", i)
            self.assertEqual(self.one("HEATSINK", "BARRIER", "60000"), "OK")
            for reader in readers:
                self.assertEqual(reader("GET", "k"), b"%d" % i)
        self.assertGreater(self.proxy.hits(), hits, "it was not the copies that were tested")
        passed = self.proxy.metric("heatsink_barrier_commands_total")
        self.assertEqual(passed, ROUNDS)


class Held(BarrierTest):
    def test_waits_for_the_tracker(self):
        self.make_old()
        self.one.send("HEATSINK", "BARRIER", "60000")
        self.assertEqual(self.client()("GET", "k"), b"old", "others are not stopped")
        self.relay.go_on()
        self.assertEqual(self.one.read(), "OK")
        self.assertEqual(self.one("GET", "k"), b"new")

    def test_no_longer_than_it_is_told(self):
        self.make_old()
        answer = self.one("heatsink", "barrier", "50")
        self.assertEqual(
            answer,
            "TIMEOUT heatsink: could not confirm within 50ms that reads see all earlier writes",
        )
        self.assertEqual(self.one("GET", "k"), b"old")
        self.one.send("HEATSINK", "BARRIER", "60000")
        self.relay.go_on()
        self.assertEqual(self.one.read(), "OK", "the late answer was not taken for this one's")
        self.assertEqual(self.one("GET", "k"), b"new")

    def test_in_its_place_in_a_pipeline(self):
        self.make_old()
        calls = [("GET", "k"), ("SET", "own", "1"), ("HEATSINK", "BARRIER"), ("GET", "k"),
                 ("GET", "own")]  # fmt: skip
        self.relay.go_on()
        answers = self.one.pipeline(calls)
        self.assertIn(answers[0], (b"old", b"new"))
        self.assertEqual(answers[1:], ["OK", "OK", b"new", b"1"])

    def test_nothing_is_waited_for_when_no_copy_is_alive(self):
        self.make_old()
        self.one.send("HEATSINK", "BARRIER", "60000")
        self.relay.lose()
        self.assertEqual(self.one.read(), "OK")
        self.assertEqual(self.one("GET", "k"), b"new")

    def test_a_client_that_leaves_meanwhile(self):
        self.make_old()
        leaves = self.raw()
        leaves.send("HEATSINK", "BARRIER", "60000")
        leaves.close()
        self.relay.go_on()
        self.assertEqual(self.one("HEATSINK", "BARRIER"), "OK")


class Words(BarrierTest):
    def test_in_both_protocols(self):
        for resp in (2, 3):
            client = self.raw(resp)
            self.assertEqual(client.ask("HEATSINK", "BARRIER"), b"+OK\r\n")
            self.assertEqual(client.ask("Heatsink", "Barrier", "60000"), b"+OK\r\n")
            self.assertIn(b"+BARRIER [<timeout-ms>]\r\n", client.ask("HEATSINK", "HELP"))
            client.send_raw(b"heatsink barrier\r\n")
            self.assertEqual(client.read(), b"+OK\r\n")

    def test_wrong_arguments(self):
        for timeout in ("0", "-1", "60001", "1.5", "1s", "", "9" * 40):
            self.assertEqual(self.one("HEATSINK", "BARRIER", timeout), ARGUMENTS, timeout)
        self.assertEqual(self.one("HEATSINK", "BARRIER", "1000", "more"), ARGUMENTS)
        self.assertEqual(
            self.one("HEATSINK"), "ERR wrong number of arguments for 'heatsink' command"
        )
        self.assertEqual(
            self.one("HEATSINK", "a\r\nb"),
            "ERR unknown subcommand or wrong number of arguments for 'a\\r\\nb'. "
            "Try HEATSINK HELP.",
        )
        self.assertEqual(self.one("HEATSINK", "BARRIER"), "OK")

    def test_ends_a_transaction_as_any_unknown_command(self):
        self.one("MULTI")
        self.assertIn(UNKNOWN, self.one("HEATSINK", "BARRIER"))
        self.assertEqual(self.one("SET", "k", "1"), "QUEUED")
        self.assertRegex(self.one("EXEC"), "^EXECABORT")
        self.assertEqual(self.one("HEATSINK", "BARRIER"), "OK")
        self.one("WATCH", "k")
        self.assertEqual(self.one("HEATSINK", "BARRIER"), "OK")
        self.one("MULTI")
        self.assertEqual(self.one("EXEC"), [])

    def test_a_subscriber_is_told_what_it_may_say(self):
        client = self.raw()
        client.ask("SUBSCRIBE", "news")
        self.assertTrue(client.ask("HEATSINK", "BARRIER").startswith(b"-ERR unknown command"))
        third = self.raw(resp=3)
        third.ask("SUBSCRIBE", "news")
        self.assertEqual(third.ask("HEATSINK", "BARRIER"), b"+OK\r\n")

    def test_no_reply_where_none_is_wanted(self):
        client = self.raw()
        client.send("CLIENT", "REPLY", "SKIP")
        client.send("HEATSINK", "BARRIER")
        self.assertEqual(client.ask("ECHO", "x"), b"$1\r\nx\r\n")


class WithoutCopies(BarrierTest):
    options = {"cache.enabled": "no"}

    def test_there_is_nothing_to_wait_for(self):
        self.relay.hold()
        self.assertEqual(self.one("HEATSINK", "BARRIER"), "OK")


class BeforeAuth(unittest.TestCase):
    def test_strangers_are_refused(self):
        server = Redis("--requirepass", "secret")
        self.addCleanup(server.stop)
        proxy = Proxy(f"redis://:secret@127.0.0.1:{server.port}", stderr=LOG)
        self.addCleanup(proxy.stop)
        with ValueClient(proxy.port) as client:
            until(lambda: proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")
            for call in (("HEATSINK", "BARRIER"), ("HEATSINK", "HELP"), ("HEATSINK",)):
                self.assertEqual(client(*call), "NOAUTH Authentication required.")
            self.assertEqual(client("AUTH", "secret"), "OK")
            self.assertEqual(client("HEATSINK", "BARRIER"), "OK")


if __name__ == "__main__":
    unittest.main()
