# SPDX-License-Identifier: Apache-2.0
"""Who may include whom, and what a room must have."""

import os
import re

from rule import rule
from tree import CPP

LAYERS = "tests/tidy/layers.txt"
FACE = (
    "// SPDX-License-Identifier: Apache-2.0\n// base: results and units. No socket.\n#pragma once\n"
)
SMALL_HOUSE = {
    LAYERS: "base:\nnet: base\ncache: base\napps/top: base\n",
    "heatsink/base/base.h": FACE + '#include "heatsink/base/units.h"  // IWYU pragma: export\n',
    "heatsink/base/units.h": "#pragma once\n",
    "heatsink/base/units.cc": '#include "heatsink/base/units.h"\n',
    "heatsink/base/CMakeLists.txt": "heatsink_room(base SOURCES units.cc)",
    "heatsink/net/net.h": "// SPDX\n// net: loops.\n#pragma once\n"
    '#include "heatsink/base/units.h"\n',
    "heatsink/cache/cache.h": "// SPDX\n// cache: copies.\n#pragma once\n",
    "apps/heatsink/main.cc": '#include "heatsink/net/net.h"\n#include "apps/heatsink/top/view.h"\n',
    "apps/heatsink/top/view.h": '#include "heatsink/base/base.h"\n',
    "apps/heatsink/CMakeLists.txt": "add_executable(heatsink main.cc)",
}


def rows_of(tree):
    for line in tree.lines(LAYERS):
        if line and not line.startswith("#"):
            room, lower = line.split(":")
            yield room, lower.split()


def layers_of(tree):
    return {
        room if room.startswith("apps/") else room.split("/")[-1]: lower
        for room, lower in rows_of(tree)
    }


def wholes_of(tree):
    """For each room that is a part of another one: that one, which is its own whole, too."""
    parts = [room.split("/") for room, _ in rows_of(tree) if not room.startswith("apps/")]
    wholes = {part[1]: part[0] for part in parts if len(part) == 2}
    return {**wholes, **{whole: whole for whole in wholes.values()}}


def room_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "heatsink" and len(parts) > 2 else None


def layer_of(path):
    """The name of its row in layers.txt; None for what stands in no room."""
    parts = path.split("/")
    in_app = parts[0] == "apps" and len(parts) > 3
    return f"apps/{parts[2]}" if in_app else room_of(path)


def is_public(tree, header, reader):
    """A room's face is, and what it includes or names; for tests and benches testing/ is too."""
    room, name = room_of(header), os.path.basename(header)
    tests = reader.endswith(("_test.cc", "_for_test.h")) or "/testing/" in reader
    measures = tests or reader.startswith(("bench/", "tests/"))
    if measures and header.startswith(f"heatsink/{room}/testing/"):
        return True
    return name == f"{room}.h" or name in tree.texts.get(f"heatsink/{room}/{room}.h", "")


@rule(
    kept_by=SMALL_HOUSE,
    broken_by=[
        {"heatsink/base/units.cc": '#include "heatsink/net/net.h"\n'},
        {"heatsink/cache/hot.cc": '#include "heatsink/net/net.h"\n'},
        {"heatsink/cache/hot.cc": '#include "apps/heatsink/verbs.h"\n'},
        {"heatsink/new/new.h": "// SPDX\n"},
        {"apps/heatsink/new/new.h": "// SPDX\n"},
        {"apps/heatsink/top/view.cc": '#include "apps/heatsink/verbs.h"\n'},
        {"apps/heatsink/top/view.cc": '#include "heatsink/net/net.h"\n'},
        {LAYERS: "base: net\nnet: base\ncache:\n"},
    ],
)
def layering(tree):
    """A room includes only the rooms that layers.txt allows it, and never the app around it."""
    table = layers_of(tree)
    rooms = list(table)
    for room, lower in table.items():
        for name in lower:
            if name not in rooms[: rooms.index(room)]:
                yield LAYERS, f"{room} names {name}, which is not before it"
    for path in tree.paths(*CPP, under=("heatsink/", "apps/")):
        room = layer_of(path)
        if room is None:
            continue  # an app, which wires the rooms
        if room not in table:
            yield path, f"room '{room}' has no row in {LAYERS}"
            continue
        for include in tree.includes(path):
            other = layer_of(include)
            of_the_app = include.startswith("apps/") and other is None
            if of_the_app or (other and other not in (room, *table[room])):
                yield path, f"{room} may not include {include}"


