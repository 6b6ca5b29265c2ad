# SPDX-License-Identifier: Apache-2.0
"""Rules, and what a person is told: keys that are hot by name, bytes, writes or share; events."""

import base64
import os
import subprocess
import tempfile
import time
import unittest

from harness import HEATSINK, Proxy, RawClient, Redis, need_programs, until

# No key is hot by these but for a rule; a window of a second forgets soon.
COLD = {
    "detection.hot-qps": 1_000_000,
    "detection.window": "1s",
    "detection.tick": "20ms",
    "detection.minimum-residence": "0",
}


class RulesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def start(self, rules=(), options=None, config=None):
        self.proxy = Proxy(self.redis, {**COLD, **(options or {})}, rules=rules, config=config)
        self.addCleanup(self.proxy.stop)
        self.client = RawClient(self.proxy.port)
        self.addCleanup(self.client.close)
        return self.proxy

    def key(self, name):
        """What is said of the key, if its verdict is hot or write-hot."""
        encoded = base64.b64encode(name.encode() if isinstance(name, str) else name).decode()
        for key in self.proxy.api("hotkeys")["keys"]:
            if key["name_base64"] == encoded and key["verdict"] in ("hot", "write-hot"):
                return key
        return None

    def work_until_hot(self, name, *commands, told=lambda key: True):
        """What is then said of it; `told` looks at that, since a rate may sink until it is told."""

        def look():
            for _ in range(5):
                for command in commands:
                    self.client.ask(*command)
            key = self.key(name)
            return key if key is not None and told(key) else None

        return until(look, what=f"{name} hot")

    def events(self, name):
        return [e["verdict"] for e in self.proxy.api("events")["events"] if e.get("name") == name]


