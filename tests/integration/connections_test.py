# SPDX-License-Identifier: Apache-2.0
"""Thousands of clients at once: what an idle one keeps, and what becomes of all in a bad minute."""

import ssl
import tempfile
import time
import unittest

from harness import ERRORS_WHEN_DOWN, LONG, PATIENCE_S, SLOW, RawClient, drain, encode, until
from harness.asking import Asking
from harness.certificates import Authority
from harness.crowd import Crowd, need_descriptors
from stage import ProxyTest

CLIENTS = 10_000 if LONG else 2_000
EACH_MAX = 4096  # bytes of an idle client
TLS_EACH_MAX = 20 * 1024
KILO, BIG = b"x" * 1000, b"y" * 60_000
GIVEN_BACK_S = 60  # the proxy trims every 10 s at most
MEBI = 1 << 20
LEFT = 4 * MEBI  # not worth a trim, in sum (heatsink/copies/trim_policy.h)


class Crowded(ProxyTest):
    SERVER_OPTIONS = ("--maxclients", "20000")
    PROXY_OPTIONS = ERRORS_WHEN_DOWN | {"proxy.maximum-clients": 15_000}

    @classmethod
    def setUpClass(cls):
        need_descriptors(2 * CLIENTS + 200 if LONG else CLIENTS + 200)
        super().setUpClass()

    def crowd(self, count=CLIENTS, **how):
        crowd = Crowd(self.proxy.port, count, **how)
        self.addCleanup(crowd.close)
        return crowd

    def parts(self):
        return self.proxy.by_label("heatsink_memory_bytes", "component")


@unittest.skipIf(SLOW > 1, "the sanitizers keep freed memory")
class Measured(Crowded):
    """The figures are printed; bench/connections.py has them with 10 000 clients."""

    def setUp(self):
        server = self.to_server()
        server.ask("SET", "kilo", KILO)
        server.ask("SET", "big", BIG)
        with self.crowd(50) as warm:  # what is allocated once
            self.burst(warm)
        until(lambda: self.parts()["clients"] == 0, what="they are gone")
        self.before = until(self.rested, 4 * PATIENCE_S, "the proxy gives back what it can")

    def burst(self, crowd):
        """What may leave large buffers behind, on every way through the proxy."""
        crowd.each(encode("GET", "kilo") * 100, 100 * (len(b"$1000\r\n\r\n") + len(KILO)))
        crowd.each(encode("GET", "big"), len(b"$60000\r\n\r\n") + len(BIG))
        crowd.each(encode("SET", "in", BIG) * 3, 3 * len(b"+OK\r\n"))
        crowd.each(encode("EXISTS", *range(3000)), len(b":0\r\n"))

    def rested(self):
        """What it has in RAM, once that has not changed for some seconds."""
        before = self.proxy.process.rss_bytes()
        time.sleep(5)  # longer than it stays awake after its last client
        after = self.proxy.process.rss_bytes()
        return after if abs(after - before) < 100_000 else 0

    def each(self, crowd):
        return (self.proxy.process.rss_bytes() - self.before) / len(crowd)

    def falls_to(self, crowd, most, when):
        until(lambda: self.each(crowd) <= most, GIVEN_BACK_S, f"{most} bytes each {when}")
        until(lambda: self.parts()["clients"] > 1000 * len(crowd), what="the proxy counts them")
        until(lambda: self.parts()["clients"] <= EACH_MAX * len(crowd), what="it counts as few")
        counted = self.parts()["clients"] / len(crowd)
        print(f"{len(crowd)} clients {when}: {self.each(crowd):.0f} bytes each in RAM, "
              f"{counted:.0f} as the proxy counts them")  # fmt: skip

    def plays(self, most=EACH_MAX, **how):
        with Asking(self.proxy.port, pause_s=0.02), self.crowd(**how) as crowd:
            crowd.ping()
            self.falls_to(crowd, most, "connected")
            crowd.each(encode("CLIENT", "SETNAME", "worker-17") + encode("SELECT", 0)
                       + encode("SET", "own", 1), 3 * len(b"+OK\r\n"))  # fmt: skip
            self.falls_to(crowd, most, "after some commands")
            self.burst(crowd)
            self.falls_to(crowd, most + LEFT / len(crowd), "after a burst")
            crowd.ping()
        until(lambda: self.parts()["clients"] < 10_000, what="they are gone")
        until(
            lambda: self.proxy.process.rss_bytes() < self.before + 8 * MEBI, GIVEN_BACK_S,
            "their memory is back",
        )  # fmt: skip


class Idle(Measured):
    def test_resp2(self):
        self.plays()

    def test_resp3(self):
        self.plays(resp=3)


