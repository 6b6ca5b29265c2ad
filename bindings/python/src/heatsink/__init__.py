# SPDX-License-Identifier: Apache-2.0
"""Serves reads from copies in the process. Start with Client, or wrap() for redis-py."""

from heatsink._client import Client
from heatsink._limiter import Decision, Limiter
from heatsink._native import Error, LoadFailed, LoadRefused, ServerError
from heatsink._native import version as __version__
from heatsink._options import Option, options
from heatsink._rate_limiter import LimiterCounts, RateLimiter, Verdict
from heatsink._redis import wrap
from heatsink._spread import SplitCounter, SpreadKeys
from heatsink._told import HotEvent, HotKey, Stats
from heatsink._window_stats import WindowCounts, WindowReading, WindowStats

__all__ = [
    "Client",
    "Decision",
    "Error",
    "HotEvent",
    "HotKey",
    "Limiter",
    "LimiterCounts",
    "LoadFailed",
    "LoadRefused",
    "Option",
    "RateLimiter",
    "ServerError",
    "SplitCounter",
    "SpreadKeys",
    "Stats",
    "Verdict",
    "WindowCounts",
    "WindowReading",
    "WindowStats",
    "__version__",
    "options",
    "wrap",
]
