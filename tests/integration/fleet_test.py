# SPDX-License-Identifier: Apache-2.0
"""Many proxies before one server: a key that is cold in each of them and hot in the sum."""

import datetime
import threading
import time
import unittest

from harness import PATIENCE_S, SLOW, Proxy, RawClient, Redis, ValueClient, need_programs, until

PROXIES = 20
KEY = "sale:1"

# Half the threshold in each proxy, ten times the threshold in all of them.
HOT_QPS = 100
EACH_PER_S = 50

FLEET = {
    "proxy.workers": 1,
    "fleet.enabled": "yes",
    "detection.hot-qps": HOT_QPS,
    "doctor.enabled": "no",
    "audit.sample-rate": "0%",
    "cache.admission": "hot",
}


class Paced:
    """One client of each proxy; each reads `key` so often. A `with` block."""

    def __init__(self, ports, key, per_s):
        self.clients = [RawClient(port) for port in ports]
        self.key, self.pause_s = key, 1 / per_s
        self.running = True
        self.began_at = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        self.began_at = time.time()
        due = time.monotonic()
        while self.running:
            for client in self.clients:
                client.send("GET", self.key)
            for client in self.clients:
                client.read()
            due += self.pause_s
            # Paces the load; nothing waits for it. What was missed is not made up for.
            time.sleep(max(0.0, due - time.monotonic()))
            due = max(due, time.monotonic() - self.pause_s)

    def __enter__(self):
        self.thread.start()
        until(lambda: self.began_at is not None, PATIENCE_S, "the load has begun")
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()
        for client in self.clients:
            client.close()


def seconds_of(iso):
    return datetime.datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()


def became_hot(proxy, key):
    """The event that says so, or None."""
    for event in proxy.api("events")["events"]:
        if event.get("name") == key and event["verdict"] == "hot":
            return event
    return None


def row_of(proxy, key):
    rows = [row for row in proxy.api("hotkeys")["keys"] if row["name"] == key]
    return rows[0] if rows else None


class FleetTest(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)

    def start(self, count, options=None, rules=(), upstream=None):
        proxies = []
        for _ in range(count):
            proxies.append(Proxy(upstream or self.redis, {**FLEET, **(options or {})}, rules))
            self.addCleanup(proxies[-1].stop)
        return proxies

    def knows(self, proxy, count):
        fleet = proxy.api("hotkeys")["fleet"]
        return fleet["known"] and fleet["instances"] == count

    def all_know(self, proxies):
        for proxy in proxies:
            until(lambda: self.knows(proxy, len(proxies)), PATIENCE_S, "each proxy knows the fleet")


class Sum(FleetTest):
    def test_hot_in_the_sum_and_cold_in_each_is_found_by_all_within_a_second(self):
        proxies = self.start(PROXIES)
        self.all_know(proxies)
        with Paced([proxy.port for proxy in proxies], KEY, EACH_PER_S) as load:
            events = [
                until(lambda: became_hot(proxy, KEY), PATIENCE_S, "found by each proxy")
                for proxy in proxies
            ]
            late_s = max(seconds_of(event["at"]) - load.began_at for event in events)
            self.assertLess(late_s, 1.0 * SLOW, [event["reason"] for event in events])
            for event in events:
                self.assertIn(f"counted by {PROXIES} instances; here ", event["reason"])
            # Each has a copy: the server has little left to do.
            until(lambda: all(proxy.hits() > 0 for proxy in proxies), PATIENCE_S, "copies serve")
            row = row_of(proxies[0], KEY)
            self.assertEqual(row["fleet"]["instances"], PROXIES)
            self.assertLess(row["rate_high"], HOT_QPS)
        print(f"found by all {PROXIES} after {late_s:.3f} s")


if __name__ == "__main__":
    unittest.main()
