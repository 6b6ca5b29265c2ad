# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes real proxies: every query has data, and faults raise their alerts."""

import contextlib
import re
import resource
import shutil
import signal
import tempfile
import unittest

import shipped
from harness import HEATSINK, PATIENCE_S, Proxy, RawClient, Redis, need_programs, until
from harness.client import Closed
from harness.processes import Process, free_port
from scraper import WINDOW, Scraper

QUICK = {"proxy.workers": 1, "detection.window": "1s", "detection.tick": "20ms"}
TOKEN = "a-token-of-the-test"
KEYS = 3000
LONG_S = 4 * PATIENCE_S  # rates need several scrapes, and a machine with other work has few
# Queries without data while nothing is wrong.
EMPTY_WITHOUT = {
    "Certificates end in A": "TLS",
    "annotation Proxy started": "a second start",
    "annotation Alert": "an alert",
}
# Alerts that a test of seconds cannot raise: unit tests of the rules do (deploy/prometheus/tests).
BY_UNIT_TESTS = {
    "HeatsinkAbsent", "HeatsinkStaleRead", "HeatsinkAuditNotRunning", "HeatsinkElementLost",
    "HeatsinkHitRatioCollapsed", "HeatsinkLatencyHigh", "HeatsinkThreadSaturated",
    "HeatsinkTrackerUnstable", "HeatsinkCertificateExpiresSoon", "HeatsinkCertificateExpires",
    "HeatsinkHistoryNotWritten",
}  # fmt: skip


def filled_in(expression):
    """PromQL as Grafana sends it."""
    for name, value in (("__rate_interval", WINDOW), ("job", ".+"), ("instance", ".+")):
        expression = expression.replace(f"${name}", value)
    return expression


class PrometheusTest(unittest.TestCase):
    def setUp(self):
        need_programs()
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def server(self):
        redis = Redis()
        self.stack.callback(redis.stop)
        return redis

    def proxy(self, redis, options=None, **how):
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="heatsink-test-"))
        history = {"history.file": f"{folder}/history.db"}
        proxy = Proxy(redis, QUICK | history | (options or {}), **how)
        self.stack.callback(proxy.process.kill)
        return proxy

    def scraper(self, *targets):
        scraper = Scraper(targets)
        self.stack.callback(scraper.stop)
        return scraper

    def load(self, port, **flags):
        """`heatsink load`, until the test ends."""
        given = {"target": f"redis://127.0.0.1:{port}", "for": "0", "prefix": "", "clients": 4, **flags}
        words = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        process = Process([HEATSINK, "load", *words])
        self.stack.callback(process.kill)
        return process

    def client(self, port, **how):
        return self.stack.enter_context(RawClient(port, **how))


class Calm(PrometheusTest):
    def setUp(self):
        super().setUp()
        # Less room than keys, so that copies are evicted.
        self.calm = self.proxy(
            self.server(),
            {"cache.maximum-size": 1000, "detection.hot-qps": 20},
            rules=["match=limited:*,limit.rate=1/s,limit.over=reject"],
        )
        self.prometheus = self.scraper(("calm", self.calm.admin_port, None))
        self.load(self.calm.port, keys=KEYS, rate=4000, pipeline=4)

    def lacks_data(self):
        """Where there is a query that should have data, and has none."""
        return [
            where
            for where, expression in shipped.expressions(shipped.dashboard())
            if not self.prometheus.query(filled_in(expression)) and where not in EMPTY_WITHOUT
        ]

    def test_every_query_has_data_and_no_alert_fires(self):
        until(lambda: self.calm.metric("heatsink_evictions_total") > 0, what="a full cache")
        try:
            until(lambda: not self.lacks_data(), LONG_S, "data")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.lacks_data()}") from None
        for where, expression in shipped.expressions(shipped.dashboard()):
            if where in EMPTY_WITHOUT:
                self.assertEqual(self.prometheus.query(filled_in(expression)), [], where)
        offload = until(
            lambda: self.prometheus.query("instance:heatsink_load_taken_off:ratio_rate5m"),
            what="the load taken off is recorded",
        )
        self.assertTrue(0 < offload[0][1] < 1, offload)
        self.assertEqual(self.prometheus.firing(), [])
        for rule in until(self.evaluated, what="an evaluation of each rule"):
            self.assertEqual(rule["health"], "ok", rule)
        self.query_rules_as_shipped()

    def evaluated(self):
        rules = self.prometheus.rules()
        self.assertGreater(len(rules), len(BY_UNIT_TESTS))
        return rules if all(rule["health"] != "unknown" for rule in rules) else None

    def query_rules_as_shipped(self):
        """The hurried copy has other times."""
        for path in (shipped.RECORDING, shipped.ALERTS):
            for rule in shipped.rules(path):
                self.prometheus.query(rule["expr"])


