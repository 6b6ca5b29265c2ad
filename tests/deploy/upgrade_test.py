# SPDX-License-Identifier: Apache-2.0
"""The scripts of the Debian package that touch a running proxy, with systemctl played."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from harness.patience import PATIENCE_S, SLOW, until
from harness.processes import Proxy, Redis
from harness.programs import need_programs

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/debian"

# `main` has the process that systemd takes for the main one; `calls` gets the command lines.
SYSTEMCTL = """#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >>calls
case $1 in
  show) cat main ;;
  kill) kill -USR2 "$(cat main)" ;;
  reload) [ "$*" = "reload heatsink.service" ] && kill -HUP "$(cat main)" ;;
  --quiet) [ "$(cat main)" != 0 ] ;;
esac
"""


class Systemd:
    """Follows MAINPID as systemd does, and gives the folder with its systemctl."""

    def __init__(self, test):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heatsink-upgrade-"))
        test.addCleanup(shutil.rmtree, self.folder)
        self.become(0)
        for name, text in (
            ("systemctl", SYSTEMCTL),
            ("policy-rc.d", "#!/bin/sh\nexit 0\n"),
            ("sleep", "#!/bin/sh\nexec /bin/sleep 0.1\n"),
        ):
            (self.folder / name).write_text(text, "utf-8")
            (self.folder / name).chmod(0o755)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"{self.folder}/notify")
        test.addCleanup(self.close)
        self.pids = []
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def become(self, pid):
        unfinished = self.folder / "main.part"
        unfinished.write_text(f"{pid}\n", "utf-8")
        unfinished.rename(self.folder / "main")

    def main(self):
        return int((self.folder / "main").read_text("utf-8"))

    def listen(self):
        while message := self.socket.recv(4096).decode():
            if found := re.search(r"(?m)^MAINPID=(\d+)", message):
                self.pids.append(int(found[1]))
                self.become(int(found[1]))

    def close(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.sendto(b"", f"{self.folder}/notify")
        self.thread.join()
        self.socket.close()

    def end_successors(self):
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def calls(self):
        path = self.folder / "calls"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def run(self, *command):
        path = f"{self.folder}:{os.environ['PATH']}"
        return subprocess.run(
            command, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
        )


class Upgrade(unittest.TestCase):
    def setUp(self):
        need_programs()
        self.systemd = Systemd(self)

    def start(self):
        redis = Redis()
        self.addCleanup(redis.stop)
        environment = {"NOTIFY_SOCKET": f"{self.systemd.folder}/notify"}
        self.log = self.systemd.folder / "proxy.log"
        proxy = Proxy(redis, environment=environment, options={"log.file": str(self.log)})
        self.addCleanup(proxy.process.kill)
        self.addCleanup(self.systemd.end_successors)  # first: they have the output of the other one
        self.systemd.become(proxy.process.child.pid)
        return proxy

    def configure(self, *arguments):
        return self.systemd.run("sh", FOLDER / "heatsink.postinst", "configure", *arguments).stderr

    def test_an_upgrade_hands_over(self):
        proxy = self.start()
        with socket.create_connection(("127.0.0.1", proxy.port)) as client:
            client.settimeout(PATIENCE_S * SLOW)

            def ask():
                client.sendall(b"PING\r\n")
                return client.recv(100)

            self.assertEqual(ask(), b"+PONG\r\n")
            self.assertEqual(self.configure("0.0.9-1"), "")
            self.assertNotEqual(self.systemd.main(), proxy.process.child.pid)
            self.assertEqual(proxy.process.child.wait(PATIENCE_S * SLOW), 0)
            self.assertEqual(ask(), b"+PONG\r\n", "the same connection, from the new process")

    def test_a_first_install_and_a_stopped_service_start_nothing(self):
        self.configure("")
        self.assertEqual(self.systemd.calls(), [])
        self.configure("0.0.9-1")
        self.assertFalse([call for call in self.systemd.calls() if call.startswith("kill")])

    def test_a_policy_is_obeyed(self):
        (self.systemd.folder / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n", "utf-8")
        self.systemd.become(os.getpid())
        self.configure("0.0.9-1")
        self.assertEqual(self.systemd.calls(), [])

    def test_a_proxy_that_goes_on_is_named(self):
        with subprocess.Popen(["sh", "-c", "trap '' USR2; exec sleep 600"]) as deaf:
            self.addCleanup(deaf.kill)
            self.systemd.become(deaf.pid)
            self.assertIn("the old version goes on serving", self.configure("0.0.9-1"))
            deaf.kill()

    def test_logrotate_opens_the_log_again(self):
        self.start()
        text = (FOLDER / "heatsink.logrotate").read_text("utf-8")
        (pattern,) = re.findall(r"(?m)^(/\S+) \{$", text)
        self.assertEqual(pattern, "/var/log/heatsink/*.log")
        script = re.search(r"postrotate\n(.*)\tendscript", text, re.DOTALL)[1]
        self.log.rename(f"{self.log}.1")
        self.systemd.run("sh", "-ec", script)
        until(lambda: self.log.exists(), PATIENCE_S, "the log is opened again")
        self.systemd.become(0)
        self.systemd.run("sh", "-ec", script)  # a service that does not run is no error


if __name__ == "__main__":
    unittest.main()
