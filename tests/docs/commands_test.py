# SPDX-License-Identifier: Apache-2.0
"""The commands that readers copy (README, docs/start, guides, top's reference) succeed.

Each page runs in its own network, where a redis-server listens on port 6379, in an empty folder.
Its `sh` and `console` blocks run from top to bottom; the output that `console` blocks show is not
compared. A comment before a block says what it needs:

    <!-- shell: not run: REASON -->        the block is left out
    <!-- shell: stays: HOST:PORT ... -->   it listens there, and ends with the page
    <!-- shell: exits: STATUS -->          instead of 0
    <!-- shell: with: THING ... -->        from here on there is a proxy, a load, a trace, ...
    <!-- shell: instead: A -> B; ... -->   B runs where the page shows A

tests/tidy/markdown.py has the things. What a block leaves running ends with the block. The report
ends with the blocks that are not run, and why. Only that list:

    PYTHONPATH=tests python3 tests/docs/commands_test.py --list
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import private_network
from harness.patience import PATIENCE_S, until
from harness.processes import Process
from harness.programs import HEATSINK
from tidy.markdown import (
    CERTIFICATES, EXITS, LOAD, NOT_RUN, PROXY, SHELLS, STAYS, TRACE, WITH, blocks_of,
)  # fmt: skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs/start").glob("*.md")),
    *sorted((ROOT / "docs/guides").glob("*.md")),
    ROOT / "docs/reference/top.md",
]
LISTS = sys.argv[1:] == ["--list"]
FORBIDDEN = "not started by itself"
if __name__ == "__main__" and not LISTS:
    FORBIDDEN = private_network.enter()
SERVER_PORT = 6379
CLIENTS, ADMIN = "127.0.0.1:6380", "127.0.0.1:6390"
PROXY_FLAGS = ("--listen", CLIENTS, "--upstream", f"redis://127.0.0.1:{SERVER_PORT}")
LONGEST_S = 600  # the slowest takes 10 s on an idle machine of two cores


def commands_of(page):
    """The blocks of a page that a shell could run."""
    return [block for block in blocks_of(page.read_text("utf-8")) if block.language in SHELLS]


def list_those_not_run():
    found = [(page, block) for page in PAGES for block in commands_of(page)]
    left_out = [(page, block) for page, block in found if block.asks(NOT_RUN) is not None]
    print(f"{len(found) - len(left_out)} of {len(found)} blocks of commands are run. The others:")
    for page, block in left_out:
        print(f"  {page.relative_to(ROOT)}:{block.line}: {block.asks(NOT_RUN)}")


def tearDownModule():
    list_those_not_run()


def certificates(folder):
    """Shell: an authority, and a certificate of it for the proxy."""
    key = "-newkey rsa:2048 -nodes -days 1 -subj"
    return (
        f"cd '{folder}'\nopenssl req -x509 {key} /CN=ca -keyout ca.key -out ca.crt\n"
        f"openssl req {key} /CN=proxy -keyout proxy.key -out proxy.csr\n"
        "echo subjectAltName=IP:127.0.0.1 > names\n"
        "openssl x509 -req -in proxy.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1"
        " -extfile names -out proxy.crt\n"
    )


def trace():
    """A recorded minute, as CSV: 2000 keys, the k-th of them read in one of k requests."""
    rows = (f"{at * 3},key:{pow(at, 3, 2003) % (at % 40 + 1)},get,100" for at in range(20_000))
    return "\n".join(["t_ms,key,op,size", *rows]) + "\n"


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

    def bring(self, thing):
        if thing == PROXY:
            self.start(["heatsink", "proxy", *PROXY_FLAGS, "--admin", ADMIN], CLIENTS, ADMIN)
        elif thing == LOAD:
            target = f"redis://127.0.0.1:{SERVER_PORT}"
            self.start(
                ["heatsink", "load", "--target", target, "--prefix", ""]
                + ["--rate", "1000", "--zipf", "1.2", "--for", f"{LONGEST_S}s"]
            )
        elif thing == TRACE:
            (self.folder / "trace.csv").write_text(trace())
        elif thing == CERTIFICATES:
            command = ["bash", "-euc", certificates(self.folder)]
            subprocess.run(command, check=True, capture_output=True)

    def run_page(self, page):
        blocks = [block for block in commands_of(page) if block.asks(NOT_RUN) is None]
        if not blocks:
            return
        server = ["redis-server", "--port", str(SERVER_PORT), "--save", "", "--dir", self.folder]
        self.start([str(word) for word in server], f"127.0.0.1:{SERVER_PORT}")
        for block in blocks:
            with self.subTest(page=page.name, line=block.line):
                self.run_block(block)

    def run_block(self, block):
        for thing in (block.asks(WITH) or "").split():
            self.bring(thing)
        command = ["bash", "-euo", "pipefail", "-c", f"cd '{self.folder}'\n{block.commands()}"]
        if addresses := block.asks(STAYS):
            command[-1] = command[-1].replace("\nheatsink", "\nexec heatsink")  # so it gets SIGKILL
            self.start(command, *addresses.split())
            return
        status, output = self.run_to_its_end(command)
        self.assertEqual(status, int(block.asks(EXITS) or 0), block.commands() + output)

    def run_to_its_end(self, command):
        """(exit status, output); what it left in the background ends, too."""
        output = self.folder / ".output"
        with output.open("wb") as file:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,
            )
            try:
                status = child.wait(LONGEST_S)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        return status, output.read_text("utf-8", "replace")


def add_test(page):
    name = "test_" + str(page.relative_to(ROOT)).replace("/", "_").removesuffix(".md")
    setattr(Commands, name, lambda self: self.run_page(page))


for each in PAGES:
    add_test(each)


if __name__ == "__main__":
    if LISTS:
        list_those_not_run()
    else:
        unittest.main()
