#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scan of access counters against a real server, and what it says where there are none."""

import json
import os
import signal
import subprocess
import tempfile
import unittest

from stage import PATIENT, Watching, once, top

from harness import HEATSINK, PATIENCE_S, Redis, ValueClient, need_programs, until

KEYS = 3000


class Lfu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def setUp(self):
        self.redis = Redis("--maxmemory-policy", "allkeys-lfu")
        self.addCleanup(self.redis.stop)
        self.client = ValueClient(self.redis.port)
        self.addCleanup(self.client.close)
        self.client.pipeline([("SET", f"key:{i}", "v") for i in range(KEYS)])
        self.client("SELECT", 2)
        self.client("SET", "the:hot:key", "v")
        self.client.pipeline([("GET", "the:hot:key")] * 2000)

    def test_names_the_key_with_the_highest_counter_in_any_database(self):
        seen = once(self.redis.port, source="lfu")
        # --once answers as soon as there are rows: the whole scan is what --json ends with.
        lines = top(self.redis.port, "--json", "--for", "30s", "--interval", "200ms", source="lfu")
        self.assertEqual(lines.returncode, 0, lines.stderr)
        self.assertEqual(seen["sources"][0]["name"], "lfu")
        last = lines.stdout.splitlines()[-1]
        self.assertIn('"progress":1', last)
        self.assertIn('"state":"finished"', last)
        key = last.split('"name":"')[1].split('"')[0]
        self.assertEqual(key, "the:hot:key")

    def test_without_counters_what_to_do_is_said(self):
        self.client("CONFIG", "SET", "maxmemory-policy", "noeviction")
        done = top(self.redis.port, "--once", source="lfu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("CONFIG SET maxmemory-policy allkeys-lfu", done.stderr)

    def test_an_interrupted_scan_goes_on(self):
        self.client.pipeline([("SET", f"more:{i}", "v") for i in range(8_000)])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scan")
            until(lambda: self.interrupted(path), 6 * PATIENCE_S, "a scan is interrupted")
            with open(path, encoding="ascii") as kept:
                scanned = int(kept.readline().split()[-1])
            self.assertGreater(scanned, 0)
            done = top(
                self.redis.port, "--json", "--for", "60s", "--resume", path, source="lfu"
            )  # fmt: skip
            self.assertIn('"state":"finished"', done.stdout)
            self.assertFalse(os.path.exists(path))

    def interrupted(self, path):
        """A scan ended as soon as it keeps where it is; false if it was done before that."""
        command = [HEATSINK, "top", f"redis://127.0.0.1:{self.redis.port}", "--source", "lfu"]
        child = subprocess.Popen([*command, "--json", "--resume", path], stdout=subprocess.DEVNULL)
        try:
            until(
                lambda: os.path.exists(path) or child.poll() is not None, what="a scan kept"
            )  # fmt: skip
        finally:
            child.terminate()
            child.wait()
        return os.path.exists(path)

    def test_a_name_in_several_databases_is_explained_in_each(self):
        types = {0: "string", 5: "list", 11: "hash"}
        write = {0: ("SET", "kin", "v"), 5: ("RPUSH", "kin", "v"), 11: ("HSET", "kin", "f", "v")}
        for db, command in write.items():
            self.client("SELECT", db)
            self.client(*command)
            read = {"SET": "GET", "RPUSH": "LLEN", "HSET": "HLEN"}[command[0]]
            self.client.pipeline([(read, "kin")] * 2000)

        def told():
            command = [HEATSINK, "explain", "kin", f"redis://127.0.0.1:{self.redis.port}"]
            done = subprocess.run(
                [*command, "--source", "lfu", "--json"], capture_output=True, text=True, check=False
            )
            rows = json.loads(done.stdout)["rows"] if done.stdout else []
            return {row["db"]: row["type"] for row in rows} == types

        until(told, 6 * PATIENCE_S, "the types of all three")

    def test_sources_check_each_other(self):
        url = f"redis://127.0.0.1:{self.redis.port}"
        with Watching(url, *PATIENT, source="lfu,monitor") as watching:

            def both_look():
                sources = watching.answers[-1]["sources"]
                states = {source["name"]: source["state"] for source in sources}
                return states == {"lfu": "finished", "monitor": "running"}

            until(both_look, 3 * PATIENCE_S, "both have something to tell")
            watching.process.signal(signal.SIGTERM)
            self.assertEqual(watching.ended()[0], 0)

    def test_an_unknown_source_is_told_with_those_there_are(self):
        done = top(self.redis.port, "--once", source="lfo")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean lfu?", done.stderr)


if __name__ == "__main__":
    unittest.main()
