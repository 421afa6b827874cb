"""Machinery: a verifier from any Python file, asked in a process of its own.

Covered
    A verifier of any of the usual shapes (``course/rubrics/calling.py``), which may return a number, a bool, None for
    no reward, a dict with ``reward`` or ``score``, or a list of one of these. A call that raises, exits, never returns,
    or gives no finite number. Such a call is reported with its text, affects that text only, and is never turned into
    a reward of 0.
    Calls that together use up a limit, such as 600 s of CPU time or 64 processes. The text is asked again in a new
    process, and has no reward only if it uses up the limit alone.
    A verifier that draws at random, reads a clock or remembers, if ``repeatable_results`` sees two rewards for a text.
Not covered
    A verifier that changes between two runs, because it reads a file or the date.
    A verifier that means harm: see ``course/limited_process.py``.
"""

import math
import re
import sys
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
from course.rubrics.calling import Parameter, bindings_of, call_of, refuse_arguments, typed_call
from course.rubrics.hackable import RUBRICS
from course.text import clipped, did_you_mean, quote, shell_word, visible

Question = tuple[Task, str]  # an example and a completion
_LOADING = 30.0  # seconds: includes the import of packages, also during the first call
_ANSWERING = 5.0  # for one text
_LARGEST = 1e300  # reward; a sum of larger rewards could overflow
_KEYS = ("reward", "score")  # of a returned dict; the first of these keys counts
_PROBE: Question = ({"id": "probe", "prompt": "Compute 0 + 0.", "expected_answer": 0}, "0")


@dataclass(frozen=True)
class Answer:
    """What a verifier gave for one text: a reward, or in ``failure`` the words for what came in its place."""

    reward: float | None
    details: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    has_stopped: bool = False  # the process gave no answer at all, and was started again

    @property
    def is_paid(self) -> bool:
        return self.reward is not None and self.reward > 0


