# SPDX-License-Identifier: Apache-2.0
"""SIGTERM: no new clients, and the present ones may end what they have begun."""

import signal
import socket
import time
import unittest
import urllib.error
import urllib.request

from harness import PATIENCE_S, Closed, Proxy, RawClient, Redis, need_programs, until


class Drain(unittest.TestCase):
    DRAIN = "20s"

    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.start(self.DRAIN)
        self.server = self.keep(RawClient(self.redis.port))

    def start(self, drain):
        self.proxy = Proxy(self.redis, {"shutdown.drain": drain})
        self.addCleanup(self.proxy.process.kill)

    def keep(self, client):
        self.addCleanup(client.close)
        return client

    def client(self, **how):
        return self.keep(RawClient(self.proxy.port, **how))

    def terminate(self):
        self.proxy.process.signal(signal.SIGTERM)
        until(lambda: "draining: no new clients" in self.proxy.process.output(), what="the drain")

    def blocked(self):
        rows = self.server.ask("CLIENT", "LIST").decode().splitlines()
        return [row for row in rows if " flags=b" in row]

    def exit_status(self, within_s=PATIENCE_S):
        until(lambda: not self.proxy.process.alive(), within_s, "the proxy has ended")
        self.proxy.process.reader.join(within_s)  # its last lines
        return self.proxy.process.child.returncode

    def refused(self):
        try:
            socket.create_connection(("127.0.0.1", self.proxy.port)).close()
        except OSError:
            return True
        return False

    def health(self):
        try:
            url = f"http://127.0.0.1:{self.proxy.admin_port}/healthz"
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


class EndsWhatHasBegun(Drain):
    def test_closes_idle_clients_and_the_listener_and_exits(self):
        idle = self.client()
        idle.ask("PING")
        self.terminate()
        self.assertEqual(idle.read_to_end(), b"")
        idle.close()
        self.assertEqual(self.exit_status(), 0)
        self.assertTrue(self.refused())
        self.assertIn("1 client closed after all replies", self.proxy.process.output())

    def test_a_blocking_command_gets_its_element_and_health_says_draining(self):
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        self.terminate()
        until(self.refused, what="the listener closed")
        self.assertEqual(self.health(), (503, "draining: the proxy is shutting down\n"))
        self.server.ask("RPUSH", "q", "v")
        self.assertEqual(waiting.read(), b"*2\r\n$1\r\nq\r\n$1\r\nv\r\n")
        self.assertEqual(waiting.read_to_end(), b"")
        waiting.close()
        self.assertEqual(self.exit_status(), 0)

    def test_a_transaction_ends(self):
        client = self.client()
        client.ask("WATCH", "w")
        client.ask("MULTI")
        client.ask("SET", "t", "1")
        self.terminate()
        self.assertEqual(client.ask("INCR", "t"), b"+QUEUED\r\n")
        self.assertEqual(client.ask("EXEC"), b"*2\r\n+OK\r\n:2\r\n")
        self.assertEqual(client.read_to_end(), b"")
        client.close()
        self.assertEqual(self.exit_status(), 0)

    def test_a_slow_reader_gets_all_its_replies(self):
        self.server.ask("SET", "big", "x" * 20_000_000)
        reader = self.client(receive_buffer=4096)
        reader.send("GET", "big")
        until(lambda: self.proxy.metric("heatsink_commands_total") >= 1, what="the request")
        self.terminate()
        self.assertEqual(len(reader.read_to_end()), len(b"$20000000\r\n\r\n") + 20_000_000)
        reader.close()
        self.assertEqual(self.exit_status(), 0)

    def test_subscribers_leave_last(self):
        subscriber = self.client()
        subscriber.ask("SUBSCRIBE", "c")
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        self.terminate()
        until(self.refused, what="the listener closed")
        self.assertEqual(self.server.ask("PUBLISH", "c", "still there"), b":1\r\n")
        self.assertIn(b"still there", subscriber.read())
        self.server.ask("RPUSH", "q", "v")
        self.assertIn(b"v", waiting.read())
        waiting.close()
        self.assertEqual(subscriber.read_to_end(), b"")
        subscriber.close()
        self.assertEqual(self.exit_status(), 0)

    def test_a_second_signal_ends_at_once(self):
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        self.terminate()
        until(self.refused, what="the listener closed")
        self.proxy.process.signal(signal.SIGTERM)
        self.assertEqual(self.exit_status(), 0)
        self.assertIn("1 in a blocking command", self.proxy.process.output())

    def test_metrics_count_who_left(self):
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        idle = self.client()
        idle.ask("PING")
        self.terminate()
        idle.read_to_end()
        self.assertEqual(self.proxy.metric("heatsink_clients_drained_total"), 1)


class AtTheLimit(Drain):
    DRAIN = "300ms"

    def test_a_wait_ends_as_if_its_time_were_over_and_takes_nothing(self):
        waiting = self.client()
        waiting.send("BLPOP", "q", 0)
        until(self.blocked, what="BLPOP waits")
        self.terminate()
        self.assertEqual(waiting.read(), b"*-1\r\n")
        self.assertEqual(waiting.read_to_end(), b"")
        waiting.close()
        self.server.ask("RPUSH", "q", "v")
        self.assertEqual(self.exit_status(), 0)
        self.assertEqual(self.server.ask("LRANGE", "q", 0, -1), b"*1\r\n$1\r\nv\r\n")

    def test_an_open_transaction_is_cut(self):
        client = self.client()
        client.ask("MULTI")
        client.ask("SET", "t", "1")
        began = time.monotonic()
        self.terminate()
        with self.assertRaises(Closed):
            client.read()
        client.close()
        self.assertEqual(self.exit_status(), 0)
        self.assertGreater(time.monotonic() - began, 0.3)
        self.assertEqual(self.server.ask("EXISTS", "t"), b":0\r\n")
        self.assertIn("1 client cut because shutdown.drain", self.proxy.process.output())


class WithoutADrain(Drain):
    DRAIN = "0"

    def test_clients_are_cut_at_once(self):
        client = self.client()
        client.ask("MULTI")
        self.proxy.process.signal(signal.SIGTERM)
        self.assertEqual(client.read_to_end(), b"")
        self.assertEqual(self.exit_status(), 0)
        self.assertNotIn("draining", self.proxy.process.output())


if __name__ == "__main__":
    unittest.main()
