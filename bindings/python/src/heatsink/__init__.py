# SPDX-License-Identifier: Apache-2.0
"""Local reads of hot keys: a hit is no round trip. Start with Client, or wrap() for redis-py."""

from heatsink._client import Client
from heatsink._native import Error, LoadFailed, LoadRefused
from heatsink._options import Option, options
from heatsink._redis import wrap
from heatsink._told import HotEvent, HotKey, Stats

__all__ = [
    "Client",
    "Error",
    "HotEvent",
    "HotKey",
    "LoadFailed",
    "LoadRefused",
    "Option",
    "Stats",
    "options",
    "wrap",
]
