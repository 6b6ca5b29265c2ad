# SPDX-License-Identifier: Apache-2.0
"""redis-server and `heatsink proxy` as processes of one test, which always end with it."""

import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.request

from .client import ValueClient
from .patience import PATIENCE_S, SLOW, until
from .programs import HEATSINK, LIBRARY_HOST, SERVER

# For `stderr` of proxies that log a great deal: by default it is not even read.
LOG = None if os.environ.get("HEATSINK_LOG") else subprocess.DEVNULL

# Options of nodes of a cluster: each says that it is ok so soon after it has met the others, and
# not 5 s later. Who has made them meet calls all_have_met().
MEET_SOON = ("--cluster-enabled", "yes", "--cluster-node-timeout", "500")

# Hot after a few reads, and for good, with copies whether they pay or not: for tests that are about
# copies, not about detection.
EAGER = {
    "detection.hot-qps": 2,
    "detection.window": "1s",
    "detection.minimum-residence": "1h",
    "detection.write-hot-ratio": 0,
    "detection.tick": "20ms",
    "cache.admission": "hot",
}
# Clients stay while the server is away, and get errors at once.
ERRORS_WHEN_DOWN = {"upstream.on-down": "error", "upstream.connect-wait": 0}
# EAGER, and the server sees no reads of the proxy's own: neither those of the audit, about one
# in a thousand hits, nor that of the checks of `heatsink doctor` at the start.
QUIET = EAGER | {"audit.sample-rate": "0%", "doctor.enabled": "no"}


def free_port():
    """Below those that systems give to whoever connects (from 32768 on), as is a cluster's second.

    So nobody gets it by chance before its owner binds it, or while its owner is being restarted.
    """
    while True:
        port = random.SystemRandom().randrange(12_000, 22_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue  # taken
            return port


class Process:
    """One child, its output kept for the report of a failure."""

    def __init__(
        self, command, descriptors_max=None, stderr=subprocess.STDOUT, preload=None,
        environment=None,
    ):  # fmt: skip
        def limit():
            if descriptors_max is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors_max, descriptors_max))

        self.lines = []
        self.child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="replace",
            env=os.environ | ({"LD_PRELOAD": preload} if preload else {}) | (environment or {}),
            preexec_fn=limit,
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
        fields = stat_fields(f"/proc/{self.child.pid}/stat")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signal(self, number):
        self.child.send_signal(number)

    def freeze(self):
        """SIGSTOP, and every thread has stopped: one on another core may go on for a moment."""
        self.signal(signal.SIGSTOP)
        tasks = f"/proc/{self.child.pid}/task"

        def stopped():
            return all(stat_fields(f"{tasks}/{task}/stat")[0] == "T" for task in os.listdir(tasks))

        until(stopped, PATIENCE_S, "every thread stopped")

    def kill(self):
        self.end(signal.SIGKILL)

    def end(self, how):
        """Its exit status; one that does not heed the signal is killed. May be called again."""
        if self.alive():
            # A frozen one would not hear of SIGTERM. Never behind it: the leak checker of the
            # address sanitizer stops the process as it exits, and waits for ever for a stop that
            # SIGCONT has undone. Nor before SIGKILL: it would go on for a moment.
            if how != signal.SIGKILL:
                self.signal(signal.SIGCONT)
            self.signal(how)
        try:
            self.child.wait(PATIENCE_S * SLOW)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.reader.join(PATIENCE_S)
        self.child.stdout.close()
        return self.child.returncode


def stat_fields(path):
    """The fields of a stat file of /proc, from the third (the state) on."""
    with open(path, encoding="ascii", errors="replace") as stat:
        return stat.read().rsplit(")", 1)[1].split()


def all_have_met(*nodes):
    """`nodes` are clients. From now on no node that stands still for a moment is taken for gone."""
    for node in nodes:
        node("CONFIG", "SET", "cluster-node-timeout", "15000")


