# SPDX-License-Identifier: Apache-2.0
"""A measured figure in a document comes with the command that brings it back."""

import os
import re

from rule import rule
from rules_docs import anchor_of

FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MEASURED = re.compile(
    r"\d ?(µs|us|ns)\b|\b(half a|a third of a|a whole) core\b|\d ?(k|M)/s\b"
    r"|\d %[^.|]{0,25}\b(one|its) (core|time|CPU)\b|\d [KM]?i?B (each|per client)\b"
)
MEASURED_IN = ("copies", "library", "limits", "machine", "top")  # pages of the reference
COMMAND = re.compile(
    r"`[^`\n]*\b(bench/\w+|bench_\w+|heatsink (replay|load)\b|redis-cli info)[^`\n]*`"
)


def is_for_readers(path):
    pages = ("README.md", "docs/limitations.md", *(f"docs/reference/{n}.md" for n in MEASURED_IN))
    return path in pages or path.startswith(("docs/guides/", "docs/start/"))


def sections_of(text):
    """(line, level, anchor, text without code blocks) of each part that a heading begins."""
    text = FENCED.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)
    begins = [(found.start(), found) for found in HEADING.finditer(text)]
    for (begin, found), (end, _) in zip(begins, [*begins[1:], (len(text), None)]):
        anchor = anchor_of(found[2].replace("`", ""))
        yield text.count("\n", 0, begin) + 1, len(found[1]), anchor, text[begin:end]


def has_command(tree, path, anchor):
    """Whether a page, or the section of it with this anchor and what is below it, has one."""
    if not anchor:
        return bool(COMMAND.search(tree.texts.get(path, "")))
    inside = 0  # the level of the section, once it has begun
    for _, level, name, text in sections_of(tree.texts.get(path, "")):
        if inside and level <= inside:
            return False
        inside = inside or (level if name == anchor else 0)
        if inside and COMMAND.search(text):
            return True
    return False


def leads_to_command(tree, path, text):
    for link in LINK.findall(text):
        file, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if target.endswith(".md") and (file or anchor) and has_command(tree, target, anchor):
            return True
    return False


@rule(
    kept_by={
        "README.md": "# A\nIt takes 5 ns (`bench_a`).\n## B\nIt takes 5 ns\n([how](docs/b.md#c)).\n"
        "```text\n7 ns\n```\n# C\nWindows of 5 s.\n",
        "docs/b.md": "# B\n## C\nwords\n### D\n`bench/c.py`\n## E\n5 ns\n",
        "docs/guides/a.md": "# A\nIt takes half a core: see [B](../b.md).\n",
    },
    broken_by=[
        {"README.md": "# A\nIt takes 5 ns.\n# B\n`bench_a`\n"},
        {"docs/guides/a.md": "# A\nIt takes 2 % of its time: see [E](../b.md#e).\n"},
        {"docs/limitations.md": "# A\n| a client | 2 KiB each |\n"},
        {"docs/guides/a.md": "# A\nA hit takes 3 µs: see [us](../../x.py).\n", "x.py": "`bench_a`"},
    ],
)
def figures_have_commands(tree):
    """A measured figure in README or a guide has its command in its section, or behind a link."""
    for path in filter(is_for_readers, tree.paths(".md")):
        for line, _, _, text in sections_of(tree.texts[path]):
            found = MEASURED.search(text)
            if found and not COMMAND.search(text) and not leads_to_command(tree, path, text):
                line += text.count("\n", 0, found.start())
                yield f"{path}:{line}", f"'{found[0]}': which command brings this figure back?"
