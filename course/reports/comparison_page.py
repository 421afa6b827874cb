"""Machinery: what the page of two runs shows: what the gate says, the locked room, what differs, the flips both ways.

Every number is the gate's. Where the gate reports none, the page shows no difference either: no interval, no flips.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from course.artifacts.locked_room import short_value
from course.artifacts.reading import Broken, Run, open_run, read_output, rows
from course.artifacts.records import SUMMARY, Result
from course.errors import UserError
from course.reports.gate import NO_DIFFERENCE, Finding, Numbers, read_with, tries_sentence
from course.reports.page_tables import MOST_BYTES, ROWS, TEXT, cut, evenly, fitting, question_text, value_text
from course.reports.tables import interval, percent
from course.text import clipped, visible


def two_runs_data(paths: Sequence[Path], finding: Finding | None, asked: float | str) -> dict[str, object]:
    """Everything that the view "two" reads of a baseline and a candidate. ``finding``: the gate's; None of Loop C.

    ``asked``: the gate's --min-delta, or the command that would ask. Raises UserError or Broken as ``open_run`` does.
    """
    said = verdict_said(finding, asked) if finding else ["the gate does not judge runs of Loop C"]
    data: dict[str, object] = {"interval": None, "flips": []}
    tables, names = list[dict[str, object]](), [clipped(path.resolve().name, 40) for path in paths]
    if finding and finding.conditions:
        rows_of_room = [
            ("✗ NO" if one.fault else "✓ same", one.name.replace("_", " "), *map(short_value, one[1:3]))
            for one in sorted(finding.conditions, key=lambda one: one.fault is None)
        ]
        tables.append({"caption": "The locked room", "head": ["same?", "condition", *names], "rows": rows_of_room})
        said += [". ".join(map(capital, read_with(finding))), *(numbers_said(finding, names) or [NO_DIFFERENCE])]
    if not finding or finding.conditions:  # else a run is broken
        runs = [open_run(path) for path in paths]
        differ = differences(*map(said_of, runs))
        tables.append(
            {"caption": "What differs besides", "head": ["what", *names], "rows": differ or [("nothing", "", "")]}
        )
    if finding and (numbers := finding.numbers):
        low, high = numbers.delta_ci95
        data = {"interval": {"value": numbers.delta, "low": low, "high": high}, "flips": flips_data(runs, numbers)}
    return data | {"said": [f"{visible(capital(one))}." for one in said], "compared": tables}


def verdict_said(finding: Finding, asked: float | str) -> list[str]:
    """The verdict and its reasons; where the gate was not asked, those that would be the same with any --min-delta."""
    verdict, also = f"{finding.verdict}: {finding.reasons[0]}", [f"also: {reason}" for reason in finding.reasons[1:]]
    if not isinstance(asked, str):
        return [verdict, f"the smallest improvement worth having was said to be {asked:g} (--min-delta)", *also]
    unasked = ["the gate has not been asked for a verdict", f"type {asked} to ask for a rise of at least 0.02"]
    return unasked if finding.numbers else [*unasked, f"with any --min-delta it would be {verdict}", *also]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def said_of(run: Run) -> dict[str, str]:
    """What else is said of a run, and in Loop C its numbers: UserError, which names the run, where these are broken."""
    manifest = run.manifest
    said = {"command": manifest.command, "policy": manifest.policy, "seed": manifest.seed, "change": manifest.change}
    said |= manifest.settings
    if manifest.loop == "C":
        try:
            said |= msgspec.json.decode(read_output(run.path, SUMMARY), type=dict[str, object])
        except (Broken, ValueError, RecursionError) as error:
            raise UserError(f"{run.path}: expected a whole run, got a broken one: {error}") from None
    return {name: value_text(value) for name, value in said.items()}


def differences(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    """Name, and both values, of all that is not the same."""
    rows = [(name.replace("_", " "), before.get(name, "-"), after.get(name, "-")) for name in before | after]
    return [(clipped(name, 60), clipped(a, 60), clipped(b, 60)) for name, a, b in rows if a != b]


def numbers_said(finding: Finding, names: Sequence[str]) -> list[str]:
    """Both pass rates, what so many tries do to the test, and last the difference; nothing where there is none."""
    if not (numbers := finding.numbers):
        return []
    said, (low, high) = list[str](), (100 * bound for bound in numbers.delta_ci95)
    rates = (numbers.baseline_passes, numbers.baseline_ci95), (numbers.candidate_passes, numbers.candidate_ci95)
    for side, name, (k, bounds) in zip(("baseline", "candidate"), names, rates, strict=True):
        rate = f"{percent(k / numbers.n)}, Wilson's 95 % interval {interval(bounds)}"
        said.append(f"{side} {name}: {k:,} of {numbers.n:,} pass, {rate}")
    lies = "above zero" if low > 0 else "below zero" if high < 0 else "on both sides of zero: it may be luck"
    points = f"{100 * numbers.delta:+.1f} points, paired 95 % interval {low:+.1f} to {high:+.1f}"
    said += filter(None, [tries_sentence(finding.tries)])
    return [*said, f"difference: {points}, {lies}. Exact McNemar p = {numbers.mcnemar_p:.4g}"]


def flips_data(runs: Sequence[Run], numbers: Numbers) -> list[dict[str, object]]:
    """The gate's flips of each way, an even part of them where there are many."""
    flipped, found = {*numbers.gained, *numbers.lost}, list[dict[str, object]]()
    flips = {pair[0].id: pair for pair in zip(*map(rows, runs), strict=True) if pair[0].id in flipped}
    for way, ids in (("gained", numbers.gained), ("lost", numbers.lost)):
        shown, _ = fitting([flips[id_] for id_ in evenly(ids, ROWS // 2)], _flip, TEXT, MOST_BYTES // 2)
        some = f", {len(shown):,} shown" if len(shown) < len(ids) else ""
        found.append({"name": f"{len(ids):,} {way}{some}", "flips": shown})
    return found


def _flip(pair: tuple[Result, Result], longest: int) -> dict[str, object]:
    sides = [{"outcome": row.details.outcome, "text": cut(row.completion, longest)} for row in pair]
    return {"question": f"{clipped(pair[0].id, 60)}: {question_text(pair[0])}", "before": sides[0], "after": sides[1]}
