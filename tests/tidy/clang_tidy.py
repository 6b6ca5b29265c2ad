#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py BUILD_FOLDER [PATH ...]: clang-tidy over the tree, clean files only once.

clang-tidy needs 4 to 10 s for a file, so what was clean is remembered in BUILD_FOLDER by the hash
of all that it saw: the preprocessed text with its comments (NOLINT), the flags, the configuration.
Tests go without the path-sensitive analyzer, which costs half of the time there and looks for
faults that the sanitizers' runs show. PATHs limit the work to files under them.
Exit: 0 clean; 1 findings, on the output.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

# Without the analyzer, and without advice on speed.
TEST_CHECKS = "--checks=-clang-analyzer-*,-performance-inefficient-*"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def compile_flags(entry):
    """The compiler's arguments without the launcher and without the output."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if "clang" in os.path.basename(word)) :]
    output = words.index("-o")
    return words[:output] + words[output + 2 :]


def seen_by(entry, checks):
    """The hash of everything that decides what clang-tidy says of this file."""
    words = [word for word in compile_flags(entry) if word != "-c"]
    text = subprocess.run(
        [*words, "-E", "-P", "-C"], cwd=entry["directory"], capture_output=True, check=False
    )
    configuration = (ROOT / ".clang-tidy").read_bytes()
    return hashlib.sha256(
        b"\0".join([text.stdout, configuration, " ".join(words + checks).encode()])
    ).hexdigest()


def lint(build, entry):
    """What clang-tidy says of one file; empty when it is clean."""
    file = os.path.relpath(entry["file"], ROOT)
    checks = [TEST_CHECKS] if file.endswith("_test.cc") else []
    clean = build / "clang-tidy-clean" / seen_by(entry, checks)
    if clean.exists():
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
    clean.parent.mkdir(exist_ok=True)
    clean.touch()
    return file, ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = [str(ROOT / path) for path in sys.argv[2:]] or [str(ROOT)]
    entries = [
        entry
        for entry in json.loads((build / "compile_commands.json").read_text())
        if entry["file"].startswith(tuple(wanted)) and not entry["file"].startswith(str(build))
    ]
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
