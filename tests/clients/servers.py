# SPDX-License-Identifier: Apache-2.0
"""A redis-server of our own, and heatsink in front of it, on free ports of the loopback."""

import contextlib
import re
import signal
import threading
import urllib.request

from harness import PATIENCE_S, SLOW, Redis, until
from harness.processes import Process, free_port
from harness.certificates import Authority

# So that a test's few reads make a key hot.
DETECTION = {"detection.hot-qps": 5, "detection.write-hot-ratio": 0}
AWAY_S = 0.3  # and the server's start
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
USERS = ("--requirepass", "secret", "--user", "app", "on", ">app-secret", "~*", "&*", "+@all")


class ClientsError(Exception):
    """A sentence for a person."""


class OneProxy:
    def __init__(self, heatsink, upstream, port, options):
        self.admin_port = free_port()
        self.command = [heatsink, "proxy", "--listen", f"127.0.0.1:{port}",
                        "--admin", f"127.0.0.1:{self.admin_port}", "--upstream", upstream]
        for name, value in options.items():
            self.command += ["--set", f"{name}={value}"]
        self.process = None

    def start(self):
        self.process = Process([str(word) for word in self.command])
        decided = lambda: not self.process.alive() or "is ready" in self.process.output()
        until(decided, PATIENCE_S, "heatsink proxy ready")
        if not self.process.alive():
            raise ClientsError(f"heatsink does not start: {self.process.output()}")

    def metric(self, name):
        url = f"http://127.0.0.1:{self.admin_port}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
            text = answer.read().decode()
        return int(sum(map(float, re.findall(rf"^{name}\S* (\S+)$", text, re.M))))

    def stop(self):
        """Whatever heatsink has to complain of fails the test."""
        alive = self.process.alive()
        status = self.process.end(signal.SIGTERM)
        output = self.process.output()
        if not alive or status != 0 or "Sanitizer" in output:
            raise ClientsError(f"heatsink has ended with {status}: {output[-3000:]}")


class Servers:
    """`nodes`: so many proxies look like a cluster; 0: one looks like a server.

    `more`: options of the proxies.
    """

    def __init__(self, heatsink, folder, tls=False, password=True, nodes=0, is_durable=False,
                 more=()):  # fmt: skip
        ports = [free_port() for _ in range(max(1, nodes))]
        self.port, self.is_cluster = ports[0], nodes > 0
        options = {"proxy.workers": 2, **DETECTION, **dict(more)}
        self.authority = None
        if tls:
            authority = Authority(folder)
            options["proxy.tls-cert"], options["proxy.tls-key"] = authority.sign("proxy")
            self.authority = authority.cert
        if nodes:
            options["proxy.present-as"] = "cluster"
        if nodes > 1:
            all_of_them = ",".join(f"127.0.0.1:{port}" for port in ports)
            options["proxy.announce-addresses"] = all_of_them
        self.redis = Redis(*(USERS if password else ()), *(DURABLE if is_durable else ()))
        credentials = ":secret@" if password else ""
        upstream = f"redis://{credentials}127.0.0.1:{self.redis.port}"
        self.proxies = []
        self.outage = None
        try:
            for port in ports:
                own = {"proxy.announce-address": f"127.0.0.1:{port}"} if nodes > 1 else {}
                proxy = OneProxy(heatsink, upstream, port, options | own)
                proxy.start()
                self.proxies.append(proxy)
        except (AssertionError, ClientsError):
            self.redis.stop()
            raise

    def restart_server(self):
        self.redis.process.end(signal.SIGTERM)
        self.redis.restart()

    def kill_server(self):
        """The proxies have noticed it then."""
        self.end_outage()
        self.redis.process.kill()
        until(lambda: self.sum_of("heatsink_upstream_up") == 0, PATIENCE_S, "the loss is seen")

    def lose_server(self):
        """It is back within a second."""
        self.kill_server()
        self.outage = threading.Timer(AWAY_S, self.redis.restart)
        self.outage.start()

    def end_outage(self):
        if self.outage is not None:
            self.outage.join()

    def restart_proxy(self):
        """As after a crash: nobody is told anything."""
        for proxy in self.proxies:
            proxy.process.kill()
            proxy.start()

    def hits(self):
        """What clients were served without the server."""
        return self.sum_of("heatsink_local_hits_total")

    def sum_of(self, metric):
        return sum(proxy.metric(metric) for proxy in self.proxies)

    def idle_proxies(self):
        """Those of a cluster that got no command with a key."""
        return sum(proxy.metric("heatsink_accesses_total") == 0 for proxy in self.proxies
                   if self.is_cluster)

    def stop(self):
        """The server always ends."""
        self.end_outage()
        try:
            for proxy in self.proxies:
                proxy.stop()
        finally:
            self.redis.stop()


@contextlib.contextmanager
def running(*how, **more):
    servers = Servers(*how, **more)
    try:
        yield servers
    finally:
        servers.stop()
