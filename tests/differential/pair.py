# SPDX-License-Identifier: Apache-2.0
"""Two servers, one of them behind the proxy, and the same connections to both.

The server that is spoken to directly hears a step first; when it has nothing more to say, the proxy
owes the same: as many replies on the same connections, each the same by its rule. Only then comes
the next step: so several connections interleave in a fixed order, and a difference is found at
the step that made it.
"""

import os

import end_state
import rules
from harness import PATIENCE_S, encode, until
from session import Session, share_out
from side import CLOSED, NOTHING, Side
from step import inline


WAITS = (b"wait", b"waitaof")


class Difference(AssertionError):
    """The proxy answered otherwise."""

    def __init__(self, args, rule, expected, actual):
        self.command, self.expected, self.actual = args, expected, actual
        at = len(os.path.commonprefix([expected, actual]))
        said = b" ".join(args) if rule is None else inline(*args).strip()
        super().__init__(
            f"{said.decode('latin1')}\n  compared by:  {rule}\n"
            f"  the server:   {around(expected, at)}\n  by the proxy: {around(actual, at)}"
        )


def around(reply, at, before=100, behind=400):
    """What stands around the place where two replies part."""
    start = max(0, at - before)
    cut = (f"({start} more) " if start else "", " ..." if len(reply) > at + behind else "")
    return f"{cut[0]}{reply[start : at + behind]!r}{cut[1]}"


def is_answer(reply):
    """To a command; of pushes only those that say that one is subscribed."""
    return reply[:1] != b">" or b"subscribe\r\n" in reply[:40]


class Pair:
    """The direct side and the one through the proxy. Not thread-safe."""

    def __init__(self, direct_server, server, proxy_port):
        self.direct = Side(direct_server, direct_server.port)
        self.through = Side(server, proxy_port)
        self.protocols, self.sessions = (), []
        self.stalled = set()  # connections that wait in a command

    def sides(self):
        return self.direct, self.through

    def close(self):
        for side in self.sides():
            side.close()

    def start(self, protocols):
        """New connections to emptied servers; `protocols` has a 2 or a 3 for each."""
        for side in self.sides():
            side.disconnect()
            side.unblock_all()  # a script that a failure has left behind
            until(lambda side=side: side.blocked() == 0, PATIENCE_S, "nobody waits")
            side.empty()
            side.connect(protocols)
        self.protocols = tuple(protocols)
        self.sessions = [Session(resp) for resp in protocols]
        self.stalled = set()

    def play(self, step):
        """Raises Difference. A step of a connection that waits in a command is left out."""
        if step.client in self.stalled:
            return
        counts = [self.sessions[step.client].count(command) for command in step.commands]
        heard = self._direct(step, counts)
        silent = [c.args[0] for c in step.commands if "executed" in c.flags]
        before = self.through.executed(silent)
        self.through.clients[step.client].push(step.pieces())
        self._judge(heard, step, counts)
        until(lambda: self.through.executed(silent) >= before + len(silent), PATIENCE_S,
              "the server has executed what has no reply")  # fmt: skip
        self._settle(step, heard)
        if any(command.args[0].lower() in WAITS for command in step.commands):
            self._forget_the_proxys_key()

    def _forget_the_proxys_key(self):
        """The proxy has written it before WAIT (docs/reference/differences.md). It lives for 1 ms,
        and longer in DBSIZE: until the server looks at it.
        """
        ask = self.through.admin.ask
        for db in range(end_state.DATABASES):
            ask("SELECT", db)
            until(lambda: ask("EXISTS", "heatsink:wait") == b":0\r\n", PATIENCE_S, "its end")
        ask("SELECT", 0)

    def release(self):
        """Ends all waits, as CLIENT UNBLOCK does."""
        if self.stalled:
            for side in self.sides():
                side.unblock_all()
            self.stalled = set()
            self._judge(self.direct.quiet())
            until(lambda: self.through.blocked() == 0, PATIENCE_S, "nobody waits")

    def finish(self):
        """Nobody waits any more, and the proxy has not said anything that the server has not."""
        self.release()
        for side in self.sides():
            for client in side.clients:
                client.push([encode("RESET")])
        self._judge(self.direct.quiet())
        for i, client in enumerate(self.through.clients):
            extra = client.what_is_there()
            if extra:
                raise Difference((b"connection %d hears" % i,), None, [], extra)

    def left(self):
        """Sentences: what differs in the data of the two servers."""
        return end_state.differences(self.direct.admin.ask, self.through.admin.ask)

    def _direct(self, step, counts):
        """What the server says to the step, by connection."""
        client = self.direct.clients[step.client]
        pieces = step.pieces()
        client.push(pieces)
        # A command that may wait for ever is owed nothing, however many replies it will have.
        owed = sum(counts) if step.waits_a_moment() else 0
        said = []
        while sum(map(is_answer, said)) < owed:
            said.append(client.next())
            if said[-1] in (CLOSED, NOTHING):
                break
        heard = self.direct.quiet(sum(map(len, pieces)))
        heard[step.client] = said + heard[step.client]
        return heard

    def _judge(self, heard, step=None, counts=()):
        for i, expected in enumerate(heard):
            actual = []
            while len(actual) < len(expected) and actual[-1:] not in ([CLOSED], [NOTHING]):
                actual.append(self.through.clients[i].next())
            if step is not None and i == step.client:
                self._compare(step.commands, counts, self.sessions[i], expected, actual)
            elif sorted(expected) != sorted(actual):  # of a message that fits several patterns
                raise Difference((b"connection %d hears" % i,), None, expected, actual)

    @staticmethod
    def _compare(commands, counts, session, expected, actual):
        for command, mine, theirs in share_out(commands, counts, expected, actual):
            rule = session.rule(command)
            if not rules.same(rule, mine, theirs):
                raise Difference(command.args, *rules.first_difference(rule, mine, theirs))
            session.heard(command, mine)

    def _settle(self, step, heard):
        """Who waits, waits on both sides before anybody goes on; who was closed comes back.

        The server hears a moment later that a client of the proxy's subscribes no longer, because
        it has left or said RESET (docs/reference/differences.md).
        """
        closed = CLOSED in heard[step.client]
        if closed:
            self._reconnect(step.client)
        if closed or any(command.args[0].upper() == b"RESET" for command in step.commands):
            until(self._hear_of_the_same, PATIENCE_S, "the same channels on both sides")
        may_wait = any("alone" in command.flags for command in step.commands)
        if not (self.stalled or may_wait):
            return
        # A script that has been killed runs for a moment longer.
        until(lambda: self.direct.blocked() == self.through.blocked(), PATIENCE_S,
              "as many connections wait on both sides")  # fmt: skip
        waiting = self.direct.blocked()
        self.stalled -= {i for i in self.stalled if any(r[:1] != b">" for r in heard[i])}
        if waiting > len(self.stalled):
            self.stalled.add(step.client)
        until(lambda: self.through.blocked() == waiting, PATIENCE_S, f"{waiting} connections wait")

    def _hear_of_the_same(self):
        return self.direct.subscriptions() == self.through.subscriptions()

    def _reconnect(self, i):
        for side in self.sides():
            side.reconnect(i, self.protocols[i])
        self.sessions[i] = Session(self.protocols[i])
