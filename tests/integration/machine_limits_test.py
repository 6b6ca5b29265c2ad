# SPDX-License-Identifier: Apache-2.0
"""What the machine refuses: descriptors, threads, memory, files. Clear words, and others served."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import (
    ERRORS_WHEN_DOWN, HEATSINK, SLOW, Proxy, RawClient, Redis, encode, need_programs, until,
)  # fmt: skip
from harness.crowd import need_descriptors

MEBI = 1 << 20
FULL = b"-ERR max number of clients reached\r\n"
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_programs()
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="heatsink-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def proxy(self, options=None, **how):
        proxy = Proxy(self.redis, ERRORS_WHEN_DOWN | (options or {}), **how)
        self.addCleanup(proxy.stop)
        return proxy

    def client(self, proxy, **how):
        client = RawClient(proxy.port, **how)
        self.addCleanup(client.close)
        return client

    def refusal(self, *settings, under=()):
        """What a proxy says that does not start: it ends by itself, with status 1."""
        command = [*under, HEATSINK, "proxy", "--admin", "off", "--upstream",
                   f"redis://127.0.0.1:{self.redis.port}"]  # fmt: skip
        for setting in ("proxy.listen=127.0.0.1:0", *settings):
            command += ["--set", setting]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        return ended.stderr


@unittest.skipIf(SLOW > 1, "the sanitizers need descriptors and address space")
class Descriptors(WithServer):
    LIMIT, OWN = 200, 92  # two workers: heatsink/proxy/descriptors.cc

    def test_too_few_are_said_and_further_clients_refused(self):
        proxy = self.proxy(descriptors_max=self.LIMIT)
        self.assertIn(
            "proxy.maximum-clients is 10000, but the limit of 200 file descriptors (ulimit -n) is "
            "enough for 108 clients", proxy.process.output(),
        )  # fmt: skip
        places = self.LIMIT - self.OWN
        self.assertEqual(proxy.metric("heatsink_clients_max"), places)
        clients = [self.client(proxy) for _ in range(places)]
        for client in clients:
            self.assertEqual(client.ask("PING"), b"+PONG\r\n")
        for _ in range(30):
            self.assertEqual(self.client(proxy).read_to_end(), FULL)
        refused = proxy.by_label("heatsink_clients_refused_total", "limit")
        self.assertEqual(refused["file-descriptors"], 30)
        self.assertEqual(proxy.metric("heatsink_accept_pauses_total"), 0)
        # Those that are connected have what they need: connections of their own to the server.
        for client in clients[:10]:
            self.assertEqual(client.ask("MULTI"), b"+OK\r\n")

    def test_none_left_is_no_busy_loop(self):
        proxy = self.proxy(descriptors_max=40)
        clients = [self.client(proxy) for _ in range(40)]
        for client in clients:
            client.send("PING")
        until(lambda: proxy.process.output().count("accepting no clients") > 0
              or sum(b"max number" in self.peek(client) for client in clients) > 0)  # fmt: skip
        for client in clients:
            client.close()
        until(lambda: self.client(proxy).ask("PING") == b"+PONG\r\n", what="accepting again")

    def peek(self, client):
        with contextlib.suppress(OSError):
            client.socket.settimeout(0.01)
            client.receive()
        return bytes(client.data)

    def test_the_soft_limit_is_raised(self):
        need_descriptors(4096)
        proxy = self.proxy(under=("prlimit", "--nofile=64:4096"))
        self.assertEqual(proxy.metric("process_max_fds"), 4096)

    def test_fewer_than_it_needs_itself(self):
        told = self.refusal("proxy.workers=2", under=("prlimit", "--nofile=20"))
        self.assertIn("needs at least 28 file descriptors with 2 workers", told)


@unittest.skipIf(SLOW > 1, "the sanitizers need address space")
class Start(WithServer):
    def test_address_space_for_threads_runs_out(self):
        """A sentence and status 1, not a crash, at the size that is enough for some of them."""
        for mebi in range(60, 90, 2):
            command = ["timeout", "-s", "TERM", "2", "prlimit", f"--as={mebi * MEBI}", HEATSINK,
                       "proxy", "--listen", "127.0.0.1:0", "--admin", "off", "--workers", "16",
                       "--upstream", f"redis://127.0.0.1:{self.redis.port}"]  # fmt: skip
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if "cannot start a thread" in ended.stderr:
                self.assertEqual(ended.returncode, 1, ended.stderr)
                self.assertIn("or lower proxy.workers", ended.stderr)
                return
        self.fail("no size was enough for some threads and too small for others")

    @unittest.skipIf(os.getuid() != 0 or shutil.which("setpriv") is None, "needs another user")
    def test_what_another_user_may_not_do(self):
        command = [*NOBODY, HEATSINK, "--version"]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            self.skipTest("the other user cannot run the program")
        told = self.refusal(under=(*NOBODY, "prlimit", "--nproc=2"))
        self.assertIn("cannot start a thread", told)
        self.assertIn("ulimit -u", told)
        told = self.refusal(f"log.file={self.folder}/log", under=NOBODY)
        self.assertIn("log.file: cannot open the log file", told)
        self.assertIn("check that its directory exists and is writable", told)
        told = self.refusal(f"proxy.listen=unix:{self.folder}/socket", under=NOBODY)
        self.assertIn("permission to create a file there was denied", told)

    def test_a_port_in_use(self):
        told = self.refusal(f"proxy.listen=127.0.0.1:{self.redis.port}")
        self.assertIn("another program uses it; stop that program or choose another port", told)


class FullDisk(WithServer):
    def log_something(self, proxy):
        """Two workers and the keeper have something to say about a server that is gone."""
        self.redis.process.kill()
        until(lambda: b"not reachable" in self.client(proxy).ask("GET", "k"))
        self.redis.restart()
        until(lambda: self.client(proxy).ask("SET", "k", "v") == b"+OK\r\n", what="it is back")

    def dropped(self, proxy):
        return proxy.metric("heatsink_log_dropped_total")

    def test_a_log_on_a_full_disk_and_room_again(self):
        path = pathlib.Path(self.folder) / "log"
        path.symlink_to("/dev/full")
        proxy = self.proxy({"log.file": path})
        self.log_something(proxy)
        until(lambda: self.dropped(proxy) > 0, what="lines are counted as lost")
        path.unlink()
        proxy.process.signal(signal.SIGHUP)
        until(lambda: path.exists() and "log lines dropped: " in path.read_text(),
              what="it is told")  # fmt: skip

    def test_a_log_at_its_limit_of_size(self):
        path = pathlib.Path(self.folder) / "log"
        proxy = self.proxy({"log.file": path})
        pid = proxy.process.child.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        self.log_something(proxy)
        until(lambda: self.dropped(proxy) > 0, what="lines are counted as lost")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        self.log_something(proxy)
        until(lambda: "log lines dropped: " in path.read_text(), what="it is told")


class ControlGroup:
    """A memory limit for the processes that start `under` it; v1 or v2, where we may make one."""

    def __init__(self, limit):
        v1, v2 = pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup")
        unified = (v2 / "cgroup.controllers").exists()
        self.folder = (v2 if unified else v1) / f"heatsink-test-{os.getpid()}"
        file = "memory.max" if unified else "memory.limit_in_bytes"
        try:
            self.folder.mkdir()
            (self.folder / file).write_text(str(limit))
        except OSError as error:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            raise unittest.SkipTest(f"no control group of ours: {error}") from error
        self.under = ("sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh")

    def remove(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()


@unittest.skipIf(SLOW > 1, "the sanitizers need memory")
class InAControlGroup(WithServer):
    LIMIT, ELEMENT, COUNT = 128 * MEBI, b"x" * 900_000, 16

    def test_slow_readers_do_not_get_it_killed(self):
        """Their replies are three times the limit; the budget follows it, and sheds clients."""
        group = ControlGroup(self.LIMIT)
        self.addCleanup(group.remove)
        proxy = self.proxy({"upstream.connect-timeout": "1m"}, under=group.under)
        server = RawClient(self.redis.port)
        self.addCleanup(server.close)
        small = self.client(proxy)
        for i in range(27):
            name = f"list{i}"
            for _ in range(self.COUNT):
                server.ask("RPUSH", name, self.ELEMENT)
            self.client(proxy, receive_buffer=65536).send_raw(encode("LPOP", name, self.COUNT))
            until(lambda name=name: server.ask("EXISTS", name) == b":0\r\n", what="popped")
            self.assertEqual(small.ask("PING"), b"+PONG\r\n")
        self.assertTrue(proxy.process.alive())
        cut_off = proxy.by_label("heatsink_clients_cut_off_total", "reason")
        self.assertGreater(cut_off["maximum-memory"], 0)
        self.assertLess(proxy.metric("heatsink_client_buffers_bytes"), self.LIMIT / 2 + 32 * MEBI)


if __name__ == "__main__":
    unittest.main()
