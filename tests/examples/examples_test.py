# SPDX-License-Identifier: Apache-2.0
"""Each example is built as its README says, and does what it says."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import unittest

from harness.client import RawClient
from harness.cluster import Cluster
from harness.commands import run
from harness.patience import PATIENCE_S, until
from harness.processes import Process, Redis

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
PYTHON = os.environ["HEATSINK_VENV"] + "/bin/python"
TOLD = r"product:1 costs 100\n(\d+) of 1000 reads did not reach the server\n"


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-examples-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.server = Redis()
        cls.addClassCleanup(cls.server.stop)
        cls.prefix = cls.folder / "installed"
        build = os.environ["HEATSINK_BUILD"]
        run("cmake", "--install", build, "--prefix", cls.prefix, "--component", "library")

    def setUp(self):
        with RawClient(self.server.port) as client:
            client.ask("FLUSHALL")
            client.ask("SET", "product:1", "100")
            client.ask("HSET", "product:7", "name", "kettle", "price", "20")

    def expect_local_reads(self, output, then=""):
        told = re.fullmatch(TOLD + then, output)
        self.assertTrue(told, output)
        self.assertGreater(int(told[1]), 900)

    def test_cpp(self):
        build = self.folder / "cpp"
        find = f"-DCMAKE_PREFIX_PATH={self.prefix}"
        run("cmake", "-G", "Ninja", "-S", EXAMPLES / "cpp", "-B", build, find)
        run("cmake", "--build", build)
        self.expect_local_reads(run(build / "catalogue", "127.0.0.1", self.server.port))

    def flags(self, *which):
        """What pkg-config says of the installed library."""
        return run("pkg-config", *which, "heatsink", env=os.environ | self.where()).split()

    def where(self):
        (descriptions,) = self.prefix.rglob("pkgconfig")
        return {"PKG_CONFIG_PATH": str(descriptions)}

    def run_catalogue(self, program):
        """A program that loads libheatsink.so."""
        (library,) = self.prefix.rglob("libheatsink.so.1")
        arguments = ("127.0.0.1", self.server.port)
        found_there = os.environ | {"LD_LIBRARY_PATH": str(library.parent)}
        self.expect_local_reads(run(program, *arguments, env=found_there))

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"there is no program '{program}'")

    def test_c(self):
        program = self.folder / "catalogue-c"
        strict = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
        flags = self.flags("--cflags", "--libs")
        run("cc", *strict, EXAMPLES / "c/main.c", *flags, "-o", program)
        self.run_catalogue(program)

    def test_rust(self):
        self.need("rustc")
        program = self.folder / "catalogue-rust"
        strict = ("--edition", "2021", "-O", "-D", "warnings")
        run("rustc", *strict, EXAMPLES / "rust/main.rs", "-o", program, *self.flags("--libs"))
        self.run_catalogue(program)

    def test_go(self):
        self.need("go", "cc")
        program = self.folder / "catalogue-go"
        offline = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(self.folder / "go")}
        build = ("env", "-C", EXAMPLES / "go", "go", "build", "-o", program, ".")
        run(*build, env=os.environ | offline | self.where())
        self.run_catalogue(program)

    def test_python_redis(self):
        url = f"redis://127.0.0.1:{self.server.port}"
        output = run(PYTHON, EXAMPLES / "python_redis/catalogue.py", url)
        self.expect_local_reads(output, "product:1 costs 110\n")

    def test_python_limits(self):
        url = f"redis://127.0.0.1:{self.server.port}"
        output = run(PYTHON, EXAMPLES / "python_limits/logins.py", url)
        expected = (
            r"5 of 10 logins are allowed\nnext one in \d+ s\n"
            r"10 decisions, the slowest took \d+ us\n"
        )
        self.assertRegex(output, f"\\A{expected}\\Z")

    def test_python_spread(self):
        with Cluster(3) as cluster:
            for port, how in ((self.server.port, ()), (cluster.masters[0].port, ("--cluster",))):
                url = f"redis://127.0.0.1:{port}"
                output = run(PYTHON, EXAMPLES / "python_spread/views.py", url, *how)
                prices = "product:1 costs 100\nproduct:1 costs 110\n"
                self.assertEqual(output, prices + "1000 views more\n")

    def test_python_service(self):
        eager = {"HOT_QPS": "10", "WARM_QPS": "5", "WINDOW": "1s", "TICK": "10ms"}
        environment = {f"HEATSINK_DETECTION_{name}": value for name, value in eager.items()}
        environment["REDIS_URL"] = f"redis://127.0.0.1:{self.server.port}"
        command = [f"{name}={value}" for name, value in environment.items()]
        service = Process(
            ["env", *command, PYTHON, "-m", "uvicorn", "service:app"]
            + ["--app-dir", str(EXAMPLES / "python_service"), "--port", "0"]
        )
        self.addCleanup(service.kill)
        running = r"running on http://127\.0\.0\.1:(\d+)"
        ready = until(
            lambda: re.search(running, service.output()), PATIENCE_S, "the service is ready"
        )
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(ready[1]))) as one:
            self.play(one)
        self.assertEqual(service.end(signal.SIGTERM), 0, service.output())
        self.assertNotIn("Traceback", service.output())

    def play(self, service):
        def ask(method, path, body=None):
            service.request(method, path, body and json.dumps(body))
            answer = service.getresponse()
            return answer.status, json.loads(answer.read())

        kettle = {"name": "kettle", "price": "20"}
        self.assertEqual(ask("GET", "/products/7"), (200, kettle))
        self.assertEqual(ask("GET", "/products/8")[0], 404)
        until(
            lambda: ask("GET", "/products/7") and ask("GET", "/hot")[1]["hit_ratio"] > 0.1,
            PATIENCE_S,
            "the product was served locally",
        )
        self.assertEqual(ask("GET", "/hot")[1]["keys"], ["product:7"])
        for price in ("30", "40"):
            self.assertEqual(ask("PUT", "/products/7", {"price": price})[0], 200)
            self.assertEqual(ask("GET", "/products/7"), (200, kettle | {"price": price}))
        self.assertEqual(ask("PUT", "/products/8", {"price": "1"})[0], 200)
        self.assertEqual(ask("GET", "/products/8"), (200, {"price": "1"}))


if __name__ == "__main__":
    unittest.main()
