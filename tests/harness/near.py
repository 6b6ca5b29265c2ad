# SPDX-License-Identifier: Apache-2.0
"""Clients that keep what they read, as libraries do: RESP3, CLIENT TRACKING, and a near cache.

What differs between libraries is what they do with an invalidation of a read in flight. Three are
modelled, by what their sources do:

    JEDIS     does not see it: a reply is stored, whatever was said before it came
    NODE      node-redis: the read's reply is not stored; but `invalidate null` does not count
    MARKING   redis-py: the read's reply is not stored, and `invalidate null` counts, too

Each reads the invalidations that have come before it uses what it has kept. Not thread-safe: a
process with a pool of connections takes turns in one thread.
"""

import collections
import select
import time
from dataclasses import dataclass

from .client import Closed, RawClient, RedisError, encode
from .patience import PATIENCE_S, until

JEDIS, NODE, MARKING = "jedis", "node-redis", "redis-py"
KINDS = (JEDIS, NODE, MARKING)
END = "the end of what is heard"


class Push(list):
    """Its values; compares as a list of them."""

    def __repr__(self):
        return f"Push{list(self)}"


def invalidate(*names):
    """The push that ends these names."""
    return Push([b"invalidate", list(names)])


def parsed(data, at=0):
    """The value in RESP3 that begins at `at`, all of which is there, and where it ends."""
    line_end = data.index(b"\r\n", at)
    kind, rest, at = data[at : at + 1], data[at + 1 : line_end], line_end + 2
    if kind in b"$=":
        size = int(rest)
        return (None, at) if size < 0 else (data[at : at + size], at + size + 2)
    if kind in b"*~>%":
        items = []
        for _ in range(int(rest) * (2 if kind == b"%" else 1)):
            value, at = parsed(data, at)
            items.append(value)
        return (Push(items) if kind == b">" else None if rest == b"-1" else items), at
    if kind == b":":
        return int(rest), at
    if kind == b"_":
        return None, at
    if kind == b"-":
        return RedisError(rest.decode()), at
    if kind in b"+,(#":
        return rest.decode(), at
    raise ConnectionError(f"no RESP3: {data[at : at + 80]!r}")


class Resp3Client(RawClient):
    """Replies and pushes are values, in the order in which they come."""

    def __init__(self, port, **how):
        super().__init__(port, resp=3, **how)

    def next(self):
        return parsed(self.read())[0]

    def say(self, *words):
        """The reply to one command; nothing else may come before it."""
        self.send(*words)
        return self.next()

    def events(self, *commands):
        """All that comes until these commands and one that marks the end have been answered."""
        self.send_raw(b"".join(encode(*command) for command in (*commands, ("ECHO", END))))
        return self.to_the_end()

    def to_the_end(self):
        """All until the mark, which has been sent."""
        heard = []
        while (heard[-1:] or [None])[0] != END.encode():
            heard.append(self.next())
        return heard[:-1]

    def track(self, *mode, library="redis-py"):
        """`library`: others hear of some names twice. An old server refuses CLIENT SETINFO."""
        self.say("CLIENT", "SETINFO", "LIB-NAME", library)
        said = self.say("CLIENT", "TRACKING", "ON", *mode)
        if said != "OK":
            raise AssertionError(f"CLIENT TRACKING ON {mode}: {said}")
        return self

    def keep(self, *names, within_s=PATIENCE_S):
        """Reads each name until its reply is not taken back at once; the last value of each."""

        def kept(name):
            said = self.events(("GET", name))
            replies = [each for each in said if not isinstance(each, Push)]
            ends = any(name.encode() in (push[1] or [name.encode()])
                       for push in said if isinstance(push, Push))  # fmt: skip
            return None if ends else replies

        return [until(lambda: kept(name), within_s, f"{name} is kept")[-1] for name in names]


@dataclass(slots=True, eq=False)
class Entry:
    """A value that is kept; `owner` hears when it ends. The times are of its last use."""

    name: str
    value: object
    owner: object
    uses: int = 0
    used: float = 0.0
    told: float = 0.0  # when the last request was sent that the owner had answered then


