# SPDX-License-Identifier: Apache-2.0
"""A master is cut off from the others, alone or together with the proxy.

It goes on answering until it has found out, and with cluster-allow-reads-when-down even then.
"""

import time
import unittest

from cluster_stage import ClusterRows, ClusterTheatre
from harness import PATIENCE_S, ValueClient, private_network, until
from recorded import BOUND_S, COPIES

FORBIDDEN = private_network.enter() if __name__ == "__main__" else "not started by itself"
PROXY = "127.0.0.1"
TIMEOUT_MS = 4000
ALLOWING = ("--cluster-allow-reads-when-down", "yes")


def isolate(node, others, proxy_too=False):
    """Packets between this node (and the proxy) and the others vanish. Tests reach all of them."""
    for other in others:
        private_network.drop(f"ip saddr {node.host} ip daddr {other.host}")
        private_network.drop(f"ip saddr {other.host} ip daddr {node.host}")
        if proxy_too:
            private_network.drop(f"ip saddr {PROXY} ip daddr {other.host}")


@unittest.skipIf(FORBIDDEN, FORBIDDEN)
class CutOff(ClusterRows):
    def setUp(self):
        self.addCleanup(private_network.drop_nothing)

    def test_the_old_master_alone(self):
        """The proxy sees both sides: copies of the old one end before the bound is over."""

        def replica(theatre):
            return theatre.cluster.replica_of(theatre.owner)

        how = {"replicas": 1, "apart": True, "timeout_ms": TIMEOUT_MS, "past": replica}
        with self.playing(**how) as (theatre, play):
            cluster, old = theatre.cluster, theatre.owner
            new = replica(theatre)
            self.bring_in_step(old, new)
            isolate(old, [node for node in cluster.nodes if node is not old])
            until(lambda: new("ROLE")[0] == b"master", 3 * PATIENCE_S, "a new master")
            play.copies_speak(COPIES)
            time.sleep(2 * BOUND_S)  # the partition lasts this much longer
            private_network.drop_nothing()
            until(lambda: old("ROLE")[0] != b"master", 3 * PATIENCE_S, "the old one is a replica")
            play.copies_speak(COPIES)

    def hits_end(self, *options):
        """The proxy is on the side of the old master, which no majority shares."""
        stage = {"replicas": 1, "apart": True, "timeout_ms": TIMEOUT_MS, "server_options": options}
        with ClusterTheatre(**stage) as theatre, ValueClient(theatre.proxies[0].port) as client:
            proxy, cluster, old = theatre.proxies[0], theatre.cluster, theatre.owner
            key = "{moving}0"
            client("SET", key, "v")
            until(lambda: client("GET", key) and proxy.hits() > 0, PATIENCE_S, "a copy")
            isolate(old, [node for node in cluster.nodes if node is not old], proxy_too=True)
            cut = time.monotonic()
            last_hit, hits = cut, proxy.hits()
            while time.monotonic() < cut + 3 * BOUND_S:
                for _ in range(20):
                    client("GET", key)
                if proxy.hits() > hits:
                    hits, last_hit = proxy.hits(), time.monotonic()
            self.assertLess(last_hit - cut, BOUND_S + 0.3)
            self.assertGreater(last_hit, cut)
            private_network.drop_nothing()

            def hit_again():
                client("GET", key)
                return proxy.hits() > hits

            until(hit_again, 6 * PATIENCE_S, "copies speak again")

    def test_the_proxy_with_the_old_master(self):
        self.hits_end()

    def test_the_proxy_with_one_that_answers_reads_all_the_time(self):
        self.hits_end(*ALLOWING)


if __name__ == "__main__":
    unittest.main()
