# SPDX-License-Identifier: Apache-2.0
"""What a test must have: something that can fail."""

import ast
import re
import sys
import types

from cpp_tests import CppTests, is_cpp_test
from python_tests import PythonTests
from rule import rule

EXPECTATION = re.compile(
    r"\b(?:(?:EXPECT|ASSERT)_(?!NO_THROW|NO_FATAL_FAILURE)[A-Z0-9_]+"
    r"|ADD_FAILURE(?:_AT)?|(?:GTEST_|RC_)?FAIL|RC_ASSERT(?:_[A-Z_]+)?)\s*\("
)
CHECK = re.compile(r"\b(?:EXPECT|ASSERT|RC_ASSERT)(?:_([A-Z0-9_]+))?(\()")
MATCHER = re.compile(r"\b(?:HasSubstr|StartsWith|EndsWith|ContainsRegex|MatchesRegex)(\()")
DROPPED = re.compile(r"(?<=[;{}])\s*(rc::check)\(")
ANYTHING = {"_", "testing::_", "::testing::_"}
ANY_TEXT = {*ANYTHING, '""', '".*"'}
ANY_UNSIGNED = re.compile(r".*>= 0[uU]\w*")
UNSIGNED_ZERO = re.compile(r"0[uU]\w*")
SIZE = re.compile(r".*(?:\.|->)(?:size|length)\(\)")
EQUALITIES = {"EQ", "LE", "GE", "STREQ", "STRCASEEQ", "FLOAT_EQ", "DOUBLE_EQ", "NEAR"}

UNKNOWN = object()  # what no constant is
HARNESS = "tests/harness/"
PATIENCE = ("until", "until_seen")
FAILS = {"self.fail", "pytest.fail", "pytest.raises", "pytest.warns"}
COMPARISONS = {
    "assertEqual": ast.Eq,
    "assertCountEqual": ast.Eq,
    "assertIs": ast.Is,
    "assertIn": ast.In,
    "assertGreaterEqual": ast.GtE,
    "assertLessEqual": ast.LtE,
}


def expects(tests, has_one, function, callers=()):
    """Itself, or what it calls; where a call may be of several functions, all of them."""
    if has_one(function):
        return True
    callers = (*callers, function)
    for called in tests.called(function):
        others = [each for each in called if each not in callers]
        if others and all(expects(tests, has_one, each, callers) for each in others):
            return True
    return False


def holds_in_cpp(kind, given):
    """Whether EXPECT_<kind>(given ...) always does."""
    if kind is None or kind in ("TRUE", "FALSE"):
        if given[0] == ("false" if kind == "FALSE" else "true"):
            return True
        return kind != "FALSE" and ANY_UNSIGNED.fullmatch(given[0])
    if "DEATH" in kind:
        return given[-1] in ANY_TEXT
    if kind == "THAT":
        return given[-1] in ANYTHING
    if kind not in EQUALITIES or len(given) < 2:
        return False
    if kind in ("GE", "LE"):
        less, more = given[:2] if kind == "LE" else given[1::-1]
        if UNSIGNED_ZERO.fullmatch(less) or (less == "0" and SIZE.fullmatch(more)):
            return True
    # A function that is called twice may answer differently; a name cannot.
    return given[0] == given[1] and "(" not in given[0]


def empty_in_cpp(text):
    """(line, what is wrong) of each expectation that cannot fail."""
    for check in CHECK.finditer(text.code):
        given = text.arguments(check.start(2))
        if holds_in_cpp(check[1], given):
            yield text.line(check.start()), f"{check[0]}{', '.join(given)}) always holds"
    for matcher in MATCHER.finditer(text.code):
        given = text.arguments(matcher.start(1))
        if given[0] in ANY_TEXT:
            yield text.line(matcher.start()), f"{matcher[0]}{given[0]}) always holds"
    for dropped in DROPPED.finditer(text.code):
        yield text.line(dropped.start(1)), "nobody looks at what rc::check() says"


def has_assertion(function):
    """In the harness until() and until_seen() alone ask what a test wants to know.

    Its other assertions say that the stage fell down: a process that does not start.
    """
    if function.path.startswith(HARNESS):
        return function.name in PATIENCE
    return any(asserts(node) for node in ast.walk(function.node))


