# SPDX-License-Identifier: Apache-2.0
"""Clients that crawl, babble or leave in the middle, beside a recorded load that must not notice.

What rows 13, 14 and 16 cost in memory, and half a gigabyte, are in
tests/integration/limits_test.py.
"""

import contextlib
import unittest

from harness import PATIENCE_S, SLOW, RawClient, ValueClient, drain, encode, until
from recorded import CLIENTS, COPIES, Recorded

MEBI = 1 << 20


class Row13(Recorded):
    OPTIONS = {"proxy.client-output-limit": "8MiB", "proxy.slow-client-timeout": "1s"}

    def test_clients_that_never_read(self):
        with self.recorded(options=self.OPTIONS) as (theatre, _), contextlib.ExitStack() as stack:
            proxy, deaf = theatre.proxies[0], 3
            theatre.ask("SET", "mega", b"x" * 700_000)
            for _ in range(deaf):
                client = RawClient(proxy.port, receive_buffer=65536)
                stack.enter_context(client).send_raw(encode("GET", "mega") * 100)

            def cut_off():
                return proxy.metric("heatsink_clients_cut_off_total") >= deaf

            until(cut_off, PATIENCE_S, "they are cut off")


class Row14(Recorded):
    CRAWLERS = 300

    def test_slow_loris(self):
        """Requests that never end, a byte at a time: little memory each, and nobody waits."""
        with self.recorded() as (theatre, play), contextlib.ExitStack() as stack:
            proxy = theatre.proxies[0]
            before = proxy.process.rss_bytes()
            crawlers = [stack.enter_context(RawClient(proxy.port)) for _ in range(self.CRAWLERS)]
            for byte in encode("SET", "loris", "x" * 10)[:20]:
                for crawler in crawlers:
                    crawler.send_raw(bytes([byte]))
            play.copies_speak(COPIES)
            each = (proxy.process.rss_bytes() - before) / self.CRAWLERS
            self.assertLess(each, 32 * 1024 * SLOW)
            self.assertEqual(self.answer(theatre, "EXISTS", "loris"), 0)


class Row15(Recorded):
    MALFORMED = (
        b"*-5\r\n" + encode("PING"),
        b"*2147483647\r\n",
        b"*1\r\n$-2\r\n",
        b"*1\r\n$999999999999\r\n",
        b"*1\r\n" * 100_000,
        encode("PING") * 3 + b"?!\r\n\xfe\xff\r\n" + encode("PING"),
        encode("PING") + b"*1\r\n:1\r\n" + encode("SET", "k0", "never"),
    )

    def test_malformed_requests(self):
        """The same bytes from the proxy as from the server, and no room for what is announced."""
        with self.recorded() as (theatre, _):
            proxy = theatre.proxies[0]
            before = proxy.process.rss_bytes()
            for malformed in self.MALFORMED:
                with self.subTest(request=malformed[:30]):
                    ports = (theatre.server.port, proxy.port)
                    self.assertEqual(*[self.told(port, malformed) for port in ports])
            self.assertLess(proxy.process.rss_bytes() - before, 32 * MEBI * SLOW)

    def told(self, port, request):
        with RawClient(port) as client:
            try:
                client.send_raw(request)
                client.send_raw(encode("QUIT"))
            except ConnectionError:
                pass  # closed in the middle
            return client.read_to_end()


class Row16(Recorded):
    SIZE = 64 * MEBI

    def test_big_values_there_and_back(self):
        with self.recorded() as (theatre, _):
            proxy = theatre.proxies[0]
            with RawClient(proxy.port, timeout_s=30) as client:
                for _ in range(3):
                    client.send_raw(b"*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$%d\r\n" % self.SIZE)
                    for _ in range(self.SIZE // MEBI):
                        client.send_raw(b"v" * MEBI)
                    client.send_raw(b"\r\n")
                    self.assertEqual(client.read(), b"+OK\r\n")
                    client.send("GET", "big")
                    drain(client, len(b"$%d\r\n\r\n" % self.SIZE) + self.SIZE)
            self.assertLess(proxy.process.rss_bytes(), 200 * MEBI * SLOW)
            self.assertEqual(theatre.ask("STRLEN", "big"), self.SIZE)


class Row17(Recorded):
    LEFT_BEHIND = (
        [("MULTI",), ("SET", "left", "queued")],
        [("WATCH", "left"), ("MULTI",), ("SET", "left", "watched")],
        [("WATCH", "left")],
        [("SELECT", "7"), ("MULTI",), ("SET", "left", "elsewhere")],
        [("SUBSCRIBE", "left")],
        [("CLIENT", "REPLY", "OFF"), ("BLPOP", "left:list", "0")],
        [("BLPOP", "left:list", "0")],
    )

    def test_a_client_that_leaves_in_the_middle(self):
        """Its connection to the server is not handed on in the state in which it was left."""
        with self.recorded() as (theatre, _):
            proxy = theatre.proxies[0]
            port = proxy.port
            self.wait_for_the_loads_clients(proxy)
            for calls in self.LEFT_BEHIND * 5:
                with RawClient(port) as leaving:
                    leaving.send_raw(b"".join(encode(*call) for call in calls))
                    if calls[0][0] != "CLIENT" and calls[-1][0] != "BLPOP":
                        leaving.read_many(len(calls))
                with ValueClient(port) as next_one:
                    got = next_one.pipeline([("MULTI",), ("SET", "mine", "1"), ("GET", "left"),
                                             ("EXEC",)])  # fmt: skip
                    self.assertEqual(got, ["OK", "QUEUED", "QUEUED", ["OK", None]])

            def nobody_waits():
                return b"blocked_clients:0\r" in theatre.ask("INFO", "clients")

            self.wait_for_the_loads_clients(proxy)  # all others have left
            until(nobody_waits, PATIENCE_S, "nobody waits")
            theatre.ask("RPUSH", "left:list", "1")
            self.assertEqual(theatre.ask("LLEN", "left:list"), 1)
            until(lambda: theatre.ask("PUBLISH", "left", "x") == 0, PATIENCE_S, "no subscriber")
            self.assertEqual(theatre.ask("EXISTS", "left"), 0)

    def wait_for_the_loads_clients(self, proxy):
        until(
            lambda: proxy.metric("heatsink_clients") == CLIENTS, PATIENCE_S, "the load's clients"
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
