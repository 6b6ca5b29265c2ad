# SPDX-License-Identifier: Apache-2.0
"""What a client's connection keeps: login, messages, tracking, MONITOR, waiting, its last words."""

import socket
import unittest

from harness import Proxy, RawClient, Redis, encode, need_programs, until
from stage import ProxyTest

HOT = {
    "detection.hot-qps": 5,
    "detection.window": "1s",
    "detection.tick": "10ms",
    "detection.write-hot-ratio": 0,
}


def make_hot(proxy, client, key):
    """Reads the key until it is served locally."""

    def served():
        before = proxy.metric("heatsink_local_hits_total")
        for _ in range(40):
            client.ask("GET", key)
        return proxy.metric("heatsink_local_hits_total") > before

    until(served, what=f"{key} served locally")


class Waiting(ProxyTest):
    def listed(self, command):
        rows = self.to_server().ask("CLIENT", "LIST").decode()
        return [row for row in rows.splitlines() if f"cmd={command} " in row]

    def wait_for_blocked(self, command):
        until(lambda: self.listed(command), what=f"{command} blocked")

    def test_wakes_up(self):
        waiting = self.to_proxy()
        waiting.send("BLPOP", "q", 0)
        self.wait_for_blocked("blpop")
        self.assertEqual(self.to_proxy().ask("RPUSH", "q", "v"), b":1\r\n")
        self.assertEqual(waiting.read(), b"*2\r\n$1\r\nq\r\n$1\r\nv\r\n")

    def test_times_out(self):
        self.assertEqual(self.to_proxy().ask("BLPOP", "nothing", "0.05"), b"*-1\r\n")
        self.assertEqual(self.to_proxy(resp=3).ask("BLPOP", "nothing", "0.05"), b"_\r\n")

    def test_keeps_its_place_in_a_pipeline(self):
        client = self.to_proxy()
        client.send_raw(
            encode("SET", "p", 1) + encode("BLPOP", "p-list", 0) + encode("INCR", "p") * 3
        )
        self.assertEqual(client.read(), b"+OK\r\n")
        self.wait_for_blocked("blpop")
        self.assertEqual(self.to_proxy().ask("GET", "p"), b"$1\r\n1\r\n")
        self.to_proxy().ask("RPUSH", "p-list", "x")
        expected = [b"*2\r\n$6\r\np-list\r\n$1\r\nx\r\n", b":2\r\n", b":3\r\n", b":4\r\n"]
        self.assertEqual(client.read_many(4), expected)

    def test_does_not_delay_others(self):
        waiting = [self.to_proxy() for _ in range(20)]
        for client in waiting:
            client.send("BRPOP", "never", 0)
        self.assertEqual(self.to_proxy().ask("PING"), b"+PONG\r\n")

    def test_xread(self):
        waiting = self.to_proxy()
        waiting.send("XREAD", "BLOCK", 0, "STREAMS", "st", "$")
        self.wait_for_blocked("xread")
        self.to_proxy().ask("XADD", "st", "1-1", "f", "v")
        self.assertIn(b"$3\r\n1-1\r\n", waiting.read())

    def test_wait_follows_the_clients_writes(self):
        client = self.to_proxy()
        client.send_raw(encode("SET", "w", 1) + encode("WAIT", 0, 100) + encode("WAIT", 1, 20))
        self.assertEqual(client.read_many(3), [b"+OK\r\n", b":0\r\n", b":0\r\n"])

    def test_a_client_that_has_gone_no_longer_waits(self):
        for leave in (RawClient.close, lambda c: c.socket.shutdown(socket.SHUT_WR)):
            client = self.to_proxy()
            client.send("BLMOVE", "gone", "x", "LEFT", "LEFT", 0)
            self.wait_for_blocked("blmove")
            leave(client)
            until(lambda: not self.listed("blmove"), what="the server forgets it")

    def test_a_client_that_has_gone_before_its_command_was_sent(self):
        with socket.create_connection(("127.0.0.1", self.proxy.port)) as raw:
            raw.sendall(encode("SET", "g", 1) + encode("BZPOPMIN", "gone", 0))
        until(lambda: b":0" not in self.to_server().ask("EXISTS", "g"), what="SET")
        until(lambda: not self.listed("bzpopmin"), what="the server forgets it")


