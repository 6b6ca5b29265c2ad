#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a command table (redis-*.jsonl) back into a reply to COMMAND, as C++ string literals.

    spec/commands/embed.py redis-7.0.15.jsonl out.inc

Each line of the output is one command, its subcommands nested in it: the built-in table then goes
through the very decoder that reads a server's reply, and there is one place that knows the format.
"""

import json
import sys


def resp(value):
    if isinstance(value, int):
        return f":{value}\r\n"
    if isinstance(value, str):
        return f"${len(value)}\r\n{value}\r\n"
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    return f"*{len(value)}\r\n" + "".join(resp(part) for part in value)


def searched(how):
    spec = {field: value for field, value in how.items() if field != "type"}
    return {"type": how["type"], "spec": spec}


def reply_row(row, subcommands):
    specs = [{"flags": spec["flags"],
              "begin_search": searched(spec["begin"]),
              "find_keys": searched(spec["find"])} for spec in row.get("key_specs", [])]
    no_acl_categories = []
    return [row["name"], row["arity"], row.get("flags", []), *row.get("keys", [0, 0, 0]),
            no_acl_categories, row.get("tips", []), specs,
            [reply_row(sub, []) for sub in subcommands]]


def main(source, target):
    with open(source) as lines:
        next(lines)  # the row that names the server
        table = [json.loads(line) for line in lines]
    commands = [row for row in table if "|" not in row["name"]]
    subcommands = {row["name"]: [] for row in commands}
    for row in table:
        if "|" in row["name"]:
            subcommands[row["name"].partition("|")[0]].append(row)
    with open(target, "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n"
                  "// Made by spec/commands/embed.py; do not edit.\n")
        for row in commands:
            out.write(json.dumps(resp(reply_row(row, subcommands[row["name"]]))) + ",\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
