#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_dashboard.py [FILE]: writes the Grafana dashboard (heatsink.json) from panels.py.

Places, numbers and all that Grafana repeats in each panel follow from the rows. A test compares
heatsink.json with the output: change panels.py, then run this.
"""

import itertools
import json
import pathlib
import sys

from panels import ANNOTATIONS, BAD, GOOD, NEUTRAL, PAGES, ROWS

OUTPUT = pathlib.Path(__file__).with_name("heatsink.json")
COLUMNS = 24  # of Grafana's grid
SCHEMA = 36  # that of Grafana 9.0; newer versions migrate it when they load the file
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
DOCS = "https://heatsink.example/docs/"  # an operator writes the address of their copy
TABLE_SHARE = "from copies"  # the one column of the table that is no rate


def targets_of(panel):
    for letter, (query, legend) in zip("ABCDEFGHIJ", panel.queries, strict=False):
        target = {"refId": letter, "datasource": DATASOURCE, "expr": query, "editorMode": "code"}
        if panel.kind == "table":
            target |= {"format": "table", "instant": True, "range": False}
        else:
            target |= {"legendFormat": legend or "__auto", "range": True}
        yield target


def field_config(panel):
    steps = [{"color": NEUTRAL if not panel.names else "text", "value": None}]
    if panel.bad_from is not None:
        steps = [{"color": GOOD, "value": None}, {"color": BAD, "value": panel.bad_from}]
    defaults = {
        "unit": panel.unit,
        "color": {"mode": "palette-classic" if panel.kind == "timeseries" else "thresholds"},
        "thresholds": {"mode": "absolute", "steps": steps},
        "mappings": [
            {"type": "value", "options": {str(value): {"text": text, "color": color}}}
            for value, (text, color) in panel.names.items()
        ],
    }
    bounds = {"min": panel.minimum, "max": panel.maximum}
    defaults |= {name: bound for name, bound in bounds.items() if bound is not None}
    if panel.kind == "timeseries":
        defaults["custom"] = {
            "drawStyle": "line",
            "fillOpacity": 30 if panel.stacked else 5,
            "lineWidth": 1,
            "showPoints": "never",
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
            "thresholdsStyle": {"mode": "off" if panel.bad_from is None else "line"},
        }
    overrides = []
    if panel.kind == "table":
        overrides = [column(TABLE_SHARE, [{"id": "unit", "value": "percentunit"}])]
    return {"defaults": defaults, "overrides": overrides}


def column(name, properties):
    return {"matcher": {"id": "byName", "options": name}, "properties": properties}


def options_of(panel):
    if panel.kind == "stat":
        return {
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value",
            "graphMode": "none" if panel.names else "area",
            "textMode": "value",
        }
    if panel.kind == "table":
        return {"showHeader": True, "sortBy": [{"displayName": "reads/s", "desc": True}]}
    return {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }


def transformations_of(panel):
    """The queries of a table become one table, a row for each key."""
    if panel.kind != "table":
        return []
    names = {
        f"Value #{letter}": legend
        for letter, (_, legend) in zip("ABCDEFGHIJ", panel.queries, strict=False)
    }
    return [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": names}},
    ]


def panel_json(panel, number, x, y):
    made = {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.meaning,
        "datasource": DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "fieldConfig": field_config(panel),
        "options": options_of(panel),
        "targets": list(targets_of(panel)),
    }
    if transformations := transformations_of(panel):
        made["transformations"] = transformations
    return made


def panels_json():
    """From left to right, in lines as high as their first panel."""
    numbers, y = itertools.count(1), 0
    for row in ROWS:
        place = {"x": 0, "y": y, "w": COLUMNS, "h": 1}
        yield {"id": next(numbers), "type": "row", "title": row.title, "collapsed": False,
               "gridPos": place, "panels": []}  # fmt: skip
        x, y, height = 0, y + 1, 0
        for panel in row.panels:
            if x + panel.width > COLUMNS:
                x, y, height = 0, y + height, 0
            yield panel_json(panel, next(numbers), x, y)
            x, height = x + panel.width, max(height, panel.height)
        y += height


def variable(name, label, values, of=""):
    """One that offers all values of a label, several at once."""
    query = f"label_values(heatsink_build_info{of}, {values})"
    return {
        "name": name, "label": label, "type": "query", "datasource": DATASOURCE,
        "query": {"query": query, "refId": name}, "definition": query, "refresh": 2, "sort": 1,
        "multi": True, "includeAll": True, "current": {"text": "All", "value": "$__all"},
    }  # fmt: skip


def variables():
    source = {"name": "datasource", "label": "Prometheus", "type": "datasource",
              "query": "prometheus", "refresh": 1, "multi": False, "includeAll": False,
              "options": []}  # fmt: skip
    docs = {"name": "docs", "label": "Documentation", "type": "textbox", "query": DOCS,
            "current": {"text": DOCS, "value": DOCS}}  # fmt: skip
    return [
        source,
        variable("job", "Job", "job"),
        variable("instance", "Proxy", "instance", '{job=~"$job"}'),
        docs,
    ]


def annotations():
    return [
        {"name": name, "enable": True, "iconColor": color, "datasource": DATASOURCE, "expr": query,
         "step": "60s", "titleFormat": name, "textFormat": text, "useValueForTime": False}
        for name, color, query, text in ANNOTATIONS
    ]  # fmt: skip


def dashboard():
    links = [
        {"title": title, "type": "link", "url": "${docs:raw}" + page, "icon": "doc",
         "targetBlank": True, "asDropdown": False, "includeVars": False, "keepTime": False,
         "tags": []}
        for title, page in PAGES
    ]  # fmt: skip
    return {
        "title": "heatsink",
        "description": "Proxies of heatsink: the load that they take off their servers, what they "
        "wait for, and how close they are to their limits.",
        "tags": ["heatsink", "redis"],
        "uid": None,
        "id": None,
        "schemaVersion": SCHEMA,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "",
        "links": links,
        "templating": {"list": variables()},
        "annotations": {"list": annotations()},
        "panels": list(panels_json()),
    }


def text():
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else OUTPUT).write_text(text(), encoding="utf-8")
