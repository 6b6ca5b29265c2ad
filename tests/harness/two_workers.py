# SPDX-License-Identifier: Apache-2.0
"""A proxy whose clients are on two workers, though they are few and idle (busy_workers.cc)."""

import os
import tempfile
import time
import unittest

from .one_thread import stopped
from .patience import SLOW

LIBRARY = os.environ.get("HEATSINK_BUSY_WORKERS_LIBRARY", "")
needs_library = unittest.skipIf(not LIBRARY, "not beside a sanitizer's own preloaded library")
LOOKS_S = 1.0  # within which the proxy has looked at its workers' threads a few times


class TwoWorkers:
    """A context, around a Proxy that is given `preload` and `environment`, with two workers.

    Clients that connect before to_second() are on the first worker, others on the second.
    """

    preload = LIBRARY

    def __enter__(self):
        self.file = tempfile.NamedTemporaryFile("w+", prefix="heatsink-workers-")
        self._write("0")
        self.environment = {"HEATSINK_BUSY_WORKERS": self.file.name}
        return self

    def __exit__(self, *_):
        self.file.close()

    def _write(self, what):
        self.file.seek(0)
        self.file.write(what)
        self.file.flush()

    def to_second(self):
        self.use(1)
        time.sleep(LOOKS_S * SLOW)  # only time shows it: the first worker seems to be busy

    def use(self, number):
        """Soon new clients go to this worker. 0: after two seconds, all that are idle, too."""
        self._write(str(number))

    @staticmethod
    def threads(proxy):
        """Of the first worker, and of the second."""
        tasks = f"/proc/{proxy.process.child.pid}/task"
        names = {}
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/comm", encoding="utf-8") as comm:
                names[int(task)] = comm.read().strip()
        return sorted(task for task, name in names.items() if name == "worker")

    def stopped(self, proxy, number):
        """A context in which that worker's thread stands still. PermissionError: it cannot be."""
        return stopped(self.threads(proxy)[number])
