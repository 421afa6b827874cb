"""Machinery: what the page of two runs shows: the locked room, what differs, the flips, the interval of the difference.

No verdict: the gate gives it, for it also verifies both runs. Where the room is not locked no difference is reported.
"""

from itertools import zip_longest
from operator import attrgetter
from pathlib import Path

import msgspec

from course.artifacts.locked_room import knobs_turned, locked_room, short_value
from course.artifacts.reading import Run, open_run, read_output, rows
from course.artifacts.records import SUMMARY, Result
from course.reports.page_tables import ROWS, cut, evenly, question_text, value_text
from course.reports.tables import interval, percent
from course.stats import mcnemar_exact, paired_interval, wilson_interval
from course.text import clipped

Pair = tuple[Result, Result]
Table = dict[str, object]


def two_runs_data(baseline: Path, candidate: Path) -> dict[str, object]:
    """Everything that the view "two" reads. ``interval``: None where no difference can be reported.

    Raises UserError or Broken as ``open_run`` does, and verifies nothing.
    """
    runs = open_run(baseline), open_run(candidate)
    manifests = [run.manifest for run in runs]
    names = [clipped(run.path.name, 40) for run in runs]
    differ = _compared("What differs besides", ["what", *names], differences(*map(said_of, runs)))
    if any(manifest.loop == "C" for manifest in manifests):
        not_for_c = "One of the two at least is a run of Loop C, which the gate is not for."
        return {"said": [not_for_c], "interval": None, "flips": [], "compared": [differ]}

    conditions = locked_room(*manifests)
    n, unlike, passes, flips = flips_between(*runs)
    faults = [one.fault.removeprefix("locked room: ") for one in conditions if one.fault]
    faults += [f"{unlike:,} of the rows hold other examples"] * bool(unlike)
    turned = " and ".join(knobs_turned(conditions, *manifests)) or "nothing that is known"
    said = [f"The room is locked: all {len(conditions)} conditions are the same. Turned: {turned}."]
    if faults:
        said = [f"No difference is reported: {'; '.join(faults)}. Turned: {turned}."]
    room = [
        ("✗ NO" if one.fault else "✓ same", one.name.replace("_", " "), *map(short_value, one[1:3]))
        for one in sorted(conditions, key=lambda one: one.fault is None)
    ]
    data: dict[str, object] = {"interval": None, "flips": [_flips_data(way, each) for way, each in flips.items()]}
    compared = [_compared("The locked room", ["same?", "condition", *names], room), differ]
    if n and not faults:
        delta, (low, high) = (passes[1] - passes[0]) / n, paired_interval(len(flips["gained"]), len(flips["lost"]), n)
        said.append(_difference(delta, low, high, mcnemar_exact(len(flips["gained"]), len(flips["lost"]))))
        data["interval"] = {"value": delta, "low": low, "high": high}
        for side, name, k in zip(("baseline", "candidate"), names, passes, strict=True):
            rate = f"{percent(k / n)}, Wilson's 95 % interval {interval(wilson_interval(k, n))}"
            said.insert(-1, f"{side.capitalize()} {name}: {k:,} of {n:,} pass, {rate}.")
    return data | {"said": said, "compared": compared}


def _compared(caption: str, head: list[str], rows: object) -> Table:
    return {"caption": caption, "head": head, "rows": rows}


def said_of(run: Run) -> dict[str, str]:
    """What else is said of a run: who wrote its completions, its settings and, in Loop C, the numbers it came to."""
    manifest = run.manifest
    said = {"command": manifest.command, "policy": manifest.policy, "seed": manifest.seed, "change": manifest.change}
    said |= manifest.settings
    if manifest.loop == "C":
        said |= msgspec.json.decode(read_output(run.path, SUMMARY), type=dict[str, object])
    return {name: value_text(value) for name, value in said.items()}


def differences(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    """Name, and both values, of all that is not the same."""
    rows = [(name.replace("_", " "), before.get(name, "-"), after.get(name, "-")) for name in before | after]
    return [(clipped(name, 60), clipped(a, 60), clipped(b, 60)) for name, a, b in rows if a != b]


def flips_between(baseline: Run, candidate: Run) -> tuple[int, int, list[int], dict[str, list[Pair]]]:
    """Both runs side by side: how many examples both have, how many rows do not pair, passes of each, and the flips."""
    n, unlike, passes, question = 0, 0, [0, 0], attrgetter("id", "prompt", "expected_answer")
    flips: dict[str, list[Pair]] = {"gained": [], "lost": []}
    for before, after in zip_longest(rows(baseline), rows(candidate)):
        if before is None or after is None or question(before) != question(after):
            unlike += 1
            continue
        n, passes = n + 1, [passes[0] + (before.reward == 1), passes[1] + (after.reward == 1)]
        if before.reward != after.reward:
            flips["gained" if after.reward == 1 else "lost"].append((before, after))
    return n, unlike, passes, flips


def _difference(delta: float, low: float, high: float, p: float) -> str:
    lies = "above zero" if low > 0 else "below zero" if high < 0 else "on both sides of zero: it may be luck"
    points = f"{100 * delta:+.1f} points, 95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    return f"Difference: {points}, {lies}. Exact McNemar p = {p:.2g}."


def _flips_data(way: str, flips: list[Pair]) -> dict[str, object]:
    shown = evenly(flips, ROWS // 2)
    some = f", {len(shown):,} shown" if len(shown) < len(flips) else ""
    return {"name": f"{len(flips):,} {way}{some}", "flips": [_flip(*pair) for pair in shown]}


def _flip(before: Result, after: Result) -> dict[str, object]:
    sides = [{"outcome": row.details.outcome, "text": cut(row.completion)} for row in (before, after)]
    return {"question": f"{clipped(before.id, 60)}: {question_text(before)}", "before": sides[0], "after": sides[1]}
