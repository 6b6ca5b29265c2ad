# SPDX-License-Identifier: Apache-2.0
"""What one connection sends at once, and how it stands in a file of conversations.

A line is a command as redis-cli would take it (quotes, \\x escapes). In front of it may stand, in
this order, `N>` for the number of the connection (0 if it is left out), and `%rule ` for how the
replies are compared (rules.py): `2> %numbers TTL key`. Behind the rule may stand flags: of a
command whose reply is silenced, `%exact,executed` holds the next step until the server has
executed it. `+` joins a line to the pipeline of the line above, which is of the same connection.
"""

import dataclasses
import re
import shlex

from grammar import Command
from harness import encode

HEAD = re.compile(r"(?P<join>\+ )?(?:(?P<client>\d+)> )?(?:%(?P<rule>\w+)(?P<flags>(?:,\w+)*) )?")
ESCAPE = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')


@dataclasses.dataclass(frozen=True)
class Step:
    """Commands that connection number `client` sends at once."""

    client: int
    commands: tuple  # of Command
    cuts: tuple = ()  # where the bytes are cut into several sends
    inline: bool = False  # as a person types it, not as multi-bulk

    def pieces(self):
        """What is sent, send by send."""
        form = inline if self.inline else encode
        data = b"".join(form(*command.args) for command in self.commands)
        ends = [*sorted(cut for cut in self.cuts if cut < len(data)), len(data)]
        return [data[start:end] for start, end in zip([0, *ends], ends)]

    def waits_a_moment(self):
        """It is answered soon, unlike what waits for another connection."""
        return all("timed" in c.flags or "alone" not in c.flags for c in self.commands)

    def lines(self):
        """As parse() reads it; the cuts are not in it."""
        for i, command in enumerate(self.commands):
            rule = "" if command.rule == "exact" else command.rule
            how = ",".join([rule or "exact", *sorted(command.flags)])
            mark = f"%{how} " if rule or command.flags else ""
            text = b" ".join(map(quoted, command.args)).decode()
            yield f"{'+ ' if i else ''}{self.client}> {mark}{text}"


def quoted(arg):
    """One argument, as redis-cli and inline requests take it."""
    if arg.isalnum():
        return arg
    plain = (b"%c" % c if 32 <= c < 127 and c not in b"\"\\" else b"\\x%02x" % c for c in arg)
    return b'"%s"' % b"".join(plain)


def inline(*args):
    return b" ".join(map(quoted, args)) + b"\r\n"


def words(text):
    """The arguments of one line."""
    if "\\" not in text:
        return tuple(word.encode() for word in shlex.split(text))
    return tuple(
        word[1:-1].encode("latin1").decode("unicode_escape").encode("latin1")
        if word[0] == '"'
        else word.encode("latin1")
        for word in ESCAPE.findall(text)
    )


def parse(lines):
    """The steps of a conversation."""
    steps = []
    for line in map(str.strip, lines):
        if not line or line[0] == "#":
            continue
        head = HEAD.match(line)
        flags = frozenset((head["flags"] or "")[1:].split(",")) - {""}
        command = Command(words(line[head.end() :]), head["rule"] or "exact", flags)
        if head["join"]:
            last = steps.pop()
            steps.append(dataclasses.replace(last, commands=(*last.commands, command)))
        else:
            steps.append(Step(int(head["client"] or 0), (command,)))
    return steps
