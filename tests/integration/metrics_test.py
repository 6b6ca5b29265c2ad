# SPDX-License-Identifier: Apache-2.0
"""/metrics as scrapers read it, and as the reference page has it."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from harness import EAGER, until
from harness.processes import Process, free_port
from stage import ProxyTest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/metrics.md"
ONLY_WITH_TLS = "heatsink_tls_certificate_expiry_timestamp_seconds"  # tests/security has TLS
ONLY_WITH_REPLICAS = (
    "heatsink_replica_age_seconds", "heatsink_replica_fresh", "heatsink_replica_sent_total"
)  # fmt: skip
ONLY_BEFORE_A_CLUSTER = (
    "heatsink_node_throughput_bytes", "heatsink_node_commands_per_second",
    "heatsink_node_cpu_cores", "heatsink_node_cpu_imbalance", "heatsink_node_imbalance",
)  # fmt: skip
RULES = ["match=limited:*,limit.rate=1/s,limit.over=reject"]


def described():
    """(type, labels) by name, as the page has it of the proxy."""
    text = PAGE.read_text(encoding="utf-8").split("## The library")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*) \|", text, re.MULTILINE)
    return {name: (kind, set(filter(None, labels.split(", ")))) for name, kind, labels in rows}


def told(page):
    """The same, as a page of metrics has it."""
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, re.MULTILINE))
    labels = {name: set() for name in kinds}
    for name, inside in re.findall(r"^(\w+)(?:{(.*)})? \S+$", page, re.MULTILINE):
        family = name if name in kinds else re.sub("_(bucket|sum|count)$", "", name)
        labels[family] |= set(re.findall(r'(\w+)="', inside)) - {"le"}
    return {name: (kinds[name], labels[name]) for name in kinds}


class Metrics(ProxyTest):
    PROXY_OPTIONS = {
        **EAGER,
        "cache.admission": "pays",
        "limits.automatic-qps": 1000,
        "fleet.enabled": "yes",
        "alerts.webhook": "http://127.0.0.1:1/",
    }
    RULES = RULES

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.PROXY_OPTIONS = cls.PROXY_OPTIONS | {"history.file": folder.name + "/history.db"}
        super().setUpClass()

    def setUp(self):
        """Everything that may have a row has one."""
        client = self.to_proxy()
        client.ask("SET", "k", "v")
        until(lambda: client.ask("GET", "k") and self.proxy.hits() > 0, what="a local hit")
        for _ in range(3):
            client.ask("GET", "limited:1")

    def test_the_page_of_reference_has_all_of_them(self):
        expected = described()
        for each in (ONLY_WITH_TLS, *ONLY_WITH_REPLICAS, *ONLY_BEFORE_A_CLUSTER):
            del expected[each]
        # The server's CPU time is known after two answers of it.
        until(lambda: told(self.proxy.metrics()).keys() == expected.keys(), what="all metrics")
        self.assertEqual(told(self.proxy.metrics()), expected)

    def test_promtool_finds_nothing_wrong(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed (Debian: prometheus)")
        page = self.proxy.metrics()
        checked = subprocess.run(
            ["promtool", "check", "metrics"], input=page, capture_output=True, text=True
        )
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""), page)

    def test_prometheus_scrapes_it(self):
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name, "prometheus.yml")
        config.write_text(
            "scrape_configs: [{job_name: heatsink, scrape_interval: 200ms, scrape_timeout: 200ms, "
            f"static_configs: [{{targets: ['127.0.0.1:{self.proxy.admin_port}']}}]}}]",
            encoding="utf-8",
        )
        port = free_port()
        scraper = Process(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder.name}/data",
             f"--web.listen-address=127.0.0.1:{port}"]
        )  # fmt: skip
        self.addCleanup(scraper.kill)

        def asked(query):
            url = f"http://127.0.0.1:{port}/api/v1/query?query={query}"
            try:
                with urllib.request.urlopen(url) as answer:
                    return json.load(answer)["data"]["result"]
            except OSError:
                return None  # not up yet

        build = until(lambda: asked("heatsink_build_info"), what="a scrape")
        self.assertIn("version", build[0]["metric"])
        for query in ("heatsink_local_hits_total", "heatsink_clients_refused_total",
                      "heatsink_upstream_up", "process_cpu_seconds_total",
                      "heatsink_upstream_latency_seconds_bucket"):  # fmt: skip
            self.assertTrue(asked(query), query)

    def test_latencies_are_of_what_was_asked(self):
        client = self.to_proxy()
        before = self.proxy.metric("heatsink_client_latency_seconds_count")
        sent = self.proxy.by_label("heatsink_upstream_latency_seconds_count", "connection")
        for _ in range(10):
            client.ask("INCR", "n")
        client.ask("EVAL", "return 1", "0")
        # The client has its reply before the proxy has counted it.
        until(lambda: self.proxy.metric("heatsink_client_latency_seconds_count") == before + 11,
              what="11 latencies")  # fmt: skip
        after = self.proxy.by_label("heatsink_upstream_latency_seconds_count", "connection")
        self.assertEqual(after["shared"], sent["shared"] + 10)
        self.assertEqual(after["private"], sent["private"] + 1)
        self.assertGreater(self.proxy.metric("heatsink_fill_latency_seconds_count"), 0)
        self.assertEqual(self.proxy.metric("heatsink_upstream_up"), 1)

    def test_a_command_that_waits_is_no_latency(self):
        client = self.to_proxy()
        before = self.proxy.metric("heatsink_client_latency_seconds_count")
        for _ in range(5):
            client.ask("BLPOP", "nobody", "0.01")
        # The proxy counts a command after its reply, so `before` may lack the last one of setUp().
        after = self.proxy.metric("heatsink_client_latency_seconds_count")
        self.assertLessEqual(after, before + 1)


class Up(ProxyTest):
    def test_a_server_that_only_takes_no_copies_is_up(self):
        server = self.to_server()
        server.ask("REPLICAOF", "127.0.0.1", str(free_port()))
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 0, what="no copies")
        self.assertEqual(self.proxy.metric("heatsink_upstream_up"), 1)
        self.assertIn("replica", self.proxy.coherence())
        server.ask("REPLICAOF", "NO", "ONE")
        until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, what="copies again")
        self.redis.process.kill()
        until(lambda: self.proxy.metric("heatsink_upstream_up") == 0, what="it is down")


class WithoutCopies(ProxyTest):
    PROXY_OPTIONS = {"cache.enabled": "no"}

    def test_why_the_server_is_down_is_not_that_there_are_no_copies(self):
        self.redis.process.kill()
        until(lambda: self.proxy.metric("heatsink_upstream_up") == 0, what="it is down")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{self.proxy.admin_port}/healthz", timeout=60)
        said = refused.exception.read().decode()
        refused.exception.close()
        self.assertIn("is not reachable: ", said)
        self.assertNotIn("cache.enabled", said)


if __name__ == "__main__":
    unittest.main()
