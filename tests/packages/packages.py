# SPDX-License-Identifier: Apache-2.0
"""The packages that deploy/build-packages has made, and what is said in them."""

import os
import pathlib
import re

from harness.commands import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("HEATSINK_PACKAGES", ROOT / "build/packages"))
NAMES = ("heatsink", "libheatsink1", "libheatsink-dev", "python3-heatsink")


def package(name):
    (path,) = FOLDER.glob(f"{name}_*.deb")
    return path


def wheel():
    (path,) = FOLDER.glob("*.whl")
    return path


def field(path, name):
    return run("dpkg-deb", "-f", path, name).strip()


def project_version():
    project = (ROOT / "CMakeLists.txt").read_text("utf-8")
    return re.search(r"^project\(heatsink VERSION ([\d.]+)", project, re.MULTILINE)[1]
