# SPDX-License-Identifier: Apache-2.0
"""The completions, in the shells that they are for."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from harness.patience import PATIENCE_S
from harness.programs import HEATSINK, need_programs

# What is typed, and some of what the shell must offer for it; nothing: it must offer nothing else.
ROWS = [
    ("heatsink ", {"proxy", "config", "completion", "top"}),
    ("heatsink pro", {"proxy"}),
    ("heatsink proxy --li", {"--listen"}),
    ("heatsink proxy --set cache.", {"cache.level=", "cache.maximum-bytes="}),
    ("heatsink proxy --set cache.level=", {"off", "ttl", "key", "session"}),
    ("heatsink proxy --set=cache.level=s", {"session"}),
    ("heatsink proxy --listen 127.0.0.1:1 --set detection.ena", {"detection.enabled="}),
    ("heatsink proxy --rule ", {"match="}),
    ("heatsink proxy --rule match=user:*,lev", {"level="}),
    ("heatsink proxy --rule match=user:*,level=se", {"session"}),
    ("heatsink config ", {"print", "check", "metrics"}),
    ("heatsink config print --mark", {"--markdown"}),
    ("heatsink top --once --replies ", {"sampled", "all"}),
    ("heatsink completion ", {"bash", "zsh", "fish"}),
]

BASH = r"""
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
compopt() { :; }
_heatsink
printf '%s\n' "${COMPREPLY[@]}"
"""


def completion(shell, folder):
    path = folder / f"heatsink.{shell}"
    with open(path, "wb") as script:
        subprocess.run([HEATSINK, "completion", shell], stdout=script, check=True)
    return path


class Shells(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-shell-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "heatsink.yaml").touch()

    def script_of(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"there is no program '{shell}'")
        path = completion(shell, self.folder)
        subprocess.run([shell, "-n", path], check=True)
        return path

    def run_in(self, *command):
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            cwd=self.folder,
            env=os.environ | {"HOME": str(self.folder), "LC_ALL": "C.UTF-8"},
        )
        return done.stdout.splitlines()

    def expect_rows(self, offered):
        """`offered`: what is typed -> what the shell offers, each as the end of a word."""
        for typed, words in [*ROWS, ("heatsink config check heatsink.y", {"heatsink.yaml"})]:
            with self.subTest(typed=typed):
                lines = offered(typed)
                for word in words:
                    self.assertTrue([line for line in lines if line.endswith(word)], lines)
        self.assertFalse(offered("heatsink proxy --listen "), "an address cannot be guessed")

    def test_bash(self):
        script = self.script_of("bash")
        self.expect_rows(
            lambda typed: list(
                filter(None, self.run_in("bash", "--norc", "-c", BASH, "bash", script, typed))
            )
        )

    def test_fish(self):
        script = self.script_of("fish")

        def offered(typed):
            command = f"source {script}; complete -C '{typed}'"
            lines = self.run_in("fish", "--no-config", "-c", command)
            return [line.split("\t")[0] for line in lines]

        self.expect_rows(offered)

    def test_zsh(self):
        with Zsh(self.script_of("zsh"), self.folder) as zsh:
            self.expect_rows(zsh.offered)


class Zsh:
    """An interactive zsh, whose completion there is no other way to ask."""

    # ^X^L inserts no completion, but prints those there are between two marks.
    SETUP = r"""
PS1= PS2= ; unsetopt zle_bracketed_paste; stty -echo -onlcr
autoload -U compinit; compinit -u -D
source SCRIPT
zstyle ':completion:*' list-grouped false
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a __kept
  builtin compadd -A __kept "$@"
  print -rl -- "W:"${^__kept} >> LOG
  builtin compadd "$@"
}
list-them() { compstate[insert]=; _main_complete; compstate[insert]= compstate[list]= }
zle -C list-them complete-word list-them
show-them() { zle list-them; print -r -- E: >> LOG; BUFFER= }
zle -N show-them; bindkey '^X' show-them
print -r -- E: >> LOG
"""

    def __init__(self, script, folder):
        self.log = folder / "zsh.log"
        self.log.touch()
        setup = folder / "setup.zsh"
        text = self.SETUP.replace("SCRIPT", str(script)).replace("LOG", str(self.log))
        setup.write_text(text, encoding="utf-8")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(HOME=str(folder), TERM="dumb", LC_ALL="C.UTF-8")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.type_in(f"source {setup}\n")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        os.write(self.terminal, b"\x03exit\n")
        os.close(self.terminal)
        os.waitpid(self.pid, 0)

    def type_in(self, keys):
        """Returns the lines of the log that follow, up to the end mark."""
        before = self.log.stat().st_size
        os.write(self.terminal, keys.encode())
        limit = time.monotonic() + PATIENCE_S
        shown = b""
        while time.monotonic() < limit:
            if select.select([self.terminal], [], [], 0.01)[0]:
                shown += os.read(self.terminal, 65536)
            text = self.log.read_text("utf-8")[before:]
            if "E:\n" in text:
                return text.splitlines()
        raise AssertionError(f"zsh does not answer {keys!r}; it shows {shown!r}")

    def offered(self, typed):
        lines = self.type_in(typed + "\x18")
        return [re.sub("^W:", "", line) for line in lines if line.startswith("W:") and line != "W:"]


if __name__ == "__main__":
    unittest.main()
