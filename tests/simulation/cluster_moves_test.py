# SPDX-License-Identifier: Apache-2.0
"""What real servers answer while slots move is what cluster_moves.txt says, and the model answers.

With HEATSINK_WRITE_MOVES=1 it writes the file anew.
"""

import os
import pathlib
import time
import unittest

from harness import PATIENCE_S
from harness.client import RawClient
from harness.cluster import Cluster

FILE = pathlib.Path(__file__).with_name("cluster_moves.txt")
NAMES = "ABC"


class Stage:
    """The connections by the names of the script."""

    def __init__(self, cluster):
        self.nodes = dict(zip(NAMES, cluster.masters))
        self.clients = {name: RawClient(node.port) for name, node in self.nodes.items()}
        for name, node in self.nodes.items():
            self.clients["t" + name] = RawClient(node.port, resp=3)
            self.clients["t" + name].ask("CLIENT", "TRACKING", "ON")

    def words(self, text):
        for word in text.split():
            if word.startswith("host:"):
                yield from ("127.0.0.1", self.nodes[word[5:]].port)
            else:
                yield self.nodes[word].name if word in self.nodes else word

    def text(self, reply):
        lines = reply.decode().split("\r\n")[:-1]
        shown = ["nil" if line in ("$-1", "_") else line for line in lines
                 if line in ("$-1", "_") or line[:1] not in "$*>"]  # fmt: skip
        text = " ".join(shown) or "(empty)"
        for name, node in self.nodes.items():
            text = text.replace(f"127.0.0.1:{node.port}", name)
        return text

    def ask(self, who, command):
        """The reply, and what each tracker has been told before it."""
        client, told = self.clients[who], []
        client.send(*self.words(command))
        while (reply := client.read()).startswith(b">"):
            told.append(f"  {who}: {self.text(reply)}")
        for name, tracker in self.clients.items():
            if name[0] == "t":
                tracker.send("PING")
                while (push := tracker.read()) != b"+PONG\r\n":
                    told.append(f"  {name}: {self.text(push)}")
        return "  " + self.text(reply), told


def play(stage, lines):
    expected = [line for line in lines if line.startswith("  ")]
    out, done = [], 0
    for line in lines:
        if line.startswith("  "):
            done += 1
            continue
        out.append(line)
        if not line or line[0] == "#":
            continue
        who, command = line.split(" ", 1)
        reply, told = stage.ask(who.rstrip("~"), command)
        end = time.monotonic() + PATIENCE_S
        while who[-1] == "~" and time.monotonic() < end and reply not in expected[done : done + 1]:
            reply, more = stage.ask(who[:-1], command)
            told += more
        out += [reply, *told]
    return out


class ClusterMoves(unittest.TestCase):
    maxDiff = None

    def test_real_servers(self):
        lines = FILE.read_text(encoding="utf-8").splitlines()
        with Cluster(masters=3) as cluster:
            played = play(Stage(cluster), lines)
        if "HEATSINK_WRITE_MOVES" in os.environ:
            FILE.write_text("\n".join(played) + "\n", encoding="utf-8")
        self.assertEqual(lines, played)


if __name__ == "__main__":
    unittest.main()
