# SPDX-License-Identifier: Apache-2.0
"""Replication mode, MONITOR and the time before the login: the proxy answers as the server does."""

import unittest

from harness import RawClient, encode, until
from stage import ProxyTest


class Replication(ProxyTest):
    """What a server ignores, or ends, behind SYNC and MONITOR."""

    def stream(self, command):
        """A client whose connection has become a stream; and the server's, after its start."""
        for port in (self.redis.port, self.proxy.port):
            client = RawClient(port)
            self.addCleanup(client.close)
            client.send_raw(command)
            client.receive()
            yield client

    def test_a_second_sync_is_ignored(self):
        commands = (encode("SYNC"), encode("PSYNC", "?", "-1"))
        for begins in commands:
            for client in self.stream(begins):
                for repeated in (*commands, encode("MONITOR")):
                    client.send_raw(repeated)
                # The server closes the connection, because PING has a reply.
                client.send_raw(encode("PING"))
                self.assertNotIn(b"-ERR", client.read_to_end())

    def test_a_write_ends_the_stream_without_a_word(self):
        for client in self.stream(encode("SYNC")):
            client.send_raw(encode("SET", "in-the-stream", "x"))
            self.assertNotIn(b"-ERR", client.read_to_end())

    def test_monitor_ignores_the_same(self):
        for client in self.stream(encode("MONITOR")):
            for ignored in (["SYNC"], ["PSYNC", "?", "-1"], ["MONITOR"], ["ECHO", "the-end"]):
                client.send(*ignored)
            until(lambda: b"$7\r\nthe-end\r\n" in self.more(client), what="the end")
            self.assertNotIn(b"-ERR", bytes(client.data))
            self.assertNotIn(b"REDIS0010", bytes(client.data))

    @staticmethod
    def more(client):
        client.receive()
        return bytes(client.data)


class BeforeTheLogin(ProxyTest):
    """The server checks the form of a command before the login. The proxy has no password."""

    SERVER_OPTIONS = ("--requirepass", "pw")
    PROXY_OPTIONS = {"detection.enabled": "no", "doctor.enabled": "no"}

    def test_the_same_refusals(self):
        for words in (
            ["AUTH", "a", "b", "c"], ["AUTH", "a", "b", "c", "d"], ["AUTH"], ["CLIENT", "NOTHING"],
            ["CLIENT", "NOTHING", "more"], ["CLIENT"], ["CONFIG", "NOTHING"], ["XGROUP", "NOTHING"],
            ["COMMAND", "NOTHING"], ["COMMAND"], ["NOTHING"], ["GET"], ["GET", "a"],
        ):  # fmt: skip
            self.assertEqual(self.to_proxy().ask(*words), self.to_server().ask(*words), words)

    def test_and_after_it(self):
        direct, proxied = self.to_server(), self.to_proxy()
        for words in (["AUTH", "a", "b", "c"], ["AUTH", "pw"], ["AUTH", "a", "b", "c"],
                      ["CLIENT", "NOTHING"], ["PING"]):  # fmt: skip
            self.assertEqual(proxied.ask(*words), direct.ask(*words), words)


if __name__ == "__main__":
    unittest.main()
