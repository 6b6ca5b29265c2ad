# SPDX-License-Identifier: Apache-2.0
"""What the documents say must be so."""

import os
import re

from rule import rule
from rules_house import first_sentence

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
ROOM_ROW = re.compile(r"^\| \[`(\w+)`\]\(heatsink/(\w+)/\) \| (.+?) \|$", re.MULTILINE)
DECISION = re.compile(r"docs/decisions/(\d{4})-[a-z0-9-]+\.md")


def anchors_of(text):
    """The names that headings have as link targets."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub(lambda m: m[0].strip("`"), text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


@rule(
    kept_by={
        "README.md": "[a](docs/a.md) [b](docs/a.md#the-b) [w](https://x) `[no](link)`\n",
        "docs/a.md": "# The b\n[up](../README.md) [folder](.)\n",
    },
    broken_by=[{"docs/b.md": "[gone](c.md)\n"}, {"docs/b.md": "[gone](a.md#no-such)\n"}],
)
def links_resolve(tree):
    """Each relative link of a document leads to a file, folder or heading that is there."""
    folders = {os.path.dirname(p) for p in tree.paths()}
    folders |= {"/".join(f.split("/")[:n]) for f in folders for n in range(f.count("/") + 1)} | {
        "."
    }
    for path in tree.paths(".md"):
        for link in LINK.findall(CODE.sub("", tree.texts[path])):
            if "://" in link or link.startswith("mailto:"):
                continue
            file, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if target not in tree.texts and target not in folders:
                yield path, f"links to {link}, which is not there"
            elif anchor and anchor not in anchors_of(tree.texts.get(target, "")):
                yield path, f"links to {link}, but {target} has no such heading"


HOUSE_OF_ONE = {
    "README.md": "| [`net`](heatsink/net/) | Loops. |\n",
    "heatsink/net/net.h": "// SPDX\n// net: Loops.\n#pragma once\n",
}


@rule(
    kept_by=HOUSE_OF_ONE,
    broken_by=[
        {"README.md": "| [`net`](heatsink/net/) | Sockets. |\n"},
        {"README.md": "nothing\n"},
        {"README.md": HOUSE_OF_ONE["README.md"] + "| [`old`](heatsink/old/) | Gone. |\n"},
    ],
)
def readme_names_the_rooms(tree):
    """README's table of rooms is the first sentence of each face header, and nothing else."""
    written = {
        room: text
        for room, folder, text in ROOM_ROW.findall(tree.texts.get("README.md", ""))
        if room == folder
    }
    for room in sorted({*written, *tree.rooms()}):
        true = first_sentence(tree, room)
        if written.get(room) != true:
            row = f"| [`{room}`](heatsink/{room}/) | {true} |"
            yield "README.md", f"the row of {room} must be: {row}"


STILL = re.compile(r"```text\n(Hot keys of .*?\n)```", re.DOTALL)
PICTURE = "Hot keys of a\n1 key\n"


@rule(
    kept_by={
        "README.md": f"words\n```text\n{PICTURE}```\n",
        "apps/heatsink/top_screen_test.cc": f'R"({PICTURE}\n q quit)"',
    },
    broken_by=[
        {"README.md": "words\n"},
        {"README.md": "```text\nHot keys of a\n1 other key\n```\n"},
        {"docs/guides/top.md": "```text\nHot keys of b\n```\n"},
    ],
)
def still_is_tested(tree):
    """README's picture of `heatsink top` is one that a screen test holds; so are the guides'."""
    tests = [tree.texts[path] for path in tree.paths("_test.cc", under="apps/")]
    if not STILL.search(tree.texts.get("README.md", "")):
        yield "README.md", "has no picture of heatsink top"
    for path in tree.paths(".md"):
        for still in STILL.findall(tree.texts[path]):
            if not any(still in test for test in tests):
                yield path, "shows a heatsink top that no screen test holds"


@rule(
    kept_by={"docs/decisions/README.md": "[one](0001-one.md)\n", "docs/decisions/0001-one.md": ""},
    broken_by=[
        {"docs/decisions/0002-two.md": ""},
        {
            "docs/decisions/0001-again.md": "",
            "docs/decisions/README.md": "0001-one.md 0001-again.md",
        },
        {"docs/decisions/three.md": ""},
    ],
)
def decisions_are_listed(tree):
    """Each decision is NNNN-title.md with a number of its own, and the index names it."""
    index = tree.texts.get("docs/decisions/README.md", "")
    seen = {}
    for path in tree.paths(".md", under="docs/decisions/"):
        if path.endswith("/README.md"):
            continue
        name = DECISION.fullmatch(path)
        if not name:
            yield path, "is not called NNNN-title.md"
        elif seen.setdefault(name[1], path) != path:
            yield path, f"has the number of {seen[name[1]]}"
        if os.path.basename(path) not in index:
            yield path, "is not in docs/decisions/README.md"
