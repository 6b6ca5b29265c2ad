#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library's classes for keys on several nodes, beside proxies, in a cluster of three nodes.

`--seconds N`: the length of the run with two writers; without it 5, or 60 in the long form.
"""

import os
import subprocess
import sys
import threading
import time
import unittest

from harness import LONG, Redis, ValueClient, until
from spread_stage import COPIES, TTL_S, Ages, SpreadTest, Turns, Writes

LENGTH_S = 60 if LONG else 5


class Library:
    """A process with the classes. One thread at a time."""

    def __init__(self, url, host="HEATSINK_SPREAD_HOST"):
        self.child = subprocess.Popen(
            [os.environ[host], url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self.lock = threading.Lock()

    def __call__(self, *words):
        with self.lock:
            self.child.stdin.write(" ".join(map(str, words)) + "\n")
            self.child.stdin.flush()
            return self.child.stdout.readline().rstrip("\n")

    def close(self):
        self.child.stdin.close()
        status = self.child.wait()
        self.child.stdout.close()
        assert status == 0, status


class LibraryTest(SpreadTest):
    HOST = "HEATSINK_SPREAD_HOST"

    def open(self):
        return self.keep(Library(f"redis://127.0.0.1:{self.cluster.masters[0].port}", self.HOST))

    def fill(self, library):
        def has_all():
            for _ in range(4 * COPIES):
                library("get", "hot")
            return self.copies_filled()

        until(has_all, what="all copies have a value")

    def test_a_write_through_a_proxy_ends_its_copies(self):
        library = self.open()
        (client,) = self.clients(self.a)
        for value in ("one", "two", "three"):
            client("SET", "hot", value)
            self.assertEqual({library("get", "hot") for _ in range(30)}, {f"value {value}"})
            self.fill(library)
        client("DEL", "hot")
        self.assertEqual({library("get", "hot") for _ in range(30)}, {"none"})

    def test_it_ends_those_of_a_proxy(self):
        library = self.open()
        clients = self.learn("hot")
        self.cluster.owner("hot")("SET", "hot", "new")
        self.assertEqual(library("written", "hot"), "ok")
        self.assertEqual({client("GET", "hot") for client in clients}, {b"new"})

    def test_the_same_counter(self):
        library = self.open()
        (client,) = self.clients(self.a)
        for _ in range(20):
            self.assertEqual(library("add", "count", 5), "ok")
            client("INCR", "count")
        self.assertEqual(library("sum", "count"), "120")
        self.assertEqual(client("GET", "count"), b"120")

    def test_errors(self):
        library = self.open()
        self.cluster.owner("hot")("LPUSH", "hot", "a")
        self.assertIn("WRONGTYPE", library("get", "hot"))

    def test_two_writers(self):
        """One through a proxy, one past it that says so to the library."""
        writes = Writes()
        told, told_here = Ages(writes), Ages(writes)
        library, other = self.open(), self.open()
        (writer,) = self.clients(self.a)
        direct = self.keep(ValueClient(self.cluster.owner("hot").port))
        clients = self.learn("hot")

        def write_through():
            writes.wrote(writer("INCR", "hot"))
            time.sleep(0.1)  # the load of a writer

        def write_past():
            value = direct("INCR", "hot")
            assert library("written", "hot") == "ok"
            writes.wrote(value)
            time.sleep(0.1)  # the load of a writer

        def read(client):
            asked = time.monotonic()
            told.read(asked, int(client("GET", "hot") or 0))

        def read_here():
            asked = time.monotonic()
            text = other("get", "hot")
            told_here.read(asked, 0 if text == "none" else int(text.split()[1]))

        turns = [write_through, write_past, read_here]
        turns += [lambda c=c: read(c) for c in clients[:COPIES]]
        with Turns(turns) as threads:
            time.sleep(LENGTH_S)  # the load of this test
        self.assertEqual(threads.errors, [])
        print(
            f"{len(writes.acknowledged)} writes; reads through the proxy: {told}; with the library:"
            f" {told_here}; bound {TTL_S * 1000:.0f} ms"
        )
        self.assertEqual((told.old, told_here.old), (0, 0))


class LibraryOfCTest(LibraryTest):
    """The same by heatsink.h."""

    HOST = "HEATSINK_SPREAD_C_HOST"


class SingleServerTest(unittest.TestCase):
    """In front of one server the same calls work, and that server does all the work."""

    def test_copies_and_counters(self):
        server = Redis()
        self.addCleanup(server.stop)
        redis = ValueClient(server.port)
        self.addCleanup(redis.close)
        for host in (LibraryTest.HOST, LibraryOfCTest.HOST):
            with self.subTest(host):
                redis("FLUSHALL")
                library = Library(f"redis://127.0.0.1:{server.port}", host)
                self.addCleanup(library.close)
                redis("SET", "hot", "1")
                self.assertEqual({library("get", "hot") for _ in range(30)}, {"value 1"})
                self.assertTrue(redis("KEYS", "*:hs:copy:hot"))
                redis("SET", "hot", "2")
                self.assertEqual(library("written", "hot"), "ok")
                self.assertEqual({library("get", "hot") for _ in range(30)}, {"value 2"})
                self.assertEqual([library("add", "count", n) for n in (5, -2, 40)], ["ok"] * 3)
                self.assertEqual(library("sum", "count"), "43")
                redis("SET", "count", "no number")
                self.assertIn("no integer", library("sum", "count"))


if __name__ == "__main__":
    if "--seconds" in sys.argv:
        at = sys.argv.index("--seconds")
        LENGTH_S = float(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()