@rule(
    kept_by={
        **SMALL_HOUSE,
        LAYERS: "base:\nwhole/part: base\nwhole: part\nnet: base\ncache: base\napps/top: base\n",
        "heatsink/part/part.h": "",
        "heatsink/part/inner.h": "",
        "heatsink/whole/whole.cc": '#include "heatsink/part/inner.h"\n',
    },
    broken_by=[
        {
            "apps/heatsink/main.cc": '#include "heatsink/base/inner.h"\n',
            "heatsink/base/inner.h": "",
        },
        {"heatsink/net/net.h": '#include "heatsink/base/inner.h"\n', "heatsink/base/inner.h": ""},
        {
            LAYERS: "base:\nwhole/part: base\nwhole: base part\napps/top: base\n",
            "heatsink/part/part.h": "",
            "heatsink/net/net.h": '#include "heatsink/part/part.h"\n',
        },
    ],
)
def public_headers_only(tree):
    """Who stands outside a room, or its whole, includes a face or a header that the face names."""
    wholes = wholes_of(tree)
    for path in tree.paths(*CPP):
        reader = room_of(path)
        for include in tree.includes(path):
            room = room_of(include)
            face = wholes.get(room, room)
            if not room or face == wholes.get(reader, reader):
                continue
            if face != room or not is_public(tree, include, path):
                yield path, f"{include} is not public: heatsink/{face}/{face}.h does not name it"


@rule(
    kept_by=SMALL_HOUSE, broken_by=[{"heatsink/base/units.h": '#include "heatsink/base/base.h"\n'}]
)
def no_include_loops(tree):
    """No header reaches itself through its includes."""
    done = set()

    def visit(path, way):
        if path in way:
            yield path, "include loop: " + " > ".join([*way[way.index(path) :], path])
        elif path not in done and path in tree.texts:
            for include in tree.includes(path):
                yield from visit(include, [*way, path])
            done.add(path)

    for path in tree.paths(".h"):
        yield from visit(path, [])


INSTALL = "cmake/HeatsinkInstall.cmake"


@rule(
    kept_by={
        INSTALL: "foreach(header\n  base/units.h net/url.h)\n"
        "install(FILES ${PROJECT_SOURCE_DIR}/include/heatsink/limits.h)\n",
        "include/heatsink/limits.h": '#include "heatsink/net/url.h"\n',
        "heatsink/net/url.h": '#include "heatsink/base/units.h"\n',
        "heatsink/base/units.h": "",
        "heatsink/net/loop.h": "",
    },
    broken_by=[
        {"heatsink/net/url.h": '#include "heatsink/net/loop.h"\n'},
        {"include/heatsink/limits.h": '#include "heatsink/net/loop.h"\n'},
    ],
)
def installed_headers_suffice(tree):
    """An installed header includes only headers that are installed, too."""
    text = tree.texts.get(INSTALL, "")
    public = set(re.findall(r"include/heatsink/\w+\.h", text))
    listed = re.search(r"foreach\(header([^)]*)\)", text)
    rooms = {f"heatsink/{name}" for name in listed[1].split()} if listed else set()
    for path in sorted(public | rooms):
        for include in tree.includes(path) if path in tree.texts else ():
            if include not in rooms:
                yield path, f"{include} is not installed: {INSTALL} does not list it"


def first_sentence(tree, room):
    """Of the face header, without the name; None when there is no such comment."""
    comment = re.search(
        r"^// SPDX.*\n((?://.*\n)+)", tree.texts.get(f"heatsink/{room}/{room}.h", "")
    )
    text = " ".join(line[2:].strip() for line in comment[1].splitlines()) if comment else ""
    sentence = re.match(rf"{room}: (.+?\.)(?= |$)", text)
    return sentence[1] if sentence else None


