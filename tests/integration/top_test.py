# SPDX-License-Identifier: Apache-2.0
"""`heatsink top` in a terminal and in scripts, and `heatsink explain`, at a real proxy."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import unittest

from harness import EAGER, HEATSINK, PATIENCE_S, until
from stage import ProxyTest

MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b[=>78]|[\r\n]")
LOOKS = re.compile(r"\x1b\[[0-9;]*m|\x1b[()][A-Z0-9]|\x1b\[\?7[lh]|\x0f")
CARTS = ("user:1001:cart", "user:1002:cart")
HOSTILE = b"\x1b]0;owned\x07"
SHOWN_HOSTILE = r"\x1b]0;owned\a"


class Terminal:
    """A program on a terminal of its own, which is 24 rows high."""

    def __init__(self, *command, term="xterm", **environment):
        self.ours, theirs = pty.openpty()
        self.columns = 80
        self.resize()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=os.environ | {"TERM": term, "LC_ALL": "C.UTF-8"} | environment,
            preexec_fn=take_terminal,
        )
        os.close(theirs)
        os.set_blocking(self.ours, False)
        self.said = b""

    def resize(self):
        size = struct.pack("HHHH", 24, self.columns, 0, 0)
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)

    def read(self):
        try:
            while chunk := os.read(self.ours, 65536):
                self.said += chunk
        except OSError:
            pass  # nothing now, or the program is gone
        return self.said

    def see(self, pattern):
        """Waits until a picture has that. After a change of size all of it is drawn again."""

        def look():
            self.read()
            start = len(self.said)
            self.columns = 161 - self.columns
            self.resize()
            try:
                return until(lambda: found(start), 1.0)
            except AssertionError:
                return None

        def found(start):
            text = self.read()[start:].decode(errors="replace")
            return re.search(pattern, MOVES.sub(" ", LOOKS.sub("", text)))

        try:
            return until(look, PATIENCE_S, f"{pattern!r} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}; it said last: {self.said[-3000:]!r}") from None

    def hang_up(self):
        os.close(self.ours)
        self.ours = os.open(os.devnull, os.O_RDWR)

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def end(self):
        """Its exit code, once it has ended by itself."""

        def ended():
            self.read()
            return self.process.poll() is not None

        until(ended, PATIENCE_S, "the end of top")
        self.read()
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)


class TopTest(ProxyTest):
    # A long window: what was asked before the test is still there at its end.
    PROXY_OPTIONS = {**EAGER, "detection.warm-qps": 1, "detection.window": "1m"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.names = [*CARTS, "motd", HOSTILE]

    def setUp(self):
        client = self.to_proxy()

        def all_hot():
            for name in self.names:
                for _ in range(20):
                    client.ask("GET", name)
            keys = self.proxy.api("hotkeys")["keys"]
            told = [key for key in keys if key["verdict"] == "hot" and key["commands"]]
            return len(told) == len(self.names)

        until(all_hot, PATIENCE_S, "hot keys")
        self.admin = f"127.0.0.1:{self.proxy.admin_port}"

    def top(self, *flags, **how):
        terminal = Terminal(
            HEATSINK, "top", "--admin", self.admin, "--interval", "200ms", *flags, **how
        )
        self.addCleanup(terminal.close)
        return terminal

    def run_verb(self, *words):
        return subprocess.run(
            [HEATSINK, *words], capture_output=True, text=True, timeout=120, check=False
        )

    def once(self, *flags):
        run = self.run_verb("top", "--admin", self.admin, "--once", *flags)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def explain(self, *words):
        return self.run_verb("explain", "--admin", self.admin, *words)


class InATerminal(TopTest):
    def test_a_walk_through_the_pages(self):
        top = self.top()
        top.see("motd")
        top.see(CARTS[1])
        top.press("t")
        top.see(r"user:\*:cart")
        top.press("/user:\r")
        top.see(r"filter user: \(2 of \d+\)")
        top.press("\r")
        top.see(r"of user:\*:cart")
        top.press("\x1b")
        top.press("t/motd\r")
        top.see(r"filter user:motd \(0 of \d+\)")
        top.press("/\x15motd\r")
        top.see(r"filter motd \(1 of \d+\)")
        top.press("\r")
        top.see(r"commands\s+GET \d")
        top.press("\x1bOF")  # End
        top.see(r"replica reads: it is not known here whether its node has")
        top.press("n")
        top.see(r"BUSIEST KEY")
        top.press("l")
        top.see(r"this server is\s+not a\s+cluster")
        top.press("h")
        top.see(r"q, Ctrl-C\s+quit")
        top.press("\x1b")
        top.see(r"motd")
        top.press("p")
        top.see("PAUSED")
        top.press("q")
        self.assertEqual(top.end(), 0)
        self.assertIn(b"\x1b[?1049l", top.said, "the screen is given back")
        self.assertIn(b"heatsink top: watched ", top.said)

    def test_a_moment_of_the_past(self):
        top = self.top()
        top.see("motd")
        top.press("[")
        top.see(r"at \d\d:\d\d:\d\d   1\ds ago")
        top.press("\x1b")
        top.see("coherence")
        top.press("q")
        self.assertEqual(top.end(), 0)
        told = until(lambda: self.past("1s"), what="a column that is a second old")
        self.assertRegex(told, r"Hot keys of .* at \d\d:\d\d:\d\d")
        run = self.run_verb("top", "--admin", self.admin, "--at", "200h")
        self.assertIn("nothing was counted then", run.stdout)

    def past(self, how_long_ago):
        told = self.run_verb("top", "--admin", self.admin, "--at", how_long_ago).stdout
        return "motd" in told and told

    def test_a_hang_up_signal_for_the_proxy_does_not_end_it(self):
        """`pkill -HUP heatsink` reaches each heatsink of the machine; a lost terminal ends it."""
        terminal = self.top()
        terminal.see("Hot keys of")
        terminal.process.send_signal(signal.SIGHUP)
        terminal.see("Hot keys of")
        terminal.hang_up()
        terminal.end()

    def test_nor_without_a_terminal(self):
        command = [HEATSINK, "top", "--json", "--admin", self.admin, "--interval", "200ms"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
            self.addCleanup(process.kill)
            self.assertTrue(process.stdout.readline())
            process.send_signal(signal.SIGHUP)
            for _ in range(5):
                self.assertTrue(json.loads(process.stdout.readline()))
            process.terminate()

    def test_other_verbs_go_on_too(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        command = [HEATSINK, "explain", "motd", "--admin", f"127.0.0.1:{listener.getsockname()[1]}"]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            self.addCleanup(process.kill)
            connection, _ = listener.accept()
            process.send_signal(signal.SIGHUP)
            connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
            connection.close()
            self.assertEqual(process.wait(PATIENCE_S), 1, "no signal has ended it")

    def test_names_move_nothing(self):
        top = self.top()
        top.see(re.escape(SHOWN_HOSTILE))
        top.press("/\\x1b\r\r")
        top.see(r"key\s+" + re.escape(SHOWN_HOSTILE))
        top.press("q")
        top.end()
        self.assertNotIn(b"\x1b]", top.said)
        self.assertNotIn(b"\x07", top.said)

    def test_colours_and_none(self):
        colour = re.compile(rb"\x1b\[(?:[0-9;]*;)?3[1-6](?:;[0-9;]*)?m")
        top = self.top()
        top.see("motd")
        self.assertRegex(top.said, colour)
        for plain in (self.top("--no-color"), self.top(NO_COLOR="1")):
            plain.see("motd")
            self.assertIsNone(colour.search(plain.said))

    def test_a_terminal_that_cannot_move_its_cursor_gets_plain_frames(self):
        top = self.top(term="dumb")
        until(lambda: b"motd" in top.read(), PATIENCE_S, "a frame")
        top.process.terminate()
        self.assertEqual(top.end(), 0)
        self.assertNotIn(b"\x1b", top.said)


class InScripts(TopTest):
    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.once("--csv", "--sort", "-rate"))))
        self.assertEqual({row["key"] for row in rows}, {*CARTS, "motd", SHOWN_HOSTILE})
        rates = [float(row["rate"]) for row in rows]
        self.assertEqual(rates, sorted(rates))
        self.assertRegex(rows[0]["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_csv_has_one_header_and_a_block_an_interval(self):
        flags = ("--csv", "--limit", "1", "--interval", "100ms")
        with subprocess.Popen(
            [HEATSINK, "top", "--admin", self.admin, *flags], stdout=subprocess.PIPE, text=True
        ) as top:
            rows = csv.DictReader(top.stdout)
            times = [next(rows)["time"] for _ in range(3)]
            top.terminate()
        self.assertEqual(len(set(times)), 3)
        self.assertNotIn("time", times)

    def test_templates(self):
        rows = csv.DictReader(io.StringIO(self.once("--csv", "--templates")))
        keys = {row["key"]: row["keys"] for row in rows}
        self.assertEqual(keys["user:*:cart"], "2")
        self.assertEqual(keys["motd"], "1")
        self.assertIn("user:*:cart", self.once("--templates"))

    def test_json_of_the_keys_chosen(self):
        answer = json.loads(self.once("--json", "--filter", "user: command=get"))
        self.assertEqual({key["name"] for key in answer["keys"]}, set(CARTS))
        self.assertEqual(len(json.loads(self.once("--json", "--limit", "2"))["keys"]), 2)
        self.assertEqual(len(json.loads(self.once("--json"))["keys"]), len(self.names))

    def test_what_cannot_be_meant_says_what_can(self):
        for flags, says in (
            (("--sort", "size"), "rate, bytes, share, reads, writes, hits, misses"),
            (("--filter", "db=x"), "db=x is not a number"),
            (("--json", "--csv"), "excludes"),
            (("--json", "--templates"), "excludes"),
        ):
            run = self.run_verb("top", "--admin", self.admin, *flags)
            self.assertEqual((run.returncode, run.stdout), (2, ""), flags)
            self.assertIn(says, run.stderr)


class Explained(TopTest):
    def test_a_hot_key(self):
        run = self.explain("motd")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"^key +motd \(db 0\)\nstate +hot")
        self.assertRegex(run.stdout, r"\ncommands +GET \d")
        self.assertRegex(run.stdout, r"\n(helps|done) +local copies: .*takes\s+off\s+\d")

    def test_the_name_as_it_is_shown(self):
        run = self.explain(SHOWN_HOSTILE, "--json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        answer = json.loads(run.stdout)
        self.assertTrue(answer["listed"])
        self.assertEqual(answer["key"], SHOWN_HOSTILE)
        first = answer["rows"][0]["advice"]["remedies"][0]
        self.assertEqual(first["relief"], "local copies")
        self.assertTrue(first["helps"] or first["done"])

    def test_what_the_server_says_of_its_value(self):
        run = self.explain("motd")
        self.assertRegex(run.stdout, r"\nvalue +longest reply 3 B, type none\n")
        row = json.loads(self.explain("motd", "--json").stdout)["rows"][0]
        self.assertEqual(row["type"], "none")  # nobody has written it

    def test_a_key_that_is_not_listed(self):
        run = self.explain("user:7:cart")
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertRegex(run.stdout, r"\nvalue +type none\n")
        self.assertIn("not one of the 4 hot", run.stdout)
        self.assertIn(CARTS[0], run.stdout, "its sisters are named")
        self.assertEqual(self.explain("motd", "--db", "5").returncode, 1)

    def test_nobody_answers(self):
        run = self.run_verb("explain", "--admin", "127.0.0.1:1", "motd")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("no answer from http://127.0.0.1:1", run.stderr)


class ExplainedCounter(TopTest):
    def test_a_counter_is_advised_to_be_gathered_in_lines_that_the_proxy_takes(self):
        client = self.to_proxy()

        def advised():
            for _ in range(2000):
                client.send("INCR", "counter:visits")
            client.read_many(2000)
            rows = json.loads(self.explain("counter:visits", "--json").stdout)["rows"]
            remedies = rows[0]["advice"]["remedies"] if rows else []
            found = [each for each in remedies if each["relief"] == "gathered writes"]
            return found if found and found[0]["helps"] else None

        (gathered,) = until(advised, PATIENCE_S, "advice on the counter")
        self.assertFalse(gathered["done"])
        self.assertIn("    coalesce: 2ms", gathered["lines"])
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("\n".join(gathered["lines"]) + "\n")
            file.flush()
            checked = self.run_verb("config", "check", file.name)
        self.assertEqual((checked.returncode, checked.stdout), (0, "ok\n"), checked.stderr)


class ExplainedInSeveralDatabases(TopTest):
    def test_a_name_in_several_databases_is_asked_about_in_each(self):
        types = {3: "list", 6: "set", 9: "hash"}
        write = {3: ("RPUSH", "kin", "v"), 6: ("SADD", "kin", "v"), 9: ("HSET", "kin", "f", "v")}
        clients = {}
        for db, command in write.items():
            clients[db] = self.to_proxy()
            clients[db].ask("SELECT", db)
            clients[db].ask(*command)

        def told():
            for client in clients.values():
                for _ in range(20):
                    client.ask("TYPE", "kin")
            rows = json.loads(self.explain("kin", "--json").stdout)["rows"]
            return {row["db"]: row["type"] for row in rows} == types

        until(told, PATIENCE_S, "the types of all three")


if __name__ == "__main__":
    unittest.main()
