# SPDX-License-Identifier: Apache-2.0
"""redis-server and `heatsink proxy` as processes of one test, which always end with it."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

HEATSINK = os.environ.get("HEATSINK_BINARY", "")
START_S = 30  # a sanitizer's build on a busy machine
SLOW = int(os.environ.get("HEATSINK_TEST_SLOWNESS", "1"))  # deadlines are this many times longer


def until(condition, within_s=10.0, what="the condition"):
    """Polls until `condition()` is true, and returns that."""
    limit = time.monotonic() + within_s * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > limit:
            raise AssertionError(f"{what} did not come true within {within_s * SLOW} s")
        time.sleep(0.005)


def need_programs():
    if shutil.which("redis-server") is None:
        raise unittest.SkipTest("redis-server is not installed")
    if not os.access(HEATSINK, os.X_OK):
        raise unittest.SkipTest("HEATSINK_BINARY does not name the heatsink program")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """One child, its output kept for the report of a failure, killed with its parent's end."""

    def __init__(self, command, descriptors_max=None, env=None):
        def limit():
            if descriptors_max is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors_max, descriptors_max))

        self.lines = []
        self.child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=limit,
            env=env,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.append(line)

    def output(self):
        return "".join(self.lines)

    def alive(self):
        return self.child.poll() is None

    def rss_bytes(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) * 1024

    def cpu_s(self):
        with open(f"/proc/{self.child.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self, how=signal.SIGKILL):
        if self.alive():
            self.child.send_signal(how)
        self.child.wait(timeout=START_S)
        self.reader.join(timeout=START_S)
        self.child.stdout.close()


class Redis:
    """A server without persistence on a free port of loopback; restart() keeps the port."""

    def __init__(self, *options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="heatsink-test-")
        for _ in range(5):  # another test may have taken the port meanwhile
            self.port = free_port()
            if self._start():
                return
        raise AssertionError("redis-server does not start: " + self.process.output())

    def _start(self):
        self.process = Process(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
            + ["--appendonly", "no", "--dir", self.folder, "--enable-debug-command", "yes"]
            + list(self.options)
        )
        until(
            lambda: not self.process.alive() or "Ready to accept" in self.process.output(),
            START_S,
            "redis-server ready",
        )
        return self.process.alive()

    def restart(self):
        until(self._start, START_S, "redis-server back on its port")

    def stop(self):
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy:
    """`heatsink proxy` on free ports; options as {"detection.hot-qps": 10}."""

    def __init__(self, upstream, options=None, descriptors_max=None):
        url = upstream if isinstance(upstream, str) else f"redis://127.0.0.1:{upstream.port}"
        command = [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--upstream", url]
        command += ["--admin", "127.0.0.1:0"]
        for name, value in {"proxy.workers": 2, **(options or {})}.items():
            command += ["--set", f"{name}={value}"]
        self.process = Process(command, descriptors_max)
        until(
            lambda: not self.process.alive() or "is ready" in self.process.output(),
            START_S,
            "heatsink proxy ready",
        )
        ready = re.search(
            r"ready: clients \S+:(\d+),.* admin http://\S+:(\d+)", self.process.output()
        )
        if ready is None:
            self.process.kill()
            raise AssertionError("heatsink proxy does not start: " + self.process.output())
        self.port, self.admin_port = int(ready[1]), int(ready[2])

    def metric(self, name):
        url = f"http://127.0.0.1:{self.admin_port}/metrics"
        with urllib.request.urlopen(url, timeout=START_S) as answer:
            text = answer.read().decode()
        values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        if not values:
            raise AssertionError(f"no metric {name} in\n{text}")
        return sum(float(value) for value in values)

    def stop(self):
        """Ends it as an operator would; whatever a sanitizer has to say fails the test."""
        self.process.kill(signal.SIGTERM)
        output = self.process.output()
        if self.process.child.returncode != 0 or "Sanitizer" in output:
            raise AssertionError(
                f"heatsink proxy ended with {self.process.child.returncode}:\n{output}"
            )


class ProxyTest(unittest.TestCase):
    """A server and a proxy per test class, with the class's options."""

    SERVER_OPTIONS = ()
    PROXY_OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis(*cls.SERVER_OPTIONS)
        cls.addClassCleanup(cls.redis.stop)
        cls.proxy = Proxy(cls.redis, cls.PROXY_OPTIONS)
        cls.addClassCleanup(cls.proxy.stop)

    def to_server(self, **how):
        return self._keep(self.redis.port, how)

    def to_proxy(self, **how):
        return self._keep(self.proxy.port, how)

    def _keep(self, port, how):
        from client import Client

        client = Client(port, **how)
        self.addCleanup(client.close)
        return client


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
