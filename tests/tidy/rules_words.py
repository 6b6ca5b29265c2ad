# SPDX-License-Identifier: Apache-2.0
"""How the documents are written: width, words, and blocks of commands that are tried."""

import re

from cpp_text import TOKEN
from markdown import (
    DIRECTIVES, EXITS, INSTEAD, NOT_RUN, SHELLS, STAYS, THINGS, WITH, blocks_of, prose_of,
    replacements,
)  # fmt: skip
from rule import rule
from tree import CPP

PROSE_COLUMNS_MAX = 100
TABLE_COLUMNS_MAX = 160
REASON_WORDS = 3
README_LINES_MAX = 200
GUIDE_WORDS_MAX = 2500

# Turns that make a reader stop: no actor, or a word of ours for a thing that has a name.
NOT_OURS = re.compile(
    r"\b(nobody|whoever|whomever|likewise|wherefrom|"
    r"(?:is|are|was|were|be|been) told|in (?:its|their) own words|(?:is|are) taken for gone|"
    r"makes? place|all the same|the house|lets? somebody in)\b",
    re.IGNORECASE,
)
# What a program may not print either. Tests may: they look for what must not be there.
NOT_PRINTED = re.compile(r"\b(nobody|whoever|likewise|is told|are told)\b", re.IGNORECASE)
PRINTING = ("heatsink/", "apps/", "bindings/", "include/")


@rule(
    kept_by={
        "a.md": "x" * 100 + "\n| " + "x" * 158 + "\nSee <https://example.org/" + "x" * 90 + ">\n"
        "[a page](docs/" + "x" * 90 + ".md)\n<!-- shell: not run: " + "x " * 60 + "-->\n",
    },
    broken_by=[
        {"b.md": "x " * 51},
        {"b.md": "| " + "x" * 160},
        {"b.md": "```text\n" + "x" * 101 + "\n```\n"},
    ],
)
def document_width(tree):
    """Documents wrap at 100 columns, tables and `<!-- shell: -->` at 160, except for a link."""
    for path in tree.paths(".md"):
        for number, line in enumerate(tree.lines(path), 1):
            is_wide = line.startswith(("|", "<!-- shell: "))
            most = TABLE_COLUMNS_MAX if is_wide else PROSE_COLUMNS_MAX
            if len(line) > most and not is_one_link(line):
                yield f"{path}:{number}", f"has {len(line)} columns, {most} are allowed"


def is_one_link(line):
    """Breaking the line anywhere would not make it fit, or break the address."""
    return "](" in line and len(line.split()) <= 8 or "://" in line


@rule(
    kept_by={"README.md": "a\n" * 200, "docs/guides/a.md": "a " * 2500, "docs/b.md": "b " * 3000},
    broken_by=[{"README.md": "line\n" * 201}, {"docs/guides/b.md": "b " * 2501}],
)
def pages_are_short(tree):
    """README has at most 200 lines, a guide 2500 words: what is looked up is docs/reference."""
    lines = len(tree.texts.get("README.md", "").splitlines())
    if lines > README_LINES_MAX:
        yield "README.md", f"has {lines} lines, {README_LINES_MAX} are allowed"
    for path in tree.paths(".md", under="docs/guides/"):
        words = len(tree.texts[path].split())
        if words > GUIDE_WORDS_MAX:
            yield path, f"has {words} words, {GUIDE_WORDS_MAX} are allowed: move or divide"


@rule(
    kept_by={
        "a.md": "The proxy sends an error. `nobody` is a user.\n```text\nnobody\n```\n",
        "heatsink/a/a.cc": '// Nobody prints this.\nlog("the proxy closes");\n',
        "heatsink/a/a_test.cc": 'expect("nobody");\n',
    },
    broken_by=[
        {"b.md": "Nobody waits.\n"},
        {"b.md": "The client is told so.\n"},
        {"heatsink/a/b.cc": 'log("whoever asks");\n'},
        {"apps/b.cc": 'say("nobody reads");\n'},
        {"bindings/python/src/b.py": 'raise ValueError("nobody reads")\n'},
    ],
)
def plain_words(tree):
    """No word or turn stands in a document, or in what a program prints, that hides who acts."""
    for path in tree.paths(".md"):
        for number, line in prose_of(tree.texts[path]):
            if found := NOT_OURS.search(line):
                yield f"{path}:{number}", f"'{found[0]}': say who does what (plain English)"
    for path in tree.paths(*CPP, ".py"):
        if not path.startswith(PRINTING) or "test" in path:
            continue
        for number, said in strings_of(path, tree.texts[path]):
            if found := NOT_PRINTED.search(said):
                yield f"{path}:{number}", f"'{found[0]}': say who does what (plain English)"


