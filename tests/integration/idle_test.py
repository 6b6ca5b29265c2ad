# SPDX-License-Identifier: Apache-2.0
"""What a proxy costs that nobody is connected to, and that it wakes when somebody comes."""

import os
import signal
import time
import unittest

from harness import EAGER, SLOW, encode, until
from stage import ProxyTest

WATCHED_S = 4
WAKE_UPS_PER_S_MAX = 15


class Idle(ProxyTest):
    """With the options that a proxy has by itself, but for what makes a key hot."""

    PROXY_OPTIONS = {
        "detection.hot-qps": 5,
        "detection.window": "1s",
        "detection.minimum-residence": "1s",
        "detection.write-hot-ratio": EAGER["detection.write-hot-ratio"],
        "cache.expire-after-write": "1s",
    }

    def wake_ups(self):
        """How often a thread of the proxy has given up its core to wait for something."""
        tasks = f"/proc/{self.proxy.process.child.pid}/task"
        waits = 0
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/status", encoding="ascii") as status:
                fields = dict(line.split(":", 1) for line in status)
            waits += int(fields["voluntary_ctxt_switches"])
        return waits

    def wake_ups_per_s(self):
        before, began = self.wake_ups(), time.monotonic()
        time.sleep(WATCHED_S)  # what is measured is a rate
        return (self.wake_ups() - before) / (time.monotonic() - began)

    def rests(self):
        until(lambda: self.wake_ups_per_s() < WAKE_UPS_PER_S_MAX, 60, "few wake-ups")

    def read_until_hit(self):
        with self.to_proxy() as client:
            client.ask("SET", "k", "v")
            hits = self.proxy.hits()
            until(lambda: client.ask("GET", "k") and self.proxy.hits() > hits, what="a hit")

    def test_it_sleeps_wakes_and_sleeps_again(self):
        self.rests()
        self.read_until_hit()
        self.rests()
        self.assertEqual(self.proxy.metric("heatsink_upstream_up"), 1)
        self.assertEqual(self.proxy.coherence(), "up")
        self.read_until_hit()

    def test_its_memory_is_told_by_part(self):
        parts = self.proxy.by_label("heatsink_memory_bytes", "component")
        self.assertEqual(
            set(parts),
            {"clients", "tls", "upstream", "detection", "copies", "addresses", "history",
             "log", "fixed", "program", "other"},
        )  # fmt: skip
        clients = [self.to_proxy() for _ in range(50)]
        for client in clients:
            client.ask("PING")
        until(
            lambda: self.proxy.by_label("heatsink_memory_bytes", "component")["clients"] > 50 * 500
        )
        self.assertAlmostEqual(
            sum(self.proxy.by_label("heatsink_memory_bytes", "component").values()),
            self.proxy.process.rss_bytes(),
            delta=4e6,
        )
        for client in clients:
            client.close()
        until(lambda: self.proxy.by_label("heatsink_memory_bytes", "component")["clients"] == 0)

    def test_what_a_busy_hour_has_left_is_given_back(self):
        def upstream():
            return self.proxy.by_label("heatsink_memory_bytes", "component")["upstream"]

        with self.to_proxy() as client:
            self.redis.process.freeze()  # so that the proxy has to keep what it sends
            client.send_raw(encode("SET", "big", "v" * 20_000) * 100)
            until(lambda: upstream() > 1e6, what="the buffers of a pipeline")
            self.redis.process.signal(signal.SIGCONT)
            client.read_many(100)
        until(lambda: upstream() < 1e5, what="they are freed")

    def test_it_sleeps_although_clients_are_connected(self):
        clients = [self.to_proxy() for _ in range(200)]
        for client in clients:
            client.ask("SET", "k", "v")
        self.rests()
        before = self.proxy.process.cpu_s()
        begun = time.monotonic()
        self.assertLess(self.wake_ups_per_s(), WAKE_UPS_PER_S_MAX)
        self.proxy.metrics()  # as Prometheus does every 15 s
        spent = (self.proxy.process.cpu_s() - before) / (time.monotonic() - begun)
        self.assertLess(spent, 0.02 * SLOW)
        for client in clients:
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        self.read_until_hit()

    def test_orders_are_carried_out_at_once(self):
        self.rests()
        self.assertEqual(self.proxy.api("key?name=nobody")["keys"][0]["type"], "none")

    def test_a_server_that_has_gone_is_seen(self):
        self.rests()
        self.redis.process.freeze()
        try:
            until(lambda: self.proxy.metric("heatsink_coherence_up") == 0, what="it is seen")
        finally:
            self.redis.process.signal(signal.SIGCONT)
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, what="it is back")


if __name__ == "__main__":
    unittest.main()
