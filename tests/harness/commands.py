# SPDX-License-Identifier: Apache-2.0
"""Runs a command that has to succeed, such as a compiler or a package tool."""

import subprocess


def run(*command, **more):
    """Its output and errors in one text, which a failure shows; `more` is for subprocess.run."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **more,
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout
