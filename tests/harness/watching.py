# SPDX-License-Identifier: Apache-2.0
"""`heatsink watch` as a process of one test."""

import json
import re
import signal
import urllib.error
import urllib.request

from .patience import PATIENCE_S, SLOW, until
from .processes import Process
from .programs import HEATSINK


class Watch:
    """`heatsink watch` of these admin ports, on a free port of its own."""

    def __init__(self, ports, *flags, host="127.0.0.1"):
        of = ",".join(f"{host}:{port}" for port in ports)
        self.process = Process([HEATSINK, "watch", "--of", of, "--listen", "127.0.0.1:0", *flags])
        try:
            found = until(self._ready, PATIENCE_S, "watch ready")
        except AssertionError as error:
            self.process.kill()
            raise AssertionError(f"{error}: {self.process.output()}") from None
        self.port = int(found[1])

    def _ready(self):
        return re.search(r"page is http://127\.0\.0\.1:(\d+)/", self.process.output())

    def ask(self, path, token=None):
        """(status, text)"""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def told(self, path):
        status, text = self.ask(path)
        assert status == 200, (path, status, text)
        return json.loads(text)

    def hotkeys(self):
        return self.told("/api/hotkeys")

    def key(self, name):
        """Its row in /api/hotkeys; None: it is not there."""
        return next((key for key in self.hotkeys()["keys"] if key["name"] == name), None)

    def key_above(self, name, rate):
        key = self.key(name)
        return key and key["rate_low"] > rate and key

    def instance(self, port):
        return next(each for each in self.told("/api/instances")["instances"]
                    if each["name"] == f"127.0.0.1:{port}")  # fmt: skip

    def all_answer(self):
        return all(each["answers"] for each in self.told("/api/instances")["instances"])

    def stop(self):
        status = self.process.end(signal.SIGTERM)
        output = self.process.output()
        if status != 0 or "Sanitizer" in output:
            raise AssertionError(f"heatsink watch ended with {status}:\n{output}")
