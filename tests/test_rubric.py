"""Yours: tests of the reward spec. Add a case whenever you find a completion you are not sure of.

A test names a completion, says what it is worth, and says why: the reward alone would not show that the scorer was
right for the right reason. ``python3 lab.py test`` runs them, and ``python -m pytest
tests/test_rubric.py`` runs them alone.
"""

import pytest

from course.score import score

EXAMPLE = {"id": "mine-001", "prompt": "Compute 17 * 19. Answer with one line: Final: <int>", "expected_answer": 323}


def test_the_line_that_was_asked_for_is_paid() -> None:
    result = score(EXAMPLE, "Final: 323")
    assert result["reward"] == 1.0
    assert result["details"]["parsed_answer"] == "323"


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        ("Final: 332", "wrong_answer"),
        ("323", "missing_prefix"),
        ("17 * 19 = 323\nFinal: 323", "not_single_line"),
        # yours: ("…", "…"),
    ],
)
def test_anything_else_is_not(completion: str, outcome: str) -> None:
    result = score(EXAMPLE, completion)
    assert result["reward"] == 0.0
    assert result["details"]["outcome"] == outcome
