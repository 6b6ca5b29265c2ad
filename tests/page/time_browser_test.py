#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: two times compared, a key's history, all by the keyboard, any name,
any width, and rows out of sight."""

import base64
import re
import time

import page_stage
from harness import ValueClient
from page_stage import Page, byte_count, number

try:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    pass  # page_stage.run() says so

# Runs before the page's own scripts: each key stands 20 times in an answer of /api/heatmap, and
# strips that are drawn are kept.
MANY_ROWS = """
const real = window.fetch;
window.fetch = async (path, options) => {
  if (String(path).startsWith('/api/stream')) return new Response('', { status: 503 });
  const answer = await real(path, options);
  if (!String(path).startsWith('/api/heatmap')) return answer;
  const told = await answer.json();
  for (const row of told.rows.filter((row) => row.kind === 'key'))
    for (let i = 0; i < 20; ++i)
      told.rows.push({ ...row, name: `copy ${i}`,
                       name_base64: btoa(`copy:${i}:${row.name_base64}`) });
  return new Response(JSON.stringify(told));
};
window.drawn = new Set();
const put = CanvasRenderingContext2D.prototype.putImageData;
CanvasRenderingContext2D.prototype.putImageData = function (...of) {
  window.drawn.add(this.canvas);
  return put.apply(this, of);
};
"""


def rates(plane):
    """Of the codes of /api/heatmap."""
    return [2 ** ((code - 1) / 12) if code else 0 for code in base64.b64decode(plane)]


class OfAProxy(Page):
    def open_with_history(self, fragment="", seconds=10):
        self.open(fragment)
        self.wait(lambda: self.row("product:1"), "the table")
        self.wait(lambda: len(self.asked("api/heatmap")["times"]) >= seconds, "some history")

    def set_screen(self, width, height):
        """For the rest of the test."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def shift_drag(self, begin, end):
        """Over the chart of requests, between two times; seconds ago."""
        times = self.asked("api/heatmap")["times"]
        to = times[-1] + 1
        span = to - max(to - 600, min(times[0], to - 60))
        chart = self.one("#requests")
        per_second = chart.size["width"] / span
        actions = ActionChains(self.driver).key_down(Keys.SHIFT)
        actions.move_to_element_with_offset(chart, int((span / 2 - begin) * per_second), 0)
        actions.click_and_hold().move_by_offset(int((begin - end) * per_second), 0).release()
        actions.key_up(Keys.SHIFT).perform()
        ActionChains(self.driver).move_to_element(self.one("#answer")).perform()

    def burst(self):
        """A key that is asked for during five seconds, and not before."""
        end = time.monotonic() + 5
        with ValueClient(self.proxy.port) as client:
            while time.monotonic() < end:
                client("GET", "burst")
                time.sleep(0.01)  # about 90 a second

    def mean_of(self, name, span):
        """Of the API: its rate in a time of the address, such as "of"."""
        found = re.search(rf"[#&]{span}=(\d+)-(\d+)", self.driver.current_url)
        begin, end = map(int, found.groups())
        told = self.asked(f"api/heatmap?from={begin}&to={end}&step=1")
        row = next((row for row in told["rows"] if row["name"] == name), None)
        means = [rate if begin <= at < end else None for at, rate in
                 zip(told["times"], rates(row["mean"]), strict=True)] if row else [0]  # fmt: skip
        means = [rate for rate in means if rate is not None]
        return sum(means) / len(means)

    def key(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def head(self):
        return self.one("#heads .end").text

    def test_two_spans_are_compared(self):
        self.open_with_history(seconds=15)
        self.burst()
        self.shift_drag(15, 11)
        self.wait(lambda: "now: " in self.head() and ", against " in self.head(), "now against it")
        self.assertEqual(self.one("#live").get_attribute("aria-pressed"), "true")
        self.shift_drag(5, 2)
        self.wait(lambda: "means of" in self.head() and ", against " in self.head(), "two spans")
        self.assertRegex(self.driver.current_url, r"time=\d+-\d+&of=\d+-\d+&against=\d+-\d+")
        self.assertEqual(self.one("#heads .figure").text, "± rate/s")
        for mark in ("#part", "#other"):
            self.assertTrue(self.one(mark).is_displayed(), mark)
        shown = {name: self.row(name) for name in ("burst", "product:1")}
        for name, row in shown.items():
            before, now = (number(text) for text in row["rate"].split(" → "))
            for figure, span in ((before, "against"), (now, "of")):
                told = self.mean_of(name, span)
                self.assertAlmostEqual(figure, told, delta=0.03 * told + 0.5, msg=f"{name} {span}")
            sign = -1 if row["figure"].startswith("−") else 1
            by = sign * number(row["figure"].lstrip("+−"))
            self.assertAlmostEqual(now - before, by, delta=0.02 * now + 0.02)
        before, now = (number(text) for text in shown["burst"]["rate"].split(" → "))
        self.assertLess(before, now / 2, "it came between them")
        address = self.driver.current_url.partition("#")[2]
        self.open("#" + address)
        self.wait(lambda: (self.row("burst") or {}).get("rate") == shown["burst"]["rate"],
                  "the same after a reload")  # fmt: skip
        self.assertEqual(self.driver.current_url.partition("#")[2], address)
        self.key(Keys.ESCAPE)
        self.wait(lambda: "against" not in self.head(), "an end of the comparison")
        self.assertNotIn("→", self.row("product:1")["rate"])

    def test_a_key_shows_its_history(self):
        self.open_with_history()
        self.driver.execute_script("""
            for (const row of document.querySelectorAll('#rows tr'))
              if (row.querySelector('bdi')?.textContent === 'product:1') row.cells[0].click();""")
        self.wait(lambda: "top " in self.one("tr.detail").text, "its history")
        boxes = self.driver.execute_script("""
            return ['#history', '#requests'].map((at) => document.querySelector(at))
              .map((canvas) => canvas.getBoundingClientRect())
              .map(({ left, width }) => [left, width]);""")
        for own, chart in zip(*boxes, strict=True):
            self.assertAlmostEqual(own, chart, delta=1.5, msg="one axis for all")

        def agrees():
            top = re.search(r"top (\S+)/s", self.one("tr.detail").text)
            told = self.asked("api/heatmap")["rows"]
            row = next((row for row in told if row["name"] == "product:1"), None)
            return top and row and abs(number(top[1]) / max(rates(row["mean"])) - 1) < 0.02

        self.wait(agrees, "its highest second as the API has it")
        label = self.one("#history").get_attribute("aria-label")
        self.assertIn("per second at the end", label)

    def test_time_is_chosen_by_the_keyboard(self):
        self.open_with_history()
        self.key(*[Keys.ARROW_LEFT] * 6)
        self.wait(lambda: self.head().startswith("at "), "the numbers of a moment")
        self.assertTrue(self.one("#cursor").is_displayed())
        self.key("m", *[Keys.ARROW_RIGHT] * 3)
        self.wait(lambda: self.one("#chosen").is_displayed(), "the span that is chosen")
        self.key("z")
        self.wait(lambda: self.head().startswith("means of "), "only that time")
        begin, end = map(int, re.search(r"time=(\d+)-(\d+)", self.driver.current_url).groups())
        self.assertLessEqual(end - begin, 6)
        self.key("-")
        self.wait(lambda: self.driver.current_url.count(f"time={begin}-{end}") == 0, "more time")
        self.key(Keys.ESCAPE)
        self.wait(lambda: self.one("#live").get_attribute("aria-pressed") == "true", "live again")
        self.key(*[Keys.ARROW_LEFT] * 4, "m", Keys.ARROW_LEFT, Keys.ARROW_LEFT, "c")
        self.wait(lambda: ", against " in self.head(), "a comparison")
        self.key(Keys.ESCAPE)

    def test_the_tabulator_comes_to_the_rows(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "the table")
        self.driver.execute_script("document.querySelector('#help').focus()")
        at = "return document.activeElement.dataset.id ?? document.activeElement.tagName"
        for _ in range(10):
            self.key(Keys.TAB)
            if self.driver.execute_script(at).startswith("key "):
                break
        chosen = self.driver.execute_script(at)
        self.assertTrue(chosen.startswith("key "), chosen)
        row = "document.activeElement"
        self.wait(lambda: self.driver.execute_script(f"return {row}.ariaSelected") == "true", "it")
        self.key(Keys.ENTER)
        self.wait(lambda: self.driver.execute_script(f"return {row}.ariaExpanded") == "true",
                  "it opens")  # fmt: skip
        self.key("j")
        self.wait(lambda: self.driver.execute_script(at) != chosen, "the next one")
        self.assertEqual(self.texts("#rows tr[tabindex='0']").__len__(), 1)

    def test_any_name_is_shown(self):
        self.open()
        long, longest = "m" * 2**14, "n" * 2**20
        with ValueClient(self.proxy.port) as client:
            client("SET", long, "x")

            def row_of(name):
                client("GET", long)
                client("GET", longest)  # which is counted, but too long to be named
                return self.row(name)

            self.wait(lambda: row_of("m" * 256 + "…"), "the beginning of a long name")
        self.wait(lambda: self.row(r"\xff\xfe:bytes"), "bytes that are no text")
        self.driver.execute_script("""
            for (const row of document.querySelectorAll('#rows tr'))
              if (row.querySelector('bdi')?.textContent.startsWith('mmm')) row.cells[0].click();""")
        self.wait(lambda: "database 0" in self.one("tr.detail").text, "what is known of it")

    def test_nothing_is_wider_than_the_window(self):
        """From a telephone to a large screen; the name, the strip and the rate are always there."""
        size = self.driver.get_window_size()
        self.addCleanup(self.driver.set_window_size, size["width"], size["height"])
        for width in (360, 800, 1366, 3840):
            # A window of a browser may not be so narrow, a page of a telephone is.
            self.set_screen(width, 800)
            self.open()
            self.wait(lambda: self.row("product:1"), "the table")
            self.driver.execute_script("document.querySelector('#rows tr').cells[0].click()")
            self.wait(lambda: self.texts("tr.detail dd"), "the key in place")
            for fold in ("copies", "rules", "health", "events"):
                self.driver.execute_script(f"document.querySelector('#fold-{fold}').open = true")
            self.wait(lambda: self.texts("#fold-health .fold p"), "what folds out")
            wide = self.driver.execute_script("return document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width)
            cells = self.driver.execute_script("""
                return ['name', 'strip', 'rate'].map((of) =>
                  document.querySelector('#rows td.' + of).getBoundingClientRect().width);""")
            self.assertGreater(min(cells), 55, f"{cells} at {width}")

    def test_a_laptop_shows_forty_keys(self):
        """Above them: the answer, the choices, two charts, and the heads of the columns."""
        self.set_screen(1440, 900)
        self.open()
        self.wait(lambda: self.row("product:1"), "the table")

        def box():
            """Without a height until the style sheet is there."""
            top, height = self.driver.execute_script("""
                const box = document.querySelector('#rows tr').getBoundingClientRect();
                return [box.top, box.height];""")
            return height and (top, height)

        top, row = self.wait(box, "a row that is laid out")
        self.assertGreaterEqual((900 - top) // row, 40, f"rows of {row} from {top} on")

    def test_bytes_of_rows_sum_to_the_total(self):
        self.open("#brightness=bytes")
        self.wait(lambda: self.row("product:1"), "the table")

        def adds_up():
            shown = sum(byte_count(text) for text in self.texts("#rows td.figure"))
            told = self.asked("api/heatmap")["totals"]["bytes"]
            return told and told[-1] and abs(shown / told[-1] - 1) < 0.15 and shown

        self.wait(adds_up, "rows that sum to all bytes")

        def agrees():
            row = next(row for row in self.asked("api/heatmap")["rows"]
                       if row["name"] == "product:1")  # fmt: skip
            told = 2 ** ((base64.b64decode(row["bytes"])[-1] - 1) / 8)
            return abs(byte_count(self.row("product:1")["figure"]) / told - 1) < 0.1

        self.wait(agrees, "its bytes as the API has them")
        least = min(byte_count(text) for text in self.texts("#rows tr:not(.rest) td.figure"))
        self.assertLess(least, 1024, "a row of few bytes")

    def test_rates_below_one_sum_to_the_total(self):
        """Code 1 is "one or less": three such rows of .6/s in all have .2/s each."""
        self.open()
        found = self.driver.execute_async_script("""
            const done = arguments[0];
            import('/page/model.js').then(({ Heat }) => {
              const row = (name, codes) => ({ kind: 'key', db: 0, name, name_base64: btoa(name),
                mean: btoa(String.fromCharCode(...codes)), max: 'AQEB', writes: 'AAAA',
                hits: 'AQEA', bytes: 'AAAA' });
              const heat = new Heat();
              heat.replace({ step_seconds: 1, window_seconds: 10, source: 'memory', has_file: false,
                times: [1, 2, 3], numbers: [1, 2, 3],
                totals: { requests: [0.6, 8.5, 1000] }, unnamed_max: { key: [0, 0, 0] },
                rows: [row('a', [1, 37, 121]), row('b', [1, 1, 1]), row('c', [1, 0, 1])] });
              const rows = [...heat.rows.values()];
              const rates = [0, 1, 2].map((i) => rows.map((row) => heat.rate(row, 'mean', i)));
              const hits = heat.means(rows[1], [0, 1]).hits;
              done([rates, hits]);
            });""")
        (quiet, mixed, busy), hits = found
        for rate in (*quiet, hits):
            self.assertAlmostEqual(rate, 0.2)
        self.assertEqual([round(rate, 3) for rate in mixed], [8, 0.5, 0])
        self.assertEqual([round(rate) for rate in busy], [1024, 1, 1], "more than all: not known")

    def test_strips_out_of_sight_wait(self):
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                                           {"source": MANY_ROWS})["identifier"]  # fmt: skip
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument",
                        {"identifier": made})  # fmt: skip
        self.open()
        ids = "return [...document.querySelectorAll('#rows tr[data-id]')].map(e => e.dataset.id)"
        self.wait(lambda: len(self.driver.execute_script(ids)) > 400, "many rows")
        columns = 'return Number(document.querySelector("#requests").dataset.column)'
        drawn = "return window.drawn.size"
        last = self.driver.execute_script("window.drawn.clear();" + columns)
        self.wait(lambda: self.driver.execute_script(columns) > last + 1, "two more columns")
        rows = len(self.driver.execute_script(ids))
        self.assertLess(self.driver.execute_script(drawn), rows / 2, "most are out of sight")
        self.assertGreater(self.driver.execute_script(drawn), 20, "the others are drawn")
        self.driver.execute_script("scrollTo(0, document.documentElement.scrollHeight)")
        self.wait(lambda: self.driver.execute_script("""
            const last = [...document.querySelectorAll('#rows tr[data-id] canvas')].at(-1);
            return last?.closest('tr').matches('.rest') && window.drawn.has(last);"""),
            "the strip of the last row")  # fmt: skip

    def is_a_fault(self, message):
        return "/api/stream" not in message  # which MANY_ROWS answers with 503


if __name__ == "__main__":
    page_stage.run()
