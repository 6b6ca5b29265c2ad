# SPDX-License-Identifier: Apache-2.0
"""Near caches of clients on two workers: a writer's reply follows what both have told."""

import contextlib
import unittest

from harness import PATIENCE_S, Proxy, RawClient
from harness.near import Resp3Client, invalidate
from harness.two_workers import TwoWorkers, needs_library
from near_stage import ENDS_TRACKING, Tracking
from stage import ServerTest

WAITS_S = 0.3  # a reply that has not come by then waits for something


@needs_library
class TwoWorkersTest(Tracking, ServerTest):
    """`near` and `writers`: of the first worker, and of the second."""

    def setUp(self):
        workers = self.enterContext(TwoWorkers())
        self.proxy = Proxy(self.redis, ENDS_TRACKING, preload=workers.preload,
                           environment=workers.environment)  # fmt: skip
        self.addCleanup(self.proxy.stop)
        self.workers, self.trackers, self.writers = workers, [], []
        for _ in range(2):
            self.trackers += [self.near(), self.near()]
            self.writers.append(self.keep_open(RawClient(self.proxy.port)))
            self.writers[-1].ask("PING")
            if len(self.writers) == 1:
                workers.to_second()

    def port(self):
        return self.proxy.port

    def test_all_are_told_before_the_writer(self):
        for i in range(100):
            for client in self.trackers:
                client.keep("k", "j")
            self.writers[i % 2].ask("MSET", "k", i, "j", i)
            for client in self.trackers:
                heard = client.events()
                self.assertCountEqual(heard, [invalidate(b"k"), invalidate(b"j")])

    def test_a_writer_waits_for_a_worker_that_stands_still(self):
        for stopped in (0, 1):
            writer = self.writers[1 - stopped]
            for client in self.trackers:
                client.keep("k")
            with self.standing_still(stopped):
                writer.send("SET", "k", "value")
                self.assertIsNone(self.reply_soon(writer), "a client may still use what it keeps")
            self.assertEqual(writer.read(), b"+OK\r\n")
            for client in self.trackers:
                self.assertEqual(client.events(), [invalidate(b"k")])

    def test_a_write_of_a_name_that_is_not_kept_waits_for_nothing(self):
        for stopped in (0, 1):
            writer = self.writers[1 - stopped]
            with self.standing_still(stopped):
                writer.send("SET", "not kept", "value")
                self.assertEqual(self.reply_soon(writer), b"+OK\r\n")

    def test_a_client_that_leaves_a_worker_that_stands_still(self):
        """The writer waits for the worker, and not for its clients."""
        self.trackers[3].keep("k")
        with self.standing_still(1):
            self.writers[0].send("SET", "k", "value")
            self.assertIsNone(self.reply_soon(self.writers[0]))
            self.trackers[3].close()
        self.assertEqual(self.writers[0].read(), b"+OK\r\n")

    def test_a_writer_that_leaves_while_it_waits(self):
        self.trackers[3].keep("k")
        leaving = Resp3Client(self.port())  # on the second worker
        leaving.say("PING")
        self.trackers[0].keep("k")
        with self.standing_still(0):
            leaving.send("SET", "k", "value")
            self.assertEqual(self.trackers[3].next(), invalidate(b"k"))
            leaving.close()
        self.assertEqual(self.trackers[0].next(), invalidate(b"k"))
        self.assertEqual(self.writers[1].ask("GET", "k"), b"$5\r\nvalue\r\n")

    @contextlib.contextmanager
    def standing_still(self, number):
        """A worker; the clients of the other one are answered."""
        try:
            with self.workers.stopped(self.proxy, number):
                self.assertEqual(self.writers[1 - number].ask("PING"), b"+PONG\r\n")
                yield
        except PermissionError as error:
            self.skipTest(f"the system forbids this fault: {error}")

    @staticmethod
    def reply_soon(client):
        client.socket.settimeout(WAITS_S)
        try:
            return client.read()
        except TimeoutError:
            return None
        finally:
            client.socket.settimeout(PATIENCE_S)


if __name__ == "__main__":
    unittest.main()
