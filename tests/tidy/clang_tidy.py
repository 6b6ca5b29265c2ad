#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py BUILD_FOLDER [--tests] [--deep] [PATH ...]: runs clang-tidy on units.

It reads the translation units of the build, each of which includes several .cc files. It skips a
unit that was clean with the same flags, the same configuration and the same content of every file
that it includes; for such a unit it reads only these files. ~/.cache/heatsink/clang-tidy stores the
clean units of all checkouts of this user. You may delete that folder at any time; the script
deletes entries that no checkout has used for a month.

--tests and --deep are for ./check --long. --tests adds the units of GoogleTest programs: nearly
half of the time, and the sanitizers run what they contain. --deep adds clang's path-sensitive
analyzer, which costs more than all other checks together; it leaves out tests. PATHs limit the work
to units that include a file under one of them, tests or not.
Exit code: 0 clean; 1 findings, printed to standard output.
"""

import argparse
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
CLEAN = CLEAN / "heatsink" / "clang-tidy"
KEPT_S = 30 * 86400

# A unit includes .cc files on purpose. Tests go without advice on speed, too.
CHECKS = "--checks=-bugprone-suspicious-include"
NO_ANALYZER = ",-clang-analyzer-*"
TEST_CHECKS = CHECKS + NO_ANALYZER + ",-performance-inefficient-*"
# The analyzer takes what a unit includes for headers, which it skips unless it is told not to.
ANALYZE_ALL = ["-Xclang", "-analyzer-opt-analyze-headers"]


def compile_flags(entry):
    """The compiler's arguments without the launcher and without the output."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if "clang" in os.path.basename(word)) :]
    output = words.index("-o")
    return [word for word in words[:output] + words[output + 2 :] if word != "-c"]


def tidy_flags(entry, deep):
    if is_test(entry):
        return [TEST_CHECKS]
    if not deep:
        return [CHECKS + NO_ANALYZER]
    return [CHECKS, *(f"--extra-arg={word}" for word in ANALYZE_ALL)]


@functools.cache
def of_all_units():
    """What decides of every unit."""
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True)
    return version.stdout + (ROOT / ".clang-tidy").read_bytes()


@functools.cache
def content_hash(path):
    """Of one file without the name of the checkout; None if there is no such file."""
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError:
        return None
    return hashlib.sha256(content.replace(bytes(ROOT), b".")).hexdigest()


def key_of(entry, flags):
    """The unit and all that decides of it, but for the files that it reads."""
    words = " ".join([entry["file"], *compile_flags(entry), *flags]).replace(str(ROOT), ".")
    return hashlib.sha256(of_all_units() + words.encode()).hexdigest()


def files_read_by(entry):
    """As the compiler lists them for make."""
    listed = subprocess.run(
        [*compile_flags(entry), "-M", "-MT", "unit"],
        cwd=entry["directory"],
        capture_output=True,
        text=True,
        check=False,
    )
    paths = listed.stdout.removeprefix("unit:").replace("\\\n", " ").split()
    return sorted({os.path.normpath(os.path.join(entry["directory"], path)) for path in paths})


def was_clean(row):
    """Whether every file that the unit read then is the same now."""
    try:
        files = json.loads(row.read_text())
    except (OSError, ValueError):
        return False
    same = all(content_hash(ROOT / path) == hashed for path, hashed in files.items())
    if same:
        row.touch()
    return same


def remember(row, entry):
    """Written beside and renamed: another run may read it now."""
    read = files_read_by(entry)
    files = {path.removeprefix(f"{ROOT}/"): content_hash(ROOT / path) for path in read}
    if not files:
        return
    draft = row.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(files))
    draft.rename(row)


def lint(build, entry, deep):
    """What clang-tidy says of one unit; empty when it is clean."""
    flags = tidy_flags(entry, deep)
    row = CLEAN / key_of(entry, flags)
    if was_clean(row):
        return ""
    done = subprocess.run(
        ["clang-tidy", "-p", build, "--quiet", *flags, entry["file"]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return done.stdout or done.stderr
    remember(row, entry)
    return ""


def forget_the_old():
    """Deletes what no checkout has needed for long."""
    for each in CLEAN.iterdir():
        if each.stat().st_mtime < time.time() - KEPT_S:
            each.unlink(missing_ok=True)


def is_test(entry):
    return "_test" in os.path.basename(entry["file"])


def entries_of(build, paths, tests):
    """The units that include a file under one of `paths`, or all; the costly ones first."""
    entries = json.loads((build / "compile_commands.json").read_text())
    texts = {entry["file"]: pathlib.Path(entry["file"]).read_text() for entry in entries}
    names = [os.path.relpath(ROOT / path, ROOT) for path in paths]
    wanted = [
        entry
        for entry in entries
        if (not names and (tests or not is_test(entry)))
        or any(f'"{name}' in texts[entry["file"]] or name in entry["file"] for name in names)
    ]
    return sorted(wanted, key=is_test)


def main():
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--tests", action="store_true", help="add GoogleTest programs")
    given.add_argument("--deep", action="store_true", help="add clang's path-sensitive analyzer")
    given.add_argument("build", help="build folder, such as build/lint")
    given.add_argument("paths", nargs="*", help="check only units that include these")
    given = given.parse_args()
    build = pathlib.Path(given.build).resolve()
    entries = entries_of(build, given.paths, given.tests)
    CLEAN.mkdir(parents=True, exist_ok=True)
    forget_the_old()
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, said in enumerate(
            pool.map(lambda entry: lint(build, entry, given.deep), entries), 1
        ):
            if said:
                faulty += 1
                print(said, flush=True)
            if count % 10 == 0 or count == len(entries):
                print(f"clang-tidy [{count}/{len(entries)}]", flush=True)
    print(f"{len(entries) - faulty} units clean, {faulty} not")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
