# SPDX-License-Identifier: Apache-2.0
"""A TCP relay that can keep invalidations from a tracker, and nothing else.

Heartbeats are answered, so the tracker believes that it is told of every change. No network does
this: it stands for whatever a server or a proxy might get wrong.
"""

import threading

from harness.client import end_of_reply
from harness.relay import Relay


class DeafRelay(Relay):
    """While `deaf` is set, pushes are dropped."""

    def __init__(self, server_port):
        self.deaf = threading.Event()
        super().__init__(server_port)

    def filter(self):
        data = bytearray()

        def without_pushes(piece):
            data.extend(piece)
            out = bytearray()
            while data and (end := end_of_reply(data)) is not None:
                if not (data[:1] == b">" and self.deaf.is_set()):
                    out += data[:end]
                del data[:end]
            return bytes(out)

        return without_pushes
