# SPDX-License-Identifier: Apache-2.0
"""A live capture of a real server with real clients: the counts are those that were sent."""

import os
import re
import subprocess
import unittest

from harness import PATIENCE_S, RawClient, private_network, until
from harness.patience import SLOW
from harness.processes import Process, Redis

PROBE = os.environ.get("HEATSINK_CAPTURE_PROBE", "build/dev/tests/capture/capture_probe")
LAST = "the-last-key"
EACH = 4_800  # a multiple of each pipeline: redis-benchmark sends whole ones
FORBIDDEN = private_network.enter() if __name__ == "__main__" else "not started by itself"


@unittest.skipIf(FORBIDDEN, FORBIDDEN)
class Live(unittest.TestCase):
    def setUp(self):
        self.server = Redis("--bind", "127.0.0.1", "::1")
        self.addCleanup(self.server.stop)

    def probe(self, interface, replies="all"):
        probe = Process([PROBE, interface, str(self.server.port), LAST, replies])
        self.addCleanup(probe.kill)
        until(lambda: probe.output() or not probe.alive(), PATIENCE_S, "the capture is open")
        self.assertEqual(probe.output(), "ready\n")
        return probe

    def client(self):
        client = RawClient(self.server.port)
        self.addCleanup(client.close)
        return client

    def counted(self, probe):
        """The rows of the probe by database and key, and all it printed."""
        self.client().ask("GET", LAST)
        until(lambda: not probe.alive(), PATIENCE_S, "the last key was seen")
        probe.reader.join()
        rows = re.findall(r"^key (\d+) (\S+) (\d+) (\d+) (\d+) (\d+) (\d+)$", probe.output(), re.M)
        numbers = {(int(row[0]), row[1]): tuple(map(int, row[2:])) for row in rows}
        return numbers, probe.output()

    def load(self, host, pipeline):
        command = ["redis-benchmark", "-h", host, "-p", str(self.server.port), "-q"]
        command += ["-n", str(EACH), "-c", "10", "-P", str(pipeline), "-d", "20", "-t", "set,get"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60 * SLOW)

    def test_every_command_of_a_load(self):
        probe = self.probe("lo")
        self.load("127.0.0.1", 1)
        self.load("127.0.0.1", 16)
        self.load("::1", 4)
        counts, output = self.counted(probe)
        reads = writes = 3 * EACH
        expected = (reads, writes, 0, reads + writes, 20 * reads)
        self.assertEqual(counts[0, "key:__rand_int__"], expected, output)
        self.assertIn(" gaps=0 dropped=0", output)
        self.assertNotIn("caveat", output)

    def test_of_a_fast_load_every_command_and_a_part_of_the_replies(self):
        """On both kinds of socket: that of one interface, and that of all."""
        for interface in ("lo", "any"):
            with self.subTest(interface):
                self.sample(self.probe(interface, "sampled"))

    def sample(self, probe):
        loads = 0

        def is_sampled():
            nonlocal loads
            self.load("127.0.0.1", 1)
            loads += 1
            return "sampled" in probe.output()

        until(is_sampled, PATIENCE_S, "replies are sampled")
        for _ in range(4):  # about a second: another part is watched
            is_sampled()
        counts, output = self.counted(probe)
        reads, writes, misses, answered, _ = counts[0, "key:__rand_int__"]
        self.assertEqual((reads, writes, misses), (loads * EACH, loads * EACH, 0), output)
        self.assertLess(answered, reads + writes)
        self.assertIn(" gaps=0 dropped=0", output)
        self.assertNotIn(" unwatched=0 ", output)
        self.assertIn(" parts=1\n", output)
        self.assertNotIn("caveat", output)

    def test_states_of_connections(self):
        probe = self.probe("any")
        client = self.client()
        client.ask("SET", "a", "12345")
        client.ask("GET", "a")
        client.ask("GET", "nothing")
        client.ask("SELECT", "3")
        client.ask("GET", "a")
        client.ask("HELLO", "3")
        client.ask("SET", "b", "x" * 300_000)
        client.ask("GET", "b")
        client.ask("MULTI")
        client.ask("INCR", "c")
        client.ask("EXEC")
        counts, output = self.counted(probe)
        self.assertEqual(counts[0, "a"], (1, 1, 0, 2, 5), output)
        self.assertEqual(counts[0, "nothing"], (1, 0, 1, 1, 0))
        self.assertEqual(counts[3, "a"], (1, 0, 1, 1, 0))
        self.assertEqual(counts[3, "b"], (1, 1, 0, 2, 300_000))
        self.assertEqual(counts[3, "c"], (0, 1, 0, 1, 0))

    def test_connections_older_than_the_capture(self):
        client = self.client()
        client.ask("SET", "a", "12345")
        probe = self.probe("lo")
        for _ in range(100):
            client.ask("GET", "a")
        counts, output = self.counted(probe)
        self.assertEqual(counts[0, "a"][0], 100, output)
        self.assertIn(" joined=1 ", output)

    def test_rights_are_given_up(self):
        probe = self.probe("lo")
        with open("/proc/self/uid_map", encoding="ascii") as uid_map:
            users = int(uid_map.read().split()[2])  # in a user namespace there is only root
        status = f"/proc/{probe.child.pid}/status"
        with open(status, encoding="ascii") as lines:
            fields = dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
        for which in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(fields[which], 16), 0, which)
        self.assertEqual(fields["NoNewPrivs"], "1")
        if users > 1 and os.geteuid() == 0 and "SUDO_UID" not in os.environ:
            self.assertEqual(fields["Uid"].split(), ["65534"] * 4)

    def test_an_interface_that_is_not_there(self):
        probe = Process([PROBE, "nosuch0", str(self.server.port), LAST, "all"])
        until(lambda: not probe.alive(), PATIENCE_S, "it gives up")
        probe.reader.join()
        self.assertIn("no interface 'nosuch0' on this machine", probe.output())
        probe.kill()


if __name__ == "__main__":
    unittest.main()
