# SPDX-License-Identifier: Apache-2.0
"""A recorded load on one slot of a cluster, through a proxy and past it."""

import contextlib
import re
import tempfile

from harness import PATIENCE_S, Proxy, until
from harness.cluster import Cluster
from harness.processes import EAGER, LOG
from harness.recording import Recording
from harness.theatre import Theatre
from recorded import BOUND_S, COPIES, Recorded, readers

PREFIX = "{moving}"
BRIEF = {"upstream.response-timeout": "3s", "upstream.backoff-max": "100ms"}
# The sessions' targets: 0 is the owner of the slot at the start, 1 the proxy, 2 the other node.
SESSIONS = (
    readers(),
    "via=1,count=2,set=6000,del=1000,mget=2000,think-us=100000,keys=4",
    "via=0,set=10000,keys=4,think-us=300000",
    "via=2,set=10000,keys=4,think-us=300000",
)
TIMEOUT_MS = 1000  # cluster-node-timeout


class ClusterTheatre(Theatre):
    """A cluster stands where the one server would."""

    def __init__(self, replicas=0, options=None, server_options=(), one_address=False, **how):
        """`one_address`: the proxies know one node, as if it were a server by itself."""
        super().__init__(options=BRIEF | (options or {}))
        self.one_address = one_address
        self.cluster = Cluster(3, replicas, server_options, **({"timeout_ms": TIMEOUT_MS} | how))
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heatsink-history-")
        self.stack.callback(self.folder.cleanup)
        self.stack.enter_context(self.cluster)
        self.owner = self.cluster.owner(PREFIX)
        self.slot = self.cluster.slot(PREFIX)
        self.others = [node for node in self.cluster.masters if node is not self.owner]
        self.other = self.others[0]
        try:
            one = f"redis://127.0.0.1:{self.other.port}"
            url = one if self.one_address else self.cluster.url
            proxy = Proxy(url, EAGER | self.options, stderr=LOG)
            self.proxies.append(proxy)
            self.stack.callback(proxy.process.kill)
            self.wait_coherent()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def record(self, sessions, past=None, **how):
        ports = [self.owner.port, self.proxies[0].port, (past or self.other).port]
        return Recording(f"{self.folder.name}/history", ports, sessions, list(self.proxies), **how)


def hold_writes(node):
    """None is executed from now on, until CLIENT UNPAUSE."""
    node("CLIENT", "PAUSE", "600000", "WRITE")


def offset(node, field):
    return int(re.search(rf"{field}:(\d+)", node("INFO", "replication").decode())[1])


class ClusterRows(Recorded):
    @contextlib.contextmanager
    def playing(self, replicas=0, past=None, sessions=SESSIONS, **how):
        """`past`: of the theatre, the second node that is written to past the proxy."""
        with ClusterTheatre(replicas, **how) as theatre:
            target = past(theatre) if past else None
            with theatre.record(sessions, target, prefix=PREFIX) as play:
                play.copies_speak(COPIES)
                yield theatre, play
                self.see_out(play)
            theatre.stop_proxies()
            found = play.judge(BOUND_S)
        print(f"\n{self.id()}: {play.said}\n{found.text}", end="", flush=True)
        self.assertTrue(found.sound, found.text)

    def bring_in_step(self, master, replica):
        """Nothing is acknowledged from now on that the replica does not have."""
        hold_writes(master)
        until(
            lambda: offset(replica, "slave_repl_offset") == offset(master, "master_repl_offset"),
            PATIENCE_S, "the replica has it all",
        )  # fmt: skip