class HalfClosed(ProxyTest):
    """As `printf ... | nc` does: all requests, then the end, then reading.

    For commands that may wait, see leaving_test.py.
    """

    def replies_after_the_end(self, requests):
        client = self.to_proxy()
        client.send_raw(requests)
        client.socket.shutdown(socket.SHUT_WR)
        return client.read_to_end()

    def test_plain(self):
        requests = b"SET k v\r\nGET k\r\n" + encode("MULTI") + encode("GET", "k") + encode("EXEC")
        replies = b"+OK\r\n$1\r\nv\r\n+OK\r\n+QUEUED\r\n*1\r\n$1\r\nv\r\n"
        self.assertEqual(self.replies_after_the_end(requests), replies)

    def test_thousands(self):
        self.assertEqual(self.replies_after_the_end(encode("PING") * 5000), b"+PONG\r\n" * 5000)

    def test_big_reply(self):
        self.to_server().ask("SET", "big", b"x" * 8_000_000)
        reply = self.replies_after_the_end(encode("GET", "big"))
        self.assertEqual(len(reply), 8_000_000 + len(b"$8000000\r\n\r\n"))

    def test_subscribe(self):
        self.assertIn(b"$1\r\na\r\n:1\r\n", self.replies_after_the_end(encode("SUBSCRIBE", "a")))

    def test_half_a_request(self):
        self.assertEqual(self.replies_after_the_end(b"PING\r\n*2\r\n$3\r\nGET"), b"+PONG\r\n")

    def test_quit(self):
        replies = self.replies_after_the_end(b"PING\r\nQUIT\r\nPING\r\n")
        self.assertEqual(replies, b"+PONG\r\n+OK\r\n")


class Messages(ProxyTest):
    PROXY_OPTIONS = HOT

    def published(self, channel, message):
        reply = self.to_server().ask("PUBLISH", channel, message)
        self.assertNotEqual(reply, b":0\r\n")

    def test_resp2(self):
        client = self.to_proxy()
        client.send_raw(encode("SUBSCRIBE", "a", "b") + encode("PING"))
        self.assertEqual(client.read_many(3)[2], b"*2\r\n$4\r\npong\r\n$0\r\n\r\n")
        self.published("b", "hello")
        self.assertEqual(client.read(), b"*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$5\r\nhello\r\n")
        self.assertTrue(client.ask("GET", "k").startswith(b"-ERR Can't execute 'get': only (P|S)"))
        client.send("UNSUBSCRIBE")
        client.read_many(2)
        self.assertEqual(client.ask("SET", "k", "v"), b"+OK\r\n")

    def test_resp3_commands_between_messages(self):
        client = self.to_proxy(resp=3)
        make_hot(self.proxy, client, "hot3")
        confirmed = b">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
        self.assertEqual(client.ask("SUBSCRIBE", "c"), confirmed)
        message = b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n"
        for i in range(30):
            self.published("c", "m")
            client.send_raw(encode("INCR", "count") + encode("GET", "hot3") + encode("PING"))
            got = client.read_many(4)
            got.remove(message)
            self.assertEqual(got, [b":%d\r\n" % (i + 1), b"_\r\n", b"+PONG\r\n"])

    def test_a_hit_does_not_cut_a_big_message(self):
        client = self.to_proxy(resp=3)
        make_hot(self.proxy, client, "hot-in-message")
        client.ask("SUBSCRIBE", "big")
        payload = b"m" * 3_000_000
        message = b">3\r\n$7\r\nmessage\r\n$3\r\nbig\r\n$3000000\r\n" + payload + b"\r\n"
        publisher = self.to_server()
        for _ in range(5):
            publisher.send("PUBLISH", "big", payload)
            client.send_raw(encode("GET", "hot-in-message") * 300)
            got = client.read_many(301)
            got.remove(message)
            self.assertEqual(got, [b"_\r\n"] * 300)
            publisher.read()

    def test_messages_during_a_pipeline_of_replies_that_look_like_them(self):
        client = self.to_proxy()
        client.ask("CLIENT", "ID")  # from now on all of it travels on one connection
        client.ask("DEL", "m")
        client.ask("RPUSH", "m", "message", "a", "b")
        lrange = encode("LRANGE", "m", 0, -1)
        client.send_raw(lrange + encode("SUBSCRIBE", "a") + encode("UNSUBSCRIBE") + lrange)
        looks = b"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n"
        got = client.read_many(4)
        self.assertEqual([got[0], got[3]], [looks, looks])
        self.assertEqual(client.ask("RESET"), b"+RESET\r\n")  # waits until nothing is owed

    def test_patterns_and_shards(self):
        client = self.to_proxy()
        client.ask("PSUBSCRIBE", "p*")
        client.ask("SSUBSCRIBE", "s")
        self.published("pq", "x")
        self.assertTrue(client.read().startswith(b"*4\r\n$8\r\npmessage\r\n"))
        self.to_proxy().ask("SPUBLISH", "s", "y")
        self.assertEqual(client.read(), b"*3\r\n$8\r\nsmessage\r\n$1\r\ns\r\n$1\r\ny\r\n")

    def test_subscribed_by_exec(self):
        for resp in (2, 3):
            client = self.to_proxy(resp=resp)
            for command in (["MULTI"], ["SUBSCRIBE", f"e{resp}"], ["EXEC"]):
                client.ask(*command)
            self.published(f"e{resp}", "x")
            self.assertIn(b"message\r\n", client.read())

    def test_unsubscribed_at_the_server_when_the_client_leaves(self):
        client = self.to_proxy()
        client.ask("SUBSCRIBE", "leaves")
        client.close()
        server = self.to_server()
        until(lambda: server.ask("PUBLISH", "leaves", "x") == b":0\r\n", what="unsubscribed")

    def test_monitor(self):
        client = self.to_proxy()
        self.assertEqual(client.ask("MONITOR"), b"+OK\r\n")
        self.to_server().ask("SET", "seen", "by-monitor")
        until(lambda: b'"by-monitor"' in client.read(), what="the command seen")
        client.send("RESET")
        until(lambda: client.read() == b"+RESET\r\n", what="out of MONITOR")
        self.assertEqual(client.ask("PING"), b"+PONG\r\n")

    def test_monitor_of_a_client_that_leaves(self):
        client = self.to_proxy()
        client.ask("MONITOR")
        client.socket.shutdown(socket.SHUT_WR)
        client.read_to_end()
        server = self.to_server()
        until(lambda: b"cmd=monitor" not in server.ask("CLIENT", "LIST"), what="MONITOR ended")

    def test_a_silenced_stream(self):
        client, server = self.to_proxy(), self.to_server()
        client.send_raw(encode("CLIENT", "REPLY", "OFF") + encode("MONITOR"))
        until(lambda: b"cmd=monitor" in server.ask("CLIENT", "LIST"), what="MONITOR")
        server.ask("ECHO", "unheard")
        self.assertEqual(client.ask("RESET"), b"+RESET\r\n")


