# SPDX-License-Identifier: Apache-2.0
"""A Client, fork(), and the end of a process."""

import multiprocessing
import os
import subprocess
import sys
import threading

import pytest

import heatsink
from conftest import Source
from harness.patience import PATIENCE_S, SLOW, until


def in_child(check):
    """`check` in a forked child, which must end well and in time."""
    child = multiprocessing.get_context("fork").Process(target=check)
    child.start()
    child.join(3 * PATIENCE_S * SLOW)
    assert child.exitcode == 0


def test_a_child_begins_anew(source):
    events, reports = [], []
    with heatsink.Client(
        hot_qps=10, warm_qps=5, window="1s", tick="10ms", report_interval="1s"
    ) as client:
        client.on_hot(events.append)
        client.on_report(reports.append)
        client.warm(["a"], source)

        def check():
            assert not client.is_hot("a")  # as the parent knows, and not this process
            events.clear()
            while not events:
                assert client.get("b", source) == "a value"
            assert client.is_hot("b")
            client.warm(["a"], source)
            assert client.get("a", source) == "a value"
            reports.clear()
            until(lambda: reports, PATIENCE_S, "the child was reported of")
            client.close()

        in_child(check)
        assert client.is_hot("a") and not client.is_hot("b")
        assert client.get("a", source) == "a value"


def test_a_child_may_end_without_a_word(source):
    with heatsink.Client() as client:
        client.warm(["a"], source)
        in_child(lambda: None)
        in_child(client.close)
        in_child(lambda: client.__exit__(None, None, None))
        pid = os.fork()
        if pid == 0:
            del client
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0


def test_a_client_that_was_closed_stays_closed_in_a_child(source):
    client = heatsink.Client()
    client.close()

    def check():
        assert client.get("a", source) == "a value" and client.get("a", source) == "a value"
        assert source.keys.count("a") >= 2

    in_child(check)


def test_children_while_threads_read():
    """Whatever other threads were doing at the fork()."""
    with heatsink.Client(tick="10ms", refresh_interval="10ms") as client:
        keys = [f"key:{i}" for i in range(10)]
        client.warm(keys, Source())
        is_over = threading.Event()

        def read():
            while not is_over.is_set():
                for key in keys:
                    client.get(key, Source())
                client.invalidate(keys[0])

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()

        def check():
            client.warm(keys, Source())
            for key in keys * 10:
                assert client.get(key, Source()) == "a value"
            client.close()

        try:
            for _ in range(20):
                in_child(check)
        finally:
            is_over.set()
            for reader in readers:
                reader.join()


ENDS = {
    "without close": "",
    "by an exception": "raise SystemExit(0)",
    "held by a module": "import sys; sys.keeps = client",
    "held by itself": "client.me = client",
    "in a cycle with its loader": "client.warm(['b'], lambda key, c=client: 'x')",
    "with a listener": "client.on_hot(print)",
    "with a reporter": "client.on_report(print)",
    "while a daemon loads": """
import threading
asked = threading.Event()
def load(key):
    asked.set()
    threading.Event().wait()
threading.Thread(target=client.get, args=('cold', load), daemon=True).start()
asked.wait()
""",
    "while a daemon waits for a load": """
import threading, time
asked = threading.Event()
def load(key):
    asked.set()
    time.sleep(0.2)  # a load takes its time: the interpreter ends meanwhile
    return 'late'
quiet = heatsink.Client(refresh_enabled=False)
quiet.warm(['a'], lambda key: 'x')
quiet.invalidate('a')
for _ in range(3):
    threading.Thread(target=quiet.get, args=('a', load), daemon=True).start()
asked.wait()
""",
    "while daemons read": """
import threading
def read():
    while True:
        client.get('a', lambda key: 'x')
        client.get('cold', lambda key: 'x')
for _ in range(3):
    threading.Thread(target=read, daemon=True).start()
""",
}


@pytest.mark.parametrize("how", ENDS)
def test_an_interpreter_ends_in_peace(how):
    program = f"""
import heatsink
client = heatsink.Client(refresh_interval="10ms", detection_tick="10ms")
client.warm(["a"], lambda key: "x")
while client.peek("a") is None:
    pass
{ENDS[how]}
print("last line")
"""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S * SLOW,
    )
    said = "" if "raise SystemExit" in program else "last line\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
