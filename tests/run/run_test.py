#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./run leaves nothing behind, however it ends.

argv[1]: the heatsink to show; without it a stand-in.
"""

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUN = pathlib.Path(__file__).resolve().parents[2] / "run"
BINARY = str(pathlib.Path(__file__).with_name("stand_in.py"))
DEADLINE_S = 60


class Show:
    """One ./run with a temporary folder of its own, by which all that belongs to it is found."""

    def __init__(self, *flags, terminal=False):
        self.folder = tempfile.TemporaryDirectory(prefix="heatsink-run-test-")
        self.said = ""
        ours, theirs = pty.openpty() if terminal else os.pipe()
        self.output = ours
        self.process = subprocess.Popen(
            [RUN, "--binary", BINARY, *flags],
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TMPDIR": self.folder.name, "TERM": "xterm"},
            preexec_fn=take_terminal if terminal else os.setsid,
        )
        os.close(theirs)
        os.set_blocking(self.output, False)

    def read(self):
        try:
            while chunk := os.read(self.output, 65536):
                self.said += chunk.decode(errors="replace")
        except OSError:
            pass  # nothing now, or the terminal is gone

    def wait_for(self, what, condition):
        end = time.monotonic() + DEADLINE_S
        while not (result := condition()):
            self.read()
            if time.monotonic() > end:
                raise AssertionError(f"no {what} within {DEADLINE_S} s; it said: {self.said}")
            time.sleep(0.02)  # a poll's pause: the show gets the core
        return result

    def part(self, name):
        """The process id of a part, once it is there."""

        def look():
            for file in pathlib.Path(self.folder.name).glob(f"*/{name}.pid"):
                return file.read_text().strip().lstrip("-")

        return int(self.wait_for(name, look))

    def alive(self):
        """Processes with our temporary folder in their environment, zombies not counted."""
        mark = f"TMPDIR={self.folder.name}".encode()
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append((process / "cmdline").read_bytes())
            except OSError:
                pass
        return found

    def end(self):
        """Waits for the end and returns the exit code; fails when something stays behind."""
        code = self.wait_for(
            "end", lambda: None if self.process.poll() is None else (self.process.returncode,)
        )[0]
        self.read()
        if (
            code != -signal.SIGKILL
        ):  # an end of its own promises that nothing is left when it is over
            assert not self.alive(), self.alive()
        self.wait_for("empty process table", lambda: not self.alive())
        self.wait_for("empty folder", lambda: not os.listdir(self.folder.name))
        self.folder.cleanup()
        os.close(self.output)
        return code


def has_terminals():
    try:
        ends = pty.openpty()
    except OSError:
        return False
    for end in ends:
        os.close(end)
    return True


def take_terminal():
    os.setsid()
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Ends(unittest.TestCase):
    def test_after_its_time(self):
        show = Show("--for", "1s")
        self.assertEqual(show.end(), 0)
        self.assertRegex(show.said, r"server +redis://127\.0\.0\.1:\d+\n")
        self.assertRegex(show.said, r"heatsink +redis://127\.0\.0\.1:\d+ ")
        self.assertNotIn("\033", show.said)

    def test_with_a_cluster(self):
        show = Show("--cluster", "--for", "2s")
        self.assertEqual(show.end(), 0)
        self.assertRegex(show.said, r"server +redis\+cluster://127\.0\.0\.1:\d+,127\.0\.0\.1:\d+,")

    def test_a_cluster_of_its_own_or_another(self):
        show = Show("--cluster", "--upstream", "redis://127.0.0.1:1")
        self.assertEqual(show.end(), 2)
        self.assertIn("leave out --upstream", show.said)

    @unittest.skipUnless(has_terminals(), "there is no pseudo-terminal here (/dev/pts)")
    def test_by_control_c_on_a_terminal(self):
        show = Show(terminal=True)
        show.part("top")
        os.write(show.output, b"\x03")
        self.assertIn(show.end(), (0, 130))  # top may take the key for itself and quit

    def test_by_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                show = Show()
                show.part("top")
                show.process.send_signal(number)
                self.assertEqual(show.end(), 130 if number == signal.SIGINT else 143)

    def test_by_kill_9(self):
        show = Show()
        show.part("top")
        show.process.kill()
        self.assertEqual(show.end(), -signal.SIGKILL)

    def test_when_a_part_is_killed(self):
        for name in ("redis-server", "proxy", "load", "top"):
            with self.subTest(name):
                show = Show()
                show.part("top")
                os.kill(show.part(name), signal.SIGKILL)
                # A part that ends because its server is gone may be named instead of the server.
                self.assertEqual(show.end(), 1)
                self.assertIn("ended unexpectedly", show.said)

    def test_the_load_lasts_as_long_as_the_rest(self):
        show = Show()
        show.part("top")

        def started():
            """Until exec(), it has the command line of its parent."""
            return next((command for command in show.alive() if b"\0load\0" in command), None)

        load = show.wait_for("load", started)
        self.assertIn(b"\0--for\x000\0", load)  # 30 s otherwise
        show.process.terminate()
        self.assertEqual(show.end(), 143)

    def test_when_its_folder_is_gone(self):
        show = Show()
        show.part("top")

        def gone():
            """A part may still write into the folder while it is emptied."""
            for folder in os.listdir(show.folder.name):
                shutil.rmtree(os.path.join(show.folder.name, folder), ignore_errors=True)
            return not os.listdir(show.folder.name)

        show.wait_for("empty folder", gone)
        show.process.terminate()
        self.assertEqual(show.end(), 143)

    def test_with_a_stopped_part(self):
        show = Show()
        show.part("top")
        os.kill(show.part("load"), signal.SIGSTOP)
        show.process.terminate()
        self.assertEqual(show.end(), 143)


class Upstream(unittest.TestCase):
    def test_makes_no_load_and_says_where_to_point(self):
        own = Show()
        port = re.search(
            r"server +redis://127\.0\.0\.1:(\d+)",
            own.wait_for("address", lambda: "page " in own.said and own.said),
        )[1]
        show = Show("--upstream", f"redis://127.0.0.1:{port}", "--for", "1s")
        self.assertEqual(show.end(), 0)
        self.assertRegex(show.said, r"Connect your clients to redis://127\.0\.0\.1:\d+")
        own.process.terminate()
        own.end()


class Misuse(unittest.TestCase):
    def test_is_named_with_exit_code_2(self):
        for flags, word in (
            (["--frobnicate"], "--frobnicate"),
            (["--for", "3"], "30s"),
            (["--for"], "value"),
            (["--upstream", "localhost"], "redis://"),
            (["--listen", "x"], "ADDRESS:PORT"),
        ):
            done = subprocess.run([RUN, *flags], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn(word, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.access(sys.argv[1], os.X_OK):
        BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
