"""Machinery: what course.gate prints, for a person and for a program. Its page takes the words from here, too."""

from collections.abc import Sequence

import msgspec

from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import short_value
from course.artifacts.records import json_for_terminal
from course.show.tables import WIDTH, interval, percent, table, wrap_sentence, wrap_text
from course.text import clipped

NO_LUCK = 1 - 0.05 / 2  # how often a candidate that is no better is not promoted, at least: the test has two sides
_FLIPS_LISTED = 8  # of each kind
_REASONS = 4  # besides the first
NO_DIFFERENCE = "no difference is reported: it would not say that the candidate is better"


def gate_json(finding: Finding) -> str:
    conditions = [
        {"name": one.name, "baseline": one.baseline, "candidate": one.candidate, "holds": one.fault is None}
        for one in finding.conditions
    ]
    return json_for_terminal(msgspec.structs.asdict(finding) | {"conditions": conditions})


def gate_text(finding: Finding, details: bool = False) -> str:
    """The answer, its verdict last. ``details``: also every condition of the room, every reason, what n can show."""
    lines = []
    if details and finding.conditions:
        rows = [
            ("NO" if one.fault else "ok", one.name, short_value(one.baseline), short_value(one.candidate))
            for one in finding.conditions
        ]
        lines += ["the locked room", "", table(("", "condition", "baseline", "candidate"), rows), ""]
    if finding.numbers:
        often = tries_sentence(finding.tries)
        lines += _numbers_lines(finding.numbers, details)
        if often:
            lines += ["", wrap_sentence(often)]
        lines.append("")
    if finding.conditions:
        lines += [] if finding.numbers else [NO_DIFFERENCE, ""]
        *beside, room = map(wrap_sentence, read_with(finding))
        lines += [*beside, f"{room} (--details shows each)", ""]
    lines.append(wrap_sentence(f"{finding.verdict}: {finding.reasons[0]}"))
    also = finding.reasons[1:]
    shown = also if details else also[:_REASONS]
    lines += [wrap_sentence(f"  also: {reason}") for reason in shown]
    if len(also) > len(shown):
        lines.append(f"  and {len(also) - len(shown):,} more (--details shows each)")
    return "\n".join(lines)


def read_with(finding: Finding) -> list[str]:
    """What a verdict must not be read without: the knob that was turned, the notes, and last how locked the room is."""
    names = " -> ".join("not known" if name is None else name for name in dict.fromkeys(finding.policies))
    lines = [f"knob turned: {finding.knob}", f"policy: {names}", *finding.notes]
    if finding.holdout_looks is not None:
        lines.append(f"looks at the holdout so far: {finding.holdout_looks}")
    hold = sum(one.fault is None for one in finding.conditions)
    return [*lines, f"locked room: {hold} of {len(finding.conditions)} conditions hold"]


def _numbers_lines(numbers: Numbers, details: bool) -> list[str]:
    baseline, candidate = numbers.baseline_passes, numbers.candidate_passes
    rows = [
        ("baseline", baseline, numbers.n, percent(baseline / numbers.n), interval(numbers.baseline_ci95)),
        ("candidate", candidate, numbers.n, percent(candidate / numbers.n), interval(numbers.candidate_ci95)),
    ]
    low, high = (100 * bound for bound in numbers.delta_ci95)
    visible = numbers.smallest_visible_difference
    detected = "no difference" if visible is None else f"a true difference of {100 * visible:.1f} points"
    lines = [
        table(("run", "passed", "of", "pass rate", "95 % interval (Wilson)"), rows, right=(1, 2, 3)),
        "",
        f"difference           {100 * numbers.delta:+.1f} points, paired 95 % interval {low:+.1f} to {high:+.1f}",
        _flips("gained", numbers.gained),
        _flips("lost", numbers.lost),
        f"exact McNemar p      {numbers.mcnemar_p:.4g}: how often luck alone makes the flips this uneven",
        f"to be promoted       needs at least {numbers.net_flips_needed:,} more gained than lost (with as many lost)",
    ]
    if details:
        lines += [
            f"n = {numbers.n:,}: {detected} would be detected with 80 % power,",
            f"{'':21}if {percent(numbers.discordance)} of the prompts flip: those seen and two more",
        ]
    return lines


def tries_sentence(tries: int) -> str:
    """What asking often does to a test that is wrong one time in forty: it errs one way, and only that way promotes."""
    if tries < 3:
        return ""
    candidates = tries - 1
    return (
        f"runs from this room: {tries:,}. Of {candidates:,} candidates that are no better, at least one is promoted by "
        f"luck in up to {percent(1 - NO_LUCK**candidates, 0)} of cases: keep the others in mind, or take fresh prompts"
    )


def _flips(label: str, ids: Sequence[str]) -> str:
    names = ", ".join(clipped(id_, 24) for id_ in ids[:_FLIPS_LISTED])
    more = f", and {len(ids) - _FLIPS_LISTED:,} more" if len(ids) > _FLIPS_LISTED else ""
    text = f"{len(ids):,}{f' ({names}{more})' if ids else ''}"
    return wrap_text(text, WIDTH, " " * 21, first=f"{label:21}")
