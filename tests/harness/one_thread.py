# SPDX-License-Identifier: Apache-2.0
"""Stops one thread of a child while the others go on: a scheduler that forgot it, as it were."""

import contextlib
import ctypes
import os
import pathlib

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
ANY_CHILD = 0x40000000  # __WALL: threads, too

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def thread_named(pid, name):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text(encoding="utf-8").strip() == name:
            return int(task.name)
    raise AssertionError(f"process {pid} has no thread '{name}'")


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace: {os.strerror(number)}")


@contextlib.contextmanager
def stopped(thread):
    """PermissionError where the system forbids it. Enter and leave it in the same thread."""
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, ANY_CHILD)
    try:
        yield
    finally:
        ptrace(DETACH, thread)
