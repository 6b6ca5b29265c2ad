# SPDX-License-Identifier: Apache-2.0
"""The Python tests of a tree: which there are, and what they call."""

import ast
import dataclasses
import functools
import os
import re

HOUSES = ("tests/", "bindings/python/tests/")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_of_pytest(path):
    return re.fullmatch(r"bindings/python/tests/test_\w+\.py", path)


def holds_tests(path):
    return path.endswith("_test.py") or is_of_pytest(path)


@dataclasses.dataclass(eq=False)
class Function:
    path: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    inside: str  # the class, or ""

    @property
    def name(self):
        return self.node.name


class Module:
    """What one file defines, and what it takes from others."""

    def __init__(self, path, text):
        self.path = path
        tree = ast.parse(text, path)
        self.nodes = list(ast.walk(tree))
        self.functions, self.bases = [], {}
        self.modules, self.names = {}, {}  # by the name that they have here
        for node in tree.body:
            self._define(node, "")
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.modules[alias.asname or alias.name] = alias.name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    source = (node.module or "", node.level)
                    self.names[alias.asname or alias.name] = (*source, alias.name)

    def _define(self, node, inside):
        if isinstance(node, FUNCTIONS):
            self.functions.append(Function(self.path, node, inside))
        elif isinstance(node, ast.ClassDef):
            self.bases[node.name] = [ast.unparse(base).split(".")[-1] for base in node.bases]
            for child in node.body:
                self._define(child, node.name)


class PythonTests:
    def __init__(self, tree):
        paths = [p for p in tree.paths(".py") if p.startswith(HOUSES) or holds_tests(p)]
        self.modules = {path: Module(path, tree.texts[path]) for path in paths}

    def tests(self):
        """(`path:line`, its name, the function) of each."""
        for path, module in self.modules.items():
            for function in module.functions if holds_tests(path) else ():
                # unittest does not look outside of classes.
                if function.name.startswith("test_") and (is_of_pytest(path) or function.inside):
                    yield f"{path}:{function.node.lineno}", function.name, function

    @functools.cache
    def _file_of(self, importer, name, level=0):
        """The file of the tree that `import name` means there, or None."""
        folder = os.path.dirname(importer)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        file = name.replace(".", "/")
        for place in (folder, "tests"):
            for ending in (".py", "/__init__.py"):
                path = os.path.normpath(f"{place}/{file}{ending}")
                if path in self.modules:
                    return path
        return None

    @functools.cache
    def _seen_from(self, path):
        """The file, those of the tree that it imports, and theirs."""
        seen, left = set(), [path]
        while left:
            at = left.pop()
            if at is None or at in seen:
                continue
            seen.add(at)
            module = self.modules[at]
            left += [self._file_of(at, name) for name in module.modules.values()]
            left += [self._file_of(at, name, level) for name, level, _ in module.names.values()]
        return seen

    @functools.cache
    def _named(self, path, name):
        """The functions that stand in no class and are called `name` there."""
        if path is None:
            return ()
        module = self.modules[path]
        here = [f for f in module.functions if not f.inside and f.name == name]
        if not here and name in module.names:
            source, level, original = module.names[name]
            return self._named(self._file_of(path, source, level), original)
        return tuple(here)

    @functools.cache
    def _methods(self, path, name):
        return [
            function
            for other in self._seen_from(path)
            for function in self.modules[other].functions
            if function.inside and function.name == name
        ]

    @functools.cache
    def _own_method(self, path, inside, name):
        """Of the class, or of the nearest that it comes from."""
        own = [f for f in self._methods(path, name) if f.inside == inside]
        if own:
            return own
        for other in self._seen_from(path):
            for base in self.modules[other].bases.get(inside, ()):
                if found := self._own_method(path, base, name):
                    return found
        return []

    def called(self, function):
        """For each call in it, the functions of the tree that it may be."""
        path = function.path
        module = self.modules[path]
        for node in ast.walk(function.node):
            if not isinstance(node, ast.Call):
                continue
            callee = node.func
            if isinstance(callee, ast.Name):
                yield self._named(path, callee.id)
            elif isinstance(callee, ast.Attribute):
                owner = callee.value.id if isinstance(callee.value, ast.Name) else None
                if owner in module.modules:
                    yield self._named(self._file_of(path, module.modules[owner]), callee.attr)
                elif owner in ("self", "cls"):
                    yield self._own_method(path, function.inside, callee.attr)
                else:
                    yield self._methods(path, callee.attr)
