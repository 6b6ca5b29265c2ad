# SPDX-License-Identifier: Apache-2.0
"""A fault in the middle of a load that is recorded, and judged when it is over."""

import contextlib
import time
import unittest

from harness import PATIENCE_S, ValueClient, until
from harness.theatre import Theatre

BOUND_S = 1.0  # cache.max-staleness
COPIES = 500  # reads answered from copies before a fault, and after it


def readers(db=0, keys=4):
    return f"via=1,count=4,depth=8,think-us=1000,keys={keys},db={db}"


# Writers through the proxy and past it; nobody writes through it to the second database, so that
# its readers are not held up by a write that is not answered.
LOAD = (
    readers(),
    "via=1,count=2,set=6000,del=1000,mget=2000,think-us=100000,keys=4",
    "via=0,set=10000,keys=4,think-us=300000",
    readers(1),
    "via=0,set=9000,del=1000,keys=4,think-us=300000,db=1",
)
READERS = readers()
CLIENTS = 10  # of the proxy, that LOAD has


class Recorded(unittest.TestCase):
    """recorded() is a context: copies are served before the fault and after it, and all is judged.

    The sessions' targets: 0 is the server itself, 1 the proxy.
    """

    @contextlib.contextmanager
    def recorded(self, sessions=LOAD, bound_s=BOUND_S, past=None, prefix="k", **stage):
        with Theatre(**stage) as theatre:
            with theatre.record(sessions, past, prefix=prefix) as recording:
                recording.copies_speak(COPIES)
                yield theatre, recording
                if not recording.ended():
                    self.see_out(recording)
            theatre.stop_proxies()
            found = recording.judge(bound_s)
        print(f"\n{self.id()}: {recording.said}\n{found.text}", end="", flush=True)
        self.assertTrue(found.sound, found.text)

    def see_out(self, play, copies=COPIES):
        """Plays on for so long that a copy that has survived the fault comes out, and ends."""
        play.copies_speak(copies)
        time.sleep(BOUND_S * 1.5)  # so long may it take to be seen: nothing else tells of it
        play.stop()

    def lost(self, theatre):
        """How often the tracker has been lost, with the copies of its generation."""
        return theatre.proxies[0].metric("heatsink_tracker_lost_total")

    def wait_for_loss(self, theatre, before):
        until(lambda: self.lost(theatre) > before, PATIENCE_S, "a new generation")

    def answer(self, theatre, *args):
        """What a new client of the proxy is told, an error if it is cut off."""
        with ValueClient(theatre.proxies[0].port) as client:
            return client(*args)


def trackers(port):
    """The ids of the tracking connections that a server has."""
    with ValueClient(port) as client:
        lines = client("CLIENT", "LIST").decode().splitlines()
    return [line.split()[0] for line in lines if " name=heatsink-tracker " in line]
