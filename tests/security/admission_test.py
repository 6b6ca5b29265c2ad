# SPDX-License-Identifier: Apache-2.0
"""Who may ask the admin API, what it shows of keys, and how fast clients may come."""

import json
import subprocess
import time
import unittest

from harness import HEATSINK, Redis, until
from stage import HOT, DoorTest, tcp

TOKEN = "0123456789abcdef-token"
SECRET_NAME = "patient:quixote"


def http(door, path, *headers):
    """Status and body."""
    command = ["curl", "-s", "-w", "\n%{http_code}", f"http://{door.admin}{path}"]
    for header in headers:
        command += ["-H", header]
    body, status = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.rsplit("\n", 1)
    return int(status), body


def top(door, *flags):
    """It waits for an answer as long as its interval is."""
    return subprocess.run(
        [HEATSINK, "top", "--admin", door.admin, "--once", "--interval", "5s", *flags],
        capture_output=True, text=True,
    )  # fmt: skip


class WithServer(DoorTest):
    def setUp(self):
        super().setUp()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.upstream = f"redis://127.0.0.1:{self.redis.port}"

    def file(self, name, content):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="ascii") as out:
            out.write(content)
        return path


class AdminToken(WithServer):
    def test_nothing_without_it_and_everything_with_it(self):
        path = self.file("token", TOKEN + "\n")
        door = self.open(self.upstream, **{"admin.token-file": path, "admin.listen": "0.0.0.0:0"})
        door.admin = "127.0.0.1:" + door.admin.rsplit(":", 1)[1]
        for target in ("/", "/healthz", "/metrics", "/api/hotkeys", "/api/events"):
            status, body = http(door, target)
            self.assertEqual(status, 401, target)
            self.assertIn("Authorization: Bearer TOKEN", body)
            self.assertEqual(http(door, target, "Authorization: Bearer " + TOKEN)[0], 200, target)
        self.assertEqual(http(door, "/metrics", "Authorization: Bearer x" + TOKEN)[0], 401)
        refused = top(door)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--token-file", refused.stdout + refused.stderr)
        self.assertEqual(top(door, "--token-file", path).returncode, 0)
        self.assertNotIn(TOKEN, door.output())

    def test_without_one_only_loopback(self):
        text = self.refusal(self.upstream, **{"admin.listen": "0.0.0.0:0"})
        self.assertIn("without admin.token", text)

    def test_never_printed(self):
        given = ["--set", f"admin.token={TOKEN}"]
        shown = subprocess.run(
            [HEATSINK, "config", "print", *given], capture_output=True, text=True, check=True
        )
        self.assertNotIn(TOKEN, shown.stdout + shown.stderr)
        self.assertIn('token: "***"', shown.stdout)
        for bad in ("hush hush", "short-hush", "***"):
            text = self.refusal(self.upstream, **{"admin.token": bad})
            self.assertIn("admin.token", text)
            self.assertNotIn("hush", text)
        text = self.refusal(self.upstream, **{"admin.token-file": self.folder + "/none"})
        self.assertIn("cannot be read", text)


class RedactedKeys(WithServer):
    def shown(self, door):
        client = self.keep(tcp(door.port))
        client.ask("SET", SECRET_NAME, "v")
        self.served_locally(door, client, SECRET_NAME)
        events = until(lambda: json.loads(http(door, "/api/events")[1])["events"])
        keys = until(lambda: json.loads(http(door, "/api/hotkeys")[1])["keys"])
        door.says(" is hot: ")
        screen = top(door).stdout
        everything = door.output() + screen + http(door, "/metrics")[1] + str(events) + str(keys)
        return keys[0]["name"], everything

    def test_no_name_anywhere(self):
        path = self.file("secret", "0123456789abcdef\n")
        options = {"privacy.redact-keys": "hash", "privacy.redact-secret-file": path, **HOT}
        names = set()
        for _ in range(2):
            name, everything = self.shown(self.open(self.upstream, **options))
            self.assertRegex(name, "^key#[0-9a-f]{16}$")
            self.assertIn(name, everything)
            self.assertNotIn("patient", everything)
            self.assertNotIn("quixote", everything)
            self.assertNotIn("cGF0aWVudD", everything, "base64")
            names.add(name)
        self.assertEqual(len(names), 1, "one secret, one name")

    def test_off(self):
        name, _ = self.shown(self.open(self.upstream, **HOT))
        self.assertEqual(name, SECRET_NAME)


class ConnectionRate(WithServer):
    def admitted(self, door, tries):
        """All come at once, and then each is asked."""
        answers = []
        for client in [self.keep(tcp(door.port)) for _ in range(tries)]:
            try:
                answers.append(client.ask("PING"))
            except (ConnectionError, OSError):
                answers.append(b"")
        return answers

    def test_one_more_is_refused_with_the_reason(self):
        for option, words in (
            ("proxy.connection-rate", b"-ERR max rate of new clients reached\r\n"),
            (
                "proxy.connection-rate-per-network",
                b"-ERR max rate of new clients from this address reached\r\n",
            ),
        ):
            door = self.open(self.upstream, **{option: 5})
            began = time.monotonic()
            answers = self.admitted(door, 100)
            served = answers.count(b"+PONG\r\n")
            self.assertGreaterEqual(served, 5)
            self.assertLessEqual(served, 5 * (2 + time.monotonic() - began))
            self.assertIn(words, answers)
            refused = door.metric("heatsink_clients_refused_total")
            self.assertEqual(refused, 100 - served)
            until(lambda d=door: self.admitted(d, 1) == [b"+PONG\r\n"], what="admitted again")

    def test_no_limit_by_default(self):
        door = self.open(self.upstream)
        self.assertEqual(self.admitted(door, 200), [b"+PONG\r\n"] * 200)


if __name__ == "__main__":
    unittest.main()
