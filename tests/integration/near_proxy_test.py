# SPDX-License-Identifier: Apache-2.0
"""What a proxy that ends CLIENT TRACKING adds: what does not pay is taken back, faults end all."""

import re
import signal
import threading
import time
import unittest

from harness import PATIENCE_S, SLOW, Closed, Proxy, RawClient, encode, until
from harness.near import Push, Resp3Client, invalidate
from harness.relay import PIECE, Relay
from near_stage import ENDS_TRACKING, STALENESS_S, ThroughTheProxy, ended

LATE_S = 0.5  # what the machine may add to the bound
ON, INFO = "CLIENT TRACKING ON", "CLIENT TRACKINGINFO"
# Each on a new connection, in RESP3 unless it says otherwise.
DIALOGUES = (
    ("CLIENT TRACKING", "CLIENT TRACKING MAYBE", "CLIENT TRACKING ON ON", "CLIENT TRACKING OFF"),
    (INFO, "CLIENT TRACKINGINFO more", "CLIENT GETREDIR", "CLIENT GETREDIR more"),
    ("CLIENT CACHING YES", "CLIENT CACHING NO", "CLIENT CACHING MAYBE", "CLIENT CACHING"),
    (ON, INFO, "CLIENT GETREDIR", "CLIENT CACHING YES", "CLIENT CACHING NO", "CLIENT CACHING X"),
    ("client tracking on optin noloop", INFO, "client caching no", "client caching yes", INFO,
     "GET k", INFO, "CLIENT CACHING YES", "CLIENT GETNAME", INFO, "PING", INFO),
    (f"{ON} OPTOUT", INFO, "CLIENT CACHING YES", "CLIENT CACHING NO", INFO, "GET k", INFO),
    (f"{ON} OPTIN OPTOUT", INFO, f"{ON} BCAST OPTIN", f"{ON} BCAST OPTOUT", INFO),
    (f"{ON} PREFIX a", f"{ON} PREFIX", f"{ON} OPTIN PREFIX a", INFO),
    (f"{ON} REDIRECT", f"{ON} REDIRECT x", f"{ON} REDIRECT 999999999", f"{ON} REDIRECT -1", INFO),
    (ON, f"{ON} OPTIN", f"{ON} OPTOUT", f"{ON} NOLOOP", INFO, ON, INFO),
    (f"{ON} OPTIN", f"{ON} OPTOUT", ON, INFO, "CLIENT TRACKING OFF", INFO, f"{ON} OPTOUT", INFO),
    (f"{ON} OPTIN NOLOOP OPTIN", INFO, f"{ON} OPTIN", INFO),
    (f"{ON} BCAST PREFIX a PREFIX ab", f"{ON} BCAST PREFIX a PREFIX b", INFO, ON, INFO),
    ("CLIENT TRACKING OFF OPTIN", "CLIENT TRACKING OFF BCAST PREFIX a", INFO,
     "CLIENT TRACKING OFF nothing"),
    (f"{ON} OPTIN", "RESET", INFO, "CLIENT GETREDIR", "HELLO 3", INFO),
    (f"{ON} NOLOOP", "HELLO 2", INFO, "CLIENT GETREDIR", "HELLO 3", INFO),
    ("MULTI", ON, INFO, "EXEC", INFO, "CLIENT TRACKING OFF"),
    (f"{ON} OPTIN", "CLIENT CACHING YES", "MULTI", "PTTL k", "GET k", "EXEC", INFO),
    (f"{ON} OPTIN", "CLIENT CACHING YES", "MULTI", "GET k", "EXEC", INFO),
    (f"{ON} OPTIN", "CLIENT CACHING YES", "MULTI", "DISCARD", INFO),
    ("HELLO 2", ON, INFO, "CLIENT GETREDIR", "CLIENT CACHING YES", "CLIENT TRACKING OFF", INFO),
    (f"{ON} OPTIN", "CLIENT REPLY SKIP", "CLIENT CACHING YES", INFO),
)  # fmt: skip


