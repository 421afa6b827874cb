"""Machinery: what course.validate_scorer prints."""

from collections.abc import Sequence

from course.artifacts.scorer_identity import GoldenVerdict
from course.datasets.records import GoldenCase
from course.reports.tables import table
from course.text import clipped


def confusion_text(verdicts: Sequence[GoldenVerdict]) -> str:
    """Rewards given against rewards expected, and the two error rates."""
    right = [verdict.reward == 1.0 for verdict in verdicts if verdict.case.expected_reward == 1.0]
    wrong = [verdict.reward == 1.0 for verdict in verdicts if verdict.case.expected_reward == 0.0]
    rows = [
        ("right and in the spec", right.count(True), right.count(False)),
        ("wrong or out of the spec", wrong.count(True), wrong.count(False)),
    ]
    counts = table(("golden cases that are", "reward 1.0", "reward 0.0"), rows, right=(1, 2))
    positives = _rate_line("false positives", wrong.count(True), len(wrong))
    return f"{counts}\n\n{positives}\n{_rate_line('false negatives', right.count(False), len(right))}"


def _rate_line(name: str, k: int, n: int) -> str:
    return f"{name}  {k} of {n}" if n else f"{name}: undefined, no such case"


def ablations_text(rules: Sequence[str], exploits: Sequence[GoldenCase], idle: Sequence[GoldenCase]) -> str:
    """Each rule with its exploits: how many the rubric without it rewards, all but the ``idle``, and one of them."""
    rows = []
    for rule in rules:
        attacks = [case for case in exploits if case.rule == rule]
        rewarded = sum(case not in idle for case in attacks)
        rows.append((rule, f"{rewarded} of {len(attacks)}", *(clipped(case.completion, 40) for case in attacks[:1])))
    return table(("without the rule", "exploits rewarded", "such as"), rows, right=(1,))


def verdict_text(verdict: GoldenVerdict) -> str:
    """A case that the scorer did not pass: what was expected, and what it said."""
    case = verdict.case
    return (
        f"golden case {clipped(case.id, 40)}\n"
        f"    expected    {case.expected_reward} {case.expected_outcome or '(any outcome)'}\n"
        f"    got         {verdict.reward} {verdict.outcome}\n"
        f"    completion  {clipped(case.completion, 62)}\n"
        f"    the scorer  {clipped(verdict.message, 62)}"
    )
