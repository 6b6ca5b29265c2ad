# SPDX-License-Identifier: Apache-2.0
"""A client that asks all the time, on a thread of its own: what it notices while others act."""

import threading
import time

from .client import RawClient


class Asking:
    """`longest_s` is its longest wait since it was last set. With `pause_s` it only keeps busy."""

    def __init__(self, port, pause_s=0.0):
        self.client, self.pause_s = RawClient(port), pause_s
        self.running, self.longest_s = True, 0.0
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while self.running:
            asked = time.monotonic()
            self.client.ask("PING")
            self.longest_s = max(self.longest_s, time.monotonic() - asked)
            if self.pause_s:
                time.sleep(self.pause_s)  # paces the load; nothing waits for it

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()
        self.client.close()
