# SPDX-License-Identifier: Apache-2.0
"""The load taken off, as heatsink shows it, against INFO commandstats of the servers."""

import collections
import re
import subprocess
import time
import unittest

from harness import HEATSINK, RawClient, until
from harness.cluster import Cluster
from harness.processes import values_of
from stage import ServerTest
from steady_load import Load, mix, zipf

WINDOW_S = 4
POINTS = 0.03  # the shown figure may be off by this part of the load
OPTIONS = {
    "detection.window": f"{WINDOW_S}s",
    "detection.tick": "100ms",
    "proxy.workers": 1,
    "doctor.enabled": "no",
}
FRAMED = re.compile(r"cmdstat_([^:]+):calls=(\d+)")
# "<0.1 %" is as good as 0.1 %.
TAKEN_OFF = re.compile(r"LOAD TAKEN OFF the server: (-?)<?([\d.]+) %")


MIXES = {
    "reads only": mix(0),
    "5 % writes": mix(5),
    "one key, 5 GET and 1 SET": lambda i: ("SET", "k:1", "v") if i % 6 == 0 else ("GET", "k:1"),
    "20 % writes": mix(20),
    "50 % writes": mix(50),
    "MGET": mix(2, lambda i: ("MGET", zipf(i), "k:0", "k:1")),
    "hashes": mix(
        10, lambda i: ("HGET", f"h:{i % 3}", "f"), lambda i: ("HSET", f"h:{i % 3}", "f", str(i))
    ),
    "short expiry": mix(
        4, lambda i: ("GET", f"e:{i % 4}"), lambda i: ("SET", f"e:{i // 25 % 4}", "v", "PX", "40")
    ),
}


