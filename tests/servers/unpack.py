#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Downloads servers newer than those of Debian 12 into a folder. The system does not change.

    tests/servers/unpack.py [--folder build/servers] [NAME...]     prints NAME and its program

apt downloads the packages from this machine's Debian mirror and checks Debian's signature, with
package lists and a cache in that folder. Each server comes with the libraries of its suite, and
that suite's loader starts it. The script does not download again what is there already. If nothing
can be downloaded, it says so and exits with 77.
"""

import argparse
import os
import pathlib
import subprocess
import sys

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# The program, the package that has it, and the suite of Debian. The libraries of a package from
# experimental are those of sid.
SERVERS = {
    "redis-8": ("redis-server", "redis-server", "trixie"),
    "redis-8.6": ("redis-server", "redis-server", "experimental"),
    "valkey-8": ("valkey-server", "valkey-server", "trixie"),
    "valkey-9": ("valkey-server", "valkey-server", "sid"),
}
PATIENCE_S = 240
SKIPPED = 77


class Unavailable(Exception):
    """A sentence: why there is no such server here."""


def run(command, cwd=None):
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(str(error)) from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Unavailable(f"{command[0]}: {said[-1] if said else 'failed'}")
    return done.stdout


def mirror():
    """Where this machine's own Debian packages come from."""
    form = "$(REPO_URI) $(ORIGIN)"
    targets = run(["apt-get", "indextargets", "--format", form, "Created-By: Packages"])
    for line in targets.splitlines():
        uri, _, origin = line.partition(" ")
        if origin == "Debian" and "security" not in uri:
            return uri
    raise Unavailable("apt knows no Debian mirror here (has apt-get update been run?)")


class Apt:
    """apt with lists and a cache of one suite in a folder of ours. It installs nothing."""

    def __init__(self, suite, folder):
        self.folder = folder.resolve() / "apt" / suite
        for name in ("lists/partial", "cache/archives/partial", "packages"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        sources = self.folder / "sources.list"
        suites = (suite, "sid") if suite == "experimental" else (suite,)
        lines = [f"deb [signed-by={KEYS}] {mirror()} {each} main\n" for each in suites]
        sources.write_text("".join(lines), encoding="utf-8")
        none = os.devnull
        self.options = [
            f"-oDir::Etc::SourceList={sources}", f"-oDir::Etc::SourceParts={none}",
            f"-oDir::State={self.folder}", f"-oDir::Cache={self.folder}/cache",
            f"-oDir::State::status={none}", "-oAcquire::Languages=none", "-oAcquire::Retries=2",
            "-oAPT::Sandbox::User=root", f"-oAPT::Default-Release={suite}",
        ]  # fmt: skip
        run(["apt-get", "update", "-qq", "--error-on=any", *self.options])

    def closure(self, package):
        """The package, what of the same source it needs, and its libraries."""
        source, wanted, seen = package.partition("-")[0], [package], set()
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            for line in run(["apt-cache", "depends", *self.options, name]).splitlines():
                kind, _, other = line.strip().partition(": ")
                if kind == "Depends" and other.startswith(("lib", source)):
                    wanted.append(other)
        return sorted(seen)

    def unpack(self, packages, target):
        target.mkdir(parents=True, exist_ok=True)
        run(["apt-get", "download", "-qq", *self.options, *packages], cwd=self.folder / "packages")
        for name in packages:
            for archive in (self.folder / "packages").glob(f"{name}_*.deb"):
                run(["dpkg-deb", "-x", str(archive), str(target)])


def one(root, pattern):
    found = sorted(root.glob(pattern))
    if not found:
        raise Unavailable(f"the packages have no {pattern}")
    return found[0]


def start_script(root, program):
    """One that starts the program with its own suite's loader and libraries."""
    loader = one(root, "usr/lib/*/ld-linux-*.so.*")
    libraries = sorted({path.parent for path in root.glob("usr/lib/**/*.so.*")})
    path = ":".join(map(str, libraries))
    return f'#!/bin/sh\nexec "{loader}" --library-path "{path}" "{root}/usr/bin/{program}" "$@"\n'


def unpacked(name, folder):
    """The path of the server's program."""
    program, package, suite = SERVERS[name]
    script = folder.resolve() / name / program
    if not script.exists():
        apt, root = Apt(suite, folder), folder.resolve() / name / "root"
        apt.unpack(apt.closure(package), root)
        text = start_script(root, program)
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
        run([str(script), "--version"])
    return script


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument(
        "--folder", default="build/servers", type=pathlib.Path, help="default build/servers"
    )
    options.add_argument("names", nargs="*", metavar="NAME", help="of " + ", ".join(SERVERS))
    chosen = options.parse_args()
    for name in chosen.names or SERVERS:
        print(f"{name}: looking", file=sys.stderr, flush=True)
        try:
            print(name, unpacked(name, chosen.folder), flush=True)
        except Unavailable as why:
            print(f"{name} cannot be had here: {why}", file=sys.stderr)
            sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
