# SPDX-License-Identifier: Apache-2.0
"""What cluster-aware clients are told: byte for byte what a real cluster of one node tells."""

import re
import unittest

from harness import Proxy, RawClient, Redis, need_programs, until
from harness.processes import MEET_SOON, free_port
from stage import ProxyTest

CLUSTER = {"proxy.present-as": "cluster"}
ID = re.compile(rb"[0-9a-f]{40}")


class OneNode(ProxyTest):
    PROXY_OPTIONS = CLUSTER

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.node = Redis(*MEET_SOON, "--cluster-announce-ip", "127.0.0.1")
        cls.addClassCleanup(cls.node.stop)
        with RawClient(cls.node.port) as node:
            node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", 1)
            until(lambda: b"cluster_state:ok" in node.ask("CLUSTER", "INFO"), what="a cluster")

    def both(self, *words, resp=2):
        """The proxy's and the node's reply, with the ids and ports that differ by nature."""
        replies = []
        for port in (self.proxy.port, self.node.port):
            with RawClient(port, resp=resp) as client:
                raw = ID.sub(b"<id>", client.ask(*words))
            raw = raw.replace(b":%d@%d" % (port, port + 10000), b":<port>@<bus>")
            replies.append(raw.replace(b":%d" % port, b":<port>"))
        return replies

    def own_id(self, port):
        with RawClient(port) as client:
            return ID.search(client.ask("CLUSTER", "MYID"))[0].decode()

    def test_the_same_bytes(self):
        for resp in (2, 3):
            for words in (("SLOTS",), ("SHARDS",), ("NODES",), ("INFO",), ("MYID",), ("LINKS",),
                          ("KEYSLOT", "{tag}key"), ("slots",), ("SLOTS", "more"), ("KEYSLOT",),
                          ("REPLICAS", "nobody"), ("what",), ("COUNT-FAILURE-REPORTS",)):
                ours, theirs = self.both("CLUSTER", *words, resp=resp)
                self.assertEqual(ours, theirs, (resp, words))
            for words in (("CLUSTER",), ("READONLY",), ("READWRITE",), ("ASKING",),
                          ("READONLY", "more")):
                ours, theirs = self.both(*words, resp=resp)
                self.assertEqual(ours, theirs, (resp, words))

    def test_an_id_stays(self):
        own = self.own_id(self.proxy.port)
        for words in (("REPLICAS", own), ("SLAVES", own)):
            with RawClient(self.proxy.port) as client:
                self.assertEqual(client.ask("CLUSTER", *words), b"*0\r\n")
        other = Proxy(self.redis, CLUSTER)
        self.addCleanup(other.stop)
        self.assertNotEqual(self.own_id(other.port), own)
        self.assertEqual(self.own_id(self.proxy.port), own)

    def test_hello_and_info_say_cluster(self):
        for resp in (2, 3):
            client = self.to_proxy()
            self.assertIn(b"$4\r\nmode\r\n$7\r\ncluster\r\n", client.ask("HELLO", resp))
            for section in ((), ("server",), ("everything",), ("keyspace",)):
                with RawClient(self.node.port, resp=resp) as node:
                    theirs = node.ask("INFO", *section)
                ours = client.ask("INFO", *section)
                modes = re.compile(rb"(?:redis_mode|cluster_enabled):\w+")
                self.assertEqual(modes.findall(ours), modes.findall(theirs))
                self.assertEqual(client.ask("PING"), b"+PONG\r\n")  # no byte too many

    def test_hello_with_a_password_says_cluster(self):
        self.to_server().ask("ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all")
        client = self.to_proxy()
        reply = client.ask("HELLO", 3, "AUTH", "app", "pw")
        self.assertIn(b"$4\r\nmode\r\n$7\r\ncluster\r\n", reply)
        self.assertEqual(client.ask("GET", "none"), b"_\r\n")
        self.assertTrue(client.ask("CLUSTER", "SLOTS").startswith(b"*1\r\n"))
        self.assertTrue(client.ask("HELLO", 3, "AUTH", "app", "no").startswith(b"-WRONGPASS"))

    def test_readonly_takes_no_connection(self):
        before = self.proxy.metric("heatsink_private_connections")
        clients = [self.to_proxy() for _ in range(5)]
        for client in clients:
            for word in ("READONLY", "READWRITE", "ASKING"):
                self.assertEqual(client.ask(word), b"+OK\r\n")
            self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")
        self.assertEqual(self.proxy.metric("heatsink_private_connections"), before)
        self.assertNotIn(b"cmd=readonly", self.to_server().ask("CLIENT", "LIST"))

    def test_in_a_pipeline_each_reply_has_its_place(self):
        client = self.to_proxy()
        for words in (("SET", "p", "1"), ("ASKING",), ("GET", "p"), ("CLUSTER", "KEYSLOT", "foo"),
                      ("INFO", "cluster"), ("INCR", "p")):
            client.send(*words)
        replies = client.read_many(6)
        self.assertEqual(replies[:4], [b"+OK\r\n", b"+OK\r\n", b"$1\r\n1\r\n", b":12182\r\n"])
        self.assertIn(b"cluster_enabled:1", replies[4])
        self.assertEqual(replies[5], b":2\r\n")

    def test_what_would_change_a_cluster_is_refused(self):
        client = self.to_proxy()
        for words in (("MEET", "127.0.0.1", self.node.port), ("FAILOVER",), ("RESET",),
                      ("ADDSLOTS", 1), ("FORGET", "x")):
            self.assertRegex(client.ask("CLUSTER", *words),
                             rb"^-ERR heatsink: CLUSTER \w+ is refused: .*a real cluster")
        self.assertRegex(client.ask("CLUSTER", "COUNTKEYSINSLOT", 1), rb"needs a server in cluster")

    def test_in_a_transaction_it_is_refused_and_nothing_runs(self):
        client = self.to_proxy()
        client.ask("SET", "t", "before")
        self.assertEqual(client.ask("MULTI"), b"+OK\r\n")
        self.assertEqual(client.ask("SET", "t", "after"), b"+QUEUED\r\n")
        self.assertRegex(client.ask("CLUSTER", "SLOTS"), rb"^-ERR heatsink: .* inside MULTI")
        self.assertRegex(client.ask("EXEC"), rb"^-EXECABORT")
        self.assertEqual(client.ask("GET", "t"), b"$6\r\nbefore\r\n")

    def test_a_subscriber_gets_the_servers_refusal(self):
        client = self.to_proxy()
        client.ask("SUBSCRIBE", "news")
        self.assertRegex(client.ask("CLUSTER", "SLOTS"), rb"^-ERR Can't execute 'cluster\|slots'")
        client = self.to_proxy(resp=3)
        client.ask("SUBSCRIBE", "news")
        self.assertTrue(client.ask("CLUSTER", "SLOTS").startswith(b"*1\r\n"))

    def test_replies_turned_off(self):
        client = self.to_proxy()
        client.send("CLIENT", "REPLY", "SKIP")
        client.send("INFO")
        client.send("CLIENT", "REPLY", "SKIP")
        client.send("CLUSTER", "SLOTS")
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")


