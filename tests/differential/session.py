# SPDX-License-Identifier: Apache-2.0
"""What a test must know of a connection to share out its replies among its commands."""

KINDS = {b"SUBSCRIBE": b"", b"PSUBSCRIBE": b"P", b"SSUBSCRIBE": b"S"}


class Session:
    """One connection; each of its commands passes count() and then, with its reply, heard()."""

    def __init__(self, resp=2):
        self._forget(resp)

    def _forget(self, resp):
        self.resp = resp
        self.multi = False
        self.queued = []  # the rules of the commands that EXEC will answer
        self.channels = {kind: set() for kind in KINDS.values()}
        self.off = self.skip = False

    def count(self, command):
        """How many replies it will have, as far as that can be said before."""
        name, args = command.args[0].upper(), command.args[1:]
        if name == b"RESET" and not args:
            silent = self.skip  # a mode that is on ends before the reply, a SKIP does not
            self._forget(2)
            return 0 if silent else 1
        refused = self.resp == 2 and any(self.channels.values()) and not self.multi
        mode = args[0].upper() if name == b"CLIENT" and len(args) == 2 else b""
        if mode == b"REPLY" and not refused:
            return self._reply_mode(args[1].upper())
        silent, self.skip = self.off or self.skip, False
        if name == b"MULTI" and not refused:
            self.multi = True
        elif name in (b"EXEC", b"DISCARD"):
            self.multi = False
        elif name == b"HELLO" and args and args[0] in (b"2", b"3") and not refused:
            self.resp = int(args[0])
        confirmed = self._confirmations(name, args)
        return confirmed or (0 if silent else 1)

    def rule(self, command):
        """The command's; for EXEC a list of those of its commands."""
        is_exec = command.args[0].upper() == b"EXEC" and len(command.args) == 1
        return list(self.queued) if is_exec and self.queued else command.rule

    def heard(self, command, replies):
        name = command.args[0].upper()
        if replies == b"+QUEUED\r\n":
            self.queued.append(command.rule)
        elif name in (b"EXEC", b"DISCARD", b"RESET") or (name, replies) == (b"MULTI", b"+OK\r\n"):
            self.queued = []

    def _reply_mode(self, mode):
        if mode == b"ON":
            self.off = self.skip = False
            return 1
        silent = self.off or self.skip or mode in (b"OFF", b"SKIP")
        self.skip = mode == b"SKIP" and not self.off
        self.off = self.off or mode == b"OFF"
        return 0 if silent else 1

    def _confirmations(self, name, args):
        """SUBSCRIBE and its kin answer once per channel, whatever CLIENT REPLY says."""
        if self.multi:
            return 0
        leaving = name.replace(b"UNSUB", b"SUB", 1)
        if name in KINDS and args:
            self.channels[KINDS[name]].update(args)
            return len(args)
        if name != leaving and leaving in KINDS:
            channels = self.channels[KINDS[leaving]]
            count = len(args) or max(1, len(channels))
            self.channels[KINDS[leaving]] = channels - set(args) if args else set()
            return count
        return 0


def grouped(counts, replies):
    """The replies of each command, joined, if there are as many as were expected; otherwise the
    pushes that nobody asked for belong to the reply behind them."""
    if sum(counts) != len(replies):
        counts, waiting = [], 0
        for reply in replies:
            waiting += 1
            if reply[:1] != b">":
                counts.append(waiting)
                waiting = 0
        if waiting and counts:
            counts[-1] += waiting
    groups, at = [], 0
    for count in counts:
        groups.append(b"".join(replies[at : at + count]))
        at += count
    return groups


def share_out(commands, counts, expected, actual):
    """(command, its replies from the server, those from the proxy), joined."""
    mine, theirs = grouped(counts, expected), grouped(counts, actual)
    if len(commands) > 1 and len(mine) == len(theirs) == len(commands):
        return list(zip(commands, mine, theirs))
    return [(commands[-1], b"".join(expected), b"".join(actual))]
