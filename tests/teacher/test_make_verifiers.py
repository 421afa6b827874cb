"""The files of verifiers are those that their list makes, and each witness is the shortest there is.

An example: what needs no prefix is first wrong about the bare answer, in one character.
"""

import hashlib
import importlib.util
import sys

import pytest
from conftest import ROOT
from msgspec.structs import replace

from check import judging
from check.kills import CORRECT_CLASS
from check.run_tests import load
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource

spec = importlib.util.spec_from_file_location("make_verifiers", ROOT / "teacher" / "make_verifiers.py")
assert spec is not None
assert spec.loader is not None
make = importlib.util.module_from_spec(spec)
sys.modules["make_verifiers"] = make
spec.loader.exec_module(make)

MADE = {letter: list(read_records(ROOT / path, VerifierSource)) for letter, path in make.FILES.items()}
WRONG = [verifier for verifiers in MADE.values() for verifier in verifiers if verifier.witness]


def test_the_files_hold_what_the_list_says() -> None:
    for letter, verifiers in MADE.items():
        listed = [verifier for set_, verifier in make.read_list() if set_ == letter]
        assert [replace(verifier, witness=None, breadth=0) for verifier in verifiers] == listed


def test_there_are_enough_in_enough_classes() -> None:
    counts = {
        letter: len([verifier for verifier in verifiers if verifier.witness]) for letter, verifiers in MADE.items()
    }
    print(counts, len({verifier.kind for verifier in WRONG}))
    assert counts["s"] + counts["h"] >= 60
    assert counts["t"] >= 30
    assert len({verifier.kind for verifier in WRONG}) >= 26
    assert sum(verifier.kind == CORRECT_CLASS for verifier in MADE["s"]) >= 3
    for letter in "ht":  # a class that is held out was hinted at by a shown verifier
        assert {verifier.kind for verifier in MADE[letter]} <= {verifier.kind for verifier in MADE["s"]}
    sources = [verifier.source for verifier in WRONG]
    assert len(sources) == len(set(sources))


def test_a_breadth_counts_the_witnesses_on_which_a_verifier_is_wrong() -> None:
    witnesses = [verifier.witness for verifier in WRONG]
    for verifier in WRONG[::7]:
        assert verifier.breadth == make.breadth(verifier, witnesses) >= 1


def test_no_shorter_text_is_judged_wrongly() -> None:
    for verifier in WRONG[::16]:
        witness = verifier.witness
        assert witness is not None
        if isinstance(witness.expected_answer, int) and isinstance(witness.completion, str):
            length = min(len(witness.completion), 9)
            shorter = [text for text in make.texts_of(witness.expected_answer) if len(text) < length]
            verify = load(verifier)
            assert "reward" not in {make.find_error(verify, witness.expected_answer, text) for text in shorter}


def test_the_students_tests_are_known_as_they_ship() -> None:
    shipped = (ROOT / "tests" / "test_rubric.py").read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(shipped).hexdigest() == judging._AS_SHIPPED


@pytest.mark.slow
def test_the_search_finds_the_witnesses_again() -> None:
    for verifier in WRONG[::24]:
        assert make.find_witness(verifier) == verifier.witness
