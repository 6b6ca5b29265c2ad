# SPDX-License-Identifier: Apache-2.0
"""Big values, deep pipelines, clients that do not read, floods: bounded, and no one else hurt."""

import os
import select
import socket
import threading
import time
import unittest

from harness import (
    PATIENCE_S, SLOW, Closed, Proxy, RawClient, Redis, drain, encode, need_programs, until,
)  # fmt: skip
from stage import ProxyTest

MEBI = 1 << 20


class Meanwhile:
    """Another client that asks PING all the time."""

    def __init__(self, port):
        self.client, self.waits_s, self.running = RawClient(port), [], True
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while self.running:
            begun = time.monotonic()
            self.client.ask("PING")
            self.waits_s.append(time.monotonic() - begun)
            time.sleep(0.002)  # paces the probe; nothing waits for it

    def is_disturbed_by(self, act, times=5):
        """The longest wait beside what is done, in seconds: of the time it was shortest.

        A machine that stands still for a moment makes one of them long, and not all.
        """
        longest = []
        for _ in range(times):
            before = len(self.waits_s)
            act()
            until(lambda: len(self.waits_s) >= before + 20, what="another client is answered")
            longest.append(max(self.waits_s[before:]))
        return min(longest)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()
        self.client.close()


class Big(ProxyTest):
    def rss_stays_under(self, size):
        self.assertLess(self.proxy.process.rss_bytes(), size if SLOW == 1 else 8 * size)

    def test_half_a_gigabyte_there_and_back(self):
        size, piece = 512 * MEBI, b"v" * MEBI
        client = self.to_proxy(timeout_s=5 * PATIENCE_S)
        client.send_raw(b"*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$%d\r\n" % size)
        for _ in range(512):
            client.send_raw(piece)
        client.send_raw(b"\r\n")
        self.assertEqual(client.read(), b"+OK\r\n")
        self.rss_stays_under(100 * MEBI)
        for _ in range(2):  # first found out, then known to be big
            client.send("GET", "half")
            drain(client, size + len(b"$%d\r\n\r\n" % size))
            self.rss_stays_under(100 * MEBI)
        self.assertEqual(client.ask("STRLEN", "half"), b":%d\r\n" % size)
        self.assertEqual(client.ask("DEL", "half"), b":1\r\n")

    def test_slow_reader_of_a_big_value_disturbs_nobody(self):
        self.to_server().ask("SET", "slow", b"x" * 64 * MEBI)
        slow = self.to_proxy(receive_buffer=65536)
        with Meanwhile(self.proxy.port) as other:
            slow.send("GET", "slow")
            self.assertLess(other.is_disturbed_by(lambda: slow.socket.recv(8192), 10), 1.0 * SLOW)
            self.rss_stays_under(100 * MEBI)
        slow.close()

    def test_mget_of_many_big_values(self):
        server = self.to_server()
        for i in range(60):
            server.ask("SET", f"many{i}", b"x" * 2 * MEBI)
        client = self.to_proxy()
        for _ in range(2):
            client.send("MGET", *[f"many{i}" for i in range(60)])
            drain(client, 60 * (2 * MEBI + len(b"$2097152\r\n\r\n")) + len(b"*60\r\n"))
            self.rss_stays_under(200 * MEBI)
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")

    def test_pipeline_of_replies_far_beyond_the_limit(self):
        """600 values of 500 KB: 300 MB of replies, asked for at once, read with patience."""
        self.to_server().ask("SET", "half-mega", b"x" * 500_000)
        client = self.to_proxy()
        client.send_raw(encode("GET", "half-mega") * 600)
        until(lambda: self.proxy.metric("heatsink_private_connections") > 0, what="found to be big")
        time.sleep(0.2)  # lets the replies come as far as they may
        drain(client, 600 * (500_000 + len(b"$500000\r\n\r\n")))
        self.rss_stays_under(200 * MEBI)
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")

    def test_big_requests_in_a_pipeline(self):
        client = self.to_proxy(timeout_s=5 * PATIENCE_S)
        value = b"x" * 3 * MEBI
        sender = threading.Thread(
            target=client.send_raw, args=(encode("SET", "deep", value) * 30 + encode("PING"),)
        )
        sender.start()
        self.assertEqual(client.read_many(31), [b"+OK\r\n"] * 30 + [b"+PONG\r\n"])
        sender.join()
        self.rss_stays_under(200 * MEBI)

    def test_request_with_very_many_arguments(self):
        client = self.to_proxy()
        pairs = [str(i // 2) for i in range(200_000)]
        self.assertEqual(client.ask("MSET", *pairs), b"+OK\r\n")
        self.assertEqual(client.ask("GET", "99999"), b"$5\r\n99999\r\n")
        self.assertEqual(client.ask("EXISTS", *pairs), b":200000\r\n")


class Pipelines(ProxyTest):
    def all_then_read(self, requests, replies):
        """What redis-py does with pipeline(): send everything, and only then read."""
        client = self.to_proxy(timeout_s=5 * PATIENCE_S, receive_buffer=65536)
        client.send_raw(requests)
        self.assertEqual(drain(client, len(replies)), len(replies))
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")

    def test_more_than_a_million(self):
        self.all_then_read(encode("PING") * 1_500_000, b"+PONG\r\n" * 1_500_000)

    def test_a_transaction_of_many(self):
        count = 300_000
        self.all_then_read(
            encode("MULTI") + encode("INCR", "t") * count + encode("DISCARD"),
            b"+OK\r\n" + b"+QUEUED\r\n" * count + b"+OK\r\n",
        )

    def test_many_clients_with_deep_pipelines(self):
        clients = [self.to_proxy() for _ in range(20)]
        for i, client in enumerate(clients):
            client.send_raw(encode("INCR", f"c{i}") * 2000)
        for client in clients:
            self.assertEqual(client.read_many(2000)[-1], b":2000\r\n")


class Unread(ProxyTest):
    PROXY_OPTIONS = {"proxy.client-output-limit": "8MiB", "proxy.slow-client-timeout": "1s"}

    def wait_for_cut_off(self):
        until(lambda: self.proxy.metric("heatsink_clients_cut_off_total") > self.before)

    def setUp(self):
        self.before = self.proxy.metric("heatsink_clients_cut_off_total")
        self.to_server().ask("SET", "mega", b"x" * 700_000)

    def test_a_client_that_never_reads(self):
        client = self.to_proxy(receive_buffer=65536)
        with Meanwhile(self.proxy.port) as other:
            client.send_raw(encode("GET", "mega") * 300)
            self.assertLess(other.is_disturbed_by(lambda: None), 1.0 * SLOW)
            self.wait_for_cut_off()
        self.assertLess(self.proxy.process.rss_bytes(), 100 * MEBI * SLOW)

    def test_a_subscriber_that_never_reads(self):
        client = self.to_proxy(receive_buffer=65536)
        client.ask("SUBSCRIBE", "flood")
        publisher = self.to_server()
        with Meanwhile(self.proxy.port) as other:

            def publish():
                for _ in range(8):
                    publisher.ask("PUBLISH", "flood", b"x" * 700_000)

            self.assertLess(other.is_disturbed_by(publish), 1.0 * SLOW)
            self.wait_for_cut_off()


class Counts(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)

    def proxy(self, options=None, **how):
        proxy = Proxy(self.redis, options, **how)
        self.addCleanup(proxy.stop)
        return proxy

    def connect(self, proxy, **how):
        client = RawClient(proxy.port, **how)
        self.addCleanup(client.close)
        return client

    def test_maximum_clients(self):
        proxy = self.proxy({"proxy.maximum-clients": 5})
        clients = [self.connect(proxy) for _ in range(5)]
        for client in clients:
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        full = b"-ERR max number of clients reached\r\n"
        self.assertEqual(self.connect(proxy).read_to_end(), full)
        clients[0].close()

        def accepted():
            try:
                return self.connect(proxy).ask("PING") == b"+PONG\r\n"
            except (Closed, ConnectionError):
                return False

        until(accepted, what="a place is free again")

    def test_private_connections(self):
        proxy = self.proxy({"proxy.maximum-private-connections": 3})
        holders = [self.connect(proxy) for _ in range(3)]
        for client in holders:
            self.assertEqual(client.ask("MULTI"), b"+OK\r\n")
        late = self.connect(proxy)
        self.assertIn(b"proxy.maximum-private-connections", late.ask("WATCH", "k"))
        self.assertEqual(late.ask("PING"), b"+PONG\r\n")
        self.assertEqual(holders[0].ask("DISCARD"), b"+OK\r\n")
        until(lambda: late.ask("WATCH", "k") == b"+OK\r\n", what="a connection is free again")

    def test_idle_connections(self):
        proxy = self.proxy()
        before = proxy.process.rss_bytes()
        clients = [self.connect(proxy) for _ in range(500)]
        for client in clients:
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        each = (proxy.process.rss_bytes() - before) / len(clients)
        self.assertLess(each, 16 * 1024 * SLOW)

    @unittest.skipIf(SLOW > 1, "the sanitizers need a descriptor to look at memory")
    def test_no_descriptors_left(self):
        proxy = self.proxy(descriptors_max=40)
        clients = [self.connect(proxy) for _ in range(60)]
        for client in clients:
            client.send("PING")
        until(lambda: self.answered(clients) > 5, what="those that it has accepted are answered")
        before = proxy.process.cpu_s()
        time.sleep(0.5)  # a spinning loop would use all of it
        self.assertLess(proxy.process.cpu_s() - before, 0.25 * SLOW)
        for client in clients:
            client.close()
        self.assertEqual(self.connect(proxy).ask("PING"), b"+PONG\r\n", "accepting again")

    def answered(self, clients):
        """How many of them."""
        heard, _, _ = select.select([client.socket for client in clients], [], [], 0)
        return sum(each.recv(1, socket.MSG_PEEK) == b"+" for each in heard)

    def flood(self, proxy, garbage):
        with socket.create_connection(("127.0.0.1", proxy.port)) as raw:
            raw.settimeout(PATIENCE_S * SLOW)
            try:
                raw.sendall(garbage)
            except OSError:
                pass  # closed in the middle

    def test_floods(self):
        proxy = self.proxy()
        with Meanwhile(proxy.port) as other:
            for garbage in (
                b"\x00" * 200_000, os.urandom(200_000), b"GET / HTTP/1.1\r\n" * 1000,
                b"*1\r\n" * 50_000, b"$5\r\n" * 9999,
                b"*1048576\r\n" * 1000, b"*3\r\n$536870912\r\n" * 10, b"\r\n" * 100_000,
            ):  # fmt: skip
                disturbed_s = other.is_disturbed_by(lambda: self.flood(proxy, garbage))
                self.assertLess(disturbed_s, 1.0 * SLOW, garbage[:20])
            for _ in range(300):
                socket.create_connection(("127.0.0.1", proxy.port)).close()
        self.assertLess(proxy.process.rss_bytes(), 100 * MEBI * SLOW)
        until(lambda: proxy.metric("heatsink_clients") == 0, what="all clients gone")


if __name__ == "__main__":
    unittest.main()
