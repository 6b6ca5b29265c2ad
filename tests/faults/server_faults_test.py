# SPDX-License-Identifier: Apache-2.0
"""A server that dies, hangs, pauses, cuts the tracker off: hits stop, nothing old comes back."""

import itertools
import signal
import threading
import time
import unittest

import stage
from harness import ERRORS_WHEN_DOWN, ValueClient, until_seen
from stage import STALENESS_S, is_error


class Reader(threading.Thread):
    """Reads a key all the time, and notes each answer with its times, errors too."""

    def __init__(self, port, key):
        super().__init__(daemon=True)
        self.port, self.key = port, key
        self.seen = []  # (invoked, responded, value, None for no such key, or an error)
        self.ending = threading.Event()
        self.start()

    def run(self):
        client = None
        while not self.ending.is_set():
            invoked = time.monotonic()
            try:
                client = client or ValueClient(self.port)
                value = client("GET", self.key)
            except OSError as error:
                client, value = None, error
            self.seen.append((invoked, time.monotonic(), value))
        if client:
            client.close()

    def end(self):
        self.ending.set()
        self.join(stage.PATIENCE_S)
        return self.seen

    def answers_since(self, moment):
        """Values, and no errors, that reads which began after the moment were told."""
        late = itertools.takewhile(lambda read: read[0] >= moment, reversed(self.seen))
        return [value for _, _, value in late if not is_error(value)]

    def end_when_served(self, moment):
        """Ends after a read that began after the moment."""
        stage.wait_until(lambda: self.answers_since(moment), "a reader is served again")
        self.end()


def last_hit(readers, silent_until):
    """When the last read was asked that was answered while the server answered nobody; 0: none.

    When it was asked, not when the answer was seen: the proxy promises nothing about how soon a
    busy machine lets the reader see it.
    """
    return max((invoked for reader in readers for invoked, responded, value in reader.seen
                if responded < silent_until and not is_error(value)), default=0)


class Faults(stage.Stage):
    # Whoever would wait for one of these time-outs waits for longer than its client does.
    options = ERRORS_WHEN_DOWN | {
        "upstream.backoff-max": "100ms",
        "upstream.connect-timeout": "1m",
        "upstream.response-timeout": "1m",
    }

    def setUp(self):
        super().setUp()
        self.reader = self.client()
        self.direct("SET", "k", "old")
        self.heat(self.reader, "k")

    def under_load(self, count=3):
        readers = [Reader(self.proxy.port, "k") for _ in range(count)]
        for reader in readers:
            stage.wait_until(lambda: len(reader.seen) > 20, "the load runs")
        return readers

    def expect_recovery(self, key="k"):
        """Everything works again, copies included."""
        self.wait_coherent()
        reader = stage.wait_until(self.working_client, "a client that is served")
        self.heat(reader, key)
        self.direct("SET", key, "after all")
        self.expect_soon(reader, key, b"after all")

    def lost(self):
        """How often the proxy has lost its tracker."""
        return self.proxy.metric("heatsink_tracker_lost_total")

    def working_client(self):
        try:
            client = ValueClient(self.proxy.port)
            if not is_error(client("GET", "k")):
                self.addCleanup(client.close)
                return client
            client.close()
        except OSError:
            pass
        return None

    def stalled_hits(self, seconds):
        """Stops the server for so long under load. How long hits went on, in seconds."""
        readers = self.under_load()
        self.server.process.freeze()
        stopped = time.monotonic()
        time.sleep(seconds)  # the fault lasts this long
        continued = time.monotonic()
        self.server.process.signal(signal.SIGCONT)
        for reader in readers:
            reader.end_when_served(continued)
        return last_hit(readers, continued) - stopped


