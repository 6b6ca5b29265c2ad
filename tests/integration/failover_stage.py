# SPDX-License-Identifier: Apache-2.0
"""Clients behind a proxy whose master changes: when they write again, and what they read."""

import itertools
import threading
import time
import unittest

from harness import EAGER, LOG, PATIENCE_S, SLOW, Closed, Proxy, ValueClient, need_programs, until
from harness.sentinels import ask, calls_of, is_error

STALENESS_S = 1.0  # cache.max-staleness
BACK_WITHIN_S = 2.0  # of the new master's first write

# The doctor and the audit would read from the old master on connections of their own.
OPTIONS = EAGER | {"audit.sample-rate": "0%", "doctor.enabled": "no", "upstream.backoff-max": "1s"}


class Reader:
    """A context: reads `key` through the proxy all the time, and keeps what it was told."""

    def __init__(self, port, key="k"):
        self.port, self.key, self.running = port, key, True
        self.told = []  # (when it was asked, the value)
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        client = None
        while self.running:
            asked = time.monotonic()
            try:
                client = client or ValueClient(self.port)
                value = client("GET", self.key)
            except (Closed, OSError):
                client = None
                continue
            if is_error(value):
                time.sleep(0.001)  # its pause after an error, as clients have one
            else:
                self.told.append((asked, value))
        if client:
            client.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()


class FailoverTest(unittest.TestCase):
    """`start()` makes the stage; `self.replicated` has the servers."""

    @classmethod
    def setUpClass(cls):
        need_programs()

    def proxy_for(self, url, options=None, **how):
        proxy = Proxy(url, OPTIONS | (options or {}), **{"stderr": LOG, **how})
        self.addCleanup(proxy.stop)
        return proxy

    def upstream_of(self, proxy):
        """The port of the server that the proxy says it uses."""
        (server,) = proxy.by_label("heatsink_upstream_info", "server")
        return int(server.rsplit(":", 1)[1])

    def make_hot(self, proxy, key="k", value="old"):
        """The key has a copy that answers."""
        with ValueClient(proxy.port) as client:
            until(lambda: client("SET", key, value) == "OK", PATIENCE_S, "the first write")
            before = proxy.hits()

            def hit():
                return client("GET", key) == value.encode() and proxy.hits() > before

            until(hit, PATIENCE_S, "a hit")

    def back_after(self, proxy, first):
        """Writes through the proxy until one reaches the new master: how long after `first`."""
        numbers = itertools.count()
        client = None
        while True:
            asked = time.monotonic()
            self.assertLess(asked, first.at + PATIENCE_S * SLOW, "never back")
            value = str(next(numbers))
            try:
                client = client or ValueClient(proxy.port, timeout_s=PATIENCE_S)
                done = client("SET", "probe", value)
            except (Closed, OSError):
                client = None
                continue
            if done == "OK" and ask(first.server.port, "GET", "probe") == value.encode():
                client.close()
                return time.monotonic() - first.at
            time.sleep(0.002)  # its pause after an error, as clients have one

    def expect_back(self, proxy, first):
        took = self.back_after(proxy, first)
        print(f"{self.id().rsplit('.', 1)[1]}: back {took:.2f} s after the first write")
        self.assertLess(took, BACK_WITHIN_S * SLOW)
        self.assertEqual(self.upstream_of(proxy), first.server.port)

    def expect_hits(self, proxy):
        """The proxy serves copies again, of a key that no client writes."""
        before = proxy.hits()

        def hit():
            with ValueClient(proxy.port) as client:
                return not is_error(client("GET", "quiet")) and proxy.hits() > before

        until(hit, 3 * PATIENCE_S, "a hit")

    def write_on(self, proxy, server, reader, for_s=2.0):
        """Writes past the proxy; no read may be older than max-staleness, or of the old master."""
        written = []  # (when it was confirmed, the number)
        with ValueClient(server.port) as client:
            end = time.monotonic() + for_s
            for number in itertools.count():
                self.assertEqual(client("SET", "k", f"new-{number}"), "OK")
                written.append((time.monotonic(), number))
                if time.monotonic() > end:
                    break
                time.sleep(0.01)  # paces the load
        last = written[-1][1]
        until(lambda: reader.told[-1][1] == f"new-{last}".encode(), PATIENCE_S, "the last value")
        began = written[0][0]
        position = 0
        for asked, value in reader.told:
            if asked < began + STALENESS_S:
                continue
            self.assertTrue(value.startswith(b"new-"), f"{value} {asked - began:.3f} s later")
            while position + 1 < len(written) and written[position + 1][0] < asked - STALENESS_S:
                position += 1
            self.assertGreaterEqual(int(value[4:]), written[position][1])

    def expect_quiet(self, server, for_s=1.0):
        """Nothing of the proxy's reads or writes there."""
        before = [calls_of(server, each) for each in ("get", "set", "getrange", "exists")]
        time.sleep(for_s)  # only time shows that nothing comes
        after = [calls_of(server, each) for each in ("get", "set", "getrange", "exists")]
        self.assertEqual(before, after)

    def names_at(self, server):
        """The names of the connections there."""
        told = ask(server.port, "CLIENT", "LIST").decode()
        return [
            word[5:] for line in told.splitlines() for word in line.split() if word[:5] == "name="
        ]

    def expect_only_watched(self, server):
        def only_watched():
            names = {each for each in self.names_at(server) if each.startswith("heatsink")}
            return names <= {"heatsink-watch"}

        until(only_watched, PATIENCE_S, "no connection but the watch's")
