"""The gate is attacked: no forgery and no honest mistake is promoted, and every honest improvement is."""

from collections.abc import Sequence

import pytest
from attacks.laboratory import SIDES, ask_gate, forge_log, laboratory, lay, make
from attacks.table import FORGERIES, IMPROVEMENTS, MISTAKES, NOT_LOGGED, Case
from conftest import Lab

CANNOT_BE_DERIVED = {
    # what the student states
    "policy",
    "template",
    "sampling",
    "trained_on",
    "seed",
    "change",
    "expect",
    "settings",
    # of files that the run does not hold
    "split",
    "dataset_fingerprint",
    "completions_fingerprint",
    # a run made up with the real scorer: it is whole, and nobody measured it
    "completions",
    "choices",
}
ALL_FORGERIES = [case for kind in FORGERIES.values() for case in kind]
ALL_MISTAKES = [case for kind in MISTAKES.values() for case in kind]


def each(cases: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.what)


def edit_runs(lab: Lab, case: Case) -> None:
    if case.edit:
        for side in case.sides:
            case.edit(lab.folder / side)


@each(ALL_FORGERIES)
def test_a_forgery_is_not_promoted_and_what_can_be_derived_is_found_without_the_log(case: Case) -> None:
    with laboratory() as lab:
        lay(lab, case.pair)
        assert [lab("inspect_run", "--run", side, "--verify").status for side in SIDES] == [0, 0]
        edit_runs(lab, case)
        said = ask_gate(lab)
        assert said.status == case.status
        assert case.said in said.reasons or NOT_LOGGED in said.reasons
        assert {lab("inspect_run", "--run", side, "--verify").status for side in case.sides} == {1}
        said = ask_gate(lab, "--log", forge_log(lab))
    if case.believed:
        assert said.status == 0, "it is found: then it is no fact that has to be believed"
    else:
        assert said.status == case.status
        assert case.said in said.reasons


@each(ALL_MISTAKES)
def test_an_honest_mistake_is_not_promoted_and_is_named(case: Case) -> None:
    with laboratory() as lab:
        done = make(lab, case.pair)
        if done.status:
            status, reasons = done.status, done.err
        else:
            edit_runs(lab, case)
            status, reasons = ask_gate(lab, *case.options)
    assert status == case.status != 0
    assert case.said in reasons


@each(IMPROVEMENTS)
def test_an_honest_improvement_is_promoted(case: Case) -> None:
    with laboratory() as lab:
        assert make(lab, case.pair).status == 0
        edit_runs(lab, case)
        said = ask_gate(lab, *case.options)
    assert said.status == 0, said.reasons


def test_nothing_has_to_be_believed_but_what_can_be_derived_from_nothing() -> None:
    assert {case.believed for case in ALL_FORGERIES} - {""} == CANNOT_BE_DERIVED
