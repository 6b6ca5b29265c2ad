# SPDX-License-Identifier: Apache-2.0
"""A redis-server of our own, and heatsink in front of it, on free ports of the loopback."""

import contextlib
import pathlib
import socket
import subprocess
import time


class ClientsError(Exception):
    """A sentence for a person."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(name, arguments, port, folder):
    with open(pathlib.Path(folder) / f"{name}.log", "ab") as log:
        process = subprocess.Popen([str(a) for a in arguments], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    end = time.monotonic() + 10
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return process
        time.sleep(0.02)
    stop(process)
    raise ClientsError(f"{name} does not serve port {port}")


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Servers:
    def __init__(self, heatsink, folder):
        self.redis_port, self.port, self.admin_port = free_port(), free_port(), free_port()
        self.folder = folder
        self.redis = self._start_redis()
        try:
            # So that a test's few reads make a key hot.
            arguments = [heatsink, "proxy", "--listen", f"127.0.0.1:{self.port}",
                         "--upstream", f"redis://127.0.0.1:{self.redis_port}",
                         "--admin", f"127.0.0.1:{self.admin_port}",
                         "--set", "detection.hot-qps=5", "--set", "detection.write-hot-ratio=0"]
            self.heatsink = start("heatsink", arguments, self.port, folder)
        except ClientsError:
            stop(self.redis)
            raise

    def _start_redis(self):
        arguments = ["redis-server", "--port", self.redis_port, "--bind", "127.0.0.1",
                     "--save", "", "--dir", self.folder]
        return start("redis", arguments, self.redis_port, self.folder)

    def restart_redis(self):
        stop(self.redis)
        self.redis = self._start_redis()

    def stop(self):
        stop(self.heatsink)
        stop(self.redis)


@contextlib.contextmanager
def running(heatsink, folder):
    servers = Servers(heatsink, folder)
    try:
        yield servers
        if servers.heatsink.poll() is not None:
            log = (pathlib.Path(folder) / "heatsink.log").read_text(errors="replace")
            raise ClientsError(f"heatsink has ended: {log[-600:]}")
    finally:
        servers.stop()
