#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The MONITOR source against a real server: it names the hot key, with bounds that hold."""

import contextlib
import socket
import threading
import unittest

from stage import ONCE, PATIENT, Load, Watching, once, top

from harness import PATIENCE_S, Proxy, Redis, ValueClient, need_programs, until


class Monitor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.stop)

    def test_names_the_hot_key_with_bounds_that_contain_its_rate(self):
        with Load(self.redis.port) as load:
            until(lambda: len(load.counts) > 100, what="a load")
            seen = until(
                lambda: self.seen_rightly(load), 3 * PATIENCE_S, "the key is hot, with right bounds"
            )
        key = seen["keys"][0]
        self.assertEqual(key["name"], "the:hot:key")
        self.assertGreater(key["rate_low"], 0)
        self.assertEqual(key["commands"][0]["name"], "GET")
        self.assertEqual(key["clients"][0]["name"], "127.0.0.1")
        self.assertEqual(key["type"], "none")  # nobody has written it
        self.assertEqual(seen["sources"][0]["name"], "monitor")
        self.assertEqual(seen["sources"][0]["state"], "running")

    def seen_rightly(self, load):
        """An answer in which the key is hot, and its rate within its bounds.

        One answer is of so short a time that the key may be only warm in it, and that the load is
        not even in it if the machine stands still for a moment.
        """
        seen = once(self.redis.port, *PATIENT)
        key, (lowest, highest) = seen["keys"][0], load.rates()
        contained = key["rate_low"] < highest * 1.05 and key["rate_high"] > lowest * 0.95
        right = contained and abs(key["share"] - 0.5) < 0.1
        return seen if right and key["verdict"] == "hot" else None

    def test_names_are_binary_safe(self):
        with Load(self.redis.port, hot=b'\x00\xff "quoted"\r\n') as load:
            until(lambda: len(load.counts) > 100, what="a load")
            seen = once(self.redis.port, *PATIENT)
        self.assertEqual(seen["keys"][0]["name_base64"], "AP8gInF1b3RlZCINCg==")

    def test_the_text_is_for_people(self):
        with Load(self.redis.port):
            done = top(self.redis.port, *ONCE, *PATIENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the:hot:key", done.stdout)
        self.assertIn("source monitor", done.stdout)

    def test_the_password_may_come_from_the_environment_and_is_never_shown(self):
        with ValueClient(self.redis.port) as client:
            client("CONFIG", "SET", "requirepass", "a secret of mine")
        refused = top(self.redis.port, "--once")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the server needs a password", refused.stderr)
        done = top(
            self.redis.port, *ONCE, "--json", *PATIENT,
            environment={"REDISCLI_AUTH": "a secret of mine"},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("secret", done.stdout + done.stderr)

    def test_a_user_who_may_not_is_told_what_to_do(self):
        with ValueClient(self.redis.port) as client:
            client("ACL", "SETUSER", "poor", "on", ">pw", "~*", "+@all", "-monitor")
        done = top(self.redis.port, "--once", user="poor:pw@")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NOPERM", done.stderr)
        self.assertIn("ACL SETUSER", done.stderr)

    def test_what_is_no_redis_is_told(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            try:
                while True:
                    client, _ = listener.accept()
                    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    client.close()
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        done = top(listener.getsockname()[1], "--once", "--for", "2s")
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not speak RESP", done.stderr)

    def test_own_traffic_is_never_listed(self):
        """Neither heartbeats, whatever their key is called, nor what top itself asks."""
        # Without copies a proxy sends one heartbeat per second, and `top` listens for a few per
        # cent of the time: with a copy of the only key it hears enough of them.
        beats = {"cache.heartbeat-interval": "20ms", "detection.hot-qps": "5"}
        proxies = [
            Proxy(self.redis, options)
            for options in ({**beats}, {**beats, "cache.heartbeat-key": "app:proof"})
        ]
        for proxy in proxies:
            self.addCleanup(proxy.stop)
        with (
            Watching(f"127.0.0.1:{self.redis.port}", *PATIENT, source="monitor") as watching,
            contextlib.ExitStack() as clients,
        ):
            ports = [self.redis.port, *(proxy.port for proxy in proxies)]
            readers = [clients.enter_context(ValueClient(port)) for port in ports]

            # A heartbeat whose key has a name of its own is known by the third HELLO that was
            # heard of its connection. What was heard before that is listed for 30 s.
            def known_apart():
                for reader in readers:
                    reader("GET", "the:only:key")
                last = watching.answers[-1]
                names = {key["name"] for key in last["keys"]}
                return last["sources"][0]["state"] == "running" and names == {"the:only:key"}

            try:
                until(known_apart, 6 * PATIENCE_S, "one key, on a node that is nearly idle")
            except AssertionError as late:
                raise AssertionError(f"{late}: {watching.answers[-1]}") from late
            names = {key["name"] for answer in watching.answers for key in answer["keys"]}
            self.assertLessEqual(names, {"the:only:key", "app:proof"})
            hot_means = watching.answers[-1]["hot_means"]
            self.assertIn("at least 1 % of the traffic and 100/s", hot_means)

    def test_a_server_that_goes_away_leaves_what_was_seen(self):
        url = f"redis://127.0.0.1:{self.redis.port}"
        with Watching(url, *PATIENT, source="monitor") as watching:
            with Load(self.redis.port):
                until(lambda: watching.answers[-1]["keys"], 3 * PATIENCE_S, "keys are seen")
            self.redis.process.kill()
            until(
                lambda: "cannot connect" in watching.answers[-1]["sources"][0]["note"],
                what="it is told that the server is away",
            )
            self.assertEqual(watching.answers[-1]["keys"][0]["name"], "the:hot:key")


if __name__ == "__main__":
    unittest.main()
