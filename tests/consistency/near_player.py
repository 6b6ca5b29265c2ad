# SPDX-License-Identifier: Apache-2.0
"""Processes that read with near caches, and writers, until they are told to stop; what they saw.

    near_player.py SPEC OUT    SPEC: a Reader or a Writer as JSON; ends when its input ends

A process of its own, so that readers do not wait for each other's Python. Values are numbers that
no two writes share.
"""

import dataclasses
import json
import pathlib
import pickle
import random
import select
import subprocess
import sys
import time

from harness import Closed, RedisError, ValueClient
from harness.near import JEDIS, NearCache, NearClient
from near_judge import UNKNOWN, Read, Write

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = 1_000_000_000  # of each process: no two share one
LOOKS = 40  # at what is kept, in a row
BEFORE_AGAIN_S = 0.02  # after a lost connection
REFUSED = ("MOVED ", "ASK ", "TRYAGAIN ", "CROSSSLOT ")  # by a node: nothing was executed


@dataclasses.dataclass
class Reader:
    """`connections` share the near cache of one kind (harness/near.py), as those of a pool do."""

    port: int
    number: int = 0
    kind: str = JEDIS
    mode: tuple = ()  # of CLIENT TRACKING
    connections: int = 1
    keys: int = 6
    written: int = 4  # of these, by itself
    think_s: float = 0.0005
    writes: float = 0.01  # so often it writes itself
    leaves: float = 0.0005  # so often it closes a connection
    # Asks for nothing that it keeps, and only for keys that are written past the proxies: so it
    # waits for no fill, and is not given what the server says itself.
    is_calm: bool = False


@dataclasses.dataclass
class Writer:
    port: int
    number: int = 0
    keys: int = 6
    written: int = 6
    pause_s: float = 0.05
    flushes: bool = False


class Player:
    """What both record, and how they go on after an error."""

    def __init__(self, spec):
        self.spec, self.dice = spec, random.Random(spec.number)
        self.names = [f"k{i}" for i in range(spec.keys)]
        self.written = self.names[: spec.written]
        self.reads, self.writes = [], []
        self.last = spec.number * NUMBERS

    def value(self):
        self.last += 1
        return str(self.last).encode()

    def write(self, names, values, ask, life_s=UNKNOWN):
        """Recorded even if its outcome is never known, but not if it is refused."""
        began = time.monotonic()
        made = [Write(name, value, began, UNKNOWN, self.spec.port, life_s)
                for name, value in zip(names, values)]  # fmt: skip
        self.writes += made
        said = ask()
        if not isinstance(said, RedisError):
            now = time.monotonic()
            for write in made:
                write.acked = now
        elif str(said).startswith(REFUSED):
            del self.writes[-len(made) :]

    def play(self):
        while not select.select([sys.stdin], [], [], 0)[0]:
            try:
                self.step()
            except (OSError, Closed):
                self.lost()
                time.sleep(BEFORE_AGAIN_S)  # a client's pause before it connects again


class PlayerThatReads(Player):
    def __init__(self, spec):
        super().__init__(spec)
        self.cache = NearCache(spec.kind, self.ended)
        self.clients = []
        acts = (
            (30, self.look), (8, self.get), (8, self.pipeline), (3, self.mget), (3, self.ping),
            (1, self.behind_a_wait), (1, self.in_a_transaction),
        )  # fmt: skip
        self.acts = [act for weight, act in acts for _ in range(weight)]
        if spec.is_calm:
            self.names = self.names[spec.written :]
            self.acts = [self.look] * 30 + [self.get]

    def ended(self, entry):
        self.reads.append(Read(entry.name, entry.value, entry.used, entry.told, entry.used,
                               self.spec.port, entry.uses))  # fmt: skip

    def lost(self):
        """Which connection it was does not matter: all of them end."""
        for client in self.clients:
            self.leave(client)
        self.clients = []

    def leave(self, client):
        self.cache.lost(client)
        client.close()

    def step(self):
        while len(self.clients) < self.spec.connections:
            self.clients.append(NearClient(self.spec.port, self.cache, self.spec.mode))
        client = self.dice.choice(self.clients)
        if self.dice.random() < self.spec.leaves:
            self.clients.remove(client)
            self.leave(client)
            return
        if self.dice.random() < self.spec.writes:
            self.write_once(client)
        self.dice.choice(self.acts)(client)
        time.sleep(self.spec.think_s)  # a client's pause: others need the core

    def write_once(self, client):
        name, value = self.dice.choice(self.written), self.value()
        self.write([name], [value], lambda: client.ask_for((("SET", name, value), ()))[0])
        if "NOLOOP" in self.spec.mode:
            self.cache.drop(name)  # no server tells it

    def asked(self, client, *requests):
        """(words, names) each; records what the names' values were. `names` may be None."""
        began = time.monotonic()
        replies = client.ask_for(*((words, names or ()) for words, names in requests))
        now = time.monotonic()
        for (_, names), reply in zip(requests, replies):
            if not names or isinstance(reply, RedisError):
                continue
            for name, value in zip(names, reply if isinstance(reply, list) else [reply]):
                self.reads.append(Read(name, value, began, began, now, self.spec.port))
        return replies

    def look(self, client):
        for _ in range(LOOKS):
            client.near(self.dice.choice(self.names))

    def get(self, client):
        name = self.dice.choice(self.names)
        if client.near(name) is None:
            self.asked(client, (("GET", name), (name,)))

    def pipeline(self, client):
        names = self.dice.choices(self.names, k=8)
        self.asked(client, *((("GET", name), (name,)) for name in names))

    def mget(self, client):
        names = tuple(self.dice.sample(self.names, 3))
        self.asked(client, (("MGET", *names), names))

    def ping(self, client):
        self.asked(client, (("PING",), None))

    def behind_a_wait(self, client):
        names = self.dice.choices(self.names, k=3)
        gets = [(("GET", name), (name,)) for name in names]
        self.asked(client, gets[0], (("BLPOP", "nothing", 0.02), None), *gets[1:])

    def in_a_transaction(self, client):
        name = self.dice.choice(self.names)
        began = time.monotonic()
        said = client.ask_for((("MULTI",), ()), (("GET", name), ()), (("EXEC",), ()))[2]
        if isinstance(said, list) and not isinstance(said[0], RedisError):
            now = time.monotonic()
            self.reads.append(Read(name, said[0], began, began, now, self.spec.port))


