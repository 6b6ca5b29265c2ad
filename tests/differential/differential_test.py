# SPDX-License-Identifier: Apache-2.0
"""The same commands to a server and through the proxy: the same bytes, and then the same data.

conversations/ has what was written by hand, one thing per file; commands/ what is generated
(generate.py), by several connections in turn, with copies and without. By hand, longer: play.py.

HEATSINK_DIFFERENTIAL_STEPS and HEATSINK_DIFFERENTIAL_SEED: how long the generated runs are (a step
takes 3 ms or so), and where their seeds begin. The long form of the checks plays longer runs, and
more seeds.
"""

import itertools
import os
import random
import unittest

import coverage
import generate
from grammar import Command
from harness import LONG, encode, need_programs, until
from pair import Difference
from shrink import shrunk
from stage import Stage
from step import Step

STEPS = int(os.environ.get("HEATSINK_DIFFERENTIAL_STEPS", "2500" if LONG else "1000"))
SEED = int(os.environ.get("HEATSINK_DIFFERENTIAL_SEED", "1"))
SEEDS = 10 if LONG else 1  # of the runs with copies
HITS_MIN = STEPS // 100
LINES_MAX = 100  # of a conversation that a failure shows


class Differential(unittest.TestCase):
    """One pair of servers for all; each test begins with empty ones."""

    CACHING = "eager"

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.stage = Stage(cls.CACHING)
        cls.addClassCleanup(cls.stage.exits.close)

    def play(self, steps, protocols):
        self.stage.play(steps, protocols)

    def play_generated(self, seed):
        steps = self.stage.steps(seed, STEPS)
        try:
            self.play(steps, generate.PROTOCOLS)
        except Difference as difference:
            lines = shrunk(self.stage, steps, difference)
            self.fail(
                f"{difference}\nto play it: tests/differential/play.py --caching {self.CACHING} "
                f"--seed {seed} --steps {STEPS}, or --replay of this:\n"
                + "\n".join(line[:300] for line in lines[:LINES_MAX])
            )


class Uncached(Differential):
    """What the proxy does to commands, without what it does to reads."""

    CACHING = "off"

    def test_generated(self):
        self.play_generated(SEED)
        self.assertEqual(self.stage.hits(), 0)


class Gathering(Differential):
    """With writes to one key that wait for each other."""

    CACHING = "gathering"

    WRITES = (b"SET k 7", b"SET k x", b"SET k 5 EX 900", b"SET k 5 EX 0", b"SET k 9 NX", b"INCR k",
              b"INCR k", b"DECR k", b"INCRBY k 3", b"INCRBY k -3", b"INCRBY k 9223372036854775807",
              b"DECRBY k 4", b"DECRBY k x", b"GET k", b"APPEND k 1", b"DEL k", b"RPUSH k a",
              b"SELECT 1", b"SELECT 0", b"MULTI", b"EXEC", b"PING")  # fmt: skip

    def test_pipelines_of_writes_to_one_key(self):
        rng = random.Random(SEED)
        steps = [self.pipeline(rng) for _ in range(100)]
        self.play(steps, generate.PROTOCOLS)
        self.assertGreater(self.stage.proxy.metric("heatsink_gathered_writes_total"), 20)

    def pipeline(self, rng):
        commands = []
        while len(commands) < 12:
            words = tuple(rng.choice(self.WRITES).split())
            commands += [Command(words)] * rng.choice((1, 1, 4))
        return Step(rng.randrange(len(generate.PROTOCOLS)), tuple(commands))