class Verifier:
    """``with Verifier("mine.py:verify") as verifier``: a rubric, which a policy can be trained on.

    ``place``: FILE:FUNCTION, where FUNCTION may be a method of an object, ``checker.verify``; or the name of a rubric
    of the course. ``call``: the arguments as an expression, if the names of the parameters do not say them.
    ``seconds``: the time for all questions; after this time, a question raises TimeoutError. Raises UserError if there
    is no such verifier, or if it cannot be loaded.

    ``name``: without the folder. ``call``: the whole call, such as ``verify(example, completion)``; ``is_guess``: a
    parameter has no known name. ``source``: the bytes of its file, as they run. ``asked_again``: the limit that calls
    used up together, and how often a new process was asked because of it.
    """

    def __init__(
        self,
        place: str,
        *,
        call: str | None = None,
        seconds: float = math.inf,
    ) -> None:
        if place in RUBRICS and call is not None:
            raise UserError(f"--call is for a FILE:FUNCTION of your own; how {place} is called is known")
        self._path, self._function = _split_place(place)
        self._place = visible(place)
        self.name = place if place in RUBRICS else visible(f"{self._path.name}:{self._function}")
        self._arguments = call
        self.call = "" if call is None else typed_call(self._function, call)
        self.is_guess = False
        self._deadline = monotonic() + seconds
        self._child = Child(self._path)
        self.source = self._child.source
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

        Raises UserError for a text without a reward.
        """
        results = []
        for (example, completion), answer in zip(questions, self.answers(questions), strict=True):
            if answer.reward is None:
                expected = f"expected a reward for {_describe_question(example, completion)}"
                mend = f"fix the verifier; {self._describe_guess()}" if self.is_guess else "fix the verifier"
                raise UserError(f"{self._place}: {expected}, got {answer.failure}; {mend}")
            results.append({"reward": answer.reward, "details": answer.details})
        return results

    def repeatable_results(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """The same. Each question is asked twice, the second time in the other order.

        Also raises UserError for a text whose two rewards differ.
        """
        results = self.results(questions)
        repeated = self.results(questions[::-1])[::-1]
        for (example, completion), first, second in zip(questions, results, repeated, strict=True):
            if first["reward"] != second["reward"]:
                expected = f"expected the same reward each time for {_describe_question(example, completion)}"
                got = f"got {first['reward']}, then {second['reward']}"
                mend = "let only the text and the answer decide: no random draw, no clock, no memory"
                raise UserError(f"{self._place}: {expected}, {got}; {mend}")
        return results

    def sha256(self) -> str:
        """The digest of its file and of the person's own modules that it has imported: ask when every text was judged.

        A process that was started again has imported only the modules that the file imports while it is loaded.
        """
        try:
            files = self._list_module_files()
        except Stopped as stopped:
            expected = "expected the names of the imported modules"
            raise UserError(f"{self._place}: {expected}, got {stopped}; fix the verifier") from None
        return digest_of_code(self._path, self._child.source, files)

    def _list_module_files(self) -> list[str]:
        try:
            return self._child.list_module_files(_LOADING)
        except UsedUp:  # by the calls before
            self._start()
            return self._child.list_module_files(_LOADING)

    def settings(self) -> dict[str, str]:
        """What a manifest says about the verifier."""
        return {"rubric": self.name, "rubric_sha256": self.sha256(), "rubric_call": self.call}

    def check_guess(self, example: Task, right_line: str) -> None:
        """Raises UserError if the call was guessed and raises for the right line: the guess is then wrong."""
        raised = self._catch_exception(self.call, (example, right_line)) if self.is_guess else None
        if raised is not None:
            got = f"the right answer '{quote(right_line)}' raised {_words(raised)}"
            raise UserError(f"{self._place}: {got}; {self._describe_guess()}")

    @property
    def number_arguments(self) -> str | None:
        """The arguments for --call that pass the answer as a number; None if the call passes no answer as text."""
        arguments = self.call[len(self._function) + 1 : -1]
        as_number = re.sub(r"(?<![\w'\"(])answer(?![\w='\"])", "int(answer)", arguments)
        return None if as_number == arguments else as_number

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """For each question a reward or the reason for none. Raises TimeoutError.

        If the questions before it used up a limit of the process, a question is asked again in a new process.
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
                self._start()
                is_new = True
        return answers

    def _evaluate(self, bindings: Sequence[dict[str, Any]]) -> Iterator[Any]:
        """The values that the verifier returns for ``bindings``, in order; the first time only for the first of them.

        The first call may import packages, so it gets more time.
        """
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
        facts = self._start()
        if isinstance(facts, Raised):
            raise self._refuse_loading(facts)
        is_async, is_class = facts
        if is_async:
            wrap = f"def verify(completion, answer): return asyncio.run({self._function}(completion, answer))"
            raise UserError(f"{self._place} is an async function, and a verifier must not be one; wrap it: {wrap}")
        if is_class:
            raise UserError(f"{self._place}: expected a function, got a class; {self._make_instance(self._function)}")
        if self._arguments is None:
            self._find_call()
        else:
            self._check_arguments(self._arguments)

    def _start(self) -> Any:
        """Start the process if it does not run. Returns ``Raised``, or whether the function is async, and a class."""
        inspect = "__import__('inspect')"
        facts = f"[{inspect}.iscoroutinefunction({self._function}), {inspect}.isclass({self._function})]"
        return self._evaluate_in_file(facts)

    def _evaluate_in_file(self, expression: str) -> Any:
        try:
            return next(self._child.evaluate(expression, [{}], _LOADING))
        except Stopped as stopped:
            raise UserError(f"{self._place}: cannot load this verifier: {stopped}; fix the file") from None

    def _refuse_loading(self, raised: Raised) -> UserError:
        if raised.kind in ("NameError", "AttributeError") and raised.line is None:
            return UserError(f"{self._place}: this file has no function {self._function}")
        missing = re.match(r"No module named '([\w.]+)'", raised.text)
        if raised.kind == "ModuleNotFoundError" and missing:
            python = shell_word(Path(sys.executable))
            install = f"{python} -m pip install {missing[1].partition('.')[0]}"
            return UserError(
                f"{self._place}: {_words(raised)}; the verifier runs in {python}. Install the module: {install}"
            )
        return UserError(f"{self._place}: cannot load this verifier: {_words(raised)}; fix the file")

    def _make_instance(self, class_: str) -> str:
        file = shell_word(self._path)
        return (
            f"make an object in the file, checker = {class_}(), and name a method of the object, {file}:checker.verify"
        )

    def _find_call(self) -> None:
        """Set ``call`` from the function's parameters. A chat replaces the text if only the text raises."""
        is_required = "p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)"
        parameters_of = f"__import__('inspect').signature({self._function}).parameters.values()"
        expression = f"[[p.name, p.kind.name, {is_required}] for p in {parameters_of}]"
        signature = self._evaluate_in_file(expression)
        if isinstance(signature, Raised):
            raise UserError(f"{self._place}: cannot read the parameters of this function: {_words(signature)}")
        parameters = [Parameter(*parameter) for parameter in signature]
        if parameters and parameters[0].name == "self":
            class_ = self._function.rpartition(".")[0]
            raise UserError(f"{self._place}: expected a method of an object; {self._make_instance(class_)}")
        call = call_of(self._function, parameters)
        self.call = call.expression
        self.is_guess = call.is_guess
        if call.chat and self._catch_exception(self.call, _PROBE) and not self._catch_exception(call.chat, _PROBE):
            self.call = call.chat

    def _check_arguments(self, arguments: str) -> None:
        """Raises UserError if they use an unknown name, or if the function does not take so many arguments."""
        binding = f"__import__('inspect').signature({self._function}).bind({arguments}) and None"
        raised = self._catch_exception(binding, _PROBE)
        if raised is not None and raised.line is None and raised.kind in ("NameError", "TypeError"):
            raise refuse_arguments(arguments, raised.text)

    def _describe_guess(self) -> str:
        return (
            f"the call {quote(self.call)} was guessed: give the arguments with --call 'completion, answer', "
            "or name the parameters as in verify(example, completion) or verify(completion, answer)"
        )

    def _catch_exception(self, expression: str, question: Question) -> Raised | None:
        try:
            value = next(self._child.evaluate(expression, [bindings_of(*question)], _LOADING))
        except Stopped:
            return None
        return value if isinstance(value, Raised) else None


