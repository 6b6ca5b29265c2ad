# SPDX-License-Identifier: Apache-2.0
"""The library and a server that speaks TLS: copies where it is trusted, and why not where not."""

import shutil
import tempfile
import unittest

from harness import EAGER, PATIENCE_S, Redis, ValueClient, until
from harness.certificates import Authority
from harness.processes import Library, free_port


class LibraryTls(unittest.TestCase):
    def setUp(self):
        if shutil.which("openssl") is None:
            self.skipTest("needs openssl")
        folder = tempfile.TemporaryDirectory(prefix="heatsink-tls-")
        self.addCleanup(folder.cleanup)
        self.authority = Authority(folder.name)
        cert, key = self.authority.sign("server")
        port = free_port()
        server = Redis(*self.authority.server_options(port, cert, key))
        self.addCleanup(server.stop)
        self.server, self.url = server, f"rediss://127.0.0.1:{port}"

    def client_of(self, **options):
        library = Library(self.url, EAGER | options)
        self.addCleanup(library.stop)
        client = ValueClient(library.port)
        self.addCleanup(client.close)
        return library, client

    def test_copies_are_kept_true(self):
        _, client = self.client_of(**{"server.tls-ca": self.authority.cert})
        until(lambda: client("UP") == 1, PATIENCE_S, "the tracker is up")
        self.assertEqual(client("SET", "k", "1"), "OK")
        until(lambda: client("GET", "k") == b"1" and client("HITS") > 0, PATIENCE_S, "a hit")
        with ValueClient(self.server.port) as other:
            other("SET", "k", "2")
        until(lambda: client("GET", "k") == b"2", PATIENCE_S, "what another has written")

    def test_a_server_that_is_not_trusted(self):
        library, client = self.client_of()
        self.assertIn("is not signed by a trusted CA", str(client("GET", "k")))
        self.assertEqual(library.metric("heatsink_coherence_up"), 0)


if __name__ == "__main__":
    unittest.main()
