#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The web page of the admin port in a real browser: what it shows.

Every figure is compared with the API's.
"""

import pathlib
import re
import signal
import tempfile
import time

import page_stage
from harness import Proxy, Redis, need_programs, until
from harness.cluster import Cluster
from page_stage import HOSTILE, Load, Page, byte_count, number

try:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    pass  # page_stage.run() says so

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "images"


class OfAProxy(Page):
    def test_the_first_line_is_the_answer(self):
        self.open()
        self.wait(lambda: re.search(r"hot.*product:1.*% of the traffic", self.one("#answer").text),
                  "the hot key in the first line")
        self.assertIn("every rate is of the last 2 s", self.one("#node").text)

    def test_the_picture_of_the_readme_is_of_this_page(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "the table")
        taken = (IMAGES / "page.txt").read_text(encoding="utf-8")
        self.assertEqual(page_stage.shape(self.driver), taken,
                         "take it again: docs/images/make_page.py")

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

    def test_the_columns_fill_the_table(self):
        """Also those that are not shown, in windows of any width."""

        def edges():
            return self.driver.execute_script("""
                const right = (at) => document.querySelector(at).getBoundingClientRect().right;
                return ['#map', '#heads .helps', '#charts td:last-child'].map(right)
                    .map(Math.round);""")

        self.addCleanup(self.driver.set_window_size, **self.driver.get_window_size())
        for plane in ("mean", "bytes"):
            self.open(f"#brightness={plane}")
            self.wait(lambda: self.row("product:1"), "the table")
            for width in (1400, 1000, 800, 600):
                self.driver.set_window_size(width, 800)
                table, helps, chart = edges()
                self.assertEqual((helps, chart), (table, table), f"{plane} at {width}")

    def test_s_goes_through_the_orders_that_are_shown(self):
        def orders():
            """Until the first one comes again."""
            seen = []
            while (order := sorted_by()) not in seen:
                seen.append(order)
                self.one("body").send_keys("s")
                self.wait(lambda order=order: sorted_by() != order, "the next order")
            return seen

        def sorted_by():
            shown = self.driver.find_elements(By.CSS_SELECTOR, "#heads th[aria-sort]")
            return shown[0].get_attribute("data-order") if shown else None

        self.open("#brightness=bytes&order=figure")
        self.wait(lambda: self.row("product:1"), "the table")
        self.assertIn("figure", orders())
        self.wait(lambda: sorted_by() == "figure", "the order by bytes again")
        self.open("#order=figure")
        self.wait(lambda: self.row("product:1"), "the table of requests")
        self.assertEqual(sorted_by(), "rate")
        self.assertNotIn("figure", orders())

    def test_brightness_by_bytes(self):
        self.open("#brightness=bytes")
        self.wait(lambda: self.one("#heads .figure").text == "bytes/s", "a column for it")

        # Its value has 100 bytes, and each reply has a frame.
        def agrees():
            row = self.row("product:1")
            size = byte_count(row["figure"]) / number(row["rate"]) if row else 0
            told = self.asked("api/heatmap")["totals"]["bytes"]
            return 90 < size < 130 and byte_count(row["figure"]) < 1.1 * told[-1]

        self.wait(agrees, "bytes of the key with the long value")
        self.wait(lambda: "iB per second" in (self.driver.execute_script(
            "return document.querySelector('#rows td.strip')?.getAttribute('aria-label')") or ""),
            "words for the busiest strip")  # fmt: skip

    def test_brightness_by_the_cpu_time_that_copies_save(self):
        self.open("#brightness=cpu")
        self.wait(lambda: self.one("#heads .figure").text == "CPU saved", "a column for it")

        def adds_up():
            told = self.asked("api/heatmap")["totals"]["server_cpu_spared_cores"]
            if not told or not told[-1] or told[-1] < 0.002:
                return None
            shown = sum(number(text) for text in self.texts("#rows td.figure") if text[0].isdigit())
            return abs(shown - 100 * told[-1]) < 0.15 * 100 * told[-1] + 0.2 and shown

        self.assertGreater(self.wait(adds_up, "rows that sum to what is saved"), 0)

        def agrees():
            cores = self.asked("api/hotkeys")["node"]["cpu_spared_cores"]
            told = self.asked("api/heatmap")["totals"]["server_cpu_spared_cores"][-1]
            return cores and told and abs(told / cores - 1) < 0.1

        self.wait(agrees, "the same figure in both answers")

    def test_clients_have_rows_and_their_sum(self):
        self.open("#rows=client")
        self.wait(lambda: self.row("127.0.0.1"), "the row of the client")

        def adds_up():
            rates = [number(text) for text in self.texts("#rows td.rate") if text[0].isdigit()]
            sums = self.asked("api/heatmap")["totals"]["client_commands"]
            return sums and sums[-1] and abs(sum(rates) / sums[-1] - 1) < 0.15

        self.wait(adds_up, "rows that sum to all commands")
        self.one("body").send_keys("j")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait(lambda: "product:1" in self.one("tr.detail").text, "what the client asks for")
        # A client has no bytes.
        bytes_choice = self.one('#plane option[value="bytes"]')
        self.wait(lambda: not bytes_choice.is_enabled(), "no choice that is not known")

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
            "return document.querySelector('#rows td.strip')?.getAttribute('aria-label')") or ""),
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

    def test_the_events_of_then_are_there(self):
        told = self.asked(f"api/events?from={int(self.ended_at) - 60}&to={int(self.ended_at)}")
        self.assertEqual(told["source"], "file")
        self.open(f"#time={int(self.ended_at) - 60}-{int(self.ended_at)}")
        self.wait(lambda: self.row("product:1"), "the table")
        self.one("#fold-events summary").click()
        self.wait(lambda: "product:1" in self.one("#fold-events .fold").text, "events of then")

    def test_longer_spans_can_be_chosen(self):
        self.open()
        month = '[data-span="2592000"]'
        self.wait(lambda: self.one(month).is_displayed(), "a button for 30 days")
        self.one(month).click()
        self.wait(lambda: "span=2592000" in self.driver.current_url, "the address")
        self.wait(lambda: self.one(month).get_attribute("aria-pressed") == "true", "its choice")
        self.wait(lambda: self.row("product:1"), "the table")


class InFrontOfACluster(Page):
    """Slots and nodes have strips of their own."""

    @classmethod
    def make_server(cls):
        cls.cluster = Cluster(3)
        cls.enterClassContext(cls.cluster)
        return cls.cluster.url

    def test_nodes_have_rows_and_their_sum(self):
        self.open("#rows=node")
        names = {f"127.0.0.1:{node.port}" for node in self.cluster.masters}
        shown = "#rows tr:not(.rest):not(.detail) bdi"
        self.wait(lambda: set(self.texts(shown)) == names, "a row for each master")
        owner = f"127.0.0.1:{self.cluster.owner('visits').port}"
        self.wait(lambda: self.row(owner)["state"].endswith(" slots"), "how many slots it has")

        def adds_up():
            rates = [number(text) for text in self.texts("#rows td.rate") if text[0].isdigit()]
            sums = self.asked("api/heatmap")["totals"]["node_commands"]
            return sums and sums[-1] and abs(sum(rates) / sums[-1] - 1) < 0.15

        self.wait(adds_up, "rows that sum to all commands")

    def test_a_busy_slot_opens_and_names_its_node(self):
        self.open("#rows=slot")
        # Copies answer the reads of product:1: its slot has no load.
        slot = str(self.cluster.slot("visits"))
        self.wait(lambda: self.row(slot), "the row of the busy slot")
        owner = f"127.0.0.1:{self.cluster.owner('visits').port}"
        self.wait(lambda: self.row(slot)["state"] == owner, "its master")
        self.one("body").send_keys("j")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait(lambda: "slot " in self.one("tr.detail").text, "what is known of a slot")

    def test_what_folds_out_has_the_load(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.one("#fold-nodes summary").click()
        cells = "#fold-nodes td:nth-child(3)"
        self.wait(lambda: any(text[0].isdigit() for text in self.texts(cells)), "rates of nodes")


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
    page_stage.run()
