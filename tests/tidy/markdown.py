# SPDX-License-Identifier: Apache-2.0
"""Markdown as rules and tests read it: its prose, and its code blocks with what they ask for."""

import dataclasses
import re

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*)\s*$")
DIRECTIVE = re.compile(r"^\s*<!-- shell: (?P<text>.*?) -->\s*$")
INLINE_CODE = re.compile(r"`[^`\n]*`")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

# Blocks of commands: all lines are, or those behind a $ (the others are what they print).
SHELLS = ("sh", "console")
PROMPT = "$ "

# Before a block: what its run needs. Each takes what stands behind the colon.
NOT_RUN = "not run"  # why
STAYS = "stays"  # the addresses at which it listens; it runs until the page ends
EXITS = "exits"  # its exit status, if that is not 0
WITH = "with"  # what is there from here on, some of THINGS
PROXY = "proxy"  # listens on port 6380, its admin API on 6390
LOAD = "load"  # on the server: reads and writes, product:1000:price most of all
TRACE = "trace"  # trace.csv: recorded requests
CERTIFICATES = "certificates"  # ca.crt; proxy.crt and proxy.key for 127.0.0.1
THINGS = (PROXY, LOAD, TRACE, CERTIFICATES)
INSTEAD = "instead"  # SHOWN -> RUN; SHOWN -> RUN: what runs in place of what a reader sees
DIRECTIVES = (NOT_RUN, STAYS, EXITS, WITH, INSTEAD)


@dataclasses.dataclass
class Block:
    line: int  # of the opening fence, from 1
    language: str  # "" if the fence names none
    directives: list[tuple[str, str]]  # as they stand before it
    text: str

    def asks(self, directive):
        """What stands behind it; None if the block does not have it."""
        return dict(self.directives).get(directive)

    def commands(self):
        """What of it a shell runs."""
        text = self.shown()
        for seen, run in replacements(self.asks(INSTEAD) or ""):
            text = text.replace(seen, run)
        return text

    def shown(self):
        """The commands as a reader sees them."""
        if self.language != "console":
            return self.text
        found, goes_on = [], False
        for line in self.text.splitlines():
            if goes_on or line.startswith(PROMPT):
                found.append(line.removeprefix(PROMPT))
                goes_on = line.endswith("\\")
        return "\n".join(found) + "\n"


def replacements(argument):
    """The pairs of an INSTEAD; a part without an arrow is a pair with None."""
    pairs = [part.strip().partition(" -> ") for part in argument.split(";") if part.strip()]
    return [(seen, run if arrow else None) for seen, arrow, run in pairs]


def blocks_of(text):
    """The fenced code blocks, in order."""
    found, directives, lines = [], [], text.splitlines()
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if said := DIRECTIVE.match(lines[at]):
            name, _, argument = said["text"].partition(":")
            directives.append((name.strip(), argument.strip()))
        elif opening:
            begin = at
            at += 1
            while at < len(lines) and lines[at].strip() != "```":
                at += 1
            body = [line.removeprefix(opening["indent"]) for line in lines[begin + 1 : at]]
            found.append(
                Block(begin + 1, opening["language"], directives, "\n".join(body) + "\n")
            )
            directives = []
        elif lines[at].strip():
            directives = []
        at += 1
    return found


def prose_of(text):
    """(number, line) of what is neither code nor a comment; code within a line is blanked."""
    text = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, INLINE_CODE.sub(lambda found: " " * len(found[0]), line)
