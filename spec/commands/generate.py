#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the command table of a real redis-server: a first row that names the server, then one JSON
row per command, sorted by name.

    spec/commands/generate.py [--server redis-server]    writes redis-<version>.jsonl beside itself
    spec/commands/generate.py --check redis-7.0.15.jsonl exit code 1 if the server's table differs

The server runs on a Unix socket in a temporary folder and stops with the script. The rows have only
facts that heatsink uses, and no empty fields.
"""

import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile


def start(server, folder):
    """A running server and a connected socket to it; ready when its log says so."""
    path = f"{folder}/socket"
    process = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder],
        stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "ready to accept connections" in line.lower():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            return process, connection
    raise SystemExit(f"{server} ended before it was ready")


def read_reply(stream):
    """One RESP2 reply as str, int, list or None."""
    line = stream.readline().rstrip(b"\r\n").decode()
    kind, rest = line[0], line[1:]
    if kind == "-":
        raise SystemExit(f"the server answered: {rest}")
    if kind == "+":
        return rest
    if kind == ":":
        return int(rest)
    if int(rest) < 0:
        return None
    if kind == "$":
        return stream.read(int(rest) + 2)[:-2].decode()
    return [read_reply(stream) for _ in range(int(rest))]


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def key_spec(flat):
    spec = pairs(flat)
    begin, find = pairs(spec["begin_search"]), pairs(spec["find_keys"])
    return {"flags": sorted(spec["flags"]),
            "begin": {"type": begin["type"], **pairs(begin["spec"])},
            "find": {"type": find["type"], **pairs(find["spec"])}}


def rows(reply):
    """The row of each command, and those of its subcommands, from a reply to COMMAND."""
    for name, arity, flags, first, last, step, _acl, tips, specs, subcommands in reply:
        row = {"name": name, "arity": arity, "flags": sorted(flags),
               "keys": [first, last, step] if first else [], "tips": sorted(tips),
               "key_specs": [key_spec(s) for s in specs], "container": bool(subcommands)}
        yield {field: value for field, value in row.items() if value}
        yield from rows(subcommands)


def describe(server):
    """(version, text): the file's content for this server."""
    with tempfile.TemporaryDirectory(prefix="heatsink-commands-") as folder:
        process, connection = start(server, folder)
        try:
            stream = connection.makefile("rb")
            connection.sendall(b"INFO server\r\nCOMMAND\r\n")
            info = read_reply(stream)
            table = sorted(rows(read_reply(stream)), key=lambda row: row["name"])
        finally:
            process.kill()
            process.wait()
    field = "redis_version:"
    version = next(line[len(field):] for line in info.splitlines() if line.startswith(field))
    head = {"licence": "SPDX-License-Identifier: Apache-2.0", "server": f"redis {version}"}
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in [head, *table]]
    return version, "".join(lines)


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--server", default="redis-server", help="default redis-server")
    options.add_argument("--check", metavar="FILE", help="compare with this file, write nothing")
    chosen = options.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    version, text = describe(chosen.server)
    if not chosen.check:
        (here / f"redis-{version}.jsonl").write_text(text)
    elif (here / chosen.check).read_text() != text:
        sys.exit(f"{chosen.check} is not what {chosen.server} {version} says; "
                 f"{here / 'generate.py'} writes it anew")


if __name__ == "__main__":
    main()
