"""Machinery: a verifier out of any file of Python, asked in a process of its own, and three attacks on it.

The golden sets hold texts whose reward is known. The search tries texts in order of length and keeps the first on
which verifier and spec disagree. The optimiser is the token policy of ``course.token_train``: it learns from the
verifier's rewards alone, nothing tells it of a hole, and it stops at the first text that is wrong and rewarded.

Covered
    A file that does not load, a call that raises, exits or never returns, and a reward that is no number from 0 to 1:
    each is an error of the verifier, told with its input. None becomes a reward of 0. The attacks' work is counted in
    texts: the same verifier and seed, the same findings.
Not covered
    A verifier that means harm: see ``course/limited_process.py``. One that withstands all three is not shown to be
    right. The policy answers sums of one digit, with the few tokens of ``course/policies/token_policy.py``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, Self

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.child import Child, Raised, Stopped
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import Example, GoldenCase, Task, task_of
from course.errors import UserError
from course.policies.train_config import MEMORISE
from course.rubrics.hackable import RUBRICS
from course.rubrics.witness import candidates
from course.score import score
from course.text import clipped, did_you_mean, quote, visible

Progress = Callable[[Iterable[Any]], Iterable[Any]]  # the same items; a person sees how far they are
Questions = list[tuple[Task, str]]  # each an example and a completion
UPDATES = 160  # of the optimiser before it gives up, with 256 completions each
GOLDS = (7, 0, -8, 323)  # right answers of the search: of one digit and of several, zero, and below it
_TOGETHER = 500  # texts that the verifier is asked about at once
_LOADING = 30.0  # seconds: packages that it imports included
_ANSWERING = 5.0  # for many texts, and then for each alone


@dataclass(frozen=True)
class Comparison:
    """What a verifier gave for one text, beside what the spec gives. ``reward``: from 0 to 1; ``true``: 0 or 1."""

    example: Task
    completion: str
    reward: float
    true: float

    def __str__(self) -> str:
        expected = quote(str(self.example["expected_answer"]))
        return f"'{clipped(self.completion, 200)}' where {expected} is expected: reward {self.reward:.4g}"


@dataclass(frozen=True)
class Findings:
    """How many texts an attack ``tried``; those with a reward above the spec's and below it, the shortest first."""

    tried: int
    false_positives: list[Comparison]
    false_negatives: list[Comparison]


def collect_findings(comparisons: Sequence[Comparison]) -> Findings:
    """What an attack found, of all that it compared, the shortest text first."""
    by_length = sorted(comparisons, key=lambda one: (len(one.completion), one.completion))
    above = [one for one in by_length if one.reward > one.true]
    below = [one for one in by_length if one.reward < one.true]
    return Findings(len(comparisons), above, below)


class Verifier:
    """``with Verifier("mine.py:verify") as verifier``. It returns what ``score`` returns, or the bare reward.

    ``place``: FILE:FUNCTION, or the name of a rubric of the course. ``seconds``: for all that it is asked; after them
    it raises TimeoutError. Raises UserError for a fault of the verifier, and where there is none. ``name``: without
    the folder. ``sha256``: of the source that runs.
    """

    def __init__(self, place: str, seconds: float = float("inf")) -> None:
        full_place = place
        if place in RUBRICS:
            full_place = f"{RUBRICS[place].__code__.co_filename}:{place}"
        file, _, self._function = full_place.rpartition(":")
        self._place = visible(place)
        self.name = place if place in RUBRICS else visible(f"{Path(file).name}:{self._function}")
        self._deadline = monotonic() + seconds
        if not Path(file).is_file() or not self._function.isidentifier():
            names = {name: name for name in RUBRICS}
            expected = f"a file and its function, such as mine.py:verify, or one of {', '.join(names)}"
            raise UserError(f"{did_you_mean(place, names)}expected {expected}, got {self._place}")
        self._child = Child(Path(file))
        self.sha256 = self._child.sha256

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
            values = self._child.call(self._function, questions, _ANSWERING if questions else _LOADING)
        except Stopped as stopped:
            if not questions:
                got = f"{quote(str(stopped))} while it was loaded"
                raise UserError(f"{self._place}: expected a verifier, got {got}; mend it") from None
            if len(questions) == 1:
                raise self.fault(*questions[0], str(stopped)) from None
            return [self(*question) for question in questions]  # by which of them shows when each is asked alone
        return [self._result(value, *question) for value, question in zip(values, questions, strict=True)]

    def compare(self, questions: Questions) -> list[Comparison]:
        return [
            compare_with_spec(*question, result["reward"])
            for question, result in zip(questions, self.results(questions), strict=True)
        ]

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
        text = f"'{quote(completion)}' where {quote(str(example['expected_answer']))} is expected"
        return UserError(f"{self._place} expected a reward from 0 to 1 for {text}, got {quote(got)}; mend the verifier")


def compare_with_spec(example: Task, completion: str, reward: float) -> Comparison:
    return Comparison(example, completion, reward, score(example, completion)["reward"])


def make_example(expected_answer: int) -> Task:
    prompt = f"Compute {expected_answer} + 0. Answer with exactly one line: Final: <int>"
    return {"id": "attack", "prompt": prompt, "expected_answer": expected_answer}


def try_golden_sets(verifier: Verifier) -> Findings:
    """All golden cases, and again in the other order. Raises UserError where a reward is then another."""
    cases = [case for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS) for case in read_records(path, GoldenCase)]
    questions = [(task_of(case), case.completion) for case in cases]
    answers = verifier.compare(questions)
    for first, again in zip(answers, verifier.compare(questions[::-1])[::-1], strict=True):
        if first != again:
            raise verifier.fault(first.example, first.completion, f"{first.reward:g}, then {again.reward:g}")
    return collect_findings(answers)


def search(verifier: Verifier, progress: Progress = iter) -> Findings:
    """For each of ``GOLDS`` the first text that is rewarded above the spec, and the first that is below."""
    tried = 0
    different: list[Comparison] = []
    for gold in progress(GOLDS):
        example, texts = make_example(gold), candidates(gold)
        first: dict[bool, Comparison] = {}  # is it above?
        while len(first) < 2 and (questions := [(example, text) for text in islice(texts, _TOGETHER)]):
            tried += len(questions)
            for one in verifier.compare(questions):
                if one.reward != one.true:
                    first.setdefault(one.reward > one.true, one)
        different += first.values()
    return replace(collect_findings(different), tried=tried)


def optimise(verifier: Verifier, seed: int, progress: Progress = iter) -> Findings:
    """Train a policy on the verifier, until it writes what is rewarded above the spec or ``UPDATES`` are over."""
    from course.policies.token_learner import fine_tune, learn

    examples = [task_of(example) for example in read_records(LAB / MEMORISE.dataset, Example)]
    config = MEMORISE._replace(steps=UPDATES)
    tried = 0
    findings = collect_findings([])
    for update in progress(learn(fine_tune(examples, config, seed), examples, verifier, config, seed)):
        written = zip(update.chosen.tolist(), update.texts, update.reward.tolist(), strict=True)
        findings = collect_findings([compare_with_spec(examples[i], text, reward) for i, text, reward in written])
        tried += findings.tried
        if findings.false_positives:
            break
    return replace(findings, tried=tried, false_negatives=[])
