# SPDX-License-Identifier: Apache-2.0
"""`heatsink watch redis://...`: the page of a server that has no proxy."""

import json
import re
import signal
import subprocess
import threading
import unittest
import urllib.request

from harness import HEATSINK, PATIENCE_S, RawClient, Redis, need_programs, until


class WatchServerTest(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)

    def watch(self, *flags):
        process = subprocess.Popen(
            [HEATSINK, "watch", f"redis://127.0.0.1:{self.redis.port}", "--listen", "127.0.0.1:0",
             *flags], stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.home = re.search(r"http://\S+/", process.stdout.readline())[0]
        return process

    def asked(self, path):
        with urllib.request.urlopen(self.home + path, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def test_it_has_the_page_and_its_strips(self):
        ended = threading.Event()

        def load():
            with RawClient(self.redis.port) as client:
                client.ask("SET", "busy", "x")
                while not ended.is_set():
                    client.ask("GET", "busy")

        thread = threading.Thread(target=load)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)
        process = self.watch("--source", "monitor")

        def has_a_strip():
            rows = self.asked("api/heatmap")["rows"]
            return ("key", "busy") in [(row["kind"], row["name"]) for row in rows]

        until(has_a_strip, 2 * PATIENCE_S, "a row of the busy key")
        self.assertEqual(self.asked("api/hotkeys")["keys"][0]["name"], "busy")
        with urllib.request.urlopen(self.home + "healthz", timeout=PATIENCE_S) as answer:
            self.assertEqual(answer.read(), b"ok\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_S), 0)


if __name__ == "__main__":
    unittest.main()
