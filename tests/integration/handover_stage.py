# SPDX-License-Identifier: Apache-2.0
"""Either process of a hand-over, played: docs/design/handover.md, heatsink/handover/message.h."""

import os
import socket
import struct

VARIABLE = "HEATSINK_TAKE_OVER_FD"
MAGIC = 0x4F485348
HELLO, OFFER, RULE, KEYS, READY, GO, CLIENT, TAKEN, DONE, REFUSED = range(10)
NO_KEYS, LAST_KEYS = bytes(5), bytes((1, 0, 0, 0, 0))


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


class End:
    """One end of the socket pair."""

    def __init__(self, connected):
        self.socket = connected

    def send(self, kind, body=b"", descriptors=()):
        packet = struct.pack("<IB", MAGIC, kind) + body
        socket.send_fds(self.socket, [packet], descriptors)

    def receive(self):
        """The kind of the next message, its body and its descriptors."""
        packet, descriptors, _, _ = socket.recv_fds(self.socket, 1 << 17, 8)
        if not packet:
            raise ConnectionError("the other process has ended")
        magic, kind = struct.unpack_from("<IB", packet)
        assert magic == MAGIC, packet
        return kind, packet[5:], descriptors


def hello(version):
    return struct.pack("<I", version)


def offer(listen, upstream):
    return text(listen) + text(upstream) + struct.pack("<IBQQ", 1, 0, 0, 0)


def client(token, layout, with_private):
    """A client without any state, but perhaps with a private connection."""
    state = struct.pack("<IQBB", layout, token, 0, 1) + 4 * text("") + struct.pack("<I", 0)
    state += bytes((with_private,)) + bytes(13)  # pinned, and the other flags
    state += 3 * struct.pack("<I", 0) + text("") + bytes(2)
    state += struct.pack("<BBBBI", 1, 0, 1, 1, 0) if with_private else bytes(1)
    state += bytes(1)
    if layout == 2:
        state += bytes(1) + text("") + struct.pack("<Q", 0) + bytes(2) + struct.pack("<I", 0)
        state += bytes(3)
    return struct.pack("<QBI", token, with_private, len(state)) + state


def successor_of_version_1(log):
    """Takes all clients, and writes the kind of each message, and the layout of each client."""
    end = End(socket.socket(fileno=int(os.environ[VARIABLE])))
    end.send(HELLO, hello(1))
    with open(log, "w", encoding="ascii", buffering=1) as lines:
        kind = HELLO
        while kind != DONE:
            kind, body, _ = end.receive()
            layout = struct.unpack_from("<I", body, 13)[0] if kind == CLIENT else ""
            lines.write(f"{kind} {layout}\n")
            if kind == KEYS and body[0] == 1:
                end.send(READY)
            if kind == CLIENT:
                end.send(TAKEN, body[:8])
