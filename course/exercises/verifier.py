"""Machinery: a verifier out of any file of Python, asked in a process of its own, so that it can be attacked.

Covered
    A file that does not load, a call that raises, exits or never returns, and a reward that is no number from 0 to 1:
    each is an error of the verifier, told with its input. None becomes a reward of 0.
Not covered
    A verifier that means harm: see ``course/exercises/child.py``.
"""

from pathlib import Path
from time import monotonic
from typing import Any, Self

from course.datasets.records import Task
from course.errors import UserError
from course.exercises.child import Child, Raised, Stopped
from course.reports.attack import Judged
from course.rubrics.hackable import RUBRICS
from course.score import score
from course.text import did_you_mean, quoted, visible

Questions = list[tuple[Task, str]]  # each an example and a completion
_LOADING = 30.0  # seconds: packages that it imports included
_ANSWERING = 5.0  # for many texts, and then for each alone


class Verifier:
    """``with Verifier("mine.py:verify") as verifier``. It returns what ``score`` returns, or the bare reward.

    ``place``: FILE:FUNCTION, or the name of a rubric of the course. ``seconds``: for all that it is asked; after them
    it raises TimeoutError. Raises UserError for a fault of the verifier, and where there is none.
    """

    def __init__(self, place: str, seconds: float = float("inf")) -> None:
        found = f"{RUBRICS[place].__code__.co_filename}:{place}" if place in RUBRICS else place
        file, _, self._function = found.rpartition(":")
        self._place, self._deadline = visible(place), monotonic() + seconds
        if not Path(file).is_file() or not self._function.isidentifier():
            names = {name: name for name in RUBRICS}
            expected = f"a file and its function, such as mine.py:verify, or one of {', '.join(names)}"
            raise UserError(f"{did_you_mean(place, names)}expected {expected}, got {self._place}")
        self._child = Child(Path(file))

    def __enter__(self) -> Self:
        self.results([])
        return self

    def __exit__(self, *exception: Any) -> None:
        self._child.__exit__(*exception)

    def __call__(self, example: Task, completion: str) -> dict[str, Any]:
        """As a rubric, which a policy can be trained on."""
        return self.results([(example, completion)])[0]

    def results(self, questions: Questions) -> list[dict[str, Any]]:
        """For each question a result with the keys ``reward`` and ``details``; without details of its own, ``{}``."""
        if monotonic() > self._deadline:
            raise TimeoutError
        try:
            found = self._child.call(self._function, questions, _ANSWERING if questions else _LOADING)
        except Stopped as stopped:
            if len(questions) == 1:
                raise self.fault(*questions[0], str(stopped)) from None
            return [self(*question) for question in questions]  # by which of them shows when each is asked alone
        return [self._result(value, *question) for value, question in zip(found, questions, strict=True)]

    def judged(self, questions: Questions) -> list[Judged]:
        return [judged(*one, found["reward"]) for one, found in zip(questions, self.results(questions), strict=True)]

    def _result(self, value: Any, example: Task, completion: str) -> dict[str, Any]:
        if isinstance(value, Raised):
            if (value.kind, value.text, value.line) == ("KeyError", repr(self._function), None):
                raise UserError(f"{self._place}: expected a function {self._function}, got none in this file")
            where = f" (line {value.line})" if value.line else ""
            raise self.fault(example, completion, f"{value.kind}: {value.text}{where}")
        result = value if isinstance(value, dict) else {"reward": value}
        reward, details = result.get("reward"), result.get("details")
        if not isinstance(reward, int | float) or not 0 <= reward <= 1:
            raise self.fault(example, completion, f"{reward!r:.80}")
        return {"reward": float(reward), "details": details if isinstance(details, dict) else {}}

    def fault(self, example: Task, completion: str, got: str) -> UserError:
        text = f"'{quoted(completion)}' where {quoted(str(example['expected_answer']))} is expected"
        return UserError(
            f"{self._place} expected a reward from 0 to 1 for {text}, got {quoted(got)}; mend the verifier"
        )


def judged(example: Task, completion: str, reward: float) -> Judged:
    return Judged(example, completion, reward, score(example, completion)["reward"])
