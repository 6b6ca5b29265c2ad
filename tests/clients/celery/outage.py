# SPDX-License-Identifier: Apache-2.0
"""A server that restarts within a second, twice, as Celery sees it: direct and through the proxy.
Arguments: the proxy's port and the RESP version, which Celery does not choose."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import celery

PROXY = int(sys.argv[1])
WORKERS, LOSSES = 2, 2
PAUSE_S = 0.02  # between two jobs
CALM_S = 2  # before, between and behind the losses
START_S, END_S = 60, 30  # at most: for the workers to start, and to do what is left


@dataclasses.dataclass
class Seen:
    """What the program sees of it."""

    sent: int = 0
    failed: int = 0  # `delay` raised
    lost: int = 0  # sent, and never done
    ended: int = 0  # workers

    def __str__(self):
        return (f"{self.sent} sent, {self.failed} failed, {self.lost} lost, "
                f"{self.ended} of {WORKERS} workers ended")  # fmt: skip


def ask(runner_does):
    print(runner_does, flush=True)
    return sys.stdin.readline().strip()


def send(app, seen, ends):
    number = 0
    while not ends.is_set():
        number += 1
        try:
            app.send_task("jobs.note", args=[number])
            seen.sent += 1
        except Exception as error:  # pylint: disable=broad-except
            seen.failed += 1
            print(f"job {number}: {error!r}", flush=True)
        time.sleep(PAUSE_S)  # the rate of the jobs


@contextlib.contextmanager
def workers(url, done):
    here = pathlib.Path(__file__).parent
    environment = os.environ | {"BROKER": url, "DONE": str(done), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "celery", "-A", "jobs", "worker", "--concurrency", "1",
               "--loglevel", "ERROR"]  # fmt: skip
    with contextlib.ExitStack() as all_of_them:
        started = []
        for number in range(WORKERS):
            process = subprocess.Popen([*command, "--hostname", f"w{number}@%h"], cwd=here,
                                       env=environment, start_new_session=True)  # fmt: skip
            all_of_them.callback(process.wait)
            all_of_them.callback(end, process)
            started.append(process)
        yield started


def end(process):
    """With its pool."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def wait_for(reached, most_s):
    until = time.monotonic() + most_s
    while not reached() and time.monotonic() < until:
        time.sleep(0.05)  # before it is looked at again
    return reached()


def restart_under(port, database):
    """`database`: both sides may have an own one."""
    url = f"redis://:secret@127.0.0.1:{port}/{database}"
    seen, ends = Seen(), threading.Event()
    with tempfile.TemporaryDirectory() as scratch:
        done = pathlib.Path(scratch) / "done"
        done.touch()
        count = lambda: len(set(done.read_text(encoding="ascii").split()))
        with workers(url, done) as started:
            app = celery.Celery(broker=url, backend=url)
            sender = threading.Thread(target=send, args=(app, seen, ends))
            sender.start()
            assert wait_for(lambda: count() > 10, START_S), "the workers do not start"
            for _ in range(LOSSES):
                ask("LOSE SERVER")
                time.sleep(CALM_S)  # in which all goes on
            ends.set()
            sender.join()
            wait_for(lambda: count() >= seen.sent, END_S)
            seen.lost = max(0, seen.sent - count())
            seen.ended = sum(process.poll() is not None for process in started)
    return seen


def as_direct():
    direct = restart_under(int(ask("SERVER PORT")), 1)
    print(f"Celery, direct: {direct}", flush=True)
    through = restart_under(PROXY, 2)
    print(f"Celery, through the proxy: {through}", flush=True)
    assert through.failed <= direct.failed and through.ended <= direct.ended
    # A job that a worker was being given as the server was killed.
    assert through.lost <= max(direct.lost, WORKERS * LOSSES)


as_direct()
print("ok as_direct", flush=True)
