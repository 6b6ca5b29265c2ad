# SPDX-License-Identifier: Apache-2.0
"""A proxy with a configuration file, and the verbs that change it while the proxy runs."""

import signal
import subprocess
import tempfile
import unittest

from harness import EAGER, HEATSINK, Proxy, RawClient, Redis, need_programs, until

# Copies live on, so that each fill is one that a change has caused. An audit would be a read, too.
CALM = {**EAGER, "cache.expire-after-write": "1h", "audit.sample-rate": "0%"}


class Running(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = folder.name + "/heatsink.yaml"

    def start(self, text="", options=CALM, rules=(), **how):
        self.write(text)
        self.proxy = Proxy(self.redis, options, rules=rules, config=self.path, **how)
        self.addCleanup(self.proxy.stop)
        self.client = self.connected()
        return self.proxy

    def write(self, text, path=None):
        with open(path or self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def connected(self):
        client = RawClient(self.proxy.port)
        self.addCleanup(client.close)
        return client

    def heatsink(self, *words, token=None):
        """A verb that asks this proxy: its exit code, and what it printed."""
        command = [HEATSINK, *words, "--admin", f"127.0.0.1:{self.proxy.admin_port}"]
        if token is not None:
            command += ["--token-file", token]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def apply(self, text, *flags):
        path = self.folder + "/other.yaml"
        self.write(text, path)
        return self.heatsink("config", "apply", path, *flags)

    def applied(self, text, *flags):
        status, output = self.apply(text, *flags)
        self.assertEqual(status, 0, output)
        return output

    def rule(self, *words):
        status, output = self.heatsink("rule", *words)
        self.assertEqual(status, 0, output)
        return output

    def hang_up(self, said):
        """SIGHUP, and then the log says this once more."""
        before = self.proxy.process.output().count(said)
        self.proxy.process.signal(signal.SIGHUP)
        until(lambda: self.proxy.process.output().count(said) > before, what=said)

    def has_copy(self, key):
        """Reads the key until a copy answers."""

        def hit():
            before = self.proxy.hits()
            self.client.ask("GET", key)
            return self.proxy.hits() > before

        until(hit, what=f"a copy of {key}")

    def hits_of(self, key, reads=20):
        before = self.proxy.hits()
        for _ in range(reads):
            self.client.ask("GET", key)
        return self.proxy.hits() - before

    def generation(self):
        return self.proxy.api("config")["generation"]
