# SPDX-License-Identifier: Apache-2.0
"""The auditor: silent while all is well, whatever is written; loud when invalidations are lost."""

import itertools
import random
import time
import unittest

from deaf_relay import DeafRelay
from harness import PATIENCE_S, SLOW, Proxy, RawClient, Redis, need_programs, until
from stage import ProxyTest

STALE = "heatsink_audit_stale_confirmed_total"
EAGER = {
    "detection.hot-qps": 20,
    "detection.window": "1s",
    "detection.tick": "10ms",
    "detection.write-hot-ratio": 0,
    "audit.sample-rate": "100%",
    "audit.maximum-rate": 1000,
    "upstream.response-timeout": "1m",
}


def fill_values(client, n):
    """One key of each type, in a version of its own."""
    client.ask("SET", "string", f"value {n}")
    client.ask("DEL", "hash", "list", "set", "zset", "stream")
    client.ask("HSET", "hash", "field", n, "other", n * 2, "third", "x" * 100)
    client.ask("RPUSH", "list", n, "a", "b")
    client.ask("SADD", "set", n, "a", "b", "c")
    client.ask("ZADD", "zset", n, "a", n + 1, "b")
    client.ask("XADD", "stream", f"1-{n + 1}", "f", n)


READS = (
    ("GET", "string"), ("STRLEN", "string"), ("GETRANGE", "string", 0, 3), ("EXISTS", "string"),
    ("MGET", "string", "string"), ("HGET", "hash", "field"), ("HGETALL", "hash"),
    ("HKEYS", "hash"), ("HVALS", "hash"), ("LRANGE", "list", 0, -1), ("LLEN", "list"),
    ("SMEMBERS", "set"), ("SCARD", "set"), ("ZRANGE", "zset", 0, -1, "WITHSCORES"),
    ("ZSCORE", "zset", "a"), ("XRANGE", "stream", "-", "+"), ("GET", "missing"),
)  # fmt: skip


class AllIsWell(ProxyTest):
    PROXY_OPTIONS = EAGER

    def test_every_kind_of_read_is_what_the_server_says(self):
        for db in (0, 1):
            client = self.to_proxy()
            client.ask("SELECT", db)
            fill_values(client, 1)
            for read in READS:
                before = self.proxy.metric("heatsink_audit_audited_total")

                def audited(client=client, read=read, before=before):
                    for _ in range(30):
                        client.ask(*read)
                    return self.proxy.metric("heatsink_audit_audited_total") > before + 3

                until(audited, PATIENCE_S, f"{read} in database {db} is audited")
        self.assertEqual(self.proxy.metric("heatsink_audit_suspected_total"), 0)
        self.assertEqual(self.proxy.metric("heatsink_audit_failed_total"), 0)

    def test_what_is_written_meanwhile_is_no_stale_read(self):
        """Clients of the proxy and others write as fast as they can; keys expire, and come back."""
        dice = random.Random(1)
        rounds = itertools.count(1)
        reader, writer, foreign = self.to_proxy(), self.to_proxy(), self.to_server()

        def play(seconds):
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                n = next(rounds)
                if n % 5 == 0:
                    fill_values(dice.choice((writer, foreign)), n)
                if n % 7 == 0:
                    foreign.ask("SET", "string", n, "PX", dice.randrange(1, 50))
                if n % 11 == 0:
                    foreign.ask("FLUSHDB")
                for read in READS:
                    reader.send(*read)
                reader.read_many(len(READS))

        def were_suspected():  # how many in a time depends on the machine
            play(1)
            names = ("heatsink_audit_suspected_total", "heatsink_audit_staleness_seconds_count")
            return min(map(self.proxy.metric, names)) > 20

        play(3 * SLOW)
        until(were_suspected, 2 * PATIENCE_S, "more than 20 suspicions")
        until(self.proxy.all_suspicions_are_judged, what="all that is suspected has been judged")
        self.assertEqual(self.proxy.metric(STALE), 0)

class Switched(ProxyTest):
    PROXY_OPTIONS = {**EAGER, "audit.sample-rate": "0%"}

    def test_off_is_off(self):
        client = self.to_proxy()
        client.ask("SET", "k", "v")
        until(lambda: client.ask("GET", "k") and self.proxy.hits() > 100, PATIENCE_S, "hits")
        self.assertEqual(self.proxy.metric("heatsink_audit_audited_total"), 0)
        self.assertNotIn(b"heatsink-auditor", self.to_server().ask("CLIENT", "LIST"))


class InvalidationsAreLost(unittest.TestCase):
    OPTIONS = {**EAGER, "cache.expire-after-write": "1m", "log.level": "error"}

    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.relay = DeafRelay(self.redis.port)
        self.addCleanup(self.relay.close)

    def start(self, **options):
        proxy = Proxy(f"redis://127.0.0.1:{self.relay.port}", {**self.OPTIONS, **options})
        self.addCleanup(proxy.stop)
        client = RawClient(proxy.port)
        self.addCleanup(client.close)
        foreign = RawClient(self.redis.port)
        self.addCleanup(foreign.close)
        return proxy, client, foreign

    def make_stale(self, proxy, client, foreign):
        """`secret` is served locally, and its change is not told."""
        foreign.ask("SET", "secret", "old")
        hits = proxy.hits()
        until(lambda: client.ask("GET", "secret") and proxy.hits() > hits + 50, what="hits")
        self.relay.deaf.set()
        foreign.ask("SET", "secret", "new")

        def confirmed():
            client.ask("GET", "secret")
            return proxy.metric(STALE) >= 1

        until(confirmed, PATIENCE_S, "the stale read is confirmed")

    def test_it_is_confirmed_told_and_ended(self):
        proxy, client, foreign = self.start()
        self.make_stale(proxy, client, foreign)
        (event,) = [e for e in proxy.api("events")["events"] if e["verdict"] == "stale-read"]
        self.assertEqual((event["name"], event["db"]), ("secret", 0))
        self.assertRegex(event["reason"], "local copy for GET could be served [1-9][0-9]{3,} ms ")
        until(lambda: "stale read of secret (db 0)" in proxy.process.output(), what="a log line")
        self.assertEqual(client.ask("GET", "secret"), b"$3\r\nnew\r\n")
        until(lambda: proxy.api("hotkeys")["node"]["stale_confirmed"] == 1, what="it is told")

    def test_the_name_is_redacted_where_names_are(self):
        proxy, client, foreign = self.start(**{"privacy.redact-keys": "hash"})
        self.make_stale(proxy, client, foreign)
        (event,) = [e for e in proxy.api("events")["events"] if e["verdict"] == "stale-read"]
        self.assertRegex(event["name"], "^key#[0-9a-f]{16}$")
        until(lambda: "stale read of key#" in proxy.process.output(), what="a log line")
        self.assertNotIn("secret", proxy.process.output())


if __name__ == "__main__":
    unittest.main()
