"""Machinery: a verifier out of any file of Python, asked in a process of its own.

Covered
    A verifier of any of the usual shapes (``course/rubrics/calling.py``), which may return a number, a bool, None for
    no reward, a dict with ``reward``, or a list of one of these. A call that raises, exits, never returns, or gives no
    finite number: what came instead of a reward is told with its text, costs that text only, and is no reward of 0.
    Calls that use up a limit together, such as 600 s of CPU time or 64 processes: a new process is asked again, and
    only a text that uses it up alone has no reward.
    A verifier that draws at random, reads a clock or remembers, if ``repeatable_results`` sees two rewards of a text.
Not covered
    A verifier that changes between two runs: it reads a file, say, or the date.
    A verifier that means harm: see ``course/limited_process.py``.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Self

from course.child import Child, Raised, Stopped, UsedUp
from course.datasets.records import Task
from course.errors import UserError
from course.own_code import digest_of_code
from course.rubrics.calling import Parameter, bindings_of, call_of
from course.rubrics.hackable import RUBRICS
from course.text import clipped, did_you_mean, quote, visible

Question = tuple[Task, str]  # an example and a completion
_LOADING = 30.0  # seconds: packages that it imports included, be it in its first call
_ANSWERING = 5.0  # for one text
_LARGEST = 1e300  # reward; beyond it may lie infinity


@dataclass(frozen=True)
class Answer:
    """What a verifier gave for one text: a reward, or in ``failure`` the words for what came instead."""

    reward: float | None
    details: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    has_stopped: bool = False  # the process gave no answer at all, and was started anew

    @property
    def is_paid(self) -> bool:
        return self.reward is not None and self.reward > 0


class Verifier:
    """``with Verifier("mine.py:verify") as verifier``: a rubric, which a policy can be trained on.

    ``place``: FILE:FUNCTION, or the name of a rubric of the course. ``call``: its arguments as an expression, where its
    parameters do not tell them. ``seconds``: for all that it is asked; after them it raises TimeoutError. Raises
    UserError where there is no verifier, or none that can be loaded.

    ``name``: without the folder. ``call``: the whole call, such as ``verify(example, completion)``. ``source``: the
    bytes of its file, as they run. ``asked_again``: the limit that calls used up together, and how often a new process
    was asked because of it.
    """

    def __init__(self, place: str, *, call: str | None = None, seconds: float = math.inf) -> None:
        full_place = place
        if place in RUBRICS:
            full_place = f"{RUBRICS[place].__code__.co_filename}:{place}"
        file, _, function = full_place.rpartition(":")
        self._place = visible(place)
        self.name = place if place in RUBRICS else visible(f"{Path(file).name}:{function}")
        self._function = function
        self._deadline = monotonic() + seconds
        if not Path(file).is_file() or not function.isidentifier():
            names = {name: name for name in RUBRICS}
            expected = f"a file and its function, such as mine.py:verify, or one of {', '.join(names)}"
            raise UserError(f"{did_you_mean(place, names)}expected {expected}, got {self._place or 'nothing'}")
        self._path = Path(file)
        self._child = Child(self._path)
        self.source = self._child.source
        self.call = f"{function}({call})"
        self._finds_call = call is None
        self.asked_again: Counter[str] = Counter()
        self._is_first_call = True

    def __enter__(self) -> Self:
        try:
            self._load()
        except BaseException:
            self._child.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._child.__exit__()

    def __call__(self, example: Task, completion: str) -> dict[str, Any]:
        return self.results([(example, completion)])[0]

    def results(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """For each question a result with the keys ``reward`` and ``details``; without details of its own, ``{}``.

        Raises UserError for a text that it has no reward for.
        """
        results = []
        for (example, completion), answer in zip(questions, self.answers(questions), strict=True):
            if answer.reward is None:
                expected = f"expected a reward for {_describe_question(example, completion)}"
                raise UserError(f"{self._place}: {expected}, got {answer.failure}; mend the verifier")
            results.append({"reward": answer.reward, "details": answer.details})
        return results

    def repeatable_results(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """The same. Each question is asked twice, the second time in the other order.

        Raises UserError, too, for a text whose two rewards differ.
        """
        results = self.results(questions)
        repeated = self.results(questions[::-1])[::-1]
        for (example, completion), first, second in zip(questions, results, repeated, strict=True):
            if first["reward"] != second["reward"]:
                expected = f"expected one reward for {_describe_question(example, completion)}, whenever it is asked"
                got = f"got {first['reward']}, then {second['reward']}"
                mend = "let nothing but the text and the answer decide: no random draw, no clock, no memory"
                raise UserError(f"{self._place}: {expected}; {got}; {mend}")
        return results

    def sha256(self) -> str:
        """Of its file and of the person's own modules that it has imported by now: ask when every text was judged.

        A process that had to be started anew has imported only what the file imports as it is loaded.
        """
        try:
            files = self._list_module_files()
        except Stopped as stopped:
            expected = "expected the names of the modules it imported"
            raise UserError(f"{self._place}: {expected}, got {stopped}; mend the verifier") from None
        return digest_of_code(self._path, self._child.source, files)

    def _list_module_files(self) -> list[str]:
        try:
            return self._child.list_module_files(_LOADING)
        except UsedUp:  # by the calls before
            self._wake()
            return self._child.list_module_files(_LOADING)

    def settings(self) -> dict[str, str]:
        """What a manifest says of it."""
        return {"rubric": self.name, "rubric_sha256": self.sha256()}

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """What it gives for each question, whatever that is. Raises TimeoutError.

        Where all that a process was asked has used up a limit, a new one is asked the question again.
        """
        answers: list[Answer] = []
        is_new = False  # whether the next question is the first that its process is asked
        while len(answers) < len(questions):
            rest = questions[len(answers) :]
            try:
                for value in self._evaluate([bindings_of(*question) for question in rest]):
                    answers.append(_answer_of(value))
                    is_new = False
            except Stopped as stopped:
                if isinstance(stopped, UsedUp) and not is_new:
                    self.asked_again[str(stopped)] += 1
                else:
                    answers.append(Answer(None, failure=str(stopped), has_stopped=True))
                self._wake()
                is_new = True
        return answers

    def _evaluate(self, bindings: Sequence[dict[str, Any]]) -> Iterator[Any]:
        """Its values, in order: of the first alone, or of all. The first call may import packages."""
        seconds = _ANSWERING
        if self._is_first_call:
            bindings = bindings[:1]
            seconds = _LOADING
            self._is_first_call = False
        for value in self._child.evaluate(self.call, bindings, seconds):
            if monotonic() > self._deadline:
                raise TimeoutError
            yield value

    def _load(self) -> None:
        parameters = self._wake()
        if isinstance(parameters, Raised):
            if parameters.kind == "NameError" and parameters.line is None:
                raise UserError(f"{self._place}: expected a function {self._function}, got none in this file")
            got = f"{_words(parameters)} while it was loaded"
            raise UserError(f"{self._place}: expected a verifier, got {got}; mend it")
        if self._finds_call:
            self.call = call_of(self._function, [Parameter(*parameter) for parameter in parameters])
            chat = self.call.replace("=[completion]", "=[messages]").replace("=completion", "=messages")
            if chat != self.call and self._raises(self.call) and not self._raises(chat):
                self.call = chat

    def _wake(self) -> Any:
        """Load the file where it is not loaded. The fields of ``Parameter`` for each one, or ``Raised``."""
        expression = f"[{self._function}][:0]"
        if self._finds_call:
            fields = "[one.name, one.kind.name, one.default is one.empty and not one.kind.name.startswith('VAR_')]"
            expression = f"[{fields} for one in __import__('inspect').signature({self._function}).parameters.values()]"
        try:
            return next(self._child.evaluate(expression, [{}], _LOADING))
        except Stopped as stopped:
            raise UserError(f"{self._place}: expected a verifier, got {stopped} while it was loaded; mend it") from None

    def _raises(self, call: str) -> bool:
        example: Task = {"id": "probe", "prompt": "Compute 0 + 0.", "expected_answer": 0}
        try:
            return isinstance(next(self._child.evaluate(call, [bindings_of(example, "0")], _LOADING)), Raised)
        except Stopped:
            return False


def _describe_question(example: Task, completion: str) -> str:
    return f"'{quote(completion)}' where {quote(str(example['expected_answer']))} is expected"


def _words(raised: Raised) -> str:
    where = f" (line {raised.line})" if raised.line else ""
    return f"{raised.kind}: {raised.text}{where}"


def _answer_of(value: Any) -> Answer:
    """What a value that a verifier returned stands for."""
    if isinstance(value, Raised):
        return Answer(None, failure=_words(value))
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    details: dict[str, Any] = {}
    if isinstance(value, dict):
        if isinstance(value.get("details"), dict):
            details = value["details"]
        value = value.get("reward", "no reward")
    if value is None:
        value = 0.0
    if isinstance(value, int | float) and abs(value) <= _LARGEST:
        return Answer(float(value) + 0.0, details)  # of −0 it makes 0
    return Answer(None, failure=f"{clipped(repr(value), 80)}, which is no reward")
