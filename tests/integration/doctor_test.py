# SPDX-License-Identifier: Apache-2.0
"""heatsink doctor before servers of all kinds, and what a running proxy says of its own."""

import contextlib
import json
import os
import re
import resource
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from functools import partial

from harness import (
    HEATSINK, PATIENCE_S, SERVER, SLOW, Proxy, Redis, ValueClient, need_programs, until,
)  # fmt: skip
from harness.processes import Process, free_port

LIMIT_S = 10  # of a whole run, as the guide says


def doctor(*args, environment=None):
    """Exit code, findings by code, and the whole text."""
    command = [HEATSINK, "doctor", "--json", *(str(arg) for arg in args)]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=60 * SLOW, check=False,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if not run.stdout:
        return run.returncode, {}, run.stderr
    findings = {}
    for finding in json.loads(run.stdout)["findings"]:
        findings.setdefault(finding["code"], []).append(finding)
    return run.returncode, findings, run.stdout


def address(server):
    return f"127.0.0.1:{server.port}"


class Stranger:
    """Listens, and does `behave(connection)` with each connection."""

    def __init__(self, behave):
        self.behave, self.connections = behave, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError):
            self.behave(connection)

    def stop(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()


class DoctorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()

    def server(self, *options):
        redis = Redis(*options)
        self.addCleanup(redis.stop)
        return redis

    def stranger(self, behave):
        stranger = Stranger(behave)
        self.addCleanup(stranger.stop)
        return stranger

    def to(self, server):
        client = ValueClient(server.port)
        self.addCleanup(client.close)
        return client

    def one(self, findings, code):
        self.assertEqual(len(findings.get(code, ())), 1, findings.get(code))
        return findings[code][0]

    def only_error(self, findings, code):
        """The finding of `code`, which is the only error."""
        errors = [each for some in findings.values() for each in some if each["level"] == "error"]
        self.assertEqual([error["code"] for error in errors], [code], errors)
        return errors[0]


class Kinds(DoctorTest):
    """Servers of all kinds, each named as what it is."""

    def test_a_server_as_it_should_be(self):
        redis = self.server()
        code, findings, text = doctor(address(redis))
        self.assertEqual(code, 0, text)
        self.assertNotIn('"error"', re.sub(r'"counts":{[^}]*}', "", text))
        self.assertIn("is a master", self.one(findings, "server-kind")["what"])
        self.assertEqual(self.one(findings, "rights")["level"], "ok")
        self.assertEqual(self.one(findings, "server-settings")["level"], "ok")
        self.assertIn("--write-test", self.one(findings, "tracking")["what"])
        self.assertEqual(self.to(redis)("DBSIZE"), 0)
        self.assertIn("cmdstat_ping:", self.to(redis)("INFO", "commandstats").decode())
        self.assertNotIn("cmdstat_set:", self.to(redis)("INFO", "commandstats").decode())

    def test_a_push_about_a_written_key(self):
        redis = self.server()
        code, findings, text = doctor(address(redis), "--write-test")
        self.assertEqual(code, 0, text)
        self.assertIn("came after", self.one(findings, "tracking")["what"])
        self.assertEqual(self.to(redis)("DBSIZE"), 0)

    def test_a_user_who_may_not_write_the_test(self):
        redis = self.server()
        rights = ("on", "nopass", "+@all", "~heatsink:heartbeat")
        self.to(redis)("ACL", "SETUSER", "reader", *rights)
        code, findings, text = doctor(f"redis://reader:x@{address(redis)}", "--write-test")
        self.assertEqual(code, 0, text)
        self.assertIn("was not tested", self.one(findings, "tracking")["what"])

    def test_a_node_of_a_cluster(self):
        node = self.server("--cluster-enabled", "yes")
        self.to(node)("CLUSTER", "ADDSLOTSRANGE", 0, 5460)
        code, findings, text = doctor(address(node))
        self.assertEqual(code, 1, text)
        self.assertIn("it has 5461 of 16384", self.one(findings, "server-kind")["what"])
        self.assertIn("is down", self.only_error(findings, "cluster-state")["what"])
        self.to(node)("CLUSTER", "ADDSLOTSRANGE", 5461, 16383)

        def ok():
            return b"cluster_state:ok" in self.to(node)("CLUSTER", "INFO")

        until(ok, what="a cluster with all slots")
        code, findings, text = doctor(address(node))
        self.assertEqual(code, 0, text)
        self.assertIn("only master", self.one(findings, "server-kind")["what"])

    def sentinel_of(self, master):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        port, path = free_port(), f"{folder.name}/sentinel.conf"
        with open(path, "w", encoding="ascii") as config:
            config.write(f"port {port}\nbind 127.0.0.1\ndir {folder.name}\n")
            config.write(f"sentinel monitor shop 127.0.0.1 {master.port} 1\n")
        sentinel = Process([SERVER, path, "--sentinel"])
        self.addCleanup(sentinel.kill)
        until(lambda: "Sentinel ID" in sentinel.output(), what="a Sentinel")
        sentinel.port = port
        return sentinel

    def test_a_sentinel(self):
        master = self.server()
        sentinel = self.sentinel_of(master)
        code, findings, text = doctor(address(sentinel))
        self.assertEqual(code, 1, text)
        kind = self.only_error(findings, "server-kind")
        self.assertIn("is a Sentinel, not a data server", kind["what"])
        self.assertEqual(kind["paste"], f"--upstream redis+sentinel://{address(sentinel)}/shop")

    def test_a_proxy_before_a_sentinel(self):
        sentinel = self.sentinel_of(self.server())
        for options in ({}, {"doctor.enabled": "false"}):
            proxy = Proxy(f"redis://{address(sentinel)}", options)
            self.addCleanup(proxy.stop)
            status, body = until(partial(not_ready, proxy), what="a proxy that is not ready")
            self.assertEqual(status, 503)
            self.assertIn("is a Sentinel, not a data server", body)
            self.assertIn("use redis+sentinel://", body)

    def test_a_replica(self):
        master = self.server()
        replica = self.server("--replicaof", "127.0.0.1", str(master.port))
        code, findings, text = doctor(address(replica))
        self.assertEqual(code, 0, text)
        kind = self.one(findings, "server-kind")
        self.assertEqual(kind["level"], "warning")
        self.assertEqual(
            kind["paste"], f"--upstream redis+replicas://{address(master)},{address(replica)}"
        )
        self.assertEqual(doctor(address(replica), "--strict")[0], 1)

    def test_a_server_that_loads_its_data(self):
        full = self.server()
        self.to(full)("DEBUG", "POPULATE", 40_000)
        self.to(full)("SAVE")
        port = free_port()
        loading = Process(
            [SERVER, "--port", str(port), "--bind", "127.0.0.1", "--dir", full.folder,
             "--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024",
             "--save", ""]
        )  # fmt: skip
        self.addCleanup(loading.kill)
        until(lambda: "Loading RDB" in loading.output(), what="a server that loads")
        code, findings, text = doctor(f"127.0.0.1:{port}")
        self.assertEqual(code, 0, text)
        self.assertIn("is loading its data", self.one(findings, "server-loading")["what"])
        self.assertNotIn("rights", findings, "it does not say")

    def test_renamed_commands(self):
        redis = self.server("--rename-command", "CONFIG", "", "--rename-command", "KEYS", "")
        _, findings, _ = doctor(address(redis))
        self.assertIn("keys, config", self.one(findings, "commands")["what"])
        self.assertIn("managed service", self.one(findings, "server-settings")["what"])
        self.assertNotIn("idle-connections", findings)

    def test_settings_that_do_not_fit(self):
        redis = self.server(
            "--maxmemory-policy", "allkeys-random", "--maxmemory", "100mb", "--timeout", "20",
            "--tracking-table-max-keys", "1000",
            "--client-output-buffer-limit", "normal 1mb 1mb 10",
        )  # fmt: skip
        code, findings, text = doctor(address(redis), "--set", "proxy.listen=0.0.0.0:6380")
        self.assertEqual(code, 0, text)
        for name in ("idle-connections", "tracking-table", "output-buffers", "client-login"):
            self.assertEqual(self.one(findings, name)["level"], "warning", name)
        self.assertEqual(self.one(findings, "eviction")["level"], "note")


class Logins(DoctorTest):
    def test_passwords(self):
        redis = self.server("--requirepass", "secret")
        code, findings, text = doctor(address(redis))
        self.assertEqual(code, 1, text)
        self.assertIn("wants a password", self.only_error(findings, "server-login")["what"])
        code, findings, text = doctor(f"redis://:wrong@{address(redis)}")
        self.assertEqual(code, 1, text)
        self.assertIn("is wrong", self.only_error(findings, "server-login")["what"])
        self.assertNotIn("wrong@", text)
        password = {"HEATSINK_UPSTREAM_PASSWORD": "secret"}
        self.assertEqual(doctor(address(redis), environment=password)[0], 0)

    def test_no_password_of_a_refused_hello_is_shown(self):
        redis = self.server("--requirepass", "secret", "--rename-command", "HELLO", "")
        code, findings, text = doctor(f"redis://:secret@{address(redis)}")
        self.assertEqual(code, 1, text)
        self.assertIn("unknown command", self.only_error(findings, "resp3")["what"])
        self.assertNotIn("secret", text)
        proxy = Proxy(f"redis://:secret@{address(redis)}")
        self.addCleanup(proxy.stop)
        until(lambda: "unknown command 'HELLO'" in proxy.process.output(), what="the refusal")
        self.assertNotIn("secret", proxy.process.output() + json.dumps(proxy.api("health")))

    def test_rights_line_by_line(self):
        redis = self.server()
        server = self.to(redis)
        server("ACL", "SETUSER", "few", "on", ">pw", "~a:*", "+get", "+ping")
        url = f"redis://few:pw@{address(redis)}"
        code, findings, text = doctor(url)
        self.assertEqual(code, 1, text)
        lines = [finding["paste"] for finding in findings["rights"]]
        self.assertIn("ACL SETUSER few +client|tracking", lines)
        self.assertEqual(len(lines), 9)
        for _ in range(2):  # a missing key is seen only by a user who may run the command
            for finding in doctor(url)[1]["rights"]:
                if finding["paste"]:
                    server(*finding["paste"].split())
        code, findings, text = doctor(url)
        self.assertEqual(self.one(findings, "rights")["level"], "ok", text)
        self.assertEqual(code, 0, text)

    def test_rights_of_a_fleet(self):
        redis = self.server()
        server = self.to(redis)
        server("ACL", "SETUSER", "few", "on", ">pw", "+@all", "-sadd", "-srem", "~heatsink:h*")
        options = (f"redis://few:pw@{address(redis)}", "--set", "fleet.enabled=true")
        grant = self.one(doctor(*options)[1], "fleet")["paste"]
        self.assertEqual(grant, "ACL SETUSER few +sadd +srem ~heatsink:fleet:*")
        self.assertEqual([server(*grant.split()), server("KEYS", "*")], ["OK", []])
        self.assertEqual(self.one(doctor(*options)[1], "fleet")["level"], "ok")


def http_server(connection):
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def huge_reply(connection):
    connection.recv(1000)
    connection.sendall(b"+PONG\r\n$2000000000\r\n")
    while True:
        connection.sendall(b"x" * (1 << 20))


def endless_line(connection):
    while True:
        connection.sendall(b"+" + b"x" * (1 << 20))


def reset_midway(connection):
    connection.recv(1000)
    connection.sendall(b"+PONG\r\n%1\r\n$5\r\nproto\r\n:3\r\n")
    connection.recv(1000)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


class BadDays(DoctorTest):
    """Peers that are no servers, or no longer: each run ends in time, with a clear finding."""

    def of(self, behave, code="server-protocol"):
        stranger = self.stranger(behave)
        began = time.monotonic()
        status, findings, text = doctor(address(stranger))
        self.assertLess(time.monotonic() - began, LIMIT_S * SLOW)
        self.assertEqual(status, 1, text)
        return self.only_error(findings, code)["what"]

    def test_nothing_listens(self):
        status, findings, text = doctor(f"127.0.0.1:{free_port()}")
        self.assertEqual(status, 1, text)
        self.assertIn("refused", self.only_error(findings, "server-reachable")["what"])

    def test_a_web_server(self):
        self.assertIn("a web server", self.of(http_server))

    def test_a_prompt_with_control_characters(self):
        what = self.of(lambda connection: connection.sendall(b"\x1b[2Jlogin: "))
        self.assertIn("\\x1b[2Jlogin:", what)

    def test_silence(self):
        what = self.of(lambda connection: connection.recv(1 << 20), "server-reachable")
        self.assertIn("says nothing", what)

    def test_a_close(self):
        what = self.of(lambda connection: connection.close(), "server-reachable")
        self.assertIn("without an answer", what)

    def test_a_reset_midway(self):
        self.assertIn("stopped answering: at INFO", self.of(reset_midway, "server-reachable"))

    def test_replies_without_end(self):
        for behave in (huge_reply, endless_line):
            what = self.of(behave)
            self.assertIn("larger than 8 MiB", what)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # KiB, of the largest child
        self.assertLess(used, 300 * 1024 * SLOW)

    def test_a_server_that_is_stopped(self):
        redis = self.server()
        redis.process.freeze()
        code, findings, text = doctor(address(redis))
        self.assertEqual(code, 1, text)
        self.assertIn("says nothing", self.only_error(findings, "server-reachable")["what"])

    def test_tls_on_a_plain_port(self):
        redis = self.server()
        code, findings, text = doctor(f"rediss://{address(redis)}")
        self.assertEqual(code, 1, text)
        self.assertIn("is this its TLS port?", self.only_error(findings, "server-tls")["what"])

    def test_misuse(self):
        for args in (("redis://",), ("--set", "cache.enabled=maybe"), ("--no-such-flag",)):
            self.assertEqual(doctor(*args)[0], 2, args)
        self.assertEqual(doctor("--admin", f"127.0.0.1:{free_port()}")[0], 1)


def not_ready(proxy):
    """Status and text of /healthz, once it is not 200."""
    url = f"http://127.0.0.1:{proxy.admin_port}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW):
            return None
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


class RunningProxy(DoctorTest):
    """The same checks by a proxy, at its start and when its server is lost or back."""

    def proxy_of(self, upstream, options=None, **how):
        proxy = Proxy(upstream, options, **how)
        self.addCleanup(proxy.stop)
        return proxy

    def level(self, proxy, code):
        """Of the finding, once the proxy has made its checks."""

        def told():
            answer = proxy.api("health")
            return answer["checked_at"] and [
                finding["level"] for finding in answer["findings"] if finding["code"] == code
            ]

        return until(told, what="the first checks")

    def test_findings_at_the_start(self):
        redis = self.server("--timeout", "20")
        proxy = self.proxy_of(redis)
        self.assertEqual(self.level(proxy, "idle-connections"), ["warning"])
        self.assertTrue(proxy.api("health")["ready"])
        until(lambda: "idle-connections: timeout is 20 s" in proxy.process.output(), what="a line")
        self.assertIn("CONFIG SET timeout 0", proxy.process.output())
        code, findings, text = doctor("--admin", f"127.0.0.1:{proxy.admin_port}")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.one(findings, "idle-connections")["level"], "warning")
        self.assertEqual(doctor("--admin", f"127.0.0.1:{proxy.admin_port}", "--strict")[0], 1)

        def names():
            return self.to(redis)("CLIENT", "LIST")

        until(lambda: b"heatsink-doctor" not in names(), what="the end of its connection")

    def test_a_server_that_says_nothing_delays_neither_start_nor_end(self):
        stranger = self.stranger(lambda connection: connection.recv(1 << 20))
        proxy = self.proxy_of(f"redis://{address(stranger)}")
        began = time.monotonic()
        proxy.stop()
        self.assertLess(time.monotonic() - began, 3 * SLOW)

    def test_a_server_that_comes_back_as_a_replica(self):
        redis, master = self.server(), self.server()
        proxy = self.proxy_of(redis)
        self.assertEqual(self.level(proxy, "server-kind"), ["ok"])
        redis.process.kill()
        redis.options += ("--replicaof", "127.0.0.1", str(master.port))
        redis.restart()
        until(lambda: self.level(proxy, "server-kind") == ["warning"], 90, "it is a replica")
        self.assertEqual(len(self.level(proxy, "open-files")), 1, "findings of the start stay")
        until(lambda: "server-kind: " in proxy.process.output(), what="its line in the log")

    def test_the_first_contact_comes_late(self):
        port = free_port()
        proxy = self.proxy_of(f"redis://127.0.0.1:{port}")
        self.assertEqual(self.level(proxy, "server-reachable"), ["error"])
        self.addCleanup(Redis("--port", str(port)).stop)
        until(lambda: self.level(proxy, "server-settings") == ["ok"], what="all of the checks")

    def test_it_can_be_switched_off(self):
        proxy = self.proxy_of(self.server("--timeout", "20"), {"doctor.enabled": "false"})
        with self.assertRaises(urllib.error.HTTPError):
            proxy.api("health")
        self.assertNotIn("idle-connections", proxy.process.output())


if __name__ == "__main__":
    unittest.main()
