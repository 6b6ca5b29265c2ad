# SPDX-License-Identifier: Apache-2.0
"""A proxy that is handed over (SIGUSR2), and the process that takes over."""

import os
import re
import signal
import unittest

from harness import EAGER, PATIENCE_S, Proxy, RawClient, Redis, need_programs, until

OPTIONS = {**EAGER, "shutdown.drain": "20s", "detection.hot-qps": 20}


class Restarts(unittest.TestCase):
    OPTIONS = OPTIONS

    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.proxy = Proxy(self.redis, self.OPTIONS)
        self.addCleanup(self.end_all)
        self.pid = self.proxy.process.child.pid
        self.server = self.keep(RawClient(self.redis.port))

    def end_all(self):
        for pid in {self.pid, *self.started()}:
            if pid != self.proxy.process.child.pid and self.is_running(pid):
                os.kill(pid, signal.SIGKILL)
        self.proxy.process.kill()

    def started(self):
        return [int(pid) for pid in re.findall(r"hand-over: started process (\d+)", self.output())]

    def is_running(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def output(self):
        return self.proxy.process.output()

    def keep(self, client):
        self.addCleanup(client.close)
        return client

    def client(self, **how):
        return self.keep(RawClient(self.proxy.port, **how))

    def begin_restart(self):
        """The process that is to take over."""
        before = len(self.started())
        os.kill(self.pid, signal.SIGUSR2)
        return until(lambda: self.started()[before:], what="a new process")[0]

    def restart(self):
        """Until the new process serves all clients."""
        new = self.begin_restart()
        words = f"hand-over: process {new} serves the clients"
        try:
            until(lambda: words in self.output(), PATIENCE_S, "the hand-over")
        except AssertionError as error:
            raise AssertionError(f"{error}; it said: {self.output()}") from None
        old, self.pid = self.pid, new
        return old

    def failed(self):
        return until(lambda: re.search("hand-over failed.*", self.output()), what="its failure")[0]

    def ended(self, pid):
        until(lambda: not self.is_running(pid), PATIENCE_S, f"process {pid} has ended")

    def blocked(self):
        rows = self.server.ask("CLIENT", "LIST").decode().splitlines()
        return [row for row in rows if " flags=b" in row]
