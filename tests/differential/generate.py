# SPDX-License-Identifier: Apache-2.0
"""Runs of generated steps: a function of the seed, so that a run can be played again."""

import dataclasses
import glob
import os
import random

import arguments
import grammar
from step import Step

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "commands")
PROTOCOLS = (2, 3, 2, 3)  # of the connections of a run
SPOILT = 0.15  # of the commands have a fault
# A reply that is cached is asked for again, so that it is filled and then hit.
ASKED = 4
ENDS = {
    b"MULTI": (b"EXEC",),
    b"SUBSCRIBE": (b"RESET",), b"PSUBSCRIBE": (b"RESET",), b"SSUBSCRIBE": (b"RESET",),
}  # fmt: skip
AUDIBLE = (b"CLIENT", b"REPLY", b"ON")  # ends CLIENT REPLY OFF
LEAVING = frozenset({"alone"})


def load():
    """The templates of commands/, by file."""
    out = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt"))):
        with open(path, encoding="utf-8") as lines:
            out[os.path.basename(path)] = grammar.templates(lines)
    return out


class Run:
    """`known` are the names of the server's commands, in lower case; `cached` those that the proxy
    serves locally."""

    def __init__(self, seed, known, cached=frozenset()):
        self.rng = random.Random(seed)
        self.cached = cached
        self.open = {}  # by connection: what ends the state that it is in
        self.skips = set()  # connections whose next reply is skipped
        files = load()
        self.every = [template for rows in files.values() for template in rows]
        pools = {
            name: [t for t in rows if any(word in known for word in t.words())]
            for name, rows in files.items()
        }
        self.pools = [[t for t in pool for _ in range(t.weight)] for pool in pools.values() if pool]

    def steps(self, count):
        """At least `count`: every template once, then at random."""
        made = 0
        for _ in range(12):
            yield from self._refresh()
        parade = list(self.every)
        self.rng.shuffle(parade)
        while parade or made < count:
            for step in self._drawn(parade.pop()) if parade else self._next():
                made += 1
                yield step

    def _client(self):
        return self.rng.randrange(len(PROTOCOLS))

    def _drawn(self, template):
        client = self._client()
        if client in self.open:
            yield Step(client, (grammar.Command(self.open.pop(client), flags=LEAVING),))
        yield from self._single(client, template.draw(self.rng))

    def _next(self):
        rng, client = self.rng, self._client()
        ending = self.open.get(client)
        if ending and rng.random() < 0.2:
            del self.open[client]
            yield Step(client, (grammar.Command(ending, flags=LEAVING),))
        elif rng.random() < 0.05:
            yield from self._refresh()
        elif rng.random() < 0.2:
            yield self._pipeline(client)
        else:
            yield from self._single(client, self._command())

    def _refresh(self):
        client = self._client()
        if client not in self.open:
            for request in arguments.refreshed(self.rng):
                yield Step(client, (grammar.Command(request),))

    def _may_be_sent(self, client, name, args):
        """Within MULTI, and of a subscriber in RESP2, CLIENT REPLY is another thing; in silence
        nobody can tell whether either has begun, and a server does not close after QUIT."""
        silent = self.open.get(client) == AUDIBLE
        skips = client in self.skips
        self.skips.discard(client)
        if (name, *args[1:2]) != AUDIBLE[:2]:
            return not (silent and name in ENDS) and not ((silent or skips) and name == b"QUIT")
        if client in self.open and not silent:
            return False
        if args[2] == b"SKIP":
            self.skips.add(client)
        if args[2] == b"OFF":
            self.open[client] = AUDIBLE
        elif args[2] == b"ON":
            self.open.pop(client, None)
        return True

    def _single(self, client, command):
        name = command.args[0].upper()
        if not self._may_be_sent(client, name, command.args):
            return
        if name.endswith(b"SUBSCRIBE") and self.open.get(client) == ENDS[b"MULTI"]:
            # Of several channels, EXEC's reply would have more elements than it says.
            command = dataclasses.replace(command, args=(*command.args, b"news")[:2])
        if name in ENDS and self.open.get(client) != ENDS[b"MULTI"]:
            self.open[client] = ENDS[name]
        as_typed = self.rng.random() < 0.05 and len(command.args[0]) > 0
        step = Step(client, (command,), inline=as_typed)
        yield step
        if name.lower().decode("latin1") in self.cached:
            for _ in range(ASKED):
                yield Step(self._client(), (command,))

    def _pipeline(self, client):
        rng, commands = self.rng, []
        length = rng.choice((2, 3, 5, 20))
        while len(commands) < length:
            command = self._command()
            if not command.flags & {"alone", "timed"}:
                if not self._may_be_sent(client, command.args[0].upper(), command.args):
                    continue
                commands += [command] * rng.choice((1, 1, 1, 3))
                if command.args[0].upper() == b"MULTI":
                    self.open[client] = ENDS[b"MULTI"]
        cuts = tuple(rng.randrange(1, 30 * length) for _ in range(rng.choice((0, 1, 4, 40))))
        return Step(client, tuple(commands), cuts)

    def _command(self):
        rng = self.rng
        command = rng.choice(rng.choice(self.pools)).draw(rng)
        args = command.args
        if rng.random() < SPOILT and "sound" not in command.flags:
            args = arguments.spoil(args, rng)
        if rng.random() < 0.1:
            args = (args[0].swapcase(), *args[1:])
        return grammar.Command(args, command.rule, command.flags)
