# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus with the rules of deploy/prometheus, in a hurry, and what it answers."""

import json
import pathlib
import re
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import shipped
from harness import PATIENCE_S, until
from harness.processes import Process, free_port

SCRAPES = "200ms"
WINDOW = "10s"  # of rates, instead of minutes


def hurried(rules):
    """Rules that fire within seconds: the same expressions over shorter times."""
    rules = re.sub(r"^( *for: )[1-9]\d*[smh]$", r"\g<1>500ms", rules, flags=re.MULTILINE)
    rules = re.sub(r"\[\d+[smh]\]", f"[{WINDOW}]", rules)
    return re.sub(r"offset \d+[smh]", "offset 1s", rules)


class Scraper:
    """`targets`: [(instance, port of an admin API, its token or None)]; stop() ends it."""

    def __init__(self, targets):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-test-"))
        for path in (shipped.RECORDING, shipped.ALERTS):
            text = hurried(path.read_text("utf-8"))
            (self.folder / path.name).write_text(text, encoding="utf-8")
        config = self.folder / "prometheus.yml"
        # JSON is YAML, too.
        config.write_text(json.dumps(self._configuration(targets)), encoding="utf-8")
        self.port = free_port()
        self.process = Process(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"]
        )  # fmt: skip
        try:
            until(self._is_ready, PATIENCE_S, "a Prometheus that is ready")
        except AssertionError as error:
            self.stop()
            raise AssertionError(f"{error}: {self.process.output()}") from None

    def _configuration(self, targets):
        jobs = []
        for number, (instance, port, token) in enumerate(targets):
            job = {
                "job_name": f"heatsink-{number}",
                "static_configs": [
                    {"targets": [f"127.0.0.1:{port}"], "labels": {"instance": instance}}
                ],
            }
            if token is not None:
                path = self.folder / f"token-{number}"
                path.write_text(token, encoding="ascii")
                job["authorization"] = {"type": "Bearer", "credentials_file": str(path)}
            jobs.append(job)
        return {
            "global": {"scrape_interval": SCRAPES, "scrape_timeout": SCRAPES,
                       "evaluation_interval": SCRAPES},
            "rule_files": [shipped.RECORDING.name, shipped.ALERTS.name],
            "scrape_configs": jobs,
        }  # fmt: skip

    def _is_ready(self):
        if not self.process.alive():
            raise AssertionError("Prometheus does not start")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready"):
                return True
        except OSError:
            return False

    def _get(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from None

    def query(self, expression):
        """The samples of PromQL: [(labels, value)]. An error of the expression is a failure."""
        data = self._get("query", query=expression)
        return [(each["metric"], float(each["value"][1])) for each in data["result"]]

    def rules(self):
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def firing(self):
        """The alerts that fire now, each as Prometheus sends it."""
        return [alert for alert in self._get("alerts")["alerts"] if alert["state"] == "firing"]

    def stop(self):
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
