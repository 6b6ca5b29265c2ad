# SPDX-License-Identifier: Apache-2.0
"""A clean Debian installs the packages, upgrades, removes and purges them.

The clean Debian is a folder with what mmdebstrap calls minbase, and what the packages say they
depend on, nothing else. It is made once (some minutes, from Debian's mirror) and kept beside the
packages as a tar file, until the packages depend on something else.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from deploy.containerfile import last_stage
from harness.commands import run
from harness.patience import PATIENCE_S, until
from harness.processes import Process, free_port
from packages import FOLDER, NAMES, ROOT, field, package, project_version, wheel

SUITE = "bookworm"
APPLICATION = ROOT / "tests/install/application"
CACHE = FOLDER.parent / "packages-root"
MINIMAL = "minimal.tar"  # without what the packages depend on
OLD = "0.0.9"
ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}
# Of files that only dpkg, apt and the like write, and of users, which stay.
NOT_OURS = re.compile(
    r"^(proc|dev|sys|tmp|run|debs|root|var/(lib/(dpkg|apt|systemd/deb-systemd-helper-\w+$)|cache|"
    r"log/(apt|dpkg|alternatives|bootstrap))|etc/(passwd|group|g?shadow|subuid|subgid|"
    r"ld\.so\.cache|\.pwd\.lock))"
)


def dependencies():
    """What must be there before, as apt-get satisfy reads it."""
    fields = [field(package(name), "Depends") for name in NAMES]
    fields += [field(package(name), "Pre-Depends") for name in NAMES]
    words = sorted({word.strip() for text in fields for word in text.split(",") if word.strip()})
    return [word for word in words if "heatsink" not in word] + ["python3-venv"]


def make_clean_root(tar):
    """Raises SkipTest if there is no mirror."""
    with tempfile.TemporaryDirectory(prefix="heatsink-root-", dir=CACHE) as name:
        folder = pathlib.Path(name, "root")
        command = ["mmdebstrap", "--mode=root", "--variant=minbase", SUITE, folder]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise unittest.SkipTest(f"mmdebstrap cannot make a clean root: {made.stderr[-500:]}")
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        run("tar", "-C", folder, "-cf", CACHE / MINIMAL, ".")
        in_root(folder, "apt-get", "update")
        in_root(folder, "apt-get", "-y", "--no-install-recommends", "satisfy", *dependencies())
        in_root(folder, "apt-get", "clean")
        unfinished = tar.with_suffix(".part")
        run("tar", "-C", folder, "-cf", unfinished, ".")
        for old in CACHE.glob(f"{SUITE}-*.tar"):
            old.unlink()
        unfinished.rename(tar)


def in_root(folder, *command, **more):
    """The output of a command in the folder, with a /proc of its own."""
    return run(*inside(folder), *command, env={"PATH": os.environ["PATH"]} | ENVIRONMENT, **more)


def inside(folder):
    script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    return ("unshare", "--mount", "sh", "-c", script, folder)


def older(path, folder):
    """The package as one of version OLD, with another sample of the configuration."""
    run("dpkg-deb", "-R", path, folder)
    control = folder / "DEBIAN/control"
    text = control.read_text("utf-8").replace(project_version(), OLD)
    control.write_text(text, encoding="utf-8")
    sample = folder / "etc/heatsink/heatsink.yaml"
    if sample.exists():
        sample.write_text("# an old sample\n" + sample.read_text("utf-8"), encoding="utf-8")
    out = folder.parent / f"old-{path.name}"
    run("dpkg-deb", "--root-owner-group", "-b", folder, out)
    return out


def with_dependencies():
    """The tar file of a clean root in which the packages can be installed."""
    key = hashlib.sha256("\n".join(dependencies()).encode()).hexdigest()[:16]
    tar = CACHE / f"{SUITE}-{key}.tar"
    if not (tar.exists() and (CACHE / MINIMAL).exists()):
        make_clean_root(tar)
    return tar


def setUpModule():
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root can enter a root of its own")
    for program in ("mmdebstrap", "unshare", "chroot", "dpkg-deb"):
        if shutil.which(program) is None:
            raise unittest.SkipTest(f"there is no program '{program}'")
    CACHE.mkdir(exist_ok=True)
    with_dependencies()


def unpacked_root(test, tar):
    root = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-root-"))
    test.addCleanup(shutil.rmtree, root, ignore_errors=True)
    run("tar", "-C", root, "-xf", tar)
    root.chmod(0o755)
    return root


class Containers(unittest.TestCase):
    """The steps of the image's stage, in a clean root instead of a container engine."""

    def setUp(self):
        self.root = unpacked_root(self, CACHE / MINIMAL)

    def here(self, *command):
        return in_root(self.root, *command)

    def test_the_image(self):
        stage = last_stage()
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        shutil.copy(package("heatsink"), self.root / "tmp")
        self.assertEqual(len(stage["RUN"]), 1)
        self.here("sh", "-ec", stage["RUN"][0])
        self.assertFalse((self.root / "usr/bin/systemctl").exists(), "systemd itself is not wanted")
        self.assertEqual(list((self.root / "tmp").iterdir()), [])
        number, group = stage["USER"][0].split(":")
        user = ["setpriv", f"--reuid={number}", f"--regid={group}", "--clear-groups"]
        admin = f"127.0.0.1:{free_port()}"
        command = json.loads(stage["ENTRYPOINT"][0]) + json.loads(stage["CMD"][0])
        command[command.index("0.0.0.0:6380")] = "127.0.0.1:0"
        flags = ["--upstream", "redis://127.0.0.1:1", "--admin", admin]
        process = Process([*inside(self.root), *user, *command, *flags], environment=ENVIRONMENT)
        self.addCleanup(process.kill)
        until(lambda: "is ready" in process.output(), PATIENCE_S, "the proxy is ready")
        health = json.loads(stage["HEALTHCHECK"][0].partition("CMD ")[2])
        self.assertEqual(self.here(*user, *health, "--admin", admin), "ok\n")


