"""A solution of milestone 5, from ``suffix``: compare the whole line and not its end."""

from typing import Any

STARTED_FROM = "suffix"


def patched(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """1 for the one right line, spaces, tabs and line ends around it forgiven."""
    line = completion.strip(" \t\r\n")  # without an argument, strip takes the white space of every script
    right = line == f"Final: {example['expected_answer']}"
    return {"reward": float(right), "details": {"message": f"read {line[:80]!r}"}}
