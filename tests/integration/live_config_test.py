# SPDX-License-Identifier: Apache-2.0
"""Another configuration while the proxy runs: what holds at once, and what it answers."""

import json
import os
import unittest
import urllib.error
import urllib.request

from harness import PATIENCE_S, RawClient, until
from live_stage import CALM, Running


class OneChange(Running):
    def test_a_level_that_is_off_is_off_when_the_change_has_answered(self):
        self.start()
        for key in ("cart:1", "page"):
            self.client.ask("SET", key, "v")
            self.has_copy(key)
        fills = self.proxy.metric("heatsink_fills_total")
        output = self.rule("add", "match=cart:*,level=off")
        self.assertIn("rule cart:* added: level=off", output)
        self.assertIn('- {match: "cart:*", level: "off"}', output)
        self.assertEqual(self.hits_of("cart:1"), 0)
        self.assertEqual(self.hits_of("page"), 20, "its copy has nothing to do with the change")
        self.assertEqual(self.proxy.metric("heatsink_fills_total"), fills)
        self.rule("remove", "cart:*")
        self.has_copy("cart:1")

    def test_copies_can_be_turned_off_and_on(self):
        self.start("cache.enabled: false\n")
        self.client.ask("SET", "page", "v")
        self.assertEqual(self.hits_of("page"), 0)
        self.applied("cache.enabled: true\n")
        self.has_copy("page")
        self.applied("cache.enabled: false\n")
        self.assertEqual(self.hits_of("page"), 0)
        self.assertEqual(self.proxy.metric("heatsink_cache_entries"), 0)
        self.applied("cache: {enabled: true, admission: pays}\n")
        self.has_copy("page")

    def test_a_shorter_max_staleness_counts_at_once_and_keeps_copies(self):
        self.start("cache: {max-staleness: 60s, heartbeat-interval: 20ms}\n")
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        fills = self.proxy.metric("heatsink_fills_total")
        self.rule("add", "match=page,max-staleness=500ms")  # the tracker waits a minute for proofs
        self.assertGreater(self.hits_of("page"), 0)
        self.assertEqual(self.proxy.metric("heatsink_fills_total"), fills)
        with RawClient(self.redis.port) as server:
            server.send("DEBUG", "SLEEP", "3")
            reader = RawClient(self.proxy.port, timeout_s=0.3)
            self.addCleanup(reader.close)

            def waits_for_the_server():
                """With copies of up to a minute it would be answered all the time."""
                try:
                    reader.ask("GET", "page")
                except TimeoutError:
                    return True
                return False

            until(waits_for_the_server, what="no hit without a proof of the last 500 ms")
            server.read()

    def test_smaller_budgets_take_effect_and_larger_ones_too(self):
        self.start("cache.maximum-bytes: 1mb\n")
        for i in range(8):
            self.client.ask("SET", f"k{i}", "v" * 10_000)
            self.has_copy(f"k{i}")
        self.applied("cache: {maximum-bytes: 64kb, maximum-value-bytes: 20kb}\n")
        self.assertLessEqual(self.proxy.metric("heatsink_cache_bytes"), 65_536)
        self.assertGreater(self.proxy.metric("heatsink_cache_entries"), 0)
        self.applied("cache: {maximum-bytes: 1mb, maximum-value-bytes: 1kb}\n")
        self.assertEqual(self.proxy.metric("heatsink_cache_entries"), 0, "each is too large")

    def test_another_rate_hands_out_no_fresh_burst(self):
        self.start("rules:\n  - {match: k, limit.rate: 10/h, limit.burst: 10}\n")
        for _ in range(10):
            self.assertEqual(self.client.ask("SET", "k", "v"), b"+OK\r\n")
        self.assertIn(b"BUSY", self.client.ask("SET", "k", "v"))
        self.applied("rules:\n  - {match: k, limit.rate: 20/h, limit.burst: 1000}\n")
        self.assertIn(b"limited to 20/h", self.client.ask("SET", "k", "v"))
        self.applied("rules: []\n")
        self.assertEqual(self.client.ask("SET", "k", "v"), b"+OK\r\n")

    def test_clients_that_wait_for_their_turn_are_served(self):
        delay = "limit.rate: 1/s, limit.burst: 1, limit.over: delay, limit.delay-max: 10s"
        self.start("rules:\n  - {match: k, " + delay + "}\n")
        self.client.ask("SET", "k", "v")
        self.client.send("SET", "k", "w")
        until(lambda: self.proxy.metric("heatsink_limit_waiting") == 1, what="it waits")
        self.applied("rules: []\n")
        self.assertEqual(self.client.read(), b"+OK\r\n")
        self.assertEqual(self.client.ask("GET", "k"), b"$1\r\nw\r\n")

    def test_clients_beyond_a_lower_maximum_are_refused_and_others_stay(self):
        self.start()
        others = [self.connected() for _ in range(3)]
        for client in others:
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        self.applied("proxy.maximum-clients: 2\n")
        self.assertIn(b"max number of clients", self.connected().read())
        for client in others:
            self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")

    def test_detection_thresholds_and_windows(self):
        options = {**CALM, "detection.minimum-residence": "0"}
        del options["detection.hot-qps"], options["detection.window"]
        self.start("detection: {hot-qps: 1000000, window: 10s}\n", options)
        self.client.ask("SET", "page", "v")

        def is_hot():
            self.hits_of("page", 50)
            return any(k["verdict"] == "hot" for k in self.proxy.api("hotkeys")["keys"])

        self.assertFalse(is_hot())
        self.applied("detection: {hot-qps: 5, window: 10s}\n")
        until(is_hot, what="page hot by the lower threshold")
        self.applied("detection: {hot-qps: 5, window: 1s, dimension: writes}\n")
        until(lambda: not is_hot(), PATIENCE_S, "it is read, not written")


