#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`heatsink top --source capture` on the loopback of a network namespace of the test's own."""

import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import unittest

from stage import ONCE, PATIENT, Load, Watching

from harness import (
    HEATSINK,
    PATIENCE_S,
    SLOW,
    Redis,
    ValueClient,
    need_programs,
    private_network,
    until,
)
from harness.processes import Process

FORBIDDEN = private_network.enter() if __name__ == "__main__" else "not started by itself"
HALF = 2000
POOR = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"]  # no right to capture


def run(*flags, prefix=()):
    """The finished process."""
    return subprocess.run(
        [*prefix, HEATSINK, "top", *flags],
        capture_output=True,
        text=True,
        timeout=(3 * PATIENCE_S + 40) * SLOW,
        check=False,
    )


def keys_of(answer):
    return {key["name"]: key for key in answer["keys"]}


def frames(request, reply):
    """A connection by Ethernet and IPv4: it is opened, `request` is asked and `reply` answered."""
    client, server = (bytes([10, 0, 0, 7]), 50_000), (bytes([10, 0, 0, 9]), 6379)
    syn, ack = 0x02, 0x10

    def frame(sender, receiver, numbers, flags, payload=b""):
        ports = sender[1], receiver[1]
        tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, 5 << 4, flags, 1024, 0, 0) + payload
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0)
        return bytes(12) + b"\x08\x00" + ip + sender[0] + receiver[0] + tcp

    return [
        frame(client, server, (100, 0), syn),
        frame(server, client, (500, 101), syn | ack),
        frame(client, server, (101, 501), ack, request),
        frame(server, client, (501, 101 + len(request)), ack, reply),
    ]


@unittest.skipIf(FORBIDDEN, FORBIDDEN)
class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def setUp(self):
        self.redis = Redis("--bind", "127.0.0.1", "::1")
        self.addCleanup(self.redis.stop)
        self.port = str(self.redis.port)
        self.url = f"redis://127.0.0.1:{self.port}"

    def reads(self, watching, name, count):
        """Waits until `name` was read `count` times in a window; that answer's row."""

        def seen():
            rows = [keys_of(answer).get(name, {}) for answer in watching.answers]
            return next((row for row in rows if row.get("reads", 0) >= count), None)

        return until(seen, what=f"{count} reads of {name}")

    def test_each_access_is_counted_with_its_answer(self):
        with Watching("--interface", "lo", "--port", self.port) as watching:
            with ValueClient(self.redis.port) as client:
                client("SET", "a", "x" * 100)
                client.pipeline([("GET", "a"), ("GET", "nothing")] * HALF)
                self.reads(watching, "nothing", HALF)  # from here on its answers are told
                client.pipeline([("GET", "a"), ("GET", "nothing")] * HALF)
            absent = self.reads(watching, "nothing", 2 * HALF)
            there = self.reads(watching, "a", 2 * HALF)
        self.assertEqual(absent["reads"], 2 * HALF)
        self.assertEqual(there["reads"], 2 * HALF)
        self.assertLessEqual(absent["rate_low"], absent["rate"])
        self.assertEqual(absent["commands"][0]["name"], "GET")
        self.assertEqual(absent["clients"][0]["name"], "127.0.0.1")
        self.assertAlmostEqual(absent["absent_rate"], absent["rate"], delta=absent["rate"] / 100)
        self.assertEqual(there["absent_rate"], 0)
        self.assertGreaterEqual(there["bytes"], 100 * HALF)
        self.assertGreater(there["latency_p99_seconds"], 0)
        source = watching.answers[-1]["sources"][0]
        self.assertEqual(source["name"], "capture")
        for told in ("cost", "blind_spots", "confidence"):
            self.assertTrue(source[told])

    def test_the_rate_is_within_the_bounds(self):
        with Load(self.redis.port) as load, Watching("--port", self.port) as watching:
            until(lambda: watching.answers[-1]["uptime_seconds"] > 2, what="a window of seconds")
            lowest, highest = load.rates()
            key = watching.answers[-1]["keys"][0]
        self.assertEqual(key["name"], "the:hot:key")
        self.assertLess(key["rate_low"], highest * 1.05)
        self.assertGreater(key["rate_high"], lowest * 0.95)
        self.assertAlmostEqual(key["share"], 0.5, delta=0.1)

    def test_ipv6(self):
        with Watching("--port", self.port) as watching:
            command = ["redis-cli", "-h", "::1", "-p", self.port, "GET", "six"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(self.reads(watching, "six", 1)["clients"], [])

    def test_auto_takes_it_and_our_own_questions_are_no_traffic(self):
        with Load(self.redis.port), Watching(self.url, source="auto") as watching:
            until(lambda: watching.answers[-1]["keys"][:1] and
                  "type" in watching.answers[-1]["keys"][0], what="the type is told")  # fmt: skip
            answer = watching.answers[-1]
        self.assertEqual(answer["sources"][0]["name"], "capture")
        self.assertEqual([c["name"] for c in answer["keys"][0]["commands"]], ["GET"])

    def test_it_checks_another_source(self):
        with Load(self.redis.port), Watching(
            self.url, *PATIENT, source="capture,monitor"
        ) as watching:
            until(lambda: watching.answers[-1]["cross_check"], 3 * PATIENCE_S, "they are compared")
            names = [source["name"] for source in watching.answers[-1]["sources"]]
        self.assertEqual(names, ["capture", "monitor"])

    def test_rights_are_given_up_and_the_recording_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "kept.jsonl")
            with Watching("--port", self.port, "--record", kept) as watching:
                with open(f"/proc/{watching.process.child.pid}/status", encoding="ascii") as lines:
                    rights = re.findall(r"^Cap(?:Inh|Prm|Eff|Amb):\s+(\w+)$", lines.read(), re.M)
                self.assertEqual([int(each, 16) for each in rights], [0] * 4)
                until(lambda: len(watching.answers) > 2, what="a few answers")
            with open(kept, encoding="utf-8") as lines:
                self.assertGreater(len(lines.readlines()), 1)

    @unittest.skipUnless(shutil.which("setpriv"), "there is no program 'setpriv'")
    def test_without_the_right_it_says_how_to_give_it(self):
        done = run("--source", "capture", "--port", self.port, "--once", prefix=POOR)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"CAP_NET_RAW.*sudo setcap cap_net_raw\+ep /\S+")

    def test_tls_is_refused(self):
        hello = ssl.MemoryBIO()
        session = ssl.create_default_context().wrap_bio(
            ssl.MemoryBIO(), hello, server_hostname="localhost"
        )
        with self.assertRaises(ssl.SSLWantReadError):
            session.do_handshake()
        command = ["--source", "capture", "--port", self.port, "--json", "--for", "60s"]
        top = Process([HEATSINK, "top", *command], stderr=subprocess.STDOUT)
        self.addCleanup(top.kill)
        hello = hello.read()

        def shake_hands():
            with socket.create_connection(("127.0.0.1", self.redis.port)) as client:
                client.sendall(hello)
            return not top.alive()

        until(shake_hands, 3 * PATIENCE_S, "TLS is recognised")
        self.assertEqual(top.end(9), 1)
        self.assertIn("encrypted (TLS)", top.output())

    def test_an_interface_that_disappears_leaves_what_was_seen(self):
        added = subprocess.run(
            ["ip", "link", "add", "h0", "type", "veth", "peer", "name", "h1"],
            env=private_network.environment(), capture_output=True, check=False,
        )  # fmt: skip
        if added.returncode != 0:
            self.skipTest("no pair of virtual interfaces here")
        private_network.run("ip link set h0 up && ip link set h1 up")
        watching = Watching("--interface", "h0", "--port", "6379")
        with watching, socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
            wire.bind(("h1", 0))
            for frame in frames(b"*2\r\n$3\r\nGET\r\n$4\r\nlast\r\n", b"$-1\r\n"):
                wire.send(frame)
            self.reads(watching, "last", 1)
            private_network.run("ip link del h0")
            code, said = watching.ended()
        self.assertEqual(code, 1)
        self.assertIn("ended early: the capture has ended", said)
        self.assertIn("last", keys_of(watching.answers[-1]))
        self.assertEqual(watching.answers[-1]["sources"][0]["state"], "failed")

    def test_an_interface_that_is_not_there(self):
        done = run("--source", "capture", "--interface", "nosuch0", "--once")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no interface 'nosuch0' on this machine", done.stderr)


