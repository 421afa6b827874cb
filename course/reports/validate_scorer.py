"""What course.validate_scorer prints."""

from collections.abc import Mapping, Sequence

from course.artifacts.scorer_identity import GoldenVerdict
from course.datasets.records import GoldenCase
from course.reports.tables import interval, percent, table
from course.stats import exact_interval
from course.text import clipped


def confusion_text(verdicts: Sequence[GoldenVerdict]) -> str:
    """Rewards given against rewards expected, and the two error rates with exact bounds."""
    right = [verdict.reward == 1.0 for verdict in verdicts if verdict.case.expected_reward == 1.0]
    wrong = [verdict.reward == 0.0 for verdict in verdicts if verdict.case.expected_reward == 0.0]
    rows = [
        ("right and in the spec", right.count(True), right.count(False)),
        ("wrong or out of the spec", wrong.count(False), wrong.count(True)),
    ]
    return "\n".join(
        [
            table(("golden cases that are", "reward 1.0", "reward 0.0"), rows, right=(1, 2)),
            "",
            _rate_line("false positives", wrong.count(False), len(wrong)),
            _rate_line("false negatives", right.count(False), len(right)),
        ]
    )


def _rate_line(name: str, k: int, n: int) -> str:
    if n == 0:
        return f"{name}: undefined, no such case"
    return f"{name}  {k} of {n}: {percent(k / n)}   (exact 95 % bounds {interval(exact_interval(k, n))})"


def ablations_text(exploits: Sequence[GoldenCase], unrewarded: Mapping[str, Sequence[GoldenCase]]) -> str:
    """Each rule with its exploits: how many the rubric without it rewards, and one of them."""
    rows = []
    for rule, idle in unrewarded.items():
        texts = [case.completion for case in exploits if case.rule == rule]
        example = clipped(texts[0], 40) if texts else ""
        rows.append((rule, f"{len(texts) - len(idle)} of {len(texts)}", example))
    return table(("without the rule", "exploits rewarded", "such as"), rows, right=(1,))


def verdicts_text(failed: Sequence[GoldenVerdict]) -> str:
    """Cases that the scorer did not pass, each with what was expected and what it said."""
    lines = []
    for verdict in failed:
        case = verdict.case
        lines += [
            f"  {clipped(case.id, 40)}",
            f"    expected    {case.expected_reward} {case.expected_outcome}",
            f"    got         {verdict.reward} {verdict.outcome}",
            f"    completion  {clipped(case.completion, 62)}",
            f"    the scorer  {clipped(verdict.message, 62)}",
        ]
    return "\n".join(lines)
