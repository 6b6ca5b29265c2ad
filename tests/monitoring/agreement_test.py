# SPDX-License-Identifier: Apache-2.0
"""One number in three places: /metrics, /api/hotkeys and `heatsink top` agree."""

import json
import re
import subprocess
import unittest

from harness import EAGER, HEATSINK, Proxy, RawClient, Redis, need_programs, until

# So long that nothing leaves the window while the test runs: rates are counts by this time.
WINDOW_S = 60
OPTIONS = {**EAGER, "detection.window": f"{WINDOW_S}s", "detection.warm-qps": 1}

# Members of `node` that are a metric as they stand.
SAME = {
    "upstream_up": "heatsink_upstream_up",
    "clients": "heatsink_clients",
    "hot_keys": "heatsink_hot_keys",
    "write_hot_keys": "heatsink_write_hot_keys",
    "cached_entries": "heatsink_cache_entries",
    "cached_bytes": "heatsink_cache_bytes",
    "stale_confirmed": "heatsink_audit_stale_confirmed_total",
}
OF_KEYS = {
    "reads": "heatsink_key_reads_per_second",
    "writes": "heatsink_key_writes_per_second",
    "hits": "heatsink_key_local_hits_per_second",
}

# Of the commands of the last seconds: another moment, another figure.
MOVING = ("commands_rate", "server_commands_rate", "own_commands_rate", "offload")


def settled(hot_keys):
    return {name: value for name, value in hot_keys["node"].items() if name not in MOVING}


class Agreement(unittest.TestCase):
    def setUp(self):
        need_programs()
        redis = Redis()
        self.addCleanup(redis.stop)
        self.proxy = Proxy(redis, OPTIONS)
        self.addCleanup(self.proxy.stop)
        self.client = RawClient(self.proxy.port)
        self.addCleanup(self.client.close)
        self.make_traffic()
        self.node = until(self.settled, what="all accesses in /api/hotkeys")
        self.accesses = self.counted()

    def make_traffic(self):
        """Hits, misses and writes; an access for each key of MGET; PING names no key."""
        ask = self.client.ask
        ask("SET", "k", "v")
        until(lambda: ask("GET", "k") and self.proxy.hits() > 0, what="a local hit")
        for _ in range(200):
            ask("GET", "k")
        for _ in range(30):
            ask("MGET", "k", "other")
            ask("SET", "other", "x")
            ask("PING")
        ask("GET", "k")

    def counted(self):
        return self.proxy.by_label("heatsink_accesses_total", "access")

    def executed(self):
        return sum(self.proxy.by_label("heatsink_server_commands_total", "by").values())

    def settled(self):
        """`node`, once the keeper knows all that the workers have counted."""
        self.executed_before = self.executed()
        node = self.proxy.api("hotkeys")["node"]
        known = round(node["requests_rate"] * WINDOW_S)
        return node if known == sum(self.counted().values()) else None

    def test_rates_and_shares(self):
        hit, miss, write = (self.accesses[kind] for kind in ("hit", "miss", "write"))
        self.assertEqual(write, 31)
        self.assertGreater(hit, 200)
        for member, count in (("reads_rate", hit + miss), ("writes_rate", write),
                              ("hits_rate", hit), ("misses_rate", miss)):  # fmt: skip
            self.assertAlmostEqual(self.node[member] * WINDOW_S, count, places=6, msg=member)
        self.assertAlmostEqual(self.node["hit_ratio"], hit / (hit + miss))
        # Heartbeats go on: `node` is of some moment between the two counts.
        sent = self.proxy.metric("heatsink_commands_total")
        self.assertLess(self.node["offload"], 1 - self.executed_before / sent + 0.03)
        self.assertGreater(self.node["offload"], 1 - self.executed() / sent - 0.03)

    def test_counts(self):
        for member, metric in SAME.items():
            self.assertEqual(self.node[member], self.proxy.metric(metric), member)
        self.assertEqual(self.node["coherence"], "up")
        self.assertEqual(self.proxy.metric("heatsink_coherence_up"), 1)

    def test_keys(self):
        rows = self.proxy.api("hotkeys")["keys"]
        self.assertEqual({row["name"] for row in rows}, {"k", "other"})
        page = self.proxy.metrics()
        for row in rows:
            for member, metric in OF_KEYS.items():
                found = re.search(rf'^{metric}{{key="{row["name"]}",db="0"}} (\S+)$', page, re.M)
                self.assertAlmostEqual(float(found[1]) * WINDOW_S, row[member], places=6)

    def test_top(self):
        command = [HEATSINK, "top", "--once", "--admin", f"127.0.0.1:{self.proxy.admin_port}"]
        screen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        hit, miss, write = (self.accesses[kind] for kind in ("hit", "miss", "write"))
        for words, value in (
            (r"requests ([\d.]+)/s", (hit + miss + write) / WINDOW_S),
            (r"reads ([\d.]+)/s", (hit + miss) / WINDOW_S),
            (r"writes ([\d.]+)/s", write / WINDOW_S),
            (r"misses ([\d.]+)/s", miss / WINDOW_S),
            (r"hit ratio ([\d.]+) %", 100 * hit / (hit + miss)),
            (r"local copies (\d+)", self.proxy.metric("heatsink_cache_entries")),
            (r"clients (\d+)", self.proxy.metric("heatsink_clients")),
            (r"hot (\d+),", self.proxy.metric("heatsink_hot_keys")),
        ):
            shown = re.search(words, screen)
            self.assertIsNotNone(shown, f"{words} in\n{screen}")
            # It shows one digit after the point, cut or rounded.
            self.assertLess(abs(float(shown[1]) - value), 0.1 + 1e-9, f"{words}: {value}")

    def test_top_prints_the_answer_of_the_api(self):
        command = [HEATSINK, "top", "--once", "--json"]
        command += ["--admin", f"127.0.0.1:{self.proxy.admin_port}"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(settled(json.loads(told)), settled(self.proxy.api("hotkeys")))


if __name__ == "__main__":
    unittest.main()
