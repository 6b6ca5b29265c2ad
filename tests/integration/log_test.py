# SPDX-License-Identifier: Apache-2.0
"""Where the log goes, and that nobody waits for whoever should read it."""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest

from harness import ERRORS_WHEN_DOWN, HEATSINK, Proxy, RawClient, Redis, need_programs, until

CLIENTS = 6


def full_pipe():
    """The ends of a pipe that takes nothing more."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    return reading, writing


class WithServer(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/log"

    def proxy(self, options=None, **how):
        proxy = Proxy(self.redis, ERRORS_WHEN_DOWN | (options or {}), **how)
        self.addCleanup(proxy.stop)
        return proxy

    def client(self, proxy):
        client = RawClient(proxy.port)
        self.addCleanup(client.close)
        return client

    def lines(self, path):
        with open(path, encoding="utf-8") as log:
            return log.read().splitlines()


class NobodyReadsStderr(WithServer):
    def test_clients_are_served_and_it_ends(self):
        reading, writing = full_pipe()
        self.addCleanup(os.close, reading)
        proxy = self.proxy(stderr=writing)
        os.close(writing)
        old = [self.client(proxy) for _ in range(CLIENTS)]
        for client in old:
            self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
        self.redis.process.kill()  # the keeper and every worker have something to say
        for client in [*old, *(self.client(proxy) for _ in range(CLIENTS))]:
            self.assertIn(b"is not reachable", client.ask("GET", "k"))
        self.redis.restart()
        for client in [*old, *(self.client(proxy) for _ in range(CLIENTS))]:
            until(lambda client=client: client.ask("SET", "k", "v") == b"+OK\r\n")
        self.assertEqual(proxy.metric("heatsink_log_dropped_total"), 0, "they wait to be read")
        self.assertEqual(proxy.process.end(signal.SIGTERM), 0)

    def test_nor_stdout(self):
        _, writing = pipe = full_pipe()
        self.addCleanup(os.close, pipe[0])
        child = subprocess.Popen(
            [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--admin", "off", "--upstream",
             f"redis://127.0.0.1:{self.redis.port}", "--set", f"log.file={self.path}"],
            stdout=writing,
        )  # fmt: skip
        os.close(writing)
        self.addCleanup(child.kill)
        until(lambda: os.path.exists(self.path) and self.lines(self.path))
        self.assertIn("the standard output is not being read", self.lines(self.path)[0])
        child.terminate()
        self.assertEqual(child.wait(), 0)


class InAFile(WithServer):
    def test_lines_of_json_and_a_file_that_is_moved_away(self):
        proxy = self.proxy(options={"log.file": self.path, "log.format": "json"})
        self.redis.process.kill()
        until(
            lambda: any("no local copies" in line for line in self.lines(self.path)),
            what="what the keeper says of the server",
        )
        os.rename(self.path, self.path + ".1")
        proxy.process.signal(signal.SIGHUP)
        until(
            lambda: os.path.exists(self.path)
            and any("the configuration has not changed" in line for line in self.lines(self.path)),
            what="the new file",
        )
        proxy.stop()
        old, new = self.lines(self.path + ".1"), self.lines(self.path)
        for line in old + new:
            self.assertEqual(list(json.loads(line)), ["time", "level", "message"])
        self.assertIn("received SIGTERM: shutting down", new[-1])
        self.assertNotIn("local copies", proxy.process.output())

    def test_a_file_that_cannot_be_written_starts_nothing(self):
        started = subprocess.run(
            [HEATSINK, "proxy", "--set", "log.file=/nowhere/log", "--listen", "127.0.0.1:0"],
            capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(started.returncode, 1)
        self.assertIn("log.file: cannot open the log file '/nowhere/log'", started.stderr)


class MissingPassword(unittest.TestCase):
    def setUp(self):
        need_programs()

    def test_a_missing_password_is_one_line_of_the_log(self):
        redis = Redis("--requirepass", "secret")
        self.addCleanup(redis.stop)
        proxy = Proxy(redis)
        self.addCleanup(proxy.stop)
        # The tracker and the audit have asked as well, and so has the doctor.
        until(lambda: "NOAUTH" in proxy.api("hotkeys")["node"]["coherence"], what="no copies")
        until(lambda: '"server-login"' in str(proxy.api("health")).replace("'", '"'), what="a look")
        lines = [line for line in proxy.process.lines if re.search(r"Z (warning|error) ", line)]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("wants a password, and none is given: set upstream.password-file", lines[0])


if __name__ == "__main__":
    unittest.main()
