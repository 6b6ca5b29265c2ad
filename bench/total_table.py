# SPDX-License-Identifier: Apache-2.0
"""The arithmetic and the table of bench/total.py: ratios of pairs, beside what is asked of them."""

import dataclasses
import statistics

NOTHING_TO_COPY = ("never", "corda")
COLUMNS = (("throughput", "rate"), ("proxy", "proxy"), ("proxy+server", "total"), ("p99", "p99"),
           ("server", "server"))  # fmt: skip
NAME_WIDTH, CELL_WIDTH = 36, 13


@dataclasses.dataclass(frozen=True)
class Played:
    """One run of the load."""

    rate: float
    proxy_us: float  # per operation
    server_us: float
    p99_ms: float
    hits: float  # share of the operations
    stolen: float = 0.0  # share of the machine's CPU time that its host gave to others

    @property
    def total_us(self):
        return self.proxy_us + self.server_us


@dataclasses.dataclass(frozen=True)
class Asked:
    ratio: str  # of a row
    limit: float
    at_most: bool = True

    def met(self, ratios):
        """Judges the ratio as it is printed."""
        reached = round(ratios[self.ratio], 2)
        return reached <= self.limit if self.at_most else reached >= self.limit

    def text(self):
        return f"{'<=' if self.at_most else '>='}{self.limit:.2f}"


def asked_of(kind, pipeline, hits):
    """What a row is to reach. `hits`: the share of the operations that copies answer."""
    if kind in NOTHING_TO_COPY:
        return [Asked("total", 1.04), Asked("rate", 0.97, at_most=False)]
    fast = kind == "zipf-1.1" and pipeline == 16
    asked = [
        Asked("total", 0.9 if pipeline == 1 and hits > 0.5 else 1.0),
        Asked("rate", 1.2 if fast else 1.0, at_most=False),
    ]
    return asked + ([Asked("proxy", 0.85), Asked("p99", 1.0)] if fast else [])


def stolen_of(pair):
    """Of the run that the host disturbed more."""
    return max(played.stolen for played in pair)


def calmest(pairs, count):
    """`count` of the pairs, those that the host disturbed least, as they were played."""
    kept = sorted(range(len(pairs)), key=lambda at: stolen_of(pairs[at]))[:count]
    return [pairs[at] for at in sorted(kept)]


def ratios_of(pairs):
    """Medians of the ratios within each pair (default, other)."""

    def ratio(figure):
        return statistics.median(
            getattr(a, figure) / max(getattr(b, figure), 1e-9) for a, b in pairs
        )

    return {"rate": ratio("rate"), "proxy": ratio("proxy_us"), "server": ratio("server_us"),
            "total": ratio("total_us"), "p99": ratio("p99_ms")}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    asked: list
    ratios: dict
    pairs: list

    def missed(self):
        return [each for each in self.asked if not each.met(self.ratios)]

    def text(self):
        asked = {each.ratio: each for each in self.asked}
        cells = (self._cell(ratio, asked.get(ratio)) for _, ratio in COLUMNS)
        sides = " ".join(
            f"{self._median(side, 'proxy_us'):.2f} + {self._median(side, 'server_us'):.2f}"
            + (" |" if side == 0 else "")
            for side in (0, 1)
        )
        hits = f"{100 * self._median(0, 'hits'):3.0f} %"
        stolen = f"{100 * max(map(stolen_of, self.pairs)):3.0f} %"
        return f"{self.name:{NAME_WIDTH}}{''.join(cells)}{hits}  {stolen}   {sides}"

    def _cell(self, ratio, asked):
        reached = f"{self.ratios[ratio]:.2f}"
        if asked is None:
            return f"{reached:{CELL_WIDTH}}"
        mark = " " if asked.met(self.ratios) else "*"
        return f"{reached}{mark}{asked.text()}".ljust(CELL_WIDTH)

    def _median(self, side, figure):
        return statistics.median(getattr(pair[side], figure) for pair in self.pairs)


def make_row(kind, pipeline, writes, workers, pairs):
    operations = "GET" if writes == 0 else f"SET {100 * writes:g} %"
    worked_by = "1 worker" if workers == 1 else f"{workers} workers"
    hits = statistics.median(default.hits for default, _ in pairs)
    return Row(f"{kind}, P={pipeline}, {operations}, {worked_by}", asked_of(kind, pipeline, hits),
               ratios_of(pairs), pairs)  # fmt: skip


def head():
    return (f"{'default to no copies':{NAME_WIDTH}}"
            f"{''.join(title.ljust(CELL_WIDTH) for title, _ in COLUMNS)}hits   stolen  us per "
            "operation: proxy + server, of both sides")  # fmt: skip


def summary(rows):
    """How many rows reach what is asked, and which of them miss what."""
    missing = [row for row in rows if row.missed()]
    lines = [f"{len(rows) - len(missing)} of {len(rows)} rows reach what is asked"]
    titles = {ratio: title for title, ratio in COLUMNS}
    for row in missing:
        missed = ", ".join(
            f"{titles[each.ratio]} {row.ratios[each.ratio]:.2f} (asked {each.text()})"
            for each in row.missed()
        )
        lines.append(f"  {row.name}: {missed}")
    return "\n".join(lines)
