# SPDX-License-Identifier: Apache-2.0
"""The server dies, stands still, is busy, babbles, or cuts the tracker off, during a recorded load.

What one client sees of the same faults, to the millisecond, is in server_faults_test.py.
"""

import contextlib
import signal
import time
import unittest

from harness import (
    ERRORS_WHEN_DOWN, PATIENCE_S, SLOW, RawClient, RedisError, ValueClient, encode, long_form,
    until,
)  # fmt: skip
from harness.theatre import Theatre
from recorded import COPIES, Recorded, trackers

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")  # what was acknowledged is there again
BRIEF = {"upstream.response-timeout": "2s"}


@long_form("server_faults_test.py Killed; 'one proxy, faults', 'restarts with other data'")
class Row01(Recorded):
    def refusal(self, theatre):
        answer = self.answer(theatre, "GET", "k0")
        return answer if isinstance(answer, RedisError) else None

    def test_kill_9(self):
        with self.recorded(server_args=DURABLE, options=ERRORS_WHEN_DOWN) as (theatre, play):
            for _ in range(2):
                theatre.server.process.kill()
                play.copies_fall_silent()
                # Copies are silent also while the load gets no time.
                answer = until(lambda: self.refusal(theatre), PATIENCE_S, "an error")
                self.assertIn("is not reachable", answer)
                theatre.server.restart()
                play.copies_speak(COPIES)


@long_form("server_faults_test.py Stopped; 'one proxy, faults'")
class Row02(Recorded):
    def test_a_short_stop(self):
        with self.recorded() as (theatre, play):
            until(lambda: self.hits_go_on(theatre), PATIENCE_S, "hits during a short stop")
            play.copies_speak(COPIES)

    def hits_go_on(self, theatre):
        """During a stop, unless everything stands still."""
        before = self.lost(theatre)
        hits = theatre.hits()
        theatre.server.process.freeze()
        time.sleep(0.3)  # the fault lasts this long: less than the bound
        meanwhile = theatre.hits() - hits
        theatre.server.process.signal(signal.SIGCONT)
        theatre.wait_coherent()
        return meanwhile > 0 and self.lost(theatre) == before

    def test_a_long_stop(self):
        """Every waiter ends by its time-out, and what is answered late fills nothing."""
        with self.recorded(options=BRIEF | ERRORS_WHEN_DOWN) as (theatre, play):
            before = self.lost(theatre)
            theatre.server.process.freeze()
            self.wait_for_loss(theatre, before)
            play.copies_fall_silent()
            self.assertIsInstance(self.answer(theatre, "GET", "k0"), RedisError)
            silent = theatre.hits()
            time.sleep(0.5)  # only time shows that no copy speaks
            self.assertEqual(theatre.hits(), silent)
            theatre.server.process.signal(signal.SIGCONT)


class Row11(Recorded):
    """A tracker that the server cuts off takes its copies along, and another one comes."""

    def survives(self, cut, **stage):
        with self.recorded(**stage) as (theatre, _):
            before = self.lost(theatre)
            cut(theatre)
            self.wait_for_loss(theatre, before)
            until(lambda: len(trackers(theatre.server.port)) == 1, PATIENCE_S, "one tracker")

    @long_form("server_faults_test.py CutOff; 'one proxy, faults'")
    def test_client_kill(self):
        def kill(theatre):
            for tracker in trackers(theatre.server.port):
                theatre.ask("CLIENT", "KILL", "ID", tracker.removeprefix("id="))

        self.survives(kill)

    def test_past_its_output_limit(self):
        def flood(theatre):
            theatre.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 65536 0 0")
            theatre.relay.hold()
            with ValueClient(theatre.server.port) as client:
                client("SELECT", "9")  # a flush of any database is told to every tracker
                while trackers(theatre.server.port):
                    client.pipeline([("FLUSHDB",)] * 5000)
            theatre.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
            theatre.relay.go_on()

        self.survives(flood, push_delay_s=0)

    @long_form("test_past_its_output_limit")
    def test_maxmemory_clients(self):
        def evict(theatre):
            before = self.lost(theatre)
            with ValueClient(theatre.server.port) as spared:
                spared("CLIENT", "NO-EVICT", "ON")
                spared("CONFIG", "SET", "maxmemory-clients", "1")
                self.wait_for_loss(theatre, before)
                spared("CONFIG", "SET", "maxmemory-clients", "0")

        self.survives(evict)

    @long_form("test_past_its_output_limit")
    def test_idle_time_out(self):
        def tire(theatre):
            theatre.ask("CONFIG", "SET", "timeout", "1")
            theatre.proxies[0].process.freeze()
            until(lambda: not trackers(theatre.server.port), PATIENCE_S, "it was idle for too long")
            theatre.proxies[0].process.signal(signal.SIGCONT)

        self.survives(tire)


