# SPDX-License-Identifier: Apache-2.0
"""A redis-server, a heatsink in front of it, and clients: what a test of coherence plays on.

Everything is on loopback, on free ports, and ends with the test. HEATSINK names the binary (ctest
sets it); with HEATSINK_LOG=1 the proxies' own words are shown.
"""

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

HEATSINK = os.environ.get("HEATSINK", "build/dev/apps/heatsink/heatsink")
PATIENCE_S = 20.0  # for what must happen, however slow the machine
QUIET = not os.environ.get("HEATSINK_LOG")  # the proxies of a fault log a great deal

STALENESS_S = 1.0  # cache.max-staleness

# Hot after a few reads, and for good: these tests are about copies, not about detection.
EAGER = {
    "detection.hot-qps": "2",
    "detection.window": "1s",
    "detection.minimum-residence": "1h",
    "detection.write-hot-ratio": "0",
    "detection.tick": "20ms",
    "proxy.workers": "2",
}


class RedisError(str):
    """An error reply; compares as its text."""


class Client:
    """One RESP2 connection. Not thread-safe."""

    def __init__(self, port, timeout_s=PATIENCE_S):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.sock.makefile("rb", buffering=1 << 16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stream.close()
        self.sock.close()

    def send(self, *args):
        self.sock.sendall(encode(*args))

    def __call__(self, *args):
        self.send(*args)
        return self.read()

    def pipeline(self, calls):
        self.sock.sendall(b"".join(encode(*call) for call in calls))
        return [self.read() for _ in calls]

    def read(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.stream.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ConnectionError(f"no RESP2: {line!r}")


def encode(*args):
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in args]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_until(condition, what, limit_s=PATIENCE_S):
    """The first true value of `condition()`. Polls: the other side is a process."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise AssertionError(f"not within {limit_s} s: {what}")


class Process:
    """A child that can be stopped, continued and killed, and is gone at the end."""

    def start(self, argv, **kwargs):
        self.child = subprocess.Popen(argv, **kwargs)

    def signal(self, number):
        self.child.send_signal(number)

    def freeze(self):
        """SIGSTOP, and every thread has stopped: one on another core may go on for a moment."""
        self.signal(signal.SIGSTOP)
        tasks = f"/proc/{self.child.pid}/task"

        def state(task):
            with open(f"{tasks}/{task}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[0]

        wait_until(lambda: all(state(task) == "T" for task in os.listdir(tasks)), "stopped")

    def kill(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGCONT)
            self.child.kill()
        self.child.wait()


class Server(Process):
    def __init__(self, *args):
        self.args = args
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="heatsink-faults-")
        self.run()

    def run(self):
        self.start(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--dir", self.folder, "--enable-debug-command", "yes", *self.args],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.answers, "redis-server answers")

    def answers(self):
        try:
            with Client(self.port, 1) as client:
                return not str(client("PING")).startswith("LOADING")
        except OSError:
            return False

    def client(self):
        return Client(self.port)

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy(Process):
    def __init__(self, upstream, **options):
        settings = dict(EAGER)
        for name, value in options.items():
            settings[name.replace("__", ".").replace("_", "-")] = value
        argv = [HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                "--upstream", upstream]
        for name, value in settings.items():
            argv += ["--set", f"{name}={value}"]
        self.start(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if QUIET else None)
        line = self.first_line()
        found = re.search(r"clients 127\.0\.0\.1:(\d+).*admin (http://\S+)", line)
        if not found:
            self.close()
            raise AssertionError(f"heatsink proxy said {line!r}")
        self.port, self.admin = int(found[1]), found[2]

    def first_line(self):
        ready, _, _ = select.select([self.child.stdout], [], [], PATIENCE_S)
        return self.child.stdout.readline().decode() if ready else "nothing"

    def client(self):
        return Client(self.port)

    def metric(self, name):
        """The sum of all samples whose name (with labels) begins so."""
        with urllib.request.urlopen(self.admin + "/metrics", timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
        lines = [line for line in text.splitlines() if line.startswith(name)]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)

    def hits(self):
        return self.metric("heatsink_local_hits_total")

    def close(self):
        """Ends it and says whether it ended as it should (a sanitizer's finding does not)."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGCONT)
            self.child.terminate()
        try:
            status = self.child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            status = "no end"
        self.child.stdout.close()
        return status


class Stage(unittest.TestCase):
    """A fresh server and proxy for each test. A class may set server_args and options."""

    server_args = ()
    options = {}

    def setUp(self):
        self.server = Server(*self.server_args)
        self.addCleanup(self.server.close)
        self.direct = self.server.client()
        self.addCleanup(self.direct.close)
        self.proxy = Proxy(self.upstream(), **self.options)
        self.addCleanup(self.end_proxy)

    def upstream(self):
        return f"redis://127.0.0.1:{self.server.port}"

    def end_proxy(self):
        self.assertEqual(self.proxy.close(), 0, "the proxy did not end cleanly")

    def client(self):
        client = self.proxy.client()
        self.addCleanup(client.close)
        return client

    def clients(self, count):
        """So many that both workers have some, whatever the kernel's hash does."""
        return [self.client() for _ in range(count)]

    def expect_soon(self, client, key, value, limit_s=STALENESS_S):
        """What a change past the proxy comes to."""
        wait_until(lambda: client("GET", key) == value, f"{key} is {value}", limit_s)

    def heat(self, client, *keys):
        """Reads the keys until each is served locally."""
        for key in keys:
            wait_until(lambda: self.is_local(client, key), f"{key} is served locally")

    def is_local(self, client, key):
        """Whether the server does not see a read of the key by this client."""
        before = self.reads_seen()
        for _ in range(10):
            client("GET", key)
        return self.reads_seen() == before

    def reads_seen(self):
        """Reads the server has executed: the tracker's (GETRANGE) and forwarded ones (GET)."""
        stats = self.direct("INFO", "commandstats").decode()
        return sum(int(calls) for calls in re.findall(r"cmdstat_get(?:range)?:calls=(\d+)", stats))

    def tracker_id(self):
        """The tracking connection's id in the server; None while there is none."""
        clients = self.direct("CLIENT", "LIST").decode()
        found = re.search(r"id=(\d+) [^\n]*name=heatsink-tracker", clients)
        return int(found[1]) if found else None

    def wait_coherent(self):
        wait_until(lambda: self.proxy.metric("heatsink_coherence_up") == 1, "the tracker is up")
