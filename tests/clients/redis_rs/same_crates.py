#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether Cargo.lock holds the crates of crates.sum with their checksums.

The lock file itself is not kept: it names the registry that it was made with. Crates that only
other systems than Linux use are not looked at.
"""

import sys
import tomllib

with open("Cargo.lock", "rb") as lock:
    crates = {crate["name"]: crate for crate in tomllib.load(lock)["package"]}
wrong = []
with open("crates.sum", encoding="ascii") as pinned:
    for name, version, checksum in map(str.split, pinned):
        got = crates.get(name, {})
        if (got.get("version"), got.get("checksum")) != (version, checksum):
            wrong.append(f"{name} {version}: got {got.get('version')} {got.get('checksum')}")
if wrong:
    sys.exit("\n".join(wrong))
