"""Machinery: what a verifier pays and refuses, by the kinds of ``course.rubrics.kinds``, each with its shortest text.

The right lines come first: exactly the form with the plain integer. Texts of the other kinds follow, the shortest
first:
golden sets, edits of the right line, values in the form and beside it. The search of a kind ends at the first text that
is paid, which is the shortest. If none of these texts is paid, every string of a few symbols is tried; a person would
write few of these strings. ``learn_from`` trains a policy on the verifier's rewards alone and tells it of no hole.

Covered
    A verifier with random or stateful answers, if asking the right lines twice shows this.
    The work is counted in texts, so the same verifier, form and seed give the same findings.
Not covered
    A verifier without findings is not shown to be right. The policy answers sums of one digit, with the few tokens of
    ``course/policies/token_policy.py``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import Example, GoldenCase, Task, task_of
from course.guest import Answer
from course.policies.train_config import MEMORISE
from course.rubrics.forms import Form, parse_form
from course.rubrics.kinds import Kind, kind_of
from course.rubrics.witness import candidates, edits, placements
from course.text import clipped, quote

Question = tuple[Task, str]  # an example and a completion
Progress = Callable[[Iterable[Any]], Iterable[Any]]  # the same items; a person sees how far they are
GOLDS = (7, 0, -8, 323)  # right answers of the search: of one digit and of several, zero, and below it
LARGE_GOLDS = (123_456, 2**53 + 1)  # of which only edits are tried: more digits than a rounded or a short float keeps
RIGHT_ANSWERS = (7, 0, -8, 323, 10, -1, -120, 1024, 123_456, 10**9, 2**53 + 1, 10**30 + 7)
UPDATES = 160  # of the policy, with 256 completions each
PADDINGS = ("\n{}", "{}\n", " {}", "{} ", "\t{}", "{}\r\n", "\n\n{}\n")
PAID_KINDS = (Kind.WRONG, Kind.SEVERAL, Kind.OTHER_FORM)  # in the order in which they are asked
FAULTS = (Kind.WRONG, Kind.SEVERAL, Kind.RIGHT)  # kinds whose finding fails a verifier
_FORMS = ("Final: …", r"\boxed{…}", "#### …", "<answer>…</answer>", "The answer is …", "Answer: …", "ANSWER: …", "…")
USUAL_FORMS = tuple(map(parse_form, _FORMS))
SUMS = LAB / MEMORISE.dataset
if not SUMS.is_file():  # installed from a wheel, without the lab's folder
    SUMS = LAB / "course" / "datasets" / SUMS.name
_MOST_SYMBOLS = 4  # of the strings that are enumerated
_LONGEST = 20_000  # characters of a text
_ODD = re.compile(r"(?<=[0-9])-|[^\w .:-]")  # a sign that puzzles a reader, such as the commas of 0,1
_TOGETHER = 200  # texts that the verifier is asked about at once


class Verifier(Protocol):
    """What is searched: a rubric in this process, or one in a worker (``course.attack_worker``)."""

    def answers(self, questions: Sequence[Question], /) -> list[Answer]: ...


@dataclass(frozen=True)
class Finding:
    """A text and the verifier's reward for it, or in ``failure`` what came in place of a reward."""

    expected_answer: int
    completion: str
    reward: float | None
    failure: str = ""

    @property
    def order(self) -> tuple[int, bool, int, str]:
        """Shorter texts first; of equal length, visible ones; of these, ones that puzzle nobody: 0.5 before 0,1."""
        return _order(self.completion)

    def __str__(self) -> str:
        given = self.failure if self.reward is None else f"reward {self.reward:.4g}"
        return f"'{clipped(self.completion, 200)}' where {quote(str(self.expected_answer))} is right: {given}"


@dataclass
class Findings:
    """The findings so far. ``shortest``: the shortest paid text of each kind; of ``Kind.RIGHT``, the refused one."""

    tried: int = 0
    right_paid: int = 0
    shortest: dict[Kind, Finding] = field(default_factory=dict)
    padded: Finding | None = None  # a right line that is refused for the white space around it
    failure: Finding | None = None  # the shortest text, no right line, that has no reward
    failures: int = 0  # such texts
    paid_forms: list[Form] = field(default_factory=list)  # of a right answer, where none is paid in the form asked for

    @property
    def has_fault(self) -> bool:
        return any(kind in self.shortest for kind in FAULTS)

    def add(self, kind: Kind, finding: Finding) -> None:
        known = self.shortest.get(kind)
        if known is None or finding.order < known.order:
            self.shortest[kind] = finding


def search(verifier: Verifier, form: Form, findings: Findings, progress: Progress = iter) -> None:
    """Add each finding to ``findings``, so that a TimeoutError leaves the earlier findings there."""
    _ask_right_lines(verifier, form, findings)
    if not findings.right_paid:
        _ask_usual_forms(verifier, findings)
        return
    _ask_padded_lines(verifier, form, findings)
    _ask_kinds(verifier, form, _collect_known_texts(form), findings, progress)
    if any(kind not in findings.shortest for kind in PAID_KINDS):
        _ask_kinds(verifier, form, _enumerate_texts(form), findings, progress)
    _ask_right_lines(verifier, form, findings)


