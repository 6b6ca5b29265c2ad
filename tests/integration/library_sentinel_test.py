# SPDX-License-Identifier: Apache-2.0
"""The library follows a master: nothing of the old one is served, and copies come back."""

import signal
import unittest

from failover_stage import BACK_WITHIN_S, FailoverTest, Reader
from harness import PATIENCE_S, SLOW, ValueClient, until
from harness.processes import Library
from harness.sentinels import FirstWrite, Replicated, Sentinels, ask, calls_of
from moved_name_stage import MovedNameTest

# Only the server ends a copy.
OPTIONS = {"refresh.enabled": "no", "cache.expire-after-write": "10m", "server.backoff-max": "1s"}


class LibraryFailoverTest(FailoverTest):
    def library_for(self, url, options=None, **how):
        library = Library(url, OPTIONS | (options or {}), **how)
        self.addCleanup(library.stop)
        return library

    def expect_up(self, library, up=True):
        wanted = int(up)
        until(lambda: library.metric("heatsink_coherence_up") == wanted, PATIENCE_S, "the state")


class LibrarySentinelTest(LibraryFailoverTest):
    def start(self):
        self.replicated = Replicated(2)
        self.addCleanup(self.replicated.stop)
        self.sentinels = Sentinels(self.replicated)
        self.addCleanup(self.sentinels.stop)
        self.old = self.replicated.master
        self.library = self.library_for(self.sentinels.url())
        self.make_hot(self.library)
        return Reader(self.library.port), FirstWrite(self.replicated.others(self.old))

    def expect_only_the_new(self, new, reader):
        self.write_on(self.library, new, reader)
        self.expect_hits(self.library)
        self.expect_only_watched(self.old)
        self.expect_quiet(self.old)

    def test_master_killed(self):
        reader, first = self.start()
        with reader, first:
            self.old.process.kill()
            new = first.wait()
            self.assertLess(self.back_after(self.library, first), BACK_WITHIN_S * SLOW)
            self.sentinels.fail_over_no_more()
            # It comes back as a master, and stays one for ten seconds.
            self.old.restart()
            self.write_on(self.library, new, reader)
            self.expect_hits(self.library)
            self.assertEqual(ask(self.old.port, "ROLE")[0], b"master", "else this shows nothing")
            for command in ("get", "set", "exists"):
                self.assertEqual(calls_of(self.old, command), 0, command)

    def test_master_stopped_and_back(self):
        reader, first = self.start()
        with reader, first:
            self.old.process.freeze()
            new = first.wait()
            self.old.process.signal(signal.SIGCONT)
            self.expect_only_the_new(new, reader)

    def test_planned(self):
        """The old one stays a master for eleven seconds, and its clients stay connected."""
        reader, first = self.start()
        with reader, first:
            self.sentinels.ask(self.sentinels.all[0], "SENTINEL", "FAILOVER", "mymaster")
            self.expect_only_the_new(first.wait(), reader)

    def test_a_majority_vouches_for_copies(self):
        self.start()
        for each in self.sentinels.all[1:]:
            each.process.freeze()
        with ValueClient(self.library.port) as client:

            def is_silent():
                before = self.library.hits()
                for _ in range(50):
                    self.assertEqual(client("GET", "k"), b"old")  # reads pass
                return self.library.hits() == before

            until(is_silent, PATIENCE_S, "no hits without a majority")
        self.expect_up(self.library, False)
        self.sentinels.all[1].process.signal(signal.SIGCONT)
        self.expect_hits(self.library)
        self.expect_up(self.library)


class LibraryReplicasTest(LibraryFailoverTest):
    def test_a_promoted_replica_is_followed(self):
        replicated = Replicated(1)
        self.addCleanup(replicated.stop)
        old, new = replicated.servers
        library = self.library_for(
            f"redis+replicas://127.0.0.1:{new.port},127.0.0.1:{old.port}"
        )
        self.make_hot(library)
        with Reader(library.port) as reader:
            self.assertEqual(ask(old.port, "REPLICAOF", "127.0.0.1", str(new.port)), "OK")
            self.assertEqual(ask(new.port, "REPLICAOF", "NO", "ONE"), "OK")
            self.write_on(library, new, reader)
            self.expect_hits(library)


class LibraryMovedNameTest(LibraryFailoverTest, MovedNameTest):
    def test_the_library_goes_along(self):
        library = self.library_for(f"redis://{self.NAME}:{self.old.port}", under=self.under)
        self.expect_it_goes_along(library)
        self.expect_up(library)
        self.expect_hits(library)

    def test_a_name_that_leads_nowhere_at_first(self):
        self.hosts.seek(0)
        self.hosts.truncate()
        library = self.library_for(f"redis://{self.NAME}:{self.old.port}", under=self.under)
        self.expect_up(library, False)
        self.point_to(self.OLD)
        self.expect_up(library)
        self.make_hot(library)


if __name__ == "__main__":
    unittest.main()