class IdleByTls(Measured):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        cls.addClassCleanup(folder.cleanup)
        authority = Authority(folder.name)
        cert, key = authority.sign("proxy")
        cls.PROXY_OPTIONS = Crowded.PROXY_OPTIONS | {"proxy.tls-cert": cert, "proxy.tls-key": key}
        cls.context = ssl.create_default_context(cafile=authority.cert)
        super().setUpClass()

    def crowd(self, count=CLIENTS // 4, **how):
        return super().crowd(count, wrap=self.wrap, **how)

    def wrap(self, plain):
        return self.context.wrap_socket(plain, server_hostname="localhost")

    def test_tls(self):
        with self.crowd() as crowd:
            crowd.ping()
            self.falls_to(crowd, TLS_EACH_MAX, "connected by TLS")
            # The proxy counts what OpenSSL holds, so that RAM is explained.
            counted = (self.parts()["tls"] + self.parts()["clients"]) / len(crowd)
            self.assertGreater(counted, 0.7 * self.each(crowd))
            self.burst(crowd)
            self.falls_to(crowd, TLS_EACH_MAX + LEFT / len(crowd), "by TLS, after a burst")
        until(lambda: self.parts()["tls"] < MEBI, what="OpenSSL has given all back")


class BadMinutes(Crowded):
    def test_all_connect_at_once(self):
        old = self.to_proxy()
        begun, cpu_s = time.monotonic(), self.proxy.process.cpu_s()
        with self.crowd() as crowd:
            took_s = time.monotonic() - begun
            self.assertEqual(old.ask("PING"), b"+PONG\r\n")
            crowd.ping()
            cpu_s = self.proxy.process.cpu_s() - cpu_s
            print(f"{CLIENTS} clients within {took_s:.2f} s: {cpu_s / CLIENTS * 1e6:.0f} us of "
                  "CPU time each, with a PING")  # fmt: skip
            # 25 us as measured; a loop that spins, or looks at all clients for each, takes far more
            self.assertLess(cpu_s / CLIENTS, 500e-6 * SLOW)
            self.assertEqual(self.proxy.metric("heatsink_clients_refused_total"), 0)

    def test_the_server_is_killed_under_all_of_them(self):
        """Each gets an error at once; the server that is back sees a few connections."""
        with self.crowd() as crowd:
            crowd.ping()
            before, begun = self.attempts(), time.monotonic()
            self.redis.process.kill()
            until(lambda: self.proxy.metric("heatsink_upstream_up") == 0, what="it is seen")
            self.all_are_told(crowd)
            tried, took_s = self.attempts() - before, time.monotonic() - begun
            print(f"{tried:.0f} attempts to connect in {took_s:.1f} s for {CLIENTS} clients")
            # Each of 2 workers tries every 10 ms while it is asked.
            self.assertLess(tried, 2 * took_s / 0.010 + 50)
            self.redis.restart()
            until(lambda: self.to_proxy().ask("SET", "k", "v") == b"+OK\r\n", what="it is back")
            crowd.each(encode("EXISTS", "nobody"), len(b":0\r\n"))
            with RawClient(self.redis.port) as server:
                seen = server.ask("INFO", "stats").decode()
            opened = int(seen.split("total_connections_received:")[1].split("\r\n")[0])
            self.assertLess(opened, 50)

    def attempts(self):
        return self.proxy.metric("heatsink_upstream_connects_total")

    def all_are_told(self, crowd):
        for client in crowd.sockets:
            client.sendall(encode("GET", "k"))
        for client in crowd.sockets:
            self.assertIn(b"not reachable", client.recv(1000))

    def test_all_crawl(self):
        """A byte at a time of requests that never end: hardly any CPU, and others are served."""
        request = encode("SET", "loris", "x" * 50)[:24]
        with self.crowd() as crowd:
            crowd.ping()
            before, cpu_s = self.proxy.process.rss_bytes(), self.proxy.process.cpu_s()
            for i in range(len(request)):
                for client in crowd.sockets:
                    client.sendall(request[i : i + 1])
            other = self.to_proxy()
            self.assertEqual(other.ask("PING"), b"+PONG\r\n")
            each = (self.proxy.process.rss_bytes() - before) / len(crowd)
            self.assertLess(each, EACH_MAX * SLOW)
            cpu_s = self.proxy.process.cpu_s() - cpu_s
            self.assertLess(cpu_s / len(crowd) / len(request), 100e-6 * SLOW)
            self.assertEqual(self.to_server().ask("EXISTS", "loris"), b":0\r\n")

    def test_none_reads(self):
        """What waits for them is bounded by the budget of all, and comes when they read."""
        self.to_server().ask("SET", "mega", b"x" * MEBI)
        with self.crowd(CLIENTS // 10) as crowd:
            for client in crowd.sockets:
                client.sendall(encode("GET", "mega"))
            other = self.to_proxy()
            until(lambda: self.proxy.metric("heatsink_client_buffers_bytes") > 0, what="they wait")
            self.assertEqual(other.ask("PING"), b"+PONG\r\n")
            size = len(b"$1048576\r\n\r\n") + MEBI
            for client in crowd.sockets[::50]:
                with RawClient(connected=client, timeout_s=PATIENCE_S) as reader:
                    self.assertEqual(drain(reader, size), size)


if __name__ == "__main__":
    unittest.main()
