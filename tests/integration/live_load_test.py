# SPDX-License-Identifier: Apache-2.0
"""A hundred configurations under load: no error, no stale read, and no copy lost without need."""

import random
import threading
import unittest

from harness import RawClient
from live_stage import CALM, Running

CHANGES = 100
CLIENTS = 4
SEED = 18


class UnderLoad(Running):
    """Clients read and write while the configuration changes; nobody may notice."""

    def load(self, over, number, problems):
        """What each client reads is what it has written; nothing is an error."""
        try:
            with RawClient(self.proxy.port) as client:
                for i in range(1_000_000_000):
                    if over.is_set():
                        return
                    key = f"k{number}:{i % 3}"
                    wrote = client.ask("INCR", key)
                    for _ in range(3):
                        read = client.ask("GET", key)
                        value = read.split(b"\r\n")[1] if read[:1] == b"$" else read
                        if b":" + value != wrote.strip():
                            problems.append((key, wrote, read))
                            return
        except (OSError, AssertionError) as error:
            problems.append(error)

    def configuration(self, chance):
        rules = []
        for number in range(CLIENTS):
            level = chance.choice(["off", "key", "session"])  # ttl promises less
            rule = f"match: 'k{number}:*', level: '{level}'"
            if level in ("key", "session"):
                rule += f", max-staleness: {chance.choice([300, 1000, 5000])}ms"
            if chance.random() < 0.3:
                rule += ", limit.rate: 100000/s"
            if chance.random() < 0.3:
                rule += ", coalesce: 1ms"
            if chance.random() < 0.3:
                rule += f", dimension: {chance.choice(['writes', 'bytes'])}"
            if chance.random() < 0.8:
                rules.append("  - {" + rule + "}")
        chance.shuffle(rules)
        lines = [
            f"cache.maximum-bytes: {chance.choice(['64kb', '1mb', '64mb'])}",
            f"cache.maximum-size: {chance.choice([2, 100, 65536])}",
            "cache.maximum-value-bytes: 32kb",
            f"cache.enabled: {chance.choice(['true', 'true', 'false'])}",
            f"limits.maximum-keys: {chance.choice([64, 4096])}",
            "rules:" if rules else "rules: []",
            *rules,
        ]
        return "\n".join(lines) + "\n"

    def test_a_hundred_changes(self):
        self.start("", CALM)
        over, problems = threading.Event(), []
        threads = [
            threading.Thread(target=self.load, args=(over, number, problems))
            for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        chance = random.Random(SEED)
        try:
            for _ in range(CHANGES):
                self.applied(self.configuration(chance))
                if problems:
                    break
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(problems, [])
        self.assertGreater(self.generation(), CHANGES / 2)
        events = self.proxy.api("events")["events"]
        self.assertEqual([e for e in events if e["verdict"] == "stale-read"], [])

    def test_copies_that_no_change_concerns_stay(self):
        self.start("", CALM)
        keys = [f"calm:{i}" for i in range(20)]
        for key in keys:
            self.client.ask("SET", key, "v")
            self.has_copy(key)
        fills = self.proxy.metric("heatsink_fills_total")
        hits = self.proxy.hits()
        for i in range(CHANGES):
            level = ("off", "ttl", "session")[i % 3]
            self.applied(
                f"cache.max-staleness: {1 + i % 3}s\nrules:\n"
                f"  - {{match: 'other{i}*', level: '{level}'}}\n"
                f"  - {{match: 'calm:{i % 2}*', max-staleness: {1 + i % 5}s}}\n"
            )
            for key in keys:
                self.assertEqual(self.client.ask("GET", key), b"$1\r\nv\r\n")
        self.assertEqual(self.proxy.metric("heatsink_fills_total"), fills)
        self.assertEqual(self.proxy.hits() - hits, CHANGES * len(keys))


if __name__ == "__main__":
    unittest.main()
