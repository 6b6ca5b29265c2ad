# SPDX-License-Identifier: Apache-2.0
"""A cluster behind proxies that spread its keys, and a judge of how old what is read from it is."""

import threading
import time

from cluster_stage import WITHOUT_COPIES, ClusterTest
from harness import ERRORS_WHEN_DOWN, SLOW, Proxy, ValueClient, until

TTL_S = 1.0  # of the copies
COPIES = 6
PARTS = 8
RULES = (
    f"match=hot*,level=off,spread.copies={COPIES},spread.ttl={int(TTL_S * 1000)}ms",
    f"match=count*,level=off,spread.parts={PARTS}",
)
# What two threads of a busy machine need to take their turns.
MACHINE_S = 0.25 * SLOW


class SpreadTest(ClusterTest):
    NODE_OPTIONS = ("--cluster-require-full-coverage", "no")

    def setUp(self):
        self.a = self.open_spread()
        for node in self.cluster.masters:
            node("FLUSHALL")

    def open_spread(self, upstream=None, rules=RULES):
        proxy = Proxy(upstream or self.cluster.url, WITHOUT_COPIES | ERRORS_WHEN_DOWN, rules)
        self.addCleanup(proxy.stop)
        return proxy

    def clients(self, proxy, count=1):
        """Their ids follow each other, so COPIES clients read all copies: the proxy has accepted
        each one before the next one connects. It has several threads that accept."""
        clients = []
        for _ in range(count):
            clients.append(self.keep(ValueClient(proxy.port)))
            self.assertEqual(clients[-1]("PING"), "PONG")
        return clients

    def names(self, part=b":hs:copy:"):
        """The names with this part, by node."""
        nodes = self.cluster.masters
        return [[name for name in node("KEYS", "*") if part in name] for node in nodes]

    def learn(self, key, proxy=None):
        """Clients of all copies, once the proxy knows where these are and each has a value."""
        clients = self.clients(proxy or self.a, 2 * COPIES)
        until(lambda: self.filled(clients, key), what="all copies have a value")
        return clients

    def filled(self, clients, key="hot"):
        for client in clients:
            client("GET", key)
        return self.copies_filled()

    def copies_filled(self):
        texts = [
            node("GET", name) or b""
            for node, names in zip(self.cluster.masters, self.names())
            for name in names
        ]
        return len(texts) == COPIES and all(text[:1] in (b"v", b"n") for text in texts)

    def reads(self, proxy=None):
        return (proxy or self.a).by_label("heatsink_spread_reads_total", "from")


class Writes:
    """When each value of a counter was acknowledged."""

    def __init__(self):
        self.acknowledged = {}
        self.lock = threading.Lock()

    def wrote(self, value):
        with self.lock:
            self.acknowledged[value] = time.monotonic()


class Ages:
    """Judges what was read of the counter: how long before it was asked for, a newer value was
    acknowledged."""

    def __init__(self, writes):
        self.writes = writes
        self.longest_s, self.reads, self.old = 0.0, 0, 0

    def read(self, asked, value):
        with self.writes.lock:
            self.reads += 1
            since = self.writes.acknowledged.get(value + 1)
            if since is not None and since < asked:
                self.old += 1
                self.longest_s = max(self.longest_s, asked - since)

    def __str__(self):
        return f"{self.reads}, {self.old} of them old, by at most {self.longest_s * 1000:.1f} ms"


class Turns:
    """Threads that repeat what they do until the end, and keep the errors."""

    def __init__(self, turns):
        self.errors = []
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(t,), daemon=True) for t in turns]

    def _run(self, turn):
        try:
            while not self.ended.is_set():
                turn()
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(repr(error))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
