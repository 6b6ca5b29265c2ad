#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/api/key as a user would ask: what is counted of a key, and what the server tells of it."""

import json
import signal
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import PATIENCE_S, SLOW, Proxy, Redis, ValueClient, need_programs, until
from stage import ProxyTest

WARM_AT_ONCE = {"detection.hot-qps": 2, "detection.warm-qps": 1, "detection.window": "60s"}


def asked(proxy, name=None, **query):
    """(status, the answer) for GET /api/key."""
    if name is not None:
        query["name"] = name
    url = f"http://127.0.0.1:{proxy.admin_port}/api/key?{urllib.parse.urlencode(query)}"
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def row_of(proxy, name, **query):
    status, told = asked(proxy, name, **query)
    assert status == 200, told
    assert len(told["keys"]) == 1, told
    return told["keys"][0]


def patiently(proxy, name, **query):
    """The row, once the server has told of the value: a slow machine may need several attempts."""

    def told():
        row = row_of(proxy, name, **query)
        return row if "type" in row else None

    return until(told, what=f"the type of {name}")


class OfAnyKey(ProxyTest):
    PROXY_OPTIONS = WARM_AT_ONCE

    def write(self, *command, db=0):
        with ValueClient(self.redis.port) as client:
            client("SELECT", db)
            client(*command)

    def test_what_the_server_tells_of_a_cold_key(self):
        self.write("HSET", "h", "f", "v")
        row = patiently(self.proxy, "h")
        self.assertEqual((row["type"], row["encoding"], row["never_expires"]),
                         ("hash", "listpack", True))  # fmt: skip
        self.assertGreater(row["memory_bytes"], 1)
        self.assertNotIn("value_bytes", row)  # of a hash nobody tells it
        self.assertEqual((row["verdict"], row["rate"], row["value_problem"]), ("cold", 0, ""))
        self.assertIn("warm from 1/s", row["reason"])

    def test_names_are_bytes_and_databases_apart(self):
        name = b"a b&c%\x00\xff"
        self.write("SET", name, "x" * 1000, "EX", 1000, db=2)
        row = patiently(self.proxy, name, db=2)
        self.assertEqual((row["name_base64"], row["db"]), ("YSBiJmMlAP8=", 2))
        self.assertEqual(row["value_bytes"], 1000)
        self.assertGreater(row["memory_bytes"], 1000)
        self.assertLessEqual(row["ttl_seconds"], 1000)
        self.assertGreater(row["ttl_seconds"], 0)
        self.assertEqual(patiently(self.proxy, name)["type"], "none")
        self.assertIn("out of range", row_of(self.proxy, name, db=77)["value_problem"])

    def test_what_is_counted_of_a_hot_key_and_how_it_became_so(self):
        self.write("SET", "busy", "v")
        with ValueClient(self.proxy.port) as client:
            for _ in range(200):
                client("GET", "busy")
        row = until(self.hot, what="the key is hot")
        self.assertGreater(row["reads"], 0)
        self.assertLessEqual(row["rate_low"], row["rate_high"])
        self.assertEqual(row["commands"][0]["name"], "GET")
        self.assertEqual(row["clients"][0]["name"], "127.0.0.1")
        events = asked(self.proxy, "busy")[1]["events"]
        self.assertTrue(events)
        self.assertEqual({event["name"] for event in events}, {"busy"})

    def hot(self):
        row = patiently(self.proxy, "busy")
        return row if row["verdict"] == "hot" and row["commands"] else None

    def test_what_is_no_question_is_told(self):
        self.assertEqual(asked(self.proxy)[0], 400)
        self.assertIn("name=NAME", asked(self.proxy)[1])
        self.assertEqual(asked(self.proxy, "k", db="zero")[0], 400)
        self.assertEqual(asked(self.proxy, "k" * 9000)[0], 431)


class OfAServerThat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def start(self, user="", **options):
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        if user:
            with ValueClient(self.redis.port) as client:
                rights = ("~*", "&*", "+@all", "-memory", "-strlen")
                client("ACL", "SETUSER", user, "on", ">pw", *rights)
        login = f"{user}:pw@" if user else ""
        proxy = Proxy(f"redis://{login}127.0.0.1:{self.redis.port}", WARM_AT_ONCE | options)
        self.addCleanup(proxy.stop)
        with ValueClient(self.redis.port) as client:
            client("SET", "k", "v")
        return proxy

    def test_does_not_answer_nothing_waits_for_long(self):
        proxy = self.start()
        patiently(proxy, "k")
        self.redis.process.freeze()
        row = row_of(proxy, "k")
        self.assertNotIn("type", row)
        self.assertIn("the server did not answer within", row["value_problem"])
        self.redis.process.signal(signal.SIGCONT)
        self.assertEqual(patiently(proxy, "k")["type"], "string")

    def test_has_gone(self):
        proxy = self.start()
        patiently(proxy, "k")
        self.redis.process.kill()
        until(lambda: "cannot be reached" in row_of(proxy, "k")["value_problem"], what="an error")

    def test_forbids_a_part_tells_the_rest(self):
        row = patiently(self.start(user="poor"), "k")
        self.assertEqual(row["type"], "string")
        self.assertNotIn("value_bytes", row)
        self.assertIn("NOPERM", row["value_problem"])

    def test_is_behind_redacted_names_is_asked_by_what_is_shown(self):
        proxy = self.start(**{"privacy.redact-keys": "hash"})
        with ValueClient(proxy.port) as client:
            for _ in range(200):
                client("GET", "k")
        shown = until(lambda: proxy.api("hotkeys")["keys"], what="the key is hot")[0]["name"]
        self.assertTrue(shown.startswith("key#"))
        row = patiently(proxy, shown)
        self.assertEqual((row["name"], row["type"]), (shown, "string"))
        self.assertEqual(row_of(proxy, "k")["name"], shown)


if __name__ == "__main__":
    unittest.main()
