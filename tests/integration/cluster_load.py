# SPDX-License-Identifier: Apache-2.0
"""Clients that ask all the time while slots and masters change, and judge each reply.

Each client owns its keys, so it knows what every reply must be: counters that go up by one, lists
that grow, transactions that are whole.
"""

import contextlib
import itertools
import threading

from harness import Closed, RedisError, ValueClient, until

SCRIPT = "local n = redis.call('INCR', KEYS[1]) redis.call('RPUSH', KEYS[2], n) return n"


class Asker:
    """One client in a thread of its own. `turn` asks and judges once; `errors` are what was wrong.

    `excuses`: a function of an error reply that says whether the test allows it; an excused error
    makes the client forget what its keys should hold. It is also asked about LOST: the proxy closes
    a client whose WATCH was lost with its server, as that server would.
    """

    LOST = "connection lost"

    def __init__(self, port, tag, excuses=lambda error: False):
        self.port, self.tag, self.excuses = port, tag, excuses
        self.client = ValueClient(port)
        self.errors, self.excused, self.turns = [], [], 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def key(self, name):
        return f"{{{self.tag}}}{type(self).__name__}:{name}"

    def first(self, *command):
        """The reply, once it is no error that the test allows."""
        while isinstance(got := self.client(*command), RedisError):
            if not self.excuses(got):
                self.fail(f"{command}: {got!r}")
                return None
            self.excused.append(got)
            if self.ended.is_set():
                return None
        return got

    def _run(self):
        try:
            self.begin()
            while not self.ended.is_set():
                try:
                    self.turn()
                except (Closed, ConnectionError) as lost:
                    if not self.excuses(self.LOST):
                        self.fail(f"connection lost: {lost!r}")
                        return
                    self.client.close()
                    self.client = ValueClient(self.port)
                    self.excused.append(self.LOST)
                    self.begin()
                self.turns += 1
        except OSError as error:
            self.fail(f"{error!r}")

    def begin(self):
        """What the keys hold at first."""

    def fail(self, what):
        self.errors.append(f"{type(self).__name__} {{{self.tag}}}: {what}")

    def judge(self, got, expected):
        """True: as expected. An excused error anywhere in `got` makes the client begin again."""
        if got == expected:
            return True
        bad = [each for each in flat(got) if isinstance(each, RedisError)]
        if bad and all(self.excuses(each) for each in bad):
            self.excused += bad
            self.begin()
            return False
        self.fail(f"got {str(got)[:600]}, not {str(expected)[:300]}")
        self.begin()
        return False


def flat(value):
    if isinstance(value, list):
        for each in value:
            yield from flat(each)
    else:
        yield value


class Counter(Asker):
    """INCR in pipelines, with a read behind each write."""

    def begin(self):
        self.first("SET", self.key("n"), 0)
        self.n = 0

    def turn(self):
        calls, expected = [], []
        for _ in range(20):
            self.n += 1
            calls += [("INCR", self.key("n")), ("GET", self.key("n"))]
            expected += [self.n, b"%d" % self.n]
        self.judge(self.client.pipeline(calls), expected)


class Lister(Asker):
    """A list that grows in order, and values of several keys of one slot, written as one."""

    def begin(self):
        self.first("DEL", self.key("list"))
        self.at = 0

    def turn(self):
        a, b, c = (self.key(f"m{i}") for i in range(3))
        values = [f"{self.turns}{name}" for name in "xyz"]
        calls = [("RPUSH", self.key("list"), self.at + i) for i in range(10)]
        calls += [
            ("LRANGE", self.key("list"), 0, -1), ("DEL", self.key("list")),
            ("MSET", a, values[0], b, values[1], c, values[2]), ("MGET", a, b, c),
            ("EXISTS", a, b, c), ("DEL", a, b, c),
        ]  # fmt: skip
        expected = [*range(1, 11), [b"%d" % (self.at + i) for i in range(10)], 1]
        expected += ["OK", [value.encode() for value in values], 3, 3]
        self.at += 10
        self.judge(self.client.pipeline(calls), expected)


