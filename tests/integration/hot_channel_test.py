# SPDX-License-Identifier: Apache-2.0
"""__heatsink__:hot, the channel by which the proxy tells its clients which keys are hot."""

import itertools
import json
import select
import time
import unittest

from cluster_stage import ClusterTest
from harness import encode, until
from restart_stage import Restarts
from stage import ProxyTest

CHANNEL = "__heatsink__:hot"
HOT = {
    "detection.enabled": "yes",
    "detection.hot-qps": 20,
    "detection.window": "1s",
    "detection.tick": "20ms",
    "cache.admission": "hot",
}


def confirmed(kind, channel, count, resp=2):
    out = (b"*" if resp == 2 else b">") + b"3\r\n"
    for word in (kind, channel):
        out += b"$%d\r\n%s\r\n" % (len(word), word.encode())
    return out + b":%d\r\n" % count


class Reader:
    """The messages that a subscriber has got. Other replies are in `others`, in their order."""

    def __init__(self, client, resp=2):
        self.client, self.resp = client, resp
        self.messages, self.others = [], []

    def sort(self, wire):
        begin = b"3\r\n$7\r\nmessage\r\n$16\r\n" + CHANNEL.encode() + b"\r\n"
        if wire[1:].startswith(begin):
            assert wire[:1] == (b"*" if self.resp == 2 else b">"), wire
            self.messages.append(json.loads(wire[1 + len(begin):].split(b"\r\n", 1)[1]))
        else:
            self.others.append(wire)

    def take(self):
        """What has come so far."""
        if select.select([self.client.socket], [], [], 0)[0]:
            self.client.data += self.client.socket.recv(1 << 20)
        while (wire := self.client.take()) is not None:
            self.sort(wire)

    def ask(self, *args):
        """The next reply that is no message of the channel."""
        self.client.send(*args)
        return self.next_other()

    def next_other(self):
        while not self.others:
            self.sort(self.client.read())
        return self.others.pop(0)

    def next_list(self):
        """The keys of the next list, with what it tells of them; forgets what came before it."""
        while True:
            while not self.messages:
                self.sort(self.client.read())
            message = self.messages.pop(0)
            if message["type"] == "list":
                return {each["key"]: each for each in message["keys"]}

    def change(self, key, states, load=lambda: None):
        """The first change of this key to one of these states, however slow the machine."""

        def told():
            load()
            self.take()
            return [each for each in self.messages if each["type"] == "change"
                    and each["key"] == key and each["state"] in states]

        return until(told, what=f"{key} is {states}")[0]


def reads_of(client, *request):
    def load():
        for _ in range(20):
            client.ask(*request)

    return load


