# SPDX-License-Identifier: Apache-2.0
"""promtool accepts what deploy/prometheus ships, and its unit tests of the rules pass."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import shipped

# Debian's Prometheus is built without kubernetes_sd_configs: files give it the same labels.
KUBERNETES = "    kubernetes_sd_configs:\n      - role: pod\n"
FILES = "    file_sd_configs:\n      - files: [pods.yml]\n"
PODS = """
- targets: ['10.0.0.1:6380', '10.0.0.1:6390']   # a proxy: one target for each port
  labels: &proxy
    __meta_kubernetes_namespace: shop
    __meta_kubernetes_pod_name: heatsink-1
    __meta_kubernetes_pod_container_name: heatsink
    __meta_kubernetes_pod_annotation_prometheus_io_scrape: 'true'
    __meta_kubernetes_pod_annotation_prometheus_io_port: '6390'
- targets: ['[fd00::2]', '10.0.0.2']   # ports that the pod does not declare
  labels: *proxy
- targets: ['10.0.0.3:8080']           # the application beside a side-car
  labels:
    __meta_kubernetes_pod_container_name: app
    __meta_kubernetes_pod_annotation_prometheus_io_scrape: 'true'
    __meta_kubernetes_pod_annotation_prometheus_io_port: '6390'
- targets: ['10.0.0.4:6390']           # a proxy without the annotation
  labels:
    __meta_kubernetes_pod_container_name: heatsink
"""


@unittest.skipIf(shutil.which("promtool") is None, "promtool is not installed (prometheus)")
class Promtool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "prometheus")
        shutil.copytree(shipped.PROMETHEUS, self.folder)
        (self.folder / "heatsink-token").write_text("secret\n", encoding="ascii")

    def promtool(self, *args):
        ran = subprocess.run(
            ["promtool", *map(str, args)], capture_output=True, text=True, check=False
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def test_the_rules_are_well_formed(self):
        for path in (shipped.RECORDING, shipped.ALERTS):
            self.promtool("check", "rules", "--lint-fatal", path)

    def test_alerts_fire_when_they_must_and_only_then(self):
        self.assertGreater(len(shipped.RULE_TESTS), 0)
        self.promtool("test", "rules", *shipped.RULE_TESTS)

    def test_the_configuration_is_well_formed(self):
        self.promtool("check", "config", "--lint-fatal", self.folder / "prometheus.yml")

    def test_only_proxies_of_kubernetes_are_scraped_each_once(self):
        config = self.folder / "prometheus-pods.yml"
        text = config.read_text("utf-8")
        self.assertIn(KUBERNETES, text)
        config.write_text(text.replace(KUBERNETES, FILES), encoding="utf-8")
        (self.folder / "pods.yml").write_text(PODS, encoding="utf-8")
        self.promtool("check", "config", "--lint-fatal", config)
        found = self.promtool(
            "check", "service-discovery", "--timeout=2s", config, "heatsink-pods"
        )
        self.assertEqual(sorted(kept(found)), [
            ("10.0.0.1:6390", "heatsink-1", "shop"),
            ("10.0.0.2:6390", "heatsink-1", "shop"),
            ("[fd00::2]:6390", "heatsink-1", "shop"),
        ])  # fmt: skip


def kept(found):
    """Of the targets that promtool prints: those that relabelling keeps, each once."""
    import json

    labels = [each["labels"] for each in json.loads(found) if each.get("labels")]
    return {(each["__address__"], each["pod"], each["namespace"]) for each in labels}


if __name__ == "__main__":
    unittest.main()
