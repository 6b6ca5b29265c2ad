#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orders by the page, in a real browser: an operator gives them, a viewer cannot."""

import base64
import json
import subprocess
import tempfile
import urllib.parse
import urllib.request

import page_stage
from harness import PATIENCE_S, SLOW
from harness.cluster import Cluster
from harness.near import Resp3Client
from page_stage import Page, number

try:
    from selenium.webdriver.common.keys import Keys
except ImportError:
    pass  # page_stage.run() says so

# Those that the load asks for, and that the API shows as they are.
NAMES = [*(f"product:{i}" for i in range(20)), "visits", "=1", "%s%n"]
VIEWER, OPERATOR = "viewer-0123456789", "operator-0123456789"


class Orders(Page):
    """What an operator does with the mouse, and what a viewer cannot."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        cls.addClassCleanup(folder.cleanup)
        with open(folder.name + "/tokens", "w", encoding="ascii") as file:
            file.write(f"viewer grafana {VIEWER}\noperator alice {OPERATOR}\n")
        cls.OPTIONS = Page.OPTIONS | {"admin.token-file": folder.name + "/tokens",
                                      "detection.minimum-residence": "1h"}  # fmt: skip
        super().setUpClass()
        cls.TOKEN = OPERATOR  # of what the tests themselves ask

    def is_a_fault(self, message):
        return "422" not in message  # a browser reports each of them

    def open_key(self, name, token=OPERATOR):
        self.open(f"#token={token}&filter={name}")
        self.wait(lambda: self.row(name), "its row")
        self.driver.execute_script("""
            for (const row of document.querySelectorAll('#rows tr'))
              if (row.querySelector('bdi')?.textContent === arguments[0]) row.click();""", name)
        self.wait(lambda: self.texts("tr.detail .orders"),
                  "the key's actions")  # fmt: skip

    def begin(self, order, within="tr.detail"):
        """Clicks the button of an order."""
        self.one(f'{within} .orders > button[data-order="{order}"]').click()
        self.wait(lambda: self.texts(f"{within} form.order"),
                  "its form")  # fmt: skip

    def fill(self, field, text, within="tr.detail"):
        shown = self.one(f'{within} form.order [data-field="{field}"]')
        shown.clear()
        shown.send_keys(text)

    def show(self, within="tr.detail"):
        self.one(f"{within} form.order button.show").click()
        return self.shown(within)

    def shown(self, within="tr.detail"):
        """What the order would do, once the page has asked for it."""
        self.wait(lambda: self.texts(f"{within} form.order .preview .confirm"),
                  "the second step")  # fmt: skip
        return self.one(f"{within} form.order .preview").text

    def confirm(self, within="tr.detail"):
        self.one(f"{within} form.order .preview .confirm").click()
        self.wait(lambda: self.texts(f"{within} form.order .preview .outcome"), "what came of it")
        return self.texts(f"{within} form.order .preview .outcome")[0]

    def orders_of_alice(self):
        return [event["reason"] for event in self.asked("api/events")["events"]
                if "by the admin API, alice, 127.0.0.1:" in event["reason"]]  # fmt: skip

    def test_a_copy_is_dropped_by_a_second_click(self):
        self.open_key("product:1")
        before = len(self.orders_of_alice())
        self.begin("drop")
        shown = self.shown()
        self.assertRegex(shown, r"heatsink drop --admin 127\.0\.0\.1:\d+ -- product:1\n")
        self.assertIn("A copy comes back while the key is hot", shown)
        self.assertEqual(len(self.orders_of_alice()), before, "nothing was done yet")
        self.assertIn("its next read makes a copy again", self.confirm())
        self.assertIn("dropped its local copy", self.orders_of_alice()[-1])

    def test_a_key_is_warmed_and_the_warming_ended(self):
        self.open_key("visits")
        self.begin("warm")
        self.fill("for", "soon")
        self.one("tr.detail form.order button.show").click()
        self.wait(lambda: "'soon' is no time" in "".join(self.texts(".fault")), "the fault")
        self.fill("for", "20m")
        self.assertRegex(self.show(), r"heatsink warm --for 20m --admin \S+ -- visits\n")
        self.assertIn("visits: ", self.confirm())
        self.assertEqual([key["name"] for key in self.asked("api/warm")["keys"]], ["visits"])
        self.assertIn("warming for 20m", self.orders_of_alice()[-1])
        self.open_key("visits")
        self.begin("end")
        self.shown()
        self.assertIn("ended", self.confirm())
        self.assertEqual(self.asked("api/warm")["keys"], [])

    def test_a_limit_is_tried_and_then_holds(self):
        self.open_key("product:2")
        self.begin("limit")
        self.fill("rate", "5000/s")
        shown = self.show()
        self.assertIn("rule product:2 added: limit.rate=5000/s", shown)
        self.assertIn("Would have matched at least 1 key", shown)
        self.assertEqual(self.asked("api/rules")["rules"], [])
        self.assertIn("limit.rate=5000/s", self.confirm())
        rule = self.asked("api/rules")["rules"][0]
        self.assertEqual(rule["match"], "product:2")
        self.assertIn("by the admin API, alice", rule["origin"])
        self.one("#fold-rules summary").click()
        self.wait(lambda: "product:2" in self.one("#fold-rules .fold").text, "the rule in the list")
        self.one("#fold-rules .remove").click()
        self.assertRegex(self.shown("#fold-rules"),
                         r"heatsink rule remove --admin \S+ -- product:2\n")  # fmt: skip
        self.confirm("#fold-rules")
        self.assertEqual(self.asked("api/rules")["rules"], [])

    def test_a_changed_field_needs_to_be_shown_again(self):
        self.open_key("product:2")
        self.begin("limit")
        self.show()
        self.fill("rate", "6000/s")
        self.assertEqual(self.texts("form.order .confirm"), [])

    def test_a_rule_with_a_fault_cannot_be_confirmed(self):
        self.open(f"#token={OPERATOR}")
        self.wait(lambda: self.row("product:1"), "its row")
        self.one("#fold-rules summary").click()
        self.wait(lambda: self.texts("#fold-rules .orders > button"),
                  "the button")  # fmt: skip
        self.begin("rule", "#fold-rules")
        self.fill("rule", "match=product:*,level=of", "#fold-rules")
        self.one("#fold-rules form.order button.show").click()
        self.wait(lambda: "level" in "".join(self.texts("#fold-rules .fault")), "the fault here")
        self.assertEqual(self.texts("form.order .confirm"), [])
        self.fill("rule", "match=product:*,level=off", "#fold-rules")
        shown = self.show("#fold-rules")
        self.assertRegex(shown, r"Would have matched at least (1\d|20) keys")
        self.assertIn("and more", shown)

    def test_an_ignored_key_is_no_longer_hot(self):
        def is_hot():
            keys = self.asked("api/hotkeys")["keys"]
            return any(key["name"] == "product:1" and key["verdict"] == "hot" for key in keys)

        self.wait(is_hot, "a hot key")
        self.open_key("product:1")
        self.begin("ignore")
        self.assertIn("match=product:1,level=off", self.show())
        self.confirm()
        self.addCleanup(self.wait, is_hot, "the key to be hot again, for the other tests")
        self.addCleanup(self.remove, "product:1")
        self.wait(lambda: not is_hot(), "a key that is hot no longer")
        self.assertIn("level=off", self.asked("api/rules")["rules"][0]["rule"])

    def remove(self, match):
        request = urllib.request.Request(
            self.home + "api/rules",
            json.dumps({"remove": match}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {OPERATOR}"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW).close()

    def test_a_hostile_name_is_quoted_in_what_it_orders(self):
        self.open_key("<script>document.title='broken'</script>")
        self.begin("ignore")
        self.assertIn("\\''broken'\\''", self.show())
        self.assertNotIn("broken", self.driver.title)
        self.assertIn("rule <script>", self.confirm())
        self.addCleanup(self.remove, "<script>document.title='broken'</script>")

    def test_a_viewer_has_no_buttons_and_is_told_why(self):
        self.open_key("product:1", VIEWER)
        self.assertEqual(self.texts("tr.detail .orders button"), [])
        self.assertIn("The token of grafana is a viewer's", self.one("tr.detail .why-not").text)
        self.one("#fold-rules summary").click()
        self.wait(lambda: self.texts("#fold-rules .why-not"), "the reason here, too")
        self.assertEqual(self.texts("#fold-rules .orders button"), [])
        self.one("#try-match").send_keys("product:*" + Keys.ENTER)
        self.wait(lambda: "Would have matched" in self.one("#fold-rules").text,
                  "a dry run, which changes nothing")  # fmt: skip


class Views(Page):
    """Rows by rule, and the folds that need no order."""

    def test_keys_are_grouped_by_their_rule(self):
        add = json.dumps({"add": "match=product:*,max-staleness=2s"}).encode()
        request = urllib.request.Request(self.home + "api/rules", add,
                                         {"Content-Type": "application/json"})  # fmt: skip
        urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW).close()
        self.open("#rows=rule")

        def adds_up():
            shown = self.row("product:*")
            if shown is None or not self.row("(no rule)"):
                return None
            told = self.asked("api/heatmap")
            rates = [2 ** ((code - 1) / 12) for row in told["rows"]
                     if row["kind"] == "key" and row["name"].startswith("product:")
                     for code in [base64.b64decode(row["mean"])[-1]] if code]  # fmt: skip
            return rates and abs(number(shown["rate"]) / sum(rates) - 1) < 0.15

        self.wait(adds_up, "the sum of the products")
        self.assertIn("all other keys", self.texts("#rows tr.rest td.name")[0])

    def test_the_page_matches_patterns_as_the_proxy_does(self):
        """Rows by rule are made in the browser, and a rule's text is, too."""
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        patterns = ["product:*", "product:1", "*", "product:?", "p*t:1*", "product:[2-4]", "[^p]*",
                    "product:[4-2]", "product\\:1", "%s%n", "\\=1", "visit[s", "", "[]",
                    "a?*"]  # fmt: skip
        matched = self.driver.execute_async_script("""
            const [patterns, names, done] = arguments;
            import('/page/rules.js').then(({ KeyPattern, bytes_string }) => done(
              patterns.map((text) => new KeyPattern(bytes_string(text))).map((pattern) =>
                names.filter((name) => pattern.matches(bytes_string(name))))));
            """, patterns, NAMES)
        for pattern, names in zip(patterns, matched, strict=True):
            if pattern == "":
                self.assertEqual(names, [])
                continue

            def told(pattern=pattern):
                asked = self.asked("api/rules/dry-run?match=" + urllib.parse.quote(pattern))
                return sorted(key["name"] for key in asked["keys"] if key["name"] in NAMES)

            self.wait(lambda names=names: told() == sorted(names), f"{pattern}: {names}")

    def test_a_pattern_of_many_stars_does_not_stop_the_page(self):
        """Each of them is tried with each row, each second."""
        self.open()
        found = self.driver.execute_async_script("""
            const done = arguments[0];
            Promise.all([import('/page/rules.js'), import('/page/glob.js')]).then(
              ([{ KeyPattern }, { matches, with_stars }]) => {
                const name = 'a'.repeat(256), stars = 'a*'.repeat(100);
                const found = [];
                for (const end of ['b', '', 'a', '?'])
                  found.push([new KeyPattern(stars + end).matches(name),
                              matches(with_stars(stars + end), name)]);
                done(found);
              });""")
        self.assertEqual(found, [[False, False], [True, True], [True, True], [True, False]])

    def test_a_name_cannot_set_an_option_of_the_command(self):
        self.open()
        rules = ["match=--admin=evil:6390,level=off", "--json,match=k"]
        lines = self.driver.execute_async_script("""
            const [rules, done] = arguments;
            import('/page/orders.js').then((orders) => done([
              ...rules.map((rule) => orders.rule_order('', '', '').plan({ rule }).line),
              orders.remove_rule_order('--admin=evil:6390').plan({}).line,
              orders.pattern_order(false)
                .plan({ pattern: '--end', db: '0', for: '30 m' }).line]));""",
            rules)  # fmt: skip
        where = f"--admin 127.0.0.1:{self.proxy.admin_port}"
        self.assertEqual(
            lines,
            [*(f"heatsink rule add {where} -- {rule}" for rule in rules),
             f"heatsink rule remove {where} -- --admin=evil:6390",
             f"heatsink warm --pattern=--end --db 0 --for 30m {where}"],
        )  # fmt: skip

    def test_a_terminal_gets_no_control_character_that_is_pasted(self):
        self.open()
        texts = ["\x1b[201~\nreboot", "it's \\ \t", "\x859", "plain"]
        words = self.driver.execute_async_script("""
            const [texts, done] = arguments;
            import('/page/rules.js').then(({ shell_word }) => done(texts.map(shell_word)));""",
            texts)  # fmt: skip
        self.assertEqual(words, [r"$'\033[201~\012reboot'", r"$'it\'s \\ \011'",
                                 r"$'\u00859'", "plain"])  # fmt: skip
        script = "printf '%s\\0' " + " ".join(words)
        told = subprocess.run(["bash", "-c", script], env={"LC_ALL": "C.UTF-8"},
                              capture_output=True, check=True)  # fmt: skip
        self.assertEqual(told.stdout.decode().split("\0")[:-1], texts)

    def test_a_redacted_name_cannot_be_warmed_or_its_warming_ended(self):
        """The proxy warms keys by their names."""
        self.open()
        ids = self.driver.execute_async_script("""
            const done = arguments[0];
            const warmed = '{"keys": [{"name_base64": "aw==", "db": 0}]}';
            const asks = window.fetch;
            window.fetch = async (path, how) =>
              (path === '/api/warm' ? new Response(warmed) : asks(path, how));
            import('/page/orders.js').then(async ({ access, key_orders }) => {
              let redacted = false;
              access.told = { role: 'operator' };
              // The page's own rounds set it, too.
              Object.defineProperty(access, 'redacted', { get: () => redacted, set: () => {} });
              const ids = [];
              for (redacted of [false, true]) {
                const bar = await key_orders({ name: 'k', base64: 'aw==', db: 0 });
                ids.push([...bar.querySelectorAll('button')].map((each) => each.dataset.order));
              }
              done(ids);
            });""")
        self.assertEqual(ids, [["end", "drop", "limit", "ignore", "rule"], ["drop"]])

    def test_a_rule_in_text_keeps_any_name(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        names = ["plain", "a,b", '"quoted"', 'a"b', "a*b?[c]", "back\\slash", "=", "ü", "sp ace"]
        texts = self.driver.execute_async_script("""
            const [names, done] = arguments;
            import('/page/rules.js').then(({ exactly, match_of, quoted }) => done(
              names.map((name) => {
                const rule = `match=${quoted(exactly(name))},level=off`;
                return [rule, match_of(rule) === exactly(name)];
              })));""", names)
        for name, (rule, reads_back) in zip(names, texts, strict=True):
            self.assertTrue(reads_back, rule)
            request = urllib.request.Request(
                self.home + "api/rules",
                json.dumps({"add": rule, "dry_run": True}).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as answer:
                self.assertEqual(json.load(answer)["outcome"], "checked", name)

    def test_an_address_opens_its_key(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.driver.execute_script("document.querySelector('#rows tr').click()")
        self.wait(lambda: self.texts("tr.detail dd"), "the key in place")
        self.open("#" + self.driver.current_url.partition("#")[2])
        self.wait(lambda: self.texts("tr.detail dd"), "the same after a reload")

    def test_without_tokens_a_person_here_may_give_orders(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.driver.execute_script("document.querySelector('#rows tr').click()")
        self.wait(lambda: self.texts('tr.detail .orders > button[data-order="drop"]'), "its button")

    def test_clients_audit_and_warmed_keys_fold_out(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        for fold, words in (("clients", "127.0.0.1"), ("audit", "No stale copy"),
                            ("warm", "No key is warmed"), ("kept", "No client keeps")):  # fmt: skip
            self.one(f"#fold-{fold} summary").click()
            self.wait(lambda fold=fold, words=words: words in self.one(f"#fold-{fold}").text,
                      f"{fold} with {words}")  # fmt: skip


class WhatClientsKeep(Page):
    OPTIONS = Page.OPTIONS | {"proxy.client-tracking": "pays"}

    def test_a_key_that_is_kept_and_not_read_is_found(self):
        """Its reads end in the application, so no rate shows it."""
        clients = [Resp3Client(self.proxy.port).track() for _ in range(3)]
        for client in clients:
            self.addCleanup(client.close)
            client.keep("product:1", "kept:1")
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        self.one("#fold-kept summary").click()
        self.wait(lambda: "kept:1" in self.texts("#fold-kept bdi"), "the key")
        self.assertIn("3 of 3 clients", self.one("#fold-kept").text)
        self.wait(lambda: "kept by 3" in (self.row("product:1") or {}).get("state", ""), "its row")


class InFrontOfACluster(Page):
    @classmethod
    def make_server(cls):
        cluster = Cluster().__enter__()
        cls.addClassCleanup(cluster.__exit__, None, None, None)
        return f"redis+cluster://127.0.0.1:{cluster.nodes[0].port}"

    def test_nodes_and_slots_have_their_load(self):
        self.open()
        self.wait(lambda: self.row("product:1"), "its row")
        told = self.wait(lambda: self.asked("api/slots")["slots"], "busy slots")
        self.one("#fold-nodes summary").click()
        self.wait(lambda: self.texts("#fold-nodes td"), "the tables")
        busy = next(slot for slot in told if slot["slot"] is not None)

        def rates():
            """Of the row of the slot: node, commands per second."""
            rows = self.driver.execute_script("""
                return [...document.querySelectorAll('#fold-nodes tbody tr')]
                  .map(row => [...row.cells].map(cell => cell.textContent));""")
            return next((row[1:3] for row in rows if row[0] == str(busy["slot"])), None)

        node, commands = self.wait(rates, "the row of the slot")
        self.assertEqual(node, busy["node"])
        self.assertGreater(number(commands), 0)


if __name__ == "__main__":
    page_stage.run()