class Subscribers(ProxyTest):
    PROXY_OPTIONS = HOT
    SERVER_OPTIONS = ("--user", "app", "on", ">app-secret", "~*", "&*", "+@all")

    def subscriber(self, resp=2, proxy=None):
        client = self._keep((proxy or self.proxy).port, {"resp": resp})
        reader = Reader(client, resp)
        self.assertEqual(reader.ask("SUBSCRIBE", CHANNEL), confirmed("subscribe", CHANNEL, 1, resp))
        return reader

    def test_a_key_becomes_hot_and_cold(self):
        for resp in (2, 3):
            key = f"hot{resp}"
            reader = self.subscriber(resp)
            self.assertNotIn(key, reader.next_list())
            hot = reader.change(key, {"hot"}, reads_of(self.to_proxy(), "GET", key))
            self.assertEqual((hot["db"], hot["dimension"], hot["copies"]), (0, "requests", True))
            self.assertEqual(hot["template"], "hot*")
            self.assertGreaterEqual(hot["rate_high"], hot["rate_low"])
            cold = reader.change(key, {"cold", "warm"})
            self.assertEqual(cold["before"], "hot")
            self.assertNotIn(key, self.subscriber(resp).next_list())

    def test_a_key_becomes_write_hot(self):
        reader = self.subscriber()
        written = reads_of(self.to_proxy(), "SET", "written", "v")
        self.assertFalse(reader.change("written", {"write-hot"}, written)["copies"])

    def test_a_name_of_any_bytes(self):
        reader = self.subscriber(3)
        hot = reader.change(None, {"hot"}, reads_of(self.to_proxy(), "GET", b"\xff\x00bytes"))
        self.assertEqual(hot["key_base64"], "/wBieXRlcw==")

    def test_a_new_subscriber_gets_what_is_hot_now(self):
        first, load = self.subscriber(), reads_of(self.to_proxy(), "GET", "now")
        first.change("now", {"hot"}, load)
        second = self.subscriber(3)

        def listed():
            load()
            second.ask("SUBSCRIBE", CHANNEL)  # once more: the list once more
            return second.next_list().get("now")

        row = until(listed, what="it is in a list")
        self.assertEqual((row["state"], row["copies"]), ("hot", True))
        self.assertNotIn("before", row)

    def test_other_channels_go_to_the_server_and_this_one_does_not(self):
        monitor, server = self.to_server(), self.to_server()
        monitor.ask("MONITOR")
        for resp in (2, 3):
            reader = self.subscriber(resp)
            replies = [reader.ask("SUBSCRIBE", "a", CHANNEL, "b"), reader.next_other(),
                       reader.next_other()]
            self.assertEqual(replies, [confirmed("subscribe", "a", 2, resp),
                                       confirmed("subscribe", "b", 3, resp),
                                       confirmed("subscribe", CHANNEL, 3, resp)])
            self.assertEqual(reader.ask("PSUBSCRIBE", "p*"), confirmed("psubscribe", "p*", 4, resp))
            server.ask("PUBLISH", "a", "m")
            self.assertIn(b"$1\r\nm\r\n", reader.next_other())
            self.assertEqual(server.ask("PUBSUB", "NUMSUB", CHANNEL)[-4:], b":0\r\n")
            self.assertEqual(server.ask("PUBLISH", CHANNEL, "forged"), b":0\r\n")
            replies = [reader.ask("UNSUBSCRIBE"), reader.next_other(), reader.next_other()]
            counts = sorted(reply[-4:] for reply in replies)
            self.assertEqual(counts, [b":1\r\n", b":2\r\n", b":3\r\n"])
            self.assertEqual(replies[2], confirmed("unsubscribe", CHANNEL, 1, resp))
            self.assertEqual(reader.ask("PUNSUBSCRIBE"), confirmed("punsubscribe", "p*", 0, resp))
        server.ask("ECHO", "end-of-test")
        seen = b""
        while b"end-of-test" not in seen:
            seen += monitor.read()
        self.assertIn(b'"SUBSCRIBE" "a" "b"', seen)
        self.assertNotIn(b'SUBSCRIBE" "' + CHANNEL.encode(), seen)

    def test_the_requests_behind_it_keep_their_places(self):
        client = self.to_proxy(resp=3)
        reader = Reader(client, 3)
        client.send_raw(encode("SET", "k", 1) + encode("SUBSCRIBE", CHANNEL, "a")
                        + encode("GET", "k") + encode("UNSUBSCRIBE", "a") + encode("GET", "k"))
        self.assertEqual([reader.next_other() for _ in range(6)],
                         [b"+OK\r\n", confirmed("subscribe", "a", 1, 3),
                          confirmed("subscribe", CHANNEL, 2, 3), b"$1\r\n1\r\n",
                          confirmed("unsubscribe", "a", 1, 3), b"$1\r\n1\r\n"])

    def test_a_subscriber_in_resp2_may_do_what_the_server_allows(self):
        reader = self.subscriber()
        server = self.to_server()
        server.ask("SUBSCRIBE", "a")
        for command in (["GET", "k"], ["PING"], ["PING", "x"], ["HELLO", 3], ["MULTI"]):
            self.assertEqual(reader.ask(*command), server.ask(*command), command)
        self.assertEqual(reader.ask("RESET"), b"+RESET\r\n")
        self.assertEqual(reader.ask("ECHO", "x"), b"$1\r\nx\r\n")
        self.assertEqual(self.subscriber().ask("QUIT"), b"+OK\r\n")
        until(lambda: self.proxy.metric("heatsink_verdict_subscribers") == 0, what="all have left")

    def test_not_inside_a_transaction(self):
        client = self.to_proxy(resp=3)
        client.ask("MULTI")
        self.assertIn(b"-ERR heatsink: __heatsink__:hot", client.ask("SUBSCRIBE", CHANNEL))
        self.assertIn(b"-EXECABORT", client.ask("EXEC"))

    def test_a_user_of_its_own(self):
        client = self.to_proxy()
        self.assertEqual(client.ask("AUTH", "app", "app-secret"), b"+OK\r\n")
        self.assertIn(b"-NOPERM heatsink: ", client.ask("SUBSCRIBE", CHANNEL))
        open_to_all = self.open_proxy({"proxy.hot-channel": "all"})
        client = self._keep(open_to_all.port, {})
        client.ask("AUTH", "app", "app-secret")
        self.assertEqual(client.ask("SUBSCRIBE", CHANNEL), confirmed("subscribe", CHANNEL, 1))

    def test_what_the_server_refuses_is_refused_whole(self):
        self.to_server().ask("ACL", "SETUSER", "default", "resetchannels")
        self.addCleanup(lambda: self.to_server().ask("ACL", "SETUSER", "default", "allchannels"))
        reader = Reader(self.to_proxy())
        self.assertIn(b"-NOPERM", reader.ask("SUBSCRIBE", CHANNEL, "a"))
        self.assertEqual(reader.ask("ECHO", "x"), b"$1\r\nx\r\n")
        self.assertEqual(reader.ask("SUBSCRIBE", CHANNEL), confirmed("subscribe", CHANNEL, 1))

    def test_off_it_is_a_channel_of_the_server(self):
        client = self._keep(self.open_proxy({"proxy.hot-channel": "off"}).port, {})
        client.ask("SUBSCRIBE", CHANNEL)
        self.assertEqual(self.to_server().ask("PUBLISH", CHANNEL, "m"), b":1\r\n")

    def test_a_subscriber_that_does_not_read_is_closed(self):
        proxy = self.open_proxy({"proxy.client-output-limit": "64kb"})
        client = self._keep(proxy.port, {"resp": 2, "receive_buffer": 4096})
        other = self._keep(proxy.port, {})
        keys = (f"{i:0200}" for i in itertools.count())

        def closed():
            # Confirmations fill what the kernel keeps; then the client is held back, and changes
            # come all the same.
            reads_of(other, "GET", next(keys))()
            client.send_raw(encode("SUBSCRIBE", CHANNEL) * 10)
            return proxy.metric("heatsink_verdict_subscribers") == 0

        client.ask("SUBSCRIBE", CHANNEL)
        try:
            until(closed, what="it is closed")
        except ConnectionError:
            pass
        until(lambda: proxy.metric("heatsink_verdict_subscribers") == 0, what="it is closed")