@rule(
    kept_by=SMALL_HOUSE,
    broken_by=[
        {"heatsink/cache/cache.h": "// SPDX\n// Copies.\n#pragma once\n"},
        {"heatsink/extra/x.h": "// SPDX\n// x\n#pragma once\n"},
    ],
)
def faces(tree):
    """Each room has a face header with the room's name, whose comment begins `room: a sentence.`"""
    for room in tree.rooms():
        if first_sentence(tree, room) is None:
            yield f"heatsink/{room}/{room}.h", f"the second line must be '// {room}: <a sentence>.'"


@rule(
    kept_by={
        **SMALL_HOUSE,
        "heatsink/base/units_fuzz.cc": "",
        "heatsink/base/corpus/units_fuzz/a": "",
        "heatsink/base/CMakeLists.txt": "heatsink_room(base SOURCES a.cc FUZZERS units_fuzz.cc)",
    },
    broken_by=[{"heatsink/base/other_fuzz.cc": ""}],
)
def fuzz_corpus(tree):
    """Each x_fuzz.cc has a corpus/x_fuzz beside it with something in it."""
    for path in tree.paths("_fuzz.cc"):
        corpus = f"{os.path.dirname(path)}/corpus/{os.path.basename(path)[:-len('.cc')]}/"
        if not tree.paths(under=corpus):
            yield path, f"has no corpus: {corpus}"


@rule(kept_by=SMALL_HOUSE, broken_by=[{"heatsink/base/lost_test.cc": ""}])
def every_source_is_built(tree):
    """Each .cc is named in the CMakeLists.txt beside it or one folder up."""
    for path in tree.paths(".cc", under=("heatsink/", "apps/", "tests/", "bench/")):
        folder = os.path.dirname(path)
        above = os.path.dirname(folder)
        lists = [tree.texts.get(f"{f}/CMakeLists.txt", "") for f in (folder, above)]
        words = {word for text in lists for word in re.split(r"[\s()]+", text)}
        globbed = "GLOB" in words  # the folder takes whatever is there
        if not globbed and not words & {os.path.basename(path), os.path.relpath(path, above)}:
            yield path, "is named in no CMakeLists.txt"


SLICES = "tests/tidy/slices.txt"


def owner_of(tree, path):
    """The header `x.h` of which `x_part.cc` is a slice; None: it has its own header, or none."""
    folder, name = os.path.split(path[: -len(".cc")])
    if f"{folder}/{name}.h" in tree.texts:
        return None
    words = name.split("_")
    for count in range(len(words) - 1, 0, -1):
        header = f"{folder}/{'_'.join(words[:count])}.h"
        if header in tree.texts:
            return header
    return None


MEMBER = re.compile(
    r"^(?![\s/#}])[^\n;=()]*?\b((?:[A-Z]\w*::)+)(?:~?\w+|operator[^\s(]*)\(", re.MULTILINE
)


def sources_of_classes(tree):
    """For each folder and class: the sources that define its member functions."""
    sources = {}
    for path in tree.paths(".cc", under=("heatsink/", "apps/")):
        if not path.endswith(("_test.cc", "_fuzz.cc")):
            for found in MEMBER.findall(tree.texts[path]):
                key = (os.path.dirname(path), found.removesuffix("::"))
                sources.setdefault(key, set()).add(path)
    return sources


def header_of(path):
    return path.removesuffix(".cc") + ".h"


def strangers(tree):
    """Sources that define members of a class of another source's header, by that header."""
    for (_folder, name), paths in sources_of_classes(tree).items():
        declared = re.compile(rf"\b(?:class|struct) (?:\w+::)*{name.split('::')[-1]}\b[^;]*?{{")
        homes = [p for p in sorted(paths) if declared.search(tree.texts.get(header_of(p), ""))]
        if len(paths) > 1 and homes:
            for path in paths - {homes[0]}:
                yield header_of(homes[0]), path