class Answers(Running):
    def test_a_faulty_file_changes_nothing_and_has_all_faults(self):
        self.start("cache.level: key\n")
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        faulty = "cache:\n  level: blue\n  maximum-size: none\nrules:\n  - {level: ttl}\n"
        status, output = self.apply(faulty)
        self.assertEqual(status, 2, output)
        for part in ("nothing was changed", "other.yaml:2: cache.level", "other.yaml:3: cache.max",
                     "other.yaml:5: rule 1"):  # fmt: skip
            self.assertIn(part, output)
        self.write(faulty)
        self.hang_up("heatsink.yaml:5: rule 1")
        self.assertEqual(self.generation(), 1)
        self.assertEqual(self.hits_of("page"), 20)
        verdicts = [e["verdict"] for e in self.proxy.api("events")["events"]]
        self.assertEqual(verdicts.count("config-refused"), 6)
        self.assertEqual(
            self.proxy.by_label("heatsink_config_changes_total", "outcome"),
            {"applied": 0, "refused": 2},
        )

    def test_what_needs_a_restart_is_named_and_the_rest_applied(self):
        self.start()
        text = "proxy.stream-threshold: 2mb\ncache.max-staleness: 2s\n"
        status, output = self.apply(text, "--strict")
        self.assertEqual(status, 2)
        self.assertIn("proxy.stream-threshold: 1mb -> 2mb", output)
        self.assertEqual(self.generation(), 1)
        output = self.applied(text)
        self.assertIn("not applied: proxy.stream-threshold: 1mb -> 2mb (needs a restart)", output)
        self.assertIn("cache.max-staleness: 1s -> 2s", output)
        config = self.proxy.api("config")
        self.assertEqual(config["options"]["cache.max-staleness"]["value"], "2s")
        self.assertEqual(config["options"]["proxy.stream-threshold"]["value"], "1mb")
        self.assertEqual([c["name"] for c in config["needs_restart"]], ["proxy.stream-threshold"])

    def test_a_dry_run_only_shows_the_difference(self):
        self.start()
        output = self.applied("cache.level: session\n", "--dry-run")
        self.assertIn("would change:\n  cache.level: key -> session", output)
        self.assertEqual(self.generation(), 1)

    def test_sighup_reads_the_file_again_and_says_what_changed(self):
        self.start("cache.max-staleness: 1s\n")
        self.write("cache.max-staleness: 3s\n")
        self.hang_up("configuration changed: cache.max-staleness: 1s -> 3s (by SIGHUP)")
        self.assertEqual(self.generation(), 2)
        event = self.proxy.api("events")["events"][-1]
        self.assertEqual(event["verdict"], "config-changed")
        self.assertIn("cache.max-staleness: 1s -> 3s (by SIGHUP)", event["reason"])
        self.assertEqual(self.proxy.metric("heatsink_config_generation"), 2)

    def test_flags_keep_their_precedence(self):
        self.start("cache.max-staleness: 1s\n", {**CALM, "cache.max-staleness": "4s"})
        self.write("cache.max-staleness: 3s\n")
        self.hang_up("SIGHUP: the configuration has not changed")
        self.assertEqual(self.generation(), 1)

    def test_the_log_level_changes(self):
        self.start("log.level: error\n")
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        self.assertNotIn(" info ", self.proxy.process.output())
        self.applied("log.level: info\n")
        self.client.ask("SET", "other", "v")
        self.has_copy("other")
        until(lambda: "other (db 0) is hot" in self.proxy.process.output(), what="a line of info")

    def test_another_file_and_format_of_the_log(self):
        self.start()
        log = self.folder + "/log"
        self.applied(f"log: {{file: {log}, format: json}}\n")
        self.rule("add", "match=a,level=off")

        def said():
            with open(log, encoding="utf-8") as file:
                return any("rule a added" in json.loads(line)["message"] for line in file)

        until(lambda: os.path.exists(log) and said(), what="a line of JSON")
        status, output = self.apply("log.file: /nowhere/log\ncache.level: ttl\n")
        self.assertEqual(status, 2)
        self.assertIn("log.file: cannot open", output)
        self.assertEqual(self.proxy.api("config")["options"]["cache.level"]["value"], "key")

    def test_a_page_in_a_browser_changes_nothing(self):
        self.start()
        url = f"http://127.0.0.1:{self.proxy.admin_port}/api/rules"
        body = json.dumps({"add": "match=a,level=off"}).encode()
        plain = urllib.request.Request(url, body, {"Content-Type": "text/plain"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(plain, timeout=PATIENCE_S)
        self.assertEqual(refused.exception.code, 415)
        self.assertEqual(self.generation(), 1)


class Rules(Running):
    def test_added_rules_survive_sighup_and_end_with_the_process(self):
        self.start("rules:\n  - {match: a, level: ttl}\n", rules=["match=b,level=off"])
        self.rule("add", "match=cart:*,level=off")
        lines = self.rule("list").splitlines()
        self.assertEqual(lines[0], f"match=a,level=ttl  ({self.path}:2)")
        self.assertEqual(lines[1], "match=b,level=off  (--rule)")
        self.assertRegex(
            lines[2], r"^match=cart:\*,level=off  \(added live 20\S+Z by the admin API, 127"
        )
        self.rule("remove", "a")
        self.write("rules:\n  - {match: a, level: ttl}\n  - {match: c}\n")
        self.hang_up("rule c added")
        lines = self.rule("list").splitlines()
        self.assertEqual([line.split("  ")[0] for line in lines],
                         ["match=c", "match=b,level=off", "match=cart:*,level=off",
                          "removed: match=a,level=ttl"])  # fmt: skip

    def test_a_wrong_rule_is_refused_with_what_to_write(self):
        self.start()
        for rule, part in (("match=a,level=blue", "level is 'blue'"), ("level=off", "match is"),
                           ("match=a,hot-qps=5,warm-qps=9", "warm-qps is above")):  # fmt: skip
            status, output = self.heatsink("rule", "add", rule)
            self.assertEqual(status, 2, output)
            self.assertIn(part, output)
        status, output = self.heatsink("rule", "remove", "nothing")
        self.assertEqual(status, 2)
        self.assertIn("no rule has the match 'nothing'", output)

    def test_names_of_single_keys_are_redacted(self):
        self.start("", {**CALM, "privacy.redact-keys": "hash"})
        self.rule("add", "match=user:42,level=off")
        self.rule("add", "match=user:43,level=ttl")
        self.heatsink("rule", "add", "match=user:44,hot-qps=5,warm-qps=9")
        until(lambda: "configuration refused" in self.proxy.process.output(), what="the refusal")
        shown = self.proxy.process.output() + json.dumps(
            [self.proxy.api("config"), self.proxy.api("events")]
        )
        self.assertIn("rule key#", shown)
        for name in ("user:42", "user:43", "user:44"):
            self.assertNotIn(name, shown)


class Secrets(Running):
    def test_another_admin_token(self):
        tokens = [self.folder + "/one", self.folder + "/two"]
        for path, token in zip(tokens, ("1" * 24, "2" * 24), strict=True):
            self.write(token + "\n", path)
        self.start(f"admin.token-file: {tokens[0]}\n")
        self.assertEqual(self.heatsink("rule", "list", token=tokens[0])[0], 0)
        path = self.folder + "/other.yaml"
        self.write(f"admin.token-file: {tokens[1]}\n", path)
        status, output = self.heatsink("config", "apply", path, token=tokens[0])
        self.assertEqual(status, 0, output)
        self.assertEqual(self.heatsink("rule", "list", token=tokens[1])[0], 0)
        status, output = self.heatsink("rule", "list", token=tokens[0])
        self.assertEqual(status, 1)
        self.assertIn("needs its token", output)

    def test_another_password_of_the_server(self):
        password = self.folder + "/password"
        self.write("hush-old\n", password)
        with RawClient(self.redis.port) as server:
            server.ask("CONFIG", "SET", "requirepass", "hush-old")
            server.ask("AUTH", "hush-old")
            self.start("", {**CALM, "upstream.password-file": password})
            self.client.ask("AUTH", "hush-old")
            self.assertEqual(self.client.ask("SET", "k", "v"), b"+OK\r\n")
            server.ask("CONFIG", "SET", "requirepass", "hush-new")
            self.write("hush-new\n", password)
            self.hang_up("configuration changed: upstream.url changed (by SIGHUP)")
            server.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

        def served():
            with RawClient(self.proxy.port) as client:
                client.ask("AUTH", "hush-new")
                return client.ask("SET", "k", "v") == b"+OK\r\n"

        until(served, what="the proxy logs in with the new password")
        output = self.proxy.process.output() + json.dumps(self.proxy.api("config"))
        self.assertNotIn("hush", output)


if __name__ == "__main__":
    unittest.main()