class AHandOver(Restarts):
    OPTIONS = {**Restarts.OPTIONS, **HOT, "proxy.workers": 2}

    def test_subscribers_go_along_and_get_a_list_afresh(self):
        readers = [Reader(self.client(resp=resp), resp) for resp in (2, 3, 3)]
        for reader in readers:
            reader.ask("SUBSCRIBE", CHANNEL)
            reader.next_list()
        self.assertEqual(readers[2].ask("SUBSCRIBE", "c"), confirmed("subscribe", "c", 2, 3))
        self.restart()
        load = reads_of(self.client(), "GET", "k")
        for reader in readers:
            reader.next_list()
            reader.change("k", {"hot"}, load)
        self.assertEqual(self.client().ask("PUBLISH", "c", "m"), b":1\r\n")
        self.assertIn(b"$1\r\nm\r\n", readers[2].next_other())
        self.assertEqual(readers[2].ask("UNSUBSCRIBE", "c"), confirmed("unsubscribe", "c", 1, 3))


class InFrontOfACluster(ClusterTest):
    PROXY_OPTIONS = HOT

    def test_keys_of_all_nodes_and_shard_channels_beside_it(self):
        reader = Reader(self.to_proxy(resp=3), 3)
        self.assertEqual(reader.ask("SUBSCRIBE", CHANNEL), confirmed("subscribe", CHANNEL, 1, 3))
        for shard in ("s1", "s2"):
            reader.ask("SSUBSCRIBE", shard)
        for key in ("a", "b", "c"):
            reader.change(key, {"hot"}, reads_of(self.to_proxy(), "GET", key))
        self.assertEqual(self.to_proxy().ask("SPUBLISH", "s1", "m"), b":1\r\n")
        self.assertIn(b"smessage", reader.next_other())
        reply = reader.ask("SUBSCRIBE", "__keyspace@0__:a", "n")
        self.assertEqual([reply, reader.next_other()],
                         [confirmed("subscribe", "__keyspace@0__:a", 2, 3),
                          confirmed("subscribe", "n", 3, 3)])

    def test_it_outlasts_the_shard_channels_beside_it(self):
        reader = Reader(self.to_proxy(resp=3), 3)
        reader.ask("SUBSCRIBE", CHANNEL)
        reader.ask("SSUBSCRIBE", "s3")
        reader.ask("SUNSUBSCRIBE", "s3")
        ends = time.monotonic() + 2.5  # the proxy looks once a second which nodes it must hear
        keys = (f"k{i}" for i in itertools.count())
        while time.monotonic() < ends:
            key = next(keys)
            reader.change(key, {"hot"}, reads_of(self.to_proxy(), "GET", key))

    def test_not_inside_a_transaction(self):
        client = self.to_proxy(resp=3)
        client.ask("MULTI")
        self.assertIn(b"-ERR heatsink: __heatsink__:hot", client.ask("SUBSCRIBE", CHANNEL))
        self.assertIn(b"-EXECABORT", client.ask("EXEC"))


if __name__ == "__main__":
    unittest.main()
