# SPDX-License-Identifier: Apache-2.0
"""What deploy/ ships for Prometheus and Grafana, parsed, and the metrics that it may use."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "deploy/prometheus"
GRAFANA = ROOT / "deploy/grafana"
METRICS = ROOT / "docs/reference/metrics.md"
GUIDE = ROOT / "docs/guides/monitoring.md"
ALERT_PAGE = ROOT / "docs/reference/alerts.md"
RECORDING = PROMETHEUS / "heatsink-recording.yml"
ALERTS = PROMETHEUS / "heatsink-alerts.yml"
RULE_TESTS = sorted((PROMETHEUS / "tests").glob("*_test.yml"))

# Labels that Prometheus adds: to each target, and to the metric that it makes of alerts.
OF_TARGETS = {"job", "instance"}
OF_PROMETHEUS = {
    "up": set(),
    "ALERTS": {"alertname", "alertstate", "severity"},
}
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"


def rows():
    """The labels of each metric of the proxy, by name, as the reference page has them."""
    page = METRICS.read_text("utf-8").split("## The library")[0]
    known = dict(OF_PROMETHEUS)
    for name, kind, labels in re.findall(
        r"^\| `(\w+)` \| (\w+) \| ([\w, ]*) \|", page, re.MULTILINE
    ):
        own = set(filter(None, labels.split(", ")))
        parts = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        for part in parts:
            known[name + part] = own | ({"le"} if part == "_bucket" else set())
    return known


def groups(path):
    import yaml  # only here: rules are read by tests that need more than the standard library

    return yaml.safe_load(path.read_text("utf-8"))["groups"]


def rules(path):
    return [rule for group in groups(path) for rule in group["rules"]]


def dashboard():
    return json.loads((GRAFANA / "heatsink.json").read_text("utf-8"))


def graphs(board):
    """Its panels that show something: no titles of rows."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def expressions(board):
    """(where it stands, PromQL) of all panels and annotations."""
    for panel in graphs(board):
        for target in panel["targets"]:
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for annotation in board["annotations"]["list"]:
        yield f"annotation {annotation['name']}", annotation["expr"]


def uses(expression):
    """The metrics that PromQL names, each with the labels that its selector names."""
    bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', expression)
    bare = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", "", bare)
    for name, selector in re.findall(rf"({NAME})\s*(?:\{{([^}}]*)\}})?(?!\w*\s*\()", bare):
        if re.fullmatch(r"heatsink_\w+|process_\w+|\w*:\S+|up|ALERTS", name):
            yield name, set(re.findall(rf"({NAME})\s*[=!]", selector or ""))


def grouped_by(expression):
    """The labels that PromQL groups or joins by."""
    found = re.findall(
        r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", expression
    )
    return {label.strip() for labels in found for label in labels.split(",") if label.strip()}
