# SPDX-License-Identifier: Apache-2.0
"""Many proxies before one server: a key that is cold in each of them and hot in the sum."""

import datetime
import threading
import time
import unittest

from harness import (
    ERRORS_WHEN_DOWN, PATIENCE_S, SLOW, Proxy, RawClient, Redis, ValueClient, need_programs, until,
)  # fmt: skip
from harness.processes import Library, free_port

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
            time.sleep(max(0.0, due - time.monotonic()))  # paces the load; nothing waits for it
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


class Trouble(FleetTest):
    """What the server does wrong costs the fleet its sum, and nobody anything else."""

    def shows(self, proxy, problem):
        fleet = proxy.api("hotkeys")["fleet"]
        return not fleet["known"] and problem in fleet["problem"]

    def test_a_full_server_leaves_each_proxy_with_its_part_of_the_threshold(self):
        proxies = self.start(3)
        self.all_know(proxies)
        with ValueClient(self.redis.port) as server:
            server("CONFIG", "SET", "maxmemory", "1")
            for proxy in proxies:
                until(lambda: self.shows(proxy, "OOM"), PATIENCE_S, "the problem is shown")
                self.assertEqual(proxy.metric("heatsink_fleet_up"), 0)
                self.assertGreater(proxy.metric("heatsink_fleet_failures_total"), 0)
            # 60/s is below the threshold of 100/s, and above a third of it.
            with Paced([proxies[0].port], "alone", 60):
                until(lambda: became_hot(proxies[0], "alone"), PATIENCE_S, "found alone")
            self.assertIn("hot-qps 100 / 3 instances", became_hot(proxies[0], "alone")["reason"])
            server("CONFIG", "SET", "maxmemory", "0")
            self.all_know(proxies)
        log = proxies[0].process.output()
        self.assertEqual(log.count("cannot report to its fleet"), 1, log)

    def test_a_killed_server_blocks_nothing_and_comes_back(self):
        proxies = self.start(3, options=ERRORS_WHEN_DOWN)
        self.all_know(proxies)
        with Paced([proxy.port for proxy in proxies], KEY, EACH_PER_S):
            self.redis.process.kill()
            for proxy in proxies:
                until(lambda: self.shows(proxy, "reached"), PATIENCE_S, "the loss is shown")
                begun = time.monotonic()
                with RawClient(proxy.port) as client:
                    client.ask("GET", KEY)
                self.assertLess(time.monotonic() - begun, 1.0 * SLOW)
            self.redis.restart()
            self.all_know(proxies)

    def test_rubbish_on_the_server_makes_nothing_hot(self):
        proxies = self.start(2)
        self.all_know(proxies)
        shard = "heatsink:fleet:{default:0}:"
        with ValueClient(self.redis.port) as server:
            def spoil(server):
                server("SADD", shard + "members", "evil", "big", "wrong", "x" * 10_000)
                server("SET", shard + "at:evil", b"HFlt\x01" + b"\xff" * 100)
                server("SET", shard + "at:big", b"HFlt" + b"x" * 20_000_000)
                server("SADD", shard + "at:wrong", "a set")
                return sum(proxy.metric("heatsink_fleet_broken_total") for proxy in proxies) >= 10

            until(lambda: spoil(server), PATIENCE_S, "rubbish was refused")
            self.all_know(proxies)
            server("SET", shard + "list", b"HFlt" + b"y" * 1_000_000)
        self.all_know(proxies)
        for proxy in proxies:
            self.assertTrue(proxy.api("hotkeys")["nothing_hot"])


class Libraries(FleetTest):
    def test_a_library_and_proxies_count_together(self):
        page = free_port()
        library = Library(
            f"redis://127.0.0.1:{self.redis.port}/0",
            {
                "fleet.enabled": "yes",
                "detection.hot-qps": HOT_QPS,
                "admin.listen": f"127.0.0.1:{page}",
            },
        )
        self.addCleanup(library.stop)
        library.admin_port = page
        library.api = Proxy.api.__get__(library)
        proxies = self.start(2)
        for each in [library, *proxies]:
            until(lambda: self.knows(each, 3), PATIENCE_S, "each knows the fleet")
        # Only the proxies read the key at first: the library knows it from them.
        with Paced([proxy.port for proxy in proxies], KEY, 2 * EACH_PER_S):
            event = until(lambda: became_hot(library, KEY), PATIENCE_S, "found by the library")
        self.assertIn("counted by 3 instances; here 0.0/s", event["reason"])


class OwnTraffic(FleetTest):
    def test_reports_that_pass_a_proxy_are_no_traffic_of_clients(self):
        (near,) = self.start(1, {"fleet.enabled": "no", "detection.hot-qps": 1})
        behind = self.start(2, upstream=f"redis://127.0.0.1:{near.port}")
        self.all_know(behind)
        until(
            lambda: behind[0].metric("heatsink_fleet_reports_total") > 20, PATIENCE_S, "reports"
        )
        told = near.api("hotkeys")
        self.assertGreater(near.metric("heatsink_commands_total"), 60)
        self.assertEqual([row["name"] for row in told["keys"]], [])
        self.assertEqual(told["node"]["requests_rate"], 0)


class Limits(FleetTest):
    RATE, BURST = 200, 100

    def passed(self, port, stop, counts, at):
        with RawClient(port) as client:
            while not stop.is_set():
                counts[at] += client.ask("GET", "lim:1").startswith(b"$")

    def test_three_proxies_together_never_exceed_the_limit_of_the_fleet(self):
        rule = f"match=lim:*,limit.rate={self.RATE}/s,limit.burst={self.BURST},"
        rule += "limit.of=all,limit.scope=fleet"
        proxies = self.start(3, {"limits.refusal-delay": 0}, [rule])
        stop, counts = threading.Event(), [0, 0, 0]
        threads = [
            threading.Thread(target=self.passed, args=(proxy.port, stop, counts, i), daemon=True)
            for i, proxy in enumerate(proxies)
        ]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        try:
            until(lambda: sum(counts) > 4 * self.RATE, PATIENCE_S, "commands pass")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        took_s = time.monotonic() - begun
        # The server's clock and this one agree to a thousandth.
        self.assertLessEqual(sum(counts), (self.BURST + self.RATE * took_s) * 1.001 + 1)
        self.assertGreater(min(counts), 0)
        print(f"{sum(counts)} of at most {self.BURST + self.RATE * took_s:.0f} in {took_s:.1f} s")


if __name__ == "__main__":
    unittest.main()
