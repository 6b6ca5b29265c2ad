# SPDX-License-Identifier: Apache-2.0
"""What all clients together may make the proxy keep, and what becomes of one that is too much."""

import contextlib
import re
import resource
import unittest

from harness import SLOW, Closed, RawClient, drain, encode, until
from stage import ProxyTest

MEBI = 1 << 20
ELEMENT, COUNT = b"x" * 900_000, 16
PATIENT = {"upstream.connect-timeout": "1m"}  # the server sends gigabytes meanwhile


class Kept(ProxyTest):
    def cut_off(self, reason):
        return self.proxy.by_label("heatsink_clients_cut_off_total", "reason")[reason]

    def pop_unread(self, stack, name):
        """A client that has popped 14 MB and does not read them."""
        server = self.to_server()
        server.ask("DEL", name)
        for _ in range(COUNT):
            server.ask("RPUSH", name, ELEMENT)
        client = stack.enter_context(self.to_proxy(receive_buffer=65536))
        client.send("LPOP", name, COUNT)
        until(lambda: server.ask("EXISTS", name) == b":0\r\n", what="popped")
        return client


class HeldBack(Kept):
    PROXY_OPTIONS = PATIENT | {"proxy.maximum-memory": "32mb"}
    CLIENTS, COMMANDS = 40, 60

    def test_reads_wait_at_the_server(self):
        """2 GB of replies that nobody reads yet: bounded, and all of them come when they do."""
        self.to_server().ask("SET", "big", ELEMENT)
        with contextlib.ExitStack() as stack:
            clients = []
            for _ in range(self.CLIENTS):
                clients.append(stack.enter_context(self.to_proxy(receive_buffer=65536)))
                clients[-1].send_raw(encode("GET", "big") * self.COMMANDS)
            for client in clients:
                client.receive()
            self.assertLess(self.proxy.metric("heatsink_client_buffers_bytes"), 48 * MEBI)
            self.assertLess(self.proxy.process.rss_bytes(), 200 * MEBI * SLOW)
            for client in clients[::10]:
                drain(client, self.COMMANDS * (len(ELEMENT) + len(b"$900000\r\n\r\n")))
        self.assertEqual(self.cut_off("maximum-memory"), 0)


class Exhausted(Kept):
    PROXY_OPTIONS = PATIENT | {"proxy.maximum-memory": "16mb"}

    def test_the_largest_goes(self):
        """What has been popped cannot be asked for again: past the budget a client must go."""
        small = self.to_proxy()
        with contextlib.ExitStack() as stack:
            first = self.pop_unread(stack, "first")
            others = [self.pop_unread(stack, f"other{i}") for i in range(3)]
            until(lambda: self.cut_off("maximum-memory") > 0, what="one is closed")
            self.assertEqual(small.ask("PING"), b"+PONG\r\n")
            ends = [self.is_whole(client) for client in [first, *others]]
            self.assertIn(False, ends)
        self.assertLess(self.proxy.process.rss_bytes(), 150 * MEBI * SLOW)

    def test_channels_count(self):
        """A client that subscribes to ever more channels and reads all answers is too much, too."""
        client = self.to_proxy()
        with self.assertRaises((Closed, ConnectionError)):
            for first in range(0, 400_000, 1000):
                client.send("SUBSCRIBE", *(f"{i:060d}" for i in range(first, first + 1000)))
                client.read_many(1000)
        until(lambda: self.cut_off("maximum-memory") > 0, what="it is counted")

    def is_whole(self, client):
        try:
            client.read()
            return True
        except Closed:
            return False


class OutOfMemory(Kept):
    PROXY_OPTIONS = PATIENT | {"proxy.maximum-memory": "16gb"}  # so that the system says no first

    def leave_address_space(self, size):
        """As `ulimit -v`, from now on."""
        pid = self.proxy.process.child.pid
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            taken = int(re.search(r"VmSize:\s+(\d+) kB", status.read())[1]) * 1024
        resource.prlimit(pid, resource.RLIMIT_AS, (taken + size, taken + size))

    @unittest.skipIf(SLOW > 1, "the sanitizers need address space")
    def test_one_client_ends_and_no_other(self):
        other = self.to_proxy()
        self.assertEqual(other.ask("PING"), b"+PONG\r\n")
        self.leave_address_space(64 * MEBI)
        with contextlib.ExitStack() as stack:
            for i in range(12):
                self.pop_unread(stack, f"list{i}")
            until(lambda: self.cut_off("out-of-memory") > 0, what="one is closed")
            self.assertEqual(other.ask("PING"), b"+PONG\r\n")
        with RawClient(self.proxy.port) as late:
            self.assertEqual(late.ask("PING"), b"+PONG\r\n")


if __name__ == "__main__":
    unittest.main()