class ByName(RulesTest):
    def test_exact_rule_by_flag_has_a_lower_threshold(self):
        self.start(["match=flash:1,hot-qps=5,warm-qps=1"])
        for _ in range(20):
            self.client.ask("GET", "flash:2")
        key = self.work_until_hot("flash:1", ("GET", "flash:1"))
        self.assertEqual((key["rule"], key["dimension"]), ("flash:1", "requests"))
        self.assertIn("rule flash:1", key["reason"])
        self.assertIsNone(self.key("flash:2"))

    def test_rules_from_a_file_and_a_longer_one_by_flag(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "heatsink.yaml")
            with open(config, "w", encoding="ascii") as file:
                file.write("rules:\n  - match: user:*\n    hot-qps: 5\n    window: 500ms\n")
            self.start(['match="user:a,*",hot-qps=900000'], config=config)
        key = self.work_until_hot("user:1", ("GET", "user:1"), ("GET", "user:a,b"))
        self.assertEqual((key["rule"], key["window_seconds"]), ("user:*", 0.5))
        self.assertIsNone(self.key("user:a,b"), "the longer pattern counts")

    def test_faulty_rule_starts_nothing(self):
        run = subprocess.run(
            [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--rule", "match=a,hot-bytes=5mb"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("--rule: rule 1 (a): hot-bytes is for bytes", run.stderr)


class ByDimension(RulesTest):
    def test_bytes_of_replies(self):
        self.start(["match=*,dimension=bytes,hot-bytes=1mb,warm-bytes=1kb"])
        self.client.ask("SET", "big", b"x" * 300_000)
        self.client.ask("SET", "small", "x")
        key = self.work_until_hot(
            "big", ("GET", "big"), ("GET", "small"),
            told=lambda key: key["rate"] > 1 << 20 and key["bytes"] > 300_000,
        )  # fmt: skip
        self.assertEqual(key["dimension"], "bytes")
        self.assertIsNone(self.key("small"))

    def test_writes(self):
        self.start(["match=*,dimension=writes,hot-qps=5,warm-qps=1"])
        key = self.work_until_hot("counter", ("INCR", "counter"), ("GET", "read"))
        self.assertEqual((key["verdict"], key["dimension"]), ("write-hot", "writes"))
        self.assertFalse(key["cached"])
        self.assertIsNone(self.key("read"))

    def test_share_on_a_slow_node(self):
        self.start(["match=*,hot-share=40%,warm-qps=2"])
        commands = [("GET", name) for i in range(5) for name in ("half", f"rest:{i}")]
        self.work_until_hot("half", *commands, told=lambda key: key["share"] >= 0.4)
        self.assertIsNone(self.key("rest:1"))


class WhatIsTold(RulesTest):
    def test_events_are_told_once_and_nothing_hot_at_the_end(self):
        """Once each time: a key that nobody reads for a second is no longer hot."""
        proxy = self.start(["match=told,hot-qps=5,warm-qps=5"])
        self.until_told(True, "nothing is hot: no key reaches 1000000/s")
        self.until_told(False, "1 key is hot", lambda: self.work_until_hot("told", ("GET", "told")))
        for _ in range(50):
            self.client.ask("GET", "told")

        def last_event():
            events = proxy.api("events")["events"]
            return events[-1]["verdict"] == "nothing-hot"

        until(last_event, what="nothing is hot")
        times = proxy.metric("heatsink_promotions_total")
        self.assertEqual(self.events("told").count("hot"), times)
        numbers = [event["number"] for event in proxy.api("events")["events"]]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(proxy.metric("heatsink_hot_keys"), 0)
        for line in ("told (db 0) is hot: ", "told (db 0) is no longer hot",
                     "nothing is hot: no key reaches"):  # fmt: skip
            until(lambda: proxy.process.output().count(line) >= times, what=f"{times} times {line}")
            self.assertEqual(proxy.process.output().count(line), times)

    def until_told(self, nothing_hot, headline, work=lambda: None):
        def told():
            work()
            answer = self.proxy.api("hotkeys")
            return answer["nothing_hot"] == nothing_hot and answer["headline"].startswith(headline)

        until(told, what=headline)

    def test_commands_and_clients_of_a_hot_key(self):
        self.start(["match=busy,hot-qps=5,warm-qps=1"], {"cache.enabled": "no"})

        def tallies():
            for _ in range(6):
                self.client.ask("GET", "busy")
                self.client.ask("STRLEN", "busy")
            self.client.ask("SET", "busy", "1")
            key = self.key("busy")
            commands = {tally["name"]: tally for tally in key["commands"]} if key else {}
            more_reads = len(commands) == 3 and commands["GET"]["high"] > commands["SET"]["low"]
            return key if more_reads else None

        key = until(tallies, what="three commands told")
        self.assertEqual({tally["name"] for tally in key["commands"]}, {"GET", "STRLEN", "SET"})
        for tally in key["commands"] + key["clients"]:
            self.assertLessEqual(tally["low"], tally["high"])
        self.assertEqual([tally["name"] for tally in key["clients"]], ["127.0.0.1"])

    def test_hostile_names_are_one_escaped_line(self):
        proxy = self.start(["match=*,hot-qps=5,warm-qps=1"])
        name = b"a\r\n2026-01-01T00:00:00.000Z error owned \x1b[2J\x00\xff\xe2\x80\xae"
        key = self.work_until_hot(name, ("GET", name))
        shown = r"a\r\n2026-01-01T00:00:00.000Z error owned \x1b[2J\x00\xff\xe2\x80\xae"
        self.assertEqual(key["name"], shown)
        until(lambda: f"{shown} (db 0) is hot" in proxy.process.output(), what="the log's line")
        self.assertNotIn("\x1b", proxy.process.output())
        self.assertIn("hot", self.events(shown))

    def test_flood_of_hot_keys_does_not_flood_the_log(self):
        proxy = self.start(["match=flood:*,hot-qps=5,warm-qps=1"])
        began = time.monotonic()
        names = [f"flood:{i}" for i in range(300)]
        hot = set()  # a key may cool down and be promoted again before the last one is

        def all_told():
            for name in names:
                self.client.send_raw(b"".join([b"GET " + name.encode() + b"\r\n"] * 6))
            self.client.read_many(6 * len(names))
            events = proxy.api("events")["events"]
            hot.update(event["name"] for event in events if event["verdict"] == "hot")
            return hot == set(names) and "more changes of keys" in proxy.process.output()

        until(all_told, what="300 hot keys, and the log's sum of them")
        lines_max = 10 * (2 + time.monotonic() - began)  # kLinesPerSecond of event_log.h
        self.assertLess(proxy.process.output().count("is hot: "), lines_max)


if __name__ == "__main__":
    unittest.main()
