# SPDX-License-Identifier: Apache-2.0
"""A server that is busy with one command: clients that need a new connection to it wait."""

import unittest

from harness import until
from stage import ProxyTest

BUSY_S = 1.5
LOOP = "while true do end"


class Busy(ProxyTest):
    """The server is busy for many times the connect time-out, and every connection is a new one."""

    PROXY_OPTIONS = {
        "upstream.connect-timeout": "100ms",
        "proxy.idle-private-connections": 0,
    }

    def test_new_connections_wait_for_it(self):
        commands = {
            "SUBSCRIBE": ["SUBSCRIBE", "c"],
            "BLPOP": ["BLPOP", "nothing", "0.01"],
            "WATCH": ["WATCH", "k"],
            "MULTI": ["MULTI"],
            "EVAL": ["EVAL", "return 1", 0],
            "CLIENT TRACKING": ["CLIENT", "TRACKING", "OFF"],
            "FUNCTION STATS": ["FUNCTION", "STATS"],
            "RESP3": ["HELLO", 3],
        }
        direct = {name: self.to_server().ask(*command) for name, command in commands.items()}
        clients = {name: self.to_proxy() for name in commands}
        busy = self.to_server()
        busy.send("DEBUG", "SLEEP", BUSY_S)
        for name, client in clients.items():
            client.send(*commands[name])
        for name, client in clients.items():
            with self.subTest(name):
                if name == "RESP3":  # the id of the connection is in it
                    self.assertTrue(client.read().startswith(b"%"))
                else:
                    self.assertEqual(client.read(), direct[name])
        self.assertEqual(busy.read(), b"+OK\r\n")


class BusyWithAScript(ProxyTest):
    """A script that nothing but SCRIPT KILL ends, from before the server says BUSY."""

    SERVER_OPTIONS = ("--lua-time-limit", "1500")
    PROXY_OPTIONS = {
        "upstream.connect-timeout": "100ms",
        "proxy.maximum-private-connections": 2,
        "proxy.idle-private-connections": 0,
    }

    def test_it_can_be_killed_though_all_connections_are_in_use(self):
        for _ in range(2):
            self.assertEqual(self.to_proxy().ask("WATCH", "k"), b"+OK\r\n")
        script, killer = self.to_server(), self.to_proxy()
        script.send("EVAL", LOOP, 0)
        until(lambda: killer.ask("SCRIPT", "KILL") == b"+OK\r\n", what="the script is killed")
        self.assertIn(b"ERR", script.read()[:5])


if __name__ == "__main__":
    unittest.main()
