# SPDX-License-Identifier: Apache-2.0
"""`heatsink top` as a child, and a load whose every access is counted."""

import json
import os
import random
import subprocess
import threading
import time

from harness import HEATSINK, PATIENCE_S, SLOW, ValueClient, until
from harness.processes import Process

PATIENT = ["--max-latency", "60s"]  # the machine of a test may be slow: that is no finding
ONCE = ["--once", "--for", f"{3 * PATIENCE_S * SLOW:.0f}s"]  # so long may it take to see something


def top(port, *flags, environment=None, source="monitor", user=""):
    """The finished process of `heatsink top redis://127.0.0.1:port`."""
    command = [HEATSINK, "top", f"redis://{user}127.0.0.1:{port}", "--source", source, *flags]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=(3 * PATIENCE_S + 40) * SLOW,
        env=os.environ | (environment or {}),
        check=False,
    )


def once(port, *flags, **how):
    """The answer of --once --json."""
    done = top(port, *ONCE, "--json", *flags, **how)
    if done.returncode != 0:
        raise AssertionError(f"heatsink top ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Watching:
    """A context: top prints an answer each 200 ms; `answers` are those so far, as values."""

    def __init__(self, *flags, source="capture"):
        command = [HEATSINK, "top", *flags, "--source", source, "--json", "--interval", "200ms"]
        self.process = Process(command, stderr=subprocess.PIPE)
        self.read = []  # the answers among the first lines

    def __enter__(self):
        until(lambda: self.answers or not self.process.alive(), what="top looks")
        if not self.process.alive():
            raise AssertionError(self.process.child.stderr.read())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.child.stderr.close()

    @property
    def answers(self):
        for line in self.process.lines[len(self.read) :]:
            self.read.append(json.loads(line))
        return self.read

    def ended(self):
        """The exit code and what was said of it."""
        until(lambda: not self.process.alive(), what="it ends by itself")
        return self.process.child.wait(), self.process.child.stderr.read()


class Load:
    """A context: a thread that gives one key `share` of its reads at an even pace, and counts."""

    def __init__(self, port, hot="the:hot:key", share=0.5, others=1000, per_s=4000, seed=1):
        self.client = ValueClient(port)
        self.hot, self.share, self.others, self.per_s = hot, share, others, per_s
        self.random = random.Random(seed)
        self.counts = []  # (moment, accesses of the hot key, all) so far
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join(PATIENCE_S)
        self.client.close()

    def rates(self):
        """The lowest and the highest of the hot key, per second, of all seconds so far.

        An even pace is that of a machine that never stands still.
        """
        until(
            lambda: self.counts and self.counts[-1][0] - self.counts[0][0] >= 1,
            what="a second of the load",
        )
        counts, first, found = list(self.counts), 0, []
        for end, hot, _ in counts:
            while first + 1 < len(counts) and end - counts[first + 1][0] >= 1:
                first += 1
            begin, before, _ = counts[first]
            if end - begin >= 1:
                found.append((hot - before) / (end - begin))
        return min(found), max(found)

    def _run(self):
        hot = total = 0
        begin = time.monotonic()
        while not self.done.is_set():
            due = int((time.monotonic() - begin) * self.per_s) - total
            calls = []
            for _ in range(min(due, 200)):
                is_hot = self.random.random() < self.share
                hot += is_hot
                calls.append(("GET", self.hot if is_hot else self._other()))
            if calls:
                self.client.pipeline(calls)
                total += len(calls)
            self.counts.append((time.monotonic(), hot, total))
            time.sleep(0.001)  # paces the load; nothing waits for it

    def _other(self):
        return f"key:{self.random.randrange(self.others)}"
