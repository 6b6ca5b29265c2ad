#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heatsink watch: one view of many proxies. Sums with bounds, and instances that do not answer."""

import json
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

from harness import HEATSINK, PATIENCE_S, SLOW, ValueClient, need_programs, until
from harness.processes import Process, Proxy, Redis, free_port
from harness.watching import Watch

# A long window, so that counts stay: what is sent once is in all answers of the test.
COUNTS = {"detection.window": "60s", "detection.hot-qps": 5, "detection.warm-qps": 2}
WINDOW_S = 60
TOKEN = "a-token-of-the-admin-port"


def get(port, **counts):
    """So many reads of each key."""
    with ValueClient(port) as client:
        for key, count in counts.items():
            for _ in range(count):
                client("GET", key)


class ManyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def open_proxy(self, **options):
        proxy = Proxy(self.redis, COUNTS | options)
        self.addCleanup(proxy.stop)
        return proxy

    def open_watch(self, ports, *flags):
        watch = Watch(ports, *flags)
        self.addCleanup(watch.stop)
        return watch


class Sums(ManyTest):
    def test_of_three_proxies(self):
        a, b, c = (self.open_proxy() for _ in range(3))
        get(a.port, x=600, y=400)
        get(b.port, x=300)
        get(c.port, z=90)
        watch = self.open_watch([each.admin_port for each in (a, b, c)])
        key = until(lambda: watch.key_above("x", 14), what="the sum")
        self.assertLessEqual(key["rate_low"], 900 / WINDOW_S + 0.01)
        self.assertGreaterEqual(key["rate_high"], 900 / WINDOW_S - 0.01)
        self.assertEqual(key["verdict"], "hot")
        self.assertRegex(key["reason"], r"^hot at \d of 3 instances \(127\.0\.0\.1:\d+: ")
        node = watch.hotkeys()["node"]
        self.assertAlmostEqual(node["requests_rate"], 1390 / WINDOW_S, delta=0.1)
        self.assertEqual((node["upstream"], node["coherence"]), ("3 instances", "up"))
        self.drill_down(watch, b)
        self.columns(watch)
        self.terminal(watch)

    def drill_down(self, watch, b):
        """By instance; where a key is not named it has at most so many."""
        told = watch.told("/api/instances?name=y")["instances"]
        self.assertEqual([each["is_named"] for each in told], [True, False, False])
        for each in told[1:]:
            self.assertEqual(each["rate_low"], 0)
            self.assertLess(each["rate_high"], 1)
        low, high = (sum(each[of] for each in told) for of in ("rate_low", "rate_high"))
        self.assertLessEqual(low, 400 / WINDOW_S + 0.01)
        self.assertGreaterEqual(high, 400 / WINDOW_S - 0.01)
        name = f"127.0.0.1:{b.admin_port}"
        keys = watch.told(f"/api/hotkeys?instance={name}")["keys"]
        self.assertEqual([key["name"] for key in keys], ["x"])
        explained = watch.told(f"/api/explain?name=x&db=0&instance={name}")
        self.assertEqual(explained["key"], "x")
        self.assertTrue(watch.told(f"/api/heatmap?rows=5&instance={name}")["rows"])
        self.assertEqual(watch.ask("/api/hotkeys?instance=other:1")[0], 400)
        self.assertEqual(watch.ask("/api/explain?name=x")[0], 404)

    def columns(self, watch):
        names = lambda: {row["name"] for row in watch.told("/api/heatmap")["rows"]}  # noqa: E731
        until(lambda: {"x", "y", "z"} <= names(), what="columns with all keys")
        counts = watch.told("/api/counts")
        rows = {row["name"]: row for row in counts["rows"] if row["kind"] == "key"}
        self.assertAlmostEqual(rows["x"]["rate"], 15, delta=0.01)
        up = re.findall(r"^heatsink_watch_instance_up{.*} 1$", watch.ask("/metrics")[1], re.M)
        self.assertEqual(len(up), 3)
        self.assertIn("x hot", " ".join(f"{event['name']} {event['verdict']}" for event in
                                        watch.told("/api/events")["events"]))  # fmt: skip

    def terminal(self, watch):
        command = [HEATSINK, "top", "--admin", f"127.0.0.1:{watch.port}", "--once"]
        out = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S * SLOW, check=True
        )
        self.assertRegex(out.stdout, r"(?m)^.*\bx\b.*hot")
        self.assertIn("3 instances", out.stdout)

    def test_a_watch_of_watches(self):
        a, b = self.open_proxy(), self.open_proxy()
        get(a.port, x=600)
        get(b.port, x=300)
        first = [self.open_watch([each.admin_port]) for each in (a, b)]
        watch = self.open_watch([each.port for each in first])
        key = until(lambda: watch.key_above("x", 14), what="the sum")
        self.assertAlmostEqual(key["rate_low"], 15, delta=0.01)


