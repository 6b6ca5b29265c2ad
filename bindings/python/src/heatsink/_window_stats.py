# SPDX-License-Identifier: Apache-2.0
"""Statistics over a sliding window of what any number of processes add."""

import datetime
import os
from dataclasses import dataclass

from heatsink import _arguments, _native
from heatsink._closing import Closing
from heatsink._options import Setting, yaml_of

_MILLISECOND = datetime.timedelta(milliseconds=1)


@dataclass(frozen=True)
class WindowReading:
    """What all processes have added, over the last `covered`.

    Count, sum, min and max are exact, quantiles to 1.6 % of the number; 0 of none.
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
    covered: datetime.timedelta  # what was asked for, or up to a slot less
    slot: datetime.timedelta  # in steps of which the window moves
    length: datetime.timedelta  # for which the server keeps it
    shards_missing: int  # of 4 parts those that could not be read: their numbers are missing


@dataclass(frozen=True)
class WindowCounts:
    """Numbers since the WindowStats was made."""

    delivered: int
    dropped: int  # held for statistics.hold, and the server was not there
    uncertain: int  # likewise, but it may have counted them: it never answered
    refused: int  # calls of add()
    resent: int  # flushes; none of them counts twice
    names: int  # now


class WindowStats(_native.WindowStats, Closing):
    """Count, sum, mean, extremes and quantiles of whole numbers, kept by the server.

    add() takes nanoseconds and never waits: numbers are summed here and flushed ten times a second
    (statistics_flush_interval), each exactly once, however often a flush must be sent again.

    Any thread may use it. After fork() the child begins anew. It ends with close(), a `with` block,
    or the interpreter, and delivers what it has.
    """

    def __init__(
        self,
        *,
        file: str | os.PathLike[str] | None = None,
        yaml: str | None = None,
        environment: bool = False,
        **options: Setting,
    ) -> None:
        """Options as those of Client: server_url is needed, and those of the groups server and
        statistics count (heatsink.options()). ValueError names the option and its bounds.
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
        """Over the last `window`, or all that the server keeps; it knows what was flushed.

        None: nobody has written it within its length. heatsink.Error: the server.
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
        """The names that fit a glob, in order; of a cluster those that one node knows."""
        return self._list(pattern)

    def flush(self, patience: datetime.timedelta = datetime.timedelta(seconds=5)) -> None:
        """Waits until what was added before is delivered; heatsink.Error: it is not, by then."""
        self._flush(max(_arguments.duration("patience", patience) // _MILLISECOND, 0))

    def counts(self) -> WindowCounts:
        """What became of the numbers."""
        return WindowCounts(**self._counts())

    def close(self) -> None:
        """Flushes once more, for a second at most; what is added later goes nowhere."""
        self._close()
