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

from course.datasets.files import open_regular
from course.datasets.records import Task
from course.errors import UserError, reason
from course.exercises.child import Child, Raised, Stopped
from course.reports.attack import Answer
from course.rubrics.hackable import RUBRICS
from course.score import score
from course.text import did_you_mean, quoted, visible_path

Questions = list[tuple[Task, str]]  # each an example and a completion
_LOADING = 30.0  # seconds: packages that it imports included
_TOGETHER = 10.0  # seconds for many texts at once
_ALONE = 2.0  # and for one


class TimeUp(Exception):
    """The seconds that an attack was given have passed."""


class Verifier:
    """``with Verifier("mine.py:verify") as verifier``. It returns what ``score`` returns, or the bare reward.

    ``place``: FILE:FUNCTION, or the name of a rubric of the course. ``seconds``: for all that it is asked; after them
    it raises TimeUp. Raises UserError for a fault of the verifier, and where there is none.
    """

    def __init__(self, place: str, seconds: float = float("inf")) -> None:
        if place in RUBRICS:
            place = f"{RUBRICS[place].__code__.co_filename}:{place}"
        file, _, self._function = place.rpartition(":")
        self._path, self._deadline = Path(file), monotonic() + seconds
        if not file or not self._function.isidentifier():
            mend = did_you_mean(place, {name: name for name in RUBRICS})
            expected = f"FILE:FUNCTION, such as mine.py:verify, or one of {', '.join(RUBRICS)}"
            raise UserError(f"{mend}--rubric: expected {expected}, got {quoted(place)}")
        try:
            open_regular(self._path).close()
        except OSError as error:
            raise UserError(f"{self._path}: expected a file of Python, got: {reason(error)}") from None
        self._child = Child(self._path)
        self._loaded = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._child.__exit__(*exception)

    def __call__(self, example: Task, completion: str) -> dict[str, Any]:
        """As a rubric, which a policy can be trained on."""
        return self.results([(example, completion)])[0]

    def results(self, questions: Questions) -> list[dict[str, Any]]:
        """For each question a result with the keys ``reward`` and ``details``; without details of its own, ``{}``."""
        try:
            found = self._asked(questions, _TOGETHER)
        except Stopped:  # by which of them shows when each is asked alone
            found = [self._alone(question) for question in questions]
        return [self._result(value, *question) for value, question in zip(found, questions, strict=True)]

    def answers(self, questions: Questions) -> list[Answer]:
        results = self.results(questions)
        return [answer(*asked, result["reward"]) for asked, result in zip(questions, results, strict=True)]

    def _asked(self, questions: Questions, seconds: float) -> list[Any]:
        if monotonic() > self._deadline:
            raise TimeUp
        try:
            if not self._loaded:
                self._child.call(self._function, [], _LOADING)
            self._loaded = True
            return self._child.call(self._function, questions, seconds)
        except Stopped:
            self._loaded = False
            raise

    def _alone(self, question: tuple[Task, str]) -> Any:
        try:
            return self._asked([question], _ALONE)[0]
        except Stopped as stopped:
            raise self.fault(*question, str(stopped)) from None

    def _result(self, value: Any, example: Task, completion: str) -> dict[str, Any]:
        if isinstance(value, Raised):
            if (value.kind, value.text, value.line) == ("KeyError", repr(self._function), None):
                expected = f"expected a function {self._function}, got none in this file"
                raise UserError(f"{visible_path(self._path)}: {expected}")
            where = f" (line {value.line})" if value.line else ""
            raise self.fault(example, completion, f"{value.kind}: {value.text}{where}")
        result = value if isinstance(value, dict) else {"reward": value}
        reward, details = result.get("reward"), result.get("details")
        if not isinstance(reward, int | float) or not 0 <= reward <= 1:
            raise self.fault(example, completion, f"{reward!r:.80}")
        return {"reward": float(reward), "details": details if isinstance(details, dict) else {}}

    def fault(self, example: Task, completion: str, got: str) -> UserError:
        text = f"'{quoted(completion)}' where {quoted(str(example['expected_answer']))} is expected"
        where = f"{visible_path(self._path)}:{self._function}"
        return UserError(f"{where} expected a reward from 0 to 1 for {text}, got {quoted(got)}; mend the verifier")


def answer(example: Task, completion: str, reward: float) -> Answer:
    return Answer(example, completion, reward, score(example, completion)["reward"])