class Redis:
    """A server without persistence on a free port of loopback; restart() keeps the port."""

    def __init__(self, *options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="heatsink-test-")
        for _ in range(5):  # another test may have taken the port meanwhile
            self.port = free_port()
            if self._start():
                return
        self.stop()
        raise AssertionError(f"{SERVER} does not start: " + self.process.output())

    def _start(self):
        self.process = Process(
            [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
            + ["--appendonly", "no", "--dir", self.folder, "--enable-debug-command", "yes"]
            + list(self.options)
        )
        try:
            until(self._has_decided, PATIENCE_S, f"{SERVER} ready")
        finally:
            if not self._is_ready():
                self.process.kill()
        return self.process.alive()

    def _has_decided(self):
        return not self.process.alive() or self._is_ready()

    def _is_ready(self):
        return "Ready to accept" in self.process.output()

    def restart(self):
        until(self._start, PATIENCE_S, f"{SERVER} back on its port")

    def stop(self):
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Library:
    """tests/consistency's heatsink_library_host, asked like a Proxy.

    `flags` as it has them; `under` as Proxy has it.
    """

    def __init__(self, upstream, options=None, flags=(), under=(), **how):
        command = [*under, LIBRARY_HOST, "--server", upstream, *flags]
        for name, value in (options or {}).items():
            command += ["--set", f"{name}={value}"]
        self.process = Process(command, **how)
        try:
            self.port = int(until(self._ready, PATIENCE_S, "heatsink_library_host ready")[1])
        except AssertionError as error:
            self.process.kill()
            raise AssertionError(f"{error}: {self.process.output()}") from None

    def _ready(self):
        return re.search(r"ready: port (\d+)", self.process.output())

    def hits(self):
        with ValueClient(self.port) as client:
            return client("HITS")

    def metric(self, name):
        """As the proxy has it."""
        assert name == "heatsink_coherence_up"
        with ValueClient(self.port) as client:
            return client("UP")

    def problem(self):
        """Why no copies are served; b"": all is well."""
        with ValueClient(self.port) as client:
            return client("PROBLEM")

    def stop(self):
        """Nobody tells it how to end; whatever a sanitizer has to say fails the test."""
        self.process.end(signal.SIGTERM)
        if "Sanitizer" in self.process.output():
            raise AssertionError(self.process.output())


def values_of(metrics, name, exact=False):
    """The values of a metric in the text of Prometheus, one per set of labels.

    `exact`: of the one whose labels stand in its name.
    """
    pattern = re.escape(name) if exact else rf"{name}(?:{{[^}}]*}})?"
    return [float(value) for value in re.findall(rf"^{pattern} (\S+)$", metrics, re.MULTILINE)]


class Proxy:
    """`heatsink proxy` on free ports.

    `upstream` is a Redis or an address; options as {"detection.hot-qps": 10}; rules as they stand
    behind --rule; `under` is a command that runs it (valgrind); `stderr` (its log) as subprocess
    has it, by default part of the output that a failure reports.
    """

    def __init__(self, upstream, options=None, rules=(), config=None, under=(), **how):
        url = upstream if isinstance(upstream, str) else f"redis://127.0.0.1:{upstream.port}"
        command = [*under, HEATSINK, "proxy", "--listen", "127.0.0.1:0", "--upstream", url]
        command += ["--admin", "127.0.0.1:0"]
        # Clients of a test may still be connected when it ends.
        for name, value in {"proxy.workers": 2, "shutdown.drain": 0, **(options or {})}.items():
            command += ["--set", f"{name}={value}"]
        for rule in rules:
            command += ["--rule", rule]
        if config is not None:
            command += ["--config", config]
        self.process = Process(command, **how)
        try:
            self.port, self.admin_port = until(self._ports, PATIENCE_S, "heatsink proxy ready")
        except AssertionError as error:
            self.process.kill()
            raise AssertionError(f"{error}: {self.process.output()}") from None

    def _ports(self):
        """Those of the line that says it is ready; None before that."""
        ended = not self.process.alive()
        ready = re.search(
            r"ready: clients \S+:(\d+),.* admin http://\S+:(\d+)", self.process.output()
        )
        if ended and ready is None:
            raise AssertionError("heatsink proxy does not start")
        return ready and (int(ready[1]), int(ready[2]))

    def metrics(self):
        """What Prometheus would read."""
        url = f"http://127.0.0.1:{self.admin_port}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
            return answer.read().decode()

    def by_label(self, name, label):
        """A metric that has one label: its value by the label's."""
        row = rf'^{name}{{{label}="([^"]*)"}} (\S+)$'
        return {of: float(value) for of, value in re.findall(row, self.metrics(), re.MULTILINE)}

    def metric(self, name):
        """The sum over its labels."""
        text = self.metrics()
        values = values_of(text, name)
        if not values:
            raise AssertionError(f"no metric {name} in\n{text}")
        return sum(values)

    def api(self, name):
        """What GET /api/NAME answers, as a value; asked again while its keeper gets no core."""
        url = f"http://127.0.0.1:{self.admin_port}/api/{name}"

        def told():
            with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
                text = answer.read()
            return None if b"keeper thread does not answer" in text else text

        return json.loads(until(told, PATIENCE_S, f"the keeper's answer to /api/{name}"))

    def coherence(self):
        """"up", or why nothing is served locally."""
        return self.api("hotkeys")["node"]["coherence"]

    def hits(self):
        return self.metric("heatsink_local_hits_total")

    def all_suspicions_are_judged(self):
        """Of the audit."""
        dropped = self.by_label("heatsink_audit_dropped_total", "reason")["full"]
        judged = self.metric("heatsink_audit_staleness_seconds_count") + dropped
        return judged == self.metric("heatsink_audit_suspected_total")

    def stop(self):
        """Ends it as an operator would; whatever a sanitizer has to say fails the test."""
        status = self.process.end(signal.SIGTERM)
        output = self.process.output()
        if status != 0 or "Sanitizer" in output:
            raise AssertionError(f"heatsink proxy ended with {status}:\n{output}")
