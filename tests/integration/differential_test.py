# SPDX-License-Identifier: Apache-2.0
"""The same commands to the server and through the proxy: the replies are the same bytes.

One server plays both parts, emptied in between, so that its hash seed (the order of SMEMBERS and
SCAN) is the same. The proxy finds keys hot after a few reads, so that part of it is served locally.
"""

import re
import unittest

import corpus
from harness import Closed, encode, until
from stage import ProxyTest

HOT = {
    "detection.hot-qps": 5,
    "detection.window": "1s",
    "detection.tick": "10ms",
    "detection.write-hot-ratio": 0,
}


def silenced(conversation):
    """How many replies the conversation has: CLIENT REPLY takes some away."""
    off = skip = False
    answered = []
    for args, _ in conversation:
        reply = args[2].upper() if args[:2] == [b"CLIENT", b"REPLY"] and len(args) == 3 else b""
        if reply == b"ON":
            off = skip = False
        answered.append(not off and not skip and reply not in (b"OFF", b"SKIP"))
        skip = reply == b"SKIP" and not off
        off = off or reply == b"OFF"
    return answered


def replies_expected(args, state):
    """SUBSCRIBE and its kin answer once per channel."""
    name = args[0].upper()
    kind = {b"P": b"P", b"S": b"S"}.get(name[:1] if name != b"SUBSCRIBE" else b"", b"")
    if name == b"RESET":
        state.clear()
    if not name.endswith(b"SUBSCRIBE") or (name[-11:] != b"UNSUBSCRIBE" and len(args) == 1):
        return 1
    if state.get("multi"):
        return 1
    channels = state.setdefault(kind, set())
    if b"UNSUB" in name:
        count = len(args) - 1 or max(1, len(channels))
        state[kind] = channels - set(args[1:]) if len(args) > 1 else set()
        return count
    channels.update(args[1:])
    return len(args) - 1


def comparable(reply, how):
    if how == "~":
        return re.sub(rb"\d+", b"0", reply)
    return b"\r\n".join(sorted(reply.split(b"\r\n"))) if how == "%" else reply


def play(client, conversation, pipelined, piece=None):
    """The replies, one by one; those that cannot be equal, masked."""
    answered, state, replies = silenced(conversation), {}, []
    if pipelined:
        data = b"".join(encode(*args) for args, _ in conversation)
        piece = piece or len(data)
        for at in range(0, len(data), piece):
            client.send_raw(data[at : at + piece])
    for (args, how), has_reply in zip(conversation, answered):
        if not pipelined:
            client.send(*args)
        name = args[0].upper()
        if name == b"MULTI":
            state["multi"] = True
        if name in (b"EXEC", b"DISCARD", b"RESET"):
            state.pop("multi", None)
        count = replies_expected(args, state) if has_reply else 0
        try:
            for _ in range(count):
                replies.append((args, comparable(client.read(), how)))
        except (Closed, TimeoutError) as error:
            replies.append((args, repr(error).encode()))
            break
    return replies


class Differential(ProxyTest):
    SERVER_OPTIONS = ("--maxmemory-policy", "noeviction")
    PROXY_OPTIONS = HOT

    def empty(self):
        admin = self.to_server()
        for command in (["FLUSHALL"], ["SCRIPT", "FLUSH"], ["FUNCTION", "FLUSH"]):
            self.assertEqual(admin.ask(*command), b"+OK\r\n")
        admin.close()

    def compare(self, conversation, resp, pipelined, piece=None):
        played = []
        for connect in (self.to_server, self.to_proxy):
            self.empty()
            client = connect(resp=resp)
            played.append(play(client, conversation, pipelined, piece))
            client.close()
        direct, through = played
        for (args, expected), (_, actual) in zip(direct, through):
            self.assertEqual(actual, expected, f"RESP{resp} pipelined={pipelined}: {args}")
        self.assertEqual(len(through), len(direct))

    def compare_all(self, conversation):
        for resp in (2, 3):
            for pipelined in (False, True):
                with self.subTest(resp=resp, pipelined=pipelined):
                    self.compare(conversation, resp, pipelined)

    def test_generated(self):
        for seed in range(6):
            with self.subTest(seed=seed):
                conversation = corpus.generated(seed, 400)
                for resp in (2, 3):
                    self.compare(conversation, resp, pipelined=seed % 2 == 0)

    def test_generated_and_sent_in_pieces(self):
        for piece in (1, 7, 61, 1447):
            with self.subTest(piece=piece):
                self.compare(corpus.generated(100 + piece, 60), 2, pipelined=True, piece=piece)

    def test_generated_while_hot(self):
        """Reads and writes of one hot key, in pipelines: hits and forwarded commands in order."""
        before = self.proxy.metric("heatsink_local_hits_total")
        writes = [["APPEND", "hot", "x"], ["INCR", "n"], ["GET", "cold"], ["EXISTS", "hot"]]
        conversation = []
        for i in range(600):
            args = writes[i // 40 % 4] if i % 40 == 0 else ["GET", "hot"]
            conversation.append(([arg.encode() for arg in args], ""))
        for resp in (2, 3):
            warm = self.to_proxy()
            until(lambda: self.hits_grow(warm), what="local hits")
            self.compare(conversation, resp, pipelined=False)
            self.compare(conversation, resp, pipelined=True)
        self.assertGreater(self.proxy.metric("heatsink_local_hits_total"), before + 100)

    def hits_grow(self, client):
        before = self.proxy.metric("heatsink_local_hits_total")
        for _ in range(50):
            client.ask("GET", "hot")
        return self.proxy.metric("heatsink_local_hits_total") > before

    def test_inline(self):
        lines = (
            b"PING\r\n\r\nSET k v\nGET k\r\n   GET    k  \r\nSET q \"a\\x00\\n b\"\r\nGET 'q'\r\n"
            b'NOSUCH a b\r\nGET\r\n*0\r\n*-1\r\nECHO ""\r\n""\r\nMULTI\nGET k\nEXEC\n'
        )
        answers = []
        for connect in (self.to_server, self.to_proxy):
            self.empty()
            client = connect()
            client.send_raw(lines)
            answers.append(client.read_many(13))
        self.assertEqual(*answers)

    def test_protocol_errors(self):
        for broken in (
            b"*1\r\n+PING\r\n", b"*x\r\n", b"*1\r\n$x\r\n", b"*1\r\n$-1\r\n", b"*2147483648\r\n",
            b"*1\r\n$536870913\r\n", b'GET "unbalanced\r\n', b"x" * 70000,
            b"*" + b"1" * 70000, b"*1\r\n$" + b"1" * 70000, b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\nxx\r\n",
            b"\x16\x03\x01\x02\x00\r\n",
        ):  # fmt: skip
            with self.subTest(request=broken[:40]):
                answers = []
                for connect in (self.to_server, self.to_proxy):
                    client = connect()
                    try:
                        client.send_raw(encode("PING") + encode("GET", "nope") + broken)
                    except ConnectionError:
                        pass  # closed while the rest was being sent
                    answers.append(client.read_to_end() if broken[0] != 0x16 else client.read())
                self.assertEqual(*answers)


for each in corpus.NAMES:

    def compares(self, name=each):
        self.compare_all(corpus.conversation(name))

    setattr(Differential, f"test_{each}", compares)


if __name__ == "__main__":
    unittest.main()
