# SPDX-License-Identifier: Apache-2.0
"""A server, proxies before it, and a recorded load: what a run plays on, and how it is judged."""

import os
import re
import subprocess
import tempfile
import time

from faults.stage import EAGER
from harness import PATIENCE_S, SLOW, Proxy, Redis, ValueClient, until
from relay import Relay

HISTORY = os.environ.get("HEATSINK_HISTORY", "build/dev/tests/consistency/heatsink_history")
LOG = None if os.environ.get("HEATSINK_LOG") else subprocess.DEVNULL


class Judgement:
    """What `heatsink_history check` said of a history."""

    def __init__(self, text, status):
        self.text = text
        self.sound = status == 0
        self.operations = int(re.search(r"^(\d+) operations", text)[1])
        self.reads = int(re.search(r"(\d+) reads that a copy", text)[1])
        self.promises = re.findall(r"^  (\w[\w ]*): \d+$", text, re.MULTILINE)


class Recording:
    """A context: sessions are played and recorded from beginning to end, `seconds` at least.

    `said` afterwards: what the player had to say.
    """

    def __init__(self, path, targets, sessions, seconds, proxies, prefix="k", operations=0, seed=1):
        self.path, self.seconds, self.proxies, self.said = path, seconds, proxies, ""
        self.command = [HISTORY, "play", "--until-told", "--out", path, "--for", str(seconds)]
        self.command += ["--operations", str(operations), "--seed", str(seed), "--prefix", prefix]
        for port in targets:
            self.command += ["--target", f"127.0.0.1:{port}"]
        for session in sessions:
            self.command += ["--sessions", session]

    def __enter__(self):
        self.began = time.monotonic()
        self.player = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, kind, *_):
        try:
            patience_s = (20 * self.seconds + 10 * PATIENCE_S) * SLOW
            self.said = self.player.communicate(timeout=patience_s)[0].strip()
        finally:
            self.player.kill()
            self.player.wait()
        if kind is None and self.player.returncode != 0:
            raise AssertionError(f"heatsink_history play ended with {self.player.returncode}")

    def played_s(self):
        return time.monotonic() - self.began

    def copies_speak(self, times):
        """Waits until each proxy has answered so many reads more from copies.

        What is broken before that proves nothing about copies; how long it takes is the machine's
        affair.
        """
        wanted = [proxy.hits() + times for proxy in self.proxies]

        def spoken():
            if self.player.poll() is not None:
                raise AssertionError("heatsink_history play has ended too soon")
            return all(proxy.hits() >= hits for proxy, hits in zip(self.proxies, wanted))

        until(spoken, 3 * PATIENCE_S, f"reads answered from copies, {times} by each proxy")


class Theatre:
    """A context: everything ends with it.

    `push_delay_s`: a relay stands between proxies and server, and pushes are so late. `calls`: of
    a client of the server, before the proxies start.
    """

    def __init__(self, proxies=1, server_args=(), push_delay_s=None, calls=()):
        self.wanted, self.server_args = proxies, server_args
        self.push_delay_s, self.calls = push_delay_s, calls
        self.proxies, self.relay = [], None

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heatsink-history-")
        self.server = Redis(*self.server_args)
        try:
            with ValueClient(self.server.port) as client:
                for call in self.calls:
                    client(*call)
                until(lambda: client("SET", "k", "1") == "OK", PATIENCE_S, "a server that writes")
                client("FLUSHALL")
            port = self.server.port
            if self.push_delay_s is not None:
                self.relay = Relay(port, self.push_delay_s)
                port = self.relay.port
            for _ in range(self.wanted):
                self.proxies.append(Proxy(f"redis://127.0.0.1:{port}", EAGER, stderr=LOG))
            for proxy in self.proxies:
                until(lambda: proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for proxy in self.proxies:
            proxy.process.kill()
        if self.relay is not None:
            self.relay.close()
        self.server.stop()
        self.folder.cleanup()

    def stop_proxies(self):
        """As an operator does; fails if one has something to say."""
        while self.proxies:
            self.proxies.pop().stop()

    def hits(self):
        return sum(proxy.hits() for proxy in self.proxies)

    def record(self, sessions, seconds=0, past=None, **how):
        """A Recording. `past`: the port of what is written past proxies."""
        targets = [past or self.server.port] + [proxy.port for proxy in self.proxies]
        path = os.path.join(self.folder.name, "history")
        return Recording(path, targets, sessions, seconds, self.proxies, **how)

    def judge(self, path, bound_s):
        done = subprocess.run(
            [HISTORY, "check", path, "--bound-ms", str(bound_s * 1e3)],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise AssertionError(f"heatsink_history check ended with {done.returncode}")
        return Judgement(done.stdout, done.returncode)