PYTHON_TOKEN = re.compile(r"""#[^\n]*|\"""(?:.|\n)*?\"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""")


def strings_of(path, text):
    """(line, string literal): docstrings are help texts, comments are not."""
    if path.endswith(".py"):
        found = [f for f in PYTHON_TOKEN.finditer(text) if f[0][0] != "#"]
    else:
        found = [f for f in TOKEN.finditer(text) if f["string"]]
    return [(text.count("\n", 0, f.start()) + 1, f[0]) for f in found]


GUIDE = "Try it:\n\n<!-- shell: stays: 127.0.0.1:6380 -->\n```sh\nheatsink proxy\n```\n"


@rule(
    kept_by={
        "docs/guides/a.md": GUIDE + "\n```text\noutput\n```\n",
        "README.md": "<!-- shell: not run: needs a second machine -->\n```sh\nssh b\n```\n"
        "<!-- shell: with: proxy load -->\n<!-- shell: instead: 1h -> 1s; db -> ::1 -->\n"
        "```sh\nheatsink top db --for 1h\n```\n",
        "docs/design/a.md": "```sh\nls\n```\n",
    },
    broken_by=[
        {"docs/guides/b.md": "```\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: not run -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: maybe: one two three -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: exits: soon -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: stays: here -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: exits: 1 -->\n```text\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: exits: 1 -->\nwords\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: exits: 1 -->\n" * 2 + "```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: with: a horse -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: instead: db7 -> ::1 -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: instead: ls -->\n```sh\nls\n```\n"},
        {"docs/guides/b.md": "<!-- shell: not run: tests/gone.py does it -->\n```sh\nls\n```\n"},
    ],
)
def blocks_say_what_they_are(tree):
    """Each code block names its language; tests/docs runs commands, or they say why not."""
    for path in tree.paths(".md"):
        blocks = blocks_of(tree.texts[path])
        for block in blocks:
            place = f"{path}:{block.line}"
            if not block.language:
                yield place, "names no language: sh, console (commands behind $), text, ..."
            if block.directives and block.language not in SHELLS:
                yield place, "says how its commands run, and has none"
            if len(dict(block.directives)) != len(block.directives):
                yield place, "says the same thing twice"
            for name, argument in block.directives:
                if wrong := wrong_with(name, argument, block):
                    yield place, wrong
                for named in NAMED_TEST.findall(argument if name == NOT_RUN else ""):
                    if not any(p == named or p.startswith(named + "/") for p in tree.texts):
                        yield place, f"is run by {named}, which is not there"
        said = sum(len(block.directives) for block in blocks)
        if tree.texts[path].count("<!-- shell: ") != said:
            yield path, "has a '<!-- shell: ... -->' that does not stand before a block"


NAMED_TEST = re.compile(r"\b(tests/[\w/.]*\w)")


def wrong_with(name, argument, block):
    if name not in DIRECTIVES:
        return f"'{name}' is not one of: {', '.join(DIRECTIVES)}"
    if name == NOT_RUN and len(argument.split()) < REASON_WORDS:
        return "is not run, and does not say why: three words or more"
    if name == EXITS and not argument.isdigit():
        return "'exits' wants a number"
    if name == STAYS and not re.fullmatch(r"[\w.]+:\d+( [\w.]+:\d+)*", argument):
        return "'stays' wants the addresses at which it listens, host:port"
    if name == WITH and not set(argument.split()) <= set(THINGS):
        return f"'with' wants some of: {' '.join(THINGS)}"
    for seen, run in replacements(argument) if name == INSTEAD else ():
        if run is None or seen not in block.shown():
            return f"'instead' wants SHOWN -> RUN; '{seen}' must stand in the block"
    return ""
