# SPDX-License-Identifier: Apache-2.0
"""A rule of the house: what it says, how it looks, and two small trees that prove it can see."""

import dataclasses
import typing

from tree import Tree

RULES = {}


@dataclasses.dataclass
class Rule:
    name: str
    says: str  # one sentence, from the function's docstring
    findings: typing.Callable[
        [Tree], typing.Iterable[tuple[str, str]]
    ]  # (path or path:line, what is wrong)
    kept_by: dict[str, str]  # a tree without a finding
    broken_by: list[dict[str, str]]  # trees with at least one finding each


def rule(kept_by, broken_by):
    """Registers the function under its name; the trees are what its self-test runs on."""

    def register(function):
        name = function.__name__.replace("_", "-")
        RULES[name] = Rule(
            name, function.__doc__.strip().splitlines()[0], function, kept_by, broken_by
        )
        return function

    return register


def findings_of(name, tree):
    """Without those in exceptions.txt; an exception that excuses nothing is a finding itself."""
    excused = {path for rule_name, path in tree.exceptions if rule_name == name}
    found, used = [], set()
    for place, text in RULES[name].findings(tree):
        path = place.split(":")[0]
        if path in excused:
            used.add(path)
        else:
            found.append((place, text))
    found += [
        ("tests/tidy/exceptions.txt", f"{name} {path}: nothing to excuse any more")
        for path in excused - used
    ]
    return found


def self_test(name):
    """What is wrong with the rule itself; an empty list when it can both pass and fail."""
    checked = RULES[name]
    wrong = [
        f"sees a fault where there is none: {f}" for f in findings_of(name, Tree(checked.kept_by))
    ]
    for number, texts in enumerate(checked.broken_by):
        if not findings_of(name, Tree({**checked.kept_by, **texts})):
            wrong.append(f"cannot see fault {number}: {texts}")
    if not checked.broken_by:
        wrong.append("has no example that breaks it")
    return wrong