class Login(ProxyTest):
    SERVER_OPTIONS = ("--requirepass", "secret")
    PROXY_OPTIONS = CLUSTER

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis(*cls.SERVER_OPTIONS)
        cls.addClassCleanup(cls.redis.stop)
        cls.proxy = Proxy(f"redis://:secret@127.0.0.1:{cls.redis.port}", CLUSTER)
        cls.addClassCleanup(cls.proxy.stop)

    def test_nothing_before_it(self):
        client = self.to_proxy()
        for words in (("CLUSTER", "SLOTS"), ("READONLY",), ("INFO",)):
            self.assertEqual(client.ask(*words), b"-NOAUTH Authentication required.\r\n")
        client.ask("AUTH", "secret")
        self.assertTrue(client.ask("CLUSTER", "SLOTS").startswith(b"*1\r\n"))


class Announced(unittest.TestCase):
    """Several proxies, and an address that is not the one the client came to."""

    def setUp(self):
        need_programs()
        self.redis = Redis()
        self.addCleanup(self.redis.stop)

    def proxy(self, **options):
        names = {name.replace("_", "-"): value for name, value in options.items()}
        proxy = Proxy(self.redis, CLUSTER | {f"proxy.{name}": v for name, v in names.items()})
        self.addCleanup(proxy.stop)
        return proxy

    def ask(self, proxy, *words):
        with RawClient(proxy.port) as client:
            return client.ask(*words)

    def test_another_address(self):
        proxy = self.proxy(announce_address="proxy.example:7000")
        self.assertIn(b"$13\r\nproxy.example\r\n:7000\r\n", self.ask(proxy, "CLUSTER", "SLOTS"))

    def test_two_proxies_tell_the_same(self):
        ports = (free_port(), free_port())
        all_of_them = ",".join(f"127.0.0.1:{port}" for port in ports)
        two = [self.proxy(announce_address=f"127.0.0.1:{port}", announce_addresses=all_of_them)
               for port in ports]
        told = [self.ask(each, "CLUSTER", "SLOTS") for each in two]
        self.assertEqual(told[0], told[1])
        for port, first, last in zip(ports, (0, 8192), (8191, 16383)):
            self.assertRegex(told[0], rb":%d\r\n:%d\r\n\*4\r\n\$9\r\n127.0.0.1\r\n:%d\r\n"
                             % (first, last, port))
        ids = [ID.search(self.ask(each, "CLUSTER", "MYID"))[0] for each in two]
        self.assertNotEqual(*ids)
        for own, other, each in ((0, 1, two[0]), (1, 0, two[1])):
            nodes = self.ask(each, "CLUSTER", "NODES")
            self.assertIn(b"%s 127.0.0.1:%d@%d myself,master" % (
                ids[own], ports[own], ports[own] + 10000), nodes)
            self.assertIn(b"%s 127.0.0.1:%d@%d master" % (
                ids[other], ports[other], ports[other] + 10000), nodes)


class Server(ProxyTest):
    """By default nothing is different."""

    def test_the_server_answers(self):
        client = self.to_proxy()
        for words in (("CLUSTER", "SLOTS"), ("READONLY",)):
            self.assertEqual(client.ask(*words), self.to_server().ask(*words))
        self.assertIn(b"$10\r\nstandalone", client.ask("HELLO", 2))
        self.assertRegex(client.ask("INFO", "server"), b"(redis|server)_mode:standalone")


if __name__ == "__main__":
    unittest.main()
