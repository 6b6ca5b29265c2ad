# SPDX-License-Identifier: Apache-2.0
"""What many clients ask and are told, recorded by tests/consistency's player, and its judgement."""

import os
import re
import subprocess
import time

from .patience import PATIENCE_S, SLOW, until

HISTORY = os.environ.get("HEATSINK_HISTORY", "build/dev/tests/consistency/heatsink_history")


class Recording:
    """A context: sessions are played and recorded from beginning to end, `seconds` at least.

    `sessions` as tests/consistency/load_spec.h has them, `targets` the ports they count from 0;
    `said` afterwards: what the player had to say.
    """

    def __init__(self, path, targets, sessions, proxies, seconds=0, operations=0, seed=1,
                 prefix="k"):  # fmt: skip
        self.path, self.seconds, self.proxies, self.said = path, seconds, proxies, ""
        self.command = [HISTORY, "play", "--until-told", "--out", path, "--for", str(seconds)]
        self.command += ["--operations", str(operations), "--seed", str(seed), "--prefix", prefix]
        for port in targets:
            self.command += ["--target", f"127.0.0.1:{port}"]
        for session in sessions:
            self.command += ["--sessions", session]

    def __enter__(self):
        self.began = time.monotonic()
        self.player = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, kind, *_):
        if not self.ended():
            self.stop()
        if kind is None and self.player.returncode != 0:
            raise AssertionError(f"heatsink_history play ended with {self.player.returncode}")

    def stop(self):
        """Ends it before the context does."""
        try:
            patience_s = (20 * self.seconds + 10 * PATIENCE_S) * SLOW
            self.said = self.player.communicate(timeout=patience_s)[0].strip()
        finally:
            self.player.kill()
            self.player.wait()

    def ended(self):
        return self.player.stdin.closed

    def played_s(self):
        return time.monotonic() - self.began

    def copies_speak(self, times):
        """Waits until each proxy has answered so many reads more from copies.

        What is broken before that proves nothing about copies; how long it takes is the machine's
        affair.
        """
        wanted = [proxy.hits() + times for proxy in self.proxies]

        def spoken():
            if self.player.poll() is not None:
                raise AssertionError("heatsink_history play has ended too soon")
            return all(proxy.hits() >= hits for proxy, hits in zip(self.proxies, wanted))

        until(spoken, 3 * PATIENCE_S, f"reads answered from copies, {times} by each proxy")

    def copies_fall_silent(self, for_s=0.3):
        """Waits until no proxy answers any read from a copy for a while."""

        def silent():
            before = [proxy.hits() for proxy in self.proxies]
            time.sleep(for_s)  # only time shows that no copy speaks
            return before == [proxy.hits() for proxy in self.proxies]

        until(silent, PATIENCE_S, "no read answered from a copy")

    def judge(self, bound_s, level="key"):
        """A Judgement, after the end, of what was promised at that level."""
        done = subprocess.run(
            [HISTORY, "check", self.path, "--bound-ms", str(bound_s * 1e3), "--level", level],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise AssertionError(f"heatsink_history check ended with {done.returncode}")
        return Judgement(done.stdout, done.returncode)


class Judgement:
    """What `heatsink_history check` said of a history."""

    def __init__(self, text, status):
        self.text = text
        self.sound = status == 0
        self.operations = int(re.search(r"^(\d+) operations", text)[1])
        self.reads = int(re.search(r"(\d+) reads that a copy", text)[1])
        measured = re.search(r"^staleness: ([\d.]+) ms", text, re.MULTILINE)
        self.staleness_s = float(measured[1]) / 1e3 if measured else None
        self.promises = re.findall(r"^  (\w[\w ]*): \d+$", text, re.MULTILINE)
