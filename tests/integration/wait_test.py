# SPDX-License-Identifier: Apache-2.0
"""WAIT and WAITAOF count the replicas (and files) that have all writes of the client.

Since Redis 7.2 a server waits for the last write on WAIT's own connection. The client's writes go
over connections that it shares with others.
"""

import signal
import unittest

from harness import PATIENCE_S, Proxy, RedisError, ValueClient, need_programs, until
from harness.sentinels import Replicated

OPTIONS = {"detection.enabled": "no", "doctor.enabled": "no"}


class WaitTest(unittest.TestCase):
    def setUp(self):
        need_programs()
        servers = Replicated(1)
        self.addCleanup(servers.stop)
        self.master, self.replica = servers.servers
        self.direct = self.keep(ValueClient(self.master.port))

    def keep(self, client):
        self.addCleanup(client.close)
        return client

    def client(self, login=""):
        proxy = Proxy(f"redis://{login}127.0.0.1:{self.master.port}", OPTIONS)
        self.addCleanup(proxy.stop)
        return self.keep(ValueClient(proxy.port))

    def test_a_replica_that_stands_still(self):
        client = self.client()
        self.assertEqual(client("WAIT", 1, 10_000), 1)
        self.assertEqual(client("SET", "a", 1), "OK")
        self.assertEqual(client("WAIT", 1, 10_000), 1)
        self.replica.process.freeze()
        self.addCleanup(self.replica.process.signal, signal.SIGCONT)
        self.assertEqual(client.pipeline([("SET", "a", 2), ("WAIT", 1, 200)]), ["OK", 0])
        self.assertEqual(client.pipeline([("INCR", "a"), ("WAIT", 1, 200)]), [3, 0])
        self.replica.process.signal(signal.SIGCONT)
        self.assertEqual(client("WAIT", 1, 10_000), 1)
        gone = lambda: self.direct("KEYS", "heatsink*") == []  # noqa: E731
        until(gone, what="the proxy's own key has ended")

    def test_the_file(self):
        client = self.client()
        if isinstance(client("WAITAOF", 0, 0, 1), RedisError):
            self.skipTest("the server has no WAITAOF")
        self.direct("CONFIG", "SET", "appendfsync", "no")
        self.direct("CONFIG", "SET", "appendonly", "yes")
        until(
            lambda: b"aof_rewrite_in_progress:0" in self.direct("INFO", "persistence"),
            PATIENCE_S, "the file is there",
        )  # fmt: skip
        self.assertEqual(client("SET", "a", 1), "OK")
        self.assertEqual(client("WAITAOF", 1, 0, 50)[0], 0)  # nothing syncs the file
        self.direct("CONFIG", "SET", "appendfsync", "always")
        self.assertEqual(client("SET", "a", 2), "OK")
        self.assertEqual(client("WAITAOF", 1, 0, 10_000)[0], 1)

    def test_without_the_right(self):
        """An error that says what is missing, and no number that is not true."""
        rules = ("on", ">secret", "~app:*", "+@all")
        self.assertEqual(self.direct("ACL", "SETUSER", "proxy", *rules), "OK")
        client = self.client("proxy:secret@")
        self.assertEqual(client("SET", "app:a", 1), "OK")
        got = client("WAIT", 1, 10_000)
        if isinstance(got, RedisError):
            self.assertRegex(got, "WAIT needs .*SET heatsink:wait.*NOPERM")
        else:
            self.assertEqual(got, 1)  # before Redis 7.2 nothing has to be written
        self.assertEqual(client("PING"), "PONG")


if __name__ == "__main__":
    unittest.main()
