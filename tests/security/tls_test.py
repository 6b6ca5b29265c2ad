# SPDX-License-Identifier: Apache-2.0
"""TLS on both sides: what works, and for each thing that can be wrong what the operator reads."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import unittest

from harness.certificates import Authority, openssl
from harness import ERRORS_WHEN_DOWN, HEATSINK, SLOW, RawClient, Redis, encode, until
from harness.processes import free_port
from stage import HOT, DoorTest, tcp

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def end_of(cert):
    """When it expires, in seconds since 1970."""
    command = ["openssl", "x509", "-in", cert, "-noout", "-enddate"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return ssl.cert_time_to_seconds(said.strip().removeprefix("notAfter="))


class TlsTest(DoorTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("openssl") is None:
            raise unittest.SkipTest("needs openssl")

    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder)
        self.cert, self.key = self.authority.sign("server")
        self.with_cert = {"proxy.tls-cert": self.cert, "proxy.tls-key": self.key}

    def plain_server(self):
        redis = Redis()
        self.addCleanup(redis.stop)
        return redis, f"redis://127.0.0.1:{redis.port}"

    def tls_server(self, *options, cert=None, key=None, auth="no"):
        port = free_port()
        redis = Redis(
            *self.authority.server_options(port, cert or self.cert, key or self.key, auth), *options
        )
        self.addCleanup(redis.stop)
        return redis, f"rediss://127.0.0.1:{port}"

    def trusting(self):
        return {"upstream.tls-ca": self.authority.cert}

    def secure(self, port, identity=None, version=None, name="localhost"):
        context = ssl.create_default_context(cafile=self.authority.cert)
        if identity is not None:
            context.load_cert_chain(*identity)
        if version is not None:
            context.minimum_version = context.maximum_version = version
        return context.wrap_socket(tcp(port), server_hostname=name)

    def secure_client(self, port, **how):
        return self.keep(self.secure(port, **how))


class Clients(TlsTest):
    def test_hits_pipelines_and_big_replies(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert, **HOT)
        for version in VERSIONS.values():
            client = self.secure_client(door.port, version=version)
            self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
            self.served_locally(door, client, "k")
            big = bytes(range(256)) * 40_000  # many records
            self.assertEqual(client.ask("SET", "big", big), b"+OK\r\n")
            self.assertEqual(client.ask("GET", "big"), b"$%d\r\n%s\r\n" % (len(big), big))
            client.socket.sendall(encode("GET", "k") * 5000)
            self.assertEqual([client.read() for _ in range(5000)], [b"$1\r\nv\r\n"] * 5000)

    def test_redis_cli(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        answer = subprocess.run(
            ["redis-cli", "--tls", "--cacert", self.authority.cert, "-h", "localhost", "-p",
             str(door.port), "ECHO", "hello"], capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.assertEqual(answer.stdout, "hello\n")

    def test_a_reader_that_is_slow_holds_the_server_back_and_gets_all(self):
        redis, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        value = b"x" * (64 << 20)
        self.keep(tcp(redis.port)).ask("SET", "big", value)
        before = door.process.rss_bytes()
        client = self.secure_client(door.port)
        client.send("GET", "big")
        other = self.secure_client(door.port)
        for _ in range(50):
            self.assertEqual(other.ask("PING"), b"+PONG\r\n")
        self.assertLess(door.process.rss_bytes() - before, 32 << 20)
        got = 0
        while got < len(value) + 13:
            got += len(client.socket.recv(1 << 20))
        self.assertEqual(got, len(value) + len(b"$67108864\r\n") + 2)

    def test_half_closed_clients_get_their_replies(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        connected = self.secure(door.port)
        client = self.keep(connected)
        connected.sendall(encode("PING") * 100)
        socket.socket.shutdown(connected, socket.SHUT_WR)  # that of ssl would end reading, too
        self.assertEqual([client.read() for _ in range(100)], [b"+PONG\r\n"] * 100)
        self.assertEqual(connected.recv(1), b"")

    def test_plaintext_to_the_tls_port(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        client = self.keep(tcp(door.port))
        self.assertEqual(
            client.ask("PING"),
            b"-ERR this port accepts only TLS: use rediss:// or redis-cli --tls\r\n",
        )
        door.says("the client does not use TLS")
        until(lambda: door.metric("heatsink_tls_handshakes_failed_total") == 1, what="the count")

    def test_tls_to_a_plain_port(self):
        _, upstream = self.plain_server()
        door = self.open(upstream)
        for _ in range(20):  # some hellos have a line end in them, some have none
            with self.assertRaises(ssl.SSLError):
                self.secure(door.port)
        door.says("a client uses TLS, but proxy.tls-cert is not set")

    def test_versions_below_1_2_are_refused(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        answer = subprocess.run(
            ["openssl", "s_client", "-connect", f"localhost:{door.port}", "-tls1_1", "-cipher",
             "DEFAULT@SECLEVEL=0"], input=b"", capture_output=True, timeout=60,
        )  # fmt: skip
        self.assertNotEqual(answer.returncode, 0)
        door.says("no TLS version that both sides allow")

    def test_renegotiation_is_refused(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        child = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"localhost:{door.port}", "-tls1_2"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        child.stdin.write(b"R\n")
        child.stdin.flush()
        text, _ = child.communicate(timeout=60)
        self.assertIn(b"RENEGOTIATING", text)
        self.assertIn(b"no renegotiation", text)
        self.assertEqual(self.secure_client(door.port).ask("PING"), b"+PONG\r\n")

    def test_handshakes_that_stall_end_and_are_bounded(self):
        _, upstream = self.plain_server()
        limits = {"proxy.tls-handshake-timeout": "5s", "proxy.tls-maximum-handshakes": 5}
        door = self.open(upstream, **self.with_cert, **limits)
        silent = [tcp(door.port) for _ in range(5)]
        for each in silent:
            self.addCleanup(each.close)
            each.settimeout(20 * SLOW)
        until(lambda: door.metric("heatsink_clients") == 5, what="five under way")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.secure(door.port)
        silent[0].sendall(b"\x16\x03\x01\x40\x00\x01")
        until(lambda: self.ends_though_it_goes_on(silent[0]), what="what comes moves no deadline")
        for each in silent[1:]:
            self.assertEqual(each.recv(100), b"")
        door.says("the handshake took longer than proxy.tls-handshake-timeout")
        until(lambda: door.metric("heatsink_clients") == 0, what="their places are free")
        self.assertEqual(self.secure_client(door.port).ask("PING"), b"+PONG\r\n")

    def ends_though_it_goes_on(self, silent):
        """Sends a byte more of a hello that is long; whether it has been closed."""
        silent.settimeout(0.05)
        try:
            silent.sendall(b"\0")
            return silent.recv(100) == b""
        except TimeoutError:
            return False
        except ConnectionError:
            return True

    def test_certificates_of_clients(self):
        _, upstream = self.plain_server()
        good = self.authority.sign("client")
        expired = self.authority.sign("old", days=-1)
        stranger = Authority(self.folder, "other").sign("stranger")
        asks = {**self.with_cert, "proxy.tls-ca": self.authority.cert}
        for mode in ("required", "optional"):
            door = self.open(upstream, **asks, **{"proxy.tls-client-auth": mode})
            self.assertEqual(
                self.secure_client(door.port, identity=good).ask("PING"), b"+PONG\r\n"
            )
            for bad, why in (
                (expired, "has expired"),
                (stranger, "is not signed by a trusted CA"),
                (None, "the client sent no certificate" if mode == "required" else None),
            ):
                for version in VERSIONS.values():
                    if why is None:
                        client = self.secure_client(door.port, version=version)
                        self.assertEqual(client.ask("PING"), b"+PONG\r\n")
                        continue
                    with self.assertRaises(ssl.SSLError):  # the alert, and not the end alone
                        self.secure_client(door.port, identity=bad, version=version).ask("PING")
                door.says(why or "")

    def test_who_is_turned_away_hears_why_whatever_it_has_sent(self):
        """Closing on unread bytes would reset the connection, and the alert might be lost."""
        _, upstream = self.plain_server()
        asks = {"proxy.tls-ca": self.authority.cert, "proxy.tls-client-auth": "required"}
        door = self.open(upstream, **self.with_cert, **asks)
        for _ in range(30):
            client = self.secure_client(door.port, version=VERSIONS["1.3"])
            with self.assertRaisesRegex(ssl.SSLError, "certificate.required"):
                for _ in range(5):
                    client.send("SET", "k", "x" * 10_000)
                client.read()
        until(lambda: door.metric("heatsink_clients") == 0, what="their places are free")
        self.assertEqual(door.metric("heatsink_tls_handshakes_failed_total"), 30)

    def test_certificates_are_read_again(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **self.with_cert)
        old = self.secure_client(door.port)
        serial = old.socket.getpeercert()["serialNumber"]
        cert, key = self.authority.sign("renewed")
        shutil.copy(key, self.key)
        door.process.signal(signal.SIGHUP)  # the key of another certificate: all stays
        door.says("cannot reload the certificates")
        self.assertEqual(
            self.secure_client(door.port).socket.getpeercert()["serialNumber"], serial
        )
        shutil.copy(cert, self.cert)
        door.process.signal(signal.SIGHUP)
        door.says("certificates reloaded")
        renewed = self.secure_client(door.port).socket.getpeercert()["serialNumber"]
        self.assertNotEqual(renewed, serial)
        self.assertEqual(old.ask("PING"), b"+PONG\r\n")

    def test_the_first_end_of_its_certificates_is_a_metric(self):
        _, upstream = self.tls_server(auth="yes")
        cert, key = self.authority.sign("proxy", days=9)
        identity = {"upstream.tls-cert": cert, "upstream.tls-key": key}
        door = self.open(upstream, **self.with_cert, **self.trusting(), **identity)

        def ends(of):
            row = f'heatsink_tls_certificate_expiry_timestamp_seconds{{of="{of}"}}'
            return door.metric(row, exact=True)

        self.assertEqual((ends("clients"), ends("upstream")), (end_of(self.cert), end_of(cert)))
        renewed, key = self.authority.sign("renewed", days=9)
        with open(renewed, "ab") as chain, open(self.authority.cert, "rb") as authority:
            chain.write(authority.read())
        shutil.copy(key, self.key)
        shutil.copy(renewed, self.cert)
        door.process.signal(signal.SIGHUP)
        door.says("certificates reloaded")
        self.assertLess(end_of(self.authority.cert), end_of(renewed))
        self.assertEqual(ends("clients"), end_of(self.authority.cert))

    def test_other_certificates_are_taken_while_it_runs(self):
        _, upstream = self.plain_server()
        door = self.open(upstream, **{"proxy.tls-handshake-timeout": "9s"})
        plain = self.keep(tcp(door.port))
        self.assertEqual(plain.ask("PING"), b"+PONG\r\n")
        config = f"{self.folder}/heatsink.yaml"

        def apply(cert, key):
            with open(config, "w", encoding="utf-8") as file:
                file.write(f"proxy: {{tls-cert: {cert}, tls-key: {key}}}\n")
            command = [HEATSINK, "config", "apply", config, "--admin", door.admin]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        _, other_key = self.authority.sign("other")
        refused = apply(self.cert, other_key)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("it does not belong to the certificate", refused.stderr)
        self.assertEqual(self.keep(tcp(door.port)).ask("PING"), b"+PONG\r\n")
        applied = apply(self.cert, self.key)
        self.assertEqual(applied.returncode, 0, applied.stderr)
        self.assertEqual(self.secure_client(door.port).ask("PING"), b"+PONG\r\n")
        self.assertEqual(plain.ask("PING"), b"+PONG\r\n", "it was there before")

    def test_files_that_are_no_good_start_nothing(self):
        _, upstream = self.plain_server()
        locked = f"{self.folder}/locked.key"
        openssl("pkey", "-in", self.key, "-aes256", "-passout", "pass:x", "-out", locked)
        _, other_key = self.authority.sign("other")
        old_cert, old_key = self.authority.sign("old", days=-1)
        for cert, key, why in (
            (self.folder + "/none", self.key, "no PEM can be read"),
            (self.cert, locked, "it has a passphrase"),
            (self.cert, other_key, "it does not belong to the certificate"),
            (self.key, self.key, "no PEM can be read"),
            (old_cert, old_key, "it has expired"),
            (self.cert, "", "TLS for clients needs both"),
        ):
            options = {"proxy.tls-cert": cert, "proxy.tls-key": key}
            self.assertIn(why, self.refusal(upstream, **options))
        for options, why in (
            ({"proxy.tls-client-auth": "required"}, "needs TLS for clients"),
            ({**self.with_cert, "proxy.tls-client-auth": "required"}, "needs proxy.tls-ca"),
            ({"upstream.tls-ca": self.cert}, "use rediss://"),
        ):
            self.assertIn(why, self.refusal(upstream, **options))


class Upstream(TlsTest):
    def test_every_kind_of_connection(self):
        redis, upstream = self.tls_server()
        door = self.open(upstream, **self.trusting(), **self.with_cert, **HOT)
        direct = self.keep(tcp(redis.port))
        client = self.secure_client(door.port)
        self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
        self.served_locally(door, client, "k")  # the tracker's connection fills it
        direct.ask("SET", "k", "w")
        until(lambda: client.ask("GET", "k") == b"$1\r\nw\r\n", what="the change was heard of")
        self.assertEqual(client.ask("MULTI"), b"+OK\r\n")  # a private one
        self.assertEqual(client.ask("GET", "k"), b"+QUEUED\r\n")
        self.assertEqual(client.ask("EXEC"), b"*1\r\n$1\r\nw\r\n")
        value = b"y" * (16 << 20)
        self.assertEqual(client.ask("SET", "big", value), b"+OK\r\n")
        self.assertEqual(client.ask("GET", "big"), b"$%d\r\n%s\r\n" % (len(value), value))
        rows = direct.ask("CLIENT", "LIST").decode()
        self.assertNotIn(f"laddr=127.0.0.1:{redis.port} ", rows.replace(
            next(row for row in rows.splitlines() if "cmd=client" in row), ""))  # fmt: skip

    def test_revocation_is_seen(self):
        redis, upstream = self.tls_server()
        door = self.open(upstream, **self.trusting(), **self.with_cert, **HOT)
        client = self.secure_client(door.port)
        client.ask("SET", "k", "v")
        self.served_locally(door, client, "k")
        direct = self.keep(tcp(redis.port))
        direct.ask("CONFIG", "SET", "requirepass", "secret")

        def refused():
            with self.secure(door.port) as connected:
                return RawClient(connected=connected).ask("GET", "k").startswith(b"-NOAUTH")

        until(refused, what="a new client is refused")
        again = self.secure_client(door.port)
        self.assertEqual(again.ask("AUTH", "secret"), b"+OK\r\n")
        self.assertEqual(again.ask("GET", "k"), b"$1\r\nv\r\n")

    def test_mutual(self):
        _, upstream = self.tls_server(auth="yes")
        cert, key = self.authority.sign("proxy")
        identity = {"upstream.tls-cert": cert, "upstream.tls-key": key}
        door = self.open(upstream, **self.trusting(), **identity)
        self.assertEqual(self.keep(tcp(door.port)).ask("PING"), b"+PONG\r\n")
        self.open(upstream, **self.trusting()).says("the server requires a client certificate")

    def unreachable(self, upstream, why, **options):
        brief = {"upstream.connect-timeout": "500ms", **ERRORS_WHEN_DOWN}
        door = self.open(upstream, **{**brief, **options})
        door.says(why)
        client = self.keep(tcp(door.port))
        # A machine that stands still makes a handshake too long: then by the next attempt.
        until(lambda: why.encode() in client.ask("GET", "k"), what=f"a client is told: {why}")

    def test_whom_it_does_not_trust(self):
        stranger = Authority(self.folder, "other").sign("stranger")
        elsewhere = self.authority.sign("elsewhere", hosts="DNS:redis.example")
        old = self.authority.sign("old", days=-1)
        for (cert, key), why in (
            (stranger, "is not signed by a trusted CA"),
            (elsewhere, "does not match the name 127.0.0.1"),
            (old, "has expired"),
        ):
            _, upstream = self.tls_server(cert=cert, key=key)
            self.unreachable(upstream, why, **self.trusting())
            door = self.open(upstream, **{"upstream.tls-verify": "false"})
            door.says("upstream.tls-verify is off")
            self.assertEqual(self.keep(tcp(door.port)).ask("PING"), b"+PONG\r\n")
        self.unreachable(upstream, "is not signed by a trusted CA", **{})

    def test_a_name_by_option(self):
        cert, key = self.authority.sign("elsewhere", hosts="DNS:redis.example")
        _, upstream = self.tls_server(cert=cert, key=key)
        named = {"upstream.tls-server-name": "redis.example"}
        door = self.open(upstream, **self.trusting(), **named)
        self.assertEqual(self.keep(tcp(door.port)).ask("PING"), b"+PONG\r\n")

    def test_what_doctor_says_of_certificates_and_files(self):
        stranger = Authority(self.folder, "other").sign("stranger")
        sets = ("--set", f"upstream.tls-ca={self.authority.cert}")
        sets += ("--set", f"proxy.tls-cert={self.cert}", "--set", f"proxy.tls-key={self.key}")
        os.chmod(self.key, 0o644)

        def told(upstream):
            command = [HEATSINK, "doctor", upstream, *sets]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            return run.returncode, " ".join(run.stdout.split())

        code, text = told(self.tls_server()[1])
        self.assertEqual(code, 0, text)
        self.assertIn("the server's certificate (CN = server) is valid until", text)
        self.assertIn("proxy.tls-cert (CN = server) is valid until", text)
        self.assertIn(f"chmod 600 {self.key}", text)
        code, text = told(self.tls_server(cert=stranger[0], key=stranger[1])[1])
        self.assertEqual(code, 1, text)
        self.assertIn("server-tls no TLS connection: TLS: the peer's certificate is not", text)

    def test_a_plain_port(self):
        redis, _ = self.plain_server()
        upstream = f"rediss://127.0.0.1:{redis.port}"
        door = self.open(upstream, **{"upstream.connect-timeout": "500ms"}, **self.trusting())
        until(lambda: "is this its TLS port?" in door.output(), what="the hint")

    def test_a_server_that_never_shakes_hands(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            upstream = f"rediss://127.0.0.1:{silent.getsockname()[1]}"
            impatient = {"upstream.response-timeout": "500ms", **self.trusting()}
            self.unreachable(upstream, "the TLS handshake timed out", **impatient)


if __name__ == "__main__":
    unittest.main()