class Answers(ThroughTheProxy):
    def test_are_the_servers(self):
        for dialogue in DIALOGUES:
            with self.subTest(dialogue=dialogue):
                said = [self.said(port, dialogue) for port in (self.redis.port, self.proxy.port)]
                self.assertEqual(*said)

    def test_in_a_transaction_the_server_answers(self):
        """It does not know that the client tracks."""
        inside = ("MULTI", "CLIENT CACHING YES", INFO, "GET k", "EXEC")
        said = self.said(self.proxy.port, (f"{ON} OPTIN", *inside, INFO))
        self.assertEqual(said[1:6], self.said(self.redis.port, inside)[:5])
        self.assertEqual(said[6], self.said(self.redis.port, (f"{ON} OPTIN", INFO))[1])

    def test_bcast_is_refused_while_it_tracks_in_another_way(self):
        for words in ("BCAST", "BCAST PREFIX a", "REDIRECT 1"):
            said = self.said(self.proxy.port, (ON, f"{ON} {words}", INFO))
            self.assertTrue(said[1].startswith(b"-ERR"), said)
            self.assertEqual(said[2], self.said(self.redis.port, (ON, INFO))[1])

    def said(self, port, dialogue):
        """All replies, without the invalidations: the server's reads are kept, ours may not be."""
        client = RawClient(port, resp=3)
        with client:
            client.send_raw(b"".join(encode(*line.split()) for line in (*dialogue, "ECHO !")))
            out = []
            while out[-1:] != [b"$1\r\n!\r\n"]:
                if not (raw := client.read()).startswith(b">"):
                    out.append(re.sub(rb"\$2\r\nid\r\n:\d+", b"id", raw))
            return out


class Pays(ThroughTheProxy):
    """What has no copy ends right behind its reply."""

    def test_reads_that_are_forwarded(self):
        client, server = self.near(), self.to_server()
        server.ask("MSET", "cold:1", "1", "cold:2", "2")
        server.ask("HSET", "cold:h", "f", "v")
        ends = [invalidate(name) for name in (b"cold:1", b"cold:2", b"cold:h", b"cold:0")]
        for _ in range(20):
            self.assertEqual(client.events(("GET", "cold:1")), [b"1", ends[0]])
            self.assertEqual(client.events(("GET", "cold:0")), [None, ends[3]])
            self.assertEqual(
                client.events(("GET", "cold:1"), ("PING",), ("GET", "cold:2")),
                [b"1", ends[0], "PONG", b"2", ends[1]],
            )
            self.assertEqual(client.events(("HGET", "cold:h", "f")), [b"v", ends[2]])
            heard = client.events(("GET", "cold:h"))
            self.assertTrue(heard[0].startswith("WRONGTYPE"))
            self.assertEqual(heard[1:], [ends[2]])
            self.assertEqual(client.events(("SET", "cold:1", "1")), ["OK"], "it does not have it")

    def test_a_library_may_store_a_reply_after_what_follows_it(self):
        """redis-rs handles a push when it comes, and the reply before it when its task runs."""
        self.to_server().ask("SET", "cold:1", "1")
        client = self.keep_open(Resp3Client(self.port())).track(library="redis-rs")
        heard = client.events(("GET", "cold:1"))
        self.assertEqual(heard, [b"1", invalidate(b"cold:1")])
        self.assertEqual(client.next(), invalidate(b"cold:1"))

    def test_mget(self):
        client, server = self.near(), self.to_server()
        server.ask("MSET", "k", "1", "cold:1", "2")
        client.keep("k")
        for _ in range(20):
            heard = client.events(("MGET", "cold:1", "k"))
            self.assertEqual(heard[0], [b"2", b"1"])
            self.assertIn("cold:1", ended(heard[1:], ["cold:1"]))

    def test_in_a_transaction(self):
        client = self.near()
        self.to_server().ask("MSET", "k", "1", "cold:1", "2")
        client.keep("k")
        for _ in range(10):
            heard = client.events(("MULTI",), ("GET", "k"), ("GET", "cold:1"), ("EXEC",))
            self.assertEqual(heard[:4], ["OK", "QUEUED", "QUEUED", [b"1", b"2"]])
            self.assertEqual(ended(heard[4:], ["k", "cold:1"]), {"k", "cold:1"})

    def test_reads_that_wait_and_scripts(self):
        client = self.near()
        self.to_server().ask("XADD", "cold:x", "1-1", "f", "v")
        heard = client.events(("XREAD", "BLOCK", 10, "STREAMS", "cold:x", "0"))
        self.assertIn("cold:x", ended(heard[1:], ["cold:x"]))
        heard = client.events(("EVAL_RO", "return redis.call('type', KEYS[1])", 1, "cold:x"))
        self.assertIn("cold:x", ended(heard[1:], ["cold:x"]))

    def test_optin_and_optout(self):
        self.to_server().ask("SET", "cold:1", "1")
        said, get = [b"1", invalidate(b"cold:1")], ("GET", "cold:1")
        optin, optout = self.near("OPTIN"), self.near("OPTOUT")
        for _ in range(10):
            self.assertEqual(optin.events(get), [b"1"], "it keeps nothing that it did not ask for")
            self.assertEqual(optin.events(("CLIENT", "CACHING", "YES"), get), ["OK", *said])
            self.assertEqual(optout.events(get), said)
            self.assertEqual(optout.events(("CLIENT", "CACHING", "NO"), get), ["OK", b"1"])

    def test_it_has_no_connection_of_its_own_and_gets_copies(self):
        clients = [self.near() for _ in range(10)]
        for client in clients:
            client.keep("k")
        rows = self.to_server().ask("CLIENT", "LIST").decode().splitlines()
        tracking = [row for row in rows if re.search(r" flags=\w*t", row)]
        self.assertEqual([row for row in tracking if "name=heatsink-tracker" not in row], [])
        before = self.proxy.hits()
        for client in clients:
            for _ in range(20):
                client.keep("k")
        self.assertGreaterEqual(self.proxy.hits(), before + 200)

    def test_swapdb(self):
        client, writer = self.near(), self.writer()
        writer.ask("MSET", "k", "1", "j", "1")
        client.keep("k", "j")
        writer.ask("SWAPDB", 0, 1)
        self.assertEqual(ended(client.events(), "kj"), set("kj"))
        writer.ask("SWAPDB", 0, 1)

    def test_names_are_told_one_by_one(self):
        """node-redis does not mark reads in flight when it is told of all names at once."""
        client, writer = self.near(), self.writer()
        names = [f"k{i}" for i in range(300)]
        for flush in ("FLUSHALL", "FLUSHDB"):
            for name in names:
                writer.ask("SET", name, "1")
            client.keep(*names)
            writer.ask(flush)
            heard = client.events()
            self.assertEqual([push for push in heard if push[1] is None], [])
            self.assertEqual(ended(heard, names), set(names))


