# SPDX-License-Identifier: Apache-2.0
"""What is in the packages, without installing them."""

import fnmatch
import pathlib
import re
import shutil
import tempfile
import unittest

from harness.commands import run
from packages import FOLDER, NAMES, field, package, wheel

CONTENTS = {
    "heatsink": (
        "usr/bin/heatsink",
        "lib/systemd/system/heatsink.service",
        "usr/lib/sysusers.d/heatsink.conf",
        "etc/heatsink/heatsink.yaml",
        "etc/logrotate.d/heatsink",
        "usr/share/man/man1/heatsink-proxy.1.gz",
        "usr/share/man/man5/heatsink.yaml.5.gz",
        "usr/share/man/man7/heatsink-metrics.7.gz",
        "usr/share/bash-completion/completions/heatsink",
        "usr/share/zsh/vendor-completions/_heatsink",
        "usr/share/fish/vendor_completions.d/heatsink.fish",
        "usr/share/doc/heatsink/examples/all-options.yaml",
        "usr/share/doc/heatsink/changelog.gz",
    ),
    "libheatsink1": ("usr/lib/*/libheatsink.so.1", "usr/lib/*/libheatsink.so.1.*"),
    "libheatsink-dev": (
        "usr/include/heatsink.h",
        "usr/include/heatsink/client.h",
        "usr/lib/*/libheatsink.so",
        "usr/lib/*/libheatsink-client.a",
        "usr/lib/*/cmake/heatsink/heatsinkConfig.cmake",
        "usr/lib/*/pkgconfig/heatsink.pc",
        "usr/lib/*/pkgconfig/heatsink-client.pc",
    ),
    "python3-heatsink": (
        "usr/lib/python3/dist-packages/heatsink/__init__.py",
        "usr/lib/python3/dist-packages/heatsink/_native.abi3.so",
        "usr/lib/python3/dist-packages/heatsink/py.typed",
    ),
}
# Of an upload to Debian: it would close the wish for the package.
NOT_FOR_DEBIAN = "initial-upload-closes-no-bugs"
# Lower is better; above 2 systemd itself says "MEDIUM".
EXPOSURE_MAX = 1.5  # install.md has the figure: tests/deploy/service_test.py


class Contents(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-packages-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def unpacked(self, name):
        folder = self.folder / name
        run("dpkg-deb", "-x", package(name), folder)
        return folder

    def test_each_has_its_files(self):
        self.assertEqual(set(NAMES), set(CONTENTS))
        for name, patterns in CONTENTS.items():
            folder = self.unpacked(name)
            files = [str(path.relative_to(folder)) for path in folder.rglob("*")]
            for pattern in (*patterns, f"usr/share/doc/{name}/copyright"):
                self.assertTrue(fnmatch.filter(files, pattern), f"{name} has no {pattern}")

    def test_what_they_depend_on_is_found_by_what_they_link(self):
        for name in ("heatsink", "libheatsink1", "python3-heatsink"):
            self.assertRegex(field(package(name), "Depends"), r"\blibc6 \(>= ")
        self.assertIn("libheatsink1 (>= 0.1.0)", field(package("python3-heatsink"), "Depends"))
        same = f"libheatsink1 (= {field(package('libheatsink1'), 'Version')})"
        self.assertIn(same, field(package("libheatsink-dev"), "Depends"))

    def test_the_configuration_is_kept_by_upgrades(self):
        run("dpkg-deb", "-e", package("heatsink"), self.folder / "control")
        conffiles = (self.folder / "control/conffiles").read_text("utf-8")
        self.assertEqual(conffiles, "/etc/heatsink/heatsink.yaml\n/etc/logrotate.d/heatsink\n")

    def test_the_samples_are_accepted(self):
        folder = self.unpacked("heatsink")
        heatsink = folder / "usr/bin/heatsink"
        sample = folder / "etc/heatsink/heatsink.yaml"
        self.assertEqual(run(heatsink, "config", "check", sample), "ok\n")
        # As an administrator uses it: each line without its first #.
        used = self.folder / "used.yaml"
        text = sample.read_text("utf-8")
        used.write_text(re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE), encoding="utf-8")
        self.assertIn("\nproxy:\n", used.read_text("utf-8"))
        self.assertEqual(run(heatsink, "config", "check", used), "ok\n")
        every = folder / "usr/share/doc/heatsink/examples/all-options.yaml"
        self.assertEqual(run(heatsink, "config", "check", every), "ok\n")

    def test_the_programs_are_hardened_and_stripped_and_name_no_folder_of_the_build(self):
        programs = [
            self.unpacked("heatsink") / "usr/bin/heatsink",
            *self.unpacked("libheatsink1").rglob("libheatsink.so.1.*"),
        ]
        self.assertEqual(len(programs), 2)
        for program in programs:
            with self.subTest(program=program.name):
                self.assertIn("BIND_NOW", run("readelf", "-d", program))
                self.assertIn("GNU_RELRO", run("readelf", "-lW", program))
                self.assertIn("DYN (", run("readelf", "-hW", program), "independent of its place")
                self.assertRegex(run("readelf", "-sW", "--dyn-syms", program), "__stack_chk_fail")
                self.assertNotIn(".debug_info", run("readelf", "-SW", program))
                self.assertNotIn(str(FOLDER.parents[1]).encode(), program.read_bytes())

    @unittest.skipIf(shutil.which("lintian") is None, "there is no program 'lintian'")
    def test_lintian_finds_nothing(self):
        (changes,) = FOLDER.glob("*.changes")
        flags = ("--allow-root", "--fail-on", "error,warning", "--suppress-tags", NOT_FOR_DEBIAN)
        output = run("lintian", *flags, changes)
        self.assertNotRegex(output, "(?m)^[EW]:")

    def test_the_service_is_locked_in(self):
        unit = self.unpacked("heatsink") / "lib/systemd/system/heatsink.service"
        text = unit.read_text("utf-8")
        for line in ("Type=notify", "User=heatsink", "CapabilityBoundingSet=", "WatchdogSec=30"):
            self.assertIn(f"\n{line}\n", text)
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no program 'systemd-analyze'")
        output = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
        exposure = re.search(r"exposure level for heatsink\.service: ([\d.]+)", output)
        self.assertLessEqual(float(exposure[1]), EXPOSURE_MAX, output)

    def test_the_wheel_has_its_libraries_beside_it(self):
        run("python3", "-m", "zipfile", "-e", wheel(), self.folder / "wheel")
        here = self.folder / "wheel/heatsink"
        output = run("ldd", here / "_native.abi3.so")
        self.assertNotIn("not found", output)
        beside = {path.name for path in (here / "lib").iterdir()}
        self.assertIn("libheatsink.so.1", beside)
        for library in re.findall(r"=> (\S+/(?:libheatsink|libfmt|libyaml-cpp)\S*)", output):
            self.assertIn(pathlib.Path(library).name, beside)
            self.assertTrue(library.startswith(str(here)), f"{library} is the system's")


if __name__ == "__main__":
    unittest.main()
