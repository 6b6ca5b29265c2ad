# SPDX-License-Identifier: Apache-2.0
"""Programs that a bench starts, measures and always ends."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time


class BenchError(Exception):
    """A sentence for a person: what failed, and what to do."""


def free_port():
    """A port nobody listens on now. If another program takes it before ours does, ours says so."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """One program with its output in a file. `stop` may be called again."""

    def __init__(self, name, arguments, folder):
        self.name = name
        self.output = pathlib.Path(folder) / f"{name}.log"
        with open(self.output, "wb") as output:
            try:
                # Its own session: Ctrl-C reaches this script alone, which ends all in order.
                self._popen = subprocess.Popen(
                    [str(argument) for argument in arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    start_new_session=True,
                )
            except FileNotFoundError as error:
                raise BenchError(f"{name}: no program {arguments[0]}") from error

    @property
    def pid(self):
        return self._popen.pid

    def wait_until_serving(self, port, timeout_s=10.0):
        """Returns when `port` accepts; BenchError with the program's last words otherwise."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end and self._popen.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                return
            time.sleep(0.02)
        words = self.output.read_text(errors="replace")[-500:].strip()
        raise BenchError(f"{self.name} does not serve port {port}; it said: {words or '(nothing)'}")

    def cpu_seconds(self):
        """User and system time of all its threads so far.

        The kernel's per-process clock (clock_getcpuclockid(3)) counts nanoseconds; /proc/PID/stat
        shows the same sum in ticks of 10 ms.
        """
        try:
            return time.clock_gettime(~self.pid << 3 | 2)
        except OSError as error:
            words = self.output.read_text(errors="replace")[-500:].strip()
            raise BenchError(f"{self.name} has ended; it said: {words or '(nothing)'}") from error

    def pin(self, cores):
        """Keeps it, threads to come included, on `cores`."""
        for task in os.listdir(f"/proc/{self.pid}/task"):
            os.sched_setaffinity(int(task), cores)

    def stop(self):
        if self._popen.poll() is not None:
            return
        self._popen.terminate()
        try:
            self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()


class StolenTime:
    """CPU time that the host of a virtual machine gave to other machines, from now on.

    What runs then takes longer, by its own clock, too: figures of such a time are too high.
    """

    def __init__(self):
        self._before = self._ticks()

    def share(self):
        """Of all CPU time of this machine since then, 0 .. 1."""
        stolen, every = (now - then for now, then in zip(self._ticks(), self._before))
        return stolen / max(every, 1)

    @staticmethod
    def _ticks():
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(each) for each in file.readline().split()[1:9]]  # proc(5): up to steal
        return ticks[7], sum(ticks)


def end_on_signals():
    """SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that every `finally` runs."""

    def interrupt(_signal, _frame):
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def run_bench(name, run, options):
    """The exit status of a bench: 0, 1 if run() returns False, 2 if it could not be run."""
    end_on_signals()
    try:
        with contextlib.ExitStack() as stack:
            return 1 if run(options, stack) is False else 0
    except (BenchError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
    return 2
