# SPDX-License-Identifier: Apache-2.0
"""A cluster of real servers: masters that share all slots, replicas, slots that move."""

import itertools

from .client import RedisError, ValueClient
from .patience import PATIENCE_S, until
from .processes import MEET_SOON, Redis

SLOTS = 16384


class Node:
    """One server of the cluster, with a client of it.

    `options`, or a function that gives those of one node. `host`: by which the others and proxies
    know it, and where its own packets come from; tests reach it at 127.0.0.1 in any case.
    """

    def __init__(self, options, host="127.0.0.1"):
        own = ("--bind", "127.0.0.1", host, "--bind-source-addr", host)
        own += ("--cluster-announce-ip", host, "--protected-mode", "no")
        self.host = host
        options = options() if callable(options) else options
        self.redis = Redis(*MEET_SOON, *(own if host != "127.0.0.1" else ()), *options)
        self.port = self.redis.port
        self.client = ValueClient(self.port)
        self.name = self("CLUSTER", "MYID").decode()
        # Where other nodes reach it.
        over_tls = self("CONFIG", "GET", "tls-cluster")[1:] == [b"yes"]
        self.bus_port = int(self("CONFIG", "GET", "tls-port")[1]) if over_tls else self.port

    def __call__(self, *command):
        return self.client(*command)

    def knows(self, nodes):
        """It has met so many nodes, and knows the owner of each slot."""
        info = self("CLUSTER", "INFO")
        wanted = (b"known_nodes:%d" % nodes, b"state:ok", b"slots_assigned:%d" % SLOTS)
        return all(b"cluster_" + each + b"\r" in info for each in wanted)

    def reconnect(self):
        self.client.close()
        self.client = ValueClient(self.port)

    def stop(self):
        self.client.close()
        self.redis.stop()