@rule(
    kept_by={
        SLICES: "# words\nheatsink/a/old.h 1\n",
        "heatsink/a/old.h": "class Old {\n  void f();\n};\n",
        "heatsink/a/old.cc": "void Old::f() {}\n",
        "heatsink/a/old_part.cc": "int Old::g(int) {\n  return Whole::h();\n}\n",
        "heatsink/a/old_test.cc": "",
        "heatsink/a/whole.h": "struct Whole {\n};\n",
        "heatsink/a/whole.cc": "Whole::Whole() {}\n",
        "heatsink/b/other.cc": "void Whole::f() {}\n",
    },
    broken_by=[
        {"heatsink/a/old_other.cc": ""},
        {"heatsink/a/new.h": "", "heatsink/a/new_part.cc": ""},
        {"heatsink/a/old_part.h": "", "heatsink/a/old_part.cc": ""},
        {"heatsink/a/more.cc": "std::string Whole::text() const {\n"},
        {"heatsink/a/more.cc": "Whole::Whole(int number)\n    : number_(number) {}\n"},
    ],
)
def no_slices(tree):
    """A source implements its own header: a class has one source, but for those of slices.txt."""
    rows = [line.split() for line in tree.lines(SLICES) if line and not line.startswith("#")]
    allowed = {header: int(count) for header, count in rows}
    slices = {}
    for path in tree.paths(".cc", under=("heatsink/", "apps/")):
        header = owner_of(tree, path)
        if header and not path.endswith(("_test.cc", "_fuzz.cc")):
            slices.setdefault(header, set()).add(path)
    for header, path in strangers(tree):
        slices.setdefault(header, set()).add(path)
    for header in sorted(slices.keys() | allowed.keys()):
        found, count = slices.get(header, set()), allowed.get(header, 0)
        if len(found) > count:
            names = ", ".join(os.path.basename(path) for path in sorted(found))
            yield header, f"has {len(found)} slices ({names}), {count} are allowed: make parts"
        elif len(found) < count:
            yield SLICES, f"{header} has {len(found)} slices now: lower its number"


CRUMB_LINES = 30


def is_test(path):
    name = os.path.basename(path)
    ends = ("_test.cc", "_fuzz.cc", "_for_test.h")
    return name.endswith(ends) or path.startswith(("tests/", "bench/")) or "/testing/" in path


def readers_by_header(tree):
    """For each header those that include it, without the source that implements it."""
    readers = {}
    for path in tree.paths(*CPP):
        for include in tree.includes(path):
            if include != f"{os.path.splitext(path)[0]}.h":
                readers.setdefault(include, set()).add(path)
    return readers


@rule(
    kept_by={
        "heatsink/a/a.h": '#include "heatsink/a/public.h"\n',
        "heatsink/a/public.h": "",
        "heatsink/a/tried.h": "",
        "heatsink/a/tried_test.cc": '#include "heatsink/a/tried.h"\n',
        "heatsink/a/shared.h": "",
        "heatsink/a/long.h": "//\n" * 30,
        "heatsink/a/long.cc": '#include "heatsink/a/long.h"\n#include "heatsink/a/tried.h"\n',
        "heatsink/a/one.cc": '#include "heatsink/a/shared.h"\n#include "heatsink/a/long.h"\n',
        "heatsink/a/two.cc": '#include "heatsink/a/shared.h"\n',
        "heatsink/b/of_a.cc": '#include "heatsink/a/face_of_a_folder.h"\n',
        "heatsink/a/face_of_a_folder.h": "",
        "tests/x/stage.h": "",
        "tests/x/x.cc": '#include "tests/x/stage.h"\n',
    },
    broken_by=[
        {"heatsink/a/two.cc": ""},
        {"heatsink/a/long.h": "//\n" * 29},
        {"heatsink/a/tried_test.cc": ""},
        {"apps/x/y.h": "", "apps/x/y.cc": '#include "apps/x/y.h"\n', "apps/x/x.cc": ""},
    ],
)
def no_crumbs(tree):
    """A header that one file beside it reads, and no test, has 30 lines; or it stands there."""
    readers = readers_by_header(tree)
    for path in tree.paths(".h", under=("heatsink/", "apps/")):
        room = room_of(path)
        if is_test(path) or path == f"heatsink/{room}/{room}.h":
            continue
        found = readers.get(path, set())
        faces_and_tests = any(is_test(p) or p == f"heatsink/{room}/{room}.h" for p in found)
        beside = all(os.path.dirname(p) == os.path.dirname(path) for p in found)
        if len(found) > 1 or faces_and_tests or not beside:
            continue
        if len(tree.lines(path)) < CRUMB_LINES:
            reader = os.path.basename(min(found, default="nothing"))
            yield path, f"is a crumb: only {reader} reads it; let it stand there, or with its like"