def asserts(node):
    if isinstance(node, ast.Raise):
        return node.exc is not None and "AssertionError" in ast.unparse(node.exc)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr.startswith("assert") or ast.unparse(node.func) in FAILS
    return isinstance(node, ast.Assert)


def claimed(node):
    """(the comparison, or how else it is judged; what is judged) of an assertion, or None."""
    name, given = "", []
    if isinstance(node, ast.Assert):
        name, given = "assertTrue", [node.test]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, given = node.func.attr, node.args
    if name in COMPARISONS and len(given) > 1:
        return COMPARISONS[name], given[:2]
    if name == "assertRegex" and len(given) > 1:
        return "matches", given[1:2]
    if name == "assertFalse" and given:
        return "is false", given[:1]
    if name != "assertTrue" or not given:
        return None
    if isinstance(given[0], ast.Compare) and len(given[0].ops) == 1:
        return type(given[0].ops[0]), [given[0].left, given[0].comparators[0]]
    return "is true", given[:1]


def holds_in_python(comparison, given):
    """Whether it always does."""
    first, last = (
        node.value if isinstance(node, ast.Constant) else UNKNOWN for node in (given[0], given[-1])
    )
    if comparison == "is true":
        is_pair = isinstance(given[0], ast.Tuple) and given[0].elts  # assert (x, "why")
        return is_pair or (first is not UNKNOWN and first)
    if comparison == "is false":
        return first is not UNKNOWN and not first
    if comparison == "matches":
        return first in ("", ".*")
    if comparison is ast.In:
        return first in ("", b"")
    if (comparison is ast.GtE and last == 0) or (comparison is ast.LtE and first == 0):
        return True
    if comparison in COMPARISONS.values() and ast.dump(given[0]) == ast.dump(given[1]):
        # A function that is called twice may answer differently; a name cannot.
        return not any(isinstance(node, ast.Call) for node in ast.walk(given[0]))
    return False


def empty_in_python(module):
    """(line, what is wrong) of each assertion that cannot fail."""
    for node in module.nodes:
        claim = claimed(node)
        if claim and holds_in_python(*claim):
            yield node.lineno, f"{ast.unparse(node)} always holds"


CPP_HEAD = "#include \"heatsink/a/sums_for_test.h\"\n"