def _ask_kinds(
    verifier: Verifier, form: Form, questions: Sequence[Question], findings: Findings, progress: Progress
) -> None:
    """Ask the texts of each kind for which no paid text is known, the shortest first."""
    by_kind: dict[Kind, list[Question]] = {}
    for example, text in sorted(questions, key=lambda question: _order(question[1])):
        by_kind.setdefault(kind_of(example["expected_answer"], text, form), []).append((example, text))
    for kind in progress([kind for kind in PAID_KINDS if kind not in findings.shortest]):
        _ask_kind(verifier, kind, by_kind.get(kind, []), findings)


def _ask(verifier: Verifier, questions: Sequence[Question], findings: Findings) -> Iterator[tuple[Finding, Answer]]:
    for (example, text), answer in zip(questions, verifier.answers(questions), strict=True):
        findings.tried += 1
        yield Finding(example["expected_answer"], text, answer.reward, answer.failure), answer


def _ask_right_lines(verifier: Verifier, form: Form, findings: Findings) -> None:
    """Ask the right lines one by one, until one gets no answer at all, because each such line may take seconds."""
    for expected_answer in RIGHT_ANSWERS:
        question = (make_example(expected_answer), form.line(expected_answer))
        for finding, answer in _ask(verifier, [question], findings):
            if answer.is_paid:
                findings.right_paid += 1
            else:
                findings.add(Kind.RIGHT, finding)
            if answer.has_stopped:
                return


def _ask_usual_forms(verifier: Verifier, findings: Findings) -> None:
    if findings.shortest[Kind.RIGHT].failure:
        return
    questions = [(make_example(323), form.line(323)) for form in USUAL_FORMS]
    for form, (_, answer) in zip(USUAL_FORMS, _ask(verifier, questions, findings), strict=True):
        if answer.is_paid:
            findings.paid_forms.append(form)


def _ask_padded_lines(verifier: Verifier, form: Form, findings: Findings) -> None:
    questions = [(make_example(gold), padding.format(form.line(gold))) for gold in GOLDS for padding in PADDINGS]
    refused = [finding for finding, answer in _ask(verifier, questions, findings) if not answer.is_paid]
    findings.padded = min(refused, key=lambda finding: finding.order, default=None)


def _ask_kind(verifier: Verifier, kind: Kind, questions: Sequence[Question], findings: Findings) -> None:
    """Ask texts in order, up to the first that is paid or that comes after the known one."""
    for start in range(0, len(questions), _TOGETHER):
        batch = questions[start : start + _TOGETHER]
        if known := findings.shortest.get(kind):
            batch = [question for question in batch if _order(question[1]) < known.order]
        paid = []
        for finding, answer in _ask(verifier, batch, findings):
            if answer.is_paid:
                paid.append(finding)
            if answer.reward is None:
                findings.failures += 1
                findings.failure = min(findings.failure or finding, finding, key=lambda failed: failed.order)
        if paid:
            findings.add(kind, paid[0])
        if paid or not batch:
            return


def _order(text: str) -> tuple[int, bool, int, str]:
    is_unusual = not (text.isascii() and text.isprintable())
    return len(text), is_unusual, len(_ODD.findall(text)), text


def make_example(expected_answer: int) -> Task:
    prompt = f"Compute {expected_answer} + 0. Answer with exactly one line: Final: <int>"
    return {"id": "attack", "prompt": prompt, "expected_answer": expected_answer}


def _collect_known_texts(form: Form) -> list[Question]:
    """The empty text, the golden cases in this form, edits of right lines, and values in the form and beside it."""
    cases = [case for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS) for case in read_records(path, GoldenCase)]
    questions = [(make_example(case.expected_answer), form.rewrite(case.completion)) for case in cases]
    for gold in GOLDS:
        texts = {"", *edits(gold, form), *placements(gold, form)}
        questions += [(make_example(gold), text) for text in texts if len(text) <= _LONGEST]
    for gold in LARGE_GOLDS:
        questions += [(make_example(gold), form.line(value)) for value in (gold - 1, gold + 1)]
    return questions


def _enumerate_texts(form: Form) -> list[Question]:
    return [(make_example(gold), text) for gold in GOLDS for text in candidates(gold, form, _MOST_SYMBOLS)]


# --- a policy that learns from the verifier's rewards


class PolicyText(NamedTuple):
    """A completion of the policy, in the verifier's form, and its reward."""

    example: Task
    completion: str
    reward: float
    failure: str  # what came in place of a reward; the policy then gets 0

    def finding(self) -> Finding:
        return Finding(self.example["expected_answer"], self.completion, self.reward, self.failure)


def learn_from(verifier: Verifier, form: Form, seed: int, progress: Progress = iter) -> Iterator[list[PolicyText]]:
    """Train the token policy of ``course.token_train`` on the verifier. Yields the completions of each update."""
    from course.policies.token_learner import fine_tune, learn

    failures: dict[tuple[str, str], str] = {}

    def rubric(example: Task, completion: str) -> dict[str, Any]:
        (answer,) = verifier.answers([(example, form.rewrite(completion))])
        if answer.reward is None:
            failures[example["id"], completion] = answer.failure
            return {"reward": 0.0}
        return {"reward": answer.reward}

    examples = [task_of(example) for example in read_records(SUMS, Example)]
    config = MEMORISE._replace(steps=UPDATES)
    for update in progress(learn(fine_tune(examples, config, seed), examples, rubric, config, seed)):
        texts = zip(update.chosen.tolist(), update.texts, update.reward.tolist(), strict=True)
        yield [
            PolicyText(
                example=examples[place],
                completion=form.rewrite(text),
                reward=reward,
                failure=failures.get((examples[place]["id"], text), ""),
            )
            for place, text, reward in texts
        ]