class Row12(Recorded):
    """A server that is busy answers nobody, or everybody with an error: its copies end in time."""

    BUSY_MS = 2500

    def falls_silent_and_recovers(self, be_busy, end=lambda theatre: None):
        with self.recorded() as (theatre, _):
            before = self.lost(theatre)
            be_busy(theatre)
            self.wait_for_loss(theatre, before)
            end(theatre)

    @long_form("server_faults_test.py Busy; 'one proxy, faults'")
    def test_client_pause(self):
        self.falls_silent_and_recovers(
            lambda theatre: theatre.ask("CLIENT", "PAUSE", self.BUSY_MS, "ALL")
        )

    @long_form("server_faults_test.py Busy; 'one proxy, faults'")
    def test_debug_sleep(self):
        self.falls_silent_and_recovers(
            lambda theatre: theatre.ask("DEBUG", "SLEEP", self.BUSY_MS / 1e3)
        )

    def test_a_script_that_does_not_end(self):
        with contextlib.ExitStack() as scripts:

            def run(theatre):
                theatre.ask("CONFIG", "SET", "busy-reply-threshold", "50")
                client = scripts.enter_context(ValueClient(theatre.server.port))
                client.send("EVAL", "while true do end", "0")

            self.falls_silent_and_recovers(run, lambda theatre: theatre.ask("SCRIPT", "KILL"))


class Row20(Recorded):
    GARBAGE = (b"hello\r\n", b"$-2\r\n", b"*-5\r\n", b"$999999999999\r\n")

    @long_form("tracker_test.cc; 'faults at random'")
    def test_the_tracker_is_told_what_is_no_protocol(self):
        with self.recorded(push_delay_s=0) as (theatre, play):
            for garbage in (*self.GARBAGE, b":0\r\n"):  # and one reply more than was asked for
                before = self.lost(theatre)
                theatre.relay.tell(garbage, theatre.relay.trackers)
                self.wait_for_loss(theatre, before)
                play.copies_speak(COPIES)

    def test_everybody_is(self):
        with self.recorded(push_delay_s=0) as (theatre, play):
            for garbage in self.GARBAGE:
                before = self.lost(theatre)
                theatre.relay.tell(garbage, theatre.relay.pairs)
                self.wait_for_loss(theatre, before)
                play.copies_speak(COPIES)

    def test_a_reply_to_what_has_not_been_sent(self):
        """More is answered than the server can have read: the rest of it is still in the proxy."""
        count, value = 64, b"x" * 500_000  # more than all sockets on the way hold
        patient = ERRORS_WHEN_DOWN | {"upstream.response-timeout": "60s"}
        with Theatre(push_delay_s=0, options=patient) as theatre:
            theatre.relay.stop_reading()
            with RawClient(theatre.proxies[0].port, timeout_s=1) as client:
                with self.assertRaises(TimeoutError):
                    client.send_raw(encode("SET", "unsent", value) * count)
                client.socket.settimeout(PATIENCE_S * SLOW)
                theatre.relay.tell(b"+OK\r\n" * count, theatre.relay.pairs)
                reply = b"+OK\r\n"
                while reply == b"+OK\r\n":
                    reply = client.read()
                self.assertIn(b"the server sent a reply without a request", reply)
            theatre.relay.read_on()
            until(lambda: self.answer(theatre, "PING") == "PONG", PATIENCE_S, "it goes on")
            theatre.stop_proxies()


if __name__ == "__main__":
    unittest.main()
