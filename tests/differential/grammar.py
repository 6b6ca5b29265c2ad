# SPDX-License-Identifier: Apache-2.0
"""Templates of commands: a line of commands/*.txt, and the requests that it stands for.

    any_order: SUNION set+
    SET string value [NX|XX] [GET] [EX seconds|PX milliseconds|KEEPTTL]
    timed alone x3: BLPOP #list 0.01

Before the colon stands how the replies are compared (rules.py; exactly, if nothing is said);
`alone` if the command does not travel in a pipeline; `timed` if the server may take a moment to
answer; `sound` if its arguments are never spoilt (SHUTDOWN without its own would end the server);
`xN` for N times as often. Behind it, a request: a word in lower case is drawn by arguments.py, any
other stands for itself, 'quoted' ones too; [a|b] is one of them or nothing, <a|b> one of them; an
item with * comes 0 to 3 times, with + 1 to 3 times; #name is a number and so many names.
"""

import dataclasses
import re

import arguments
import rules

TOKEN = re.compile(r"'[^']*'|[\[\]<>|]|(?<=[\]>])[*+](?=[ \]>|]|$)|[^\s\[\]<>|]+")
FLAGS = {"alone", "timed", "sound", "executed"}
CLOSING = {"[": "]", "<": ">"}


@dataclasses.dataclass(frozen=True)
class Command:
    """One request, and how it travels and is judged."""

    args: tuple  # of bytes
    rule: str = "exact"
    flags: frozenset = frozenset()


class Template:
    """One line of commands/*.txt; draw() makes a request of it."""

    def __init__(self, line):
        self.line = line
        head, colon, body = line.partition(": ")
        options, self.body = (head.split(), body) if colon else ([], line)
        self.weight, self.rule = 1, "exact"
        self.flags = FLAGS & set(options)
        for option in options:
            if option[0] == "x" and option[1:].isdigit():
                self.weight = int(option[1:])
            elif option in rules.RULES:
                self.rule = option
            elif option not in FLAGS:
                raise ValueError(f"what is {option!r} in {line!r}?")
        self.tokens = TOKEN.findall(self.body)
        self.sequence, _ = self._sequence(0, None)

    def words(self):
        """What it begins with, as `COMMAND LIST` names commands and their subcommands."""
        first = [token.lower() for token in self.tokens[:2]] + [""]
        return first[0], f"{first[0]}|{first[1]}"

    def draw(self, rng):
        words = []
        self._draw(self.sequence, rng, words)
        return Command(tuple(words), self.rule, frozenset(self.flags))

    def _sequence(self, at, closing):
        """(the alternatives, or the items if there is but one, up to `closing`; where it ends)"""
        alternatives = [[]]
        while at < len(self.tokens) and self.tokens[at] != closing:
            token = self.tokens[at]
            at += 1
            if token == "|":
                alternatives.append([])
                continue
            if token in CLOSING:
                inner, at = self._sequence(at, CLOSING[token])
                item = (token, inner)
                at += 1
                if at > len(self.tokens):
                    raise ValueError(f"a bracket is open in {self.line!r}")
                if at < len(self.tokens) and self.tokens[at] in "*+":
                    item = (self.tokens[at], [[item]])
                    at += 1
            else:
                item = self._word(token)
            alternatives[-1].append(item)
        return alternatives, at

    def _word(self, token):
        if token in CLOSING.values():
            raise ValueError(f"a bracket too many in {self.line!r}")
        if token[0] == "'":
            return ("literal", token[1:-1].encode())
        many = token[-1] if token[-1] in "*+" and token[:-1].islower() else ""
        name = token.removesuffix(many) if many else token
        if not name.lstrip("#").replace("_", "").islower():
            return ("literal", token.encode())
        if name.lstrip("#") not in arguments.MAKERS:
            raise ValueError(f"nobody draws {name!r} of {self.line!r}")
        item = ("counted" if name[0] == "#" else "drawn", name.lstrip("#"))
        return (many, [[item]]) if many else item

    def _draw(self, alternatives, rng, words):
        for kind, inner in rng.choice(alternatives):
            if kind == "literal":
                words.append(inner)
            elif kind == "drawn":
                words.append(arguments.draw(inner, rng))
            elif kind == "counted":
                keys = [arguments.draw(inner, rng) for _ in range(rng.choice((1, 2, 2, 3)))]
                words.append(b"%d" % len(keys))
                words.extend(keys)
            elif kind in "*+":
                for _ in range(rng.randint(kind == "+", 3)):
                    self._draw(inner, rng, words)
            elif kind == "<" or rng.random() < 0.5:
                self._draw(inner, rng, words)


def templates(lines):
    return [Template(line) for line in map(str.strip, lines) if line and line[0] != "#"]
