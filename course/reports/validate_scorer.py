"""What course.validate_scorer prints."""

from collections.abc import Mapping, Sequence

from course.artifacts.scorer_identity import GoldenVerdict
from course.datasets.records import GoldenCase
from course.reports.tables import interval, percent, table
from course.stats import exact_interval
from course.text import clipped


def confusion_text(verdicts: Sequence[GoldenVerdict]) -> str:
    """What was paid against what should have been, and the two rates with exact bounds."""
    should = [verdict for verdict in verdicts if verdict.case.expected_reward == 1.0]
    should_not = [verdict for verdict in verdicts if verdict.case.expected_reward == 0.0]
    missed = sum(verdict.reward != 1.0 for verdict in should)
    hacked = sum(verdict.reward != 0.0 for verdict in should_not)
    rows = [
        ("right and in the spec", len(should) - missed, missed),
        ("wrong or out of the spec", hacked, len(should_not) - hacked),
    ]
    return "\n".join(
        [
            table(("golden cases that are", "paid 1.0", "paid 0.0"), rows, right=(1, 2)),
            "",
            _rate_line("false positives", hacked, len(should_not)),
            _rate_line("false negatives", missed, len(should)),
        ]
    )


def _rate_line(name: str, k: int, n: int) -> str:
    if n == 0:
        return f"{name}: undefined, no such case"
    return f"{name}  {k} of {n}: {percent(k / n)}   (exact 95 % bounds {interval(exact_interval(k, n))})"


def ablations_text(exploits: Sequence[GoldenCase], unpaid: Mapping[str, Sequence[GoldenCase]]) -> str:
    """Each rule with its exploits: how many the rubric without it pays, and one of them."""
    rows = []
    for rule, idle in unpaid.items():
        attacks = [case for case in exploits if case.rule == rule]
        rows.append(
            (
                rule,
                f"{len(attacks) - len(idle)} of {len(attacks)}",
                clipped(attacks[0].completion, 40) if attacks else "",
            )
        )
    return table(("without the rule", "exploits paid", "such as"), rows, right=(1,))


def verdicts_text(broken: Sequence[GoldenVerdict]) -> str:
    """Cases that were not kept, each with what was expected and what the scorer said."""
    lines = []
    for verdict in broken:
        case = verdict.case
        lines += [
            f"  {clipped(case.id, 40)}",
            f"    expected    {case.expected_reward} {case.expected_outcome}",
            f"    got         {verdict.reward} {verdict.outcome}",
            f"    completion  {clipped(case.completion, 62)}",
            f"    the scorer  {clipped(verdict.message, 62)}",
        ]
    return "\n".join(lines)
