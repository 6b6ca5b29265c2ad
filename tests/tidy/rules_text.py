# SPDX-License-Identifier: Apache-2.0
"""What every file must have, and what none may."""

import os
import re

from rule import rule
from tree import CPP

SPDX = "SPDX-License-Identifier: Apache-2.0"
LINES_MAX = 450
COLUMNS_MAX = 100
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
VAGUE = re.compile(r"(^|[_/-])(utils?|common|helpers?|misc)([_./-]|$)")
VAGUE_NAMESPACE = re.compile(r"^\s*namespace (\w+::)*(utils?|common|helpers?|misc)\b")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")


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
    kept_by={"a.cc": "// done\n"},
    broken_by=[{"b.cc": "// TO" "DO later\n"}, {"b.md": "FIX" "ME\n"}],
)
def nothing_unfinished(tree):
    """No marks of unfinished work: what is not there is an issue, not a comment."""
    for path in tree.paths():
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


@rule(
    kept_by={"a_test.cc": "loop.run_for(1s);\n", "a.cc": "std::this_thread::sleep_for(1ms);\n"},
    broken_by=[
        {"b_test.cc": "std::this_thread::sleep_for(1ms);\n"},
        {"tests/integration/b.cc": "usleep(5);\n"},
    ],
)
def no_sleep_in_tests(tree):
    """A C++ test waits for an event or moves a clock of its own; it never sleeps."""
    for path in tree.paths(".cc"):
        if path.endswith("_test.cc") or path.startswith("tests/"):
            for number, line in enumerate(tree.lines(path), 1):
                if SLEEP.search(line):
                    yield f"{path}:{number}", "sleeps"


@rule(
    kept_by={"heatsink/detect/window.cc": "", "heatsink/detect/window.h": "", "a/main.cc": ""},
    broken_by=[{"heatsink/detect/Window.cc": ""}, {"heatsink/detect/hot-keys.h": ""}],
)
def snake_case_files(tree):
    """C++ files have snake_case names."""
    for path in tree.paths(*CPP):
        if not re.fullmatch(r"[a-z0-9_]+\.(h|cc)", os.path.basename(path)):
            yield path, "is not snake_case"
