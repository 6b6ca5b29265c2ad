# SPDX-License-Identifier: Apache-2.0
"""CLIENT TRACKING in front of a cluster."""

import unittest

from cluster_stage import ClusterTest
from harness import RawClient


class ClientTracking(ClusterTest):
    """Only one node would send invalidations: without client-tracking: pays all is refused."""

    FORMS = (
        ["ON"], ["on", "OPTIN"], ["ON", "OPTOUT", "NOLOOP"], ["ON", "BCAST", "PREFIX", "b"],
        ["ON", "REDIRECT", "1"], ["ON", "NOTHING"],
    )  # fmt: skip

    def refused(self, client):
        for form in self.FORMS:
            error = client.ask("CLIENT", "TRACKING", *form)
            self.assertTrue(error.startswith(b"-ERR unknown subcommand 'TRACKING'."), (form, error))
            self.assertIn(b"in front of a cluster CLIENT TRACKING needs", error, form)

    def coherent(self, client):
        """The other commands of tracking say what one server says to a client without it."""
        server = self.to_server(resp=3)
        for words in (["TRACKING", "OFF"], ["CACHING", "YES"], ["CACHING", "NO"],
                      ["TRACKINGINFO"], ["GETREDIR"], ["TRACKING"], ["TRACKING", "x"]):  # fmt: skip
            self.assertEqual(client.ask("CLIENT", *words), server.ask("CLIENT", *words), words)

    def test_is_refused(self):
        for resp in (2, 3):
            self.refused(self.to_proxy(resp=resp))
        client = self.to_proxy(resp=3)
        self.refused(client)
        self.coherent(client)

    def test_is_refused_inside_multi(self):
        client = self.to_proxy()
        self.assertEqual(client.ask("MULTI"), b"+OK\r\n")
        self.assertTrue(client.ask("CLIENT", "TRACKING", "ON").startswith(b"-ERR"))
        self.assertTrue(client.ask("EXEC").startswith(b"-EXECABORT"))

    def test_is_refused_by_a_presented_cluster(self):
        proxy = self.open({"proxy.present-as": "cluster"})
        self.refused(self.keep(RawClient(proxy.port, resp=3)))

    def test_is_refused_if_the_proxy_found_the_cluster_by_itself(self):
        one_node = self.open(upstream=self.cluster.url.split(",")[0].replace("+cluster", ""))
        self.refused(self.keep(RawClient(one_node.port, resp=3)))


if __name__ == "__main__":
    unittest.main()
