# SPDX-License-Identifier: Apache-2.0
"""harness: the programs under test as processes on loopback, and clients that talk to them.

Start here: Redis and Proxy (processes.py) are children on free ports whose stop() always ends
them; RawClient and ValueClient (client.py) are one connection each; until() waits for what another
process does. A Theatre (theatre.py) has a server, proxies and a load that is recorded and judged
(recording.py), a Relay (relay.py) between them. tests/CMakeLists.txt gives each test the
environment it needs: HEATSINK, the binary, and PYTHONPATH, this folder's parent. By hand, in the
root of the project (HEATSINK is that of build/dev unless it is given):

    PYTHONPATH=tests python3 tests/faults/coherence_test.py
"""

from .client import Closed, RawClient, RedisError, ValueClient, drain, encode, end_of_reply
from .form import LONG, long_form
from .patience import PATIENCE_S, SLOW, until, until_seen
from .processes import EAGER, ERRORS_WHEN_DOWN, LOG, QUIET, Proxy, Redis
from .programs import HEATSINK, SERVER, need_programs

__all__ = [
    "EAGER", "ERRORS_WHEN_DOWN", "HEATSINK", "LOG", "LONG", "PATIENCE_S", "QUIET", "SERVER", "SLOW",
    "Closed", "Proxy", "RawClient", "Redis", "RedisError", "ValueClient", "drain", "encode",
    "end_of_reply", "long_form", "need_programs", "until", "until_seen",
]  # fmt: skip
