#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py install|run CLIENT --build FOLDER: tests one client library through heatsink.

Exit code 77 means that the library is not available here; the output says why. Only `install` uses
the network, and only when its list of packages has changed. The test program of the library gets a
port, a RESP version and, for TLS, the file of a certificate authority. It prints "ok STEP" after
each step of its row. It can ask for an action by a line, which is answered by a line:

    RESTART SERVER   stops the server and starts it again
    LOSE SERVER      kills the server, and starts it again while the program goes on
    KILL SERVER      kills the server; RESTART SERVER starts it again
    SERVER PORT      answers the server's port
    RESTART PROXY    kills heatsink and starts it again
    HITS             answers how many reads heatsink has served locally
"""

import argparse
import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

import rows
from harness import SLOW
from servers import ClientsError, running

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77
PROGRAM_TIMEOUT_S = 120 * SLOW
INSTALL_TIMEOUT_S = 300  # of one command: a registry that is silent is no registry


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def state_of(client):
    """Changes with the program, its manifest and how it is installed."""
    state = hashlib.sha256(repr(client.install).encode())
    for tool in client.tools:
        state.update(str(shutil.which(tool)).encode())
    for file in sorted((HERE / client.folder).rglob("*")):
        if file.is_file():
            state.update(str(file).encode() + b"\0" + file.read_bytes())
    return state.hexdigest()


def install(client, folder):
    """Into `folder`, from the client's own registry, at the versions of its manifest."""
    for tool in client.tools:
        if shutil.which(tool) is None:
            skip(f"there is no {tool}")
    shutil.copytree(HERE / client.folder, folder, dirs_exist_ok=True)
    for command in client.install:
        # `timeout` ends also what the command has started, which may hold our pipes.
        done = subprocess.run(["timeout", "--kill-after=5", str(INSTALL_TIMEOUT_S), *command],
                              cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode in (124, 137):
            skip(f"`{' '.join(command)}` took longer than {INSTALL_TIMEOUT_S} s")
        if done.returncode != 0:
            said = (done.stderr + done.stdout)[-600:].strip()
            if command[0] in rows.COMPARING:
                raise ClientsError(f"what was fetched is not what is pinned: {said}")
            skip(f"`{' '.join(command)}` failed: {said}")


def is_installed(client, folder):
    stamp = folder / "installed"
    return stamp.exists() and stamp.read_text(encoding="ascii") == state_of(client)


def install_once(client, folder):
    """Builds of several kinds share the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_installed(client, folder):
            return
        (folder / "installed").unlink(missing_ok=True)
        install(client, folder)
        (folder / "installed").write_text(state_of(client), encoding="ascii")


def answer_to(line, servers):
    """What the program waits for; None if the line is no question."""
    if line == "HITS":
        return servers.hits()
    if line == "SERVER PORT":
        return servers.redis.port
    if line == "KILL SERVER":
        servers.kill_server()
        return "done"
    if line == "RESTART SERVER":
        servers.restart_server()
        return "done"
    if line == "LOSE SERVER":
        servers.lose_server()
        return "done"
    if line == "RESTART PROXY":
        servers.restart_proxy()
        return "done"
    return None


def play(program, servers):
    """The steps that it says it has done, in order; its exit code."""
    steps = []
    for line in map(str.strip, program.stdout):
        answer = answer_to(line, servers)
        if answer is not None:
            program.stdin.write(f"{answer}\n")
            program.stdin.flush()
        if line != "HITS":
            print(line, flush=True)
        if line.startswith("ok "):
            steps.append(line.removeprefix("ok "))
    return steps, program.wait()


def run_one(client, folder, heatsink, run):
    way, program, its_steps = run
    with tempfile.TemporaryDirectory(prefix="heatsink-clients-") as scratch:
        with running(heatsink, scratch, tls=way.tls, password=client.password,
                     nodes=way.nodes, is_durable=client.is_durable,
                     more=client.options) as servers:
            # `timeout` ends also what the program has started.
            command = ["timeout", str(PROGRAM_TIMEOUT_S), *program, str(servers.port),
                       str(way.resp)] + ([servers.authority] if way.tls else [])
            with subprocess.Popen(command, cwd=folder, text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=client.environment(folder)) as child:
                steps, code = play(child, servers)
            if code != 0:
                raise ClientsError(f"{way}: exit code {code} (124: it took too long)")
            if steps != list(its_steps):
                raise ClientsError(f"{way}: its steps were {steps}, not {list(its_steps)}")
            if idle := servers.idle_proxies():
                raise ClientsError(f"{way}: {idle} of the proxies got no commands")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("install", "run"), help="what to do")
    parser.add_argument("client", choices=rows.CLIENTS, help="the client library")
    parser.add_argument(
        "--build", type=pathlib.Path, required=True, help="folder for the installed libraries"
    )
    parser.add_argument("--heatsink", type=pathlib.Path, help="the program to test")
    options = parser.parse_args()
    client = rows.CLIENTS[options.client]
    folder = options.build.resolve() / options.client
    if options.action == "install":
        install_once(client, folder)
        return
    if not is_installed(client, folder):
        skip(f"{options.client} is not installed; the test clients.{options.client}.install of a "
             "build without sanitizers does that, or says why not")
    for run in client.runs():
        print(f"-- {options.client}, {run[0]}", flush=True)
        run_one(client, folder, options.heatsink.resolve(), run)


try:
    main()
except (ClientsError, AssertionError, subprocess.TimeoutExpired) as error:
    sys.exit(f"FAILED: {error}")
