# SPDX-License-Identifier: Apache-2.0
"""What the documents say must be so."""

import os
import re

from rule import rule
from rules_house import first_sentence

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
ROOMS = "docs/design/architecture.md"
ROOM_ROW = re.compile(r"^\| \[`(\w+)`\]\(\.\./\.\./heatsink/(\w+)/\) \| (.+?) \|$", re.MULTILINE)
GONE = "docs/guides/gone.md"  # for examples of what breaks a rule
DECISION = re.compile(r"docs/decisions/(\d{4})-[a-z0-9-]+\.md")


def anchors_of(text):
    """The names that headings have as link targets."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub(lambda m: m[0].strip("`"), text), re.MULTILINE)
    return {anchor_of(heading) for heading in headings}


def anchor_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


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


NAMED_PAGE = re.compile(r"\bdocs/(?:guides|reference|design)/[\w-]+\.md")
NAMES_PAGES = ("apps/", "bench/", "bindings/", "deploy/prometheus/", "heatsink/", "include/")


@rule(
    kept_by={"heatsink/a.cc": "// docs/guides/a.md\n", "docs/guides/a.md": "", "tests/a.py": GONE},
    broken_by=[{"heatsink/b.cc": GONE}, {"deploy/prometheus/b.yml": f"runbook_url: {GONE}#c"}],
)
def code_names_pages_that_exist(tree):
    """A page of the documents that code, a help text or an alert names is there."""
    for path in tree.paths():
        if path.startswith(NAMES_PAGES) and "_test." not in path and not path.endswith(".md"):
            for page in NAMED_PAGE.findall(tree.texts[path]):
                if page not in tree.texts:
                    yield path, f"names {page}, which is not there"


SPAN = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"```.*?```", re.DOTALL)
FILE_TABLE = re.compile(r"^\| file \|.*\n\|-.*\n((?:\|.*\n)*)", re.MULTILINE)
# A name that stands for any: heatsink/ROOM/ROOM.h, heatsink/proxy/my_relief.h.
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]{2,}(?=[/.]|$)|/my_[\w.]*$")


@rule(
    kept_by={
        "docs/a.md": "`heatsink/net/net.h:12` `heatsink/ROOM/x.h` `net/fd.h` `docs` `and/or`\n",
        "CONTRIBUTING.md": "| file | what |\n|---|---|\n"
        "| a new `heatsink/net/my_poll.h`, `.cc`, `_test.cc` | `poll.h` |\n"
        "| `docs/a.md` | its row |\n",
        "heatsink/net/net.h": "",
    },
    broken_by=[
        {"docs/b.md": "`heatsink/net/gone.h`\n"},
        {"docs/b.md": "`heatsink/old/my_poll.h`\n"},
        {"docs/b.md": "| file | what |\n|---|---|\n| `net.h` | its row |\n"},
        {"docs/b.md": "| file | what |\n|---|---|\n| `heatsink/net/net.h`, `.cc` | it |\n"},
    ],
)
def paths_exist(tree):
    """A path of the tree in a document leads to what is there; tables of files have whole paths."""
    folders = {f for p in tree.paths() for f in folders_above(p)}
    roots = {f for f in folders if "/" not in f}
    for path in tree.paths(".md"):
        text = FENCED.sub("", tree.texts[path])
        for span in SPAN.findall(text):
            words = span.split()
            name = re.sub(r":\d+$", "", words[0]).rstrip("/") if words else ""
            if name.split("/")[0] not in roots or not re.fullmatch(r"[\w./-]+", name):
                continue
            kept = PLACEHOLDER.split(name)[0]
            if kept and kept not in tree.texts and kept not in folders:
                yield path, f"names {name}, which is not there"
        for table in FILE_TABLE.findall(text):
            for row in table.splitlines():
                last = ""
                for span in SPAN.findall(row.split("|")[1]):
                    if span.startswith((".", "_")):  # another end of the path before it
                        span = last.rsplit(".", 1)[0] + span
                        if not PLACEHOLDER.search(span) and span not in tree.texts:
                            yield path, f"names {span}, which is not there"
                    elif span.split("/")[0] not in {*roots, *tree.texts}:
                        yield path, f"names {span} without its folder"
                    last = span


def folders_above(path):
    parts = path.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


# Where rows of a program stand, how they begin there, and the tables that must have them, by the
# head of each and what a row of it begins with. `auto` is one of the other sources.
ROWS = {
    "apps/heatsink/verbs.cc": (
        re.compile(r'\{"(\w+)",\s+"'),
        [("docs/README.md", "| command |", "| `heatsink {}")],
    ),
    "heatsink/observe/make_source.cc": (
        re.compile(r'\{"(?!auto")(\w+)", make_\w+'),
        [
            ("docs/reference/top.md", "| `--source` | method |", "| `{}"),
            ("docs/reference/top.md", "| `--source` | cannot see |", "| `{}"),
            ("docs/limitations.md", "| tool |", "| `top --source {}"),
        ],
    ),
}


def table_of(text, head):
    """The rows of the table with this head; none without such a table."""
    _, _, below = ("\n" + text).partition("\n" + head)
    return below.partition("\n\n")[0].splitlines()[2:]


@rule(
    kept_by={
        "apps/heatsink/verbs.cc": '{"top", "Shows."},\n{"config",\n "Prints."},',
        "heatsink/observe/make_source.cc": '{{"auto", make_auto}, {"lfu", make_lfu, true}}',
        "docs/README.md": "| command | does |\n|---|---|\n| `heatsink top` | a |\n"
        "| `heatsink config X` | b |\n",
        "docs/reference/top.md": "| `--source` | method |\n|--|--|\n| `lfu` | a |\n\n"
        "| `--source` | cannot see |\n|--|--|\n| `lfu`, others | b |\n",
        "docs/limitations.md": "| tool | is blind to |\n|--|--|\n| `top --source lfu` | c |\n",
    },
    broken_by=[
        {"apps/heatsink/verbs.cc": '{"top", "Shows."}, {"warm", "Warms."}'},
        {"apps/heatsink/verbs.cc": "nothing that looks like a row"},
        {"heatsink/observe/make_source.cc": '{"lfu", make_lfu}, {"slow", make_slow}'},
        {"docs/limitations.md": "| tool | is blind to |\n|--|--|\n\n| `top --source lfu` |\n"},
    ],
)
def verbs_and_sources_are_documented(tree):
    """Each verb of the program, and each source of `top`, has its rows in the documents."""
    for source, (row, tables) in ROWS.items():
        names = row.findall(tree.texts.get(source, ""))
        if not names:
            yield source, "has no rows that this rule can read"
        for path, head, begin in tables:
            rows = table_of(tree.texts.get(path, ""), head)
            for name in names:
                start = re.compile(re.escape(begin.format(name)) + r"\b")
                if not any(start.match(each) for each in rows):
                    yield path, f"has no row '{begin.format(name)}' in the table '{head}'"


HOUSE_OF_ONE = {
    ROOMS: "| [`net`](../../heatsink/net/) | Loops. |\n",
    "heatsink/net/net.h": "// SPDX\n// net: Loops.\n#pragma once\n",
}


@rule(
    kept_by=HOUSE_OF_ONE,
    broken_by=[
        {ROOMS: "| [`net`](../../heatsink/net/) | Sockets. |\n"},
        {ROOMS: "nothing\n"},
        {ROOMS: HOUSE_OF_ONE[ROOMS] + "| [`old`](../../heatsink/old/) | Gone. |\n"},
    ],
)
def rooms_are_listed(tree):
    """The architecture's table of rooms has the first sentence of each face header, no more."""
    written = {
        room: text
        for room, folder, text in ROOM_ROW.findall(tree.texts.get(ROOMS, ""))
        if room == folder
    }
    for room in sorted({*written, *tree.rooms()}):
        true = first_sentence(tree, room)
        if written.get(room) != true:
            row = f"| [`{room}`](../../heatsink/{room}/) | {true} |"
            yield ROOMS, f"the row of {room} must be: {row}"


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
