# SPDX-License-Identifier: Apache-2.0
"""What the proxy tells systemd, and that it stops telling it when one of its threads is stuck."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import tempfile
import unittest
import urllib.error
import urllib.request

from harness.patience import PATIENCE_S, SLOW, until
from harness.processes import Proxy, Redis
from harness.programs import need_programs

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
NOBODY = "redis://127.0.0.1:1"


class Manager:
    """The end of the socket that systemd has."""

    def __init__(self, test, address=None):
        folder = tempfile.mkdtemp(prefix="heatsink-notify-")
        test.addCleanup(shutil.rmtree, folder)
        self.address = address or f"{folder}/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.address.replace("@", "\0", 1) if address else self.address)
        self.socket.settimeout(PATIENCE_S * SLOW)
        test.addCleanup(self.socket.close)

    def environment(self, **more):
        return {"NOTIFY_SOCKET": self.address, **more}

    def next(self):
        return self.socket.recv(4096).decode()

    def all_there(self):
        messages = []
        self.socket.setblocking(False)
        try:
            while True:
                messages.append(self.next())
        except BlockingIOError:
            self.socket.settimeout(PATIENCE_S * SLOW)
            return messages

    def next_that_begins(self, begin):
        while not (message := self.next()).startswith(begin):
            pass
        return message


def end_process(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def hold(test, process, name):
    """Stops one thread of the process, as a deadlock would."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    tasks = pathlib.Path(f"/proc/{process.child.pid}/task")
    named = [int(task.name) for task in tasks.iterdir() if (task / "comm").read_text() == name]
    if libc.ptrace(PTRACE_SEIZE, named[0], None, None) != 0:
        test.skipTest(f"no thread can be held here: {os.strerror(ctypes.get_errno())}")
    # Before the process is killed: it cannot end while a thread of it waits for its tracer.
    test.addCleanup(lambda: libc.ptrace(PTRACE_DETACH, named[0], None, None))
    libc.ptrace(PTRACE_INTERRUPT, named[0], None, None)
    until(
        lambda: "t (tracing" in (tasks / str(named[0]) / "status").read_text(),
        PATIENCE_S,
        "the thread stands still",
    )


class ServiceManager(unittest.TestCase):
    def setUp(self):
        need_programs()

    def started(self, manager, **environment):
        proxy = Proxy(NOBODY, environment=manager.environment(**environment))
        self.addCleanup(proxy.process.kill)
        return proxy

    def test_from_ready_to_stopping(self):
        manager = Manager(self)
        proxy = self.started(manager)
        ready = manager.next()
        self.assertTrue(ready.startswith("READY=1\nSTATUS=heatsink proxy is ready: "), ready)
        proxy.process.signal(signal.SIGHUP)
        self.assertRegex(manager.next(), r"^RELOADING=1\nMONOTONIC_USEC=\d+$")
        self.assertTrue(manager.next_that_begins("READY=1\n"))
        proxy.stop()
        self.assertTrue(manager.next_that_begins("STOPPING=1\nEXTEND_TIMEOUT_USEC="))

    def test_a_successor_becomes_the_main_process(self):
        redis = Redis()
        self.addCleanup(redis.stop)
        manager = Manager(self)
        proxy = Proxy(redis, environment=manager.environment(WATCHDOG_USEC="1000000"))
        self.addCleanup(proxy.process.kill)
        manager.next_that_begins("READY=1\n")
        proxy.process.signal(signal.SIGUSR2)
        self.assertTrue(manager.next_that_begins("READY=1\n"), "the successor says so, too")
        main = int(manager.next_that_begins("MAINPID=").removeprefix("MAINPID="))
        self.addCleanup(end_process, main)
        self.assertEqual(proxy.process.child.wait(PATIENCE_S * SLOW), 0)
        left = manager.all_there()
        self.assertFalse([each for each in left if each.startswith("STOPPING")], left)
        self.assertEqual(manager.next(), "WATCHDOG=1", "of the successor: the other has ended")
        os.kill(main, signal.SIGTERM)
        self.assertTrue(manager.next_that_begins("STOPPING=1\n"))

    def test_an_abstract_socket(self):
        manager = Manager(self, f"@heatsink-notify-{os.getpid()}")
        self.started(manager)
        self.assertIn("READY=1", manager.next())

    def test_a_socket_that_is_gone_stops_nothing(self):
        proxy = Proxy(NOBODY, environment={"NOTIFY_SOCKET": "/nowhere/notify"})
        self.addCleanup(proxy.stop)
        self.assertEqual(proxy.api("version").keys(), {"version"})

    def live(self, proxy):
        url = f"http://127.0.0.1:{proxy.admin_port}/livez"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def expect_stuck(self, thread, named):
        manager = Manager(self)
        proxy = self.started(manager, WATCHDOG_USEC="200000")
        for _ in range(3):
            manager.next_that_begins("WATCHDOG=1")
        self.assertEqual(self.live(proxy), (200, "ok\n"))
        hold(self, proxy.process, thread)
        until(lambda: self.live(proxy)[0] == 503, PATIENCE_S * SLOW, "/livez says it is stuck")
        self.assertIn(f"the thread of {named} is stuck", self.live(proxy)[1])
        # The same words in the status; no sign of life follows them.
        self.assertIn("is stuck", manager.next_that_begins("STATUS=the thread"))
        until(lambda: "STATUS=the thread" in manager.next(), PATIENCE_S, "it says so again")
        self.assertNotIn("WATCHDOG=1", manager.all_there())

    def test_a_stuck_worker_gives_no_sign_of_life(self):
        self.expect_stuck("worker\n", "worker 0")

    def test_a_stuck_keeper_gives_no_sign_of_life(self):
        self.expect_stuck("keeper\n", "the keeper")


if __name__ == "__main__":
    unittest.main()
