"""The files of verifiers are those that their list makes, and each witness is the shortest there is.

An example: what needs no prefix is first wrong about the bare answer, in one character.
"""

import hashlib
import importlib.util
import sys

import pytest
from conftest import ROOT

from check import judging
from check.kills import CORRECT_CLASS
from check.mutation import load
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource

spec = importlib.util.spec_from_file_location("make_verifiers", ROOT / "teacher" / "make_verifiers.py")
assert spec is not None
assert spec.loader is not None
make = importlib.util.module_from_spec(spec)
sys.modules["make_verifiers"] = make
spec.loader.exec_module(make)

MADE = {letter: list(read_records(ROOT / path, VerifierSource)) for letter, path in make.FILES.items()}
WRONG = [one for some in MADE.values() for one in some if one.witness]


def test_the_files_hold_what_the_list_says() -> None:
    for letter, verifiers in MADE.items():
        listed = [one for set_, one in make.rows() if set_ == letter]
        known = [(one.id, one.kind, one.source, one.believes) for one in verifiers]
        assert known == [(one.id, one.kind, one.source, one.believes) for one in listed]


def test_there_are_enough_in_enough_classes() -> None:
    counts = {letter: sum(one.witness is not None for one in some) for letter, some in MADE.items()}
    print(counts, len({one.kind for one in WRONG}))
    assert counts["s"] + counts["h"] >= 60
    assert counts["t"] >= 30
    assert len({one.kind for one in WRONG}) >= 26
    assert sum(one.kind == CORRECT_CLASS for one in MADE["s"]) >= 3
    for letter in "ht":  # a class that is held out was hinted at by a shown one
        assert {one.kind for one in MADE[letter]} <= {one.kind for one in MADE["s"]}
    sources = [one.source for one in WRONG]
    assert len(sources) == len(set(sources))


def test_a_breadth_counts_the_witnesses_on_which_a_verifier_is_wrong() -> None:
    witnesses = [one.witness for one in WRONG]
    for one in WRONG[::7]:
        assert one.breadth == make.breadth(one, witnesses) >= 1


def test_no_shorter_text_is_judged_wrongly() -> None:
    for one in WRONG[::16]:
        witness = one.witness
        assert witness is not None
        if isinstance(witness.expected_answer, int) and isinstance(witness.completion, str):
            length = min(len(witness.completion), 9)
            shorter = [text for text in make.texts(witness.expected_answer) if len(text) < length]
            verify = load(one)
            assert "reward" not in {make.errs(verify, witness.expected_answer, text) for text in shorter}


def test_the_students_tests_are_known_as_they_ship() -> None:
    shipped = (ROOT / "tests" / "test_rubric.py").read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(shipped).hexdigest() == judging._AS_SHIPPED


@pytest.mark.slow
def test_the_search_finds_the_witnesses_again() -> None:
    for one in WRONG[::24]:
        assert make.witness(one) == one.witness
