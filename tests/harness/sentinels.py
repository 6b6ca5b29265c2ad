# SPDX-License-Identifier: Apache-2.0
"""A master with replicas, Sentinels that watch it, and what a fail-over looks like from outside."""

import re
import tempfile
import threading
import time

from .client import RedisError, ValueClient
from .patience import PATIENCE_S, until
from .processes import Process, Redis, free_port
from .programs import SERVER

NAME = "mymaster"


def ask(port, *args):
    """One question on a connection of its own; None if the server is not there."""
    try:
        with ValueClient(port, timeout_s=2) as client:
            return client(*args)
    except OSError:
        return None


class Replicated:
    """A master and its replicas, in step with it; `options` are of each server."""

    def __init__(self, replicas=2, options=()):
        # A replica need not wait for a second one to sync.
        self.options = ("--repl-diskless-sync-delay", "0", *options)
        self.servers = [Redis(*self.options)]
        for _ in range(replicas):
            of = ("--replicaof", f"127.0.0.1 {self.servers[0].port}")
            self.servers.append(Redis(*self.options, *of))
        for replica in self.servers[1:]:
            self.wait_in_step(replica)

    def wait_in_step(self, replica):
        def is_in_step():
            return b"master_link_status:up" in (ask(replica.port, "INFO", "replication") or b"")

        until(is_in_step, PATIENCE_S, "a replica in step")

    @property
    def master(self):
        return self.servers[0]

    def others(self, than):
        return [each for each in self.servers if each is not than]

    def stop(self):
        for each in self.servers:
            each.stop()


class Sentinel:
    """One Sentinel of `master`; `lines` are added to its configuration."""

    def __init__(self, master, quorum=2, lines=()):
        self.folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.port = free_port()
        self.path = f"{self.folder.name}/sentinel.conf"
        with open(self.path, "w", encoding="ascii") as config:
            config.write(f"port {self.port}\nbind 127.0.0.1\ndir {self.folder.name}\n")
            config.write(f"sentinel monitor {NAME} 127.0.0.1 {master.port} {quorum}\n")
            config.write(f"sentinel down-after-milliseconds {NAME} 1000\n")
            config.write(f"sentinel failover-timeout {NAME} 10000\n")
            config.writelines(f"{line}\n" for line in lines)
        self.start()

    def start(self):
        self.process = Process([SERVER, self.path, "--sentinel"])
        until(lambda: "Sentinel ID" in self.process.output(), PATIENCE_S, "a Sentinel")

    def stop(self):
        self.process.kill()
        self.folder.cleanup()


class Sentinels:
    """`count` Sentinels that know each other and all servers of `replicated`."""

    def __init__(self, replicated, count=3, lines=(), password=None):
        self.password = password
        self.all = [
            Sentinel(replicated.master, quorum=count // 2 + 1, lines=lines) for _ in range(count)
        ]
        replicas = len(replicated.servers) - 1
        for each in self.all:
            until(lambda each=each: self.knows(each, count - 1, replicas), 60, "Sentinels have met")

    def ask(self, sentinel, *args):
        with ValueClient(sentinel.port) as client:
            if self.password:
                client("AUTH", self.password)
            return client(*args)

    def knows(self, sentinel, others, replicas):
        told = self.ask(sentinel, "SENTINEL", "MASTER", NAME)
        fields = dict(zip(told[::2], told[1::2]))
        return (
            int(fields[b"num-other-sentinels"]) == others and int(fields[b"num-slaves"]) == replicas
        )

    def named(self, sentinel):
        """The port of the master that it names."""
        return int(self.ask(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def fail_over_no_more(self):
        """A busy machine may keep the new master from its PONG for the time that holds it down."""
        for each in self.all:
            told = self.ask(each, "SENTINEL", "SET", NAME, "down-after-milliseconds", 600_000)
            assert told == "OK", told

    def url(self, login=""):
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.all)
        return f"redis+sentinel://{login}{hosts}/{NAME}"

    def stop(self):
        for each in self.all:
            each.stop()


class FirstWrite:
    """A context: finds out when one of `servers`, replicas now, accepts its first write."""

    def __init__(self, servers):
        self.servers, self.at, self.server = servers, None, None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.running = True

    def _run(self):
        while self.running and self.at is None:
            for server in self.servers:
                # On a connection of its own: Sentinels close those of a server that they promote.
                if ask(server.port, "SET", "first-write", server.port) == "OK":
                    self.at, self.server = time.monotonic(), server
                    break
            time.sleep(0.005)  # the pause of a poll: servers give no sign of a promotion

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()

    def wait(self):
        until(lambda: self.at is not None, PATIENCE_S, "a new master")
        return self.server


def calls_of(server, command):
    """How often `server` has executed it since its start."""
    told = ask(server.port, "INFO", "commandstats").decode()
    found = re.search(rf"cmdstat_{command}:calls=(\d+)", told)
    return int(found[1]) if found else 0


def is_error(reply):
    return isinstance(reply, RedisError)
