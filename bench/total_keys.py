# SPDX-License-Identifier: Apache-2.0
"""The kinds of keys that bench/total.py plays: by a law, or those of a trace in its order."""

import math
import random
import subprocess

from processes import BenchError

TRACES = {
    "orm-busy": "cache2k-orm-busy.csv.zst",
    "scarab": "scarab-recs.csv.zst",
    "corda": "corda-vaultservice.csv.zst",
}
# The kinds of the table, and corda, a trace whose keys hardly ever come twice.
TABLE_KINDS = ("never", "uniform", "zipf-0.9", "zipf-1.1", "orm-busy", "scarab")
KINDS = (*TABLE_KINDS, "corda")


def zipf(keys, exponent, lines):
    """Keys drawn by Zipf's law; exponent 0 draws all as often."""
    source, sums, total = random.Random(7), [], 0.0
    for rank in range(keys):
        total += (rank + 1) ** -exponent
        sums.append(total)
    return [f"key:{rank:09}" for rank in source.choices(range(keys), cum_weights=sums, k=lines)]


def never_repeated(lines):
    source = random.Random(7)
    return [f"key:{number:012}" for number in source.sample(range(10**12), lines)]


def repeated(keys, lines):
    """The keys again and again, under other names each time: keys do not come back for that."""
    laps = math.ceil(lines / len(keys))
    return [f"key:{lap}:{key}" for lap in range(laps) for key in keys][:lines]


def trace(path, lines):
    """The keys of a trace in its order; None: it is not here."""
    if not path.is_file():
        return None
    try:
        text = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise BenchError(f"cannot read {path} by zstd: {error}") from error
    return repeated([line.split(b",")[1].decode() for line in text.splitlines()[1:]], lines)


def keys_of(kind, traces, lines):
    """The keys of so many requests; None: their trace is not in the folder `traces`."""
    if kind in TRACES:
        return trace(traces / TRACES[kind], lines)
    return {
        "never": lambda: never_repeated(lines),
        "uniform": lambda: zipf(100_000, 0.0, lines),
        "zipf-0.9": lambda: zipf(1_000_000, 0.9, lines),
        "zipf-1.1": lambda: zipf(1_000_000, 1.1, lines),
    }[kind]()
