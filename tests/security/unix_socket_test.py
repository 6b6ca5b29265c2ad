# SPDX-License-Identifier: Apache-2.0
"""Unix sockets on both sides of the proxy, and the life of the proxy's own socket file."""

import os
import signal
import stat
import unittest

from harness import ERRORS_WHEN_DOWN, Redis, until
from stage import HOT, Door, DoorTest, tcp, unix


class UnixSockets(DoorTest):
    def setUp(self):
        super().setUp()
        self.server = f"{self.folder}/redis.sock"
        self.path = f"{self.folder}/proxy.sock"
        self.redis = Redis("--unixsocket", self.server)
        self.addCleanup(self.redis.stop)
        self.upstream = f"unix://{self.server}?db=0"

    def test_both_sides_hits_and_every_kind_of_connection(self):
        door = self.open(self.upstream, **{"proxy.listen": f"unix:{self.path}"}, **HOT)
        client = self.keep(unix(self.path))
        self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
        self.served_locally(door, client, "k")
        self.assertEqual(client.ask("SET", "k", "w"), b"+OK\r\n")
        self.assertEqual(client.ask("GET", "k"), b"$1\r\nw\r\n")
        for args, reply in ((("MULTI",), b"+OK\r\n"), (("GET", "k"), b"+QUEUED\r\n")):
            self.assertEqual(client.ask(*args), reply)
        self.assertEqual(client.ask("EXEC"), b"*1\r\n$1\r\nw\r\n")

    def test_mode_of_the_file_and_its_end(self):
        options = {"proxy.listen": f"unix:{self.path}", "proxy.unix-mode": "660"}
        door = Door(self.upstream, **options)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o660)
        door.stop()
        self.assertFalse(os.path.exists(self.path))

    def test_file_of_a_killed_proxy_is_replaced_and_of_a_living_one_not(self):
        options = {"proxy.listen": f"unix:{self.path}"}
        killed = Door(self.upstream, **options)
        killed.process.end(signal.SIGKILL)
        self.assertTrue(os.path.exists(self.path))
        self.open(self.upstream, **options)
        self.assertIn("another program uses it", self.refusal(self.upstream, **options))
        self.assertEqual(self.keep(unix(self.path)).ask("PING"), b"+PONG\r\n")

    def test_a_server_that_goes_and_comes_back(self):
        door = self.open(self.upstream, **ERRORS_WHEN_DOWN)
        client = self.keep(tcp(door.port))
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        self.redis.process.kill()
        self.assertIn(b"unix:" + self.server.encode(), client.ask("GET", "k"))
        self.redis.restart()
        until(lambda: client.ask("GET", "k") == b"$-1\r\n", what="the server is back")

    def test_a_database_in_the_url_is_refused_as_for_tcp(self):
        self.assertIn("names a database", self.refusal(f"unix://{self.server}?db=1"))


if __name__ == "__main__":
    unittest.main()
