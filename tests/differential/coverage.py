# SPDX-License-Identifier: Apache-2.0
"""Which commands of a server are played, which are not and why."""

import glob
import os

import generate
from step import parse

HERE = os.path.dirname(os.path.abspath(__file__))
CONVERSATIONS = sorted(glob.glob(os.path.join(HERE, "conversations", "*.txt")))


def conversation(path):
    """Its steps."""
    with open(path, encoding="utf-8") as lines:
        return parse(lines)


def played():
    """Names as COMMAND LIST has them; also such that no server knows, of what is a mistake."""
    names = {name for rows in generate.load().values() for t in rows for name in t.words()}
    for path in CONVERSATIONS:
        for step in conversation(path):
            for command in step.commands:
                words = [arg.decode("latin1").lower() for arg in command.args[:2]]
                names |= {words[0], "|".join(words)}
    return names


def not_played():
    """name: why"""
    with open(os.path.join(HERE, "not_played.txt"), encoding="utf-8") as lines:
        rows = [line.strip().partition(": ") for line in lines if line.strip() and line[0] != "#"]
    return {name: why for name, _, why in rows}


def faults(commands):
    """Sentences: what the two lists say wrongly of a server with these commands."""
    mine, others = played(), not_played()
    containers = {name.partition("|")[0] for name in commands if "|" in name}
    for name in sorted(commands - containers):
        if (name in mine) == (name in others):
            yield f"{name} is {'in both lists' if name in mine else 'neither played nor excused'}"
    yield from (f"{name} is excused without a reason" for name, why in others.items() if not why)
