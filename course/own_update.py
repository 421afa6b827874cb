"""Machinery: a student's own update of REINFORCE, called in a process of its own, one step at a call.

Covered
    A function that is missing or unwritten, raises, exits or never returns; an answer that is not one list of K finite
    logits; a different answer when asked again: each becomes one line that names the student's file. The rewards, the
    draws and the baseline are the lab's; the function gives the new logits, and nothing else.
Not covered
    Code that means harm: see ``course/limited_process.py``. An update that is wrong: the run shows what it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from course.child import Child, Raised, Stopped
from course.errors import UserError
from course.own_code import digest_of_code
from course.text import clipped, quote, visible

_SECONDS = 30.0  # for one update; the first one may also import packages
_LARGEST = 1e300  # logit; an update of a larger one could overflow


class OwnUpdate:
    """``with OwnUpdate("mine.py:step") as step: step([0.0, 0.0], 1, reward=1.0, baseline=0.5, lr=0.4)``.

    ``place``: FILE:FUNCTION, of the shape of ``reinforce_step`` in ``exercises/reinforce.py``. Raises UserError if
    there is no such file. ``name``: without the folder. ``source``: the bytes that run.
    """

    def __init__(self, place: str) -> None:
        file, _, function = place.rpartition(":")
        if not Path(file).is_file() or not function.isidentifier():
            expected = "expected a file and its function, such as exercises/reinforce.py:reinforce_step"
            raise UserError(f"--update: {expected}, got {quote(place) or 'nothing'}")
        self._path = Path(file)
        self._function = function
        self._place = visible(place)
        self._child = Child(self._path)
        self.name = visible(f"{self._path.name}:{function}")
        self.source = self._child.source

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.__exit__()

    def __call__(self, theta: Sequence[float], action: int, reward: float, baseline: float, lr: float) -> list[float]:
        """[K] The new logits after an episode of one step. The function is called twice with the same arguments.

        Raises UserError if an answer is not K finite logits, or if the two answers differ.
        """
        arguments = ([list(theta)], [action], reward, baseline, lr)
        try:
            first, second = self._child.call(self._function, [arguments, arguments], _SECONDS)
        except Stopped as stopped:
            raise self._error(str(stopped)) from None
        logits = self._logits_of(first, len(theta))
        if self._logits_of(second, len(theta)) != logits:
            raise self._error("two different answers to the same arguments; let only the arguments decide")
        return logits

    def settings(self) -> dict[str, str]:
        """What a manifest says about the update. Call this after the last update, when all imports are known.

        ``update_sha256``: see ``digest_of_code``.
        """
        try:
            files = self._child.list_module_files()
        except Stopped as stopped:
            raise self._error(str(stopped)) from None
        return {"update": self.name, "update_sha256": digest_of_code(self._path, self.source, files)}

    def _logits_of(self, answer: Any, count: int) -> list[float]:
        if isinstance(answer, Raised):
            raise self._refuse_raised(answer)
        if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], list):
            (logits,) = answer
            if len(logits) == count and all(map(_is_finite, logits)):
                return [float(logit) for logit in logits]
        raise self._error(f"{clipped(repr(answer), 80)}, which is not a list of one list of {count} finite logits")

    def _refuse_raised(self, raised: Raised) -> UserError:
        if raised.kind == "NotImplementedError":
            return UserError(f"--update: {self._place}: the function {self._function} is still to be written")
        if raised.kind == "KeyError" and raised.line is None:
            return UserError(f"--update: {self._place}: this file has no function {self._function}")
        where = f" (line {raised.line})" if raised.line else ""
        return self._error(f"{raised.kind}: {raised.text}{where}")

    def _error(self, got: str) -> UserError:
        return UserError(f"--update: {self._place}: expected new logits, got {got}")


def _is_finite(logit: object) -> bool:
    return isinstance(logit, int | float) and not isinstance(logit, bool) and abs(logit) <= _LARGEST