class Cached(Differential):
    """With copies made after a few reads and for good."""

    def test_generated(self):
        for seed in range(SEED + 1, SEED + 1 + SEEDS):
            with self.subTest(seed=seed):
                before = self.stage.hits()
                self.play_generated(seed)
                self.assertGreater(self.stage.hits(), before + HITS_MIN)

    def test_every_command_is_played_or_excused(self):
        self.assertEqual("\n".join(coverage.faults(self.stage.commands)), "")

    def test_pieces_of_any_size(self):
        for size in (1, 7, 61, 1447):
            with self.subTest(size=size):
                self.play(list(cut(self.stage.steps(SEED + size, 60), size)), generate.PROTOCOLS)

    def test_a_hot_key_in_pipelines(self):
        """Hits and forwarded commands of one connection keep their order."""
        append, incr = (b"APPEND", b"hot", b"x"), (b"INCR", b"n")
        writes = [append, incr, (b"GET", b"cold"), (b"EXISTS", b"hot")]
        row = [writes[i // 40 % 4] if i % 40 == 0 else (b"GET", b"hot") for i in range(600)]
        commands = tuple(Command(args) for args in row)
        before = self.stage.hits()

        def hot():
            for resp in (2, 3):
                self.play([Step(0, commands), *(Step(0, (each,)) for each in commands)], (resp,))
            return self.stage.hits() > before + 100

        until(hot, what="local hits")

    def test_inline(self):
        lines = (
            b"PING\r\n\r\nSET k v\nGET k\r\n   GET    k  \r\nSET q \"a\\x00\\n b\"\r\nGET 'q'\r\n"
            b'NOSUCH a b\r\nGET\r\n*0\r\n*-1\r\nECHO ""\r\n""\r\nMULTI\nGET k\nEXEC\n'
        )
        self.assertEqual(*self.answers(lines, count=13))

    def test_protocol_errors(self):
        for broken in (
            b"*1\r\n+PING\r\n", b"*x\r\n", b"*1\r\n$x\r\n", b"*1\r\n$-1\r\n", b"*2147483648\r\n",
            b"*1\r\n$536870913\r\n", b'GET "unbalanced\r\n', b"x" * 70000,
            b"*" + b"1" * 70000, b"*1\r\n$" + b"1" * 70000, b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\nxx\r\n",
        ):  # fmt: skip
            if broken.startswith(b"*1\r\n$1") and "delex" in self.stage.commands:
                continue  # Redis 8.4 and later wait for the end of the line
            with self.subTest(request=broken[:40]):
                before = encode("PING") + encode("GET", "nope")
                self.assertEqual(*self.answers(before + broken))

    def answers(self, data, count=None):
        """The first `count` replies of both sides; all until the connection is closed."""
        self.stage.pair.start([2])
        out = []
        for side in self.stage.pair.sides():
            client = side.clients[0]
            client.push([data])
            out.append(client.read_to_end() if count is None else client.read_many(count))
        return out


def cut(steps, size):
    for step in steps:
        length = len(b"".join(step.pieces()))
        yield Step(step.client, step.commands, tuple(range(size, length, size)), step.inline)


class Conversations(Differential):
    """Each file, one command at a time as it stands, and all at once if it is of one connection."""


def plays(path):
    def test(self):
        steps = coverage.conversation(path)
        clients = 1 + max(step.client for step in steps)
        for resp in (2, 3):
            with self.subTest(resp=resp):
                self.play(steps, [resp] * clients)
            if clients == 1:
                with self.subTest(resp=resp, pipelined=True):
                    self.play(list(pipelines(steps)), [resp])

    return test


def pipelines(steps):
    """All at once, cut anywhere; but for what does not travel in a pipeline."""
    commands = [command for step in steps for command in step.commands]
    rng = random.Random(len(commands))
    for alone, group in itertools.groupby(commands, lambda command: "alone" in command.flags):
        together = tuple(group)
        if alone:
            yield from (Step(0, (command,)) for command in together)
        else:
            yield Step(0, together, tuple(rng.randrange(1, 40 * len(together)) for _ in range(20)))


for each in coverage.CONVERSATIONS:
    name = os.path.basename(each).removesuffix(".txt")
    setattr(Conversations, f"test_{name}", plays(each))


if __name__ == "__main__":
    unittest.main()
