# SPDX-License-Identifier: Apache-2.0
"""A program of somebody else's gets the library in each way that there is, and runs."""

import os
import pathlib
import shutil
import tempfile
import unittest

from harness import LONG
from harness.commands import run

SOURCE = pathlib.Path(__file__).resolve().parents[2]
APPLICATION = SOURCE / "tests/install/application"
BUILD = os.environ["HEATSINK_BUILD"]
COMPILER = os.environ["CXX"]
FLAGS = os.environ["HEATSINK_FLAGS"]  # those of our build, so that ccache knows the objects


def folder(test):
    path = tempfile.mkdtemp(prefix="heatsink-install-")
    test.addClassCleanup(shutil.rmtree, path)
    return pathlib.Path(path)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        first = folder(cls) / "first"
        run("cmake", "--install", BUILD, "--prefix", first, "--component", "library")
        # Nothing may remember where it was put first.
        cls.prefix = folder(cls) / "moved"
        first.rename(cls.prefix)

    def built_by_cmake(self, *flags):
        build = folder(type(self))
        run("cmake", "-G", "Ninja", "-S", APPLICATION, "-B", build, *flags)
        run("cmake", "--build", build, "-j", "2")
        return build / "application"

    def expect_it_runs(self, program):
        self.assertEqual(run(program), "the value of product:1, 1 hot\n")

    def test_found_by_cmake(self):
        self.expect_it_runs(self.built_by_cmake(f"-DCMAKE_PREFIX_PATH={self.prefix}"))

    def flags_of(self, package):
        (descriptions,) = self.prefix.rglob("pkgconfig")
        environment = os.environ | {"PKG_CONFIG_PATH": str(descriptions)}
        return run("pkg-config", "--cflags", "--libs", package, env=environment).split()

    def test_found_by_pkg_config(self):
        program = folder(type(self)) / "application"
        run(COMPILER, APPLICATION / "main.cc", *self.flags_of("heatsink-client"), "-o", program)
        self.expect_it_runs(program)

    def test_a_c_program_finds_the_shared_library(self):
        program = folder(type(self)) / "application"
        flags = ["-std=c99", "-pedantic", "-Wall", "-Werror", *self.flags_of("heatsink")]
        run("cc", APPLICATION / "main.c", *flags, "-o", program)
        (library,) = self.prefix.rglob("libheatsink.so.1")
        output = run(program, env=os.environ | {"LD_LIBRARY_PATH": str(library.parent)})
        self.assertEqual(output, "the value of product:1\n")

    @unittest.skipUnless(LONG, "it compiles the library once more: the long form of the checks")
    def test_as_a_part_of_another_project(self):
        program = self.built_by_cmake(
            f"-DSOURCE={SOURCE}", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}"
        )
        self.expect_it_runs(program)
        theirs = {path.name for path in program.parent.rglob("heatsink*") if path.is_file()}
        self.assertNotIn("heatsink", theirs, "the program heatsink is not asked for")
        self.assertFalse(list(program.parent.rglob("*_test")))

    def test_the_headers_need_no_other_library_and_warn_of_nothing(self):
        parts = folder(type(self)) / "parts"
        run(
            *(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"),
            *("-I", self.prefix / "include", "-include", "heatsink/client.h"),
            *("-include", "heatsink/limits.h"),
            *("-include", "heatsink/spread.h"),
            *("-MD", "-MF", parts, "-fsyntax-only", "-x", "c++", "/dev/null"),
        )
        included = parts.read_text()
        self.assertIn("heatsink/client/local.h", included)
        self.assertIn("heatsink/distributed/rate_limiter.h", included)
        for foreign in ("fmt/", "yaml-cpp", "xxhash", str(SOURCE)):
            self.assertNotIn(foreign, included)


if __name__ == "__main__":
    unittest.main()
