# SPDX-License-Identifier: Apache-2.0
"""An authority and what it signs, made by openssl in a folder of the test; nothing is kept."""

import subprocess


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


class Authority:
    def __init__(self, folder, name="ca"):
        self.folder, self.name = folder, name
        self.cert, self.key = f"{folder}/{name}.crt", f"{folder}/{name}.key"
        self._key(self.key)
        openssl("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}", "-days", "2",
                "-out", self.cert)  # fmt: skip

    @staticmethod
    def _key(path):
        openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", path)

    def sign(self, name, hosts="DNS:localhost,IP:127.0.0.1", days=2):
        """Certificate and key; with days below 0 it has expired already."""
        cert, key = f"{self.folder}/{name}.crt", f"{self.folder}/{name}.key"
        request, extensions = f"{self.folder}/{name}.csr", f"{self.folder}/{name}.ext"
        self._key(key)
        openssl("req", "-new", "-key", key, "-subj", f"/CN={name}", "-out", request)
        with open(extensions, "w", encoding="ascii") as out:
            out.write(f"subjectAltName={hosts}\n")
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-days",
                str(days), "-set_serial", str(abs(hash(name)) % 10**9 + 1), "-extfile", extensions,
                "-out", cert)  # fmt: skip
        return cert, key

    def server_options(self, port, cert, key, auth="no"):
        """What a Redis server or a Sentinel needs for TLS on `port`: words of a command line."""
        return (
            "--tls-port", str(port), "--tls-cert-file", cert, "--tls-key-file", key,
            "--tls-ca-cert-file", self.cert, "--tls-auth-clients", auth,
        )  # fmt: skip
