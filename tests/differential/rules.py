# SPDX-License-Identifier: Apache-2.0
"""When two replies are the same. Equal bytes always are; a rule says what else is.

Each rule turns a command's replies (their bytes, one behind the other) into what is compared. No
rule forgives another type of reply, nor, but for `lines`, another text of an error.
"""

import re

from harness import end_of_reply


def split(replies):
    """The replies one by one; what is said of a connection that is silent or closed is the last."""
    out, at = [], 0
    while at < len(replies):
        end = end_of_reply(replies, at) or len(replies)
        out.append(replies[at:end])
        at = end
    return out


def elements(reply):
    """Of an aggregate: (its type, its elements); of a map an element is a field and its value."""
    line_end = reply.index(b"\r\n") + 2
    parts = split(reply[line_end:])
    if reply[:1] == b"%":
        parts = [parts[i] + parts[i + 1] for i in range(0, len(parts), 2)]
    return reply[:1], parts


def is_aggregate(reply):
    return reply[:1] in (b"*", b"%", b"~", b">") and reply[1:2] != b"-"


def error_or(rule):
    """Errors keep their text."""
    return lambda replies: replies if replies[:1] == b"-" else rule(replies)


def numbers(replies):
    """Times, addresses and ids: any number is as good as another."""
    return re.sub(rb"-?\d+(\.\d+)?", b"0", replies)


def kind(replies):
    """Only the type: what the server says of itself, and what depends on chance."""
    return b"".join(reply[:1] for reply in split(replies))


def who(replies):
    """Of CLIENT INFO: what the client has said of itself."""
    return b"".join(re.findall(rb" (?:name|lib-name|lib-ver)=\S*", replies))


def size(replies):
    """The type, and how many elements: which ones is chance."""
    if not is_aggregate(replies):
        return kind(replies)
    head, parts = elements(replies)
    return b"%s%d" % (head, len(parts))


def any_order(replies):
    """The elements in any order, also those within: sets, and maps, whose order is the seed's."""
    return b"".join(sorted(_sorted(reply) for reply in split(replies)))


def _sorted(reply):
    if not is_aggregate(reply):
        return reply
    head, parts = elements(reply)
    if head == b"%":
        return head + b"".join(sorted(b"".join(map(_sorted, split(part))) for part in parts))
    return head + b"".join(sorted(map(_sorted, parts)))


def pairs(replies):
    """Of fields and values in RESP2: the pairs in any order; in RESP3 it is any_order."""
    if replies[:1] != b"*" or not is_aggregate(replies):
        return any_order(replies)
    parts = elements(replies)[1]
    return b"*%d" % len(parts) + b"".join(
        sorted(b"".join(parts[i : i + 2]) for i in range(0, len(parts), 2))
    )


def lines(replies):
    """The lines in any order: several replies, each with a count (UNSUBSCRIBE of all)."""
    return b"\r\n".join(sorted(replies.split(b"\r\n")))


RULES = {
    "exact": lambda replies: replies,
    "numbers": error_or(numbers),
    "kind": error_or(kind),
    "size": error_or(size),
    "who": error_or(who),
    "any_order": any_order,
    "pairs": pairs,
    "lines": lines,
}


def same(rule, expected, actual):
    """For EXEC, `rule` is a list: those of the commands that it runs."""
    return expected == actual or first_difference(rule, expected, actual) is None


def first_difference(rule, expected, actual):
    """(rule, expected, actual) of the smallest part that differs; None if none does."""
    if isinstance(rule, str):
        alike = RULES[rule](expected) == RULES[rule](actual)
        return None if alike else (rule, expected, actual)
    if is_aggregate(expected) and is_aggregate(actual):
        mine, theirs = elements(expected)[1], elements(actual)[1]
        if len(mine) == len(theirs) == len(rule):
            parts = map(first_difference, rule, mine, theirs)
            return next((part for part in parts if part is not None), None)
    return None if expected == actual else ("exact", expected, actual)
