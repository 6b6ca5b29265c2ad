# SPDX-License-Identifier: Apache-2.0
"""CLIENT TRACKING through a proxy that ends it: what a client is told, and in which order.

Every test here is played at the server itself, too.
"""

import threading
import time
import unittest

from harness import encode, until
from harness.near import JEDIS, NearCache, NearClient, Push, invalidate
from near_stage import AtTheServer, ThroughTheProxy, ended

ROUNDS = 100
# (a write, a read that must be told of the next change, that change)
READS = (
    (("SET", "r", "value"), ("GET", "r"), ("APPEND", "r", "x")),
    (("SET", "r", "value"), ("STRLEN", "r"), ("SETRANGE", "r", 0, "long value")),
    (("SET", "r", "value"), ("EXISTS", "r"), ("DEL", "r")),
    (("SET", "r", "value"), ("TYPE", "r"), ("GETDEL", "r")),
    (("SET", "r", "value"), ("MGET", "r", "r"), ("INCRBYFLOAT", "number", 1), ("SET", "r", "x")),
    (("HSET", "r", "f", "v"), ("HGET", "r", "f"), ("HSET", "r", "f", "w")),
    (("HSET", "r", "f", "v"), ("HGETALL", "r"), ("HDEL", "r", "f")),
    (("RPUSH", "r", "a", "b"), ("LRANGE", "r", 0, -1), ("LPOP", "r")),
    (("SADD", "r", "a"), ("SMEMBERS", "r"), ("SMOVE", "r", "other", "a")),
    (("ZADD", "r", 1, "a"), ("ZRANGE", "r", 0, -1), ("ZINCRBY", "r", 1, "a")),
    (("DEL", "r"), ("GET", "r"), ("SET", "r", "created")),
)  # fmt: skip


class Told:
    def test_a_change_is_told_once(self):
        client, writer = self.near(), self.writer()
        for i in range(ROUNDS):
            client.keep("k")
            writer.ask("SET", "k", i)
            self.assertEqual(client.events(), [invalidate(b"k")])
            writer.ask("SET", "k", -i)
            self.assertEqual(client.events(), [], "it has not read since")

    def test_every_client_is_told_before_the_writer(self):
        """So many that both workers have some."""
        clients, writer = [self.near() for _ in range(8)], self.writer()
        for i in range(ROUNDS):
            for client in clients:
                client.keep("k")
            writer.ask("SET", "k", i)
            for client in clients:
                self.assertEqual(client.events(), [invalidate(b"k")], f"round {i}")

    def test_of_several_names(self):
        client, writer = self.near(), self.writer()
        writer.ask("MSET", "k", "1", "j", "1", "i", "1")
        client.keep("k", "j", "i")
        client.events(("MGET", "k", "j", "i"))
        client.keep("k", "j", "i")
        writer.ask("DEL", "j")
        self.assertEqual(client.events(), [invalidate(b"j")])
        writer.ask("MSET", "k", "2", "i", "2")
        heard = client.events()
        self.assertEqual(sorted(name for push in heard for name in push[1]), [b"i", b"k"], heard)

    def test_of_every_kind_of_read(self):
        client, writer = self.near(), self.writer()
        for write, read, *changes in READS:
            with self.subTest(read=read):
                writer.ask("DEL", "r", "other")
                self.assertNotIn(b"-ERR", writer.ask(*write))
                client.events()

                def kept(read=read):
                    return "r" not in ended(client.events(read), ["r"])

                until(kept, what=f"{read} is kept")
                for change in changes:
                    self.assertNotIn(b"-ERR", writer.ask(*change))
                self.assertEqual(client.events(), [invalidate(b"r")])

    def test_in_another_database(self):
        client, writer = self.near(), self.writer()
        for each in (client, writer):
            each.ask("SELECT", 1)
        writer.ask("SET", "k", "one")
        self.assertEqual(client.keep("k"), [b"one"])
        writer.ask("SET", "k", "two")
        self.assertEqual(client.events(), [invalidate(b"k")])

    def test_a_transaction_of_another_client(self):
        client, writer = self.near(), self.writer()
        client.keep("k", "j")
        for words in (("MULTI",), ("SET", "k", "1"), ("SET", "j", "1"), ("EXEC",)):
            writer.ask(*words)
        self.assertEqual(ended(client.events(), "kj"), set("kj"))

    def test_a_script_of_another_client(self):
        client, writer = self.near(), self.writer()
        for value, text, keys in ((b"1", "redis.call('set', KEYS[1], 1)", ("k",)),
                                  (b"2", "redis.call('set', 'k', 2)", ())):  # fmt: skip
            client.keep("k")
            writer.ask("EVAL", text, len(keys), *keys)
            self.assertEqual(ended(client.events(), "k"), {"k"}, text)
            self.assertEqual(client.keep("k"), [value])

    def test_flushes(self):
        client, writer = self.near(), self.writer()
        names = [f"k{i}" for i in range(50)]
        for flush in (("FLUSHALL",), ("FLUSHDB",), ("FLUSHALL", "ASYNC")):
            with self.subTest(flush=flush):
                for name in names:
                    writer.ask("SET", name, "1")
                client.keep(*names)
                writer.ask(*flush)
                self.assertEqual(ended(client.events(), names), set(names))
                self.assertEqual(client.keep("k0"), [None])

    def test_expiry(self):
        client, writer = self.near(), self.writer()
        writer.ask("SET", "k", "short", "PX", 500)
        self.assertEqual(client.keep("k"), [b"short"])
        self.is_told(client, "k", within_s=5)  # perhaps somewhat early
        until(lambda: client.keep("k") == [None], what="it has expired")
        writer.ask("SET", "k", "long")
        client.keep("k")
        writer.ask("PEXPIRE", "k", 500)
        self.assertEqual(client.events(), [invalidate(b"k")], "EXPIRE is a change")
        client.keep("k")
        self.is_told(client, "k", within_s=5)
        until(lambda: client.keep("k") == [None], what="it has expired")


