# SPDX-License-Identifier: Apache-2.0
"""redis-cli --ldb: the debugger answers as it does without a proxy, or the script is not run."""

import os
import shutil
import subprocess
import tempfile
import unittest

from harness import PATIENCE_S, SLOW, encode
from stage import ProxyTest

OK = b"+OK\r\n"
SCRIPT = "redis.call('set', KEYS[1], ARGV[1])\nlocal n = 1\nreturn n"


class Debugger(ProxyTest):
    PROXY_OPTIONS = {"proxy.maximum-private-connections": 2}

    def setUp(self):
        self.to_server().ask("FLUSHALL")

    def session(self, client):
        """All that is said from SCRIPT DEBUG to the end of the connection."""
        heard = [client.ask("SCRIPT", "DEBUG", "YES"), client.ask("EVAL", SCRIPT, 1, "k", "v")]
        heard += [client.ask("s"), client.ask("print"), client.ask("redis", "GET", "k")]
        client.send("c")
        return b"".join(heard) + client.read_to_end()

    def nothing_was_written(self):
        self.assertEqual(self.to_server().ask("EXISTS", "k"), b":0\r\n")

    def test_a_session_says_what_it_says_without_a_proxy(self):
        direct = self.session(self.to_server())
        self.assertIn(b"<endsession>", direct)
        for resp in (2, 3):
            self.assertEqual(self.session(self.to_proxy(resp=resp)), direct)
        self.nothing_was_written()

    def test_after_other_commands_in_one_write(self):
        client = self.to_proxy()
        client.ask("CLIENT", "SETNAME", "debugs")
        debug = encode("SCRIPT", "DEBUG", "YES") + encode("EVAL", SCRIPT, 1, "k", "v")
        client.send_raw(encode("GET", "k") + debug)
        self.assertEqual(client.read_many(2), [b"$-1\r\n", OK])
        self.assertIn(b"Stopped at 1", client.read())
        client.send("abort")
        self.assertIn(b"<endsession>", client.read_to_end())
        self.nothing_was_written()

    def test_it_is_given_up(self):
        client = self.to_proxy()
        for word in ("YES", "NO"):
            self.assertEqual(client.ask("SCRIPT", "DEBUG", word), OK)
        self.assertEqual(client.ask("EVAL", "return KEYS[1]", 1, "k"), b"$1\r\nk\r\n")
        self.assertEqual(client.ask("SCRIPT", "DEBUG", "YES"), OK)
        self.assertEqual(client.ask("SET", "n", 1), OK)
        self.assertEqual(client.ask("RESET"), b"+RESET\r\n")
        self.assertEqual(client.ask("EVAL", "return KEYS[1]", 1, "k"), b"$1\r\nk\r\n")

    def refused(self, client, why):
        request = encode("SCRIPT", "DEBUG", why) + encode("EVAL", SCRIPT, 1, "k", "v")
        client.send_raw(request + encode("EVAL_RO", "return 1", 0))
        replies = client.read_many(3)
        self.assertEqual([reply[:1] for reply in replies], [b"-"] * 3, replies)
        self.nothing_was_written()

    def test_a_script_behind_a_refusal_is_not_run(self):
        self.refused(self.to_proxy(), "SYNC")
        for _ in range(2):
            self.assertEqual(self.to_proxy().ask("WATCH", "k"), OK)
        client = self.to_proxy()
        self.refused(client, "YES")
        self.assertIn(b"maximum-private", client.ask("SCRIPT", "DEBUG", "NO"))

    def test_redis_cli(self):
        cli = shutil.which("redis-cli")
        if cli is None:
            self.skipTest("redis-cli is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.lua")
            with open(path, "w", encoding="ascii") as script:
                script.write(SCRIPT)
            said = []
            for port in (self.redis.port, self.proxy.port):
                command = [cli, "-p", str(port), "--ldb", "--eval", path, "k", ",", "v"]
                run = subprocess.run(
                    command, input="s\nredis get k\nc\n", text=True, capture_output=True,
                    timeout=PATIENCE_S * SLOW, check=False,
                )  # fmt: skip
                said.append(run.stdout)
        self.assertIn("dataset changes rolled back", said[0])
        self.assertEqual(said[1], said[0])
        self.nothing_was_written()


if __name__ == "__main__":
    unittest.main()
