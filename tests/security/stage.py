# SPDX-License-Identifier: Apache-2.0
"""A heatsink whose listening addresses a test sets by hand, and what it writes."""

import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import HEATSINK, PATIENCE_S, Proxy, RawClient, need_programs, until
from harness.processes import Process, values_of

HOT = {
    "detection.hot-qps": 5,
    "detection.window": "1s",
    "detection.tick": "10ms",
    "detection.write-hot-ratio": 0,
}


class Door(Proxy):
    """`heatsink proxy` with exactly these options; `lines()` is what it has written."""

    def __init__(self, upstream, environment=None, **options):
        command = [HEATSINK, "proxy", "--upstream", upstream]
        given = {"proxy.listen": "127.0.0.1:0", "admin.listen": "127.0.0.1:0", "proxy.workers": 2}
        for name, value in {**given, **options}.items():
            command += ["--set", f"{name}={value}"]
        self.process = Process(command, environment=environment)
        try:
            until(self._decided, PATIENCE_S, "heatsink proxy ready")
        except AssertionError:
            self.process.kill()
            raise
        ready = re.search(r"ready: clients (\S+), .*admin (\S+)", self.output())
        if ready is None:
            status = self.process.end(signal.SIGKILL)
            raise Refused(status, self.output())
        self.clients, self.admin = ready[1], ready[2].removeprefix("http://")
        self.port = None if self.clients.startswith("unix:") else int(self.clients.split(":")[-1])

    def _decided(self):
        return not self.process.alive() or "is ready" in self.output()

    def output(self):
        return self.process.output()

    def says(self, text):
        until(lambda: text in self.output(), what=f"{text!r} in the log")

    def metric(self, name, headers=(), exact=False):
        """The sum over its labels; exact: of the one with the labels in its name."""
        command = ["curl", "-s", "--max-time", "60", f"http://{self.admin}/metrics"]
        for header in headers:
            command += ["-H", header]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return sum(values_of(text, name, exact))


class Refused(AssertionError):
    """It did not start; `text` says why."""

    def __init__(self, status, text):
        super().__init__(f"ended with {status}: {text}")
        self.status, self.text = status, text


def tcp(port):
    return socket.create_connection(("127.0.0.1", port))


def unix(path):
    connected = socket.socket(socket.AF_UNIX)
    connected.connect(path)
    return connected


class DoorTest(unittest.TestCase):
    """A folder of its own for each test, in which everything is closed and stopped at its end."""

    @classmethod
    def setUpClass(cls):
        need_programs()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def open(self, upstream, environment=None, **options):
        given = {name.replace("__", "."): value for name, value in options.items()}
        door = Door(upstream, environment, **given)
        self.addCleanup(door.stop)
        return door

    def refusal(self, upstream, **options):
        with self.assertRaises(Refused) as caught:
            Door(upstream, **options)
        return caught.exception.text

    def keep(self, connected):
        client = RawClient(connected=connected)
        self.addCleanup(client.close)
        return client

    def served_locally(self, door, client, key):
        def served():
            before = door.metric("heatsink_local_hits_total")
            for _ in range(40):
                client.ask("GET", key)
            return door.metric("heatsink_local_hits_total") > before

        until(served, what=f"{key} served locally")
