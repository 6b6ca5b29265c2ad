# SPDX-License-Identifier: Apache-2.0
"""The library before a cluster: what it reads while slots move and masters change."""

import bisect
import signal
import threading
import time
import unittest

from failover_stage import STALENESS_S
from harness import PATIENCE_S, Closed, RedisError, ValueClient, need_programs, until
from harness.cluster import Cluster
from harness.processes import Library
from harness.relay import Relay

# Only the servers end a copy.
OPTIONS = {"refresh.enabled": "no", "cache.expire-after-write": "10m", "server.backoff-max": "1s"}
READERS = 3
WRITE_PAUSE_S = 0.05  # so long that copies pay


class Writer:
    """A context: writes 1, 2, 3... to `key`, wherever its slot is.

    `replicas`: a number counts as written when so many replicas have it, so that a fail-over does
    not lose it.
    """

    def __init__(self, cluster, key, replicas=0):
        self.cluster, self.key, self.replicas = cluster, key, replicas
        self.times, self.numbers = [], []  # when a number was confirmed
        self.running = True
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        ports = [node.port for node in self.cluster.nodes]
        number = turn = 0
        while self.running:
            number += 1
            while self.running and not self._write(ports[turn % len(ports)], number):
                turn += 1
                time.sleep(0.01)  # its pause after an error, as clients have one
            self.times.append(time.monotonic())
            self.numbers.append(number)
            time.sleep(WRITE_PAUSE_S)  # paces the writes

    def _write(self, port, number):
        asking = False
        try:
            for _ in range(5):
                with ValueClient(port, timeout_s=2) as client:
                    if asking:
                        client("ASKING")
                    done = client("SET", self.key, number)
                    if done == "OK":
                        return not self.replicas or client("WAIT", self.replicas, 1000) > 0
                kind, _, address = str(done).partition(" ")
                if kind not in ("MOVED", "ASK"):
                    return False
                port, asking = int(address.rsplit(":", 1)[1]), kind == "ASK"
        except (Closed, OSError):
            pass
        return False

    def wait(self, count=3):
        """So many more numbers are written."""
        wanted = len(self.times) + count
        until(lambda: len(self.times) >= wanted, 3 * PATIENCE_S, "writes")

    def confirmed_before(self, at):
        place = bisect.bisect_left(self.times, at)
        return self.numbers[place - 1] if place else 0

    def __enter__(self):
        self.thread.start()
        self.wait()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()


class Readers:
    """A context: reads `key` from the library all the time, and keeps what it was told."""

    def __init__(self, library, key):
        self.library, self.key, self.running = library, key, True
        self.told = []  # (when it was asked, the value)
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(READERS)]

    def _run(self):
        with ValueClient(self.library.port, timeout_s=60) as client:
            while self.running:
                asked = time.monotonic()
                value = client("GET", self.key)
                if isinstance(value, RedisError):
                    time.sleep(0.001)  # its pause after an error, as clients have one
                else:
                    self.told.append((asked, value))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        for thread in self.threads:
            thread.join()


class LibraryClusterTest(unittest.TestCase):
    REPLICAS = 0
    NODE_TIMEOUT_MS = 15000

    @classmethod
    def setUpClass(cls):
        need_programs()

    def setUp(self):
        self.cluster = Cluster(3, self.REPLICAS, timeout_ms=self.NODE_TIMEOUT_MS)
        self.enterContext(self.cluster)

    def library_for(self, url=None, options=None):
        library = Library(url or self.cluster.url, OPTIONS | (options or {}))
        self.addCleanup(library.stop)
        until(lambda: library.problem() == b"", PATIENCE_S, "the library is up")
        return library

    def expect_hits(self, library, key):
        before = library.hits()

        def hit():
            with ValueClient(library.port) as client:
                return not isinstance(client("GET", key), RedisError) and library.hits() > before

        until(hit, 3 * PATIENCE_S, "a hit")

    def expect_fresh(self, readers, writer):
        """No read was older than the bound when it was asked; the last one has the last number."""
        self.assertGreater(len(readers.told), 100)
        for asked, value in readers.told:
            floor = writer.confirmed_before(asked - STALENESS_S)
            if floor:
                self.assertIsNotNone(value)
                self.assertGreaterEqual(int(value), floor)

    def next_of(self, master):
        masters = self.cluster.masters
        return masters[(masters.index(master) + 1) % len(masters)]


