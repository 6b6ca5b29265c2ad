# SPDX-License-Identifier: Apache-2.0
"""A proxy that reads hot keys from replicas: servers, a writer, readers, links held back."""

import threading
import time
import unittest

from harness import (
    EAGER, LOG, PATIENCE_S, Proxy, Redis, ValueClient, need_programs, until,
)  # fmt: skip
from harness.relay import Relay
from harness.sentinels import Replicated, ask, calls_of, is_error

LAG_S = 1.0
RULE = "match=k*,level=off,reads=replicas,replica-lag=1s"
# The checks of the doctor would read, too.
OPTIONS = {name: value for name, value in EAGER.items() if name != "cache.admission"} | {
    "doctor.enabled": "no"
}


class Stall(Relay):
    """Between a replica and its master: what the master says can be held back, link and all."""

    def __init__(self, port):
        self.flows = threading.Event()
        self.flows.set()
        super().__init__(port)

    def filter(self):
        def wait(piece):
            self.flows.wait()
            return piece

        return wait

    def close(self):
        self.flows.set()
        super().close()


class Writer:
    """A context: writes rising numbers to `key` at the master, and keeps when each was done."""

    def __init__(self, port, key="k"):
        self.port, self.key, self.running = port, key, True
        self.done = []  # the time at which the number that is its index was confirmed
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        with ValueClient(self.port) as client:
            while self.running:
                assert client("SET", self.key, len(self.done)) == "OK"
                self.done.append(time.monotonic())
                time.sleep(0.002)  # its pace: the relay's buffers must hold what is kept back

    def __enter__(self):
        self.thread.start()
        until(lambda: self.done, PATIENCE_S, "the first write")
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()

    def age_s(self, value, asked):
        """How long before `asked` the write after `value` had been confirmed: 0 if it was not."""
        after = int(value) + 1
        return max(0.0, asked - self.done[after]) if after < len(self.done) else 0.0


class Readers:
    """A context: clients that read `key` all the time; `ages` are those of the values, by time."""

    def __init__(self, port, writer, count=3):
        self.port, self.writer, self.running = port, writer, True
        self.told, self.errors = [], []  # (when it was asked, when answered, the value)
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]

    def _run(self):
        with ValueClient(self.port) as client:
            while self.running:
                asked = time.monotonic()
                value = client("GET", self.writer.key)
                if is_error(value) or value is None:
                    self.errors.append(value)
                else:
                    self.told.append((asked, time.monotonic(), value))
                time.sleep(0.001)  # its pace, as of a client

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        for thread in self.threads:
            thread.join()

    def oldest_s(self):
        return max(self.writer.age_s(value, asked) for asked, _, value in self.told)

    def slowest_s(self):
        return max(answered - asked for asked, answered, _ in self.told)


class ReplicaReadsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def replicated(self, replicas=2, options=()):
        made = Replicated(replicas, options)
        self.addCleanup(made.stop)
        return made

    def link_is_up(self, replica):
        return b"master_link_status:up" in (ask(replica.port, "INFO", "replication") or b"")

    def relayed(self):
        """A master, and two replicas that follow it through relays."""
        self.master = Redis("--repl-diskless-sync-delay", "0")
        self.addCleanup(self.master.stop)
        self.relays, self.replicas = [], []
        for _ in range(2):
            relay = Stall(self.master.port)
            self.addCleanup(relay.close)
            replica = Redis("--replicaof", f"127.0.0.1 {relay.port}")
            self.addCleanup(replica.stop)
            self.relays.append(relay)
            self.replicas.append(replica)
        for replica in self.replicas:
            until(lambda r=replica: self.link_is_up(r), PATIENCE_S, "the replica follows")

    def proxy_for(self, upstream, rule=RULE, options=None):
        proxy = Proxy(upstream, OPTIONS | (options or {}), [rule], stderr=LOG)
        self.addCleanup(proxy.stop)
        return proxy

    def client_of(self, port):
        client = ValueClient(port)
        self.addCleanup(client.close)
        return client

    def until_read_from(self, client, servers, key="k", command=("GET",)):
        """Reads until each of `servers` has answered once more than before."""
        name = command[0].lower()
        before = {server.port: calls_of(server, name) for server in servers}

        def all_have():
            for _ in range(20):
                client(command[0], key, *command[1:])
            return all(calls_of(s, name) > before[s.port] for s in servers)

        until(all_have, PATIENCE_S, "reads from each server")

    def fallbacks(self, proxy):
        return proxy.by_label("heatsink_replica_fallbacks_total", "reason")
