"""Machinery: the student's ``pick_best``, found, loaded, called, and not believed.

Covered
    A missing or broken file, an exception, an exit, a choice that is none of the samples: each becomes one line that
    names the student's file and line. The samples that a choice is held against are never in the student's hands.
Not covered
    Code that means harm: this is the student's own machine, and it runs with the student's own rights.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from course.errors import UserError, reason
from course.text import clipped, visible

PICK_BEST = Path("exercises") / "pick_best.py"
_NAME = "pick_best"


class Sample(Struct, frozen=True):
    """One of N completions of a prompt: its place among them, its text, and what the scorer paid."""

    index: int
    completion: str
    reward: float


PickBest = Callable[[list[Sample]], Sample]


def pick_best_fingerprint(path: Path = PICK_BEST) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load_pick_best(path: Path = PICK_BEST) -> PickBest:
    """``pick_best`` of the student's file, and the file's SHA-256. Raises UserError where there is none to be had."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: expected your {_NAME}, got: {reason(error)}; run from the lab's folder") from None
    namespace: dict[str, Any] = {"__name__": _NAME, "__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), namespace)
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno or 1} expected Python, got a syntax error: {error.msg}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an exit, too, is a choice that was not made
        raise _raised(error, path, "while it was loaded") from None
    if not callable(pick_best := namespace.get(_NAME)):
        raise UserError(f"{path}: expected a function {_NAME}(samples), got none in this file")
    return pick_best


def choose(pick_best: PickBest, samples: Sequence[Sample], prompt_id: str, path: Path = PICK_BEST) -> int:
    """Let ``pick_best`` choose, and return the index of its choice. Raises UserError where it made none."""
    try:
        choice: object = pick_best([replace(sample) for sample in samples])
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _raised(error, path, f"on {visible(prompt_id[:60])}") from None
    for sample in samples:
        if type(choice) is Sample and choice == sample:
            return sample.index
    code = getattr(pick_best, "__code__", None)
    line = code.co_firstlineno if isinstance(code, CodeType) else 1
    got = f"the text {clipped(choice, 40)!r}" if type(choice) is str else f"{type(choice).__name__[:40]}"
    raise UserError(
        f"{path}:{line} {_NAME}: expected one of the {len(samples)} samples of {visible(prompt_id[:60])}, "
        f"got {visible(got)}; return the sample itself"
    )


def _raised(error: BaseException, path: Path, when: str) -> UserError:
    import traceback

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    try:
        what = clipped(f"{type(error).__name__}: {error}", 120)
    except Exception:  # its own words raise
        what = type(error).__name__
    return UserError(f"{path}:{lines[-1] if lines else 1} {_NAME}: expected a choice, got an exception {when}: {what}")
