#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GET /api/stream as a page reads it: columns, resuming, and readers that do not read."""

import base64
import json
import socket
import threading
import unittest
import urllib.request

from harness import PATIENCE_S, SLOW, ValueClient, until
from stage import ProxyTest, ServerTest

READERS_MAX = 16
KEYS = [f"product:{i}:price" for i in range(100)]


class Reader:
    """A connection to the stream, whose messages come one by one."""

    def __init__(self, proxy, headers=(), path="/api/stream"):
        self.socket = socket.create_connection(("127.0.0.1", proxy.admin_port))
        self.socket.settimeout(PATIENCE_S * SLOW)
        lines = [f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.text = b""
        self.head = self._until(b"\r\n\r\n").decode()

    def _until(self, end):
        while end not in self.text:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise EOFError(self.text)
            self.text += chunk
        part, self.text = self.text.split(end, 1)
        return part

    def next(self, wanted=None):
        """(event, id or None, data, bytes) of the next message, or of the next one of that kind."""
        while True:
            text = self._until(b"\n\n")
            lines = dict(line.split(": ", 1) for line in text.decode().split("\n"))
            if wanted in (None, lines["event"]):
                return lines["event"], lines.get("id"), json.loads(lines["data"]), len(text) + 2

    def numbers_up_to(self, last):
        """Of the columns that come, in their order."""
        numbers = []
        while not numbers or numbers[-1] < last:
            event, number, data, _ = self.next()
            if event == "column":
                numbers.append(data["number"])
            elif event == "columns":
                numbers += data["numbers"]
            assert number is None or int(number) == numbers[-1], (number, numbers)
        return numbers

    def close(self):
        self.socket.close()


class Load:
    """A steady load of all keys, until it is closed."""

    def __init__(self, port):
        self.over = threading.Event()
        self.port = port
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with ValueClient(self.port) as client:
            while not self.over.is_set():
                for key in KEYS:
                    client("GET", key)
                client("SET", "written", "x")
                self.over.wait(0.05)

    def close(self):
        self.over.set()
        self.thread.join()


class Streams(ProxyTest):
    PROXY_OPTIONS = {"detection.window": "2s"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.load = Load(cls.proxy.port)
        cls.addClassCleanup(cls.load.close)

    def reader(self, *headers):
        reader = Reader(self.proxy, headers)
        self.addCleanup(reader.close)
        return reader

    def test_a_column_a_second_that_equals_the_history(self):
        reader = self.reader()
        self.assertIn("Content-Type: text/event-stream\r\n", reader.head + "\r\n")
        event, _, data, _ = reader.next()
        self.assertEqual(event, "names")
        names = {name["id"]: name["name"] for name in data["names"]}
        is_quiet = False
        while not is_quiet:  # at first keys are new, and become hot
            _, number, column, size = reader.next("column")
            names |= {name["id"]: name["name"] for name in column["names"]}
            _, _, state, state_size = reader.next("state")
            is_quiet = not column["names"] and not state["events"]
        self.assertEqual(int(number), column["number"])
        self.assertLess(size + state_size, 1500)
        after = f"http://127.0.0.1:{self.proxy.admin_port}/api/heatmap?step=1&rows=256&after="
        with urllib.request.urlopen(after + str(column["number"] - 1)) as answer:
            told = json.load(answer)
        self.assertEqual(told["numbers"][0], column["number"])
        self.assertEqual(told["times"][0], column["time"])
        for name, total in column["totals"].items():
            self.assertEqual(told["totals"][name][0], total, name)
        mean = base64.b64decode(column["mean"])
        numbers, number = [], 0
        for difference in base64.b64decode(column["ids"]):
            number = (number + difference) % 1024
            if difference < 255:
                numbers.append(number)
        sent = {names[number]: code for number, code in zip(numbers, mean, strict=True)}
        kept = {row["name"]: base64.b64decode(row["mean"])[0] for row in told["rows"]}
        self.assertEqual(sent, {name: code for name, code in kept.items() if code})
        self.assertGreater(len(sent), 60)

    def test_the_state_is_that_of_the_api(self):
        reader = self.reader()
        state = reader.next("state")[2]
        node = self.proxy.api("hotkeys")["node"]
        self.assertLessEqual(set(state["node"]), set(node))
        self.assertEqual(state["node"]["upstream_up"], node["upstream_up"])
        self.assertEqual(state["node"]["coherence"], node["coherence"])

    def test_it_resumes_by_id(self):
        reader = self.reader()
        last = int(reader.next("column")[1])
        reader.close()
        until(lambda: self.proxy.api(f"heatmap?step=1&after={last + 1}")["numbers"])
        again = self.reader(f"Last-Event-ID: {last}")
        self.assertEqual(again.next()[0], "names")
        numbers = again.numbers_up_to(last + 5)
        # None is missing, and none comes twice. (A slow machine may leave out a second.)
        kept = self.proxy.api(f"heatmap?step=1&after={last}")["numbers"]
        self.assertEqual(numbers, kept[: len(numbers)])

    def test_one_that_was_away_for_long_is_told_so(self):
        reader = self.reader("Last-Event-ID: 1")
        self.assertEqual(reader.next("gap")[2], {"after": 1})
        reader.next("column")

    def test_eight_readers_one_of_them_stopped(self):
        readers = [self.reader() for _ in range(8)]
        for reader in readers:
            reader.next("column")
        # One reads no more; a bounded part of the stream waits in its socket.
        reading = readers[1:]
        first = max(int(reader.next("column")[1]) for reader in reading)
        told = [reader.numbers_up_to(first + 4) for reader in reading]
        kept = self.proxy.api(f"heatmap?step=1&after={first}")["numbers"]
        for numbers in told:
            after = [number for number in numbers if number > first]
            self.assertEqual(after, kept[: len(after)])

    def test_streams_have_a_limit_of_their_own(self):
        readers = []
        try:
            while len(readers) < READERS_MAX:
                reader = Reader(self.proxy)
                if " 200 " not in reader.head:  # those of other tests are still ending
                    reader.close()
                    continue
                readers.append(reader)
            refused = Reader(self.proxy)
            self.assertIn("HTTP/1.1 503 ", refused.head)
            refused.close()
            for page in ("healthz", "metrics"):
                url = f"http://127.0.0.1:{self.proxy.admin_port}/{page}"
                with urllib.request.urlopen(url, timeout=PATIENCE_S * SLOW) as answer:
                    self.assertEqual(answer.status, 200)
        finally:
            for reader in readers:
                reader.close()


class WithToken(ServerTest):
    def test_the_token_is_required(self):
        proxy = self.open_proxy({"admin.token": "0123456789abcdef"})
        refused = Reader(proxy)
        self.addCleanup(refused.close)
        self.assertIn("HTTP/1.1 401 ", refused.head)
        reader = Reader(proxy, ["Authorization: Bearer 0123456789abcdef"])
        self.addCleanup(reader.close)
        self.assertIn("HTTP/1.1 200 ", reader.head)
        self.assertEqual(reader.next()[0], "names")

    def test_the_end_of_the_proxy_does_not_wait_for_readers(self):
        proxy = self.open_proxy()
        reader = Reader(proxy)
        self.addCleanup(reader.close)
        reader.next("state")
        proxy.stop()
        with self.assertRaises((EOFError, ConnectionResetError)):
            while True:
                reader.next()


if __name__ == "__main__":
    unittest.main()