class Killed(Faults):
    def test_kill_9_and_another_data_set(self):
        for value in (b"younger", None, b"older"):
            readers = self.under_load()
            self.direct.close()
            lost = self.lost()
            self.server.process.kill()
            stage.wait_until(lambda: self.lost() > lost, "the proxy notices")
            self.server.restart()
            self.direct = ValueClient(self.server.port)
            self.addCleanup(self.direct.close)
            if value is not None:
                self.direct("SET", "k", value)
            # What was read before the SET may be served until its push is there.
            settled = time.monotonic() + STALENESS_S
            for reader in readers:
                stage.wait_until(
                    lambda: len(reader.answers_since(settled)) > 50, "reads work again"
                )
            for reader in readers:
                reader.end()
                self.assertEqual(set(reader.answers_since(settled)), {value})
            self.expect_recovery()

    def test_while_it_is_down_the_answer_is_an_error(self):
        self.server.process.kill()
        until_seen(lambda: is_error(self.reader("GET", "k")), True, STALENESS_S, "an error")
        for _ in range(20):
            self.assertIn("not reachable", self.reader("GET", "k"))
        self.server.restart()
        self.direct = ValueClient(self.server.port)
        self.addCleanup(self.direct.close)
        self.expect_recovery()


class Stopped(Faults):
    def test_a_short_stop_does_not_end_hits(self):
        def hits_went_on():  # unless everything stood still meanwhile
            lost = self.lost()
            last = self.stalled_hits(0.3)
            print(f"\nserver stopped 0.3 s: last hit after {last:.2f} s")
            return last > 0.2 and self.lost() == lost

        stage.wait_until(hits_went_on, "hits during a short stop")
        self.expect_recovery()

    def test_a_long_stop_ends_hits_at_the_bound(self):
        def hits_went_on():
            self.heat(self.reader, "k")
            last = self.stalled_hits(2 * STALENESS_S)
            print(f"\nserver stopped {2 * STALENESS_S} s: last hit after {last:.2f} s")
            self.assertLess(last, STALENESS_S)
            return last > STALENESS_S / 2

        stage.wait_until(hits_went_on, "hits during the stop", 3 * stage.PATIENCE_S)
        self.expect_recovery()

    def test_a_write_during_the_stop_is_not_hidden_by_late_fills(self):
        """Late answers to what was asked before the stop may be old: none of them is kept."""
        writer = self.client()
        for _ in range(2):
            self.direct("SET", "k", "old")
            self.heat(self.reader, "k")
            self.server.process.freeze()
            stage.wait_until(lambda: not self.is_coherent(), "the copies' proof is over")
            writer.send("SET", "k", "new")
            self.reader.send("GET", "k")
            self.server.process.signal(signal.SIGCONT)
            self.assertEqual(writer.read(), "OK")
            self.assertIn(self.reader.read(), (b"old", b"new"))
            for _ in range(200):
                self.assertEqual(self.reader("GET", "k"), b"new")

    def test_the_stopped_proxy_refuses_its_first_hit(self):
        for change in (b"changed", None):
            self.heat(self.reader, "k")
            self.proxy.process.freeze()
            self.reader.send("GET", "k")
            self.direct("DEL", "k") if change is None else self.direct("SET", "k", change)
            time.sleep(STALENESS_S + 0.1)  # the proxy cannot say that the proof is over
            asked_late = self.client()
            asked_late.send("GET", "k")
            self.proxy.process.signal(signal.SIGCONT)
            self.assertEqual(self.reader.read(), change)
            self.assertEqual(asked_late.read(), change)
            self.direct("SET", "k", "again")
            self.expect_soon(self.reader, "k", b"again")


