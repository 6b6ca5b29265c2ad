# SPDX-License-Identifier: Apache-2.0
"""The C++ tests of a tree: which there are, and what they call."""

import functools
import os
import re

from cpp_text import CppText
from tree import CPP

A_TEST = re.compile(r"TEST(_[FP])?|TYPED_TEST(_P)?|RC_GTEST_(FIXTURE_)?PROP")
CALL = re.compile(r"(?<!\w)([a-zA-Z_]\w*)\s*(?:<[^<>;(){}]*>)?\(")
RUN_BY_GTEST = {"SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite"}


def is_cpp_test(path):
    """Or a file that only tests include."""
    of_tests = path.startswith("tests/") or "/testing/" in path
    return path.endswith(CPP) and (of_tests or path.endswith(("_test.cc", "_for_test.h")))


class CppTests:
    def __init__(self, tree):
        self._tree = tree
        self.files = {path: CppText(tree.texts[path]) for path in tree.paths() if is_cpp_test(path)}
        self._functions = {path: list(text.functions(path)) for path, text in self.files.items()}

    def tests(self):
        """(`path:line`, its name, the function) of each."""
        for path, functions in self._functions.items():
            text = self.files[path]
            for test in functions:
                if A_TEST.fullmatch(test.name):
                    name = ".".join(text.arguments(test.opening)[:2])
                    yield f"{path}:{text.line(test.opening)}", name, test

    def body(self, function):
        return self.files[function.path].code[slice(*function.body)]

    @functools.cache
    def _seen_from(self, path):
        """The file, the files of tests that it includes, and theirs."""
        seen, left = set(), [path]
        while left:
            at = left.pop()
            if at in self.files and at not in seen:
                seen.add(at)
                for name in self._tree.includes(at):
                    left += [name, f"{os.path.dirname(at)}/{name}"]
                left.append(at.removesuffix(".h") + ".cc")
        return seen

    @functools.cache
    def _named(self, path, name):
        return [
            function
            for other in self._seen_from(path)
            for function in self._functions[other]
            if function.name == name and not function.makes_or_ends_an_object()
        ]

    def called(self, function):
        """For each name that it calls, the functions that this may be; a class's own first."""
        for name in set(CALL.findall(self.body(function))) - RUN_BY_GTEST:
            if not A_TEST.fullmatch(name):
                named = self._named(function.path, name)
                own = [each for each in named if each.inside and each.inside == function.inside]
                yield own or named
