# SPDX-License-Identifier: Apache-2.0
"""The Containerfile: what its image starts is started here, without a container engine.

That its last stage installs the package in a clean Debian: tests/packages/root_test.py.
"""

import json
import subprocess
import unittest

from deploy.containerfile import last_stage
from harness.patience import PATIENCE_S, until
from harness.processes import Process, free_port
from harness.programs import HEATSINK, need_programs

PROGRAM = "/usr/bin/heatsink"


class Container(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.stage = last_stage()

    def test_nothing_of_the_build_is_in_it(self):
        self.assertTrue(self.stage["FROM"][0].endswith("debian:bookworm-slim"))
        self.assertEqual(
            self.stage["COPY"], ["--from=build /source/build/packages/heatsink_*.deb /tmp/"]
        )

    def test_it_is_not_root(self):
        (user,) = self.stage["USER"]
        number, group = user.split(":")
        self.assertGreater(int(number), 1000, "a number, which Kubernetes can check")
        self.assertGreater(int(group), 1000)

    def test_what_it_starts_is_healthy(self):
        entry = json.loads(self.stage["ENTRYPOINT"][0])
        command = json.loads(self.stage["CMD"][0])
        self.assertEqual(entry, [PROGRAM])
        self.assertIn("/etc/heatsink/heatsink.yaml", command)
        command[command.index("/etc/heatsink/heatsink.yaml")] = "/dev/null"
        admin = f"127.0.0.1:{free_port()}"
        command[command.index("0.0.0.0:6380")] = "127.0.0.1:0"
        process = Process(
            [HEATSINK, *command, "--admin", admin, "--upstream", "redis://127.0.0.1:1"]
        )
        self.addCleanup(process.kill)
        until(lambda: "is ready" in process.output(), PATIENCE_S, "the proxy is ready")
        health = json.loads(self.stage["HEALTHCHECK"][0].partition("CMD ")[2])
        self.assertEqual(health[0], PROGRAM)
        subprocess.run([HEATSINK, *health[1:], "--admin", admin], check=True)


if __name__ == "__main__":
    unittest.main()