class Packages(unittest.TestCase):
    def setUp(self):
        self.root = unpacked_root(self, with_dependencies())
        (self.root / "debs").mkdir()

    def here(self, *command, **more):
        return in_root(self.root, *command, **more)

    def files(self):
        paths = (str(path.relative_to(self.root)) for path in self.root.rglob("*"))
        return {path for path in paths if not NOT_OURS.match(path) and "__pycache__" not in path}

    def install(self, *paths):
        for path in paths:
            shutil.copy(path, self.root / "debs")
        names = [f"/debs/{path.name}" for path in paths]
        self.here("dpkg", "--force-confdef", "--force-confold", "-i", *names)

    def version_in_root(self, name):
        return self.here("dpkg-query", "-W", "-f", "${Version}", name)

    def test_from_the_first_install_to_the_purge(self):
        before = self.files()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.install(*(older(package(each), folder / each) for each in NAMES))
        self.assertEqual(self.version_in_root("heatsink"), f"{OLD}-1")
        with self.subTest("nothing starts by itself"):
            self.expect_not_enabled()
        conffile = self.root / "etc/heatsink/heatsink.yaml"
        changed = conffile.read_text("utf-8") + "cache:\n  enabled: no\n"
        conffile.write_text(changed, encoding="utf-8")

        self.install(*map(package, NAMES))
        self.assertEqual(self.version_in_root("heatsink"), field(package("heatsink"), "Version"))
        self.assertEqual(conffile.read_text("utf-8"), changed, "local changes survive an upgrade")
        self.assertTrue(conffile.with_suffix(".yaml.dpkg-dist").exists(), "the new sample is there")
        with self.subTest("what is installed runs"):
            self.expect_libraries()
            self.expect_service()
            self.expect_python()
            self.expect_c_and_cpp()

        self.here("dpkg", "-r", *NAMES)
        self.assertFalse((self.root / "usr/bin/heatsink").exists())
        self.assertEqual(conffile.read_text("utf-8"), changed, "a removal keeps the configuration")
        (self.root / "var/log/heatsink").mkdir()
        self.here("dpkg", "-P", *NAMES)
        self.assertEqual(self.files() - before, set(), "a purge leaves nothing but the user")
        self.assertEqual(before - self.files(), set())
        self.assertRegex((self.root / "etc/passwd").read_text("utf-8"), "(?m)^heatsink:")
        with self.subTest("the wheel needs none of it"):
            self.expect_wheel()

    def expect_not_enabled(self):
        wants = self.root / "etc/systemd/system/multi-user.target.wants/heatsink.service"
        self.assertFalse(wants.is_symlink())
        user = re.search("(?m)^heatsink:.*", (self.root / "etc/passwd").read_text("utf-8"))[0]
        self.assertTrue(user.endswith("/usr/sbin/nologin"), user)

    def expect_libraries(self):
        (library,) = self.root.glob("usr/lib/*/libheatsink.so.1")
        (module,) = self.root.glob("usr/lib/python3/dist-packages/heatsink/_native*.so")
        for path in (self.root / "usr/bin/heatsink", library, module):
            output = self.here("ldd", "/" + str(path.relative_to(self.root)))
            self.assertNotIn("not found", output)
        self.assertEqual(self.here("heatsink", "--version"), f"heatsink {project_version()}\n")
        self.assertEqual(self.here("heatsink", "config", "check", "/etc/heatsink/heatsink.yaml"),
                         "ok\n")

    def expect_service(self):
        """The command of the unit, as the unit's user, on ports that are free here."""
        (unit,) = self.root.glob("lib/systemd/system/heatsink.service")
        command = re.search("(?m)^ExecStart=(.*)", unit.read_text("utf-8"))[1].split()
        admin = f"127.0.0.1:{free_port()}"
        flags = ["--listen", "127.0.0.1:0", "--upstream", "redis://127.0.0.1:1", "--admin", admin]
        user = ["setpriv", "--reuid=heatsink", "--regid=heatsink", "--clear-groups"]
        process = Process([*inside(self.root), *user, *command, *flags], environment=ENVIRONMENT)
        self.addCleanup(process.kill)
        until(lambda: "is ready" in process.output(), PATIENCE_S, process.output)
        self.assertEqual(self.here("heatsink", "health", "--live", "--admin", admin), "ok\n")
        self.assertEqual(process.end(15), 0, process.output())

    def expect_python(self):
        code = "import heatsink; print(heatsink.__version__)"
        self.assertEqual(self.here("python3", "-c", code), f"{project_version()}\n")

    def expect_c_and_cpp(self):
        """Compiled by this machine's compiler, from nothing but the files in the root."""
        environment = os.environ | {
            "PKG_CONFIG_LIBDIR": str(next(self.root.glob("usr/lib/*/pkgconfig"))),
        }
        c = ("cc", "-std=c99", "-Wall", "-Werror", APPLICATION / "main.c")
        cpp = ("c++", "-O0", APPLICATION / "main.cc")
        for command, name in ((c, "heatsink"), (cpp, "heatsink-client")):
            flags = run("pkg-config", "--cflags", "--libs", name, env=environment).split()
            self.assertIn(str(self.root), " ".join(flags))
            run(*command, *flags, "-o", self.root / "debs/application")
            self.assertIn("the value of product:1", self.here("/debs/application"))

    def expect_wheel(self):
        for compiler in ("cc", "gcc", "g++", "clang"):
            self.assertFalse((self.root / "usr/bin" / compiler).exists())
        shutil.copy(wheel(), self.root / "debs")
        self.here("python3", "-m", "venv", "/debs/venv")
        flags = ("--no-index", "--disable-pip-version-check", "--quiet")
        self.here("/debs/venv/bin/pip", "install", *flags, f"/debs/{wheel().name}")
        code = (
            "import heatsink\n"
            "with heatsink.Client(refresh_enabled=False) as client:\n"
            "    print(heatsink.__version__, client.get('a', lambda key: 'loaded'))"
        )
        output = self.here("/debs/venv/bin/python", "-c", code)
        self.assertEqual(output, f"{project_version()} loaded\n")


if __name__ == "__main__":
    unittest.main()
