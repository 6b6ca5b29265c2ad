#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_top.py IMAGE.svg [FLAG ...]: draws a real screen of `heatsink top` as an SVG image.

Runs `./run FLAG ...` in a pseudo-terminal, lets the keys get a history, and draws what a terminal
would show. `docs/images/make_top.py docs/images/top.svg` made the image of the README.
"""

import fcntl
import itertools
import os
import pathlib
import pty
import re
import select
import struct
import sys
import termios
import time
from xml.sax.saxutils import escape

RUN = pathlib.Path(__file__).resolve().parents[2] / "run"
COLUMNS, ROWS = 100, 22
START_S, WATCH_S = 1800, 60  # for the build and the first screen; then, for wide curves
WIDTH, HEIGHT, MARGIN = 8.4, 18, 12  # of a cell, and around the screen; pixels
COLORS = ["#d4d4d4", "#f47067", "#57ab5a", "#c69026", "#539bf5", "#b083f0", "#39c5cf"]
BACKGROUND = "#1c2128"
BLOCKS = "▁▂▃▄▅▆▇█"
SEQUENCE = re.compile(r"(?s)\x1b\[([?>]?)([\d;]*)([a-zA-Z@])|\x1b[()]\w|\x1b[=>78]|(?P<glyph>.)")
PLAIN = (0, False, False, False)  # index of COLORS, bold, dim, reverse


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))


def read(terminal, seconds, until=None):
    """What is printed within so many seconds, or until `until` is among it."""
    output, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not (until and until in output):
        if select.select([terminal], [], [], left)[0]:
            output += os.read(terminal, 65536)
    return output


def capture(flags):
    """One whole repaint, as text: ncurses repaints everything when the size changes."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", NO_COLOR="")
        os.execv(RUN, [str(RUN), *flags])
    resize(terminal, COLUMNS - 1)
    if b"Hot keys of" not in read(terminal, START_S, b"Hot keys of"):
        sys.exit("make_top.py: heatsink top showed no screen; try ./run")
    read(terminal, WATCH_S)
    resize(terminal, COLUMNS)
    picture = read(terminal, 0.5)
    os.close(terminal)  # SIGHUP ends ./run
    os.waitpid(process, 0)
    return picture.decode()


class Terminal:
    """The part of a terminal that a repaint by ncurses uses; anything else is an error."""

    def __init__(self):
        self.cells = [[(" ", PLAIN)] * COLUMNS for _ in range(ROWS)]
        self.row, self.column, self.style = 0, 0, PLAIN

    def feed(self, text):
        for found in SEQUENCE.finditer(text):
            if found["glyph"]:
                self.put(found["glyph"])
            elif found[3] and not found[1]:
                self.obey(found[3], [int(number or 0) for number in found[2].split(";")])

    def put(self, glyph):
        if glyph >= " ":
            if self.column == COLUMNS:  # behind the last one: a terminal wraps
                self.row, self.column = self.row + 1, 0
            self.cells[self.row][self.column] = (glyph, self.style)
        self.row += glyph == "\n"
        self.column += {"\r": -self.column, "\b": -1, "\n": 0}.get(glyph, 1)

    def blank(self, row, start, end):
        self.cells[row][start:end] = [(" ", PLAIN)] * (end - start)

    def obey(self, letter, numbers):
        count = max(numbers[0], 1)
        if letter == "H":
            self.row, self.column = count - 1, max(numbers[-1], 1) - 1 if numbers[1:] else 0
        elif letter == "d":
            self.row = count - 1
        elif letter in "CG":
            self.column = count - 1 if letter == "G" else self.column + count
        elif letter in "JKX":
            self.blank(self.row, self.column, self.column + count if letter == "X" else COLUMNS)
            for row in range(self.row + 1, ROWS if letter == "J" else 0):
                self.blank(row, 0, COLUMNS)
        elif letter == "b":
            for _ in range(count):
                self.put(self.cells[self.row][self.column - 1][0])
        elif letter == "m":
            for code in numbers:
                color, bold, dim, reverse = self.style if code else PLAIN
                color = (code - 30) % 9 if 31 <= code <= 36 or code == 39 else color
                self.style = (color, bold or code == 1, dim or code == 2, reverse or code == 7)
        elif letter not in "hlrt":
            sys.exit(f"make_top.py: unknown sequence: {numbers} {letter}")


def draw(column, row, text, style):
    color, bold, dim, reverse = style
    column += 0 if reverse else len(text) - len(text.lstrip())
    text = text if reverse else text.strip()
    x, y, width = MARGIN + column * WIDTH, MARGIN + row * HEIGHT, len(text) * WIDTH
    ink = BACKGROUND if reverse else COLORS[color]
    if reverse:
        yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" fill="{COLORS[color]}"/>'
    if text[:1] in BLOCKS:
        for i, height in enumerate(HEIGHT * (1 + BLOCKS.index(glyph)) / 8 for glyph in text):
            yield f'<path d="M{x + i * WIDTH:.1f} {y + HEIGHT}h8v-{height:.1f}h-8" fill="{ink}"/>'
    else:
        looks = ' font-weight="bold"' * bold + ' opacity="0.6"' * dim
        yield f'<text x="{x:.1f}" y="{y + 13}" textLength="{width:.1f}" fill="{ink}"{looks}>'
        yield f"{escape(text)}</text>"


def image_of(cells):
    yield '<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" font-size="13" '
    yield f'viewBox="0 0 {COLUMNS * WIDTH + 2 * MARGIN:.0f} {ROWS * HEIGHT + 2 * MARGIN}" '
    yield 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">\n'
    yield f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>\n'
    for row, line in enumerate(cells):
        column = 0
        for (style, _), run in itertools.groupby(line, lambda cell: (cell[1], cell[0] in BLOCKS)):
            text = "".join(glyph for glyph, _ in run)
            yield from draw(column, row, text, style)
            column += len(text)
        yield "\n"
    yield "</svg>\n"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    screen = Terminal()
    screen.feed(capture(sys.argv[2:]))
    pathlib.Path(sys.argv[1]).write_text("".join(image_of(screen.cells)), encoding="utf-8")
