"""Machinery: three attacks on a verifier: the golden sets, a search for the shortest cheat, and an optimiser.

The golden sets hold texts whose reward is known. The search tries texts in order of length and keeps the first on
which verifier and spec disagree. The optimiser is the token policy of ``course.token_train``: it learns from the
verifier's rewards alone, nothing tells it of a hole, and it stops at the first text that is wrong and rewarded.

Covered
    Its work is counted in texts: the same verifier and seed, the same findings.
Not covered
    A verifier that withstands all three is not shown to be right. The policy answers sums of one digit, with the few
    tokens of ``course/policies/vocabulary.py``.
"""

from dataclasses import replace
from itertools import islice

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import Example, GoldenCase, Task, task_of
from course.exercises.verifier import Verifier, judged
from course.policies.presets import MEMORISE
from course.reports.attack import Found, Judged, found_in
from course.reports.terminal import with_progress
from course.rubrics.witness import candidates

UPDATES = 160  # of the optimiser before it gives up, with 256 completions each
GOLDS = (7, 0, -8, 323)  # right answers of the search: of one digit and of several, zero, and below it
_TOGETHER = 500  # texts that the verifier is asked about at once


def example_with(expected_answer: int) -> Task:
    prompt = f"Compute {expected_answer} + 0. Answer with exactly one line: Final: <int>"
    return {"id": "attack", "prompt": prompt, "expected_answer": expected_answer}


def golden(verifier: Verifier) -> Found:
    """All golden cases, and again in the other order. Raises UserError where a reward is then another."""
    cases = [case for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS) for case in read_records(path, GoldenCase)]
    questions = [(task_of(case), case.completion) for case in cases]
    answers = verifier.judged(questions)
    for first, again in zip(answers, verifier.judged(questions[::-1])[::-1], strict=True):
        if first != again:
            raise verifier.fault(first.example, first.completion, f"{first.reward:g}, then {again.reward:g}")
    return found_in(answers)


def search(verifier: Verifier) -> Found:
    """For each of ``GOLDS`` the first text that is rewarded above the spec, and the first that is below."""
    tried, found = 0, list[Judged]()
    for gold in with_progress(GOLDS, "searching", len(GOLDS)):
        example, texts = example_with(gold), candidates(gold)
        first: dict[bool, Judged] = {}  # is it above?
        while len(first) < 2 and (questions := [(example, text) for text in islice(texts, _TOGETHER)]):
            tried += len(questions)
            for one in verifier.judged(questions):
                if one.reward != one.true:
                    first.setdefault(one.reward > one.true, one)
        found += first.values()
    return replace(found_in(found), tried=tried)


def optimise(verifier: Verifier, seed: int) -> Found:
    """Train a policy on the verifier, until it writes what is rewarded above the spec or ``UPDATES`` are over."""
    from course.policies.token_learner import fine_tune, learn

    examples = [task_of(example) for example in read_records(LAB / MEMORISE.dataset, Example)]
    plan = MEMORISE.plan._replace(steps=UPDATES)
    tried, found = 0, found_in([])
    for update in with_progress(learn(fine_tune(examples, plan, seed), examples, verifier, plan, seed), "learning"):
        written = zip(update.chosen.tolist(), update.texts, update.reward.tolist(), strict=True)
        found = found_in([judged(examples[i], text, reward) for i, text, reward in written])
        tried += found.tried
        if found.false_positives:
            break
    return replace(found, tried=tried, false_negatives=[])
