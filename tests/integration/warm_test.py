# SPDX-License-Identifier: Apache-2.0
"""Keys that are hot because somebody says so: heatsink warm, the API behind it, and the clock."""

import json
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from harness import HEATSINK, PATIENCE_S, SLOW, Proxy, RawClient, until
from stage import ProxyTest

# Nothing is hot by its rate.
COLD = {"detection.hot-qps": 1_000_000, "audit.sample-rate": "0%"}
V = b"$1\r\nv\r\n"


class WarmTest(ProxyTest):
    def setUp(self):
        self.server, self.client = self.to_server(), self.to_proxy()

    def command(self, *args):
        return [HEATSINK, "warm", "--admin", f"127.0.0.1:{self.proxy.admin_port}", *args]

    def warm(self, *args, status=0, stdin=None):
        done = subprocess.run(
            self.command(*args),
            capture_output=True,
            text=True,
            input=stdin,
            timeout=3 * PATIENCE_S * SLOW,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status != 2 else done.stderr

    def outcomes(self, *args, status=0):
        rows = json.loads(self.warm(*args, "--json", status=status))["keys"]
        return {row["name"]: row["outcome"] for row in rows}

    def post(self, path, body, content_type="application/json", method="POST"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.proxy.admin_port}{path}",
            data=body if isinstance(body, bytes) else json.dumps(body).encode(),
            headers={"Content-Type": content_type},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

class Warming(WarmTest):
    PROXY_OPTIONS = COLD | {
        "cache.maximum-size": 20,
        "cache.maximum-value-bytes": 1000,
        "cache.expire-after-write": "1s",
    }

    def tearDown(self):
        warmed = self.proxy.api("warm")["keys"]
        keys = [{"name_base64": key["name_base64"], "db": key["db"]} for key in warmed]
        if keys:
            self.post("/api/warm/end", {"keys": keys})

    def is_local(self, *call, reply=V):
        before = self.proxy.hits()
        self.assertEqual(self.client.ask(*call), reply)
        return self.proxy.hits() > before

    def test_the_first_read_is_a_hit(self):
        self.server.ask("SET", "sale:1", "v")
        out = self.warm("sale:1", "--for", "10m")
        self.assertRegex(out, r"^warmed until 20.*Z: 1 loaded\n$")
        until(lambda: self.is_local("GET", "sale:1"), what="a hit")
        key = self.proxy.api("hotkeys")["keys"][0]
        self.assertEqual((key["name"], key["verdict"]), ("sale:1", "hot"))
        self.assertIn("warmed until 20", key["reason"])
        event = self.proxy.api("events")["events"][-1]
        self.assertEqual((event["name"], event["verdict"]), ("sale:1", "hot"))
        self.assertIn("warmed until 20", event["reason"])
        self.assertIn("sale:1", self.warm("--list"))

    def test_it_stays_loaded_although_nobody_reads_and_others_write(self):
        self.server.ask("SET", "sale:1", "v")
        self.warm("sale:1", "--for", "10m")
        for value in (b"v", b"w"):  # 1 s is a life; written past the proxy, it is loaded again
            self.server.ask("SET", "sale:1", value)
            loads = self.proxy.metric("heatsink_fills_total")
            until(
                lambda: self.proxy.metric("heatsink_fills_total") >= loads + 2, what="two lives"
            )  # fmt: skip
            reply = b"$1\r\n" + value + b"\r\n"
            until(lambda r=reply: self.is_local("GET", "sale:1", reply=r), what="a hit")

    def test_what_became_of_each_key(self):
        self.server.ask("SET", "here", "v")
        self.server.ask("SET", "big", "x" * 2000)
        self.server.ask("HSET", "hash", "f", "v")
        with tempfile.NamedTemporaryFile("w", suffix=".keys") as file:
            file.write("big\nhash\n\n")
            file.flush()
            out = self.outcomes("here", "absent", "--file", file.name, "--for", "10m")
        self.assertEqual(
            out, {"here": "loaded", "absent": "missing", "big": "too-big", "hash": "no-string"}
        )
        until(lambda: self.is_local("HGET", "hash", "f"), what="what its first read has filled")
        until(lambda: self.is_local("GET", "absent", reply=b"$-1\r\n"), what="a copy of nothing")
        self.server.ask("SET", "absent", "v")
        until(lambda: self.client.ask("GET", "absent") == V, what="it is written")

    def test_no_more_than_their_share(self):
        keys = [f"k:{i}" for i in range(15)]
        out = self.outcomes(*keys, "--for", "10m", "--concurrency", "4", status=1)
        self.assertEqual(sum(outcome == "refused" for outcome in out.values()), 5)
        rows = self.post("/api/warm", {"keys": ["one-more"], "for_seconds": 60})[1]["keys"]
        self.assertIn("cache.warm-share", rows[0]["note"])

    def test_it_ends_by_the_clock_and_by_hand(self):
        self.server.ask("SET", "a", "v")
        self.server.ask("SET", "b", "v")
        self.warm("a", "--for", "1s")
        self.warm("b", "--for", "10m")
        until(lambda: not self.proxy.api("warm")["keys"][0]["name"] == "a", what="its end")
        self.assertEqual(self.outcomes("b", "--end"), {"b": "ended"})
        self.assertEqual(self.outcomes("b", "--end", status=1), {"b": "not-warmed"})
        self.assertEqual(self.proxy.api("hotkeys")["keys"], [])
        self.assertFalse(self.is_local("GET", "b"))
        reasons = [event["reason"] for event in self.proxy.api("events")["events"]]
        self.assertIn("its warming is over", reasons)
        self.assertIn("the warming was ended on request", reasons)

    def test_another_database_and_a_list_from_standard_input(self):
        self.server.ask("SELECT", 3)
        self.server.ask("SET", "c", "v")
        self.warm("--file", "-", "--db", "3", "--for", "10m", "--rate", "1000", stdin="c\r\n")
        self.client.ask("SELECT", 3)
        until(lambda: self.is_local("GET", "c"), what="a hit")

    def test_a_database_that_is_not_there_is_refused_and_costs_nobody_a_copy(self):
        self.server.ask("SET", "sale:1", "v")
        self.warm("sale:1", "--for", "10m")
        until(lambda: self.is_local("GET", "sale:1"), what="a hit")
        why = "refused: the server refuses database 99: ERR DB index is out of range"

        def copies_stay():
            """Unless the machine stands still for a second meanwhile: then once more."""
            lost = self.proxy.metric("heatsink_tracker_lost_total")
            out = self.warm("sale:1", "other", "--for", "30m", "--db", "99", status=1)
            self.assertIn("2 refused", out)
            self.assertIn(f"sale:1 (db 99): {why}", out)
            self.assertIn(f"other (db 99): {why}", out)
            return self.proxy.metric("heatsink_tracker_lost_total") == lost

        until(copies_stay, what="an order that costs nobody a copy")
        self.assertEqual([row["db"] for row in self.proxy.api("warm")["keys"]], [0])
        until(lambda: self.is_local("GET", "sale:1"), what="a hit")
        reasons = [event["reason"] for event in self.proxy.api("events")["events"]]
        self.assertIn("the server refuses database 99: ERR DB index is out of range", reasons)

    def test_wrong_words(self):
        self.assertIn("no keys: give KEY", self.warm(status=2))
        self.assertIn("no duration", self.warm("a", status=2))
        self.assertIn("until is 'noon'", self.warm("a", "--until", "noon", status=2))
        self.assertIn("cannot be read", self.warm("--file", "/nowhere", "--for", "1m", status=2))
        done = subprocess.run(
            [HEATSINK, "warm", "--admin", "127.0.0.1:1", "a", "--for", "1m"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("heatsink warm: 127.0.0.1:1: ", done.stderr)

    def test_the_api_takes_orders_only_as_json_and_by_post(self):
        order = {"keys": ["a"], "for_seconds": 60}
        self.assertEqual(self.post("/api/warm", order, "text/plain")[0], 415)
        self.assertEqual(self.post("/api/warm", order, method="PUT")[0], 413)
        self.assertEqual(self.post("/api/hotkeys", order)[0], 405)
        self.assertEqual(self.post("/api/warm", {"keys": []})[0], 400)
        self.assertEqual(self.post("/api/warm", b"x" * (1 << 20) + b"y")[0], 413)
        self.assertEqual(self.proxy.api("warm")["keys"], [])


class Patterns(WarmTest):
    """20 000 items and 300 sales; 2048 keys may be warmed."""

    PROXY_OPTIONS = COLD | {"cache.maximum-size": 4096, "cache.maximum-value-bytes": 1000}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with RawClient(cls.redis.port) as server:
            for first in range(0, 20_000, 5000):
                pairs = [part for i in range(first, first + 5000) for part in (f"item:{i}", "v")]
                server.ask("MSET", *pairs)
            server.ask("MSET", *(part for i in range(298) for part in (f"sale:{i}", "v")))
            server.ask("SET", "sale:big", "x" * 2000)
            server.ask("HSET", "sale:hash", "f", "v")

    def tearDown(self):
        for db in (0, 3):
            self.post("/api/warm/end", {"pattern": "*", "db": db})
        until(lambda: not self.proxy.api("warm")["keys"], what="the end of it")

    def test_all_that_match_are_loaded_and_the_others_told(self):
        out = self.warm("--pattern", "sale:*", "--for", "10m")
        self.assertRegex(
            out,
            r"^300 keys match sale:\* \(db 0\)\n"
            r"warmed until 20.*Z: 298 loaded, 1 no-string, 1 too-big\n",
        )
        self.assertIn("sale:big (db 0): too-big: its value is larger than", out)

        def all_hits():
            """A fence is that of a few names: what another has fenced is loaded again at once."""
            before = self.proxy.hits()
            for i in range(298):
                self.assertEqual(self.client.ask("GET", f"sale:{i}"), V)
            return self.proxy.hits() >= before + 298

        until(all_hits, what="hits of all of them")

    def test_more_than_may_be_are_counted(self):
        out = self.warm("--pattern", "item:*", "--for", "10m", status=1)
        self.assertIn("20000 keys match item:* (db 0); 17952 left out: warmed keys use up", out)
        self.assertRegex(out, r"left out:( item:\d+){20} and 17932 more\n")
        self.assertIn("Z: 2048 loaded\n", out)

    def test_a_limit_is_no_failure(self):
        told = json.loads(
            self.warm("--pattern", "item:1*", "--for", "10m", "--limit", "9", "--json")
        )
        self.assertEqual(len(told["keys"]), 9)
        search = told["search"]
        self.assertEqual((search["state"], search["warmed"]), ("finished", 9))
        self.assertEqual((search["found"], search["left_out"]), (11_111, 11_102))
        self.assertEqual(search["note"], "the limit is 9 keys")

    def test_it_ends_by_its_pattern(self):
        self.warm("sale:1", "item:1", "--for", "10m")
        self.assertEqual(self.warm("--end", "--pattern", "sale:*"), "1 ended\n")
        self.assertEqual([key["name"] for key in self.proxy.api("warm")["keys"]], ["item:1"])
        self.assertEqual(self.warm("--end", "--pattern", "sale:*", status=1), "no keys\n")

    def test_a_signal_ends_the_search_and_what_is_warm_stays(self):
        command = self.command("--pattern", "item:*", "--for", "10m", "--rate", "20")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            until(lambda: len(self.proxy.api("warm")["keys"]) > 2, what="the first keys")
            child.send_signal(signal.SIGINT)
            out = child.communicate(timeout=PATIENCE_S * SLOW)[0]
        self.assertEqual(child.returncode, 1, out)
        self.assertIn("keys match item:* (db 0); the search was stopped", out)
        self.assertGreater(len(self.proxy.api("warm")["keys"]), 2)
        self.assertEqual(self.proxy.api("warm")["searches"][0]["state"], "ended")

    def test_what_matches_nothing_and_what_is_no_pattern(self):
        self.assertIn(
            "no key matches nothing:*", self.warm("--pattern", "nothing:*", "--for", "1m", status=1)
        )
        for args, sentence in (
            (("--pattern", "a[b", "--for", "1m"), "has an open '['"),
            (("--pattern", "", "--for", "1m"), "the pattern is empty"),
            (("--pattern", "a*", "b", "--for", "1m"), "cannot be combined"),
            (("--pattern", "a*"), "no duration"),
            (("--limit", "5", "b", "--for", "1m"), "--limit requires --pattern"),
        ):
            self.assertIn(sentence, self.warm(*args, status=2))
        status, told = self.post("/api/warm", {"pattern": "a[b", "for_seconds": 60})
        self.assertEqual((status, "has an open '['" in told), (400, True))
        self.assertEqual(self.post("/api/warm", {"pattern": "a", "keys": ["a"]})[0], 400)

    def test_another_database(self):
        self.server.ask("SELECT", 3)
        self.server.ask("SET", "sale:elsewhere", "v")
        out = self.outcomes("--pattern", "sale:*", "--db", "3", "--for", "10m")
        self.assertEqual(out, {"sale:elsewhere": "loaded"})
        out = subprocess.run(
            self.command("--pattern", "a*", "--db", "99", "--for", "1m"),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(out.returncode, 1)
        self.assertIn("DB index is out of range", out.stderr)


class Token(ProxyTest):
    PROXY_OPTIONS = COLD | {"admin.token": "0123456789abcdef0123"}

    def test_an_order_must_bear_it(self):
        url = f"http://127.0.0.1:{self.proxy.admin_port}/api/warm"
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(url, b"{}"), timeout=PATIENCE_S * SLOW)
        self.assertEqual(refused.exception.code, 401)
        refused.exception.close()
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("0123456789abcdef0123\n")
            file.flush()
            command = [HEATSINK, "warm", "--admin", f"127.0.0.1:{self.proxy.admin_port}", "k"]
            subprocess.run(
                [*command, "--for", "1m", "--token-file", file.name],
                check=True,
                capture_output=True,
                timeout=PATIENCE_S * SLOW,
            )


class Clock(ProxyTest):
    def proxy_in_a_window_of(self, what):
        """From an hour ago to an hour from now, by UTC's clock."""
        hour = int(time.time() // 3600)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(
                f"warming:\n  - {what}\n    zone: UTC\n"
                f'    from: "{(hour - 1) % 24:02}:00"\n    until: "{(hour + 2) % 24:02}:00"\n'
            )
            file.flush()
            proxy = Proxy(self.redis, COLD, config=file.name)
        self.addCleanup(proxy.stop)
        return proxy

    def loaded(self, proxy):
        keys = proxy.api("warm")["keys"]
        return sorted(key["name"] for key in keys if key["outcome"] == "loaded")

    def test_a_window_of_the_configuration(self):
        proxy = self.proxy_in_a_window_of("key: sale:42")
        self.to_server().ask("SET", "sale:42", "v")
        until(lambda: self.loaded(proxy) == ["sale:42"], what="the key of the window")

    def test_a_window_of_a_database_that_is_not_there(self):
        self.to_server().ask("SET", "sale:7", "v")
        proxy = self.proxy_in_a_window_of("key: sale:7\n    db: 99")

        def refusals():
            reasons = [event["reason"] for event in proxy.api("events")["events"]]
            return sum("the server refuses database 99" in reason for reason in reasons)

        until(refusals, what="the refusal")
        self.assertEqual(proxy.api("warm")["keys"], [])
        order = json.dumps({"keys": ["sale:7"], "for_seconds": 60}).encode()
        url = f"http://127.0.0.1:{proxy.admin_port}/api/warm"
        request = urllib.request.Request(url, order, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW).close()
        until(lambda: self.loaded(proxy) == ["sale:7"], what="the key of the other database")
        self.assertEqual(refusals(), 1)

    def test_a_window_of_a_pattern_that_is_searched_for_again(self):
        self.to_server().ask("MSET", "shop:1", "v", "shop:2", "v")
        proxy = self.proxy_in_a_window_of('pattern: "shop:*"\n    search-again: 1s')
        until(lambda: self.loaded(proxy) == ["shop:1", "shop:2"], what="the keys of the window")
        self.to_server().ask("SET", "shop:3", "v")
        until(lambda: "shop:3" in self.loaded(proxy), what="a key that is new")


if __name__ == "__main__":
    unittest.main()
