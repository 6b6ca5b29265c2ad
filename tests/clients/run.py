#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One client library's program through heatsink: run.py install|run CLIENT --build FOLDER.

Exit 77 says that it cannot be had here, and why. `install` alone uses the network. The program gets
a port and a RESP version; when it prints RESTART the server is ended and started again, and then a
line is written to it.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import rows
from servers import ClientsError, running

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77
PROGRAM_TIMEOUT_S = 25
INSTALL_TIMEOUT_S = 300  # of one command: a registry that is silent is no registry


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


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
            skip(f"`{' '.join(command)}` failed: {(done.stderr or done.stdout)[-600:].strip()}")
    (folder / "installed").touch()


def play(program, servers):
    """Its lines as they come; the restart it asks for; its exit code."""
    for line in program.stdout:
        print(line, end="", flush=True)
        if line.strip() == "RESTART":
            servers.restart_redis()
            program.stdin.write("\n")
            program.stdin.flush()
    return program.wait()


def local_hits(admin_port):
    with urllib.request.urlopen(f"http://127.0.0.1:{admin_port}/metrics", timeout=5) as answer:
        counts = re.findall(r"^heatsink_local_hits_total\S* (\S+)$", answer.read().decode(), re.M)
    return sum(map(float, counts))


def run_one(client, folder, heatsink, resp):
    with tempfile.TemporaryDirectory(prefix="heatsink-clients-") as scratch:
        with running(heatsink, scratch) as servers:
            # `timeout` ends also what the program has started.
            command = ["timeout", str(PROGRAM_TIMEOUT_S), *client.run, str(servers.port), str(resp)]
            with subprocess.Popen(command, cwd=folder, text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=client.environment(folder)) as program:
                code = play(program, servers)
            if code != 0:
                raise ClientsError(f"RESP{resp}: exit code {code} (124: it took too long)")
            if client.reads_hot_key and local_hits(servers.admin_port) == 0:
                raise ClientsError(f"RESP{resp}: nothing was served locally, so nothing was tried")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("install", "run"))
    parser.add_argument("client", choices=rows.CLIENTS)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--heatsink", type=pathlib.Path)
    options = parser.parse_args()
    client = rows.CLIENTS[options.client]
    folder = options.build.resolve() / options.client
    if options.action == "install":
        install(client, folder)
        return
    if not (folder / "installed").exists():
        skip(f"{options.client} could not be installed; its test clients.{options.client}.install "
             "says why")
    for resp in client.resp:
        print(f"-- {options.client}, RESP{resp}", flush=True)
        run_one(client, folder, options.heatsink.resolve(), resp)


try:
    main()
except (ClientsError, subprocess.TimeoutExpired) as error:
    sys.exit(f"FAILED: {error}")
