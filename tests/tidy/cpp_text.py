# SPDX-License-Identifier: Apache-2.0
"""C++ as rules read it: without comments, and what its functions are. It is no parser."""

import bisect
import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>(?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
               | "(?:\\.|[^"\\\n])*")
    | \b\d[\w.']*  # a number: a ' in it opens nothing
    | '(?:\\.|[^'\\\n])+'  # a character, such as '{'""",
    re.DOTALL | re.VERBOSE,
)
DIRECTIVE = re.compile(r"^[ \t]*\#(?:\\\n|[^\n])*", re.MULTILINE)
TEMPLATE = re.compile(r"<(?:[^<>();{}]|\([^<>();{}]*\))*>")
NAMESPACE = re.compile(r'\b(?:namespace|extern\s+"_*")[^=]*$')
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:\[\[.*?\]\]\s*)?(\w+)[^()=]*$")
FUNCTION = re.compile(r"(~?\b[A-Za-z_]\w*)\s*\(")
AFTER_PARAMETERS = re.compile(r"\s*(?:$|&|:|->|const\b|noexcept\b|override\b|final\b|requires\b)")
SIGN = re.compile(r"[][(){}]")
OPENING_OR_COMMA = re.compile(r"[,({[]")
OPENING_OR_END = re.compile(r"[;({]")
BRACKETS = {")": "(", "}": "{", "]": "["}


@dataclasses.dataclass(eq=False)
class Function:
    path: str
    name: str  # of a test the macro's: TEST_F
    inside: str  # the class whose braces it stands in, or ""
    opening: int  # where the ( of its parameters stands
    body: tuple[int, int]  # from its { to its }

    def makes_or_ends_an_object(self):
        return self.name.startswith("~") or self.name == self.inside


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(found):
    return blank(found[0]) if found["comment"] else found[0]


def without_words(found):
    """A string stays one; what it says becomes _, so that "" alone is empty."""
    if found["string"]:
        return '"' + re.sub(r"[^\n]", "_", found[0][1:-1]) + '"'
    return blank(found[0]) if found[0][0] in "/'" else found[0]


class CppText:
    """One file; all offsets are those of its text."""

    def __init__(self, text):
        self.said = TOKEN.sub(without_comments, text)
        code = TOKEN.sub(without_words, text)
        # Neither comments nor preprocessor lines nor what strings say.
        self.code = DIRECTIVE.sub(lambda found: blank(found[0]), code)
        self._lines = [found.end() for found in re.finditer("\n", text)]
        self._ends = None

    def line(self, offset):
        return bisect.bisect_right(self._lines, offset) + 1

    def end_of(self, opening):
        """Of the bracket that opens there; None if nothing closes it."""
        if self._ends is None:
            self._ends, opened = {}, []
            for found in SIGN.finditer(self.code):
                sign = found[0]
                if sign not in BRACKETS:
                    opened.append(found)
                elif opened and opened[-1][0] == BRACKETS[sign]:
                    self._ends[opened.pop().start()] = found.start()
        return self._ends.get(opening)

    def arguments(self, opening):
        """What stands between the commas of the call whose ( is there, blanks made one."""
        end = self.end_of(opening)
        found, begin, at = [], opening + 1, opening + 1
        while end and at < end:
            stop = OPENING_OR_COMMA.search(self.code, at, end)
            if stop is None:
                break
            if stop[0] == ",":
                found.append((begin, stop.start()))
                begin = at = stop.end()
            else:
                at = (self.end_of(stop.start()) or stop.start()) + 1
        found.append((begin, end or begin))
        return [" ".join(self.said[b:e].split()) for b, e in found]

    def functions(self, path):
        """Those that stand in no other function; what is local is part of the body around it."""
        return self._functions(path, 0, len(self.code), "")

    def _functions(self, path, begin, end, inside):
        at = begin
        while stop := OPENING_OR_END.search(self.code, at, end):
            at = stop.end()
            if stop[0] == ";":
                begin = at
                continue
            closing = self.end_of(stop.start())
            if closing is None:
                continue
            at = closing + 1
            if stop[0] == "(":
                continue
            head = TEMPLATE.sub(lambda f: blank(f[0]), self.code[begin : stop.start()])
            if NAMESPACE.search(head):
                yield from self._functions(path, stop.end(), closing, inside)
            elif found := CLASS.search(head):
                yield from self._functions(path, stop.end(), closing, found[1])
            elif found := FUNCTION.search(head):
                if self.code[at:end].lstrip()[:1] in (",", "{"):
                    continue  # that was a member's value, of a constructor
                opening = begin + found.end() - 1
                if AFTER_PARAMETERS.match(head, (self.end_of(opening) or opening) + 1 - begin):
                    body = (stop.start(), at)
                    yield Function(path, found[1], inside, opening, body)
            begin = at
