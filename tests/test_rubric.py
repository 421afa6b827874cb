"""Yours: tests of the reward spec. Add a case whenever you find a completion you are not sure of.

A test names a completion, says which reward it gets, and says why: the reward alone would not show that the scorer was
right for the right reason. ``python3 lab.py test`` runs them with all others; these alone:

    python3 lab.py test tests/test_rubric.py

The words for why, ``missing_prefix`` and so on, stand in ``course/faults.py``, in the order of the checks.

Every test takes ``rubric``, which is the scorer here. ``python3 -m check tests`` puts other verifiers in its
place, right ones and wrong ones, and says which of the wrong ones your tests let through.
"""

from collections.abc import Callable
from typing import Any

import pytest

Rubric = Callable[[object, object], dict[str, Any]]

EXAMPLE = {"id": "mine-001", "prompt": "Compute 17 * 19. Answer with one line: Final: <int>", "expected_answer": 323}


def test_the_line_that_was_asked_for_gets_the_reward(rubric: Rubric) -> None:
    result = rubric(EXAMPLE, "Final: 323")
    assert result["reward"] == 1.0
    assert result["details"]["parsed_answer"] == "323"


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        ("Final: 332", "wrong_answer"),
        ("323", "missing_prefix"),
        ("17 * 19 = 323\nFinal: 323", "not_single_line"),
        ("Final: 323 apples", "not_an_integer"),
        # yours: ("…", "…"),
    ],
)
def test_anything_else_gets_none(rubric: Rubric, completion: str, outcome: str) -> None:
    result = rubric(EXAMPLE, completion)
    assert result["reward"] == 0.0
    assert result["details"]["outcome"] == outcome
