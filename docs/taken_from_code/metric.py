"""One number of a page of metrics."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Metric(NamedTuple):
    """One number. ``names``: as files and tables call it. ``example``: computed when the page is written."""

    names: Sequence[str]
    formula: str
    function: Any
    undefined: str
    not_to_be_confused: str
    example: Callable[[], str] | None = None


def shown(*numbers: float) -> str:
    return " to ".join(f"{number:.4g}" for number in numbers)