class Modes:
    def test_optin(self):
        client, writer = self.near("OPTIN"), self.writer()
        yes, get = ("CLIENT", "CACHING", "YES"), ("GET", "k")
        writer.ask("SET", "k", "0")
        for words, is_kept in (
            ((get,), False),
            ((yes, get), True),
            ((yes, ("PING",), get), False),
            ((yes, ("CLIENT", "GETNAME"), get), True),
            ((yes, get, ("GET", "j")), True),
            ((yes, ("GET", "j"), get), False),
            ((yes, ("MULTI",), get, ("EXEC",)), None),
            ((("MULTI",), get, ("EXEC",)), False),
        ):
            with self.subTest(words=words):
                self.assertEqual(self.hears_of(client, writer, *words), is_kept)

    def test_optout(self):
        client, writer = self.near("OPTOUT"), self.writer()
        no, get = ("CLIENT", "CACHING", "NO"), ("GET", "k")
        writer.ask("SET", "k", "0")
        for words, is_kept in (
            ((get,), True),
            ((no, get), False),
            ((no, ("PING",), get), True),
            ((no, ("CLIENT", "GETNAME"), get), False),
            ((no, ("MULTI",), get, ("EXEC",)), False),
        ):
            with self.subTest(words=words):
                self.assertEqual(self.hears_of(client, writer, *words), is_kept)

    def hears_of(self, client, writer, *words):
        """Whether a change of k is told after these words, which may keep it.

        None: in a transaction it may also be ended at once.
        """
        last = []

        def asked():
            last[:] = client.events(*words)
            return ended(last, "k") != {"k"}

        is_kept = self.is_kept_in_the_end(asked)
        writer.ask("SET", "k", "changed")
        heard = ended(client.events(), "k") == {"k"}
        if words[-1] == ("EXEC",) and ("CLIENT", "CACHING", "YES") in words:
            self.assertTrue(heard or not is_kept, "neither was it ended nor told")
            return None
        self.assertTrue(is_kept, f"it was ended at once, although there is a copy: {last}")
        return heard

    @staticmethod
    def is_kept_in_the_end(asked):
        end = time.monotonic() + 3
        while not (kept := asked()) and time.monotonic() < end:
            pass
        return kept

    def test_noloop(self):
        own, other, writer = self.near("NOLOOP"), self.near(), self.writer()
        told = 0
        for i in range(ROUNDS):
            own.keep("k")
            other.keep("k")
            told += own.events(("SET", "k", i)) != ["OK"]
            self.assertEqual(other.events(), [invalidate(b"k")])
            own.keep("k")
            writer.ask("SET", "k", -i)
            self.assertEqual(own.events(), [invalidate(b"k")])
        self.assertLess(told, ROUNDS / 4, "only if the proxy's tracker hears of it first")

    def test_noloop_forgets_what_it_has_written(self):
        own, writer = self.near("NOLOOP"), self.writer()
        told = 0
        for i in range(10):
            own.keep("k")
            own.events(("SET", "k", "own"))
            writer.ask("SET", "k", i)
            told += own.events() != []
        self.assertEqual(told, 0, "a server does not tell it, either")

    def test_off(self):
        client, writer = self.near(), self.writer()
        client.keep("k")
        self.assertEqual(client.say("CLIENT", "TRACKING", "OFF"), "OK")
        writer.ask("SET", "k", "1")
        self.assertEqual(client.events(("GET", "k")), [b"1"])
        writer.ask("SET", "k", "2")
        self.assertEqual(client.events(), [])
        client.track().keep("k")
        writer.ask("SET", "k", "3")
        self.assertEqual(client.events(), [invalidate(b"k")])

    def test_reset(self):
        client, writer = self.near(), self.writer()
        client.keep("k")
        self.assertEqual(client.say("RESET"), "RESET")
        writer.ask("SET", "k", "1")
        self.assertEqual(client.events(("GET", "k")), [b"1"])
        self.assertEqual(client.say("CLIENT", "TRACKINGINFO")[1], [b"off"])
        client.say("HELLO", 3)
        client.track().keep("k")
        writer.ask("SET", "k", "2")
        self.assertEqual(client.events(), [invalidate(b"k")])

    def test_hello(self):
        client, writer = self.near(), self.writer()
        client.keep("k")
        client.say("HELLO", 2)
        writer.ask("SET", "k", "1")
        self.assertEqual(client.events(("GET", "k")), [b"1"], "RESP2 has no pushes")
        writer.ask("SET", "k", "2")
        self.assertEqual(client.events(), [])
        client.say("HELLO", 3)
        client.keep("k")
        writer.ask("SET", "k", "3")
        self.assertEqual(client.events(), [invalidate(b"k")])

    def test_bcast(self):
        client, writer = self.near("BCAST", "PREFIX", "b:"), self.writer()
        for i in range(10):
            writer.ask("SET", "a:1", i)
            writer.ask("SET", "b:1", i)
            self.assertEqual(client.next(), invalidate(b"b:1"))
        self.assertEqual(client.events(("GET", "b:1")), [b"9"])

    def test_resp2(self):
        client, writer = self.writer(), self.writer()
        self.assertEqual(client.ask("CLIENT", "TRACKING", "ON"), b"+OK\r\n")
        client.ask("GET", "k")
        writer.ask("SET", "k", "1")
        self.assertEqual(client.ask("GET", "k"), b"$1\r\n1\r\n")


