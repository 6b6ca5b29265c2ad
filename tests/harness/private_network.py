# SPDX-License-Identifier: Apache-2.0
"""A network of a test's own, where packets can be made to vanish.

The test runs again in a network namespace (unshare), in which there is nothing but a loopback of
its own; all its children live there, too. Needs `ip` and `nft`, and a kernel that lets us: root, or
a user namespace.
"""

import os
import shutil
import subprocess
import sys

INSIDE = "HEATSINK_PRIVATE_NETWORK"
SEARCH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
TRIAL = "ip link set lo up && nft add table inet heatsink"


def enter():
    """Replaces this process by one within; comes back if it is within, or with why it cannot be."""
    if os.environ.get(INSIDE):
        run(TRIAL)
        run("nft 'add chain inet heatsink out { type filter hook output priority 0; }'")
        return ""
    for program in ("unshare", "ip", "nft"):
        if shutil.which(program, path=SEARCH) is None:
            return f"there is no program '{program}'"
    for flags in (["-n"], ["-r", "-n"]):
        command = ["unshare", *flags]
        tried = subprocess.run(
            [*command, "sh", "-c", TRIAL],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            arguments = [*command, sys.executable, "-B", *sys.argv]
            os.execvpe(command[0], arguments, environment() | {INSIDE: "1"})
    return f"no network namespace: {tried.stdout.strip()}"


def drop(*matches):
    """Packets that match any of them vanish, and nobody is told."""
    for match in matches:
        run(f"nft add rule inet heatsink out {match} drop")


def drop_nothing():
    run("nft flush chain inet heatsink out")


def environment():
    return os.environ | {"PATH": SEARCH}


def run(command):
    subprocess.run(["sh", "-c", command], env=environment(), check=True)
