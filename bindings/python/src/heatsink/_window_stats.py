# SPDX-License-Identifier: Apache-2.0
"""WindowStats: statistics over a sliding window of numbers that any number of processes add."""

import datetime
import os
from dataclasses import dataclass

from heatsink import _arguments, _native
from heatsink._closing import Closing
from heatsink._options import Setting, yaml_of

_MILLISECOND = datetime.timedelta(milliseconds=1)


@dataclass(frozen=True)
class WindowReading:
    """The statistics of all processes over the last `covered`.

    Count, sum, min and max are exact; quantiles are off by at most 1.6 % of the number. Without
    numbers all of them are 0.
    """

    count: int
    sum: int
    mean: float
    min: int
    max: int
    p50: int
    p90: int
    p99: int
    p999: int
    covered: datetime.timedelta  # as asked for, or up to a slot less
    slot: datetime.timedelta  # the step in which the window moves
    length: datetime.timedelta  # how long the server keeps the numbers
    shards_missing: int  # of 4 parts, how many could not be read: their numbers are missing


@dataclass(frozen=True)
class WindowCounts:
    """How many numbers, since the WindowStats was made."""

    delivered: int
    dropped: int  # the server was away for longer than statistics.hold
    uncertain: int  # the same, but the server may have counted them: it never answered
    refused: int  # calls of add(), not numbers
    resent: int  # flushes; none of them counts twice
    names: int  # now


class WindowStats(_native.WindowStats, Closing):
    """Count, sum, mean, minimum, maximum and quantiles of whole numbers, kept on the server.

    add() takes nanoseconds and never waits. The process sums the numbers and flushes them ten times
    a second (statistics_flush_interval). Each number counts exactly once, however often a flush has
    to be sent again.

        stats = heatsink.WindowStats(server_url="redis://cache")
        stats.add("checkout:us", 1840)
        stats.flush()
        stats.read("checkout:us").p99  # of all processes

    Any thread may use it. After fork() the child starts anew. Close it with close() or a `with`
    block; the interpreter's exit closes it, too. Closing delivers the remaining numbers.
    """

    def __init__(
        self,
        *,
        file: str | os.PathLike[str] | None = None,
        yaml: str | None = None,
        environment: bool = False,
        **options: Setting,
    ) -> None:
        """Takes the options of Client: server_url is needed, and the groups server and statistics
        are used (heatsink.options()). ValueError names the option and its bounds.
        """
        super().__init__(
            _arguments.path("file", file),
            _arguments.optional_text("yaml", yaml, "server: {url: redis://cache}"),
            environment,
            yaml_of(options),
        )
        self._opened()

    def read(
        self,
        name: str | bytes,
        window: datetime.timedelta = datetime.timedelta(hours=24),
    ) -> WindowReading | None:
        """Reads the last `window` of all flushed numbers, at most what the server keeps.

        None: no process has written this name within its length. heatsink.Error: the server failed.
        """
        milliseconds = max(-(-_arguments.duration("window", window) // _MILLISECOND), 1)
        row = self._read(name, milliseconds)
        if row is None:
            return None
        high, low = row.pop("sum_high"), row.pop("sum_low")
        for key in ("covered", "slot", "length"):
            row[key] = row.pop(f"{key}_ms") * _MILLISECOND
        return WindowReading(sum=(high << 64) + low, **row)

    def names(self, pattern: str = "*") -> list[bytes]:
        """The names that match a glob, as bytes, in order; in a cluster, those of one node."""
        return self._list(pattern)

    def flush(self, patience: datetime.timedelta = datetime.timedelta(seconds=5)) -> None:
        """Waits until all numbers added before are delivered; heatsink.Error: not in time."""
        self._flush(max(_arguments.duration("patience", patience) // _MILLISECOND, 0))

    def counts(self) -> WindowCounts:
        """How many numbers were delivered, dropped and so on."""
        return WindowCounts(**self._counts())

    def close(self) -> None:
        """Flushes once more, for at most 1 s. Numbers that are added later are discarded."""
        self._close()
