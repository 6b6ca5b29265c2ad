# SPDX-License-Identifier: Apache-2.0
"""The password of the server: from a file or the environment, and never in what `ps` shows."""

import subprocess
import unittest

from harness import HEATSINK, Redis, until
from stage import DoorTest, tcp

PASSWORD = "s3cret/pass@word"
WRITTEN = "s3cret%2Fpass%40word"  # in a URL


class Password(DoorTest):
    def setUp(self):
        super().setUp()
        self.redis = Redis("--requirepass", PASSWORD)
        self.addCleanup(self.redis.stop)

    def url(self, login=""):
        return f"redis://{login}127.0.0.1:{self.redis.port}"

    def file(self, content):
        path = f"{self.folder}/password"
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)
        return path

    def logs_in_and_hides_it(self, door):
        client = self.keep(tcp(door.port))
        self.assertEqual(client.ask("AUTH", PASSWORD), b"+OK\r\n")
        self.assertEqual(client.ask("SET", "a", "1"), b"+OK\r\n")
        door.says("ready")
        pid = door.process.child.pid
        for what in ("cmdline", "environ"):
            with open(f"/proc/{pid}/{what}", "rb") as shown:
                text = shown.read()
            self.assertNotIn(PASSWORD.encode(), text, what)
            self.assertNotIn(WRITTEN.encode(), text, what)
        shown = subprocess.run(
            ["ps", "eww", "-o", "args", "-p", str(pid)], capture_output=True, text=True, check=True
        ).stdout
        self.assertIn("heatsink", shown)
        self.assertNotIn("s3cret", shown)
        self.assertNotIn("s3cret", door.output())

    def test_from_a_file(self):
        options = {"upstream.password-file": self.file(PASSWORD + "\n")}
        self.logs_in_and_hides_it(self.open(self.url(), **options))
        self.logs_in_and_hides_it(self.open(self.url("default@"), **options))

    def test_from_the_environment(self):
        secret = {"HEATSINK_UPSTREAM_PASSWORD": PASSWORD}
        self.logs_in_and_hides_it(self.open(self.url(), environment=secret))

    def test_in_the_url_it_is_wiped(self):
        self.logs_in_and_hides_it(self.open(self.url(f":{WRITTEN}@")))

    def test_of_a_verb_that_looks_at_a_server(self):
        with open(f"{self.folder}/out", "w", encoding="utf-8") as out:
            child = subprocess.Popen(
                [HEATSINK, "top", self.url(f":{WRITTEN}@"), "--source", "monitor", "--csv"],
                stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        client = self.keep(tcp(self.redis.port))
        self.assertEqual(client.ask("AUTH", PASSWORD), b"+OK\r\n")

        until(
            lambda: client.ask("CLIENT", "LIST").count(b"laddr=") > 1,
            what="its connection",
        )
        with open(f"/proc/{child.pid}/cmdline", "rb") as shown:
            command = shown.read()
        self.assertIn(b"monitor", command)
        self.assertNotIn(b"s3cret", command)

    def test_a_file_that_is_of_no_use_is_named(self):
        for content in ("", "\nsecond"):
            text = self.refusal(self.url(), **{"upstream.password-file": self.file(content)})
            self.assertIn("upstream.password-file: ", text)
            self.assertIn("/password", text)
        none = {"upstream.password-file": self.folder + "/none"}
        self.assertIn("cannot be read", self.refusal(self.url(), **none))
        both = {"upstream.password-file": self.file(PASSWORD)}
        self.assertIn("keep one of them", self.refusal(self.url(":x@"), **both))


if __name__ == "__main__":
    unittest.main()
