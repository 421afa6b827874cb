"""No honest mistake is promoted, and the gate names it; every honest improvement is promoted."""

from collections.abc import Sequence

import pytest
from attacks.laboratory import ask_gate, laboratory, make
from attacks.table import IMPROVEMENTS, MISTAKES, Case
from conftest import Lab

ALL_MISTAKES = [case for kind in MISTAKES.values() for case in kind]


def each(cases: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.what)


def edit_runs(lab: Lab, case: Case) -> None:
    if case.edit:
        for side in case.sides:
            case.edit(lab.folder / side)


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
