#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What clients keep in caches of their own: what a proxy says of it, and rules that except keys."""

import json
import subprocess
import unittest
import urllib.request

from harness import HEATSINK, PATIENCE_S, until
from harness.near import invalidate
from near_stage import ThroughTheProxy


class IsReported(ThroughTheProxy):
    CLIENTS = 5

    def setUp(self):
        server = self.to_server()
        server.ask("MSET", "k", "1", "j", "2")
        self.clients = [self.near() for _ in range(self.CLIENTS)]
        for client in self.clients:
            client.keep("k")
        self.clients[0].keep("j")

    def caches(self):
        return self.proxy.api("hotkeys")["near_caches"]

    def is_counted(self):
        caches = self.caches()
        listed = {row["name"]: row["clients"] for row in caches["list"]}
        return caches if listed == {"k": self.CLIENTS, "j": 1} else None

    def test_the_names_that_most_clients_keep(self):
        expected = {"clients": self.CLIENTS, "keeping_clients": self.CLIENTS,
                    "kept": self.CLIENTS + 1}  # fmt: skip
        caches = until(self.is_counted, PATIENCE_S, "the list")
        self.assertEqual([row["name"] for row in caches["list"]], ["k", "j"])
        for name, value in expected.items():
            self.assertEqual(caches[name], value, name)

        def metrics():
            return {name: self.proxy.metric(f"heatsink_near_{name}") for name in expected}

        # The answer of the API may be a quarter of a second older.
        until(lambda: metrics() == expected, PATIENCE_S, "the same as metrics")
        self.assertGreaterEqual(self.proxy.metric("heatsink_near_names"), 2)

    def test_one_key_is_told_at_once(self):
        """Not as of the last walk: the threads are asked."""
        row = self.proxy.api("key?name=k")["keys"][0]
        self.assertEqual(row["kept_by_clients"], self.CLIENTS)
        self.to_server().ask("SET", "k", "3")
        for client in self.clients:
            self.is_told(client, "k")
        self.assertEqual(self.proxy.api("key?name=k")["keys"][0]["kept_by_clients"], 0)
        self.assertEqual(self.proxy.api("key?name=none")["keys"][0]["kept_by_clients"], 0)

    def test_explain_says_it_of_a_key_that_is_not_hot(self):
        admin = f"127.0.0.1:{self.proxy.admin_port}"
        told = subprocess.run([HEATSINK, "explain", "k", "--admin", admin],
                              capture_output=True, text=True, check=False)  # fmt: skip
        self.assertIn(f"{self.CLIENTS} clients in caches of their own", told.stdout)
        told = subprocess.run([HEATSINK, "explain", "k", "--json", "--admin", admin],
                              capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(json.loads(told.stdout)["rows"][0]["kept_by_clients"], self.CLIENTS)

    def test_what_has_ended_is_not_listed(self):
        until(self.is_counted, PATIENCE_S, "the list")
        self.to_server().ask("FLUSHALL")
        until(lambda: not self.caches()["list"], PATIENCE_S, "an empty list")
        self.assertEqual(self.caches()["keeping_clients"], 0)


class ByRule(ThroughTheProxy):
    """`client-tracking: off` in a rule: such keys have copies, and clients do not keep them."""

    RULES = ["match=price:*,client-tracking=off", "match=price:list,client-tracking=pays"]

    def test_what_a_rule_excepts_ends(self):
        client, server = self.near(), self.to_server()
        server.ask("MSET", "price:1", "1", "price:list", "2")
        client.keep("price:list")
        before, ends = self.proxy.hits(), invalidate(b"price:1")

        def is_answered_by_copies():
            self.assertEqual(client.events(("GET", "price:1")), [b"1", ends])
            return self.proxy.hits() > before + 20

        until(is_answered_by_copies, PATIENCE_S, "hits of price:1")
        server.ask("SET", "price:list", "4")
        self.is_told(client, "price:list")

    def test_a_rule_that_comes_later_ends_what_is_kept(self):
        client = self.near()
        self.to_server().ask("MSET", "k", "1", "late:1", "1")
        client.keep("k", "late:1")
        order = {"add": "match=late:*,client-tracking=off", "dry_run": False}
        url = f"http://127.0.0.1:{self.proxy.admin_port}/api/rules"
        request = urllib.request.Request(url, json.dumps(order).encode(),
                                         {"Content-Type": "application/json"})  # fmt: skip
        urllib.request.urlopen(request, timeout=PATIENCE_S).close()
        self.is_told(client, "late:1")
        self.assertEqual(client.events(), [], "k is kept")

    def test_pays_needs_the_global_option(self):
        rule = "match=price:list,client-tracking=pays"
        told = subprocess.run([HEATSINK, "proxy", "--rule", rule],
                              capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(told.returncode, 2)
        self.assertIn("write proxy.client-tracking: pays", told.stderr)


if __name__ == "__main__":
    unittest.main()
