# SPDX-License-Identifier: Apache-2.0
"""What the proxy's own user must be allowed, and that the log says what it is not, line by line."""

import json
import pathlib
import re
import subprocess
import unittest

from harness import PATIENCE_S, Redis, until
from harness.cluster import Cluster
from stage import HOT, DoorTest, tcp

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/security.md"
KEY = "the server's user 'app' may not read the heartbeat key 'heatsink:heartbeat'"


def rules_of_guide():
    """Of a single server; what a cluster needs besides; and hashes whose fields can expire."""
    blocks = re.findall(r"```text\n((?:ACL SETUSER heatsink .*\n)+)```", GUIDE.read_text("utf-8"))
    if len(blocks) != 3:
        raise AssertionError(f"the guide has {len(blocks)} blocks of ACL SETUSER")
    return [[rule for line in block.splitlines() for rule in line.split()[3:]] for block in blocks]


class NeededRights(DoorTest):
    def setUp(self):
        super().setUp()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.admin = self.keep(tcp(self.redis.port))

    def user(self, *rules):
        self.assertEqual(self.admin.ask("ACL", "SETUSER", "app", "on", ">pw", *rules), b"+OK\r\n")

    def start(self, **options):
        return self.open(f"redis://app:pw@127.0.0.1:{self.redis.port}", **HOT, **options)

    def coherence(self, door):
        command = ["curl", "-s", f"http://{door.admin}/api/hotkeys"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return json.loads(text)["node"]["coherence"]

    def client(self, door):
        client = self.keep(tcp(door.port))
        self.assertEqual(client.ask("AUTH", "app", "pw"), b"+OK\r\n")
        return client

    def get_copies(self, door):
        until(lambda: self.coherence(door) == "up", PATIENCE_S, "coherence up")
        client = self.client(door)
        self.assertEqual(client.ask("SET", "app:1", "v"), b"+OK\r\n")
        self.served_locally(door, client, "app:1")

    def test_a_user_without_the_heartbeats_key(self):
        self.user("~app:*", "+@all")
        door = self.start()
        door.says(KEY + ": no local copies; grant it: ACL SETUSER app ~heatsink:heartbeat, or set ")
        self.assertNotIn("not reachable", door.output())
        until(lambda: KEY in self.coherence(door), PATIENCE_S, "the reason in the API")
        client = self.client(door)
        self.assertEqual(client.ask("SET", "app:1", "v"), b"+OK\r\n")
        self.assertEqual(client.ask("GET", "app:1"), b"$1\r\nv\r\n")
        health = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"]
        status = subprocess.run(
            [*health, f"http://{door.admin}/healthz"], capture_output=True, text=True, check=True
        ).stdout
        self.assertEqual(status, "200", "it serves clients")
        self.user("~heatsink:heartbeat")  # as the log says
        self.get_copies(door)
        door.says("the server's user has all the rights that the proxy needs")

    def test_or_with_a_heartbeat_key_that_it_may_read(self):
        self.user("~app:*", "+@all")
        door = self.start(**{"cache.heartbeat-key": "app:heartbeat"})
        self.get_copies(door)
        self.assertNotIn("may not", door.output())

    def test_a_line_for_each_command(self):
        self.user("~*", "+@all", "-getrange", "-client|tracking")
        door = self.start()
        door.says("the server's user 'app' may not run CLIENT TRACKING: no local copies; grant it:")
        door.says("'app' may not run GETRANGE: no local copies of strings; grant it: ACL SETUSER")
        lines = [line for line in door.output().splitlines() if "may not run" in line]
        self.assertEqual(len(lines), 2, lines)
        self.user("+client|tracking", "+getrange")
        self.get_copies(door)

    def test_what_the_guide_says_is_enough(self):
        self.user(*rules_of_guide()[0], "~app:*", "+@read", "+@write")
        door = self.start()
        self.get_copies(door)
        self.assertNotIn("may not", door.output())


class OfACluster(NeededRights):
    def setUp(self):
        DoorTest.setUp(self)
        self.cluster = self.enterContext(Cluster(3))

    def user(self, *rules):
        for node in self.cluster.masters:
            self.assertEqual(node("ACL", "SETUSER", "app", "on", ">pw", *rules), "OK")

    def start(self, **options):
        """The first node of the URL has not the first slot."""
        nodes = [f"127.0.0.1:{node.port}" for node in reversed(self.cluster.masters)]
        return self.open("redis+cluster://app:pw@" + ",".join(nodes), **HOT, **options)

    def test_a_user_without_the_heartbeats_key(self):
        self.user("~app:*", "+@all")
        door = self.start()
        door.says("'app' may not read the heartbeat key '{*}heatsink:heartbeat': no local copies; "
                  "grant it: ACL SETUSER app ~{*}heatsink:heartbeat")  # fmt: skip
        until(lambda: "heartbeat key" in self.coherence(door), what="the reason in the API")
        self.user("~{*}heatsink:heartbeat")
        self.get_copies(door)

    def test_a_user_who_may_not_ask_for_the_map(self):
        self.user("~*", "+@all", "-cluster|info", "-cluster|shards", "-cluster|slots")
        door = self.start()
        door.says("'app' may not run CLUSTER INFO: the proxy cannot find the cluster's nodes; "
                  "grant it: ACL SETUSER app +cluster|info")  # fmt: skip
        until(lambda: "+cluster|info" in self.coherence(door), what="the reason in the API")
        self.user("+cluster|info", "+cluster|shards")
        self.get_copies(door)

    def test_what_the_guide_says_is_enough(self):
        one, many, _ = rules_of_guide()
        self.user(*one, *many, "~app:*", "+@read", "+@write")
        door = self.start()
        self.get_copies(door)
        self.assertNotIn("may not", door.output())

    def test_or_with_a_heartbeat_key_that_it_may_read(self):
        self.user("~app:*", "~{*}app:heartbeat", "+@all")
        door = self.start(**{"cache.heartbeat-key": "app:heartbeat"})
        self.get_copies(door)
        self.assertNotIn("may not", door.output())


if __name__ == "__main__":
    unittest.main()
