# SPDX-License-Identifier: Apache-2.0
"""A proxy that tracks for its clients is handed over: they forget what they keep, and track on."""

import unittest

from harness import RawClient, until
from harness.near import Resp3Client, invalidate
from near_stage import ENDS_TRACKING, ended
from restart_stage import Restarts

INFO = ("CLIENT", "TRACKINGINFO")
YES = ("CLIENT", "CACHING", "YES")
MODES = ((), ("NOLOOP",), ("OPTIN",), ("OPTOUT",))


class NearRestarts(Restarts):
    OPTIONS = {**ENDS_TRACKING, "shutdown.drain": "20s"}

    def near(self, *mode):
        return self.keep(Resp3Client(self.proxy.port)).track(*mode)

    def keep_read(self, client, mode, name):
        """Until its reply is not taken back at once."""
        words = (YES, ("GET", name)) if "OPTIN" in mode else (("GET", name),)
        until(lambda: not ended(client.events(*words), [name]), what=f"{name} is kept")

    def test_they_are_told_and_track_on(self):
        clients = {mode: self.near(*mode) for mode in MODES}
        info = {mode: client.say(*INFO) for mode, client in clients.items()}
        for _ in range(2):
            for mode, client in clients.items():
                for name in "kj":
                    self.keep_read(client, mode, name)
            self.restart()
            for mode, client in clients.items():
                told = [client.next(), client.next()]
                self.assertCountEqual(told, [invalidate(b"k"), invalidate(b"j")], mode)
                self.assertEqual(client.say(*INFO), info[mode])
                self.keep_read(client, mode, "k")
            self.keep(RawClient(self.proxy.port)).ask("SET", "k", "new")
            for mode, client in clients.items():
                self.assertEqual(client.events(), [invalidate(b"k")], mode)

    def test_one_that_waits_in_a_command(self):
        client = self.near()
        client.keep("k")
        client.send("BLPOP", "queue", 0)
        until(self.blocked, what="BLPOP waits")
        self.restart()
        self.assertEqual(client.next(), invalidate(b"k"))
        self.server.ask("RPUSH", "queue", "element")
        self.assertEqual(client.next(), [b"queue", b"element"])
        client.keep("k")
        self.server.ask("SET", "k", "new")
        self.assertEqual(client.next(), invalidate(b"k"))

    def test_changes_meanwhile(self):
        """Whatever a client keeps when it has its first reply of the new process is current."""
        clients = [self.near() for _ in range(4)]
        for i in range(3):
            for client in clients:
                client.keep("k")
            self.begin_restart()
            self.server.ask("SET", "k", i)
            until(lambda i=i: len(self.started()) > i, what="a new process")
            words = f"hand-over: process {self.started()[-1]} serves the clients"
            until(lambda words=words: words in self.output(), what="the hand-over")
            self.pid = self.started()[-1]
            for client in clients:
                self.assertEqual(ended(client.events(), "k"), {"k"})
                self.assertEqual(client.keep("k"), [str(i).encode()])


if __name__ == "__main__":
    unittest.main()
