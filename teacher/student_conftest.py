"""The fixtures of the tests in this folder: ``python3 -m check`` has other versions in the place of each."""

from collections.abc import Callable
from typing import Any

import pytest

from course.score import score


@pytest.fixture
def rubric() -> Callable[[object, object], dict[str, Any]]:
    """The scorer."""
    return score


@pytest.fixture
def pick_best() -> Callable[..., Any]:
    """The student's own rule."""
    from exercises import pick_best as own

    return own.pick_best


@pytest.fixture
def reinforce_step() -> Callable[..., Any]:
    """The student's own update."""
    from exercises import reinforce as own

    return own.reinforce_step
