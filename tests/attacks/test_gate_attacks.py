"""The gate is attacked: no forgery and no honest mistake is promoted, and every honest improvement is.

An example: ``samples_per_prompt`` of a best-of-four is made 1, so that it could be compared with a single sample. The
gate says REJECT, because the first row has four samples; and it would say so if the log of runs had been forged too.
"""

import os

import pytest
from attacks.findings import of_forgery, of_improvement, of_mistake
from attacks.forgeries import FORGERIES, NOT_LOGGED, Forgery
from attacks.improvements import IMPROVEMENTS, Improvement, linked
from attacks.laboratory import SIDES, gate, laboratory, lay, pair_of
from attacks.mistakes import MISTAKES, Mistake
from attacks.pairs import PAIRS, Make

pytestmark = pytest.mark.medium

ALL_FORGERIES = [forgery for forgeries in FORGERIES.values() for forgery in forgeries]
ALL_MISTAKES = [mistake for mistakes in MISTAKES.values() for mistake in mistakes]
CANNOT_BE_DERIVED = {
    *("policy", "sampling", "trained_on", "seed", "change", "expect", "settings"),  # what the student says
    *("split", "dataset_fingerprint"),  # of a file that the run does not hold
    *("completions", "choices"),  # a run made up with the real scorer: it is whole, and nobody measured it
}


def skip_on_windows(needs_posix: bool) -> None:
    if needs_posix and os.name == "nt":
        pytest.skip("needs links or pipes")


@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_each_pair_starts_from_the_verdict_that_a_forger_wants_to_change(make: Make) -> None:
    with laboratory() as lab:
        lay(lab, pair_of(make))
        said = gate(lab)
        assert [lab("inspect_run", "--run", side, "--verify").status for side in SIDES] == [0, 0]
    status, reason = PAIRS[make]
    assert said.status == status
    assert reason in said.reasons


@pytest.mark.parametrize("forgery", ALL_FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forgery_is_not_promoted_and_what_is_wrong_is_named(forgery: Forgery) -> None:
    skip_on_windows(forgery.posix)
    found = of_forgery(forgery)
    assert found.gate.status == forgery.status
    assert forgery.said in found.gate.reasons or NOT_LOGGED in found.gate.reasons
    assert set(found.verified) == {1}


@pytest.mark.parametrize("forgery", ALL_FORGERIES, ids=lambda forgery: forgery.name)
def test_what_can_be_derived_is_found_also_where_the_log_was_forged(forgery: Forgery) -> None:
    skip_on_windows(forgery.posix)
    said = of_forgery(forgery).log_forged
    if forgery.believed:
        assert said.status == 0, "it is found: then it is no fact that has to be believed"
    else:
        assert said.status == forgery.status
        assert forgery.said in said.reasons


def test_nothing_has_to_be_believed_but_what_can_be_derived_from_nothing() -> None:
    assert {forgery.believed for forgery in ALL_FORGERIES} - {""} == CANNOT_BE_DERIVED


@pytest.mark.parametrize(
    "sides", [SIDES[:1], pytest.param(SIDES[1:], marks=pytest.mark.slow), pytest.param(SIDES, marks=pytest.mark.slow)]
)
def test_a_forgery_of_either_run_or_of_both_is_not_promoted(sides: tuple[str, ...]) -> None:
    """The same forgeries where they were not meant to be; those that cannot be made there are left out."""
    tried = 0
    for forgery in ALL_FORGERIES:
        elsewhere = forgery._replace(sides=sides)
        if (forgery.posix and os.name == "nt") or forgery.sides == sides or not alters(elsewhere):
            continue
        found = of_forgery(elsewhere)
        assert found.gate.status in (1, 2), forgery.name
        assert 1 in found.verified, forgery.name
        tried += 1
    assert tried >= {SIDES[:1]: 90, SIDES[1:]: 15, SIDES: 80}[sides]


def alters(forgery: Forgery) -> bool:
    """Whether there is in these runs what is forged, and some byte becomes another."""
    with laboratory() as lab:
        pair = pair_of(forgery.pair)
        lay(lab, pair)
        try:
            for side in forgery.sides:
                forgery.forge(lab.folder / side)
        except (AssertionError, KeyError, TypeError, ValueError, OSError):
            return False
        runs = {name: (lab.folder / name) for name in pair.files}
        return any(not path.is_file() or path.read_bytes() != pair.files[name] for name, path in runs.items())


@pytest.mark.parametrize("mistake", ALL_MISTAKES, ids=lambda mistake: mistake.make.__name__)
def test_an_honest_mistake_is_not_promoted_and_is_named(mistake: Mistake) -> None:
    said = of_mistake(mistake)
    assert said.status == mistake.status != 0
    assert mistake.said in said.reasons


@pytest.mark.parametrize("improvement", IMPROVEMENTS, ids=lambda improvement: improvement.__doc__)
def test_an_honest_improvement_is_promoted(improvement: Improvement) -> None:
    skip_on_windows(improvement is linked)
    assert of_improvement(improvement).status == 0, of_improvement(improvement).reasons


def test_there_are_enough_of_each_kind_and_none_has_the_name_of_another() -> None:
    assert len({forgery.name for forgery in ALL_FORGERIES}) == len(ALL_FORGERIES) >= 40
    assert len({mistake.make.__doc__ for mistake in ALL_MISTAKES}) == len(ALL_MISTAKES) >= 25
    assert len({improvement.__doc__ for improvement in IMPROVEMENTS}) == len(IMPROVEMENTS) >= 15