class WithoutRights(unittest.TestCase):
    """What is told to whoever may not capture, or means something else."""

    def refused(self, *flags):
        done = run(*flags)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_options_that_would_do_nothing(self):
        for flags in (["--port", "6379"], ["--interface", "lo"], ["--replies", "all"],
                      ["redis://h", "--source", "lfu", "--port", "1"]):  # fmt: skip
            self.assertIn("--source capture", self.refused(*flags))

    def test_a_source_that_needs_a_server(self):
        self.assertIn("needs a server", self.refused("--source", "monitor"))
        self.assertIn("needs a server", self.refused("--source", "capture,monitor"))

    @unittest.skipUnless(shutil.which("setpriv"), "there is no program 'setpriv'")
    def test_auto_says_why_it_does_not_capture(self):
        need_programs()
        redis = Redis()
        self.addCleanup(redis.stop)
        with Load(redis.port):
            url = f"redis://127.0.0.1:{redis.port}"
            done = run(url, *PATIENT, *ONCE, "--json", prefix=POOR)
        self.assertEqual(done.returncode, 0, done.stderr)
        note = json.loads(done.stdout)["sources"][0]["note"]
        self.assertRegex(note, "^not capture: .*CAP_NET_RAW.*; not hotkeys: ")

    def test_no_port(self):
        for port in ("0", "65536", "redis"):
            self.assertIn("--port", self.refused("--source", "capture", "--port", port))

    def test_no_such_replies(self):
        self.assertIn("--replies", self.refused("--source", "capture", "--replies", "some"))

    def test_what_is_no_network(self):
        done = run("unix:///tmp/redis.sock", "--source", "capture", "--once")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the server is reached by a Unix socket", done.stderr)
        done = run("rediss://127.0.0.1", "--source", "capture", "--once")
        self.assertEqual(done.returncode, 1)
        self.assertIn("TLS", done.stderr)


if __name__ == "__main__":
    unittest.main()
