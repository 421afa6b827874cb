"""The versions of a function: no two say the same, and those of an exercise are the mistakes that its check names."""

import pytest

from check.judging import VERIFIERS
from check.versions import pick_versions, read_versions, step_versions
from course.picking import Sample, first_of_best

SHOWN, HELD_OUT = (read_versions(VERIFIERS / f"{name}.py") for name in ("shown", "held_out"))


def test_what_is_held_out_was_hinted_at_by_a_shown_class_and_no_two_say_the_same() -> None:
    wrong = [*SHOWN, *HELD_OUT]
    assert {version.kind for version in wrong} <= {version.kind for version in SHOWN}
    assert len({version.id for version in wrong}) == len({version.believes for version in wrong} - {""}) == len(wrong)


def test_the_versions_of_an_exercise_are_the_mistakes_that_its_check_names() -> None:
    (right,), wrong = pick_versions()
    samples = [Sample(2, "c", 1.0), Sample(0, "aaa", 0.5), Sample(1, "bb", 1.0)]
    assert right.function(samples) == first_of_best(samples) == Sample(1, "bb", 1.0)
    assert {version.id: version.function(samples).index for version in wrong}["the lowest reward"] == 0
    (right,), wrong = step_versions()
    worked = ([[0.0, 0.0], [0.0, 0.0]], [0, 1], 1.0, 0.5, 0.4)  # in the stub
    assert right.function(*worked) == [pytest.approx([0.1, -0.1]), pytest.approx([-0.1, 0.1])]
    other = ([[0.3, -0.2, 0.5], [0.1, 0.0, -0.4]], [2, 0], 1.0, 0.4, 0.1)
    assert [version.id for version in wrong if version.function(*other) == right.function(*other)] == []