class Cluster:
    """A context. `masters` have equal parts of the slots; each has `replicas`.

    `timeout_ms`: cluster-node-timeout, once the nodes have met. `apart`: each node has an address
    of its own, 127.0.1.1 and so on. `scattered`: the masters take turns after two slots each, so
    there are 8192 ranges.
    """

    def __init__(
        self, masters=3, replicas=0, options=(), timeout_ms=15000, apart=False, scattered=False
    ):
        self.wanted, self.apart, self.scattered = (masters, replicas), apart, scattered
        self.options, self.timeout_ms = options, timeout_ms
        self.masters, self.replicas = [], []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        masters, replicas = self.wanted
        for i in range(masters):
            node = self._node(i)
            self.masters.append(node)
            node("CLUSTER", "ADDSLOTSRANGE", *itertools.chain(*self.ranges(i)))
            node("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        self.replicas = [self._node(masters + i) for i in range(masters * replicas)]
        for node in self.nodes[1:]:
            node("CLUSTER", "MEET", self.masters[0].host, self.masters[0].bus_port)
        count = len(self.nodes)
        known = b"cluster_known_nodes:%d" % count
        until(
            lambda: all(known in node("CLUSTER", "INFO") for node in self.nodes),
            3 * PATIENCE_S, "the nodes have met",
        )  # fmt: skip
        for i, node in enumerate(self.replicas):
            node("CLUSTER", "REPLICATE", self.masters[i % masters].name)
        until(lambda: all(n.knows(count) for n in self.nodes), 3 * PATIENCE_S, "the cluster is up")
        until(self._replicas_follow, 3 * PATIENCE_S, "the replicas are online")
        for node in self.nodes:
            node("CONFIG", "SET", "cluster-node-timeout", self.timeout_ms)

    def _node(self, number):
        return Node(self.options, f"127.0.1.{number + 1}" if self.apart else "127.0.0.1")

    def _replicas_follow(self):
        return all(
            b"master_link_status:up" in node("INFO", "replication") for node in self.replicas
        )

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()

    @property
    def nodes(self):
        return self.masters + self.replicas

    def ranges(self, master):
        if not self.scattered:
            return [self.part(master)]
        return [(2 * i, 2 * i + 1) for i in range(master, SLOTS // 2, self.wanted[0])]

    def part(self, master):
        """The first and last slot that this master has at the start."""
        masters = self.wanted[0]
        return master * SLOTS // masters, (master + 1) * SLOTS // masters - 1

    @property
    def url(self):
        return "redis+cluster://" + ",".join(f"{node.host}:{node.port}" for node in self.masters)

    def slot(self, key):
        return self.masters[0]("CLUSTER", "KEYSLOT", key)

    def tag_of(self, slot):
        """A hash tag of this slot."""
        return next(tag for tag in map(str, range(200_000)) if self.slot(tag) == slot)

    def owner(self, key):
        """The master that has the key's slot by its own account."""
        return self.owner_of(self.slot(key))

    def owner_by(self, node, slot):
        """The name of the slot's owner as this node has it; None: it knows none."""
        for first, last, master, *_ in node("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return master[2].decode()
        return None

    def epoch_by(self, node, of):
        """The config epoch of a node as another has it."""
        lines = node("CLUSTER", "NODES").decode().splitlines()
        return int(next(line for line in lines if line.startswith(of.name)).split()[6])

    def owner_of(self, slot):
        for node in self.nodes:
            lines = node("CLUSTER", "NODES").decode().splitlines()
            own = next(line for line in lines if "myself" in line).split()
            if "master" not in own[2]:
                continue
            for part in own[8:]:
                if part.startswith("["):
                    continue
                first, _, last = part.partition("-")
                if int(first) <= slot <= int(last or first):
                    return node
        raise AssertionError(f"no node has slot {slot}")

    def replica_of(self, master):
        for node in self.replicas:
            line = next(
                line for line in node("CLUSTER", "NODES").decode().splitlines() if "myself" in line
            )
            if line.split()[3] == master.name:
                return node
        raise AssertionError("the master has no replica")

    def begin_move(self, slot, source, target):
        """The keys of the slot may be on either node from now on."""
        target("CLUSTER", "SETSLOT", slot, "IMPORTING", source.name)
        source("CLUSTER", "SETSLOT", slot, "MIGRATING", target.name)

    def move_keys(self, slot, source, target):
        how = ()
        while keys := source("CLUSTER", "GETKEYSINSLOT", slot, 100):
            where = (target.host, target.bus_port, "", 0, 5000)
            got = source("MIGRATE", *where, *how, "KEYS", *keys)
            if str(got).startswith("IOERR"):  # a time-out: the keys may be on both nodes
                how = ("REPLACE",)
            elif isinstance(got, RedisError):
                raise AssertionError(f"the keys of slot {slot} do not move: {got}")

    def end_move(self, slot, target):
        """All masters know the new owner and its epoch when it returns.

        Otherwise a late message of the old owner can undo it, and a node deletes the keys of a slot
        that it loses to a higher epoch.
        """
        masters = [target] + [node for node in self.masters if node is not target]

        def agreed():
            for node in masters:
                node("CLUSTER", "SETSLOT", slot, "NODE", target.name)
            return all(
                self.owner_by(node, slot) == target.name
                and self.epoch_by(node, target) == self.epoch_by(target, target)
                for node in masters
            )

        until(agreed, PATIENCE_S, "the masters agree on the owner")

    def move(self, slot, source, target):
        self.begin_move(slot, source, target)
        self.move_keys(slot, source, target)
        self.end_move(slot, target)

    def moves_atomically(self):
        """Whether the servers can (Valkey 9 and later, Redis 8.4 and later)."""
        return self._atomic_command(*self.masters[:2], 0) is not None

    def move_atomically(self, slot, source, target):
        """The servers move the slot by themselves; it is complete when this returns."""
        node, command = self._atomic_command(source, target, slot)
        reply = node("CLUSTER", *command)
        if isinstance(reply, RedisError):
            raise AssertionError(f"{command}: {reply}")
        # In Redis 8.6 no node says for a moment that the slot is its own.
        until(
            lambda: self.owner_by(target, slot) == target.name, PATIENCE_S, "the slot has moved"
        )

    def _atomic_command(self, source, target, slot):
        """The node that moves the slot, and the command for it. None: no node can."""
        known = {str(name, "utf-8") for name, *_ in source("COMMAND", "INFO", "CLUSTER")[0][9]}
        if "cluster|migrateslots" in known:
            return source, ("MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.name)
        if "cluster|migration" in known:
            return target, ("MIGRATION", "IMPORT", slot, slot)
        return None
