# SPDX-License-Identifier: Apache-2.0
"""Which parts of one folder depend on each other in a circle, also through their .cc files."""

import os

from cpp_tests import is_cpp_test
from rule import rule
from tree import CPP

CIRCLES = "tests/tidy/circles.txt"
HEADERS = {
    "heatsink/net/loop.h": "",
    "heatsink/net/timer.h": '#include "heatsink/net/loop.h"\n',
}
CIRCLE = {**HEADERS, "heatsink/net/loop.cc": '#include "heatsink/net/timer.h"\n'}
ALLOWED = {CIRCLES: "heatsink/net: loop timer -- a timer belongs to its loop\n"}


def part_of(tree, path):
    """A header with all that implements it: x.h, x_inline.h, x.cc, x_writing.cc (includes x.h)."""
    stem = path.rsplit(".", 1)[0].removesuffix("_inline")
    if path.endswith(".h"):
        return stem
    folder, name = os.path.split(stem)
    words = name.split("_")
    for count in range(len(words), 0, -1):
        part = f"{folder}/{'_'.join(words[:count])}"
        if f"{part}.h" in tree.texts and (part == stem or f"{part}.h" in tree.includes(path)):
            return part
    return stem


def parts_used(tree):
    """For each part of a folder the parts of the same folder that its files include."""
    used = {}
    for path in tree.paths(*CPP, under=("heatsink/", "apps/")):
        if is_cpp_test(path) or path.endswith("_fuzz.cc"):
            continue
        part, folder = part_of(tree, path), os.path.dirname(path)
        others = used.setdefault(part, set())
        for include in tree.includes(path):
            if include in tree.texts and os.path.dirname(include) == folder:
                others.add(part_of(tree, include))
    return used


def reached_from(used, part):
    """The parts that it depends on, itself only if that leads back to it."""
    seen, left = set(), [part]
    while left:
        for other in used.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def circles_of(used):
    """The largest sets of parts of which each depends on each other one."""
    reached = {part: reached_from(used, part) for part in used}
    circles = {
        frozenset(other for other in reached[part] if part in reached.get(other, ()))
        for part in used
    }
    return [circle for circle in circles if len(circle) > 1]


def allowed_circles(tree):
    """(line, its parts, the reason) of each row of circles.txt."""
    for number, line in enumerate(tree.texts.get(CIRCLES, "").splitlines(), 1):
        if line and not line.startswith("#"):
            folder, row = line.split(": ", 1)
            names, _, reason = row.partition(" -- ")
            yield number, frozenset(f"{folder}/{name}" for name in names.split()), reason.strip()


def names_of(parts):
    return " ".join(sorted(os.path.basename(part) for part in parts))


@rule(
    kept_by={
        **CIRCLE,
        **ALLOWED,
        # The umbrella header and the tests of a room are no parts of it.
        "heatsink/base/base.h": '#include "heatsink/base/units.h"\n',
        "heatsink/base/units.h": "",
        "heatsink/base/units_inline.h": '#include "heatsink/base/units.h"\n',
        "heatsink/base/units.cc": '#include "heatsink/base/units_inline.h"\n',
        "heatsink/base/units_test.cc": '#include "heatsink/base/base.h"\n',
        "heatsink/base/text.h": '#include "heatsink/base/units.h"\n',
        # Another file of text, by its name and what it includes.
        "heatsink/base/text_form.cc": '#include "heatsink/base/text.h"\n'
        '#include "heatsink/base/units.h"\n',
    },
    broken_by=[
        {CIRCLES: ""},
        {CIRCLES: "heatsink/net: loop timer --\n"},
        {CIRCLES: "heatsink/net: loop -- it has no second\n"},
        {CIRCLES: "heatsink/net: loop timer poller -- poller is in no circle\n"},
        {"heatsink/base/units_form.cc": '#include "heatsink/base/units.h"\n'
         '#include "heatsink/base/text.h"\n'},
        {"apps/heatsink/a.h": '#include "apps/heatsink/b.h"\n',
         "apps/heatsink/b.h": "", "apps/heatsink/b.cc": '#include "apps/heatsink/a.h"\n'},
    ],
)  # fmt: skip
def no_circles_of_parts(tree):
    """No header and its sources need a part that needs them, unless circles.txt says why."""
    circles, allowed = circles_of(parts_used(tree)), list(allowed_circles(tree))
    for circle in sorted(circles, key=sorted):
        if not any(circle <= parts for _, parts, _ in allowed):
            yield f"{min(circle)}.h", f"depend on each other: {names_of(circle)}"
    for number, parts, reason in allowed:
        if parts not in circles:
            yield f"{CIRCLES}:{number}", f"there is no circle {names_of(parts)} any more"
        elif not reason:
            yield f"{CIRCLES}:{number}", "the row says no reason"
