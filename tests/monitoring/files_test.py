# SPDX-License-Identifier: Apache-2.0
"""The dashboard and the rules name metrics that exist, and say what a reader needs to know."""

import importlib
import re
import sys
import unittest

import shipped

SEVERITIES = {"critical", "warning"}
VARIABLE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
BUILT_IN = {"__rate_interval", "__all"}
GRID_COLUMNS = 24


def have_yaml():
    try:
        importlib.import_module("yaml")
    except ImportError:
        return False
    return True


NEEDS_YAML = unittest.skipUnless(have_yaml(), "needs PyYAML (Debian: python3-yaml)")


class Known(unittest.TestCase):
    def expect_known(self, where, expression, known):
        found = list(shipped.uses(expression))
        self.assertTrue(found, f"{where}: no metric in {expression}")
        labels = set(shipped.OF_TARGETS)
        for name, selected in found:
            self.assertIn(name, known, f"{where}: no such metric")
            labels |= known[name]
            extra = selected - known[name] - shipped.OF_TARGETS
            self.assertFalse(extra, f"{where}: {name} has no such label")
        extra = shipped.grouped_by(expression) - labels
        self.assertFalse(extra, f"{where}: no metric in it has this label: {expression}")


class Names(unittest.TestCase):
    """What Prometheus recommends for names: promtool looks at those of one page only."""

    def rows(self):
        text = shipped.METRICS.read_text("utf-8")
        found = re.findall(r"^\| `(\w+)` \| (\w+) \| [\w, ]* \| (.+) \|$", text, re.MULTILINE)
        self.assertGreater(len(found), 100)
        return found

    def test_a_name_ends_in_its_unit(self):
        for name, kind, _ in self.rows():
            self.assertEqual(name.endswith("_total"), kind == "counter", name)
            bare = name.removesuffix("_total")
            for unit in ("seconds", "bytes", "ratio"):
                self.assertTrue(f"_{unit}" not in bare or bare.endswith(f"_{unit}"), name)
            self.assertNotRegex(bare, r"_(ms|us|milliseconds|mb|kb|percent|mib)(_|$)", name)
            if kind == "histogram":
                self.assertTrue(name.endswith("_seconds"), name)

    def test_a_help_text_is_a_sentence(self):
        for name, _, text in self.rows():
            self.assertRegex(text, r"\.$", name)
            self.assertGreaterEqual(len(text.split()), 3, name)


