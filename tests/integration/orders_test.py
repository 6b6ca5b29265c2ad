# SPDX-License-Identifier: Apache-2.0
"""Orders about single copies, and what rules would have matched: the API and the verbs of it."""

import json
import re
import unittest
import urllib.request

from harness import PATIENCE_S, SLOW, until
from live_stage import CALM, Running


class Orders(Running):
    def post(self, path, order):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.proxy.admin_port}{path}",
            json.dumps(order).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as answer:
            return json.load(answer)

    def test_after_a_drop_the_next_read_goes_to_the_server(self):
        self.start()
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        self.assertEqual(self.hits_of("page", 5), 5)
        fills = self.proxy.metric("heatsink_fills_total")
        told = self.post("/api/copies/drop", {"name": "page"})
        self.assertEqual(told["copies"], 1)
        self.assertGreater(told["bytes"], 0)
        self.assertIn("the key is hot, so its next read makes a copy again", told["next"])
        self.assertEqual(self.hits_of("page", 1), 0, "the server has to answer it")
        self.has_copy("page")
        self.assertEqual(self.proxy.metric("heatsink_fills_total"), fills + 1)

    def test_the_log_and_the_events_say_who(self):
        self.start()
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        self.post("/api/copies/drop", {"name": "page"})
        self.post("/api/copies/drop", {"name": "nothing"})
        said = r"order for page \(db 0\): dropped its local copy \(by the admin API, 127.0.0.1:\d"
        until(lambda: re.search(said, self.proxy.process.output()), what="the line of the log")
        orders = [event for event in self.proxy.api("events")["events"]
                  if event["verdict"] == "order"]  # fmt: skip
        self.assertEqual([event["name"] for event in orders], ["page", "nothing"])
        self.assertIn("no local copy to drop", orders[1]["reason"])

    def test_a_warmed_key_is_loaded_again_at_once(self):
        self.start()
        self.client.ask("SET", "sale", "v")
        self.assertEqual(self.heatsink("warm", "sale", "--for", "10m")[0], 0)
        fills = self.proxy.metric("heatsink_fills_total")
        told = self.post("/api/copies/drop", {"name": "sale"})
        self.assertEqual(told["copies"], 1)
        self.assertIn("the key is warmed", told["next"])
        until(lambda: self.proxy.metric("heatsink_fills_total") > fills, what="it was loaded again")
        self.assertEqual(self.proxy.api("warm")["keys"][0]["name"], "sale", "it is warmed still")

    def test_a_copy_that_was_not_hot_has_to_be_earned_again(self):
        self.start(options=CALM | {"detection.hot-qps": 1_000_000, "cache.admission": "pays"})
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        told = self.post("/api/copies/drop", {"name": "page"})
        self.assertEqual(told["copies"], 1)
        self.assertIn("pay for one", told["next"])
        self.assertEqual(self.hits_of("page", 1), 0)
        self.has_copy("page")

    def test_the_verb_says_what_happens_afterwards(self):
        self.start()
        name = b"a\x00\xff,*"
        self.client.ask("SET", name, "v")
        self.has_copy(name)
        status, output = self.heatsink("drop", r"a\x00\xff,*")
        self.assertEqual(status, 0, output)
        self.assertIn(r"a\x00\xff,* (db 0): 1 local copy dropped; the key is hot", output)
        self.assertEqual(self.hits_of(name, 1), 0)
        self.assertIn("no local copy to drop", self.heatsink("drop", "nothing", "--db", "3")[1])
        self.assertEqual(json.loads(self.heatsink("drop", "nothing", "--json")[1])["copies"], 0)
        self.assertEqual(self.heatsink("drop")[0], 2)

    def test_a_rule_is_tried_before_it_is_added(self):
        self.start()
        self.client.ask("SET", "cart:1", "v")
        self.client.ask("SET", "page", "v")

        def tried():
            for _ in range(20):
                self.client.ask("GET", "cart:1")
                self.client.ask("GET", "page")
            told = self.proxy.api("rules/dry-run?match=cart:*")
            return told if told["keys_at_least"] == 1 and told["requests_at_least"] > 50 else None

        told = until(tried, what="the key in a column of the history")
        self.assertEqual(told["keys"][0]["name"], "cart:1")
        self.assertTrue(told["keys"][0]["applies"])
        self.assertLessEqual(told["requests_at_least"], told["requests_at_most"])
        self.assertLess(told["requests_at_most"], told["requests_all"] * 0.8, "page is another key")
        before = self.generation()
        output = self.rule("add", "--dry-run", "match=cart:*,level=off")
        self.assertIn("would change:", output)
        self.assertIn("cart:* would have matched at least 1 key", output)
        self.assertIn("cart:1", output)
        self.assertEqual(self.generation(), before)
        self.assertEqual(self.proxy.api("rules")["rules"], [])
        output = self.rule("match", "no:*", "--for", "1m")
        self.assertIn("would have matched at least 0 keys", output)
        self.rule("add", "match=cart:1,level=off")
        self.assertEqual(self.proxy.api("rules/dry-run?match=cart:*")["kept_keys"], 1)

    def test_a_rule_with_a_fault_is_refused_by_the_dry_run_too(self):
        self.start()
        status, output = self.heatsink("rule", "add", "--dry-run", "match=cart:*,level=of")
        self.assertEqual(status, 2, output)
        self.assertIn("refused", output)
        self.assertNotIn("would have matched", output)
        self.assertEqual(self.heatsink("rule", "remove", "--dry-run", "no-such")[0], 2)

    def test_redacted_names_can_be_dropped_but_not_matched(self):
        self.start(options=CALM | {"privacy.redact-keys": "hash"})
        self.client.ask("SET", "page", "v")
        self.has_copy("page")
        shown = until(lambda: self.proxy.api("hotkeys")["keys"], what="a hot key")[0]["name"]
        self.assertTrue(shown.startswith("key#"), shown)
        self.assertEqual(self.post("/api/copies/drop", {"name": shown})["copies"], 1)
        status, output = self.heatsink("rule", "match", "page")
        self.assertEqual(status, 1, output)
        self.assertIn("redact-keys", output)
        self.assertNotIn("page", str(self.proxy.api("events")))


if __name__ == "__main__":
    unittest.main()