class CachedReads(ThroughTheProxy):
    """As rueidis reads: the value and the time that its key has left, in one transaction."""

    def setUp(self):
        super().setUp()
        self.client, self.server = self.near("OPTIN"), self.to_server()

    def reads(self, key, *read):
        """[time, value], and the names that end behind them."""
        words = read or ("GET", key)
        heard = self.client.events(("CLIENT", "CACHING", "YES"), ("MULTI",), ("PTTL", key), words,
                                   ("EXEC",))  # fmt: skip
        self.assertEqual(heard[:4], ["OK", "OK", "QUEUED", "QUEUED"])
        return heard[4], ended(heard[5:], [key])

    def kept(self, key, *read):
        return until(lambda: (got := self.reads(key, *read)) and not got[1] and got[0],
                     PATIENCE_S, f"{key} is kept")  # fmt: skip

    def transactions(self):
        stats = self.server.ask("INFO", "commandstats").decode()
        found = re.search(r"cmdstat_exec:calls=(\d+)", stats)
        return int(found[1]) if found else 0

    def is_read_without_the_server(self):
        before = self.transactions()
        self.reads("k")
        return self.transactions() == before

    def test_a_copy_answers(self):
        self.server.ask("SET", "k", "1")
        self.server.ask("SET", "lives", "2", "PX", 100_000)
        self.assertEqual(self.kept("k"), [-1, b"1"])
        self.assertEqual(self.kept("k", "STRLEN", "k"), [-1, 1])
        self.assertEqual(self.kept("none"), [-2, None])
        left, value = self.kept("lives")
        self.assertEqual(value, b"2")
        self.assertTrue(0 < left <= 100_000, left)
        until(self.is_read_without_the_server, PATIENCE_S, "a copy answers")

    def test_what_is_kept_is_told_of(self):
        for i in range(20):
            self.server.ask("SET", "k", i)
            self.assertEqual(self.kept("k"), [-1, str(i).encode()])
            self.server.ask("SET", "k", "new")
            self.is_told(self.client, "k")

    def test_what_no_copy_answers_ends(self):
        self.server.ask("SET", "cold:1", "1")
        for _ in range(10):
            self.assertEqual(self.reads("cold:1"), ([-1, b"1"], {"cold:1"}))

    def test_only_what_it_asks_for(self):
        """OPTIN: the transaction is kept only behind CLIENT CACHING YES."""
        self.server.ask("SET", "k", "1")
        self.kept("k")
        self.server.ask("SET", "k", "2")
        self.is_told(self.client, "k")
        for _ in range(10):
            heard = self.client.events(("MULTI",), ("PTTL", "k"), ("GET", "k"), ("EXEC",))
            self.assertEqual(heard, ["OK", "QUEUED", "QUEUED", [-1, b"2"]])
        self.server.ask("SET", "k", "3")
        self.assertEqual(self.client.events(), [])


