#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The web page of the admin port in a real browser, with a real proxy and load behind it.

Every figure is compared with the API's. With HEATSINK_SHOTS=FOLDER each test leaves a picture
there.
"""

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

from harness import PATIENCE_S, SLOW, Proxy, Redis, ValueClient, need_programs, until

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian puts it, whatever python3 runs
try:
    from selenium import webdriver
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

SKIPPED = 77
HOSTILE = ["<script>document.title='broken'</script>", "\u202ertl:\u202d",
           "</td><img src=x onerror=1>", "a" * 300, b"\xff\xfe:bytes", "=1", "%s%n"]  # fmt: skip


class Load:
    """A steady skewed load through the proxy, until it is closed."""

    def __init__(self, port):
        self.port = port
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with ValueClient(self.port) as client:
            for name in HOSTILE:
                client("SET", name, "x")
            client("SET", "product:1", "x" * 100)
            while not self.over.is_set():
                try:
                    for i in range(20):
                        client("GET", "product:1")
                        client("GET", f"product:{i}")
                        client("INCR", "visits")
                    for name in HOSTILE:
                        client("GET", name)
                except OSError:
                    return  # the proxy has ended
                self.over.wait(0.02)

    def close(self):
        self.over.set()
        self.thread.join()


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1366,900"):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options)


class Page(unittest.TestCase):
    """One proxy, load and browser for all tests: a browser takes seconds to start."""

    OPTIONS = {"detection.hot-qps": 200, "detection.warm-qps": 2, "detection.window": "2s"}
    TOKEN = None

    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)
        options = cls.OPTIONS | ({"admin.token": cls.TOKEN} if cls.TOKEN else {})
        cls.proxy = Proxy(cls.redis, options)
        cls.addClassCleanup(cls.proxy.stop)
        cls.load = Load(cls.proxy.port)
        cls.addClassCleanup(cls.load.close)
        cls.driver = browser()
        cls.addClassCleanup(cls.driver.quit)
        cls.home = f"http://127.0.0.1:{cls.proxy.admin_port}/"

    def open(self, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(self.home + fragment)

    def tearDown(self):
        shots = os.environ.get("HEATSINK_SHOTS")
        if shots:
            self.driver.save_screenshot(os.path.join(shots, f"{self.id().split('.')[-1]}.png"))
        complaints = [line["message"] for line in self.driver.get_log("browser")
                      if self.is_a_fault(line["message"])]  # fmt: skip
        self.assertEqual(complaints, [])

    def is_a_fault(self, message):
        return True

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def wait(self, condition, what):
        def patient():
            try:
                return condition()
            except StaleElementReferenceException:
                return None

        return until(patient, PATIENCE_S * SLOW, what=what)

    def row(self, name):
        """The cells of the row of a key, by the name of their column."""
        return self.driver.execute_script("""
            for (const row of document.querySelectorAll('#rows tr'))
              if (row.querySelector('bdi')?.textContent === arguments[0])
                return Object.fromEntries([...row.cells].map(c => [c.className, c.textContent]));
            return null;""", name)

    def asked(self, path):
        request = urllib.request.Request(self.home + path)
        if self.TOKEN:
            request.add_header("Authorization", f"Bearer {self.TOKEN}")
        with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as answer:
            return json.load(answer)


def number(text):
    """"1.25k +3.1" -> 1250."""
    found = re.match(r"([\d.]+)([kM]?)", text)
    return float(found[1]) * {"": 1, "k": 1e3, "M": 1e6}[found[2]]


class OfAProxy(Page):
    def test_the_first_line_is_the_answer(self):
        self.open()
        self.wait(lambda: re.search(r"hot.*product:1.*% of the traffic", self.one("#answer").text),
                  "the hot key in the first line")
        self.assertIn("every rate is of the last 2 s", self.one("#node").text)

    def test_the_figures_are_those_of_the_api(self):
        self.open()

        def agrees():
            shown, told = self.row("product:1"), self.asked("api/hotkeys")
            row = next((key for key in told["keys"] if key["name"] == "product:1"), None)
            if shown is None or row is None or not row["rate"]:
                return None
            near = abs(number(shown["rate"]) / row["rate"] - 1) < 0.1
            share = abs(number(shown["share"]) / 100 - row["share"]) < 0.05
            return near and share and shown["state"].startswith(row["verdict"])

        self.wait(agrees, "rate, share and state as the API has them")

    def test_columns_come_by_the_stream(self):
        """A page that is open asks for no column: the stream brings them."""
        self.open()

        def asked(path):
            return self.driver.execute_script(
                "return performance.getEntriesByType('resource')"
                ".filter(e => new URL(e.name).pathname === arguments[0]).length", path)

        def last_column():
            """Its number, once the stream brings them."""
            shown = self.one("#requests")
            live = shown.get_attribute("data-live") == "true"
            return live and int(shown.get_attribute("data-column"))

        first = self.wait(last_column, "the stream")
        # A poll may have been on its way when the stream began.
        self.wait(lambda: last_column() > first, "one more column")
        before = asked("/api/heatmap")
        self.wait(lambda: last_column() > first + 4, "four more columns")
        self.assertEqual(asked("/api/heatmap"), before)

    def test_rows_sum_to_the_total(self):
        self.open()

        def adds_up():
            rates = [number(text) for text in self.texts("#rows td.rate") if text[0].isdigit()]
            total = self.asked("api/heatmap")["totals"]["requests"]
            return total and abs(sum(rates) / total[-1] - 1) < 0.15

        self.wait(adds_up, "rows that sum to all requests")
        self.assertIn("all other keys", self.texts("#rows tr.rest td.name")[0])

    def test_hostile_names_are_text(self):
        self.open()
        for name in HOSTILE[:3]:
            shown = "".join(c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode())
                            for c in name)  # fmt: skip
            self.wait(lambda shown=shown: self.row(shown), f"a row for {shown}")
        self.assertNotIn("broken", self.driver.title)
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#rows img, #rows script"), [])

    def test_a_key_opens_in_place_and_closes(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        body = self.one("body")
        body.send_keys("/")
        self.one("#filter").send_keys("product:1")
        self.one("#filter").send_keys(Keys.ESCAPE)
        names = "#rows tr:not(.rest):not(.detail) bdi"
        self.wait(lambda: all("product:1" in name for name in self.texts(names)),
                  "only rows that pass the filter")  # fmt: skip
        self.one("body").send_keys("j")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait(lambda: "GET" in "".join(self.texts("tr.detail dd")), "the commands of the key")
        self.assertIn("key=", self.driver.current_url)
        self.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.wait(lambda: not self.driver.find_elements(By.CSS_SELECTOR, "tr.detail"), "it closed")

    def test_a_drag_chooses_a_time_and_the_address_keeps_it(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.wait(lambda: len(self.asked("api/heatmap")["times"]) >= 5, "some seconds of history")
        chart = self.one("#requests")
        width = chart.size["width"]
        drag = ActionChains(self.driver)
        drag.move_to_element_with_offset(chart, width // 2 - 40, 0).click_and_hold()
        drag.move_by_offset(30, 0).release().perform()
        ActionChains(self.driver).move_to_element(self.one("#answer")).perform()
        self.wait(lambda: "means of" in self.one("#heads .end").text, "the numbers of that time")
        self.assertRegex(self.driver.current_url, r"time=\d+-\d+")
        self.assertEqual(self.one("#live").get_attribute("aria-pressed"), "false")
        self.open("#" + self.driver.current_url.partition("#")[2])
        self.wait(lambda: "means of" in self.one("#heads .end").text, "the same after a reload")
        self.one("body").send_keys(Keys.ESCAPE)
        self.wait(lambda: self.one("#live").get_attribute("aria-pressed") == "true", "live again")

    def test_templates_are_rows_of_their_own(self):
        self.open("#rows=template")
        self.wait(lambda: self.row("product:*"), "the template of the products")

    def test_a_strip_is_told_in_words(self):
        self.open()
        self.wait(lambda: "per second" in (self.driver.execute_script(
            "return document.querySelector('#rows canvas')?.getAttribute('aria-label')") or ""),
            "words for the busiest strip")  # fmt: skip

    def test_what_folds_out_is_filled(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        for fold, words in (("copies", "copies"), ("nodes", "one server"), ("health", "checks"),
                            ("events", "product:1"), ("rules", "rule")):  # fmt: skip
            self.one(f"#fold-{fold} summary").click()
            self.wait(lambda fold=fold, words=words: words in self.one(f"#fold-{fold} .fold").text,
                      f"{fold} with {words}")  # fmt: skip


class AfterARestart(Page):
    """The process before this one has left its history in the file."""

    @classmethod
    def setUpClass(cls):
        need_programs()
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.OPTIONS = Page.OPTIONS | {"history.file": folder.name + "/history.db"}
        redis = Redis()
        cls.addClassCleanup(redis.stop)
        before = Proxy(redis, cls.OPTIONS)
        cls.addClassCleanup(before.process.kill)
        load = Load(before.port)
        cls.addClassCleanup(load.close)
        until(lambda: before.metric("heatsink_history_written_total") >= 3, what="three seconds")
        before.stop()
        cls.ended_at = time.time()
        super().setUpClass()

    def test_the_time_before_it_is_there(self):
        told = self.asked("api/heatmap")
        self.assertEqual(told["source"], "file")
        self.assertLess(told["times"][0], self.ended_at - 1)
        self.open()
        self.wait(lambda: self.row("product:1"), "the table")

    def test_longer_spans_can_be_chosen(self):
        self.open()
        month = '[data-span="2592000"]'
        self.wait(lambda: self.one(month).is_displayed(), "a button for 30 days")
        self.one(month).click()
        self.wait(lambda: "span=2592000" in self.driver.current_url, "the address")
        self.wait(lambda: self.one(month).get_attribute("aria-pressed") == "true", "its choice")
        self.wait(lambda: self.row("product:1"), "the table")


class WithAToken(Page):
    TOKEN = "0123456789abcdef"

    def is_a_fault(self, message):
        return "401" not in message  # a browser reports each of them

    def test_it_is_asked_for_once(self):
        self.open()
        self.wait(lambda: self.one("#token").is_displayed(), "the question for the token")
        self.one("#token").send_keys("wrong" + Keys.ENTER)
        self.wait(lambda: "wrong" in self.one("#trouble").text, "the refusal")
        self.one("#token").send_keys(self.TOKEN + Keys.ENTER)
        self.wait(lambda: self.row("product:1"), "the rows")
        self.assertFalse(self.one("#token").is_displayed())

    def test_in_the_address_it_leaves_at_once(self):
        self.open(f"#token={self.TOKEN}&order=name")
        self.wait(lambda: self.row("product:1"), "the rows")
        self.assertNotIn(self.TOKEN, self.driver.current_url)
        self.assertEqual(self.driver.get_cookies(), [])


class AProxyThatHangs(Page):
    def test_the_page_says_so_and_goes_on_when_it_is_back(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "the rows")
        self.proxy.process.child.send_signal(signal.SIGSTOP)
        try:
            self.wait(lambda: "no answer since" in self.one("#trouble").text, "the trouble")
        finally:
            self.proxy.process.child.send_signal(signal.SIGCONT)
        self.wait(lambda: not self.one("#trouble").is_displayed(), "the page to go on")


if __name__ == "__main__":
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: needs chromium, chromium-driver and python3-selenium")
        sys.exit(SKIPPED)
    unittest.main()
