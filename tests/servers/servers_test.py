# SPDX-License-Identifier: Apache-2.0
"""The tests of the proxy, with newer servers behind it: those of unpack.py.

unpack.py brings them here; where it cannot, the test says why and is skipped. Per server: the
differential test, shorter, whose table must know each of its commands; and the integration tests
that are about reads, copies, transactions, WAIT and clusters. Only the long form of the checks runs
them.
"""

import os
import pathlib
import subprocess
import sys
import unittest

import unpack

TESTS = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(os.environ.get("HEATSINK_SERVERS", TESTS.parent / "build" / "servers"))
ALL = (
    "differential/differential_test.py",
    "differential/fields_test.py",
    "integration/doctor_test.py",
    "integration/hash_fields_test.py",
    "integration/local_reads_test.py",
    "integration/own_commands_test.py",
    "integration/session_test.py",
    "integration/side_effects_test.py",
    "integration/wait_test.py",
    "integration/cluster_test.py",
    "integration/cluster_databases_test.py",
    "integration/cluster_moves_test.py",
    "integration/cluster_nodes_test.py",
    "integration/cluster_slots_test.py",
    "integration/cluster_spread_test.py",
    "integration/cluster_users_test.py",
    "faults/coherence_test.py",
    "faults/cluster_rows_test.py",
)
PATIENCE_S = 1500


class Servers(unittest.TestCase):
    """One test per server; it shows the whole output of a file that failed."""

    def check(self, name):
        print(f"{name}: unpacking", file=sys.stderr, flush=True)
        try:
            server = unpack.unpacked(name, FOLDER)
        except unpack.Unavailable as why:
            print(f"{name} cannot be had here: {why}", file=sys.stderr)
            self.skipTest(str(why))
        environment = dict(os.environ, HEATSINK_TEST_SERVER=str(server))
        environment.setdefault("HEATSINK_DIFFERENTIAL_STEPS", "800")
        for path in ALL:
            with self.subTest(server=name, test=path):
                print(f"{name}: {path}", file=sys.stderr, flush=True)
                done = subprocess.run(
                    [sys.executable, "-B", str(TESTS / path)],
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE_S,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


    def check_model(self, name):
        """The model server of the simulation gives this server's bytes."""
        program = os.environ.get("HEATSINK_MODEL_TEST")
        if program is None:
            return
        done = subprocess.run(
            [program, "--gtest_brief=1"], env=dict(os.environ, HEATSINK_TEST_SERVER=str(
                unpack.unpacked(name, FOLDER))), capture_output=True, text=True,
            timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        with self.subTest(server=name, test="model_differential_test"):
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


for each in unpack.SERVERS:

    def checks(self, name=each):
        self.check(name)
        self.check_model(name)

    setattr(Servers, "test_" + each.replace("-", "_").replace(".", "_"), checks)


if __name__ == "__main__":
    unittest.main()