class Tracking(ProxyTest):
    PROXY_OPTIONS = HOT

    def test_resp3(self):
        client = self.to_proxy(resp=3)
        make_hot(self.proxy, client, "t")
        self.assertEqual(client.ask("CLIENT", "TRACKING", "ON"), b"+OK\r\n")
        client.ask("GET", "t")
        self.to_proxy().ask("SET", "t", "new")
        self.assertEqual(client.read(), b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nt\r\n")
        self.assertEqual(client.ask("GET", "t"), b"$3\r\nnew\r\n")

    def test_redirected(self):
        listener, client = self.to_proxy(), self.to_proxy()
        number = listener.ask("CLIENT", "ID")[1:-2]
        listener.ask("SUBSCRIBE", "__redis__:invalidate")
        self.assertEqual(client.ask("CLIENT", "TRACKING", "ON", "REDIRECT", number), b"+OK\r\n")
        client.ask("GET", "r")
        self.to_proxy().ask("SET", "r", "new")
        self.assertIn(b"__redis__:invalidate\r\n*1\r\n$1\r\nr\r\n", listener.read())

    def test_client_info(self):
        client = self.to_proxy()
        self.assertIn(b" name= ", client.ask("CLIENT", "INFO"))
        client.ask("CLIENT", "SETNAME", "first")
        self.assertIn(b" name=first ", client.ask("CLIENT", "INFO"))
        other = self.to_proxy()
        other.ask("CLIENT", "SETNAME", "second")
        self.assertEqual(other.ask("CLIENT", "ID"), other.ask("CLIENT", "ID"))
        self.assertIn(b" name=second ", other.ask("CLIENT", "INFO"))
        self.assertIn(b" name=second ", client.ask("CLIENT", "LIST"))


class Order(ProxyTest):
    """What is asked again because its reply is too big to share must not see what came after it."""

    def test_a_big_read_before_a_write(self):
        big = b"x" * 3_000_000
        client = self.to_proxy()
        for _ in range(5):
            self.to_server().ask("SET", "o", big)
            client.send_raw(encode("GET", "o") + encode("SET", "o", "small") + encode("GET", "o"))
            self.assertEqual(client.read(), b"$3000000\r\n" + big + b"\r\n")
            self.assertEqual(client.read_many(2), [b"+OK\r\n", b"$5\r\nsmall\r\n"])

    def test_a_long_list_before_its_end(self):
        items = [str(i) for i in range(40_000)]
        self.to_server().ask("RPUSH", "queue", *items)
        client = self.to_proxy()
        client.send_raw(encode("LRANGE", "queue", 0, -1) + encode("DEL", "queue"))
        self.assertTrue(client.read().startswith(b"*40000\r\n"))
        self.assertEqual(client.read(), b":1\r\n")

    def test_big_reads_and_hits_in_a_pipeline(self):
        big = b"y" * 2_000_000
        for i in range(3):
            self.to_server().ask("SET", f"big{i}", big + b"%d" % i)
        client = self.to_proxy()
        for _ in range(3):
            names = ["big0", "none", "big1", "big1", "none", "big2", "none"]
            client.send_raw(b"".join(encode("GET", name) for name in names))
            for name, reply in zip(names, client.read_many(len(names))):
                expected = b"$-1\r\n" if name == "none" else b"$2000001\r\n" + big + b"%c\r\n"
                self.assertEqual(reply, expected.replace(b"%c", name[-1].encode()))

    def test_select_of_several_databases_by_many_clients(self):
        clients = [self.to_proxy() for _ in range(8)]
        for turn in range(3):
            for i, client in enumerate(clients):
                request = encode("SELECT", i) + encode("SET", "db", f"{i}-{turn}")
                client.send_raw(request + encode("GET", "db"))
            for i, client in enumerate(clients):
                self.assertEqual(client.read_many(3)[2], b"$3\r\n%d-%d\r\n" % (i, turn))


class Login(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.redis = Redis("--requirepass", "secret")
        self.addCleanup(self.redis.stop)

    def server(self):
        client = RawClient(self.redis.port)
        self.addCleanup(client.close)
        self.assertEqual(client.ask("AUTH", "secret"), b"+OK\r\n")
        return client

    def proxy(self, credentials):
        proxy = Proxy(f"redis://{credentials}127.0.0.1:{self.redis.port}", HOT)
        self.addCleanup(proxy.stop)
        return proxy

    def connect(self, proxy, resp=2):
        client = RawClient(proxy.port, resp)
        self.addCleanup(client.close)
        return client

    def same_as_server(self, proxy, *commands):
        """The commands one by one on a fresh connection to each."""
        replies = []
        for port in (self.redis.port, proxy.port):
            client = RawClient(port)
            self.addCleanup(client.close)
            replies.append([client.ask(*command) for command in commands])
        self.assertEqual(replies[1], replies[0])

    def test_password_asked_for(self):
        for credentials in ("", ":secret@"):
            with self.subTest(url=credentials):
                proxy = self.proxy(credentials)
                self.same_as_server(
                    proxy, ["GET", "k"], ["NOSUCH"], ["GET"], ["PING"], ["HELLO", "3"], ["HELLO"],
                    ["HELLO", "9"], ["HELLO", "2", "NOPE"], ["CLIENT", "SETNAME", "x"],
                    ["AUTH", "wrong"], ["AUTH", "nobody", "secret"], ["AUTH"], ["GET", "k"],
                    ["MULTI"], ["SUBSCRIBE", "a"], ["RESET"], ["SELECT", "1"], ["AUTH", "secret"],
                    ["SELECT", "3"], ["SET", "k", "in-3"], ["AUTH", "wrong"], ["GET", "k"],
                    ["AUTH", "secret"], ["GET", "k"], ["RESET"], ["GET", "k"], ["QUIT"],
                )  # fmt: skip

    def test_hello_with_password(self):
        proxy = self.proxy(":secret@")
        client = self.connect(proxy)
        login = ["HELLO", 3, "AUTH", "default"]
        self.assertTrue(client.ask(*login, "wrong").startswith(b"-WRONGPASS"))
        self.assertTrue(client.ask(*login, "secret").startswith(b"%7\r\n"))
        self.assertEqual(client.ask("GET", "k"), b"_\r\n")
        make_hot(proxy, client, "k")

    def test_no_local_copy_without_password(self):
        proxy = self.proxy(":secret@")
        client = self.connect(proxy)
        client.ask("AUTH", "secret")
        client.ask("SET", "k", "hidden")
        make_hot(proxy, client, "k")
        refused = b"-NOAUTH Authentication required.\r\n"
        self.assertEqual(self.connect(proxy).ask("GET", "k"), refused)
        self.assertEqual(client.ask("RESET"), b"+RESET\r\n")
        self.assertEqual(client.ask("GET", "k"), refused)

    def test_another_user_has_its_own_rights(self):
        proxy = self.proxy(":secret@")
        self.server().ask("ACL", "SETUSER", "few", "on", ">pw", "~mine:*", "+@all")
        client = self.connect(proxy)
        client.ask("AUTH", "secret")
        client.ask("SET", "theirs", "hidden")
        make_hot(proxy, client, "theirs")
        few = self.connect(proxy)
        self.assertEqual(few.ask("AUTH", "few", "pw"), b"+OK\r\n")
        self.assertEqual(few.ask("ACL", "WHOAMI"), b"$3\r\nfew\r\n")
        self.assertTrue(few.ask("GET", "theirs").startswith(b"-NOPERM"))
        self.assertEqual(few.ask("SET", "mine:k", 1), b"+OK\r\n")
        self.assertEqual(few.ask("SELECT", 2), b"+OK\r\n")
        self.assertEqual(few.ask("SET", "mine:k", 2), b"+OK\r\n")
        self.assertTrue(few.ask("AUTH", "few", "wrong").startswith(b"-WRONGPASS"))
        self.assertEqual(few.ask("ACL", "WHOAMI"), b"$3\r\nfew\r\n")
        self.assertEqual(few.ask("AUTH", "default", "secret"), b"+OK\r\n")
        self.assertEqual(few.ask("ACL", "WHOAMI"), b"$7\r\ndefault\r\n")
        self.assertEqual(few.ask("GET", "mine:k"), b"$1\r\n2\r\n")

    def test_another_user_keeps_its_database_protocol_and_name(self):
        proxy = self.proxy(":secret@")
        self.server().ask("ACL", "SETUSER", "many", "on", ">pw", "~*", "+@all")
        client = self.connect(proxy)
        client.ask("HELLO", 3, "AUTH", "default", "secret", "SETNAME", "named")
        client.ask("SELECT", 5)
        client.ask("SET", "k", "in-5")
        self.assertEqual(client.ask("AUTH", "many", "pw"), b"+OK\r\n")
        self.assertEqual(client.ask("GET", "k"), b"$4\r\nin-5\r\n")
        self.assertEqual(client.ask("GET", "none"), b"_\r\n")
        self.assertEqual(client.ask("CLIENT", "GETNAME"), b"$5\r\nnamed\r\n")

    def test_a_subscription_survives_a_login(self):
        proxy = self.proxy(":secret@")
        client = self.connect(proxy)
        client.ask("HELLO", 3, "AUTH", "default", "secret")
        client.ask("SUBSCRIBE", "a")
        for password in ("wrong", "secret"):
            client.ask("AUTH", password)
            self.assertEqual(self.server().ask("PUBLISH", "a", "x"), b":1\r\n")
            self.assertIn(b"message", client.read())

    def test_users_without_multi(self):
        self.server().ask("ACL", "SETUSER", "default", "-multi")
        proxy = self.proxy(":secret@")
        client = self.connect(proxy)
        client.ask("AUTH", "secret")
        commands = [["MULTI"], ["SET", "k", 1], ["GET", "k"], ["EXEC"]]
        client.send_raw(b"".join(encode(*command) for command in commands))
        got = client.read_many(4)
        self.assertTrue(got[0].startswith(b"-NOPERM"))
        self.assertEqual(got[1:3], [b"+OK\r\n", b"$1\r\n1\r\n"])
        self.assertEqual(got[3], b"-ERR EXEC without MULTI\r\n")
        make_hot(proxy, client, "k")


class Scripts(ProxyTest):
    def test_a_script_that_does_not_end_can_be_killed(self):
        self.to_server().ask("CONFIG", "SET", "busy-reply-threshold", 100)
        busy = self.to_proxy()
        busy.send("EVAL", "while true do end", 0)
        killer = self.to_proxy()
        until(lambda: killer.ask("SCRIPT", "KILL") == b"+OK\r\n", what="killed")
        self.assertIn(b"Script killed", busy.read())
        self.assertEqual(killer.ask("PING"), b"+PONG\r\n")


if __name__ == "__main__":
    unittest.main()
