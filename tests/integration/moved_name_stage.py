# SPDX-License-Identifier: Apache-2.0
"""Two servers behind a name of the test's own, which leads to one and then to the other."""

import shutil
import socket
import subprocess
import tempfile
import unittest

from failover_stage import FailoverTest
from harness import PATIENCE_S, RawClient, Redis, ValueClient, until
from harness.sentinels import ask


class MovedNameTest(FailoverTest):
    """A name gets another address, as managed services do; both servers say that they are masters.

    `under` runs what is tested in a mount namespace with an /etc/hosts of its own.
    """

    NAME, OLD, NEW = "redis.test", "127.0.0.2", "127.0.0.3"

    def setUp(self):
        self.hosts = tempfile.NamedTemporaryFile("w", encoding="ascii")
        self.addCleanup(self.hosts.close)
        self.point_to(self.OLD)
        self.under = self.private_hosts()
        self.old = Redis("--bind", self.OLD, "127.0.0.1")
        self.addCleanup(self.old.stop)
        self.new = Redis("--port", str(self.old.port), "--bind", self.NEW)
        self.addCleanup(self.new.stop)

    def point_to(self, address):
        self.hosts.seek(0)
        self.hosts.write(f"{address} {self.NAME}\n")
        self.hosts.flush()

    def private_hosts(self):
        """The command that runs a program with them."""
        script = 'mount --bind "$0" /etc/hosts && exec "$@"'
        for flags in (["-m"], ["-r", "-m"]):
            command = ["unshare", *flags, "sh", "-c", script, self.hosts.name]
            asked = [*command, "getent", "hosts", self.NAME]
            if shutil.which("unshare") and self.OLD in self.output_of(asked):
                return command
        raise unittest.SkipTest("no mount namespace with an /etc/hosts of its own")

    def output_of(self, command):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def at_new(self, *args):
        address = (self.NEW, self.old.port)
        with RawClient(connected=socket.create_connection(address)) as client:
            return client.ask(*args)

    def is_left(self):
        """The old server has no connection of heatsink's any more."""
        return not [name for name in self.names_at(self.old) if name.startswith("heatsink")]

    def expect_it_goes_along(self, follower):
        """A proxy or a library, whose name leads to the new server from now on."""
        self.at_new("SET", "k", "new")
        self.make_hot(follower)
        self.point_to(self.NEW)
        with ValueClient(follower.port) as client:
            until(lambda: client("GET", "k") == b"new", PATIENCE_S, "the new server")
            self.assertEqual(client("SET", "k", "later"), "OK")
            self.assertEqual(client("GET", "k"), b"later")
        self.assertEqual(self.at_new("GET", "k"), b"$5\r\nlater\r\n")
        self.assertEqual(ask(self.old.port, "GET", "k"), b"old")
        until(self.is_left, PATIENCE_S, "the old server is left")
