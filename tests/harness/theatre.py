# SPDX-License-Identifier: Apache-2.0
"""A server and proxies before it, where a load is recorded while something breaks."""

import os
import random
import tempfile

from .client import ValueClient
from .patience import PATIENCE_S, until
from .processes import EAGER, LOG, Library, Proxy, Redis
from .recording import Recording
from .relay import Relay


class Theatre:
    """A context: everything ends with it.

    `push_delay_s`: a relay stands between proxies and server, and pushes are so late. `calls`: of
    a client of the server, before the proxies start. `host`: what proxies know the server by.
    `tear_s`: the relay tears each fill in two. `library`: programs that link the library stand
    where proxies would, with these flags. `rules`: of the proxies. `dice`: for faults that choose.
    """

    def __init__(self, proxies=1, server_args=(), push_delay_s=None, calls=(), options=None,
                 host="127.0.0.1", preload=None, tear_s=0.0,
                 library=None, rules=()):  # fmt: skip
        self.wanted, self.server_args, self.host, self.preload = proxies, server_args, host, preload
        self.push_delay_s, self.tear_s, self.calls = push_delay_s, tear_s, calls
        self.dice = random.Random(1)
        self.options = EAGER | (options or {})
        self.library, self.rules = library, rules
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
                self.relay = Relay(port, self.push_delay_s, self.tear_s)
                port = self.relay.port
            for _ in range(self.wanted):
                upstream = f"redis://{self.host}:{port}"
                self.proxies.append(self._program(upstream))
            self.wait_coherent()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _program(self, upstream):
        if self.library is not None:
            return Library(upstream, self.options, self.library, stderr=LOG)
        return Proxy(upstream, self.options, stderr=LOG, preload=self.preload, rules=self.rules)

    def __exit__(self, *_):
        for proxy in self.proxies:
            proxy.process.kill()
        if self.relay is not None:
            self.relay.close()
        self.server.stop()
        self.folder.cleanup()

    def wait_coherent(self):
        for proxy in self.proxies:
            until(lambda: proxy.metric("heatsink_coherence_up") == 1, PATIENCE_S, "coherent")

    def stop_proxies(self):
        """As an operator does; fails if one has something to say."""
        while self.proxies:
            self.proxies.pop().stop()

    def hits(self):
        return sum(proxy.hits() for proxy in self.proxies)

    def ask(self, *args):
        """The server itself."""
        with ValueClient(self.server.port) as client:
            return client(*args)

    def record(self, sessions, past=None, **how):
        """A Recording. `past`: the port of what is written past proxies; by default the server."""
        targets = [past or self.server.port] + [proxy.port for proxy in self.proxies]
        path = os.path.join(self.folder.name, "history")
        return Recording(path, targets, sessions, list(self.proxies), **how)
