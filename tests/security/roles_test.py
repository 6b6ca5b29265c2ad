#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens of viewers and operators, as their bearers use them."""

import json
import re
import tempfile
import unittest
import urllib.error
import urllib.request

from harness import PATIENCE_S, SLOW, Proxy, Redis, need_programs, until

VIEWER, OPERATOR, OTHER = "viewer-0123456789", "operator-0123456789", "another-0123456789"
FILE = f"# who may ask\nviewer grafana {VIEWER}\noperator alice {OPERATOR}\n"
RULE = {"add": "match=cart:*,level=off"}
WARM = {"keys": ["a"], "for_seconds": 60}
DROP = {"name": "a"}


class Roles(unittest.TestCase):
    def setUp(self):
        need_programs()
        redis = Redis()
        self.addCleanup(redis.stop)
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.file = folder.name + "/tokens"
        self.write(FILE)
        self.proxy = Proxy(redis, {"admin.token-file": self.file})
        self.addCleanup(self.proxy.stop)

    def write(self, text):
        with open(self.file, "w", encoding="ascii") as out:
            out.write(text)

    def asked(self, token, path="/api/hotkeys", order=None):
        """(status, text)."""
        headers = {"Content-Type": "application/json"} if order else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = json.dumps(order).encode() if order else None
        url = f"http://127.0.0.1:{self.proxy.admin_port}{path}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers),
                                        timeout=PATIENCE_S * SLOW) as answer:  # fmt: skip
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_both_may_look_and_nobody_else(self):
        for path in ("/api/hotkeys", "/metrics", "/healthz", "/api/config"):
            self.assertEqual(self.asked(VIEWER, path)[0], 200, path)
            self.assertEqual(self.asked(OPERATOR, path)[0], 200, path)
            self.assertEqual(self.asked(OTHER, path)[0], 401, path)
            self.assertEqual(self.asked(None, path)[0], 401, path)

    def test_only_operators_give_orders(self):
        orders = (("/api/rules", RULE), ("/api/warm", WARM), ("/api/warm/end", WARM),
                  ("/api/copies/drop", DROP))  # fmt: skip
        for path, order in orders:
            status, text = self.asked(VIEWER, path, order)
            self.assertEqual(status, 403, path)
            self.assertIn("the token of grafana is a viewer's", text)
            self.assertEqual(self.asked(OTHER, path, order)[0], 401, path)
        rules = json.loads(self.asked(VIEWER, "/api/rules")[1])["rules"]
        self.assertEqual(rules, [])
        self.assertEqual(json.loads(self.asked(VIEWER, "/api/warm")[1])["keys"], [])
        self.assertEqual(self.asked(OPERATOR, "/api/rules", RULE)[0], 200)
        self.assertEqual(self.asked(OPERATOR, "/api/warm", WARM)[0], 200)

    def test_the_log_says_who_and_never_with_what(self):
        self.assertEqual(self.asked(OPERATOR, "/api/rules", RULE)[0], 200)
        self.assertEqual(self.asked(OPERATOR, "/api/warm", WARM)[0], 200)
        ordered = r"warming for 1m \(by the admin API, alice, 127.0.0.1:\d+\)"
        until(lambda: re.search(ordered, self.proxy.process.output()), what="the order's line")
        self.asked(VIEWER, "/api/rules", RULE)
        self.asked(OTHER, "/api/rules", RULE)
        until(lambda: "(by the admin API, alice, 127.0.0.1:" in self.proxy.process.output())
        events = json.loads(self.asked(VIEWER, "/api/events")[1])["events"]
        self.assertIn("(by the admin API, alice, 127.0.0.1:", str(events))
        told = self.proxy.process.output() + str(events) + self.asked(VIEWER, "/api/config")[1]
        for token in (VIEWER, OPERATOR, OTHER):
            self.assertNotIn(token, told)

    def test_the_page_learns_what_its_token_allows(self):
        told = {token: json.loads(self.asked(token, "/api/access")[1])
                for token in (VIEWER, OPERATOR)}  # fmt: skip
        self.assertEqual(told[VIEWER], {"name": "grafana", "role": "viewer", "token": True})
        self.assertEqual(told[OPERATOR], {"name": "alice", "role": "operator", "token": True})
        self.assertEqual(self.asked(None, "/api/access")[0], 401)

    def test_another_file_holds_after_sighup(self):
        self.write(f"viewer alice {OPERATOR}\n")
        self.proxy.process.signal(1)
        until(lambda: self.asked(VIEWER)[0] == 401, what="the new file")
        self.assertEqual(self.asked(OPERATOR)[0], 200)
        self.assertEqual(self.asked(OPERATOR, "/api/rules", RULE)[0], 403)
        # A file with a fault changes nothing.
        self.write("viewer alice short\n")
        self.proxy.process.signal(1)
        until(lambda: "line 1: a secret must be" in self.proxy.process.output())
        self.assertEqual(self.asked(OPERATOR)[0], 200)


if __name__ == "__main__":
    unittest.main()
