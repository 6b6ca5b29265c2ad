#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alerts as their receivers see them, and that a bad receiver holds up nobody."""

import http.server
import json
import os
import queue
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

from harness import (
    ERRORS_WHEN_DOWN,
    HEATSINK,
    PATIENCE_S,
    SLOW,
    Proxy,
    RawClient,
    Redis,
    need_programs,
    until,
)
from harness.certificates import Authority
from stage import ServerTest

FAST = {
    "detection.hot-qps": 2,
    "detection.window": "1s",
    "detection.minimum-residence": "0s",
    "alerts.on": "hot,extremely-hot,server-down",
    "alerts.extremely-hot-qps": 1000,
    "alerts.extremely-hot-share": "0%",
    "alerts.server-down-after": "500ms",
    "alerts.resolve-after": "1s",
}
# Says where it listens; takes connections and never answers.
STILL = """
import socket
door = socket.create_server(("127.0.0.1", 0))
print(door.getsockname()[1], flush=True)
taken = []
while True:
    taken.append(door.accept())
"""


class Receiver:
    """A webhook on loopback: what it was told, and what it answers.

    `answers`: statuses, one for each request; 200 when there are no more.
    """

    def __init__(self, answers=(), tls=None):
        self.bodies = queue.Queue()
        self.headers = []
        self.answers = list(answers)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802 (the name is the library's)
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.answers.pop(0) if receiver.answers else 200
                receiver.headers.append(dict(self.headers))
                self.send_response(status)
                self.end_headers()
                if status == 200:
                    receiver.bodies.put(json.loads(body))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a client that trusts it not hangs up
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        return self.bodies.get(timeout=PATIENCE_S * SLOW)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class WithReceiver(ServerTest):
    def receiver(self, *answers, **how):
        receiver = Receiver(answers, **how)
        self.addCleanup(receiver.stop)
        return receiver

    def ask_often(self, client):
        """Until the alert is raised: the proxy looks at its report once a second. Below
        alerts.extremely-hot-qps."""

        def is_raised():
            client.ask("GET", "page:1")
            return self.proxy.by_label("heatsink_alerts_raised_total", "kind").get("hot", 0) > 0

        until(is_raised, what="an alert")

    def proxy_with(self, **alerts):
        options = {f"alerts.{name.replace('_', '-')}": value for name, value in alerts.items()}
        self.proxy = self.open_proxy(FAST | options)
        client = self._keep(self.proxy.port, {})
        return client


class Webhooks(WithReceiver):
    def test_a_key_becomes_hot_and_it_is_over(self):
        receiver = self.receiver()
        client = self.proxy_with(webhook=receiver.url)
        self.ask_often(client)
        told = receiver.next()
        (alert,) = told["alerts"]
        self.assertEqual((alert["kind"], alert["state"], alert["key"], alert["db"]),
                         ("hot", "firing", "page:1", 0))  # fmt: skip
        self.assertIn("page:1 is hot: ", alert["summary"])
        self.assertIn("heatsink explain -- 'page:1'", alert["advice"])
        self.assertTrue(told["instance"].endswith(f":{self.proxy.port}"), told)
        self.assertEqual(told["upstream"], f"127.0.0.1:{self.redis.port}")
        (over,) = receiver.next()["alerts"]
        self.assertEqual((over["state"], over["key"]), ("resolved", "page:1"))
        self.assertEqual(self.proxy.by_label("heatsink_alerts_raised_total", "kind")["hot"], 1)
        self.assertEqual(self.proxy.metric("heatsink_alerts_delivered_total"), 2)
        self.assertEqual(self.proxy.metric("heatsink_alerts_firing"), 0)

    def test_more_than_1000_per_second(self):
        """The line of the seeds, as the guide has it."""
        receiver = self.receiver()
        self.proxy = self.open_proxy(
            {"alerts.extremely-hot-qps": 1000, "alerts.webhook": receiver.url}
        )
        command = [HEATSINK, "load", "--target", f"redis://127.0.0.1:{self.proxy.port}", "--rate",
                   "3000", "--keys", "1", "--for", "60s", "--quiet"]  # fmt: skip
        load = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.addCleanup(load.wait)
        self.addCleanup(load.kill)
        (alert,) = receiver.next()["alerts"]
        self.assertEqual(alert["kind"], "extremely-hot")

    def test_slack_and_alertmanager(self):
        slack, manager = self.receiver(), self.receiver()
        for receiver, form in ((slack, "slack"), (manager, "alertmanager")):
            self.ask_often(self.proxy_with(webhook=receiver.url, webhook_format=form))
        self.assertRegex(slack.next()["text"], r"^:fire: page:1 is hot: [^\n]*\n> .*\n_heatsink ")
        (alert,) = manager.next()
        self.assertEqual(alert["labels"]["alertname"], "HeatsinkHot")
        self.assertEqual(alert["labels"]["key"], "page:1")
        self.assertGreater(alert["endsAt"], alert["startsAt"])

    def test_a_failure_is_tried_again(self):
        receiver = self.receiver(500, 503)
        self.ask_often(self.proxy_with(webhook=receiver.url, resolve_after="1h"))
        self.assertEqual(receiver.next()["alerts"][0]["key"], "page:1")
        until(lambda: self.proxy.metric("heatsink_alerts_delivered_total") == 1)
        self.assertEqual(self.proxy.metric("heatsink_alerts_failed_attempts_total"), 2)
        until(lambda: "takes alerts again" in self.proxy.process.output())
        output = self.proxy.process.output()
        self.assertIn("does not take alerts: it answers with status 500", output)

    def test_a_refusal_is_dropped_and_said(self):
        receiver = self.receiver(404)
        self.ask_often(self.proxy_with(webhook=receiver.url, resolve_after="1h"))
        dropped = 'heatsink_alerts_dropped_total{to="webhook",reason="refused"} 1'
        until(lambda: dropped in self.proxy.metrics())
        until(lambda: "refuses alerts, so they are dropped" in self.proxy.process.output())
        self.assertNotIn("/hook", self.proxy.process.output(), "the path may be a secret")

    def test_the_server_goes_and_comes_back(self):
        receiver = self.receiver()
        redis = Redis()
        self.addCleanup(redis.stop)
        proxy = self.open_proxy(
            FAST | ERRORS_WHEN_DOWN | {"alerts.webhook": receiver.url}, upstream=redis
        )
        until(lambda: proxy.api("hotkeys")["node"]["upstream_up"])
        redis.process.kill()
        told = []
        until(lambda: told.extend(receiver.next()["alerts"]) or "firing" in str(told))
        self.assertEqual(told[-1]["kind"], "server-down")
        self.assertEqual(told[-1]["severity"], "critical")
        redis.restart()
        until(lambda: told.extend(receiver.next()["alerts"]) or told[-1]["state"] == "resolved")


class Restarts(WithReceiver):
    """With history.file a small file beside it has what was sent."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.history = f"{folder.name}/history.db"

    def open_proxy(self, options=None, rules=(), upstream=None):
        """Which a test may kill."""
        proxy = Proxy(upstream or self.redis, options, rules)
        self.addCleanup(proxy.process.kill)
        return proxy

    def told_once(self, receiver, resolve_after, **more):
        """A proxy whose receiver has taken an alert, and that the file says so."""
        client = self.proxy_with(webhook=receiver.url, resolve_after=resolve_after, **more)
        self.ask_often(client)
        (alert,) = receiver.next()["alerts"]
        self.assertEqual((alert["key"], alert["state"]), ("page:1", "firing"))

        def is_kept():
            with open(f"{self.history}.alerts", encoding="utf-8") as kept:
                return "page:1" in kept.read()

        until(is_kept, what="the state of the alerts")
        return client

    def proxy_with(self, **alerts):
        with unittest.mock.patch.dict(FAST, {"history.file": self.history, "alerts.on": "hot"}):
            return super().proxy_with(**alerts)

    def ask_for_a_while(self, client, seconds=3):
        """Long enough for an alert to be raised again."""
        until_when = time.monotonic() + seconds
        while time.monotonic() < until_when:
            client.ask("GET", "page:1")

    def test_a_restart_repeats_nothing_and_tells_the_end(self):
        receiver = self.receiver()
        self.told_once(receiver, "5s")
        for how in (signal.SIGTERM, signal.SIGKILL):
            self.proxy.process.end(how)
            client = self.proxy_with(webhook=receiver.url, resolve_after="5s")
            self.ask_for_a_while(client)
            self.assertTrue(receiver.bodies.empty(), "the alert was sent again")
            self.assertEqual(self.proxy.metric("heatsink_alerts_firing"), 1)
        (over,) = receiver.next()["alerts"]
        self.assertEqual((over["key"], over["state"]), ("page:1", "resolved"))
        until(lambda: os.path.getsize(f"{self.history}.alerts") < 50, what="nothing is left")

    def test_a_hand_over_repeats_nothing(self):
        receiver = self.receiver()
        self.told_once(receiver, "5s")
        self.proxy.process.signal(signal.SIGUSR2)
        until(lambda: "serves the clients" in self.proxy.process.output(), what="a hand-over")
        successor = int(re.search(r"process (\d+) serves", self.proxy.process.output())[1])
        self.addCleanup(lambda: os.kill(successor, signal.SIGTERM))
        with RawClient(self.proxy.port) as client:
            self.ask_for_a_while(client)
        self.assertTrue(receiver.bodies.empty(), "the alert was sent again")
        # The successor keeps the key warm for half a minute, so its end comes late.
        until(lambda: self.proxy.metric("heatsink_alerts_firing") == 1, what="it has the alert")
        self.assertEqual(self.proxy.by_label("heatsink_alerts_raised_total", "kind")["hot"], 0)

    def test_what_no_target_took_is_raised_again(self):
        receiver = self.receiver(*[500] * 1000)
        client = self.proxy_with(webhook=receiver.url, resolve_after="1h")
        self.ask_often(client)
        until(lambda: self.proxy.metric("heatsink_alerts_failed_attempts_total") > 0)
        self.proxy.process.kill()
        receiver.answers.clear()
        self.ask_often(self.proxy_with(webhook=receiver.url, resolve_after="1h"))
        self.assertEqual(receiver.next()["alerts"][0]["key"], "page:1")

    def test_a_file_of_another_kind_is_left_alone(self):
        with open(f"{self.history}.alerts", "w", encoding="ascii") as foreign:
            foreign.write("customers\n")
        receiver = self.receiver()
        self.ask_often(self.proxy_with(webhook=receiver.url))
        self.assertEqual(receiver.next()["alerts"][0]["key"], "page:1")
        self.assertIn("is left alone", self.proxy.process.output())
        with open(f"{self.history}.alerts", encoding="ascii") as foreign:
            self.assertEqual(foreign.read(), "customers\n")


class BadReceivers(WithReceiver):
    """Each takes no alert; clients, the admin API and the end of the proxy do not notice."""

    def nothing_waits(self, client):
        self.ask_often(client)
        until(lambda: self.proxy.by_label("heatsink_alerts_raised_total", "kind")["hot"] == 1)
        self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
        self.assertEqual(client.ask("GET", "k"), b"$1\r\nv\r\n")
        self.assertEqual(self.proxy.metric("heatsink_alerts_delivered_total"), 0)
        self.proxy.stop()  # by SIGTERM, while an attempt hangs

    def test_one_that_refuses_connections(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
            client = self.proxy_with(webhook=url)
            self.ask_often(client)
            until(lambda: self.proxy.metric("heatsink_alerts_failed_attempts_total") > 0)
            self.nothing_waits(client)

    def test_one_that_never_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as still:
            still.settimeout(PATIENCE_S * SLOW)
            url = f"http://127.0.0.1:{still.getsockname()[1]}/"
            client = self.proxy_with(webhook=url, timeout="1m")
            self.ask_often(client)
            attempt, _ = still.accept()
            with attempt:
                self.assertIn(b"POST / HTTP/1.1", attempt.recv(64))
                self.nothing_waits(client)

    def test_one_that_is_stopped(self):
        child = subprocess.Popen([sys.executable, "-c", STILL], stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        port = int(child.stdout.readline())
        child.send_signal(19)  # SIGSTOP
        client = self.proxy_with(webhook=f"http://127.0.0.1:{port}/", timeout="1m")
        self.nothing_waits(client)

    def test_a_command_that_hangs(self):
        client = self.proxy_with(command="/bin/sleep 1000", timeout="1m")
        self.nothing_waits(client)


class Commands(WithReceiver):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, text):
        path = f"{self.folder}/tell"
        with open(path, "w", encoding="ascii") as out:
            out.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_the_command_gets_the_message(self):
        out = f"{self.folder}/told"
        path = self.script(f"cat >{out}.new && mv {out}.new {out}")
        self.ask_often(self.proxy_with(command=path, resolve_after="1h"))
        until(lambda: os.path.exists(out))
        with open(out, encoding="utf-8") as told:
            self.assertEqual(json.load(told)["alerts"][0]["key"], "page:1")

    def test_and_the_log(self):
        self.ask_often(self.proxy_with(log="yes"))
        until(lambda: "alert hot: page:1 is hot: " in self.proxy.process.output())


class TestVerb(unittest.TestCase):
    def setUp(self):
        need_programs()
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_verb(self, *settings):
        command = [HEATSINK, "alert", "test"]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def receiver(self, *answers, **how):
        receiver = Receiver(answers, **how)
        self.addCleanup(receiver.stop)
        return receiver

    def test_it_says_what_came_of_it(self):
        good, bad = self.receiver(), self.receiver(403)
        status, output = self.run_verb(f"alerts.webhook={good.url}", "alerts.command=/bin/false")
        self.assertEqual(status, 1)
        self.assertIn("takes alerts", output)
        self.assertIn("the command /bin/false: it exits with status 1", output)
        self.assertEqual(good.next()["alerts"][0]["kind"], "test")
        status, output = self.run_verb(f"alerts.webhook={bad.url}")
        self.assertEqual(status, 1)
        self.assertIn("it answers with status 403", output)
        self.assertNotIn("/hook", output)
        self.assertEqual(self.run_verb(f"alerts.webhook={good.url}")[0], 0)

    def test_without_a_target_it_says_what_to_set(self):
        status, output = self.run_verb()
        self.assertEqual(status, 2)
        self.assertIn("set alerts.webhook-file", output)

    def test_a_url_and_a_token_in_files(self):
        receiver = self.receiver()
        for name, text in (("url", receiver.url), ("token", "0123456789abcdef")):
            with open(f"{self.folder}/{name}", "w", encoding="ascii") as out:
                out.write(text + "\n")
        status, output = self.run_verb(
            f"alerts.webhook-file={self.folder}/url",
            f"alerts.webhook-token-file={self.folder}/token",
        )
        self.assertEqual(status, 0, output)
        self.assertEqual(receiver.headers[0]["Authorization"], "Bearer 0123456789abcdef")

    def test_tls_is_verified(self):
        authority = Authority(self.folder)
        good = self.receiver(tls=authority.sign("server"))
        status, output = self.run_verb(
            f"alerts.webhook={good.url}", f"alerts.webhook-ca={authority.cert}"
        )
        self.assertEqual(status, 0, output)
        status, output = self.run_verb(f"alerts.webhook={good.url}")  # an authority nobody knows
        self.assertEqual(status, 1)
        self.assertIn("no TLS: certificate verify failed", output)
        other = self.receiver(tls=authority.sign("other", hosts="DNS:elsewhere"))
        status, output = self.run_verb(
            f"alerts.webhook={other.url}", f"alerts.webhook-ca={authority.cert}"
        )
        self.assertEqual(status, 1)
        self.assertIn("no TLS: certificate verify failed", output)

    def test_printing_the_configuration_hides_the_url(self):
        done = subprocess.run(
            [HEATSINK, "config", "print", "--set", "alerts.webhook=https://a/secret"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.assertIn("webhook: '***'", done.stdout.replace('"', "'"))
        self.assertNotIn("https://a/secret", done.stdout)


if __name__ == "__main__":
    unittest.main()
