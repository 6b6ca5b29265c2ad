# SPDX-License-Identifier: Apache-2.0
"""The redirects of docs/guides/incident.md, as they stand there, in networks of their own.

One network has the clients, a second one the server; a pair of interfaces joins them. The commands
of the guide run with `sudo` taken away, and `root` instead of the user `heatsink`; the test's
clients are another user.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import unittest

from harness import PATIENCE_S, private_network, until
from harness.client import RawClient
from harness.processes import Process
from harness.programs import HEATSINK, SERVER
from tidy.markdown import blocks_of

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/incident.md"
FORBIDDEN = private_network.enter() if __name__ == "__main__" else "not started by itself"
CLIENTS_ADDRESS, SERVER_ADDRESS = "192.0.2.1", "192.0.2.7"
SERVER_PORT, PROXY_PORT = 6379, 6380
NOBODY = 65534
IPTABLES_BACK = "-I OUTPUT -p tcp -d 192.0.2.7 --dport 6379 -j ACCEPT"


def commands_with(words):
    """The one block of the guide that has these words, for a shell without sudo."""
    blocks = blocks_of(GUIDE.read_text("utf-8"))
    found = [block for block in blocks if block.language == "sh" and words in block.text]
    assert len(found) == 1, f"{len(found)} blocks of the guide have '{words}'"
    text = found[0].text.replace("sudo ", "")
    return text.replace("skuid != heatsink", "skuid != root").replace(
        "--uid-owner heatsink", "--uid-owner root"
    )


def run(command):
    done = subprocess.run(
        ["bash", "-euc", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=private_network.environment(),
    )
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}")


@contextlib.contextmanager
def another_user():
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def has_another_user():
    try:
        with another_user():
            return True
    except OSError:
        return False  # in a user namespace with one user


def through_proxy(client):
    """Only the proxy knows this command."""
    return not client.ask("HEATSINK", "HELP").startswith(b"-ERR")


@unittest.skipIf(FORBIDDEN, FORBIDDEN)
@unittest.skipUnless(has_another_user(), "needs a second user: run it as root")
class Redirect(unittest.TestCase):
    def setUp(self):
        self.clients = contextlib.ExitStack()
        self.addCleanup(self.clients.close)
        stays = "ip link set lo up; echo up; exec tail -f /dev/null"
        self.other = Process(["unshare", "-n", "sh", "-c", stays])
        self.addCleanup(self.other.kill)
        until(lambda: "up" in self.other.output(), PATIENCE_S, "the second network is up")
        pid = self.other.child.pid
        self.there = ("nsenter", "-t", str(pid), "-n")
        run(
            f"ip link add here type veth peer name there && ip link set there netns {pid}\n"
            f"ip address add {CLIENTS_ADDRESS}/24 dev here && ip link set here up\n"
            f"{' '.join(self.there)} sh -c '"
            f"ip address add {SERVER_ADDRESS}/24 dev there && ip link set there up'"
        )
        self.addCleanup(run, "ip link delete here; nft flush ruleset")
        self.start(
            *(*self.there, SERVER, "--port", str(SERVER_PORT), "--save", ""),
            *("--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/"),
            ready="Ready to accept",
        )

    def start(self, *command, ready):
        process = Process(command)
        self.addCleanup(process.kill)
        until(
            lambda: ready in process.output() or not process.alive(),
            PATIENCE_S,
            f"'{' '.join(command)}' says '{ready}'",
        )
        self.assertTrue(process.alive(), process.output())
        return process

    def start_proxy(self, listen, upstream, under=()):
        addresses = ("--listen", listen, "--upstream", upstream, "--admin", "127.0.0.1:0")
        return self.start(*under, HEATSINK, "proxy", *addresses, ready="proxy is ready")

    def client(self):
        with another_user():
            connected = self.clients.enter_context(socket.socket())  # is this user's for good
        connected.settimeout(PATIENCE_S)
        connected.connect((SERVER_ADDRESS, SERVER_PORT))
        return self.clients.enter_context(RawClient(connected=connected))

    def check(self, proxy, redirect, back, remove):
        """What the guide says of the rule, from before it until after it."""
        before = self.client()
        self.assertFalse(through_proxy(before))
        run(redirect)
        during = self.client()
        self.assertTrue(through_proxy(during), "a new connection goes to the proxy")
        self.assertEqual(during.ask("SET", "key", "value"), b"+OK\r\n")
        self.assertEqual(during.ask("GET", "key"), b"$5\r\nvalue\r\n")
        self.assertFalse(through_proxy(before), "an older one stays with the server")
        self.proxy_connects_again(before, during)
        run(back)
        after = self.client()
        self.assertFalse(through_proxy(after), "a new connection goes to the server again")
        self.assertTrue(through_proxy(during), "one through the proxy stays")
        self.assertEqual(proxy.end(signal.SIGTERM), 0)
        run(remove)
        self.assertEqual(after.ask("GET", "key"), b"$5\r\nvalue\r\n")
        run(redirect)
        with self.assertRaises(ConnectionRefusedError):
            self.client()
        run(remove)

    def proxy_connects_again(self, direct, proxied):
        """The proxy's own connections go to the server, under the rule, too."""
        direct.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        until(
            lambda: proxied.ask("GET", "key") == b"$5\r\nvalue\r\n",
            PATIENCE_S,
            "the proxy has connected to the server again",
        )

    def test_nft_on_the_clients_machine(self):
        proxy = self.start_proxy(f"127.0.0.1:{PROXY_PORT}", f"redis://{SERVER_ADDRESS}")
        back, remove = commands_with("nft insert rule"), commands_with("nft delete table")
        self.check(proxy, commands_with("hook output"), back, remove)

    def test_iptables_on_the_clients_machine(self):
        if shutil.which("iptables", path=private_network.SEARCH) is None:
            self.skipTest("there is no program 'iptables'")
        self.assertIn(f"`{IPTABLES_BACK}`", GUIDE.read_text("utf-8"))
        proxy = self.start_proxy(f"127.0.0.1:{PROXY_PORT}", f"redis://{SERVER_ADDRESS}")
        redirect, back = commands_with("iptables -t nat -A"), f"iptables -t nat {IPTABLES_BACK}"
        remove = redirect.replace("-A OUTPUT", "-D OUTPUT")
        self.check(proxy, redirect, back, f"{back.replace('-I', '-D')} || true\n{remove}")

    def test_nft_on_the_servers_machine(self):
        there = " ".join(self.there)
        proxy = self.start_proxy(f"0.0.0.0:{PROXY_PORT}", "redis://127.0.0.1", under=self.there)
        redirect, back, remove = (
            commands_with(words).replace("nft ", f"{there} nft ")
            for words in ("hook prerouting", "nft insert rule", "nft delete table")
        )
        self.check(proxy, redirect, back, remove)
        run(redirect.replace("192.0.2.8", CLIENTS_ADDRESS))
        self.assertFalse(through_proxy(self.client()), "an excepted machine is not redirected")


if __name__ == "__main__":
    unittest.main()
