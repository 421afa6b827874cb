"""A solution of milestone 5, from ``suffix``: compare the whole line and not its end.

The spec

    The text without spaces, tabs and line ends around it is ``Final: `` and the expected answer. Nothing else earns 1.

Its changes

    1: the verifier as it was
    2: the whole line is compared
"""

from typing import Any

STARTED_FROM = "suffix"
VERSION = "2"


def patched(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """1 for the one right line, spaces, tabs and line ends around it forgiven."""
    line = completion.strip(" \t\r\n")  # without an argument, strip takes the white space of every script
    right = line == f"Final: {example['expected_answer']}"
    return {"reward": float(right), "details": {"message": f"read {line[:80]!r}"}}