class Dashboard(Known):
    def setUp(self):
        self.board = shipped.dashboard()
        self.graphs = shipped.graphs(self.board)

    def test_it_is_what_its_generator_writes(self):
        sys.path.insert(0, str(shipped.GRAFANA))
        self.addCleanup(sys.path.remove, str(shipped.GRAFANA))
        maker = importlib.import_module("make_dashboard")
        self.assertEqual(
            (shipped.GRAFANA / "heatsink.json").read_text("utf-8"),
            maker.text(),
            "run deploy/grafana/make_dashboard.py",
        )

    def test_its_queries_name_metrics_that_exist(self):
        known = shipped.rows()
        for where, expression in shipped.expressions(self.board):
            self.expect_known(where, expression, known)

    def test_each_legend_names_labels_that_the_query_keeps(self):
        for panel in self.graphs:
            for target in panel["targets"]:
                named = set(re.findall(r"{{(\w+)}}", target.get("legendFormat", "")))
                kept = shipped.grouped_by(target["expr"])
                if not re.search(r"\b(sum|min|max|topk)\b", target["expr"]):
                    kept = set.union(*(shipped.rows()[n] for n, _ in shipped.uses(target["expr"])))
                    kept |= shipped.OF_TARGETS
                self.assertLessEqual(named, kept, panel["title"])

    def test_each_panel_has_a_unit_and_a_description(self):
        for panel in self.graphs:
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
            self.assertRegex(panel["description"], r"^[A-Z0-9a-z].{20,}\.$", panel["title"])
            self.assertTrue(panel["targets"], panel["title"])

    def test_numbers_and_titles_are_unique(self):
        for member in ("id", "title"):
            values = [panel[member] for panel in self.board["panels"]]
            self.assertEqual(len(values), len(set(values)), member)

    def test_panels_neither_overlap_nor_leave_the_grid(self):
        taken = {}
        for panel in self.board["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], GRID_COLUMNS, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken[x, y] = panel["title"]

    def test_each_line_of_panels_fills_its_width(self):
        widths = {}
        for panel in self.board["panels"]:
            y = panel["gridPos"]["y"]
            widths[y] = widths.get(y, 0) + panel["gridPos"]["w"]
        self.assertEqual(set(widths.values()), {GRID_COLUMNS}, widths)

    def test_variables_exist_and_are_used(self):
        defined = {variable["name"] for variable in self.board["templating"]["list"]}
        text = (shipped.GRAFANA / "heatsink.json").read_text("utf-8")
        used = {a or b for a, b in VARIABLE.findall(text)} - BUILT_IN
        self.assertEqual(used, defined)

    def test_the_data_source_is_always_the_variable(self):
        def sources(value):
            if isinstance(value, dict):
                for key, inside in value.items():
                    if key == "datasource":
                        yield inside
                    yield from sources(inside)
            elif isinstance(value, list):
                for inside in value:
                    yield from sources(inside)

        found = list(sources(self.board))
        self.assertGreater(len(found), 50)
        for source in found:
            self.assertEqual(source, {"type": "prometheus", "uid": "${datasource}"})

    def test_links_lead_to_pages(self):
        for link in self.board["links"]:
            page = link["url"].removeprefix("${docs:raw}")
            self.assertTrue((shipped.ROOT / "docs" / page).is_file(), link["url"])


@NEEDS_YAML
class Rules(Known):
    def setUp(self):
        self.alerts = shipped.rules(shipped.ALERTS)
        self.recorded = shipped.rules(shipped.RECORDING)

    def known(self):
        """The metrics of the proxy, and those that the recording rules make of them."""
        known = shipped.rows()
        for rule in self.recorded:
            labels = set(rule.get("labels", {}))
            for name, _ in shipped.uses(rule["expr"]):
                labels |= known.get(name, set())
            known[rule["record"]] = known.get(rule["record"], set()) | labels
        return known

    def test_expressions_name_metrics_that_exist(self):
        known = self.known()
        for rule in self.recorded + self.alerts:
            where = rule.get("alert") or rule["record"]
            self.expect_known(where, rule["expr"], known)

    def test_what_is_recorded_is_used(self):
        text = shipped.ALERTS.read_text("utf-8") + "".join(r["expr"] for r in self.recorded)
        for rule in self.recorded:
            if rule["record"] not in text:
                self.assertIn(rule["record"], shipped.GUIDE.read_text("utf-8"))

    def test_each_alert_says_what_a_person_on_call_needs(self):
        for rule in self.alerts:
            name, notes = rule["alert"], rule["annotations"]
            self.assertRegex(name, r"^Heatsink[A-Z]\w+$")
            self.assertIn("for", rule, name)
            self.assertIn(rule["labels"]["severity"], SEVERITIES, name)
            self.assertEqual(set(notes), {"summary", "description", "runbook_url"}, name)
            self.assertIn("$value", notes["description"], name)
            self.assertRegex(notes["description"], r"\. \w.*\.$", f"{name}: what to do?")

    def test_texts_name_labels_that_the_alert_has(self):
        known = self.known()
        for rule in self.alerts:
            labels = set.union(*(known[name] for name, _ in shipped.uses(rule["expr"])))
            labels |= shipped.OF_TARGETS
            for text in rule["annotations"].values():
                named = set(re.findall(r"\$labels\.(\w+)", text))
                self.assertLessEqual(named, labels, rule["alert"])

    def test_each_alert_has_its_section(self):
        sections = re.findall(r"^## (Heatsink\w+)$", shipped.ALERT_PAGE.read_text("utf-8"), re.M)
        page = str(shipped.ALERT_PAGE.relative_to(shipped.ROOT))
        for rule in self.alerts:
            self.assertEqual(
                rule["annotations"]["runbook_url"], f"{page}#{rule['alert'].lower()}"
            )
        self.assertEqual(sorted(sections), sorted(rule["alert"] for rule in self.alerts))

    def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(self):
        import yaml

        fires, quiet = set(), set()
        for path in shipped.RULE_TESTS:
            for case in yaml.safe_load(path.read_text("utf-8"))["tests"]:
                names = set(re.findall(r"Heatsink\w+", case["name"]))
                for query in case["promql_expr_test"]:
                    samples = str(query.get("exp_samples", []))
                    fires |= set(re.findall(r'alertname="(\w+)"', samples))
                    quiet |= {name for name in names if name not in samples}
        alerts = {rule["alert"] for rule in self.alerts}
        self.assertEqual(fires, alerts)
        self.assertEqual(quiet, alerts)


@NEEDS_YAML
class Operator(unittest.TestCase):
    """The objects of the Prometheus operator, as far as this project can check them."""

    def objects(self, name):
        import yaml

        return list(yaml.safe_load_all((shipped.PROMETHEUS / name).read_text("utf-8")))

    def expect_a_monitor(self, monitor, endpoints):
        self.assertEqual(monitor["apiVersion"], "monitoring.coreos.com/v1")
        self.assertEqual(monitor["spec"]["selector"], {"matchLabels": {"app": "heatsink"}})
        # The job becomes the value of this label, which HeatsinkDown looks at.
        self.assertEqual(monitor["spec"]["jobLabel"], "app")
        (endpoint,) = monitor["spec"][endpoints]
        self.assertEqual(endpoint["port"], "metrics")
        self.assertEqual(set(endpoint["bearerTokenSecret"]), {"name", "key"})

    def test_pods(self):
        (monitor,) = self.objects("pod-monitor.yaml")
        self.assertEqual(monitor["kind"], "PodMonitor")
        self.expect_a_monitor(monitor, "podMetricsEndpoints")

    def test_a_service(self):
        service, monitor = self.objects("service-monitor.yaml")
        self.assertEqual((service["kind"], monitor["kind"]), ("Service", "ServiceMonitor"))
        self.assertEqual([port["name"] for port in service["spec"]["ports"]], ["metrics"])
        labels = monitor["spec"]["selector"]["matchLabels"]
        self.assertLessEqual(labels.items(), service["metadata"]["labels"].items())
        self.expect_a_monitor(monitor, "endpoints")


if __name__ == "__main__":
    unittest.main()
