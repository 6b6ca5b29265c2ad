# SPDX-License-Identifier: Apache-2.0
"""What every file must have, and what none may."""

import ast
import io
import os
import re
import tokenize

from cpp_tests import is_cpp_test
from cpp_text import CppText
from rule import rule
from tree import CPP

SPDX = "SPDX-License-Identifier: Apache-2.0"
LINES_MAX = 450
COLUMNS_MAX = 100
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
VAGUE = re.compile(r"(^|[_/-])(utils?|common|helpers?|misc)([_./-]|$)")
VAGUE_NAMESPACE = re.compile(r"^\s*namespace (\w+::)*(utils?|common|helpers?|misc)\b")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")
SHELL = re.compile(r"#!.*\b(ba|da|z|k)?sh\b")
SHELL_STRING = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
SHELL_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
SHELL_SLEEP = re.compile(r"(?<![\w$-])sleep\s+[\d.$\"']")
FOR_A_TOOL = re.compile(r"#\s*(noqa\b|(fmt|type|pylint|ruff):).*")
REASON_WORDS = 3


@rule(
    kept_by={
        "a.h": f"// {SPDX}\n",
        "a.py": f"#!/usr/bin/env python3\n# {SPDX}\n",
        "a.md": "words\n",
    },
    broken_by=[{"b.cc": "int a;\n"}, {"run": "#!/bin/sh\necho\n"}],
)
def spdx(tree):
    """The first line (after #!) names the licence."""
    for path in tree.sources():
        head = [line for line in tree.lines(path)[:2] if not line.startswith("#!")]
        if not head or not head[0].endswith(SPDX):
            yield path, f"must begin with '{SPDX}'"


@rule(
    kept_by={"a.h": "// words\n#pragma once\n#include <x>\n"},
    broken_by=[{"b.h": "#include <x>\n"}, {"b.h": "#include <x>\n#pragma once\n"}],
)
def pragma_once(tree):
    """Each header says `#pragma once` before anything else that is not a comment."""
    for path in tree.paths(".h"):
        code = [line for line in tree.lines(path) if line.strip() and not line.startswith("//")]
        if not code or code[0] != "#pragma once":
            yield path, "the first line of code must be '#pragma once'"


@rule(
    kept_by={"a.cc": "x\n" * LINES_MAX, "a.md": "x\n" * 1000},
    broken_by=[{"b.cc": "x\n" * (LINES_MAX + 1)}],
)
def file_length(tree):
    """No source file is longer than 450 lines."""
    for path in tree.sources():
        if (count := len(tree.lines(path))) > LINES_MAX:
            yield path, f"has {count} lines, {LINES_MAX} are allowed"


@rule(
    kept_by={"a.cc": "x" * COLUMNS_MAX + "\n// see https://example.org/" + "x" * 90},
    broken_by=[{"b.cc": "x" * (COLUMNS_MAX + 1)}, {"CMakeLists.txt": "x" * (COLUMNS_MAX + 1)}],
)
def line_length(tree):
    """No line is wider than 100 columns, but for an address that cannot be broken."""
    for path in tree.sources():
        for number, line in enumerate(tree.lines(path), 1):
            if len(line) > COLUMNS_MAX and "://" not in line:
                yield f"{path}:{number}", f"has {len(line)} columns, {COLUMNS_MAX} are allowed"


@rule(
    kept_by={"a.cc": "// done\n", "a.png": "TO" "DO\n"},
    broken_by=[{"b.cc": "// TO" "DO later\n"}, {"b.md": "FIX" "ME\n"}],
)
def nothing_unfinished(tree):
    """No marks of unfinished work: what is not there is an issue, not a comment."""
    for path in tree.paths():
        if path.endswith(".png"):
            continue  # its bytes are no words
        for number, line in enumerate(tree.lines(path), 1):
            if UNFINISHED.search(line):
                yield f"{path}:{number}", "says that something is unfinished"


@rule(
    kept_by={"heatsink/base/units.h": "namespace heatsink {\n", "src/commonly.h": ""},
    broken_by=[
        {"heatsink/util/a.h": ""},
        {"net/socket_helpers.cc": ""},
        {"a.cc": "namespace x::misc {\n"},
    ],
)
def telling_names(tree):
    """No file, folder or namespace is called after nothing in particular."""
    for path in tree.paths():
        if VAGUE.search(path):
            yield path, "its name says nothing about what is in it"
        if path.endswith(CPP):
            for number, line in enumerate(tree.lines(path), 1):
                if VAGUE_NAMESPACE.search(line):
                    yield f"{path}:{number}", "the namespace says nothing about what is in it"


