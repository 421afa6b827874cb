"""Machinery: what the page of two runs shows: the locked room, what differs, the flips, the interval of the difference.

No verdict: the gate gives it, for it also verifies both runs. Where the room is not locked no difference is reported.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from course.artifacts.locked_room import Condition, knobs_turned, locked_room, short_value
from course.artifacts.reading import Run, open_run, read_output, rows
from course.artifacts.records import SUMMARY, Result
from course.reports.page_tables import ROWS, evenly, text_data
from course.stats import mcnemar_exact, paired_interval, wilson_interval
from course.text import clipped

Pair = tuple[Result, Result]


def two_runs_data(baseline: Path, candidate: Path) -> dict[str, object]:
    """Everything that the view "two" reads. ``numbers`` is None where no difference can be reported."""
    runs = [open_run(baseline), open_run(candidate)]
    manifests = [run.manifest for run in runs]
    measured = all(manifest.loop != "C" for manifest in manifests)
    conditions = locked_room(*manifests) if measured else []
    data: dict[str, object] = {
        "runs": [run.path.name for run in runs],
        "loops": [manifest.loop for manifest in manifests],
        "room": [_condition(one) for one in conditions],
        "turned": knobs_turned(conditions, *manifests),
        "differences": differences(*map(described, runs)),
    }
    if measured:
        data |= flips_data(*runs, locked=not any(one.fault for one in conditions))
    return data


def _condition(one: Condition) -> dict[str, object]:
    values = [short_value(value) for value in (one.baseline, one.candidate)]
    return {"name": one.name.replace("_", " "), "values": values, "holds": one.fault is None, "known": one.known}


def described(run: Run) -> dict[str, str]:
    """What else is said of a run: who wrote its completions, its settings and, in Loop C, the numbers it came to."""
    manifest = run.manifest
    said = {"command": manifest.command, "policy": manifest.policy, "seed": manifest.seed, "change": manifest.change}
    said |= {f"setting {name}": value for name, value in manifest.settings.items()}
    if manifest.loop == "C":
        said |= msgspec.json.decode(read_output(run.path, SUMMARY), type=dict[str, object])
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode() for name, value in said.items()
    }


def differences(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    pairs = [(name, before.get(name, ""), after.get(name, "")) for name in dict.fromkeys([*before, *after])]
    return [(clipped(name, 60), clipped(a, 60), clipped(b, 60)) for name, a, b in pairs if a != b]


def flips_data(baseline: Run, candidate: Run, *, locked: bool) -> dict[str, object]:
    """Both runs side by side, example by example."""
    n, unlike, passes = 0, 0, [0, 0]
    flips: dict[str, list[Pair]] = {"gained": [], "lost": []}
    for before, after in zip_longest(rows(baseline), rows(candidate)):
        if before is None or after is None or (before.id, before.prompt) != (after.id, after.prompt):
            unlike += 1
            continue
        n += 1
        passes = [passes[0] + (before.reward == 1), passes[1] + (after.reward == 1)]
        if before.reward != after.reward:
            flips["gained" if after.reward == 1 else "lost"].append((before, after))
    counts = {way: len(pairs) for way, pairs in flips.items()}
    numbers = comparison(n, passes, **counts) if n and locked and not unlike else None
    shown = {way: [_flip(*pair) for pair in evenly(pairs, ROWS // 2)] for way, pairs in flips.items()}
    return {"n": n, "unlike": unlike, "passes": passes, "counts": counts, "numbers": numbers, "flips": shown}


def comparison(n: int, passes: Sequence[int], gained: int, lost: int) -> dict[str, object]:
    """The numbers of the gate: pass rates and their difference, with 95 % intervals, and the exact p of the flips."""
    return {
        "rates": [k / n for k in passes],
        "rates_ci95": [wilson_interval(k, n) for k in passes],
        "delta": (passes[1] - passes[0]) / n,
        "delta_ci95": paired_interval(gained, lost, n),
        "mcnemar_p": mcnemar_exact(gained, lost),
    }


def _flip(before: Result, after: Result) -> dict[str, object]:
    sides = [{"outcome": row.details.outcome, **text_data(row.completion)} for row in (before, after)]
    question = {"id": before.id[:80], "prompt": before.prompt[:200], "expected": str(before.expected_answer)[:40]}
    return question | {"before": sides[0], "after": sides[1]}
