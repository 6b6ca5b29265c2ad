# SPDX-License-Identifier: Apache-2.0
"""Reads deploy/container/Containerfile."""

import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parents[2] / "deploy/container/Containerfile"


def last_stage():
    """What the stage that becomes the image says, by instruction, in order."""
    text = re.sub(r"^#.*\n", "", PATH.read_text("utf-8"), flags=re.MULTILINE)
    text = text.replace("\\\n", " ")
    stage = text[text.rindex("\nFROM ") + 1 :]
    said = {}
    for line in filter(None, stage.splitlines()):
        instruction, _, rest = line.partition(" ")
        said.setdefault(instruction, []).append(re.sub(" +", " ", rest.strip()))
    return said
