# SPDX-License-Identifier: Apache-2.0
"""A server, proxies before it, and a recorded load: what a run plays on, and how it is judged."""

import os
import re
import subprocess
import tempfile
import threading
import time

from faults.stage import EAGER
from harness import PATIENCE_S, Proxy, Redis, ValueClient

HISTORY = os.environ.get("HEATSINK_HISTORY", "build/dev/tests/consistency/heatsink_history")
# Where histories with violations stay; without it they go with the run.
KEEP = os.environ.get("HEATSINK_HISTORY_KEEP")
BOUND_S = 1.0  # cache.max-staleness
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
    """A context: everything ends with it. `relay`, if given, stands between proxies and server."""

    def __init__(self, proxies=1, options=None, server_args=(), relay=None):
        self.wanted, self.options = proxies, EAGER | (options or {})
        self.server_args, self.make_relay = server_args, relay
        self.proxies, self.relay = [], None

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heatsink-history-", dir=KEEP)
        self.server = Redis(*self.server_args)
        try:
            upstream = self.server
            if self.make_relay is not None:
                self.relay = self.make_relay(self.server.port)
                upstream = f"redis://127.0.0.1:{self.relay.port}"
            for _ in range(self.wanted):
                self.proxies.append(Proxy(upstream, self.options, stderr=LOG))
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

    def targets(self):
        return [self.server.port] + [proxy.port for proxy in self.proxies]

    def hits(self):
        return sum(proxy.hits() for proxy in self.proxies)

    def play(self, sessions, seconds, operations=0, fault=None, seed=1, targets=None):
        """Records a run; `fault(theatre)` is called again and again meanwhile. The file's name."""
        path = os.path.join(self.folder.name, "history")
        command = [HISTORY, "play", "--out", path, "--for", str(seconds)]
        command += ["--operations", str(operations), "--seed", str(seed)]
        for port in targets or self.targets():
            command += ["--target", f"127.0.0.1:{port}"]
        for session in sessions:
            command += ["--sessions", session]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as player:
            over = threading.Event()
            breaker = threading.Thread(target=self._break, args=(fault, over))
            if fault is not None:
                breaker.start()
            try:
                self.said = player.communicate(timeout=20 * seconds + 10 * PATIENCE_S)[0].strip()
            except BaseException:
                player.kill()
                raise
            finally:
                over.set()
                if fault is not None:
                    breaker.join()
        if player.returncode != 0:
            raise AssertionError(f"heatsink_history play ended with {player.returncode}")
        return path

    def _break(self, fault, over):
        over.wait(1)  # copies first
        while not over.is_set():
            fault(self, over)

    def judge(self, path, bound_s):
        done = subprocess.run([HISTORY, "check", path, "--bound-ms", str(bound_s * 1e3)],
                              stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            raise AssertionError(f"heatsink_history check ended with {done.returncode}")
        return Judgement(done.stdout, done.returncode)


# ---- faults, each a moment of it and the pause behind it


def stop_the_server(theatre, over):
    theatre.server.process.freeze()
    time.sleep(0.3)
    theatre.server.process.signal(18)  # SIGCONT
    over.wait(0.7)


def stop_a_proxy(theatre, over):
    """Longer than the bound: its clients ask meanwhile, and nobody has looked at the pushes."""
    proxy = theatre.proxies[0]
    proxy.process.freeze()
    time.sleep(BOUND_S * 2)
    proxy.process.signal(18)
    over.wait(2)


def cut_connections(theatre, over):
    """All, or the tracker's: answers lost, generations, writes of unknown outcome."""
    with ValueClient(theatre.server.port) as client:
        client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    over.wait(0.3)
    with ValueClient(theatre.server.port) as client:
        for line in client("CLIENT", "LIST").decode().splitlines():
            if "name=heatsink-tracker" in line:
                client("CLIENT", "KILL", "ID", re.search(r"id=(\d+)", line)[1])
    over.wait(0.7)


def everything(theatre, over):
    cut_connections(theatre, over)
    stop_the_server(theatre, over)
