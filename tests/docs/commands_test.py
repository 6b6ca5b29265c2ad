# SPDX-License-Identifier: Apache-2.0
"""The commands of README, docs/start and the guides do what a reader would see: they succeed.

Each page runs in its own network, where a redis-server listens on port 6379, in an empty folder.
Its `sh` and `console` blocks run from top to bottom; the output that `console` blocks show is not
compared. A comment before a block says what it needs:

    <!-- shell: not run: REASON -->        the block is left out
    <!-- shell: stays: HOST:PORT ... -->   it listens there, and ends with the page
    <!-- shell: exits: STATUS -->          instead of 0
    <!-- shell: with: proxy -->            from here on one listens on 6380, its admin API on 6390
"""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

from harness import private_network
from harness.patience import PATIENCE_S, until
from harness.processes import Process
from harness.programs import HEATSINK
from tidy.markdown import EXITS, NOT_RUN, SHELLS, STAYS, WITH, blocks_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs/start").glob("*.md")),
    *sorted((ROOT / "docs/guides").glob("*.md")),
]
FORBIDDEN = private_network.enter() if __name__ == "__main__" else "not started by itself"
SERVER_PORT = 6379
PROXY = "127.0.0.1:6380"
ADMIN = "127.0.0.1:6390"
PROXY_FLAGS = ("--listen", PROXY, "--upstream", f"redis://127.0.0.1:{SERVER_PORT}")
LONGEST_S = 600  # the slowest takes 10 s on an idle machine of two cores


def listens(address):
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=1):
            return True
    except OSError:
        return False


@unittest.skipIf(FORBIDDEN, FORBIDDEN)
class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-docs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        programs = self.folder / ".programs"
        programs.mkdir()
        (programs / "heatsink").symlink_to(os.path.abspath(HEATSINK))
        self.environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.folder),
        }

    def start(self, command, *addresses):
        process = Process(command, environment=self.environment)
        self.addCleanup(process.kill)
        until(
            lambda: all(map(listens, addresses)) or not process.alive(),
            PATIENCE_S,
            f"'{' '.join(command)}' listens on {' and '.join(addresses)}",
        )
        self.assertTrue(process.alive(), process.output())

    def run_page(self, page):
        blocks = [block for block in blocks_of(page.read_text("utf-8")) if block.language in SHELLS]
        blocks = [block for block in blocks if block.asks(NOT_RUN) is None]
        if not blocks:
            return
        server = ["redis-server", "--port", str(SERVER_PORT), "--save", "", "--dir", self.folder]
        self.start([str(word) for word in server], f"127.0.0.1:{SERVER_PORT}")
        for block in blocks:
            with self.subTest(page=page.name, line=block.line):
                self.run_block(block)

    def run_block(self, block):
        if block.asks(WITH):
            self.start(["heatsink", "proxy", *PROXY_FLAGS, "--admin", ADMIN], PROXY, ADMIN)
        command = ["bash", "-euo", "pipefail", "-c", f"cd '{self.folder}'\n{block.commands()}"]
        if addresses := block.asks(STAYS):
            command[-1] = command[-1].replace("\nheatsink", "\nexec heatsink")  # so it gets SIGKILL
            self.start(command, *addresses.split())
            return
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST_S,
            check=False,
            env=self.environment,
        )
        said = block.commands() + done.stdout
        self.assertEqual(done.returncode, int(block.asks(EXITS) or 0), said)


def add_test(page):
    name = "test_" + str(page.relative_to(ROOT)).replace("/", "_").removesuffix(".md")
    setattr(Commands, name, lambda self: self.run_page(page))


for each in PAGES:
    add_test(each)


if __name__ == "__main__":
    unittest.main()
