# SPDX-License-Identifier: Apache-2.0
"""For python.py: measures, and prints `contender<TAB>nanoseconds` lines."""

import ctypes
import functools
import pathlib
import statistics
import time
import timeit

import redis

import heatsink
from harness.processes import Redis

KEY, VALUE, TURNS = "user:00000000042:profile", b"v" * 100, 7
CALM = {"refresh_enabled": False, "expire_after_write": "1h"}


def load(_key):
    return VALUE


class Value(ctypes.Structure):
    """heatsink_value"""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("is_hit", ctypes.c_int),
        ("is_held", ctypes.c_int),
        ("held", ctypes.c_uint64 * 14),
    ]


class ByCtypes:
    """What one would write instead of an extension; it keeps the one key."""

    LOAD = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
    )

    def __init__(self):
        path = pathlib.Path(heatsink.__file__).parent / "lib/libheatsink.so.1"
        self.native = ctypes.CDLL(str(path))
        self.client = ctypes.c_void_p()
        self.native.heatsink_open(None, ctypes.byref(self.client))
        self.native.heatsink_loader_new.restype = ctypes.c_void_p
        self.load = self.LOAD(self._load)
        loader = ctypes.c_void_p(self.native.heatsink_loader_new(self.load, None, None))
        name, hour_ms = KEY.encode(), ctypes.c_uint64(3_600_000)
        self.native.heatsink_warm(self.client, name, len(name), loader, hour_ms)
        self.read = self.native.heatsink_read
        self.read.argtypes = [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.POINTER(Value),
        ]
        self.release = self.native.heatsink_value_release
        self.release.argtypes = [ctypes.POINTER(Value)]

    def _load(self, _user, _key, _size, reply):
        return self.native.heatsink_reply_value(ctypes.c_void_p(reply), VALUE, len(VALUE))

    def get(self, key):
        name = key.encode()
        value = Value()
        if self.read(self.client, name, len(name), value) != 0:
            return None
        found = ctypes.string_at(value.data, value.size)
        self.release(value)
        return found


def measure(server):
    plain = redis.Redis(port=server.port)
    plain.set(KEY, VALUE)
    client = heatsink.Client(**CALM)
    wrapped = heatsink.wrap(redis.Redis(port=server.port), coherent=False, **CALM)

    @client.cached(key="user:{number:011d}:profile")
    def profile(number):
        return load(number)

    for one in (client, wrapped.heatsink):
        one.warm([KEY], load)
    names = {
        "nothing": lambda key: None,
        "memo": functools.lru_cache(load),
        "get": client.get,
        "load": load,
        "peek": client.peek,
        "profile": profile,
        "wrapped": wrapped.get,
        "by_ctypes": ByCtypes().get,
        "plain": plain.get,
        "key": KEY,
    }
    contenders = {
        "a call of nothing": ("nothing(key)", 1_000_000),
        "functools.lru_cache": ("memo(key)", 1_000_000),
        "Client.get": ("get(key, load)", 1_000_000),
        "Client.peek (not counted)": ("peek(key)", 1_000_000),
        "a function with Client.cached": ("profile(42)", 200_000),
        "get of a wrapped redis.Redis": ("wrapped(key)", 200_000),
        "the library by ctypes": ("by_ctypes(key)", 200_000),
        "get of redis.Redis, over loopback": ("plain(key)", 10_000),
    }
    for statement, _ in list(contenders.values())[1:]:
        while eval(statement, names) != VALUE:
            pass  # warm() loads in the background
    costs = {name: [] for name in contenders}
    for _ in range(TURNS + 1):  # the first warms up
        for name, (statement, count) in contenders.items():
            took_s = timeit.timeit(statement, timer=time.thread_time, number=count, globals=names)
            costs[name].append(took_s / count * 1e9)
    for name, turns in costs.items():
        print(f"{name}\t{statistics.median(turns[1:]):.0f}")


if __name__ == "__main__":
    one = Redis()
    try:
        measure(one)
    finally:
        one.stop()