class Faults(PrometheusTest):
    """Each proxy suffers one kind of fault, all at the same time; one suffers none."""

    def setUp(self):
        super().setUp()
        self.start_proxies()
        self.prometheus = self.scraper(
            ("calm", self.calm.admin_port, None),
            ("frozen", self.frozen.admin_port, None),
            ("small", self.small.admin_port, None),
            ("big key", self.big.admin_port, TOKEN),
            ("restarted", self.restarts, None),
        )
        # An increase is that of a counter which was scraped before.
        until(lambda: len(self.prometheus.query("up == 1")) == 4, what="scrapes")
        self.seen = {}

    def start_proxies(self):
        self.common, self.freezes = self.server(), self.server()
        self.calm = self.proxy(self.common)
        self.frozen = self.proxy(self.freezes, {"upstream.response-timeout": "5s"})
        self.small = self.proxy(
            self.common,
            {"proxy.maximum-clients": 10, "proxy.maximum-private-connections": 5,
             "proxy.maximum-memory": "16mb", "cache.maximum-tracked-keys": 1,
             "cache.admission": "hot", "detection.hot-qps": 1, "log.file": "/dev/full",
             "upstream.connect-timeout": "1m"},
        )  # fmt: skip
        self.big = self.proxy(
            self.common,
            {"cache.maximum-value-bytes": "1kb", "detection.hot-qps": 20, "admin.token": TOKEN},
        )
        self.restarts = free_port()

    def start_again(self):
        """One process more on the same address; the one before it is killed."""
        process = Process(
            [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--admin", f"127.0.0.1:{self.restarts}",
             "--upstream", f"redis://127.0.0.1:{self.common.port}", "--set", "proxy.workers=1"]
        )  # fmt: skip
        self.stack.callback(process.kill)

        def is_scraped():
            found = self.prometheus.query(
                'process_start_time_seconds{instance="restarted"} '
                'and on (instance) up{instance="restarted"} == 1'
            )
            return found and found[0][1] != self.started_at and found[0][1]

        self.started_at = until(is_scraped, what="a scrape of the new process")
        return process

    def restart(self):
        self.started_at = None
        process = self.start_again()
        for _ in range(3):
            process.kill()
            until(lambda: self.prometheus.query('up{instance="restarted"} == 0'), what="down")
            process = self.start_again()
        self.expect(("HeatsinkRestarts", "restarted"))
        process.kill()
        self.expect(("HeatsinkDown", "restarted"))

    def freeze(self):
        """Clients go on while their server stands still."""
        self.load(self.frozen.port, keys=10, rate=500)
        until(lambda: self.frozen.hits() > 0, what="hits")
        self.freezes.process.freeze()
        self.expect(("HeatsinkCoherenceDown", "frozen"))
        self.expect(("HeatsinkUpstreamUnreachable", "frozen"))
        # The load has ended with the first error; clients of many libraries go on.
        def failed():
            with contextlib.suppress(Closed):  # the proxy closes their connections
                self.client(self.frozen.port).ask("GET", "0")
            return self.has_seen(("HeatsinkUpstreamErrors", "frozen"))

        # Errors are a hundredth of the commands only when the load has left the window of the rate.
        try:
            until(failed, LONG_S, "HeatsinkUpstreamErrors")
        except AssertionError as error:
            told = {query: self.prometheus.query(query) for query in (
                'avg_over_time(up{instance="frozen"}[20s])',
                'rate(heatsink_commands_total{instance="frozen"}[10s])',
                'rate(heatsink_upstream_errors_total{instance="frozen"}[10s])')}  # fmt: skip
            raise AssertionError(f"{error}: {told}") from None
        self.freezes.process.signal(signal.SIGCONT)

    def fill_limits(self):
        near = [("HeatsinkNearLimit", "small", limit) for limit in (
            "cache.maximum-tracked-keys", "proxy.maximum-private-connections",
            "proxy.maximum-clients", "file-descriptors")]  # fmt: skip
        clients = [self.client(self.small.port) for _ in range(9)]
        for client in clients[:5]:
            client.send("BLPOP", "nothing", 0)
        until(lambda: clients[5].ask("GET", "key") and self.small.hits() > 0, what="a hit")
        tenth = self.client(self.small.port)
        self.assertEqual(tenth.ask("PING"), b"+PONG\r\n")
        for _ in range(3):
            self.client(self.small.port).read_to_end()  # refused
        self.limit_descriptors(int(self.small.metric("process_open_fds") / 0.9))
        self.expect(*near, ("HeatsinkClientsRefused", "small", "maximum-clients"),
                    ("HeatsinkLogLinesDropped", "small"))  # fmt: skip
        for client in [*clients, tenth]:
            client.close()

    def limit_descriptors(self, limit):
        child = self.small.process.child.pid
        _, hard = resource.prlimit(child, resource.RLIMIT_NOFILE)
        resource.prlimit(child, resource.RLIMIT_NOFILE, (limit, hard))

    def use_up_memory(self):
        """Three clients do not read the 14 MB that each of them has popped."""
        self.limit_descriptors(1000)
        until(lambda: self.small.metric("heatsink_clients") == 0, what="the others have left")
        server = self.client(self.common.port)
        for number in range(3):
            for _ in range(16):
                server.ask("RPUSH", f"list{number}", b"x" * 900_000)
            client = self.client(self.small.port, receive_buffer=65536)
            client.send("LPOP", f"list{number}", 16)
        self.expect(("HeatsinkClientsCutOff", "small"))

    def has_seen(self, *wanted):
        for alert in self.prometheus.firing():
            labels = alert["labels"]
            key = (labels["alertname"], labels.get("instance"))
            self.seen[key] = self.seen[(*key, labels.get("limit"))] = alert
        return all(alert in self.seen for alert in wanted)

    def expect(self, *wanted):
        """Waits until each of them has fired."""
        try:
            until(lambda: self.has_seen(*wanted), LONG_S, "the alerts")
        except AssertionError as error:
            missing = [alert for alert in wanted if alert not in self.seen]
            raise AssertionError(f"{error}: {missing} did not fire") from None

    def test_faults_raise_their_alerts_and_no_others(self):
        self.load(self.calm.port, keys=KEYS, rate=500)
        # A key of its own: the other load writes small values, which would have copies.
        self.load(self.big.port, keys=1, prefix="big:", rate=3000, pipeline=16,
                  **{"value-size": 2000, "write-ratio": 0})  # fmt: skip
        self.fill_limits()
        self.freeze()
        self.use_up_memory()
        self.restart()
        self.expect(("HeatsinkHotKeyNotRelieved", "big key"),
                    ("HeatsinkHotKeyLoadsServer", "big key"))  # fmt: skip
        names = {name for name, *_ in self.seen}
        known = {rule["name"] for rule in self.prometheus.rules() if rule["type"] == "alerting"}
        self.assertEqual(names | BY_UNIT_TESTS, known)
        self.assertEqual([key for key in self.seen if key[1] == "calm"], [])
        self.check_texts()

    def check_texts(self):
        """What a pager shows is whole sentences with the values in place."""
        for key, alert in self.seen.items():
            for text in alert["annotations"].values():
                self.assertNotRegex(text, r"[{}]|<no value>|%!|<error", key)
            self.assertTrue(re.search(r"\d", alert["annotations"]["description"]), key)


if __name__ == "__main__":
    unittest.main()
