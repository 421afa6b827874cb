"""The fixture of the tests in this folder."""

from collections.abc import Callable
from typing import Any

import pytest

from course.score import score


@pytest.fixture
def rubric() -> Callable[[object, object], dict[str, Any]]:
    """The scorer. ``python3 -m check tests`` has other verifiers in its place, right ones and wrong ones."""
    return score