class Order:
    """An invalidation never comes before the reply that it ends."""

    def test_own_writes(self):
        client = self.near()
        for i in range(ROUNDS):
            client.keep("k")
            self.is_told_once(client.events(("SET", "k", i)), ["OK"])

    def test_pipelined_own_writes(self):
        """Hits that follow a write may stand between its reply and the push; other replies not."""
        client = self.near()
        for i in range(ROUNDS):
            client.keep("k", "j")
            heard = client.events(("GET", "k"), ("SET", "k", i), ("GET", "j"), ("SET", "j", i))
            said = [each for each in heard if not isinstance(each, Push)]
            self.assertEqual(said[1::2], ["OK", "OK"])
            ends = [heard.index(invalidate(name)) for name in (b"k", b"j")]
            second = len(heard) - 1 - heard[::-1].index("OK")
            self.assertLess(ends[0], second, heard)
            # The tracker may speak of the last round's SET when j is kept again: it ends early.
            self.assertIn(len(heard), (6, 7), heard)

    def test_own_writes_in_front_of_a_command_that_waits(self):
        """Whoever has the reply to a write reads what was written, whatever else is in flight."""
        client, writer = self.near(), self.writer()
        for i in range(10):
            client.keep("k")
            client.send_raw(encode("SET", "k", i) + encode("BLPOP", "queue", 0))
            self.wait_until_blocked()
            self.is_told_once([client.next(), client.next()], ["OK"])
            writer.ask("RPUSH", "queue", i)
            self.assertEqual(client.next()[0], b"queue")

    def test_own_transactions(self):
        client = self.near()
        for i in range(ROUNDS):
            client.keep("k")
            heard = client.events(("MULTI",), ("SET", "k", i), ("EXEC",))
            self.is_told_once(heard, ["OK", "QUEUED", ["OK"]])

    def test_own_script(self):
        client = self.near()
        client.keep("k")
        heard = client.events(("EVAL", "return redis.call('set', KEYS[1], 'x')", 1, "k"))
        self.is_told_once(heard, ["OK"])

    def is_told_once(self, heard, replies):
        """Of k, somewhere: the proxy's tracker may hear of a write before its reply comes."""
        self.assertEqual([each for each in heard if isinstance(each, Push)], [invalidate(b"k")])
        self.assertEqual([each for each in heard if not isinstance(each, Push)], replies)

    def test_while_it_waits_in_a_command(self):
        client, writer = self.near(), self.writer()
        for i in range(10):
            client.keep("k")
            client.send("BLPOP", "queue", 0)
            self.wait_until_blocked()
            writer.ask("SET", "k", i)
            self.assertEqual(client.next(), invalidate(b"k"), "it waits no less for BLPOP")
            writer.ask("RPUSH", "queue", i)
            self.assertEqual(client.next(), [b"queue", str(i).encode()])

    def test_reads_in_front_of_a_command_that_waits(self):
        """Their replies have gone out: a push need not wait for what is behind them."""
        client, writer = self.near(), self.writer()
        for i in range(10):
            client.keep("k")
            client.send("GET", "k")
            client.send("BLPOP", "queue", 0)
            self.wait_until_blocked()
            client.next()
            writer.ask("SET", "k", i)
            self.assertEqual(client.next(), invalidate(b"k"))
            writer.ask("RPUSH", "queue", i)
            self.assertEqual(client.next()[0], b"queue")

    def test_reads_behind_a_command_that_waits(self):
        """Perhaps they are answered from a copy, and their replies wait."""
        client, writer = self.near(), self.writer()
        for i in range(20):
            writer.ask("SET", "k", f"old {i}")
            client.keep("k")
            client.send("BLPOP", "queue", 0)
            client.send("GET", "k")
            client.send("ECHO", "the end of what is heard")
            self.wait_until_blocked()
            writer.ask("SET", "k", f"new {i}")
            writer.ask("RPUSH", "queue", i)
            heard = client.to_the_end()
            read = max(place for place, each in enumerate(heard) if isinstance(each, bytes))
            self.assertIn([b"queue", str(i).encode()], heard[:read])
            self.is_current(heard, "k", f"new {i}".encode(), read)

    def test_what_pipelines_keep(self):
        """Of a library that stores whatever comes after an invalidation: Jedis."""
        clients = [NearClient(self.port(), NearCache(JEDIS)) for _ in range(4)]
        for client in clients:
            self.keep_open(client)
        names = [f"k{i}" for i in range(4)]
        reads = [(("GET", name), (name,)) for name in names] * 8
        reads += [(("MGET", *names), tuple(names))]
        kept = 0
        for _ in range(30):
            with writing(self.writer(), names):
                for _ in range(5):
                    for client in clients:
                        client.post(*reads)
                    for client in clients:
                        client.answered(len(reads))
            current = self.keep_open(self.writer())
            values = {name: current.ask("GET", name).split()[1] for name in names}
            for client in clients:
                client.ask_for((("PING",), ()))
                kept += len(client.cache.entries)
                for name, entry in client.cache.entries.items():
                    self.assertEqual(entry.value, values[name], name)
                client.ask_for(*reads)
        self.assertGreater(kept, 0, "this test saw nothing that was kept")

    def wait_until_blocked(self):
        server = self.keep_open(self.to_server())
        until(lambda: b"blocked_clients:1\r" in server.ask("INFO", "clients"), what="BLPOP waits")


class writing:  # pylint: disable=invalid-name
    """A context: a client writes the names in turn, as fast as it is answered, with pauses."""

    def __init__(self, client, names):
        self.client, self.names, self.goes_on = client, names, True
        self.thread = threading.Thread(target=self._write)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.goes_on = False
        self.thread.join()

    def _write(self):
        i = 0
        while self.goes_on:
            for name in self.names:
                i += 1
                self.client.ask("SET", name, i)
            time.sleep(0.003)  # copies come back between the writes


class ToldAtTheServer(Told, AtTheServer):
    pass


class ToldByTheProxy(Told, ThroughTheProxy):
    pass


class ModesAtTheServer(Modes, AtTheServer):
    pass


class ModesOfTheProxy(Modes, ThroughTheProxy):
    pass


class OrderAtTheServer(Order, AtTheServer):
    pass


class OrderOfTheProxy(Order, ThroughTheProxy):
    pass


if __name__ == "__main__":
    unittest.main()
