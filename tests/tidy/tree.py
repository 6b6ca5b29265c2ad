# SPDX-License-Identifier: Apache-2.0
"""The files of the project as rules see them: a path, and its text."""

import os
import pathlib
import re
import subprocess

CPP = (".h", ".cc")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Tree:
    """Not the disk itself, so that a rule can be tried on a tree of three lines."""

    def __init__(self, texts, exceptions=()):
        self.texts = texts
        self.exceptions = set(exceptions)  # (rule, path)

    def paths(self, *suffixes, under=""):
        return [
            p for p in sorted(self.texts) if p.startswith(under) and p.endswith(suffixes or ("",))
        ]

    def sources(self):
        """Everything that is written by hand and is a program: C++, Python, CMake, shell."""
        return [
            p
            for p in self.paths()
            if p.endswith((*CPP, ".py", ".cmake", "CMakeLists.txt"))
            or self.texts[p].startswith("#!")
        ]

    def lines(self, path):
        return self.texts[path].splitlines()

    def includes(self, path):
        return INCLUDE.findall(self.texts[path])

    def rooms(self):
        return sorted({p.split("/")[1] for p in self.paths(*CPP, under="heatsink/")})


def read_exceptions(text):
    """Lines `rule path reason`; a line without a reason is an error."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            rule, path, _reason = line.split(maxsplit=2)
            found.append((rule, path))
    return found


def tree_of(root):
    """What git knows of or would take, without build folders; without git, what is on the disk."""
    root = pathlib.Path(root)
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = walk(root)
    texts = {}
    for name in names:
        path = root / name
        if path.is_file():
            texts[name] = "" if "/corpus/" in name else path.read_text(errors="replace")
    return Tree(texts, read_exceptions((root / "tests/tidy/exceptions.txt").read_text()))


def walk(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", "build", ".cache", "__pycache__")]
        for file in files:
            yield (pathlib.Path(folder) / file).relative_to(root).as_posix()
