# SPDX-License-Identifier: Apache-2.0
"""A server, proxies before it, and a recorded load: what a run plays on, and how it is judged."""

import os
import re
import subprocess
import tempfile
import threading

from faults.stage import EAGER
from harness import PATIENCE_S, Proxy, Redis, ValueClient, until
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


class Theatre:
    """A context: everything ends with it.

    `push_delay_s`: a relay stands between proxies and server, and pushes are so late. `calls`: of
    a client of the server, before the proxies start.
    """

    def __init__(self, proxies=1, server_args=(), push_delay_s=None, calls=()):
        self.wanted, self.server_args = proxies, server_args
        self.push_delay_s, self.calls = push_delay_s, calls
        self.proxies, self.relay, self.said = [], None, ""
        self.fault_error = None

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

    def play(self, run, seconds, operations, seed, past=None):
        """Records a run; the name of the file. `past`: the port of what is written past proxies."""
        path = os.path.join(self.folder.name, "history")
        command = [HISTORY, "play", "--out", path, "--for", str(seconds)]
        command += ["--operations", str(operations), "--seed", str(seed), "--prefix", run.prefix]
        for port in [past or self.server.port] + [proxy.port for proxy in self.proxies]:
            command += ["--target", f"127.0.0.1:{port}"]
        for session in run.sessions:
            command += ["--sessions", session]
        over = threading.Event()
        breaker = threading.Thread(target=self._break, args=(run.fault, over))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as player:
            breaker.start()
            try:
                self.said = player.communicate(timeout=20 * seconds + 10 * PATIENCE_S)[0].strip()
            finally:
                over.set()
                breaker.join()
                player.kill()
        if self.fault_error is not None:
            raise self.fault_error
        if player.returncode != 0:
            raise AssertionError(f"heatsink_history play ended with {player.returncode}")
        return path

    def _break(self, fault, over):
        over.wait(1)  # copies first
        try:
            while fault is not None and not over.is_set():
                fault(self, over)
        except Exception as error:  # pylint: disable=broad-except  # raised again by play()
            self.fault_error = error

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
