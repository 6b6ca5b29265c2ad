#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `heatsink watch` in a real browser: the sum, each instance, one that is silent."""

import signal

import page_stage as page
from harness import Proxy, Redis, need_programs
from harness.watching import Watch


class OfMany(page.Page):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)
        cls.proxies = [Proxy(cls.redis, cls.OPTIONS) for _ in range(2)]
        for proxy in cls.proxies:
            cls.addClassCleanup(proxy.stop)
            load = page.Load(proxy.port)
            cls.addClassCleanup(load.close)
        cls.names = [f"127.0.0.1:{proxy.admin_port}" for proxy in cls.proxies]
        cls.watch = Watch([proxy.admin_port for proxy in cls.proxies])
        cls.addClassCleanup(cls.watch.stop)
        cls.driver = page.browser()
        cls.addClassCleanup(cls.driver.quit)
        cls.home = f"http://127.0.0.1:{cls.watch.port}/"

    def is_a_fault(self, message):
        # A silent instance is asked for; a watch takes no orders, so it has no /api/access.
        return "503" not in message and "/api/access" not in message

    def text(self, selector):
        return "".join(self.texts(selector))

    def test_the_sum_and_each_instance(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.assertIn("2 instances", self.one("#node").text)

        def agrees():
            shown, key = self.row("product:1"), self.watch.key("product:1")
            return key and abs(page.number(shown["rate"]) / key["rate"] - 1) < 0.1

        self.wait(agrees, "the rate of the sum")
        self.wait(lambda: all(name in self.text("#instances tbody") for name in self.names),
                  "both instances")  # fmt: skip
        self.wait(lambda: self.one("#requests").get_attribute("data-live") == "true", "the stream")
        # The instances share a server, so its CPU time would count twice.
        self.assertFalse(self.one('#plane option[value="cpu"]').is_enabled())
        self.assertTrue(self.one('#plane option[value="bytes"]').is_enabled())

    def test_clients_of_both(self):
        self.open("#rows=client")
        self.wait(lambda: self.row("127.0.0.1"), "the row of the client")

        def agrees():
            told = [proxy.api("counts")["totals"]["client_commands"] for proxy in self.proxies]
            shown = page.number(self.row("127.0.0.1")["rate"])
            return all(told) and abs(shown / sum(told) - 1) < 0.15

        self.wait(agrees, "the sum of both")

    def folds_out(self, fold, text):
        self.driver.execute_script(f"document.querySelector('#fold-{fold}').open = true")
        self.wait(lambda: text in self.text(f"#fold-{fold} .fold"), f"{text} in {fold}")

    def test_a_key_by_instance(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.driver.execute_script("""
            for (const row of document.querySelectorAll('#rows tr'))
              if (row.querySelector('bdi')?.textContent === 'product:1') row.cells[0].click();""")
        for name in self.names:
            self.wait(lambda name=name: name in self.text("tr.detail td"), f"the part of {name}")
        self.assertIn(" to ", self.text("tr.detail td"))

    def test_one_instance_as_its_own_page(self):
        self.open()
        self.wait(lambda: self.texts("#instances button"), "the instances")
        self.driver.execute_script("document.querySelector('#instances button').click()")
        self.wait(lambda: f"127.0.0.1:{self.redis.port}" in self.one("#node").text, "its server")
        self.assertIn("instance=127.0.0.1", self.driver.current_url)
        self.wait(lambda: (self.row("product:1") or {}).get("helps"), "its advice")
        self.folds_out("rules", "There is no rule")
        self.folds_out("audit", "No stale copy was found")
        self.open("#" + self.driver.current_url.partition("#")[2])
        self.wait(lambda: f"127.0.0.1:{self.redis.port}" in self.one("#node").text, "a reload")
        self.one("#instance").send_keys("all")
        self.wait(lambda: "2 instances" in self.one("#node").text, "the sum again")

    def test_one_that_is_silent(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        frozen = self.proxies[1].process
        frozen.freeze()
        try:
            self.wait(lambda: self.one("#silent").is_displayed(), "that one does not answer")
            self.assertIn(f"{self.names[1]} does not answer since", self.one("#silent").text)
            self.wait(lambda: "+?" in self.row("product:1")["rate"], "no upper bound")
        finally:
            frozen.signal(signal.SIGCONT)
        self.wait(lambda: not self.one("#silent").is_displayed(), "it is back")


if __name__ == "__main__":
    page.run()
