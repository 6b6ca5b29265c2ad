# SPDX-License-Identifier: Apache-2.0
"""Replies that are big in bytes: whole for a slow reader, and out of everybody else's way."""

import contextlib
import unittest

from harness import SLOW, drain, encode, until
from stage import ProxyTest

ELEMENT, COUNT = b"x" * 900_000, 16  # in all more than the limit of what is kept for a client
# The server is busy with them while it is connected to.
ONE = {"proxy.workers": 1, "upstream.connect-timeout": "1m"}
LIMIT = ONE | {"proxy.client-output-limit": "8MiB"}


class Collections(ProxyTest):
    PROXY_OPTIONS = LIMIT

    def setUp(self):
        server = self.to_server()
        server.ask("FLUSHALL")
        for i in range(COUNT):
            # Elements of a set differ, hence the number.
            value = b"%04d" % i + ELEMENT
            server.ask("SET", f"string{i}", value)
            server.ask("RPUSH", "list", value)
            server.ask("SADD", "set", value)
            server.ask("ZADD", "zset", i, value)
            server.ask("HSET", "hash", i, value)
            server.ask("XADD", "stream", f"{i + 1}-1", "f", value)

    def wait_until_kept(self):
        """More than the limit of a client, or all but what the sockets hold."""

        def is_kept():
            return self.proxy.metric("heatsink_client_buffers_bytes") > 10_000_000

        until(is_kept, what="the reply is kept")

    def reissued(self):
        return self.proxy.metric("heatsink_reissued_total")

    def test_each_kind_is_read_whole(self):
        """The client does not read before the proxy has found out; then all of it is there."""
        reads = (
            ("LRANGE", "list", 0, -1), ("SMEMBERS", "set"), ("ZRANGE", "zset", 0, -1, "WITHSCORES"),
            ("HGETALL", "hash"), ("XRANGE", "stream", "-", "+"),
            ("MGET", *[f"string{i}" for i in range(COUNT)]),
        )  # fmt: skip
        for resp in (2, 3):
            for number, read in enumerate(reads):
                with self.subTest(resp=resp, command=read[0]):
                    # A key of its own, so that nothing is known of it.
                    key = f"{resp}:{number}"
                    if read[0] != "MGET":
                        self.to_server().ask("COPY", read[1], key)
                        read = (read[0], key, *read[2:])
                    direct = self.to_server(resp=resp).ask(*read)
                    client = self.to_proxy(resp=resp, receive_buffer=65536)
                    before = self.reissued()
                    client.send_raw(encode(*read) + encode("PING"))
                    if read[0] != "MGET" or resp == 2:
                        until(lambda: self.reissued() > before, what="it is asked again")
                    self.assertEqual(client.read(), direct)
                    self.assertEqual(client.read(), b"+PONG\r\n")

    def test_what_cannot_be_asked_again_is_kept(self):
        """LPOP has taken its elements: a client that is closed then has lost them."""
        client = self.to_proxy(receive_buffer=65536)
        client.send_raw(encode("LPOP", "list", COUNT) + encode("PING"))
        server = self.to_server()
        self.wait_until_kept()
        self.assertEqual(server.ask("LLEN", "list"), b":0\r\n")
        self.assertEqual(client.read().count(b"\r\n"), 1 + 2 * COUNT)
        self.assertEqual(client.read(), b"+PONG\r\n")

    def test_nor_a_read_with_a_write_behind_it(self):
        server, client = self.to_server(), self.to_proxy(receive_buffer=65536)
        server.ask("RENAME", "list", "deleted")  # nothing is known of that key
        self.assertEqual(client.ask("GET", "small"), b"$-1\r\n")  # or DEL waits for the first reply
        client.send_raw(encode("LRANGE", "deleted", 0, -1) + encode("DEL", "deleted"))
        self.wait_until_kept()
        self.assertEqual(server.ask("EXISTS", "deleted"), b":0\r\n")
        self.assertEqual(client.read().count(b"\r\n"), 1 + 2 * COUNT)
        self.assertEqual(client.read(), b":1\r\n")

    def test_known_to_be_big_it_is_asked_once(self):
        """By key, also of another client, and by command: STRLEN of a big value is short."""
        drain(self.asks("LRANGE", "list", 0, -1), 14_000_000)
        before = self.reissued(), self.on_private()
        drain(self.asks("LRANGE", "list", 0, -1), 14_000_000)
        self.assertEqual((self.reissued(), self.on_private()), (before[0], before[1] + 1))
        self.assertEqual(self.to_proxy().ask("LLEN", "list"), b":%d\r\n" % COUNT)
        self.assertEqual(self.on_private(), before[1] + 1)

    def test_keys_of_an_mget_tell_of_its_size(self):
        keys = [f"string{i}" for i in range(3)]
        for key in keys:
            drain(self.asks("GET", key), 900_000)
        before = self.on_private()
        drain(self.asks("MGET", *keys), 2_700_000)
        self.assertEqual(self.on_private(), before + 1)

    def asks(self, *args):
        client = self.to_proxy()
        client.send(*args)
        return client

    def on_private(self):
        return self.proxy.by_label("heatsink_forwarded_total", "connection")["private"]


class Beside(ProxyTest):
    """Big replies that nobody reads, and another client's GET of a key that is not hot."""

    PROXY_OPTIONS = ONE
    CLIENTS, COMMANDS = 40, 60

    def test_a_cold_get_does_not_wait_for_them(self):
        server = self.to_server()
        for i in range(self.CLIENTS):
            server.ask("SET", f"big{i}", ELEMENT)
        server.ask("SET", "cold", "v")
        other = self.to_proxy()
        with contextlib.ExitStack() as stack:
            for i in range(self.CLIENTS):
                client = stack.enter_context(self.to_proxy(receive_buffer=65536, timeout_s=120))
                client.send_raw(encode("GET", f"big{i}") * self.COMMANDS)
            # All that is on its way comes first on a connection that is shared.
            other.socket.settimeout(3 * SLOW)
            self.assertEqual(other.ask("GET", "cold"), b"$1\r\nv\r\n")
            self.assertLess(self.proxy.process.rss_bytes(), SLOW * 400_000_000)
            drain(client, self.COMMANDS * (len(ELEMENT) + len(b"$900000\r\n\r\n")))


if __name__ == "__main__":
    unittest.main()
