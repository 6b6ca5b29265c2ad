#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spec/http.yaml says what the running server does: each path, and each member of each answer."""

import json
import pathlib
import re
import sys
import unittest
import urllib.error
import urllib.request

from harness import PATIENCE_S, SLOW, Proxy, ValueClient, until
from harness.cluster import Cluster
from harness.near import Resp3Client
from stage import ProxyTest

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian puts it, whatever python3 runs
try:
    import yaml
except ImportError:
    yaml = None

SKIPPED = 77
SPEC = pathlib.Path(__file__).resolve().parents[2] / "spec/http.yaml"
TYPES = {"string": str, "number": (int, float), "integer": int, "boolean": bool,
         "null": type(None), "object": dict, "array": list}  # fmt: skip
QUERIES = {"/api/key": "?name=page:1", "/api/explain": "?name=page:1",
           "/api/rules/dry-run": "?match=page:*"}  # fmt: skip
ORDERS = {
    "/api/warm": {"keys": ["a"], "for_seconds": 60},
    "/api/warm/end": {"keys": ["a"]},
    "/api/rules": {"add": "match=y:*,level=off", "dry_run": False},
    "/api/copies/drop": {"name": "page:1", "db": 0},
    "/api/config": {"text": "cache:\n  level: ttl\n", "name": "f", "dry_run": True},
}


class Spec:
    """The file, and what in an answer is against it."""

    def __init__(self):
        self.all = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
        self.paths = self.all["paths"]

    def resolved(self, node):
        while "$ref" in node:
            found = self.all
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def schema(self, path, method="get", status="200", kind="application/json"):
        answer = self.resolved(self.paths[path][method]["responses"][status])
        return answer["content"][kind]["schema"]

    def faults(self, value, schema, where="the answer"):
        """Sentences; an empty list: the value is as the schema says."""
        schema = self.resolved(schema)
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        is_bool = isinstance(value, bool)
        if not any(isinstance(value, TYPES[each]) and (not is_bool or each == "boolean")
                   for each in types):  # fmt: skip
            return [f"{where} is {value!r}, and not of {types}"]
        out = []
        if isinstance(value, list):
            for i, each in enumerate(value):
                out += self.faults(each, schema["items"], f"{where}[{i}]")
        if isinstance(value, dict):
            known, others = schema.get("properties", {}), schema.get("additionalProperties", False)
            out += [f"{where} has no {name}" for name in schema.get("required", [])
                    if name not in value]  # fmt: skip
            for name, each in value.items():
                if name in known:
                    out += self.faults(each, known[name], f"{where}.{name}")
                elif isinstance(others, dict):
                    out += self.faults(each, others, f"{where}.{name}")
                elif not others:
                    out.append(f"{where}.{name} is not in the file")
        return out


