# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: the same in both servers, or the names of the keys that differ."""

DATABASES = 16


def digest(ask):
    """Of the whole data set, TTLs included as far as that there is one."""
    return ask("DEBUG", "DIGEST")


def keys(ask):
    """(database, key): its digest and whether it expires"""
    out = {}
    for db in range(DATABASES):
        ask("SELECT", db)
        names = sorted(_strings(ask("KEYS", "*")))
        for name in names:
            forever = ask("PTTL", name) == b":-1\r\n"
            out[db, name] = (ask("DEBUG", "DIGEST-VALUE", name), forever)
    ask("SELECT", 0)
    return out


def differences(direct, through):
    """Sentences; `direct` and `through` are ask() of a RESP2 client of each server."""
    out = []
    if digest(direct) != digest(through):
        mine, theirs = keys(direct), keys(through)
        rows = sorted({*mine.items()} ^ {*theirs.items()})
        out += [f"key {name!r} of database {db}: {value}" for (db, name), value in rows]
        out = out or ["DEBUG DIGEST differs, and no key does"]
    for command in (("FUNCTION", "LIST", "WITHCODE"), ("ACL", "LIST"), ("DBSIZE",)):
        mine, theirs = direct(*command), through(*command)
        if sorted(mine.split(b"\r\n")) != sorted(theirs.split(b"\r\n")):
            out.append(f"{' '.join(command)}: {mine!r} and {theirs!r}")
    return out


def _strings(reply):
    """The bulk strings of a flat array."""
    out, at = [], reply.index(b"\r\n") + 2
    while at < len(reply):
        line_end = reply.index(b"\r\n", at)
        size = int(reply[at + 1 : line_end])
        out.append(reply[line_end + 2 : line_end + 2 + size])
        at = line_end + 2 + size + 2
    return out
