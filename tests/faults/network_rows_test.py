# SPDX-License-Identifier: Apache-2.0
"""Packets between proxy and server vanish, one way or both, and nobody is told."""

import time
import unittest

from harness import PATIENCE_S, long_form, private_network, until
from recorded import BOUND_S, Recorded, trackers

# The proxy knows the server by an address of its own, which nobody else uses.
SERVER = "127.0.0.2"
NOT_HEARD = f"ip saddr {SERVER}"
NOT_REACHED = f"ip daddr {SERVER}"
BRIEF = {"upstream.response-timeout": "2s", "upstream.backoff-max": "200ms"}
FORBIDDEN = private_network.enter() if __name__ == "__main__" else "not started by itself"


@unittest.skipIf(FORBIDDEN, FORBIDDEN)
class Row04(Recorded):
    def cut(self, *matches, for_s=None):
        """For so long, or until the proxy has given its connections up, and something more."""
        stage = {"options": BRIEF, "server_args": ("--bind", "127.0.0.1", SERVER), "host": SERVER}
        with self.recorded(**stage) as (theatre, _):
            before = self.lost(theatre)
            self.addCleanup(private_network.drop_nothing)
            private_network.drop(*matches)
            if for_s is not None:
                time.sleep(for_s)  # the fault lasts this long
            else:
                self.wait_for_loss(theatre, before)
                until(lambda: self.has_given_up(theatre), PATIENCE_S, "the connection is given up")
            private_network.drop_nothing()
            theatre.wait_coherent()
            until(lambda: len(trackers(theatre.server.port)) == 1, 3 * PATIENCE_S,
                  "no doubled tracker")  # fmt: skip

    def has_given_up(self, theatre):
        return theatre.proxies[0].coherence() not in ("up", "the server does not answer")

    def test_the_server_is_not_heard(self):
        self.cut(NOT_HEARD)

    @long_form("test_the_server_is_not_heard")
    def test_the_server_is_not_reached(self):
        self.cut(NOT_REACHED)

    @long_form("test_the_server_is_not_heard")
    def test_both(self):
        self.cut(NOT_HEARD, NOT_REACHED)

    def test_for_a_moment(self):
        """Shorter than the bound: TCP says it all again."""
        self.cut(NOT_HEARD, for_s=BOUND_S / 3)


if __name__ == "__main__":
    unittest.main()
