# SPDX-License-Identifier: Apache-2.0
"""A redis-server of our own, and heatsink in front of it, on free ports of the loopback."""

import contextlib
import re
import signal
import urllib.request

from harness import PATIENCE_S, SLOW, Redis, until
from harness.processes import Process, free_port
from security.certificates import Authority

# So that a test's few reads make a key hot.
DETECTION = {"detection.hot-qps": 5, "detection.write-hot-ratio": 0}
USERS = ("--requirepass", "secret", "--user", "app", "on", ">app-secret", "~*", "&*", "+@all")


class ClientsError(Exception):
    """A sentence for a person."""


class Servers:
    def __init__(self, heatsink, folder, tls=False, password=True):
        self.port, self.admin_port = free_port(), free_port()
        options = {"proxy.workers": 2, **DETECTION}
        self.authority = None
        if tls:
            authority = Authority(folder)
            options["proxy.tls-cert"], options["proxy.tls-key"] = authority.sign("proxy")
            self.authority = authority.cert
        self.redis = Redis(*(USERS if password else ()))
        credentials = ":secret@" if password else ""
        self.command = [heatsink, "proxy", "--listen", f"127.0.0.1:{self.port}",
                        "--admin", f"127.0.0.1:{self.admin_port}",
                        "--upstream", f"redis://{credentials}127.0.0.1:{self.redis.port}"]
        for name, value in options.items():
            self.command += ["--set", f"{name}={value}"]
        try:
            self._start_proxy()
        except (AssertionError, ClientsError):
            self.redis.stop()
            raise

    def _start_proxy(self):
        self.heatsink = Process([str(word) for word in self.command])
        decided = lambda: not self.heatsink.alive() or "is ready" in self.heatsink.output()
        until(decided, PATIENCE_S, "heatsink proxy ready")
        if not self.heatsink.alive():
            raise ClientsError(f"heatsink does not start: {self.heatsink.output()}")

    def restart_server(self):
        self.redis.process.end(signal.SIGTERM)
        self.redis.restart()

    def restart_proxy(self):
        """As after a crash: nobody is told anything."""
        self.heatsink.kill()
        self._start_proxy()

    def hits(self):
        """What clients were served without the server."""
        url = f"http://127.0.0.1:{self.admin_port}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
            text = answer.read().decode()
        return int(sum(map(float, re.findall(r"^heatsink_local_hits_total\S* (\S+)$", text, re.M))))

    def stop(self):
        """Whatever heatsink has to complain of fails the test; the server always ends."""
        try:
            alive = self.heatsink.alive()
            status = self.heatsink.end(signal.SIGTERM)
            output = self.heatsink.output()
            if not alive or status != 0 or "Sanitizer" in output:
                raise ClientsError(f"heatsink has ended with {status}: {output[-3000:]}")
        finally:
            self.redis.stop()


@contextlib.contextmanager
def running(*how, **more):
    servers = Servers(*how, **more)
    try:
        yield servers
    finally:
        servers.stop()
