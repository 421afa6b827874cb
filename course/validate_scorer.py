"""Machinery: does the scorer pass its golden sets, and does each of its rules matter? Ask before trusting a number.

    python3 -m course.validate_scorer
    python3 -m course.validate_scorer --golden my_cases.jsonl

A wrong completion that is rewarded is a false positive: a hole to hack. A right completion that is not rewarded is a
false negative. Both are counted; the cases were chosen, not sampled, so there is no interval. Then each rule of the
spec is left out once: an exploit must get 0.0 from the scorer, and 1.0 from the rubric that lacks only the rule that
the exploit attacks. Last, a scorer with a released version must have the fingerprint of that release.
"""

from collections.abc import Sequence
from pathlib import Path

from course.artifacts.scorer_identity import (
    GOLDEN_CORRECT,
    GOLDEN_EXPLOITS,
    GoldenVerdict,
    check_golden,
    fault_of_release,
    scorer_identity,
)
from course.command import Parser, run_command
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of
from course.rubrics.ablations import RULES, without
from course.show.measurement import verdict_text
from course.show.tables import table
from course.show.terminal import show
from course.text import clipped


def is_rewarded_without_its_rule(case: GoldenCase) -> bool:
    return case.rule in RULES and without(case.rule)(task_of(case), case.completion)["reward"] == 1.0


def confusion_text(verdicts: Sequence[GoldenVerdict]) -> str:
    """Rewards given against rewards expected, and the two error rates."""
    right = [verdict.reward == 1.0 for verdict in verdicts if verdict.case.expected_reward == 1.0]
    wrong = [verdict.reward == 1.0 for verdict in verdicts if verdict.case.expected_reward == 0.0]
    rows = [
        ("right and in the spec", right.count(True), right.count(False)),
        ("wrong or outside the spec", wrong.count(True), wrong.count(False)),
    ]
    counts = table(("golden cases that are", "reward 1.0", "reward 0.0"), rows, right=(1, 2))
    positives = _rate_line("false positives", wrong.count(True), len(wrong))
    return f"{counts}\n\n{positives}\n{_rate_line('false negatives', right.count(False), len(right))}"


def _rate_line(name: str, k: int, n: int) -> str:
    return f"{name}  {k} of {n}" if n else f"{name}: undefined, no such case"


def ablations_text(rules: Sequence[str], exploits: Sequence[GoldenCase], idle: Sequence[GoldenCase]) -> str:
    """Each rule: how many of its exploits the rubric without it rewards (all but the ``idle``), and an example."""
    rows = []
    for rule in rules:
        attacks = [case for case in exploits if case.rule == rule]
        rewarded = sum(case not in idle for case in attacks)
        example = clipped(attacks[0].completion, 40) if attacks else ""
        rows.append((rule, f"{rewarded} of {len(attacks)}", example))
    return table(("without the rule", "exploits rewarded", "such as"), rows, right=(1,))


def main() -> int:
    parser = Parser(
        "course.validate_scorer", "Check the scorer on its golden sets, then leave out each of its rules once."
    )
    help_ = "also check these files of your own golden cases"
    parser.add_argument("--golden", type=Path, nargs="+", default=[], metavar="FILE", help=help_)
    args = parser.parse_args()

    sets = {path: list(read_records(path, GoldenCase)) for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS, *args.golden)}
    verdicts = check_golden(case for cases in sets.values() for case in cases)
    exploits = sets[GOLDEN_EXPLOITS]
    idle = [case for case in exploits if not is_rewarded_without_its_rule(case)]
    unattacked = set(RULES) - {case.rule for case in exploits}

    scorer = scorer_identity()
    show(f"{scorer.scorer_name} {scorer.scorer_version}   fingerprint {scorer.scorer_fingerprint[:16]}…\n")
    show(f"{ablations_text(RULES, exploits, idle)}\n\n{confusion_text(verdicts)}\n")
    failures = [
        *(verdict_text(verdict) for verdict in verdicts if not verdict.passed),
        *(f"{case.id} attacks {case.rule}, but the rubric without that rule does not reward it" for case in idle),
        *(f"no golden exploit attacks the rule {rule}" for rule in sorted(unattacked)),
    ]
    if fault := fault_of_release():
        failures.append(fault)
    for failure in failures:
        show(f"FAILED: {failure}")
    if not failures:
        show("golden sets passed, and every rule of the spec matters")
    return 1 if failures else 0


if __name__ == "__main__":
    run_command(main)
