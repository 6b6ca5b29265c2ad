# SPDX-License-Identifier: Apache-2.0
"""The two servers and the proxy of a differential test."""

import contextlib

import generate
from harness import EAGER, Proxy, Redis, ValueClient
from pair import Difference, Pair

CACHING = {
    "eager": EAGER,
    "off": {"cache.enabled": "false"},
    "gathering": {"cache.enabled": "false"},
}
RULES = {"gathering": ["match=*,coalesce=20ms"]}


def names_of(rows):
    """Commands and their subcommands, of a reply to COMMAND, in lower case."""
    for row in rows:
        yield row[0].decode().lower()
        if len(row) > 9:
            yield from names_of(row[9])


class Stage:
    """Context manager; play() raises Difference, also for what a run leaves in the servers."""

    def __init__(self, caching, server_options=()):
        self.exits = contextlib.ExitStack()
        servers = [Redis(*server_options) for _ in range(2)]
        for server in servers:
            self.exits.callback(server.stop)
        self.proxy = Proxy(servers[1], CACHING[caching], rules=RULES.get(caching, ()))
        self.exits.callback(self.proxy.stop)
        self.pair = Pair(*servers, self.proxy.port)
        self.exits.callback(self.pair.close)
        with ValueClient(servers[0].port) as client:
            self.commands = frozenset(names_of(client("COMMAND")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.exits.close()

    def hits(self):
        return self.proxy.hits()

    def steps(self, seed, count):
        """The steps of a generated run."""
        cached = frozenset(self.proxy.by_label("heatsink_local_hits_by_command_total", "command"))
        return list(generate.Run(seed, self.commands, cached).steps(count))

    def play(self, steps, protocols, timeline=None):
        """`timeline` hears of each step before it is played."""
        self.pair.start(protocols)
        for i, step in enumerate(steps):
            if timeline is not None:
                timeline(step)
            if i % 40 == 39:
                self.pair.release()
            self.pair.play(step)
        self.pair.finish()
        left = self.pair.left()
        if left:
            raise Difference((b"what the run leaves in the servers",), None, "", "\n".join(left))