def is_reason(comment):
    words = re.findall(r"[A-Za-z][\w'-]*", FOR_A_TOOL.sub("", comment))
    return len(words) >= REASON_WORDS


def sleeps_of_python(text):
    """(line, its comment) of each call."""
    if "sleep" not in text:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    callees = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    lines = [
        callee.end_lineno
        for callee in callees
        if getattr(callee, "attr", getattr(callee, "id", "")) == "sleep"
    ]
    return [(line, comments.get(line, "")) for line in sorted(lines)]


def sleeps_of_shell(text):
    """(line, its comment) of each command."""
    for number, line in enumerate(text.splitlines(), 1):
        line = SHELL_STRING.sub("''", line)
        if SHELL_SLEEP.search(SHELL_COMMENT.sub("", line)):
            yield number, "".join(SHELL_COMMENT.findall(line))


PACED = "    time.sleep(0.002)  # paces the probe\n"


@rule(
    kept_by={
        "a_test.cc": 'loop.run_for(1s);\nask("DEBUG SLEEP (1)");  // does not sleep(1)\n',
        "a.cc": "std::this_thread::sleep_for(1ms);\n",
        "a.py": "time.sleep(1)\n",
        "tests/a_test.py": 'def test_debug_sleep():\n    say("time.sleep(1)", "DEBUG SLEEP")\n'
        "    def sleep(): pass\n" + PACED,
        "tests/client.sh": "#!/usr/bin/env bash\nsleep 0.05  # paces this loop\n"
        "echo 'sleep 1'\n",
    },
    broken_by=[
        {"b_test.cc": "std::this_thread::sleep_for(1ms);  // paces the probe\n"},
        {"heatsink/a/b_for_test.h": "inline void wait() { nanosleep(&a, &b); }\n"},
        {"tests/integration/b.cc": "usleep(5);\n"},
        {"tests/a/b.h": "sleep(5);\n"},
        {"tests/b.py": "time.sleep(1)\n"},
        {"tests/b.py": "# paces the probe\ntime.sleep(1)\n"},
        {"tests/b.py": "time.sleep(1)  # a moment\n"},
        {"tests/b.py": "time.sleep(1)  # noqa: too long a line\n"},
        {"tests/b.py": "time.sleep(\n    1\n)  # paces the probe\n"},
        {"tests/tidy/b.py": "sleep(1)\n"},
        {"bindings/python/tests/test_b.py": "async def test_b():\n    await asyncio.sleep(0)\n"},
        {"tests/b.sh": "#!/bin/sh\nwhile :; do sleep 1; done\n"},
        {"tests/b.sh": "#!/bin/sh\nsleep \"$1\" # a moment\n"},
    ],
)
def sleeps_have_reasons(tree):
    """A C++ test never sleeps; each sleep of a test in Python or shell says on its line why."""
    for path in filter(is_cpp_test, tree.paths()):
        if SLEEP.search(tree.texts[path]):
            text = CppText(tree.texts[path])
            for found in SLEEP.finditer(text.code):
                yield f"{path}:{text.line(found.start())}", "sleeps"
    for path in tree.paths(under=("tests/", "bindings/python/tests/")):
        sleeps = ()
        if path.endswith(".py"):
            sleeps = sleeps_of_python(tree.texts[path])
        elif SHELL.match(tree.texts[path]):
            sleeps = sleeps_of_shell(tree.texts[path])
        for line, comment in sleeps:
            if not is_reason(comment):
                yield f"{path}:{line}", "sleeps and does not say why: `# three words or more`"


@rule(
    kept_by={"heatsink/detect/window.cc": "", "heatsink/detect/window.h": "", "a/main.cc": ""},
    broken_by=[{"heatsink/detect/Window.cc": ""}, {"heatsink/detect/hot-keys.h": ""}],
)
def snake_case_files(tree):
    """C++ files have snake_case names."""
    for path in tree.paths(*CPP):
        if not re.fullmatch(r"[a-z0-9_]+\.(h|cc)", os.path.basename(path)):
            yield path, "is not snake_case"