class CutOff(Faults):
    def cut_and_change(self, cut, value):
        """After the cut nothing says that the key has changed; it is seen all the same."""
        generation = self.tracker_id()
        cut()
        self.direct("SET", "k", value)
        self.expect_soon(self.reader, "k", value)
        stage.wait_until(lambda: self.tracker_id() not in (None, generation), "a new tracker")

    def test_the_tracker_is_killed(self):
        for i in range(5):
            self.wait_coherent()
            self.heat(self.reader, "k")
            tracker = self.tracker_id()
            self.cut_and_change(lambda: self.direct("CLIENT", "KILL", "ID", tracker), b"%d" % i)
        self.expect_recovery()

    def test_every_connection_is_killed(self):
        for i in range(3):
            self.wait_coherent()
            self.heat(self.reader, "k")
            self.direct("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            self.direct("SET", "k", i)
            self.expect_soon(self.reader, "k", b"%d" % i)
        self.expect_recovery()

    def test_the_tracking_table_has_room_for_one_name(self):
        self.direct("CONFIG", "SET", "tracking-table-max-keys", "1")
        self.direct("MSET", "a", "1", "b", "1")
        for i in range(100):
            for key in ("a", "b", "k"):
                self.direct("SET", key, i)
            for key in ("a", "b", "k"):
                self.expect_soon(self.reader, key, b"%d" % i)

    def test_the_user_may_no_longer_read(self):
        self.direct("ACL", "SETUSER", "default", "resetkeys", "~allowed:*")
        revoked = time.monotonic()
        stage.wait_until(lambda: is_error(self.reader("GET", "k")), "NOPERM")
        print(f"\nkeys revoked: refused after {(time.monotonic() - revoked) * 1e3:.0f} ms")
        self.assertIn("NOPERM", self.reader("GET", "k"))
        self.direct("ACL", "SETUSER", "default", "allkeys")
        self.expect_recovery()


class Busy(Faults):
    BUSY_S = 2 * STALENESS_S

    def refuses_within_the_bound(self, be_busy):
        """`be_busy` returns the latest moment at which the server can have become busy."""
        readers = self.under_load(2)
        silent_until = time.monotonic() + self.BUSY_S
        began = be_busy()
        for reader in readers:
            reader.end_when_served(silent_until)
        self.assertLess(last_hit(readers, silent_until) - began, STALENESS_S)
        self.expect_recovery()

    def test_client_pause(self):
        def pause():
            self.direct("CLIENT", "PAUSE", int(self.BUSY_S * 1000), "ALL")
            return time.monotonic()

        self.refuses_within_the_bound(pause)

    def test_debug_sleep(self):
        def sleep():
            with ValueClient(self.server.port) as sleeper:
                sleeper("DEBUG", "SLEEP", self.BUSY_S)
            return time.monotonic() - self.BUSY_S

        self.refuses_within_the_bound(sleep)

    def test_pause_of_writes_keeps_hits(self):
        self.direct("CLIENT", "PAUSE", "600000", "WRITE")

        def hits_go_on():  # unless everything stands still meanwhile
            before = self.reads_seen()
            for _ in range(100):
                self.assertEqual(self.reader("GET", "k"), b"old")
            return self.reads_seen() - before < 50

        stage.wait_until(hits_go_on, "hits during the pause")


class Ended(Faults):
    """The proxy ends by itself when it is told to, whatever the server does.

    Else it would give up in the end (kEndWithin of apps/heatsink/proxy.cc), which stop() sees.
    """

    def end_with_waiting_clients(self):
        waiting = [self.client() for _ in range(6)]
        for number, command in enumerate([("SET", "k", 1), ("BLPOP", "q", 0), ("MULTI",)] * 2):
            waiting[number].send(*command)
        self.proxy.stop()
        for client in waiting:
            with self.assertRaises(ConnectionError):
                while True:
                    client.read()

    def test_while_the_server_is_there(self):
        self.end_with_waiting_clients()

    def test_while_the_server_is_stopped(self):
        self.server.process.freeze()
        self.end_with_waiting_clients()

    def test_while_the_server_pauses(self):
        self.direct("CLIENT", "PAUSE", "60000", "ALL")
        self.end_with_waiting_clients()

    def test_while_the_server_is_gone(self):
        self.server.process.kill()
        self.end_with_waiting_clients()


if __name__ == "__main__":
    unittest.main()
