"""Machinery: what course.gate prints, for a person and for a program. The page of a verdict uses these words too."""

from collections.abc import Sequence

import msgspec

from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import short_values
from course.artifacts.records import json_for_terminal
from course.show.tables import WIDTH, interval, percent, table, wrap_sentence, wrap_text
from course.text import clipped

NOT_BY_CHANCE = 1 - 0.05 / 2  # a candidate that is no better is not promoted, at least so often: the test has two sides
FEW_TRIES = 3  # from so many runs of one room on, the gate says what many tries do
_FLIPS_LISTED = 8  # of each kind
_REASONS = 4  # besides the first
NO_DIFFERENCE = "the runs are not comparable, so no difference is shown"


def gate_json(finding: Finding) -> str:
    conditions = [
        {
            "name": condition.name,
            "baseline": condition.baseline,
            "candidate": condition.candidate,
            "holds": condition.fault is None,
        }
        for condition in finding.conditions
    ]
    return json_for_terminal(msgspec.structs.asdict(finding) | {"conditions": conditions})


def gate_text(finding: Finding, details: bool = False) -> str:
    """The report, with the verdict last. ``details``: also every condition of the room, every reason, and the power."""
    parts: list[str] = []
    if finding.conditions:
        if details:
            parts.append(room_text(finding))
        if finding.numbers:
            parts.append(numbers_text(finding.numbers, details))
            if finding.tries >= FEW_TRIES:
                parts.append(wrap_sentence(tries_sentence(finding.tries)))
        else:
            parts.append(NO_DIFFERENCE)
        *sentences, room = map(wrap_sentence, read_with(finding))
        parts.append("\n".join([*sentences, f"{room} (--details shows each)"]))
    parts.append(verdict_text(finding, details))
    return "\n\n".join(parts)


def room_text(finding: Finding) -> str:
    """Every condition of the room with both values."""
    rows = []
    for condition in finding.conditions:
        baseline, candidate = short_values(condition.baseline, condition.candidate)
        rows.append(("NO" if condition.fault else "ok", condition.name, baseline, candidate))
    return f"the locked room\n\n{table(('', 'condition', 'baseline', 'candidate'), rows)}"


def numbers_text(numbers: Numbers, details: bool) -> str:
    """Both rates, the difference with its interval, the flips, and their significance."""
    baseline, candidate = numbers.baseline_passes, numbers.candidate_passes
    rows = [
        ("baseline", baseline, numbers.n, percent(baseline / numbers.n), interval(numbers.baseline_ci95)),
        ("candidate", candidate, numbers.n, percent(candidate / numbers.n), interval(numbers.candidate_ci95)),
    ]
    low, high = (100 * bound for bound in numbers.delta_ci95)
    needed = f"no number gained on {numbers.n:,} prompts is enough"
    if numbers.net_flips_needed is not None:
        needed = f"at least {numbers.net_flips_needed:,} more gained than lost"
    lines = [
        table(("run", "passed", "of", "pass rate", "95 % interval (Wilson)"), rows, right=(1, 2, 3)),
        "",
        f"difference           {100 * numbers.delta:+.1f} points, paired 95 % interval {low:+.1f} to {high:+.1f}",
        flips_text("gained", numbers.gained),
        flips_text("lost", numbers.lost),
        f"exact McNemar p      {numbers.mcnemar_p:.4g}: how often chance alone makes flips this uneven",
        labelled("to be promoted", f"{needed}, if {len(numbers.lost):,} are lost again"),
    ]
    if details:
        visible = numbers.smallest_visible_difference
        detected = "no possible difference"
        if visible is not None:
            detected = f"a true difference of {100 * visible:.1f} points"
        flip = f"{percent(numbers.discordance)} of the prompts flip (the flips seen here and two more)"
        text = f"with {numbers.n:,} prompts, the gate detects {detected} with 80 % power, if {flip}"
        lines.append(labelled("power", text))
    return "\n".join(lines)


def flips_text(label: str, ids: Sequence[str]) -> str:
    """How many prompts flipped one way, and the first of their ids."""
    names = ", ".join(clipped(id_, 24) for id_ in ids[:_FLIPS_LISTED])
    if len(ids) > _FLIPS_LISTED:
        names += f", and {len(ids) - _FLIPS_LISTED:,} more"
    text = f"{len(ids):,}"
    if ids:
        text += f" ({names})"
    return labelled(label, text)


def labelled(label: str, text: str) -> str:
    """A line of the numbers, folded under its own text if it is long."""
    return wrap_text(text, WIDTH, " " * 21, first=f"{label:21}")


def tries_sentence(tries: int) -> str:
    """What many tries do to a test that promotes by chance at most one time in forty.

    ``tries``: runs of one room, the baseline among them. The share is exact for independent tests and an upper bound
    for candidates that share a baseline: given the baseline they are independent, and (1 - q)**k is convex in q.
    """
    candidates = tries - 1
    return (
        f"runs from this room: {tries:,}. Among {candidates:,} candidates that are no better, chance promotes at least "
        f"one in at most {percent(1 - NOT_BY_CHANCE**candidates, 0)} of cases, and in fewer where all share one "
        "baseline (docs/reference/statistics.md): report all tries, or use fresh prompts"
    )


def read_with(finding: Finding) -> list[str]:
    """The facts to read with every verdict: the knob that was turned, the notes, and last the state of the room."""
    policies = ["not known" if policy is None else policy for policy in dict.fromkeys(finding.policies)]
    sentences = [f"knob turned: {finding.knob}", f"policy: {' -> '.join(policies)}", *finding.notes]
    if finding.holdout_looks is not None:
        sentences.append(f"looks at the holdout so far: {finding.holdout_looks}")
    holding = sum(condition.fault is None for condition in finding.conditions)
    return [*sentences, f"locked room: {holding} of {len(finding.conditions)} conditions hold"]


def verdict_text(finding: Finding, details: bool) -> str:
    """The verdict and its reasons: the first few, or all with ``details``."""
    first, *others = finding.reasons
    shown = others if details else others[:_REASONS]
    lines = [wrap_sentence(f"{finding.verdict}: {first}")]
    if finding.would_decide:
        lines.append(wrap_sentence(f"needed for a decision: {finding.would_decide}"))
    lines += [wrap_sentence(f"  also: {reason}") for reason in shown]
    if len(others) > len(shown):
        lines.append(f"  and {len(others) - len(shown):,} more (--details shows each)")
    return "\n".join(lines)
