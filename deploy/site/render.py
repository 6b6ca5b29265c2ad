# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs: a CommonMark parser turns each page into HTML, as repository hosts show it.

mkdocs' own parser (Python-Markdown) wants four spaces where our lists have two, and gives headings
other anchors than those that our links name.
"""

import html
import pathlib
import re
import sys

import pygments
from markdown_it import MarkdownIt
from mkdocs.structure.toc import get_toc
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages  # noqa: E402  stands beside this file

LEXERS = {"sh": "bash", "nft": "text"}
FIRST_CHINESE = "\u2e80"  # from here on: Chinese characters and punctuation
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
texts = {}  # of each page: mkdocs hands the text to one hook and wants the HTML from another


def code_block(_renderer, tokens, at, _options, _environment):
    language = tokens[at].info.strip()
    try:
        lexer = get_lexer_by_name(LEXERS.get(language, language or "text"), stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    code = pygments.highlight(tokens[at].content, lexer, HtmlFormatter(nowrap=True))
    return f'<div class="highlight"><pre><code tabindex="0">{code}</code></pre></div>\n'


def parser():
    found = MarkdownIt("commonmark").enable("table")
    found.add_render_rule("fence", code_block)
    return found


def words_of(inline):
    """A heading as plain text."""
    return "".join(token.content for token in inline.children if token.content)


def anchor_of(words, taken):
    """The anchor of a heading by the rule of repository hosts; a second one gets a number."""
    base = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
    anchor, number = base, 0
    while anchor in taken:
        number += 1
        anchor = f"{base}-{number}"
    taken.add(anchor)
    return anchor


def name_headings(tokens):
    """Gives headings their anchors; returns the table of contents in mkdocs' form."""
    taken, top, open_ones = set(), [], []
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        words, level = words_of(tokens[at + 1]), int(token.tag[1])
        entry = {"level": level, "name": html.escape(words), "children": []}
        entry["id"] = anchor_of(words, taken)
        token.attrSet("id", entry["id"])
        while open_ones and open_ones[-1]["level"] >= level:
            open_ones.pop()
        (open_ones[-1]["children"] if open_ones else top).append(entry)
        open_ones.append(entry)
    return top


def join_chinese(inline):
    """A line break between Chinese characters is none: browsers would show a space."""
    children = inline.children or []
    for before, token, after in zip(children, children[1:], children[2:]):
        around = before.content[-1:] + after.content[:1]
        if token.type == "softbreak" and len(around) == 2 and min(around) >= FIRST_CHINESE:
            token.type, token.content = "text", ""


def turn_links(tokens, page):
    """Links to files of the tree become links of the site."""
    for token in tokens:
        for name in ("href", "src"):
            link = token.attrGet(name)
            if link and not pages.is_outside(link):
                token.attrSet(name, pages.url(page, link))
        turn_links(token.children or [], page)


def on_page_markdown(markdown, page, **_):
    texts[page.file.src_uri] = COMMENT.sub("", markdown)
    return ""


def on_page_content(_html, page, **_):
    reader = parser()
    tokens = reader.parse(texts.pop(page.file.src_uri))
    page.toc = get_toc(name_headings(tokens))
    turn_links(tokens, page.file.src_uri)
    for token in tokens:
        join_chinese(token)
    return reader.renderer.render(tokens, reader.options, {})