@rule(
    kept_by={
        "heatsink/a/sums_for_test.h": "struct Sums { void run() { expect_sum(); } };\n"
        "inline void expect_sum() { EXPECT_EQ(sum(), 3); }\n",
        "heatsink/a/a_test.cc": CPP_HEAD + "TEST(A, Itself) {\n"
        '  if (one) { const char* s = R"(})"; }  // }\n'
        "  EXPECT_EQ(1'000, sum_of('\"', \"{\"));\n}\n"
        "TEST_F(A, ByAnother) { sums.run(); }\n"
        "RC_GTEST_PROP(A, Prop, (int n)) { RC_ASSERT(sum(n) >= 0); }\n"
        "TEST(A, Twice) { EXPECT_EQ(sum(1), sum(1)); }\n"
        'TEST(A, Dies) { EXPECT_DEATH(sum({1, 2}), "two"); }\n',
        "tests/harness/patience.py": "def until(c):\n  raise AssertionError(c)\n"
        "def ask():\n  raise AssertionError('a broken reply')\n",
        "tests/a/stage.py": "from harness.patience import until\n"
        "class Stage:\n  def expect(self, x): until(x)\n  def quiet(self): pass\n",
        "tests/a/a_test.py": "import stage\nfrom harness.patience import ask, until\n"
        "class A(stage.Stage):\n"
        "  def test_itself(self): self.assertEqual(x.get(), x.get())\n"
        "  def test_by_another(self): self.expect(x)\n"
        "  def test_patiently(self): until(x)\n"
        "def test_of(x): return x\n",
        "bindings/python/tests/test_b.py": "async def test_b():\n  assert x >= 1, 'why'\n",
    },
    broken_by=[
        {"b_test.cc": "TEST(B, Nothing) { sum(); }\n"},
        {"b_test.cc": "TEST(B, Words) { // EXPECT_EQ(1, 2)\n  say(\"EXPECT_EQ(1, 2)\"); }\n"},
        {"b_test.cc": "TEST(B, NextDoor) { say('\"'); }\nTEST(B, C) { EXPECT_EQ(sum(), 2); }\n"},
        {"b_test.cc": "TEST(B, NotIncluded) { sums.run(); }\n"},
        {"b_test.cc": "TEST(B, Skipped) { SUCCEED(); }\n"},
        {"b_test.cc": "TEST(B, NoThrow) { EXPECT_NO_THROW(sum()); }\n"},
        {"b_test.cc": "struct B { B() { EXPECT_TRUE(up()); } };\nTEST(B, Made) { B(); }\n"},
        {"b_test.cc": "struct B { void SetUp() { FAIL(); } };\nTEST_F(B, SetUp) { SetUp(); }\n"},
        {"b_test.cc": "struct B { void run() { FAIL(); } };\nstruct C { void run() {} };\n"
         "TEST_F(B, OneOfTwo) { c.run(); }\n"},
        {"b_test.cc": "RC_GTEST_PROP(B, Prop, (int n)) { sum(n); }\n"},
        *(
            {"b_test.cc": f"TEST(B, Empty) {{ EXPECT_EQ(1, sum()); {empty}; }}\n"}
            for empty in (
                'EXPECT_THAT(text, HasSubstr(""))',
                'EXPECT_THAT(text, Not(StartsWith( "" )))',
                'EXPECT_THAT(text, MatchesRegex(".*"))',
                "EXPECT_THAT(sum(1, 2), testing::_)",
                "EXPECT_TRUE(true)",
                "ASSERT_FALSE(false)",
                "EXPECT_TRUE(sum() >= 0U)",
                "EXPECT_EQ(one, one)",
                "EXPECT_GE(sum(1, 2), 0u)",
                "EXPECT_LE(0U, sum())",
                "EXPECT_GE(list.size(), 0)",
                'EXPECT_DEATH(sum({1, 2}), "")',
                'EXPECT_DEATH_IF_SUPPORTED(sum(), "")',
                "rc::check([] { RC_ASSERT(sum() == 2); })",
            )
        ),
        {"tests/b_test.py": "class B:\n  def test_nothing(self): x.get()\n"},
        {"tests/b_test.py": "class B:\n  def test_words(self): say('self.fail()')\n"},
        {"tests/a/b_test.py": "import stage\nclass B(stage.Stage):\n"
         "  def test_quiet(self): self.quiet()\n"},
        {"tests/b_test.py": "class B:\n  def test_not_imported(self): x.expect()\n"},
        {"tests/b_test.py": "from harness.patience import ask\nclass B:\n"
         "  def test_harness(self): ask()\n"},
        {"bindings/python/tests/test_c.py": "def test_c(): get()\n"},
        *(
            {"tests/b_test.py": f"class B:\n  def test_b(self):\n    assert get()\n    {empty}\n"}
            for empty in (
                "self.assertTrue(True)",
                "self.assertFalse(0)",
                'self.assertIn("", x)',
                'self.assertRegex(x, ".*")',
                "self.assertGreaterEqual(x, 0)",
                "self.assertEqual(x.y, x.y)",
                "assert True",
                'assert (x, "why")',
                "assert x == x",
                'assert "" in x',
            )
        ),
    ],
)  # fmt: skip
def tests_can_fail(tree):
    """Each test expects something, itself or by what it calls, and no expectation always holds."""
    in_cpp, in_python = CppTests(tree), PythonTests(tree)
    for tests, has_one in (
        (in_cpp, lambda function: EXPECTATION.search(in_cpp.body(function))),
        (in_python, has_assertion),
    ):
        for place, name, test in tests.tests():
            if not expects(tests, has_one, test):
                yield place, f"{name} expects nothing"
    for path, text in in_cpp.files.items():
        for line, wrong in empty_in_cpp(text):
            yield f"{path}:{line}", wrong
    for path, module in in_python.modules.items():
        for line, wrong in empty_in_python(module):
            yield f"{path}:{line}", wrong