@dataclass(slots=True, eq=False)
class Asked:
    """A request in flight. `names`: of the values that its reply will have; (): not to be kept."""

    names: tuple
    sent: float
    void: bool = False  # of a name that was invalidated meanwhile


class NearCache:
    """What one process keeps. `ended` is called with each entry that was used, when it ends."""

    def __init__(self, kind=JEDIS, ended=lambda entry: None):
        self.kind, self.ended = kind, ended
        self.entries, self.in_flight = {}, set()

    def invalidate(self, names):
        """As the server says it; None: all."""
        if names is None:
            self.flush()
            if self.kind == MARKING:
                self._mark(lambda asked: True)
            return
        for name in map(bytes.decode, names):
            self.drop(name)
            if self.kind != JEDIS:
                self._mark(lambda asked, name=name: name in asked.names)

    def _mark(self, concerns):
        for asked in self.in_flight:
            asked.void = asked.void or concerns(asked)

    def drop(self, name):
        entry = self.entries.pop(name, None)
        if entry is not None and entry.uses:
            self.ended(entry)

    def flush(self):
        for name in list(self.entries):
            self.drop(name)

    def keep(self, asked, reply, owner):
        values = reply if len(asked.names) > 1 else [reply]
        if asked.void or isinstance(reply, RedisError):
            return
        for name, value in zip(asked.names, values):
            self.drop(name)
            if value is not None:
                self.entries[name] = Entry(name, value, owner)

    def lost(self, connection):
        """The connection has ended, and what it was owed."""
        for asked in connection.owed:
            self.in_flight.discard(asked)
        if self.kind != NODE:
            self.flush()
            self._mark(lambda asked: True)
        for name, entry in list(self.entries.items()):
            if entry.owner is connection:
                self.drop(name)


class NearClient(Resp3Client):
    """A connection that tracks, with the near cache of its process."""

    def __init__(self, port, cache=None, mode=(), **how):
        self.cache, self.mode = NearCache() if cache is None else cache, mode
        self.owed, self.answers = collections.deque(), []
        self.told = self.sent = 0.0  # when the last answered request was sent
        super().__init__(port, **how)
        self.poller = select.poll()
        self.poller.register(self.socket, select.POLLIN)
        self.track(*mode)

    def ask_for(self, *requests):
        """(words, names to keep) each, in one write; the replies to them."""
        self.post(*requests)
        return self.answered(len(requests))

    def post(self, *requests):
        data, now = [], time.monotonic()
        for words, names in requests:
            if names and "OPTIN" in self.mode:
                data.append(encode("CLIENT", "CACHING", "YES"))
                self.owed.append(None)
            asked = Asked(tuple(names), now)
            self.owed.append(asked)
            self.cache.in_flight.add(asked)
            data.append(encode(*words))
        self.send_raw(b"".join(data))

    def answered(self, count):
        """The next replies to what post() has sent."""
        while len(self.answers) < count:
            self._heard(self.next())
        out, self.answers = self.answers[:count], self.answers[count:]
        return out

    def hear(self):
        """What has come, without waiting."""
        while self.poller.poll(0):
            self.receive()
        while (raw := self.take()) is not None:
            self._heard(parsed(raw)[0])

    def _heard(self, said):
        if isinstance(said, Push):
            if said[0] == b"invalidate":
                self.cache.invalidate(said[1])
            return
        asked = self.owed.popleft()
        if asked is None:  # CLIENT CACHING YES
            return
        self.told = asked.sent
        self.cache.in_flight.discard(asked)
        if asked.names:
            self.cache.keep(asked, said, self)
        self.answers.append(said)

    def near(self, name):
        """The entry that answers, or None."""
        now = time.monotonic()
        entry = self.cache.entries.get(name)
        if entry is None:
            return None
        try:
            entry.owner.hear()
        except (Closed, OSError):
            self.cache.lost(entry.owner)
        if self.cache.entries.get(name) is not entry:
            return None
        entry.uses += 1
        entry.used, entry.told = now, entry.owner.told
        return entry

    def get(self, name):
        """From the near cache, or else by asking."""
        entry = self.near(name)
        return entry.value if entry else self.ask_for((("GET", name), (name,)))[0]