class PastTheProxy(ThroughTheProxy):
    """Changes that only the tracker hears of: within the bound."""

    def test_changes(self):
        client, server = self.near(), self.to_server()
        for change in (("SET", "k", "2"), ("DEL", "k"), ("EVAL", "redis.call('set','k',1)", 0),
                       ("EXPIRE", "k", 100), ("PEXPIRE", "k", 1), ("FLUSHALL",)):  # fmt: skip
            with self.subTest(change=change):
                client.keep("k")
                server.ask(*change)
                self.is_told(client, "k", within_s=STALENESS_S)

    def test_each_is_told_once_and_mostly_soon(self):
        client, server, took = self.near(), self.to_server(), []
        for i in range(20):
            client.keep("k")
            server.ask("SET", "k", i)
            written = time.monotonic()
            self.is_told(client, "k")
            took.append(time.monotonic() - written)
            self.assertEqual(client.events(), [])
        median = sorted(took)[len(took) // 2]
        self.assertLess(median, STALENESS_S / 4 * SLOW, "only silence ends it")

    def test_a_client_that_is_idle_keeps_what_does_not_change(self):
        """The server goes on proving it, although no client asks."""
        client = self.near()
        self.assertEqual(client.keep("k"), client.keep("k"))
        self.hears_nothing(client, 2 * STALENESS_S)

    def test_also_when_the_proxy_has_no_copy_any_more(self):
        proxy = self.open_proxy({"detection.minimum-residence": "100ms"})
        client = self.keep_open(Resp3Client(proxy.port)).track()
        client.keep("k")
        until(lambda: proxy.metric("heatsink_cache_entries") == 0, what="no copy")
        self.hears_nothing(client, 2.5 * STALENESS_S)
        self.to_server().ask("SET", "k", "new")
        self.is_told(client, "k")

    def test_expiry_that_the_server_does_not_tell(self):
        client, server = self.near(), self.to_server()
        server.ask("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        for _ in range(3):
            server.ask("SET", "short", "v", "PX", 600)
            client.keep("short")
            self.is_told(client, "short", within_s=STALENESS_S)
        server.ask("DEBUG", "SET-ACTIVE-EXPIRE", 1)

    def test_another_databases_flush(self):
        client, server = self.near(), self.to_server()
        server.ask("SELECT", 9)
        client.keep("k", "j")
        server.ask("FLUSHDB")
        self.is_told(client, "k", "j")
        server.ask("SET", "k", "nine")
        client.keep("k")
        self.assertEqual(client.keep("k"), client.keep("k"))


class LateReplies(Relay):
    """Before a server: hold() is for all connections but the trackers."""

    def _tell(self, client, server, tracks):
        try:
            while piece := server.recv(PIECE):
                if not tracks.is_set():
                    self.through.wait()
                client.sendall(piece)
        except OSError:
            pass
        self._forget(client, server)


class Kept(ThroughTheProxy):
    """A copy's answer that waits behind a reply of the server: its end stands behind it, too."""

    def test_a_change_of_it(self):
        relay, server = LateReplies(self.redis.port), self.to_server()
        self.addCleanup(relay.close)
        proxy = self.open_proxy(upstream=f"redis://127.0.0.1:{relay.port}", rules=self.RULES)
        client = self.keep_open(Resp3Client(proxy.port)).track()
        for i in range(20):
            server.ask("SET", "k", f"old {i}")
            until(lambda i=i: client.keep("k") == [f"old {i}".encode()], what="a copy")
            hits = proxy.hits()
            relay.hold()
            client.send_raw(encode("GET", "cold:1") + encode("GET", "k"))
            until(lambda hits=hits: proxy.hits() > hits, what="a hit")
            server.ask("SET", "k", f"new {i}")
            self.assertEqual(client.next(), invalidate(b"k"), "of what it has kept so far")
            relay.go_on()
            heard = client.events()
            self.assertEqual(heard[:3], [None, invalidate(b"cold:1"), f"old {i}".encode()])
            self.is_current(heard, "k", f"new {i}".encode(), 2)


class Ends(ThroughTheProxy):
    """A client that is disconnected is told first: Jedis does not see that its connection ends."""

    def hears_the_end(self, client, names):
        left, tracked = set(names), client
        try:
            while True:
                left -= ended([tracked.next()], names)
        except Closed:
            self.assertEqual(left, set(), "it keeps these for ever")

    def test_a_proxy_that_is_stopped(self):
        for drain in ("0", "5s"):
            with self.subTest(drain=drain):
                proxy = Proxy(self.redis, {**ENDS_TRACKING, "shutdown.drain": drain})
                clients = [self.keep_open(Resp3Client(proxy.port)).track() for _ in range(4)]
                for client in clients:
                    client.keep("k", "j")
                stopping = threading.Thread(target=proxy.stop)
                stopping.start()
                for client in clients:
                    self.hears_the_end(client, ["k", "j"])
                    client.close()
                stopping.join()

    def test_a_client_whose_state_is_lost_with_the_server(self):
        """It has a private connection because it has said what the server does not know."""
        clients = [self.near() for _ in range(6)]
        for client in clients:
            client.say("CLIENT", "SETINFO", "LIB-NAME", "x")
            client.say("CLIENT", "NO-EVICT", "OFF")
            client.keep("k", "j")
        self.redis.process.kill()
        for client in clients:
            self.hears_the_end(client, ["k", "j"])
        self.redis.restart()

    def test_quit(self):
        client = self.near()
        client.keep("k")
        client.send("QUIT")
        self.hears_the_end(client, ["k"])


class Faults(ThroughTheProxy):
    """Whatever a client keeps ends when the proxy no longer hears of changes."""

    def hears_all(self, client, names, within_s):
        """It is not asked for anything: the server may be away."""
        left, end = set(names), time.monotonic() + within_s * SLOW
        while left:
            client.socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                said = client.next()
            except Closed:
                return  # a library forgets all that it had by this connection
            except TimeoutError:
                self.fail(f"{len(left)} of {len(names)} names are kept {within_s} s later")
            self.assertIsInstance(said, Push)
            left -= ended([said], names)
        client.socket.settimeout(PATIENCE_S * SLOW)

    def test_a_server_that_stands_still(self):
        clients = [self.near() for _ in range(6)]
        names = [f"k{i}" for i in range(20)]
        for client in clients:
            client.keep(*names)
        self.redis.process.freeze()
        try:
            for client in clients:
                self.hears_all(client, names, STALENESS_S + LATE_S)
        finally:
            self.redis.process.signal(signal.SIGCONT)
        for client in clients:
            client.keep(*names)

    def test_a_tracker_that_is_lost(self):
        clients, server = [self.near() for _ in range(6)], self.to_server()
        names = [f"k{i}" for i in range(20)]
        for _ in range(3):
            for client in clients:
                client.keep(*names)
            rows = server.ask("CLIENT", "LIST").decode()
            number = re.search(r"id=(\d+) [^\n]*name=heatsink-tracker", rows)[1]
            server.ask("CLIENT", "KILL", "ID", number)
            for client in clients:
                self.hears_all(client, names, STALENESS_S + LATE_S)

    def test_a_client_that_has_gone(self):
        """What it kept is told to others only."""
        stays, writer = self.near(), self.writer()
        for i in range(20):
            gone = Resp3Client(self.port()).track()
            gone.keep("k")
            stays.keep("k")
            gone.close()
            writer.ask("SET", "k", i)
            self.assertEqual(stays.events(), [invalidate(b"k")])

    def test_a_restarted_server(self):
        client = self.near()
        client.keep("k")
        self.redis.process.kill()
        self.hears_all(client, ["k"], STALENESS_S + LATE_S)
        self.redis.restart()
        self.assertEqual(self.near().keep("k"), [None])


if __name__ == "__main__":
    unittest.main()
