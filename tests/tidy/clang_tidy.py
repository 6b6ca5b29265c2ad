#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py BUILD_FOLDER [PATH ...]: clang-tidy over the tree, clean files only once.

clang-tidy needs 4 to 10 s for a file, so what was clean is remembered, for all trees of this user,
by the hash of all that it saw: the preprocessed text with its comments (NOLINT), the flags, the
configuration, its version. ~/.cache/heatsink/clang-tidy may be deleted at any time; what was not
needed for a month goes by itself.
Tests go without the path-sensitive analyzer, which costs half of the time there and looks for
faults that the sanitizers' runs show. PATHs limit the work to files under them.
Exit: 0 clean; 1 findings, on the output.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

# Without the analyzer, and without advice on speed.
TEST_CHECKS = "--checks=-clang-analyzer-*,-performance-inefficient-*"
ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
CLEAN = CLEAN / "heatsink" / "clang-tidy"
KEPT_S = 30 * 86400


def compile_flags(entry):
    """The compiler's arguments without the launcher and without the output."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if "clang" in os.path.basename(word)) :]
    output = words.index("-o")
    return words[:output] + words[output + 2 :]


@functools.cache
def of_all_files():
    """What decides of every file."""
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True)
    return version.stdout + (ROOT / ".clang-tidy").read_bytes()


def seen_by(entry, checks):
    """The hash of everything that decides what clang-tidy says of this file, in whatever folder."""
    words = [word for word in compile_flags(entry) if word != "-c"]
    text = subprocess.run(
        [*words, "-E", "-P", "-C"], cwd=entry["directory"], capture_output=True, check=False
    )
    seen = b"\0".join([text.stdout, of_all_files(), " ".join(words + checks).encode()])
    return hashlib.sha256(seen.replace(str(ROOT).encode(), b".")).hexdigest()


def lint(build, entry):
    """What clang-tidy says of one file; empty when it is clean."""
    file = os.path.relpath(entry["file"], ROOT)
    checks = [TEST_CHECKS] if file.endswith("_test.cc") else []
    clean = CLEAN / seen_by(entry, checks)
    if clean.exists():
        clean.touch()
        return file, ""
    done = subprocess.run(
        ["clang-tidy", "-p", build, "--quiet", *checks, file],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return file, done.stdout or done.stderr
    clean.touch()
    return file, ""


def forget_the_old():
    """Deletes what no tree has needed for long."""
    for each in CLEAN.iterdir():
        if each.stat().st_mtime < time.time() - KEPT_S:
            each.unlink(missing_ok=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = [str(ROOT / path) for path in sys.argv[2:]] or [str(ROOT)]
    entries = [
        entry
        for entry in json.loads((build / "compile_commands.json").read_text())
        if entry["file"].startswith(tuple(wanted)) and not entry["file"].startswith(str(build))
    ]
    CLEAN.mkdir(parents=True, exist_ok=True)
    forget_the_old()
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, (file, said) in enumerate(
            pool.map(lambda entry: lint(build, entry), entries), 1
        ):
            if said:
                faulty += 1
                print(said, flush=True)
            if count % 10 == 0 or count == len(entries):
                print(f"clang-tidy [{count}/{len(entries)}]", flush=True)
    print(f"{len(entries) - faulty} files clean, {faulty} not")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