SHARED_FILE = re.compile(r'TempDir\(\) \+ "(?![^"]*XXXXXX)[^"]*"(?! \+)')


@rule(
    kept_by={
        "a_test.cc": 'f(::testing::TempDir() + "a-XXXXXX");\n'
        'f(::testing::TempDir() + "a-" + std::to_string(getpid()));\n'
    },
    broken_by=[{"b_test.cc": 'f(::testing::TempDir() + "a");\n'}],
)
def temporary_files_are_private(tree):
    """No two test cases, which run side by side, use one temporary file."""
    for path in tree.paths(".cc", ".h"):
        for number, line in enumerate(tree.lines(path), 1):
            if SHARED_FILE.search(line):
                yield f"{path}:{number}", "another case may use this name: mkdtemp(), or getpid()"


def is_for_tests(path):
    """By its name, a header that no program includes."""
    return path.endswith("_for_test.h") or "/testing/" in path


@rule(
    kept_by={
        "heatsink/a/a.h": "",
        "heatsink/a/a.cc": '#include "heatsink/a/a.h"\n',
        "heatsink/a/stage_for_test.h": '#include "heatsink/a/a.h"\n',
        "heatsink/a/testing/model.h": "",
        "heatsink/a/a_test.cc": '#include "heatsink/a/stage_for_test.h"\n',
        "heatsink/b/b_test.cc": '#include "heatsink/a/testing/model.h"\n',
    },
    broken_by=[
        {"heatsink/a/stage.h": "", "heatsink/a/a_test.cc": '#include "heatsink/a/stage.h"\n'},
        {"heatsink/a/sample_test.h": ""},
        {"heatsink/a/a.cc": '#include "heatsink/a/stage_for_test.h"\n'},
        {"heatsink/b/b_test.cc": '#include "heatsink/a/stage_for_test.h"\n'},
        {"heatsink/a/testing/model.h": '#include "heatsink/a/stage_for_test.h"\n'},
    ],
)
def test_headers(tree):
    """A header for one room's tests is x_for_test.h; for others' tests it is testing/x.h."""
    readers = {}
    for path in tree.paths(".h", ".cc"):
        for name in tree.includes(path):
            readers.setdefault(name, []).append(path)
    for path in tree.paths(".h", under=("heatsink/", "apps/")):
        measures = [is_cpp_test(p) or p.endswith("_fuzz.cc") for p in readers.get(path, ())]
        if path.endswith("_test.h") and not path.endswith("_for_test.h"):
            yield path, "is named x_for_test.h"
        elif not is_for_tests(path):
            if measures and all(measures):
                yield path, "only tests include it: name it x_for_test.h, or move it to testing/"
            continue
        for reader in readers.get(path, ()):
            program = not is_cpp_test(reader) and not reader.endswith("_fuzz.cc")
            if program and not reader.startswith("bench/"):
                yield reader, f"is no test, and includes {path}"
            elif path.endswith("_for_test.h") and folder_of(reader) != folder_of(path):
                yield reader, f"{path} is for the tests beside it: move it to testing/"


def folder_of(path):
    return path.rsplit("/", 1)[0]


MUTANT_LIST = "tests/consistency/mutant_list.py"


@rule(
    kept_by={
        MUTANT_LIST: "class P:\n  file, old = 'heatsink/a/a.cc', 'int x = 1;'\n"
        "class M:\n  name, patches = 'an x', [P]\nMUTANTS = [M]\n",
        "heatsink/a/a.cc": "int x = 1;\n",
    },
    broken_by=[{"heatsink/a/a.cc": "int x = 2;\n"}],
)
def mutants_fit(tree):
    """Each mutant still finds the line of the source that it changes."""
    if MUTANT_LIST not in tree.texts:
        return
    module = types.ModuleType("mutant_list")
    sys.modules[module.__name__] = module  # its dataclasses look their module up
    exec(compile(tree.texts[MUTANT_LIST], MUTANT_LIST, "exec"), module.__dict__)
    for mutant in module.MUTANTS:
        for patch in mutant.patches:
            if patch.old not in tree.texts.get(patch.file, ""):
                yield MUTANT_LIST, f"{mutant.name}: {patch.file} has no longer: {patch.old.strip()}"