class PlayerThatWrites(Player):
    def __init__(self, spec):
        super().__init__(spec)
        self.client = None

    def lost(self):
        if self.client is not None:
            self.client.close()
        self.client = None

    def step(self):
        if self.client is None:
            self.client = ValueClient(self.spec.port)
        name, other = self.dice.sample(self.written, 2)
        acts = [self.set] * 12 + [self.delete, self.short, self.script, self.both, self.transaction]
        self.dice.choice(acts)(name, other)
        if self.spec.flushes and self.dice.random() < 0.01:
            words = self.dice.choice((("FLUSHALL",), ("FLUSHDB",)))
            self.write(self.names, [None] * len(self.names), lambda: self.client(*words))
        time.sleep(self.spec.pause_s * 2 * self.dice.random())  # the load: writes per second

    def set(self, name, _):
        value = self.value()
        self.write([name], [value], lambda: self.client("SET", name, value))

    def delete(self, name, _):
        self.write([name], [None], lambda: self.client("DEL", name))

    def short(self, name, _):
        value, life_ms = self.value(), self.dice.randrange(5, 400)
        ask = lambda: self.client("SET", name, value, "PX", life_ms)
        self.write([name], [value], ask, life_ms / 1000)

    def script(self, name, _):
        value, keys = self.value(), self.dice.choice((0, 1))
        text = f"return redis.call('SET', '{name}', ARGV[{2 - keys}])"
        words = (1, name, value) if keys else (0, "unused", value)
        self.write([name], [value], lambda: self.client("EVAL", text, *words))

    def both(self, name, other):
        values = [self.value(), self.value()]
        ask = lambda: self.client("MSET", name, values[0], other, values[1])
        self.write([name, other], values, ask)

    def transaction(self, name, other):
        values = [self.value(), None]
        calls = (("MULTI",), ("SET", name, values[0]), ("DEL", other), ("EXEC",))

        def ask():
            wrong = [said for said in self.client.pipeline(calls) if isinstance(said, RedisError)]
            return wrong[0] if wrong else "OK"

        self.write([name, other], values, ask)


class Played:
    """A player as a process; stop() gives what it has seen: writes and reads."""

    def __init__(self, spec, folder):
        self.out = pathlib.Path(folder) / f"player-{spec.number}"
        text = json.dumps([type(spec).__name__, dataclasses.asdict(spec)])
        self.child = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "near_player.py"), text, str(self.out)],
            stdin=subprocess.PIPE,
        )

    def ended(self):
        return self.child.poll() is not None

    def stop(self):
        self.child.communicate(timeout=120)
        if self.child.returncode != 0:
            raise AssertionError(f"{self.out.name} ended with {self.child.returncode}")
        with self.out.open("rb") as file:
            return pickle.load(file)

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()


def main():
    kind, fields = json.loads(sys.argv[1])
    fields = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    if kind == "Reader":
        player = PlayerThatReads(Reader(**fields))
    else:
        player = PlayerThatWrites(Writer(**fields))
    player.play()
    if isinstance(player, PlayerThatReads):
        player.cache.flush()
    with open(sys.argv[2], "wb") as out:
        pickle.dump((player.writes, player.reads), out, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
