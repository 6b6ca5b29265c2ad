# SPDX-License-Identifier: Apache-2.0
"""`heatsink load` plays the keys of a file against a real server."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import HEATSINK, RawClient, Redis, need_programs

KEYS = ["cart:1", "user:7", "cart:1", "page with spaces", "user:7", "cart:1"]
DISTINCT = 3


class LoadOfAFile(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.server = RawClient(self.redis.port)
        self.addCleanup(self.server.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "keys.txt"
        self.file.write_text("\n".join(KEYS) + "\n")

    def load(self, *flags):
        """What a load of 300 ms told."""
        done = subprocess.run(
            [HEATSINK, "load", "--target", f"redis://127.0.0.1:{self.redis.port}", "--keys",
             self.file, "--for", "300ms", "--json", *flags],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    def calls(self, command):
        rows = self.server.ask("INFO", "commandstats").decode()
        found = re.search(rf"cmdstat_{command}:calls=(\d+)", rows)
        return int(found[1]) if found else 0

    def test_it_writes_each_key_once_and_plays_with_the_prefix(self):
        told = self.load("--prefix", "mine:", "--write-ratio", "0")
        self.assertEqual(self.server.ask("DBSIZE"), b":%d\r\n" % DISTINCT)
        self.assertEqual(self.server.ask("EXISTS", *(f"mine:{key}" for key in KEYS)), b":6\r\n")
        self.assertEqual(self.calls("set"), DISTINCT)
        self.assertGreater(told["reads"], 0)
        self.assertEqual((told["writes"], told["nils"], told["errors"]), (0, 0, 0))

    def test_it_changes_nothing_without_preload_and_writes(self):
        self.server.ask("SET", "cart:1", "mine")
        told = self.load("--prefix", "", "--no-preload", "--write-ratio", "0")
        self.assertEqual(self.calls("set"), 1)
        self.assertEqual(self.server.ask("GET", "cart:1"), b"$4\r\nmine\r\n")
        # Half of the lines are the key that exists; the other two keys are missing.
        self.assertAlmostEqual(told["nils"] / told["reads"], 0.5, delta=0.05)


if __name__ == "__main__":
    unittest.main()