class Silent(ManyTest):
    def test_one_that_is_stopped_and_goes_on(self):
        a, b = self.open_proxy(), self.open_proxy()
        get(a.port, x=600)
        get(b.port, x=300)
        watch = self.open_watch([a.admin_port, b.admin_port])
        until(lambda: watch.key_above("x", 14), what="the sum")
        b.process.freeze()
        until(lambda: not watch.instance(b.admin_port)["answers"], what="it is silent")
        told = watch.hotkeys()
        self.assertIn("1 of 2 instances does not answer", told["headline"])
        self.assertIn("does not answer", told["node"]["coherence"])
        key = watch.key("x")
        self.assertAlmostEqual(key["rate_low"], 10, delta=0.01)
        self.assertIsNone(key["rate_high"], "it may have any rate there")
        self.assertIsNone(told["node"]["absent_max"])
        get(a.port, x=600)  # the other one is followed as ever
        until(lambda: watch.key("x")["rate_low"] > 19, what="the other one's counts")
        status, text = watch.ask(f"/api/hotkeys?instance=127.0.0.1:{b.admin_port}")
        self.assertEqual(status, 503)
        self.assertIn("does not answer since 2", text)
        b.process.signal(signal.SIGCONT)
        until(watch.all_answer, what="it is back")
        key = until(lambda: (key := watch.key("x"))["rate_high"] and key, what="bounds again")
        self.assertGreater(key["rate_low"], 24)
        verdicts = [event["verdict"] for event in watch.told("/api/events")["events"]]
        self.assertIn("instance-silent", verdicts)
        self.assertEqual(verdicts.count("instance-answers"), 1)

    def test_one_that_is_killed_and_comes_back(self):
        a = self.open_proxy()
        port = free_port()
        command = [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--admin", f"127.0.0.1:{port}",
                   "--upstream", f"redis://127.0.0.1:{self.redis.port}"]  # fmt: skip
        first = Process(command)
        self.addCleanup(first.kill)
        watch = self.open_watch([a.admin_port, port])
        until(watch.all_answer, what="both answer")
        first.kill()
        until(lambda: not watch.instance(port)["answers"], what="it is silent")
        self.assertIn("refused", watch.instance(port)["problem"])
        since = watch.instance(port)["since"]
        second = Process(command)
        self.addCleanup(second.kill)
        until(watch.all_answer, what="it is back")
        self.assertGreater(watch.instance(port)["since"], since)


class Hostile:
    """A port that answers each connection with `parts`, for as long as it is read."""

    def __init__(self, parts):
        self.parts = parts
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client):
        with client:
            try:
                client.recv(4096)
                for part in self.parts():
                    client.sendall(part)
            except OSError:
                pass

    def close(self):
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()


def ok(body, length=None):
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    return head.encode() + body


def drops():
    """A byte now and then: each comes in time, the answer never."""
    yield ok(b"", 1_000_000)
    while True:
        yield b" "
        threading.Event().wait(0.2)


def flood():
    yield b"HTTP/1.1 200 OK\r\n\r\n"
    while True:
        yield b"[" * 65536