class Figures(ServerTest):
    SERVER_OPTIONS = ("--save", "")
    PROXY_OPTIONS = OPTIONS

    def setUp(self):
        super().setUp()
        self.asked = collections.Counter()  # INFO commandstats, by the server's port

    def executed(self, servers, counts=lambda name: True):
        """Calls of all commands, without the INFOs of this function: the proxy's own ones count."""
        calls = 0
        for server in servers:
            client = RawClient(server.port)
            stats = client.ask("INFO", "commandstats").decode()
            client.close()
            calls += sum(int(n) for name, n in FRAMED.findall(stats) if counts(name))
            # What a server counts by itself is not in its own reply.
            calls -= self.asked[server.port] if counts("info") else 0
            self.asked[server.port] += 1
        return calls

    def counted(self, proxy, servers):
        """Totals of the servers, of the proxy's clients, and of what the proxy has sent to servers.

        The servers are asked before and behind the proxy, so that a pause between two answers on a
        busy machine shifts no total against another.
        """
        before = self.executed(servers)
        metrics = proxy.metrics()
        after = self.executed(servers)
        sent = sum(values_of(metrics, "heatsink_commands_total"))
        to_servers = sum(values_of(metrics, "heatsink_server_commands_total"))
        return (before + after) / 2, sent, to_servers

    def compare(self, proxy, servers, command):
        """Both figures over the same window, once the load has run for a while."""
        load = Load(proxy.port, command)
        self.addCleanup(load.stop)
        time.sleep(WINDOW_S / 2)  # the load is the subject: what is hot has its copies by now
        before = self.counted(proxy, servers)
        time.sleep(WINDOW_S)  # both count over this time
        after = self.counted(proxy, servers)
        node = proxy.api("hotkeys")["node"]
        screen = subprocess.run(
            [HEATSINK, "top", "--once", "--admin", f"127.0.0.1:{proxy.admin_port}"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        load.stop()
        executed, sent, to_servers = (b - a for a, b in zip(before, after))
        true = 1 - executed / sent
        found = TAKEN_OFF.search(screen)
        self.assertIsNotNone(found, screen)
        shown = float(found[1] + found[2]) / 100
        self.assertAlmostEqual(node["offload"], true, delta=POINTS, msg=f"{node}")
        self.assertAlmostEqual(shown, true, delta=POINTS, msg=screen)
        self.assertAlmostEqual(1 - to_servers / sent, true, delta=POINTS)
        return node["offload"], true

    def test_mixes(self):
        for name, command in MIXES.items():
            with self.subTest(name):
                proxy = self.open_proxy()
                shown, true = self.compare(proxy, [self.redis], command)
                print(f"{name}: {100 * true:.1f} %, shown {100 * shown:.1f} %")
                proxy.stop()

    def test_a_read_that_waits_for_a_fill_is_a_miss(self):
        """Each write ends the copy, and the read behind it waits for the next one."""
        # What is hot gets a copy, whatever it costs.
        options = {"cache.admission": "hot", "detection.hot-qps": 20}
        options |= {"detection.write-hot-ratio": 0, "audit.sample-rate": 0}
        proxy = self.open_proxy(options)
        client = RawClient(proxy.port)
        self.addCleanup(client.close)
        until(lambda: client.ask("GET", "one") and proxy.hits() > 10, what="local hits")
        before, fills = self.accesses(proxy), proxy.metric("heatsink_fills_total")
        for i in range(100):
            client.ask("SET", "one", str(i))
            for _ in range(3):
                client.ask("GET", "one")
        after = self.accesses(proxy)
        misses = after["miss"] - before["miss"]
        self.assertEqual(after["hit"] - before["hit"] + misses, 300)
        self.assertGreaterEqual(misses, 100, "the first read behind each write")
        self.assertGreaterEqual(proxy.metric("heatsink_fills_total") - fills, 50)

    def accesses(self, proxy):
        return proxy.by_label("heatsink_accesses_total", "access")

    def test_a_key_at_the_server(self):
        """What the server still gets because of one hot key: metric against commandstats."""
        of_key = {"get", "set", "pttl", "getrange"}.__contains__
        for writes in (5, 20, 40, 50):
            name = f"{writes} % writes"
            proxy = self.open_proxy({"audit.sample-rate": 0, "detection.hot-qps": 20})
            command = mix(writes, lambda i: ("GET", "one"), lambda i: ("SET", "one", "v" * 50))
            with self.subTest(name):
                load = Load(proxy.port, command)
                self.addCleanup(load.stop)
                time.sleep(WINDOW_S * 1.5)  # the key has its copy by now
                before, sent_before = self.executed([self.redis], of_key), self.sent(proxy)
                begin = time.monotonic()
                time.sleep(WINDOW_S)  # both count over this time
                shown = proxy.metric("heatsink_key_server_commands_per_second")
                after, sent = self.executed([self.redis], of_key), self.sent(proxy)
                seconds = time.monotonic() - begin
                load.stop()
                true, rate = (after - before) / seconds, (sent - sent_before) / seconds
                print(f"{name}: the server gets {true:.0f}/s of {rate:.0f}/s, shown {shown:.0f}/s")
                self.assertAlmostEqual(shown / rate, true / rate, delta=POINTS)
                proxy.stop()

    def sent(self, proxy):
        return proxy.metric("heatsink_commands_total")

    def test_an_event_has_what_was_taken_off_at_its_time(self):
        options = {"audit.sample-rate": 0, "detection.hot-qps": 20}
        options |= {"detection.write-hot-ratio": 0, "detection.demotion-interval": 0}
        proxy = self.open_proxy(options)
        command = mix(20, lambda i: ("GET", "one"), lambda i: ("SET", "one", "v" * 50))
        load = Load(proxy.port, command)
        self.addCleanup(load.stop)
        time.sleep(WINDOW_S * 1.5)  # the key has its copy by now
        rule = "match=one,hot-qps=1000000,warm-qps=1"  # it is hot no more, and as busy as before
        admin = f"127.0.0.1:{proxy.admin_port}"
        subprocess.run([HEATSINK, "rule", "add", rule, "--admin", admin], check=True)

        def ended():
            events = proxy.api("events")["events"]
            return [event for event in events if event.get("before") == "hot"]

        event = until(ended, what="the key is hot no more")[0]
        shown = proxy.api("hotkeys")["keys"][0]
        print(f"shown {shown['offload']:.3f}, in the event {event['offload']:.3f}")
        self.assertGreater(event["hits"], 0)
        self.assertGreater(event["misses"], 0)
        for figure in ("hit_ratio", "offload"):
            self.assertAlmostEqual(event[figure], shown[figure], delta=POINTS, msg=figure)
        line = r"one \(db 0\) is no longer hot.*; copies answered [\d.]+ % of its reads, and "
        line += r"[\d.]+ % of its load was taken off"
        until(lambda: re.search(line, proxy.process.output()), what="the line in the log")

    def test_gathered_writes(self):
        rules = ["match=g:*,coalesce=20ms"]
        proxy = self.open_proxy(rules=rules)
        command = mix(80, write=lambda i: ("INCR", f"g:{i % 2}"))
        shown, true = self.compare(proxy, [self.redis], command)
        print(f"gathered writes: {100 * true:.1f} %, shown {100 * shown:.1f} %")

    def test_refusals(self):
        proxy = self.open_proxy(rules=["match=l:*,limit.rate=50/s"])
        command = mix(20, lambda i: ("GET", f"l:{i % 3}"), lambda i: ("SET", f"l:{i % 3}", "v"))
        shown, _ = self.compare(proxy, [self.redis], command)
        self.assertGreater(shown, 0.3, "what a limit refuses is load taken off")

    def test_three_nodes_of_a_cluster(self):
        with Cluster(3, 0, (), 15000) as cluster:
            proxy = self.open_proxy(upstream=cluster.url)
            self.compare(proxy, cluster.nodes, mix(10))
            proxy.stop()


if __name__ == "__main__":
    unittest.main()