class OfAProxy(ProxyTest):
    PROXY_OPTIONS = {"detection.hot-qps": 5, "detection.window": "60s",
                     "proxy.client-tracking": "pays"}  # fmt: skip
    RULES = ("match=x:*,level=off",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.spec = Spec()
        with ValueClient(cls.proxy.port) as client:
            client("SET", "page:1", "x")
            for _ in range(1000):
                client("GET", "page:1")
        until(lambda: cls.proxy.api("hotkeys")["keys"], what="a hot key")
        until(lambda: cls.proxy.api("heatmap")["rows"], what="a column")
        near = Resp3Client(cls.proxy.port).track()
        cls.addClassCleanup(near.close)
        near.keep("page:1")
        until(lambda: (cls.proxy.api("hotkeys")["near_caches"] or {}).get("list"),
              what="a kept key")  # fmt: skip

    def asked(self, path, body=None):
        """(status, type, text)."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.proxy.admin_port}{path}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers),
                                        timeout=PATIENCE_S * SLOW) as answer:  # fmt: skip
                kind = answer.headers["Content-Type"]
                text = "" if kind == "text/event-stream" else answer.read().decode()
                return str(answer.status), kind.split(";")[0], text
        except urllib.error.HTTPError as error:
            with error:
                return str(error.code), error.headers["Content-Type"], error.read().decode()

    def test_the_paths_are_those_of_the_server(self):
        listed = re.findall(r"^(/\S*) ", self.asked("/")[2], re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(self.spec.paths))

    def test_each_get(self):
        for path in self.spec.paths:
            with self.subTest(path):
                status, kind, text = self.asked(path + QUERIES.get(path, ""))
                responses = self.spec.paths[path]["get"]["responses"]
                self.assertIn(status, responses)
                if status == "200":
                    self.assertIn(kind, responses["200"]["content"])
                if status == "200" and kind == "application/json":
                    self.assertEqual(
                        self.spec.faults(json.loads(text), self.spec.schema(path)), []
                    )

    def test_each_post(self):
        with_post = {path for path, of in self.spec.paths.items() if "post" in of}
        self.assertEqual(with_post, set(ORDERS))
        for path, order in ORDERS.items():
            with self.subTest(path):
                body = self.spec.paths[path]["post"]["requestBody"]["content"]["application/json"]
                self.assertEqual(self.spec.faults(order, body["schema"], "the order"), [])
                status, _, text = self.asked(path, order)
                self.assertEqual(status, "200", text)
                self.assertEqual(
                    self.spec.faults(json.loads(text), self.spec.schema(path, "post")), []
                )
        status, _, text = self.asked("/api/config", {"text": "no-such: 1\n", "name": "f"})
        self.assertEqual(status, "422")
        refused = self.spec.schema("/api/config", "post", "422")
        self.assertEqual(self.spec.faults(json.loads(text), refused), [])

    def test_a_wrong_parameter_is_in_the_file(self):
        for path in ("/api/key", "/api/explain", "/api/stats", "/api/heatmap?step=7",
                     "/api/rules/dry-run"):  # fmt: skip
            self.assertEqual(self.asked(path)[0], "400")
            self.assertIn("400", self.spec.paths[path.split("?")[0]]["get"]["responses"])

    def test_events_of_the_stream(self):
        names = {"names": "StreamNames", "column": "StreamColumn", "state": "StreamState",
                 "gap": "StreamGap", "columns": "HeatMap"}  # fmt: skip
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.proxy.admin_port}/api/stream", headers={"Last-Event-ID": "1"}
        )
        seen, event = set(), ""
        with urllib.request.urlopen(request, timeout=PATIENCE_S * SLOW) as stream:
            while not {"names", "column", "state", "gap"} <= seen:
                name, _, value = stream.readline().decode().rstrip("\n").partition(": ")
                if name == "event":
                    event = value
                if name == "data":
                    seen.add(event)
                    schema = {"$ref": f"#/components/schemas/{names[event]}"}
                    self.assertEqual(self.spec.faults(json.loads(value), schema, event), [])

    def test_what_is_not_in_the_file_is_found(self):
        """The comparison can fail."""
        schema = self.spec.schema("/api/version")
        self.assertEqual(self.spec.faults({"version": "1"}, schema), [])
        for wrong in ({}, {"version": 1}, {"version": "1", "more": 2}, [], None):
            self.assertEqual(len(self.spec.faults(wrong, schema)), 1, wrong)


class OfACluster(unittest.TestCase):
    def test_slots(self):
        spec = Spec()
        with Cluster() as cluster:
            proxy = Proxy(f"redis+cluster://127.0.0.1:{cluster.nodes[0].port}")
            self.addCleanup(proxy.stop)
            with ValueClient(proxy.port) as client:
                for i in range(1000):
                    client("GET", f"k{i % 10}")
            slots = until(lambda: (told := proxy.api("slots"))["slots"] and told, what="slots")
            self.assertEqual(spec.faults(slots, spec.schema("/api/slots")), [])
            hotkeys = proxy.api("hotkeys")
            self.assertEqual(spec.faults(hotkeys, spec.schema("/api/hotkeys")), [])


if __name__ == "__main__":
    if yaml is None:
        print("skipped: no module yaml (python3-yaml)")
        sys.exit(SKIPPED)
    unittest.main()
