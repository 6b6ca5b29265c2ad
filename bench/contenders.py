# SPDX-License-Identifier: Apache-2.0
"""What bench/proxy.py compares: how each is started, and what it can be asked."""

import base64
import dataclasses
import json
import pathlib
import socket
import time
import urllib.error
import urllib.request

from load import run_load
from processes import BenchError, Process, free_port

KEYS = 100_000
PROMOTION_TIMEOUT_S = 30.0

NUTCRACKER_CONFIG = """\
pool:
  listen: 127.0.0.1:{port}
  hash: fnv1a_64
  distribution: ketama
  redis: true
  servers:
   - 127.0.0.1:{upstream}:1
"""


@dataclasses.dataclass
class Contender:
    """Answers Redis commands on `port`. `process` is what its CPU time is taken from."""

    name: str
    process: Process
    port: int
    uses_redis: bool = True
    admin_port: int = 0  # heatsink's, when it caches

    def get_ready_for_hot(self, key):
        """Sends reads until heatsink holds a copy of `key`; nothing to do for the others."""
        if not self.admin_port:
            return
        end = time.monotonic() + PROMOTION_TIMEOUT_S
        while time.monotonic() < end:
            run_load(self.port, ["GET", key], 20_000)
            if self._is_cached(key):
                return
        raise BenchError(
            f"{self.name} did not cache {key} within {PROMOTION_TIMEOUT_S:.0f} s of reads"
        )

    def _is_cached(self, key):
        wanted = base64.b64encode(key.encode()).decode()
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.admin_port}/api/hotkeys", timeout=5
            ) as answer:
                keys = json.load(answer)["keys"]
        except (OSError, ValueError, KeyError) as error:
            raise BenchError(f"{self.name}: /api/hotkeys cannot be read: {error}") from error
        return any(each["name_base64"] == wanted and each["cached"] for each in keys)


class Starter:
    """Starts contenders against one Redis; `stack` (an ExitStack) ends them."""

    def __init__(self, options, folder, stack):
        self._options = options
        self._folder = pathlib.Path(folder)
        self._stack = stack
        self.redis = self._start_redis()

    def start(self, name, value_bytes):
        return {
            "direct": lambda: self.redis,
            "nutcracker": self._start_nutcracker,
            "bare": lambda: self._start_bare(value_bytes),
            "heatsink": lambda: self.start_heatsink(name, [], caches=True),
            # The same proxy without its counters: what detection costs on the path of a miss.
            "heatsink-blind": lambda: self.start_heatsink(
                name, ["detection.enabled=false"], caches=False
            ),
        }[name]()

    def _launch(self, name, arguments, port, **how):
        process = Process(name, arguments, self._folder)
        self._stack.callback(process.stop)
        process.wait_until_serving(port)
        return Contender(name, process, port, **how)

    def _start_redis(self):
        port = free_port()
        return self._launch(
            "direct",
            [
                "redis-server",
                "--port",
                port,
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--daemonize",
                "no",
                "--dir",
                self._folder,
            ],
            port,
        )

    def _start_nutcracker(self):
        port = free_port()
        config = self._folder / "nutcracker.yml"
        config.write_text(NUTCRACKER_CONFIG.format(port=port, upstream=self.redis.port))
        return self._launch(
            "nutcracker",
            ["/usr/sbin/nutcracker", "-c", config, "-s", free_port(), "-a", "127.0.0.1", "-v", 3],
            port,
        )

    def _start_bare(self, value_bytes):
        port = free_port()
        program = self._options.programs / "bench/bare_responder"
        return self._launch(
            f"bare-{value_bytes}", [program, port, value_bytes], port, uses_redis=False
        )

    def start_heatsink(self, name, settings, caches, workers=None, programs=None):
        """`workers` and `programs` (the build directory): those of the options if not given."""
        port, admin = free_port(), free_port()
        settings = ["detection.hot-qps=100", *settings, *self._options.set]
        arguments = [
            (programs or self._options.programs) / "apps/heatsink/heatsink",
            "proxy",
            "--listen",
            f"127.0.0.1:{port}",
            "--upstream",
            f"redis://127.0.0.1:{self.redis.port}",
            "--admin",
            f"127.0.0.1:{admin}",
            "--workers",
            self._options.workers if workers is None else workers,
        ]
        for setting in settings:
            arguments += ["--set", setting]
        return self._launch(name, arguments, port, admin_port=admin if caches else 0)


def random_key_prefix(value_bytes):
    return f"random{value_bytes}:"


def hot_key(value_bytes):
    return f"hot{value_bytes}"


def fill(port, value_bytes):
    """Writes the hot key and 100 000 others, named as redis-benchmark does (twelve digits)."""
    value = b"x" * value_bytes
    names = [hot_key(value_bytes)] + [
        f"{random_key_prefix(value_bytes)}{i:012d}" for i in range(KEYS)
    ]
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile(
        "rb"
    ) as replies:
        for start in range(0, len(names), 500):
            batch = names[start : start + 500]
            connection.sendall(
                b"".join(
                    b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n"
                    % (len(name), name.encode(), value_bytes, value)
                    for name in batch
                )
            )
            for _ in batch:
                if replies.readline() != b"+OK\r\n":
                    raise BenchError("Redis refuses to be filled")