class Trader(Asker):
    """Transactions with and without WATCH: each is whole, and none is lost."""

    def begin(self):
        self.first("UNWATCH")
        self.first("MSET", self.key("from"), 1000, self.key("to"), 0)
        self.moved = 0

    def turn(self):
        source, target = self.key("from"), self.key("to")
        self.moved += 1
        calls = [("MULTI",), ("DECR", source), ("INCR", target), ("MGET", source, target)]
        calls.append(("EXEC",))
        sums = [b"%d" % (1000 - self.moved), b"%d" % self.moved]
        done = [1000 - self.moved, self.moved, sums]
        if not self.judge(self.client.pipeline(calls), ["OK", "QUEUED", "QUEUED", "QUEUED", done]):
            return
        watched = self.client.pipeline([("WATCH", source), ("GET", source)])
        if not self.judge(watched, ["OK", sums[0]]):
            return
        got = self.client.pipeline([("MULTI",), ("SET", target, self.moved), ("EXEC",)])
        # A slot that moved between WATCH and EXEC counts as a changed key.
        self.judge(got, ["OK", "QUEUED", got[2] if got[2] is None else ["OK"]])


class Popper(Asker):
    """Waits for elements that it gives itself over another connection: none is lost or doubled."""

    def begin(self):
        self.giver = getattr(self, "giver", None) or ValueClient(self.port)
        self.giver("DEL", self.key("queue"))

    def turn(self):
        queue = self.key("queue")
        name = b"%d" % self.turns
        if self.turns % 2:
            self.client.send("BLPOP", queue, 20)
            given = self.giver("RPUSH", queue, name)
            got = self.client.read()
        else:
            given = self.giver("RPUSH", queue, name)
            got = self.client("BLPOP", queue, 20)
        self.judge([given, got], [1, [queue.encode(), name]])


class Scripter(Asker):
    """A script that counts in one key and logs into another."""

    def begin(self):
        self.first("DEL", self.key("n"), self.key("log"))
        self.sha = self.first("SCRIPT", "LOAD", SCRIPT)
        self.n = 0

    def turn(self):
        keys = 2, self.key("n"), self.key("log")
        calls = [("EVAL", SCRIPT, *keys), ("EVALSHA", self.sha, *keys), ("LLEN", keys[2])]
        expected = [self.n + 1, self.n + 2, self.n + 2]
        self.n += 2
        self.judge(self.client.pipeline(calls), expected)


class Spreader(Asker):
    """Commands over many slots, one client's order within each key."""

    def begin(self):
        own = f"{type(self).__name__}{self.tag}"
        self.names = [f"{{{self.tag}}}s", *(f"{own}{i}" for i in range(20))]
        self.round = 0

    def turn(self):
        self.round += 1
        pairs = itertools.chain.from_iterable((name, self.round) for name in self.names)
        values = [b"%d" % self.round] * len(self.names)
        calls = [("MSET", *pairs), ("MGET", *self.names), ("DEL", *self.names),
                 ("EXISTS", *self.names)]  # fmt: skip
        self.judge(self.client.pipeline(calls), ["OK", values, len(self.names), 0])


ALL = (Counter, Lister, Trader, Popper, Scripter, Spreader)


@contextlib.contextmanager
def load(port, tags, kinds=ALL, excuses=lambda error: False):
    """Askers of each kind for each tag; when it ends, they have stopped and their errors stand."""
    askers = [kind(port, tag, excuses) for tag in tags for kind in kinds]
    for each in askers:
        each.thread.start()
    try:
        yield askers
    finally:
        for each in askers:
            each.ended.set()
        for each in askers:
            each.thread.join(60)
            if each.thread.is_alive():
                each.fail("does not end: a reply is missing")
            each.client.close()


def turned(askers, count, kinds=ALL):
    """Every client of these kinds has asked so often since now."""
    askers = [each for each in askers if isinstance(each, kinds)]
    begun = [each.turns for each in askers]
    pairs = list(zip(askers, begun))
    done = lambda: all(e.turns >= b + count or e.errors for e, b in pairs)  # noqa: E731
    until(done, what=f"{count} turns of every client")


def errors_of(askers):
    return [error for each in askers for error in each.errors]
