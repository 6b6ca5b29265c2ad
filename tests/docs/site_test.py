# SPDX-License-Identifier: Apache-2.0
"""The site of the documents: each link leads somewhere, and nothing is loaded from elsewhere."""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy/site"))
import pages  # noqa: E402  what the site has, and where

PACKAGES_ARE_MISSING = 2


class Page(html.parser.HTMLParser):
    """What a page links to, loads and names."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names, self.headings, self.cells = [], [], set(), 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names |= {found[name] for name in ("id", "name") if found.get(name)}
        self.headings += tag in ("h1", "h2", "h3")
        self.cells += tag == "td"
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("link", "script", "img", "iframe"):
            self.loads += [found[name] for name in ("href", "src") if found.get(name)]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name) / "site"
        done = subprocess.run(
            [ROOT / "deploy/build-site", cls.folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode == PACKAGES_ARE_MISSING:
            raise unittest.SkipTest(done.stdout.strip())
        if done.returncode != 0:
            raise AssertionError(done.stdout)
        texts = {path: path.read_text("utf-8") for path in cls.folder.rglob("*.html")}
        cls.texts = {path: text for path, text in texts.items() if path.name != "404.html"}
        cls.pages = {path: Page(text) for path, text in cls.texts.items()}

    def target(self, page, link):
        path = urllib.parse.unquote(urllib.parse.urlsplit(link).path)
        return (page.parent / path).resolve() if path else page

    def test_links_lead_to_pages_and_headings(self):
        for path, page in self.pages.items():
            for link in page.links:
                if "://" in link or link.startswith("mailto:"):
                    continue
                with self.subTest(page=path.relative_to(self.folder), link=link):
                    target = self.target(path, link)
                    self.assertTrue(target.is_file())
                    anchor = urllib.parse.unquote(urllib.parse.urlsplit(link).fragment)
                    if anchor and target in self.pages:
                        self.assertIn(anchor, self.pages[target].names)

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            for asset in page.loads:
                with self.subTest(page=path.relative_to(self.folder), asset=asset):
                    self.assertNotIn("//", asset)
                    self.assertTrue(self.target(path, asset).is_file())
        for style in self.folder.rglob("*.css"):
            self.assertNotRegex(style.read_text("utf-8"), r"url\(['\"]?(https?:)?//", style.name)

    def test_old_addresses_lead_to_where_the_text_is_now(self):
        """Each row of moved.txt: the old page knows the heading, and the new one has it."""
        rows = pages.moved()
        self.assertGreater(len(rows), 10)
        for old, places in rows.items():
            path = self.folder / pages.site_path(old)
            found = re.search(r"const moved = (\{.*?\});", self.texts[path], re.DOTALL)
            sent = json.loads(found[1])
            is_gone = not (ROOT / old).is_file()
            self.assertEqual(is_gone, "" in places, f"{old}: a page has a row if it is gone")
            for anchor, (new, heading) in places.items():
                with self.subTest(old=old, anchor=anchor):
                    target = self.folder / pages.site_path(new)
                    self.assertTrue((ROOT / new).is_file(), new)
                    if heading:
                        self.assertIn(heading, self.pages[target].names)
                    if anchor:
                        link = sent[f"#{anchor}"]
                        self.assertEqual(self.target(path, link), target)
                        self.assertEqual(urllib.parse.urlsplit(link).fragment, heading)
                        self.assertNotIn(anchor, self.pages[path].names, "it is there itself")
                    else:
                        self.assertEqual(self.target(path, self.pages[path].links[0]), target)

    def test_each_page_of_the_index_is_in_the_menu(self):
        home = self.pages[self.folder / "index.html"]
        menu = {self.target(self.folder / "index.html", link) for link in home.links}
        index = self.folder / "docs/index.html"
        listed = {self.target(index, link) for link in self.pages[index].links}
        self.assertGreater(len(listed), 50)
        self.assertEqual({path for path in listed if path.suffix == ".html"} - menu, set())

    def test_search_knows_the_text_of_guides(self):
        index = json.loads((self.folder / "search/search_index.json").read_text("utf-8"))
        words = "upstream.on-down: close"
        found = [entry["location"] for entry in index["docs"] if words in entry["text"]]
        self.assertTrue([place for place in found if place.startswith("docs/guides/")], found)

    def test_markdown_is_read_as_repository_hosts_read_it(self):
        """Tables and nested lists are rendered; comments for tests/docs are not shown."""
        for path, text in self.texts.items():
            self.assertNotIn("<!-- shell", text, path)
            self.assertNotRegex(text, r"<p>\|[^<]*\|", path)
        self.assertGreater(self.pages[self.folder / "docs/reference/options.html"].cells, 100)
        self.assertRegex(
            self.texts[self.folder / "docs/reference/top.html"], r"<li>[^<]*\n<ul>", "a nested list"
        )


if __name__ == "__main__":
    unittest.main()
