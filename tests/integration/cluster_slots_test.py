#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The load of a cluster's slots by all clients, as its servers count it (CLUSTER SLOT-STATS)."""

import threading
import unittest

from cluster_stage import ClusterTest
from harness import ValueClient, until
from harness.client import RedisError
from harness.patience import PATIENCE_S

# In slot 3300 of the first master.
KEY = "b"
SLOT = 3300


def has_stats(cluster):
    reply = cluster.masters[0]("CLUSTER", "SLOT-STATS", "SLOTSRANGE", 0, 0)
    return not isinstance(reply, RedisError)


class SlotsTest(ClusterTest):
    # Whether the server is to have CLUSTER SLOT-STATS.
    HAS_STATS = True
    PROXY_OPTIONS = {"upstream.slot-stats-interval": "1s"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if has_stats(cls.cluster) != cls.HAS_STATS:
            which = "no" if cls.HAS_STATS else "a"
            raise unittest.SkipTest(f"this server has {which} CLUSTER SLOT-STATS")
        cls.count("yes")

    @classmethod
    def count(cls, whether):
        for node in cls.cluster.masters if cls.HAS_STATS else ():
            got = node("CONFIG", "SET", "cluster-slot-stats-enabled", whether)
            if isinstance(got, RedisError):  # Redis 8.6: memory cannot be counted from now on
                node("CONFIG", "SET", "cluster-slot-stats-enabled", "cpu net")

    def slots(self, proxy=None):
        return (proxy or self.proxy).api("slots")

    def go_on(self, proxy, seconds):
        """Looks until so many questions might have been asked, at one a second."""
        begun = proxy.api("hotkeys")["uptime_seconds"]
        until(lambda: proxy.api("hotkeys")["uptime_seconds"] > begun + seconds, what="the time")


class OverTime(ClusterTest):
    """The columns of the history name the nodes and the busy slots, with any server."""

    PROXY_OPTIONS = {"detection.enabled": "yes", "cache.enabled": "no"}

    def test_a_busy_slot_and_its_node_have_rows(self):
        client = self.to_values()
        node = f"127.0.0.1:{self.cluster.owner(KEY).port}"

        def seen():
            client.pipeline([("GET", KEY)] * 2000)
            told = self.proxy.api("heatmap")
            rows = {(row["kind"], row["name"]): row for row in told["rows"]}
            return {("slot", str(SLOT)), ("node", node)} <= set(rows) and (told, rows)

        told, rows = until(seen, 2 * PATIENCE_S, "a row of the slot and of its node")
        self.assertEqual(rows["slot", str(SLOT)]["mean"], rows["node", node]["mean"],
                         "the node has no other load")  # fmt: skip
        self.assertGreater(told["totals"]["node_commands"][-1], 0)
        self.assertEqual(told["unnamed_max"]["slot"][-1], 0)
        self.assertEqual(told["unnamed_max"]["node"][-1], 0)


class Counted(SlotsTest):
    def press(self):
        """Another client reads the key at its master, past the proxy, until the test ends."""
        ended = threading.Event()
        client = ValueClient(self.cluster.owner(KEY).port)

        def run():
            while not ended.is_set():
                client.pipeline([("GET", KEY)] * 200)
            client.close()

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)

    def test_what_another_client_does_is_seen(self):
        self.press()
        node = f"127.0.0.1:{self.cluster.owner(KEY).port}"

        def judged():
            seen = self.slots()
            return seen["judged_by"] == "cpu" and seen["imbalance"] > 2

        until(judged, what="the CPU time of all masters")
        seen = self.slots()
        self.assertIsNone(seen["why_not_cpu"])
        slot = seen["slots"][0]
        self.assertEqual((slot["slot"], slot["node"], slot["rate"]), (SLOT, node, 0))
        self.assertGreater(slot["cpu_share"], 0.8)
        self.assertGreater(slot["bytes_rate"], 1000)
        busiest = next(each for each in seen["nodes"] if each["name"] == node)
        self.assertLess(busiest["rate"], 100)
        self.assertGreater(busiest["commands_rate"], 1000)
        self.assertGreater(busiest["cpu_cores"], busiest["executing_cores"])
        self.assertGreater(busiest["executing_cores"], 0)
        self.assertEqual(seen["busiest"], node)
        advice = seen["advice"][0]
        self.assertEqual((advice["kind"], advice["slots"]), ("unseen", [SLOT]))
        self.assertIn("other clients use the slot", advice["text"])
        self.assertGreater(self.proxy.metric("heatsink_node_cpu_imbalance"), 2)
        self.assertEqual(self.proxy.api("hotkeys")["cluster_load"]["slots"][0]["slot"], SLOT)

    def test_the_proxys_own_key_is_named(self):
        proxy = self.open({**self.PROXY_OPTIONS, "detection.enabled": "yes", "cache.enabled": "no"})
        client = self.keep(ValueClient(proxy.port))

        def named():
            client.pipeline([("GET", KEY)] * 2000)
            seen = self.slots(proxy)
            return seen["judged_by"] == "cpu" and seen["advice"][0]["kind"] == "one-key"

        until(named, 3 * PATIENCE_S, "the key that makes the slot hot")
        advice = self.slots(proxy)["advice"][0]
        self.assertEqual(advice["slots"], [SLOT])
        self.assertIn(f"its key {KEY} makes about", advice["text"])

    def test_a_master_that_counts_no_time(self):
        proxy = self.open(self.PROXY_OPTIONS)
        self.count("no")
        self.addCleanup(self.count, "yes")
        what = "cluster-slot-stats-enabled yes"
        until(lambda: what in (self.slots(proxy)["why_not_cpu"] or ""), what="the reason")
        self.assertEqual(self.slots(proxy)["judged_by"], "commands")
        self.assertIsNone(self.slots(proxy)["nodes"][0]["cpu_cores"])


class Refused(SlotsTest):
    def test_a_user_without_the_right_is_refused_once(self):
        for node in self.cluster.masters:
            node("ACL", "SETUSER", "proxy", "on", ">secret", "~*", "&*", "+@all",
                 "-cluster|slot-stats")  # fmt: skip
        url = self.cluster.url.replace("://", "://proxy:secret@")
        proxy = self.open(self.PROXY_OPTIONS, url)
        what = "grant +cluster|slot-stats"
        until(lambda: what in self.slots(proxy)["why_not_cpu"], what="the reason")
        self.go_on(proxy, 4)
        for node in self.cluster.masters:
            refused = node("INFO", "commandstats").decode()
            self.assertRegex(refused, r"cluster\|slot-stats:.*rejected_calls=1,")
        self.assertEqual(self.keep(ValueClient(proxy.port))("GET", KEY), None)


class Old(SlotsTest):
    HAS_STATS = False

    def test_an_old_server_is_asked_once(self):
        until(lambda: "does not have CLUSTER SLOT-STATS" in self.slots()["why_not_cpu"],
              what="the reason")  # fmt: skip
        until(lambda: all(b"errorstat_ERR" in each for each in self.errors()),
              what="a refusal by each node")  # fmt: skip
        before = self.errors()
        self.go_on(self.proxy, 4)
        self.assertEqual(self.errors(), before)
        self.assertEqual(self.slots()["judged_by"], "commands")

    def errors(self):
        return [node("INFO", "errorstats") for node in self.cluster.masters]


if __name__ == "__main__":
    unittest.main()
