"""Machinery: a run for a person, the README of its folder, with blanks for what only the person knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.locked_room import room_conditions
from course.artifacts.records import Manifest, Result
from course.reports.tables import interval, percent
from course.text import clipped, visible

LOOPS = {
    "A": ("measure", "none (nothing was improved, something was measured)"),
    "B": ("choose", "selection compute (more samples, the same policy)"),
    "C": ("learn", "policy (the probabilities themselves changed)"),
}


def run_page(
    manifest: Manifest,
    numbers: Mapping[str, Any],
    examples: Sequence[Result],
    look: int,
    digest: str,
    knob: str | None = None,
) -> str:
    """The page in Markdown. ``numbers``: the summary. ``look``: the number of this look at the holdout, or 0.

    ``digest``: of the manifest. ``knob``: what was turned, where it is not the loop's own.
    """
    verb, turned = LOOPS[manifest.loop]
    lines = [f"# Loop {manifest.loop}: {verb}", "", f"- Knob turned: {knob or turned}"]
    if "passes" in numbers:
        passes = f"{numbers['passes']} of {numbers['n']} passed: {percent(numbers['pass_rate'])}"
        lines.append(f"- Result: {passes}, 95 % interval {interval(numbers['pass_rate_ci95'])}")
    if look:
        lines.append(f"- Holdout: this was look number {look} at it. Each look is a chance to tune on it.")
    lines.append(f"- Digest of this run, as the log of runs has it: {digest}")
    said = {
        "the one change": manifest.change or "not said (--change)",
        "expected of it": manifest.expect or "not said (--expect)",
        "policy": manifest.policy,
    }
    lines += ["", "## Change, prediction, policy", "", *_block(said)]
    if manifest.loop != "C":
        room = room_conditions(manifest)
        lines += ["", "## The locked room", "", "Compare this run only with one that has the same.", "", *_block(room)]
    lines += ["", "## The numbers", ""]
    shown = {name: value for name, value in numbers.items() if value is not None or not name.endswith("_reason")}
    lines += [f"    {name:24}{_number(value)}" for name, value in shown.items()]
    if examples:
        lines += ["", "## Examples"]
    for example in examples:
        lines += [
            "",
            f"    id          {clipped(example.id, 100)}",
            f"    prompt      {clipped(example.prompt, 200)}",
            f"    completion  {'(none)' if example.completion is None else clipped(example.completion, 200)}",
            f"    outcome     {example.details.outcome}",
        ]
    lines += ["", "## Yours to fill in", ""]
    for question in ("Observed", "Conclusion (model, measurement, data, or did we fool ourselves?)"):
        lines += [f"{question}:", "", "    ", ""]
    return "\n".join(lines)


def _block(values: Mapping[str, str | None]) -> list[str]:
    """Indented, which makes it code: whatever a value contains, Markdown shows it and does nothing else."""
    return [f"    {name:22}{visible(value)}" for name, value in values.items() if value is not None]


def _number(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_number(part)}" for key, part in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_number(part) for part in value)
    return f"{value:.4g}" if isinstance(value, float) else "undefined" if value is None else visible(str(value))
