# SPDX-License-Identifier: Apache-2.0
"""The pages in Chinese keep step with the English ones: headings, commands, code, links, tables.

Only comments in commands are translated. A change of an English page is missed here until the other
page follows; to see where, read the line of the failure.
"""

import os
import pathlib
import re
import unittest

from tidy.markdown import SHELLS, blocks_of, prose_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDING = ".zh.md"
PAGES = ["README.zh.md", "docs/start/README.zh.md"]
COMMENT = re.compile(r"\s+#\s.*$", re.MULTILINE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]+`")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def text_of(page):
    return (ROOT / page).read_text("utf-8")


def english_of(page):
    return page.removesuffix(ENDING) + ".md"


def code_of(page):
    """(language, what a run of it needs, code) of each block; commands without their comments."""
    return [
        (
            block.language,
            block.directives,
            COMMENT.sub("", block.text) if block.language in SHELLS else block.text,
        )
        for block in blocks_of(text_of(page))
    ]


def sections_of(page):
    """(heading, text without code blocks) of each part."""
    text = FENCED.sub("", text_of(page))
    begins = list(HEADING.finditer(text))
    ends = [found.start() for found in begins[1:]] + [len(text)]
    return [(found[2], text[found.end() : end]) for found, end in zip(begins, ends)]


def links_of(text, page):
    """Where its links lead; a page in Chinese stands for the English one."""
    targets = [os.path.normpath(link) for link in LINK.findall(text)]
    own = (os.path.basename(page), os.path.basename(english_of(page)), "README.zh.md")
    return sorted({target.replace(ENDING, ".md") for target in targets if target not in own})


def rows_of(text):
    return [line for line in text.splitlines() if line.startswith("|")]


class Languages(unittest.TestCase):
    def test_each_page_names_the_other_at_its_top(self):
        for page in PAGES:
            for one, other in ((page, english_of(page)), (english_of(page), page)):
                top = "\n".join(text_of(one).splitlines()[:4])
                self.assertIn(f"]({os.path.basename(other)})", top, one)

    def test_headings(self):
        for page in PAGES:
            levels = [
                [len(found[1]) for found in HEADING.finditer(FENCED.sub("", text_of(each)))]
                for each in (english_of(page), page)
            ]
            self.assertEqual(*levels, page)

    def test_commands_and_code(self):
        for page in PAGES:
            for expected, found in zip(code_of(english_of(page)), code_of(page)):
                self.assertEqual(expected, found, page)
            self.assertEqual(len(code_of(english_of(page))), len(code_of(page)), page)

    def test_links_rows_and_names(self):
        """Each section leads to the same pages, has as many rows, and names the same things."""
        for page in PAGES:
            english = english_of(page)
            pairs = zip(sections_of(english), sections_of(page))
            for (heading, expected), (_, found) in pairs:
                with self.subTest(page=page, heading=heading):
                    self.assertEqual(links_of(expected, page), links_of(found, page))
                    self.assertEqual(len(rows_of(expected)), len(rows_of(found)))
                    self.assertEqual(sorted(CODE.findall(expected)), sorted(CODE.findall(found)))

    def test_pages_in_chinese_are_in_chinese(self):
        for page in PAGES:
            for number, line in prose_of(text_of(page)):
                words = re.sub(r"\([^)]*\)|\[[^\]]*\]", "", line)
                if len(words.split()) > 5:
                    self.assertRegex(line, r"[\u4e00-\u9fff]", f"{page}:{number}")


if __name__ == "__main__":
    unittest.main()
