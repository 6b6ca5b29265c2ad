# SPDX-License-Identifier: Apache-2.0
"""A TCP relay that can keep invalidations from a tracker, and nothing else.

Heartbeats are answered, so the tracker believes that it is told of every change. No network does
this: it stands for whatever a server or a proxy might get wrong.
"""

import socket
import threading

from harness.client import end_of_reply

PIECE = 1 << 16


class DeafRelay:
    """Threads, two for each connection. While `deaf` is set, pushes are dropped."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.deaf = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for work in (self._ask, self._tell):
                threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _ask(self, client, server):
        relay(client, server, lambda piece: piece)

    def _tell(self, client, server):
        data = bytearray()

        def without_pushes(piece):
            data.extend(piece)
            out = bytearray()
            while data and (end := end_of_reply(data)) is not None:
                if not (data[:1] == b">" and self.deaf.is_set()):
                    out += data[:end]
                del data[:end]
            return bytes(out)

        relay(server, client, without_pushes)


def relay(source, target, change):
    try:
        while piece := source.recv(PIECE):
            target.sendall(change(piece))
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_RDWR)  # wakes the thread of the other direction
    except OSError:
        pass
    source.close()
