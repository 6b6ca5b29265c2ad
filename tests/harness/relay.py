# SPDX-License-Identifier: Apache-2.0
"""A TCP relay before a server that is slow, or deaf, to the tracking connections alone.

Pushes that are late make every race of a cache wide: what is right because of a fence, and not by
luck, stays right. It is also the one address of a server that fails over to another.
"""

import socket
import threading
import time

PIECE = 1 << 16
SECOND_OF_A_FILL = b"*2\r\n$4\r\nPTTL\r\n"  # of what GET asks for


class Relay:
    """Threads, two for each connection; `delay_s` for each piece that a tracker is to be told.

    `tear_s`: so long after the first question of a fill comes the second. `server_port` may be
    changed: it is that of connections to come.
    """

    def __init__(self, server_port, delay_s=0.0, tear_s=0.0):
        self.server_port, self.delay_s, self.tear_s = server_port, delay_s, tear_s
        self.through = threading.Event()
        self.through.set()
        self.reads = threading.Event()
        self.reads.set()
        self.pairs = []  # of sockets, one for each connection
        self.trackers = []  # those of connections that have asked for tracking
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self):
        """Trackers are told nothing until go_on() or lose()."""
        self.through.clear()

    def go_on(self):
        self.through.set()

    def stop_reading(self):
        """What is asked stays in the sockets, but for a piece of each connection."""
        self.reads.clear()

    def read_on(self):
        self.reads.set()

    def lose(self):
        """Cuts the trackers off: what was held is never told."""
        with self.lock:
            cut, self.trackers = self.trackers, []
        for pair in cut:
            close(*pair)
        self.through.set()

    def tell(self, data, pairs):
        """Says to clients what the server never said. `pairs`: of `trackers`, or of `pairs`."""
        with self.lock:
            chosen = list(pairs)
        for client, _ in chosen:
            try:
                client.sendall(data)
            except OSError:
                pass  # it has gone

    def close(self):
        self.listener.close()
        self.lose()
        self.read_on()

    def filter(self):
        """For one connection: a function of what the server says, that gives what is told."""
        return lambda piece: piece

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                client.close()  # the server is away
                continue
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.pairs.append((client, server))
            tracks = threading.Event()
            for work in (self._ask, self._tell):
                threading.Thread(target=work, args=(client, server, tracks), daemon=True).start()

    def _ask(self, client, server, tracks):
        try:
            while piece := client.recv(PIECE):
                if b"TRACKING" in piece:
                    with self.lock:
                        self.trackers.append((client, server))
                    tracks.set()
                self._pass_on(piece, server, tracks.is_set())
                self.reads.wait()
        except OSError:
            pass
        self._forget(client, server)

    def _pass_on(self, piece, server, tracks):
        first, *others = piece.split(SECOND_OF_A_FILL) if tracks and self.tear_s else [piece]
        server.sendall(first)
        for other in others:
            time.sleep(self.tear_s)  # the fault: so late comes the second question
            server.sendall(SECOND_OF_A_FILL + other)

    def _tell(self, client, server, tracks):
        told = self.filter()
        try:
            while piece := server.recv(PIECE):
                if tracks.is_set():
                    time.sleep(self.delay_s)  # the fault: pushes are so late
                    self.through.wait()
                client.sendall(told(piece))
        except OSError:
            pass
        self._forget(client, server)

    def _forget(self, *pair):
        with self.lock:
            self.pairs = [each for each in self.pairs if each != pair]
            self.trackers = [each for each in self.trackers if each != pair]
        close(*pair)


def close(*sockets):
    for each in sockets:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        each.close()
