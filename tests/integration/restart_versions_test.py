# SPDX-License-Identifier: Apache-2.0
"""SIGUSR2 between programs of different versions, of which the test plays the other one."""

import os
import socket
import struct
import sys
import tempfile
import unittest
import unittest.mock

import handover_stage as play
from harness import PATIENCE_S, SLOW, Closed, RawClient, encode, need_programs, until
from harness.processes import HEATSINK, Process
from harness.sentinels import Replicated
from restart_stage import Restarts


class AnOlderSuccessor(Restarts):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="heatsink-test-"))
        self.path, self.log = f"{self.folder}/heatsink", f"{self.folder}/log"
        os.symlink(os.path.abspath(HEATSINK), self.path)
        self.enterContext(unittest.mock.patch("harness.processes.HEATSINK", self.path))
        super().setUp()

    def test_it_gets_what_it_understands(self):
        client = self.client()
        client.ask("PING")
        os.unlink(self.path)
        with open(self.path, "x", encoding="utf-8") as program:
            program.write(
                f"#!{sys.executable}\nimport sys\nsys.path[:0] = {sys.path}\n"
                f"import handover_stage\nhandover_stage.successor_of_version_1({self.log!r})\n"
            )
        os.chmod(self.path, 0o700)
        self.restart()
        with open(self.log, encoding="ascii") as log:
            kinds = [line.split() for line in log]
        self.assertEqual([line for line in kinds if line[0] == str(play.CLIENT)], [["6", "1"]])
        self.assertLessEqual(max(int(line[0]) for line in kinds), play.DONE)


class Predecessor(unittest.TestCase):
    """A proxy that takes over from the test, in front of a master with a replica."""

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.replicated = Replicated(1)
        cls.addClassCleanup(cls.replicated.stop)

    def begin(self, version):
        """Until the proxy accepts."""
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        listen = f"127.0.0.1:{listener.getsockname()[1]}"
        ports = [each.port for each in self.replicated.servers]
        url = "redis+replicas://" + ",".join(f"127.0.0.1:{port}" for port in ports)
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(here.close)
        here.settimeout(PATIENCE_S * SLOW)
        self.process = Process(
            [HEATSINK, "proxy", "--listen", listen, "--upstream", url, "--admin", "127.0.0.1:0"],
            environment={play.VARIABLE: str(there.fileno())},
            inherited=(there.fileno(),),
        )
        self.addCleanup(self.process.kill)
        there.close()
        self.end = play.End(here)
        self.expect(play.HELLO, play.hello(1))  # from any version
        self.end.send(play.OFFER, play.offer(listen, url), [listener.fileno()])
        if version == 2:
            self.end.send(play.KEYS, play.NO_KEYS)
        self.end.send(play.KEYS, play.LAST_KEYS)
        if version == 2:
            self.expect(play.HELLO, play.hello(5))  # its own version
        self.expect(play.READY)
        self.end.send(play.GO, struct.pack("<Q", 5))

    def expect(self, kind, body=b""):
        got = self.end.receive()
        self.assertEqual(got, (kind, body, []), self.process.output())

    def client(self):
        """Both ends of a connection: the client, and the socket that a proxy has of it."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = RawClient(listener.getsockname()[1])
            self.addCleanup(client.close)
            return client, self.enterContext(listener.accept()[0])

    def moves(self, version):
        """A client with nothing, and one with a connection to the replica instead of the master."""
        self.begin(version)
        plain, given = self.client()
        self.end.send(play.CLIENT, play.client(9, version, False), [given.fileno()])
        self.expect(play.TAKEN, struct.pack("<Q", 9))
        self.assertEqual(plain.ask("PING"), b"+PONG\r\n")
        lost, given = self.client()
        replica = ("127.0.0.1", self.replicated.servers[1].port)
        with socket.create_connection(replica) as private:
            descriptors = [given.fileno(), private.fileno()]
            self.end.send(play.CLIENT, play.client(10, version, True), descriptors)
        lost.send("PING")
        return lost, given

    def took_one(self):
        self.end.send(play.DONE)
        until(lambda: "took over 1 connected clients" in self.process.output(), what="its number")

    def test_one_of_version_1_is_told_that_it_has_none_any_more(self):
        lost, given = self.moves(1)
        self.expect(play.TAKEN, struct.pack("<Q", 10))
        given.close()
        with self.assertRaises(Closed):
            lost.read()
        self.took_one()

    def test_one_of_version_2_gets_the_client_back_as_it_was(self):
        lost, given = self.moves(2)
        self.expect(play.REFUSED, struct.pack("<Q", 10))
        self.assertEqual(given.recv(100), encode("PING"))
        given.sendall(b"+mine\r\n")
        self.assertEqual(lost.read(), b"+mine\r\n")
        self.took_one()


if __name__ == "__main__":
    unittest.main()
