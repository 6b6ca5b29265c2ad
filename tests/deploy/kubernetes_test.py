# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes examples are complete and hardened, and their commands work: no cluster."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from harness.patience import PATIENCE_S, until
from harness.processes import Process, free_port
from harness.programs import HEATSINK, need_programs

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/kubernetes"
PROGRAM = "/usr/bin/heatsink"
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
TEXT_TO_JSON = (
    "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)"
)


def documents_of(path):
    """By Debian's Python, because it has Debian's yaml."""
    for python in ("/usr/bin/python3", "python3"):
        command = [python, "-c", TEXT_TO_JSON, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return json.loads(done.stdout)
    if "No module named 'yaml'" in done.stderr:
        raise unittest.SkipTest("python3-yaml is not installed")
    raise AssertionError(done.stderr)


class Kubernetes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.examples = {path.stem: documents_of(path) for path in sorted(FOLDER.glob("*.yaml"))}

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-kubernetes-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def each(self):
        self.assertEqual(set(self.examples), {"daemonset", "fleet", "sidecar"})
        for name, documents in self.examples.items():
            kinds = {document["kind"]: document for document in documents}
            (workload,) = (kinds[kind] for kind in ("Deployment", "DaemonSet") if kind in kinds)
            pod = workload["spec"]["template"]["spec"]
            containers = [*pod.get("initContainers", []), *pod["containers"]]
            (proxy,) = (each for each in containers if each["name"] == "heatsink")
            with self.subTest(example=name):
                yield documents, kinds, workload, pod, proxy

    def test_documents_are_complete(self):
        for documents, kinds, workload, pod, _ in self.each():
            for document in documents:
                for member in ("apiVersion", "kind", "metadata"):
                    self.assertTrue(document[member])
                self.assertRegex(document["metadata"]["name"], "^[a-z][a-z0-9-]+$")
            labels = workload["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(workload["spec"]["selector"]["matchLabels"], labels)
            if "Service" in kinds:
                self.assertEqual(kinds["Service"]["spec"]["selector"], labels)
            maps = [each["configMap"]["name"] for each in pod["volumes"] if "configMap" in each]
            self.assertEqual(maps, [kinds["ConfigMap"]["metadata"]["name"]])

    def test_mounts_have_volumes_and_ports_have_names(self):
        for _, kinds, _, pod, proxy in self.each():
            volumes = {volume["name"] for volume in pod["volumes"]}
            self.assertEqual({mount["name"] for mount in proxy["volumeMounts"]}, volumes)
            if "Service" in kinds:
                ports = {port["name"] for port in proxy["ports"]}
                targets = {port["targetPort"] for port in kinds["Service"]["spec"]["ports"]}
                self.assertEqual(targets, ports)

    def test_the_proxy_may_do_nothing_else(self):
        for _, _, _, pod, proxy in self.each():
            context = pod.get("securityContext", {}) | proxy["securityContext"]
            self.assertGreater(context.pop("runAsUser"), 1000)
            self.assertGreater(context.pop("runAsGroup"), 1000)
            self.assertEqual(
                context,
                {
                    "runAsNonRoot": True,
                    "seccompProfile": {"type": "RuntimeDefault"},
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            )
            self.assertIn("memory", proxy["resources"]["limits"])
            self.assertLessEqual({"cpu", "memory"}, set(proxy["resources"]["requests"]))

    def test_the_application_keeps_its_own_user(self):
        for _, _, _, pod, proxy in self.each():
            others = [each for each in pod["containers"] if each is not proxy]
            if others:
                self.assertNotIn("securityContext", pod, "it would hold for all containers")

    def test_there_is_time_to_drain(self):
        for _, _, _, pod, proxy in self.each():
            hook = proxy.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
            waits_s = int(hook[-1]) if hook else 0
            self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], 30 + waits_s)
            if proxy in pod.get("initContainers", []):
                self.assertEqual(proxy["restartPolicy"], "Always", "a side-car ends last")

    def test_what_they_start_works_and_lives_without_a_server(self):
        for _, kinds, _, _, proxy in self.each():
            config = self.folder / "heatsink.yaml"
            config.write_text(kinds["ConfigMap"]["data"]["heatsink.yaml"], encoding="utf-8")
            checked = subprocess.run(
                [HEATSINK, "config", "check", config], capture_output=True, text=True, check=False
            )
            self.assertEqual(checked.stdout, "ok\n", checked.stderr)

            words = ["/etc/heatsink/heatsink.yaml"]
            self.assertEqual(proxy["args"][-1:], words)
            admin = f"127.0.0.1:{free_port()}"
            here = ["--listen", "127.0.0.1:0", "--upstream", "redis://127.0.0.1:1"]
            process = Process(
                [HEATSINK, *proxy["args"][:-1], str(config), *here, "--admin", admin]
            )
            self.addCleanup(process.kill)
            until(lambda p=process: "is ready" in p.output(), PATIENCE_S, "the proxy is ready")
            for probe in PROBES:
                program, *flags = proxy[probe]["exec"]["command"]
                self.assertEqual(program, PROGRAM)
                asked = subprocess.run(
                    [HEATSINK, *flags, "--admin", admin], capture_output=True, check=False
                )
                self.assertEqual(asked.returncode, 0, f"{probe}: {asked.stderr}")
            without_live = [HEATSINK, "health", "--admin", admin]
            self.assertEqual(
                subprocess.run(without_live, capture_output=True, check=False).returncode,
                1,
                "/healthz would have failed",
            )
            process.kill()
            self.assertEqual(
                subprocess.run([*without_live, "--live"], capture_output=True, check=False)
                .returncode,
                1,
                "a proxy that is gone is not alive",
            )


if __name__ == "__main__":
    unittest.main()