def _split_place(place: str) -> tuple[Path, str]:
    """The file and its function. Raises UserError that names the wrong part."""
    if place in RUBRICS:
        return Path(RUBRICS[place].__code__.co_filename), place
    file, _, function = place.rpartition(":")
    shown = visible(place)
    if Path(place).is_file():
        raise UserError(f"{shown}: expected a file and its function, such as {shown}:verify, got the file alone")
    if not file:
        names = {name: name for name in RUBRICS}
        expected = f"a file and its function, such as mine.py:verify, or one of {', '.join(names)}"
        raise UserError(f"{did_you_mean(function, names)}expected {expected}, got {shown or 'nothing'}")
    if not Path(file).is_file():
        raise UserError(f"{shown}: expected a file and its function, but the file {visible(file)} does not exist")
    if not all(part.isidentifier() for part in function.split(".")):
        expected = "expected the name of a function after the colon, such as verify or checker.verify"
        raise UserError(f"{shown}: {expected}, got {quote(function) or 'nothing'}")
    return Path(file), function


def _describe_question(example: Task, completion: str) -> str:
    return f"'{quote(completion)}' where {quote(str(example['expected_answer']))} is right"


def _words(raised: Raised) -> str:
    where = f" (line {raised.line})" if raised.line else ""
    return f"{raised.kind}: {raised.text}{where}"


def _answer_of(value: Any) -> Answer:
    """The answer for which a returned value stands."""
    if isinstance(value, Raised):
        return Answer(None, failure=_words(value))
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    details: dict[str, Any] = {}
    if isinstance(value, dict):
        if isinstance(value.get("details"), dict):
            details = value["details"]
        key = next((key for key in _KEYS if key in value), None)
        if key is None:
            keys = f"the keys {', '.join(value)}" if value else "no keys"
            return Answer(None, failure=f"a dict with {quote(keys)}; expected a number, or a dict with reward or score")
        value = value[key]
    if isinstance(value, list) and len(value) > 1:
        several = clipped(", ".join(map(repr, value[:10])), 80)
        return Answer(None, failure=f"{len(value):,} values, {several}; expected one number, or a dict with reward")
    if value is None:
        value = 0.0
    if isinstance(value, int | float) and abs(value) <= _LARGEST:
        return Answer(float(value) + 0.0, details)  # of −0 it makes 0
    return Answer(None, failure=f"{clipped(repr(value), 80)}, which is not a reward")
