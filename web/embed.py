#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the files of the web page into rows of C++: path, content type, text.

    web/embed.py web/page out.inc

index.html is "/"; each other file is "/page/NAME". The binary needs no file beside it, so the page
works wherever the binary does. Text is cut into short literals, since compilers limit their length.
"""

import json
import os
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
LITERAL_CHARACTERS = 2000


def literal(text):
    pieces = [text[i:i + LITERAL_CHARACTERS] for i in range(0, len(text), LITERAL_CHARACTERS)]
    # "??" may begin a trigraph.
    quoted = [json.dumps(piece, ensure_ascii=False).replace("??", r"?\?") for piece in pieces]
    return "\n    ".join(quoted)


def main(folder, target):
    with open(target, "w", encoding="utf-8") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n// Made by web/embed.py; do not edit.\n")
        for name in sorted(os.listdir(folder)):
            kind = TYPES.get(os.path.splitext(name)[1])
            if kind is None:
                sys.exit(f"{name}: a page has no such file; these exist: {', '.join(TYPES)}")
            path = "/" if name == "index.html" else f"/page/{name}"
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                out.write(f'{{"{path}", "{kind}",\n    {literal(file.read())}}},\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