class Moves(LibraryClusterTest):
    def test_keys_of_all_nodes(self):
        """Found from the address of one node, too."""
        urls = (self.cluster.url, f"redis://127.0.0.1:{self.cluster.masters[1].port}")
        for turn, url in enumerate(urls):
            library = self.library_for(url)
            with ValueClient(library.port) as client:
                for number in range(30):
                    key = f"{turn}:{number}"
                    self.assertEqual(client("SET", key, number), "OK")
                    self.assertEqual(client("GET", key), str(number).encode())
                    self.assertEqual(self.cluster.owner(key)("GET", key), str(number).encode())
            for key in ("a", "b", "c"):  # of three masters
                self.expect_hits(library, key)

    def test_the_first_command_of_one_node(self):
        """The library has not found out yet that the server is a node."""
        for key in ("a", "b", "c"):
            url = f"redis://127.0.0.1:{self.next_of(self.cluster.owner(key)).port}"
            library = Library(url, OPTIONS)
            self.addCleanup(library.stop)
            with ValueClient(library.port) as client:
                self.assertEqual(client("SET", key, "first"), "OK")

    def test_a_slot_moves_round_the_cluster(self):
        library = self.library_for()
        slot = self.cluster.slot("a")
        with Writer(self.cluster, "a") as writer, Readers(library, "a") as readers:
            self.expect_hits(library, "a")
            for _ in range(4):
                source = self.cluster.owner_of(slot)
                target = self.next_of(source)
                self.cluster.begin_move(slot, source, target)
                writer.wait()
                self.cluster.move_keys(slot, source, target)
                writer.wait()
                self.cluster.end_move(slot, target)
                writer.wait()
            before = library.hits()
            until(lambda: library.hits() > before + 1000, PATIENCE_S, "hits again")
        self.expect_fresh(readers, writer)
        print(f"{len(readers.told)} reads, {library.hits()} hits, {len(writer.times)} writes")

    def test_there_and_back(self):
        library = self.library_for()
        slot = self.cluster.slot("a")
        with Writer(self.cluster, "a") as writer, Readers(library, "a") as readers:
            for _ in range(6):
                source = self.cluster.owner_of(slot)
                self.cluster.move(slot, source, self.next_of(source))
                self.cluster.move(slot, self.next_of(source), source)
            writer.wait()
        self.expect_fresh(readers, writer)

    def test_a_missing_key_of_a_slot_that_moves(self):
        """No push tells of a key that is created on the other node."""
        library = self.library_for()
        source = self.cluster.owner("a")
        target = self.next_of(source)
        self.expect_hits(library, "a")
        self.cluster.begin_move(self.cluster.slot("a"), source, target)
        with ValueClient(target.port) as client:
            client("ASKING")
            self.assertEqual(client("SET", "a", "made"), "OK")
        made_at = time.monotonic()
        with ValueClient(library.port) as client:

            def is_seen():
                asked = time.monotonic()
                value = client("GET", "a")
                self.assertTrue(value == b"made" or asked < made_at + STALENESS_S)
                return value == b"made"

            until(is_seen, PATIENCE_S, "the new value")

    def test_one_master_is_silent(self):
        """Only its keys lose their copies."""
        library = self.library_for()
        for key in ("a", "b", "c"):
            self.expect_hits(library, key)
        silent = self.cluster.owner("a")
        silent.redis.process.freeze()
        until(lambda: silent.host.encode() in library.problem(), PATIENCE_S, "the reason")
        self.expect_hits(library, "b")
        self.expect_hits(library, "c")
        silent.redis.process.signal(signal.SIGCONT)
        until(lambda: library.problem() == b"", PATIENCE_S, "the library is up")
        self.expect_hits(library, "a")


class OtherAddresses(LibraryClusterTest):
    def test_nodes_are_reached_where_the_pairs_say(self):
        relays = [Relay(node.port) for node in self.cluster.masters]
        for relay in relays:
            self.addCleanup(relay.close)
        pairs = ",".join(
            f"127.0.0.1:{node.port}=127.0.0.1:{relay.port}"
            for node, relay in zip(self.cluster.masters, relays)
        )
        url = f"redis+cluster://127.0.0.1:{relays[0].port}"
        library = self.library_for(url, {"server.translate": pairs})
        for tag in ("a", "b", "c"):  # of three masters
            self.expect_hits(library, tag)
        self.assertTrue(all(relay.pairs for relay in relays))


class FailOvers(LibraryClusterTest):
    REPLICAS = 1
    NODE_TIMEOUT_MS = 2000

    def play(self, fail_over):
        library = self.library_for()
        old = self.cluster.owner("a")
        with Writer(self.cluster, "a", replicas=1) as writer, Readers(library, "a") as readers:
            self.expect_hits(library, "a")
            fail_over(old, writer)
            writer.wait()
            before = library.hits()
            until(lambda: library.hits() > before + 1000, 3 * PATIENCE_S, "hits again")
        self.expect_fresh(readers, writer)
        print(f"{len(readers.told)} reads, {library.hits()} hits, {len(writer.times)} writes")

    def wait_for_another(self, old, writer):
        """The new master has no replica that could confirm a write."""
        slot = self.cluster.slot("a")
        other = self.next_of(old)

        def is_another():
            return self.cluster.owner_by(other, slot) not in (None, old.name)

        until(is_another, 3 * PATIENCE_S, "the new master")
        writer.replicas = 0

    def test_planned(self):
        def fail_over(old, _):
            replica = self.cluster.replica_of(old)
            replica("CLUSTER", "FAILOVER")
            until(lambda: self.cluster.owner("a") is replica, PATIENCE_S, "the new master")

        self.play(fail_over)

    def test_master_stopped_and_back(self):
        """What it answers then is worth nothing."""

        def fail_over(old, writer):
            old.redis.process.freeze()
            self.wait_for_another(old, writer)
            writer.wait()
            old.redis.process.signal(signal.SIGCONT)

        self.play(fail_over)

    def test_master_killed(self):
        def fail_over(old, writer):
            old.redis.process.kill()
            self.wait_for_another(old, writer)

        self.play(fail_over)


if __name__ == "__main__":
    unittest.main()