class Played(Hostile):
    """A port that answers with what a test says for each path; None: as the proxy behind it."""

    def __init__(self, proxy, script):
        self.script = script
        self.proxy = proxy
        super().__init__(None)

    def answer(self, client):
        with client:
            try:
                path = client.recv(4096).split()[1].decode().partition("?")[0]
                told = self.script(path)
                client.sendall(ok(self.as_it_is(path)) if told is None else told)
            except (OSError, IndexError):
                pass

    def as_it_is(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.proxy.admin_port}{path}") as answer:
            return answer.read()


HOSTILE = {
    "garbage": (lambda: [b"\xff\x00 not http\r\n\r\n"], "HTTP"),
    "no JSON": (lambda: [ok(b"hello")], "not JSON"),
    "other JSON": (lambda: [ok(b'{"keys": 1}')], "must be"),
    "deep": (lambda: [ok(b"[" * 100_000)], "not JSON"),
    "flood": (flood, "large|time"),
    "drops": (drops, "time"),
    "mute": (lambda: [threading.Event().wait(60) and b""], "time"),
    "closes": (list, "end|reset|closed|HTTP"),
}


class Bad(ManyTest):
    def test_hostile_instances_hold_up_no_other(self):
        a = self.open_proxy()
        get(a.port, x=600)
        hostile = [Hostile(parts) for parts, _ in HOSTILE.values()]
        for each in hostile:
            self.addCleanup(each.close)
        watch = self.open_watch([a.admin_port, *(each.port for each in hostile)])
        until(lambda: watch.key("x"), what="the good one is shown")
        for each, (name, (_, problem)) in zip(hostile, HOSTILE.items(), strict=True):
            with self.subTest(name):
                until(lambda: watch.instance(each.port)["problem"] != "no answer yet",  # noqa: B023
                      what=f"an opinion about {name}")  # fmt: skip
                told = watch.instance(each.port)
                self.assertFalse(told["answers"])
                self.assertRegex(told["problem"], problem)
        get(a.port, x=600)
        until(lambda: watch.key("x")["rate_low"] > 19, what="the good one is followed")
        self.assertEqual(watch.ask("/healthz"), (200, "ok\n"))
        if SLOW == 1:  # the sanitizers keep freed memory
            self.assertLess(watch.process.rss_bytes(), 200 << 20)

    def played(self, script):
        played = Played(self.open_proxy(), script)
        self.addCleanup(played.close)
        return played

    def test_one_that_stalls_until_it_is_silent_and_then_answers_its_counts(self):
        """Its rounds: all; none; counts alone, when its last verdicts are over."""
        asked = []
        is_silent = threading.Event()

        def script(path):
            if path != "/api/counts":
                return None
            asked.append(path)
            if len(asked) == 1:
                threading.Event().wait(0.5)
            if len(asked) == 2:
                threading.Event().wait(1.2)
                return b""
            if len(asked) == 3:
                is_silent.wait(PATIENCE_S)
            return None

        played = self.played(script)
        watch = self.open_watch([played.port])
        until(watch.all_answer, what="it answers")
        until(lambda: not watch.all_answer(), what="it is silent")
        is_silent.set()
        until(watch.all_answer, what="it is back")
        self.assertGreater(len(asked), 3)

    def test_counts_that_are_old(self):
        is_old = threading.Event()

        def script(path):
            if path != "/api/counts" or not is_old.is_set():
                return None
            counts = json.loads(played.as_it_is(path))
            return ok(json.dumps(counts | {"age_seconds": 30}).encode())

        played = self.played(script)
        watch = self.open_watch([played.port])
        until(watch.all_answer, what="it answers")
        is_old.set()
        until(lambda: not watch.all_answer(), what="it is silent")
        self.assertIn("its counts are 30 s old", watch.instance(played.port)["problem"])

    def test_a_page_that_hangs_holds_up_others_only_once(self):
        ends = threading.Event()
        self.addCleanup(ends.set)
        played = self.played(lambda path: ends.wait() and None if path == "/api/health" else None)
        watch = self.open_watch([played.port])
        until(watch.all_answer, what="it answers")
        page = f"/api/health?instance=127.0.0.1:{played.port}"
        status, text = watch.ask(page)
        self.assertEqual(status, 503)
        self.assertIn("it did not answer in time", text)
        status, text = watch.ask(page)
        self.assertEqual(status, 503)
        self.assertIn("it is not asked for", text)

    def test_pages_that_change_nothing_are_passed_on(self):
        a = self.open_proxy()
        get(a.port, x=10)
        watch = self.open_watch([a.admin_port])
        until(watch.all_answer, what="it answers")
        at = f"instance=127.0.0.1:{a.admin_port}"
        self.assertEqual(watch.told(f"/api/rules?{at}")["rules"], [])
        self.assertEqual(watch.told(f"/api/warm?{at}")["keys"], [])
        self.assertIn("match", watch.told(f"/api/rules/dry-run?match=x*&{at}"))
        status, text = watch.ask(f"/api/explain?name=x&db=no&{at}")
        self.assertEqual(status, 503)
        self.assertIn("400", text)
        self.assertIn("heatsink_local_hits_total ", watch.ask(f"/metrics?{at}")[1])
        self.assertIn("heatsink_watch_instance_up", watch.ask("/metrics")[1])
        self.assertEqual(watch.ask("/api/rules")[0], 404)
        request = urllib.request.Request(f"http://127.0.0.1:{watch.port}/api/rules?{at}",
                                         b"{}", {"Content-Type": "application/json"})  # fmt: skip
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 405)

    def test_tokens(self):
        a = self.open_proxy(**{"admin.token": TOKEN})
        with tempfile.TemporaryDirectory() as folder:
            right, wrong = (pathlib.Path(folder, name) for name in ("right", "wrong"))
            right.write_text(TOKEN + "\n", encoding="ascii")
            wrong.write_text("another-token-of-somebody\n", encoding="ascii")
            watch = self.open_watch([a.admin_port], "--token-file", str(right),
                                    "--listen-token-file", str(wrong))  # fmt: skip
            self.assertEqual(watch.ask("/api/instances")[0], 401)
            own = "another-token-of-somebody"
            until(lambda: '"answers":true' in watch.ask("/api/instances", own)[1])
            without = self.open_watch([a.admin_port], "--token-file", str(wrong))
            until(lambda: "token" in without.instance(a.admin_port)["problem"])

    def test_names_that_are_there_and_that_are_not(self):
        a = self.open_proxy()
        get(a.port, x=600)
        watch = Watch([a.admin_port], host="localhost")
        self.addCleanup(watch.stop)
        until(lambda: watch.key_above("x", 9), what="it is asked by its name")
        nobody = Watch([6390], host="no-such-host.invalid")
        self.addCleanup(nobody.stop)
        problem = lambda: nobody.told("/api/instances")["instances"][0]["problem"]  # noqa: E731
        until(lambda: "cannot resolve" in problem(), what="that there is no such name")

    def test_command_lines(self):
        for flags, problem in (
            ((), "--of HOST:PORT,HOST:PORT"),
            (("--of", "nowhere"), "nowhere"),
            (("--of", "a:1,a:1"), "a:1 is there twice"),
            (("--of", ",".join(f"h:{port}" for port in range(1, 66))), "at most 64"),
            (("--of", "a:1,b:1,c:1", "--token-file", "x", "--token-file", "y"), "2 files for 3"),
            (("--of", "a:1", "--listen", "0.0.0.0:0"), "token"),
        ):
            with self.subTest(flags):
                out = subprocess.run([HEATSINK, "watch", *flags], capture_output=True, text=True,
                                     timeout=PATIENCE_S * SLOW, check=False)  # fmt: skip
                self.assertNotEqual(out.returncode, 0)
                self.assertIn(problem, out.stderr)


if __name__ == "__main__":
    unittest.main()
