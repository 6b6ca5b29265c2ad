#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py [RULE ...]: reports where the tree breaks the style rules (default: all rules).

--list lists the rules; --self-test RULE shows that the rule can pass and can fail.
Exit code: 0 no findings; 1 findings, one per line: `path:line: rule: what is wrong`.
"""

import argparse
import pathlib
import sys

import rules_circles
import rules_docs
import rules_figures
import rules_house
import rules_tests
import rules_text
import rules_words
from rule import RULES, findings_of, self_test
from tree import tree_of

# Imported for the rules that they register.
assert rules_circles and rules_docs and rules_figures and rules_house
assert rules_tests and rules_text and rules_words
ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--list", action="store_true", help="list the rules")
    flags.add_argument(
        "--self-test", action="store_true", help="show that each rule can pass and can fail"
    )
    flags.add_argument("rules", nargs="*", metavar="RULE", help="check only these rules")
    given = flags.parse_args()
    names = given.rules or list(RULES)
    if unknown := [name for name in names if name not in RULES]:
        flags.error(f"there is no rule {unknown[0]}; --list names them")
    if given.list:
        for name in names:
            print(f"{name:24} {RULES[name].says}")
        return 0
    if given.self_test:
        found = [f"{name}: {wrong}" for name in names for wrong in self_test(name)]
    else:
        tree = tree_of(ROOT)
        found = [
            f"{place}: {name}: {wrong}"
            for name in names
            for place, wrong in findings_of(name, tree)
        ]
    print("\n".join(found) or f"{len(names)} rules kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
