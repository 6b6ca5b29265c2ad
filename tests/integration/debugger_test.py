# SPDX-License-Identifier: Apache-2.0
"""SCRIPT DEBUG is refused, and no script that was sent for the debugger runs."""

import unittest

from harness import encode
from stage import ProxyTest

SCRIPT = "return redis.call('set', KEYS[1], ARGV[1])"


class Debugger(ProxyTest):
    def test_a_script_behind_a_refusal_is_not_run(self):
        for mode in ("YES", "SYNC"):
            client = self.to_proxy()
            debug = encode("SCRIPT", "DEBUG", mode) + encode("EVAL", SCRIPT, 1, "k", "v")
            client.send_raw(encode("GET", "k") + debug)
            said = client.read_to_end()
            self.assertTrue(said.startswith(b"$-1\r\n-ERR heatsink: the script debugger"), said)
            self.assertEqual(said.count(b"\r\n"), 2, said)
            self.assertEqual(self.to_server().ask("EXISTS", "k"), b":0\r\n")

    def test_it_ends_a_transaction(self):
        client = self.to_proxy()
        self.assertEqual(client.ask("MULTI"), b"+OK\r\n")
        client.send("SCRIPT", "DEBUG", "YES")
        client.send("EXEC")
        self.assertTrue(client.read_to_end().startswith(b"-ERR heatsink: the script debugger"))

    def test_no_debugger_is_as_before(self):
        client = self.to_proxy()
        self.assertEqual(client.ask("SCRIPT", "DEBUG", "NO"), b"+OK\r\n")
        self.assertEqual(client.ask("EVAL", "return KEYS[1]", 1, "k"), b"$1\r\nk\r\n")


if __name__ == "__main__":
    unittest.main()
