"""Names: the field's words, one meaning each.

An example: ``drift`` is this lab's own word where the field says ``kl`` or ``log_ratio``; a variable ``mean_drift``
holds it, and so does a class ``DriftRow``. Both are found, since a name is taken apart at ``_`` and at capitals.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

COURSE = ROOT / "course"
FILES = sorted(COURSE.rglob("*.py"))
BANNED = {
    *("paid", "told", "drawn", "moved", "settled", "drift", "drifted", "piece", "pieces", "wall", "walls"),
    *("regime", "regimes", "probe", "leash", "leashes", "sight", "sights"),
}
PLAIN_ENGLISH = {"paid", "told", "drawn", "moved", "settled", "piece", "pieces"}  # as the name of a test has it
HOLDOUT_ONLY = {"look", "looks"}  # kept for opening the holdout
OPENS_THE_HOLDOUT = {
    *("artifacts/run_log.py", "publishing.py", "reports/run_page.py", "reports/inspect_run.py"),
    *("gate.py", "reports/gate.py"),
}
TWICE = {  # a name that is defined at the top of several files -> why that is one meaning
    "main": "every command's entry",
    "learn": "the function that learns: four files, one skeleton, which is the lesson of Loop C",
    "LOG": "the name of a command's log file",
    "SAMPLES": "completions of each prompt when a policy is measured, of each demo's own number",
    "_EVAL_EVERY": "updates from one evaluation to the next, of each demo's own number",
}


def names_in(tree: ast.AST) -> Iterator[str]:
    """Every name that a piece of source gives to something: variables, arguments, functions, classes, keys."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield from (node.asname or node.name).split(".")
        elif isinstance(node, ast.Dict):
            keys = (key.value for key in node.keys if isinstance(key, ast.Constant))
            yield from (key for key in keys if isinstance(key, str) and key.isidentifier())


@cache
def words_of(name: str) -> set[str]:
    return {word.lower() for part in name.split("_") for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", part)}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(COURSE).as_posix()


def test_a_name_is_taken_apart() -> None:
    assert words_of("mean_drift") == {"mean", "drift"}
    assert words_of("DriftRow") == {"drift", "row"}
    assert set(names_in(ast.parse("def f(a, *, b): c.d = e({'h': 2}, g=1)"))) == set("fabcdegh")


def banned_names(path: Path) -> set[str]:
    banned = BANNED | (set() if name_of(path) in OPENS_THE_HOLDOUT else HOLDOUT_ONLY)
    return {name for name in (path.stem, *names_in(parsed(path))) if words_of(name) & banned}


def test_no_name_is_of_a_private_dialect() -> None:
    found = {name_of(path): banned_names(path) for path in FILES}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.medium
def test_no_test_speaks_a_private_dialect_either() -> None:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    assert len(paths) > 100
    found = {
        path.relative_to(ROOT).as_posix(): {
            name for name in (path.stem, *names_in(parsed(path))) if words_of(name) & (BANNED - PLAIN_ENGLISH)
        }
        for path in paths
    }
    assert {path: names for path, names in found.items() if names} == {}


def definitions(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines at its top level, public and private."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_a_name_is_defined_in_one_file() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        for name in definitions(parsed(path)):
            places[name].add(name_of(path))
    twice = {name: files for name, files in places.items() if len(files) > 1}
    assert {name: files for name, files in twice.items() if name not in TWICE} == {}
    assert TWICE.keys() - twice.keys() == set()
