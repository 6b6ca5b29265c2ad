# SPDX-License-Identifier: Apache-2.0
"""Which documents the site has, where each one goes, and how the menu lists them.

The site is what links reach from README.md. A document becomes a page; another file that a document
links to becomes a text file below source/. The menu is docs/README.md: its headings and tables.
"""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = "README.md"
INDEX = "docs/README.md"
DECISIONS = "docs/decisions/README.md"
IMAGES = (".svg", ".png")
MOVED = "deploy/site/moved.txt"

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)#\s]+)\) \|(?: ([^|]*) \|)?", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def is_outside(link):
    return "://" in link or link.startswith("mailto:")


def target_of(page, link):
    """(path of the tree, anchor) of a relative link; a folder stands for its first page."""
    file, _, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
    if (ROOT / path).is_dir():
        name = os.path.basename(path)
        for first in ("README.md", f"{name}.h"):
            if (ROOT / path / first).is_file():
                return f"{path}/{first}", anchor
    return path, anchor


def links_of(page):
    text = CODE.sub("", (ROOT / page).read_text("utf-8"))
    return [link for link in LINK.findall(text) if not is_outside(link)]


def reachable():
    """(documents, other files) that links lead to from README.md."""
    documents, others, waiting = set(), set(), [HOME]
    while waiting:
        page = waiting.pop()
        if page in documents:
            continue
        documents.add(page)
        for link in links_of(page):
            path, _ = target_of(page, link)
            if not (ROOT / path).is_file():
                raise SystemExit(f"build-site: {page} links to {link}, which is not there")
            (waiting.append if path.endswith(".md") else others.add)(path)
    return sorted(documents), sorted(others)


def site_path(path):
    """Where a file of the tree is in the site."""
    folder, name = os.path.split(path)
    if name == "README.md":
        return os.path.join(folder, "index.html")
    if path.endswith(".md"):
        return path.removesuffix(".md") + ".html"
    return path if path.endswith(IMAGES) else f"source/{path}.txt"


def url(page, link):
    """What the link of a page must be in the site."""
    return url_of(page, *target_of(page, link))


def url_of(page, path, anchor):
    """How a page of the site names a place of another one."""
    anchor = f"#{anchor}" if anchor else ""
    if path == page:
        return anchor or "#"
    return os.path.relpath(site_path(path), os.path.dirname(site_path(page)) or ".") + anchor


def moved():
    """{old page: {old anchor, "" for the page itself: (new page, anchor)}}, as MOVED has them."""
    found = {}
    for line in (ROOT / MOVED).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            old, new = line.split()
            page, _, anchor = old.partition("#")
            path, _, heading = new.partition("#")
            found.setdefault(page, {})[anchor] = (path, heading)
    return found


def sections_of(page):
    """(heading, [(title, path, text of the second column)]) of the tables of an index."""
    parts = SECTION.split((ROOT / page).read_text("utf-8"))
    for heading, body in zip(parts[1::2], parts[2::2]):
        rows = [(name, target_of(page, link)[0], more) for name, link, more in ROW.findall(body)]
        if rows:
            yield heading, rows


def menu():
    """The menu in mkdocs' form: what the index lists, and the decisions below their list."""
    found = [{"Overview": HOME}, {"All pages": INDEX}]
    for heading, rows in sections_of(INDEX):
        listed = [{title: path} for title, path, _ in rows if path != HOME]
        found.append({heading: listed})
    decisions = [{"All decisions": DECISIONS}]
    for heading, rows in sections_of(DECISIONS):
        decisions.append({heading: [{f"{name} {said}": path} for name, path, said in rows]})
    return [*found, {"Decisions": decisions}]
