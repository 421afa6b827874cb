"""Machinery: the README of a run, for a person: the result first, the fingerprints last.

What a person or a policy wrote stands in indented blocks. Markdown shows those as they are and does nothing else.
"""

from collections.abc import Mapping
from fnmatch import fnmatch

from msgspec.structs import asdict

from course.artifacts.locked_room import room_conditions
from course.artifacts.prediction import points_off
from course.artifacts.records import ENVIRONMENT_FILE, MANIFEST, Manifest, Result
from course.artifacts.run_log import LogLine
from course.show.tables import wrap_sentence
from course.text import clipped, visible

LOOPS = {
    "A": ("measure", "none (nothing was improved, something was measured)"),
    "B": ("choose", "selection compute (more samples, the same policy)"),
    "C": ("learn", "policy (the probabilities themselves changed)"),
}
FILES = {  # the first pattern that a name fits
    "results.jsonl": "each completion that the verifier scored, with its reward and outcome",
    "summary.json": "the numbers",
    "*.meta.json": "who wrote the completions in the file of that name",
    "rollouts*.jsonl": "what a policy wrote, to be measured by Loop A",
    "selection_pack.jsonl": "what a policy wrote, several samples a prompt, for Loop B",
    "reference*.npz": "the policy before its first update",
    "*.npz": "the policy after its last update",
    "slow.jsonl": "the updates that were shown, token by token",
    "tokens.jsonl": "each text in each vocabulary",
    "ablation.json": "the runs with a baseline and without one, step by step",
    "*.jsonl": "the log: each row can be checked",
    "*.txt": "the log as a story, to be annotated",
    "*.csv": "the numbers of the figure, for a spreadsheet",
    "*.png": "a figure",
    "manifest.json": "the conditions, and the digest of each file above",
    "environment.json": "clock, host, versions, git: what may differ between two equal runs",
    "*": "of this command",
}


def run_readme(
    manifest: Manifest,
    line: LogLine,
    report: str,
    typed: str,
    examples: Mapping[bool, Result],
    look: int,
    knob: str | None = None,
) -> str:
    """The README in Markdown. ``line``: of the log of runs. ``report``: what the command prints.

    ``typed``: the command. ``examples``: one that passed, one that did not, where there are such. ``look``: the number
    of this look at the holdout, or 0. ``knob``: what was turned, where it is not the loop's own.
    """
    verb, turned = LOOPS[manifest.loop]
    parts = [f"# Loop {manifest.loop}, {verb}: {manifest.command}"]
    for name, value in line.number.items():
        parts.append(f"**{name}: {_value_text(value)}**")
    parts.append(f"Knob turned: {knob or turned}")
    if look:
        parts.append(f"Holdout: this was look number {look} at it. Each look is a chance to tune on it.")
    if report:
        parts.append(_block(report))
    pictures = [name for name in manifest.outputs if name.endswith(".png")]
    parts += [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in pictures]

    parts.append("## Prediction")
    parts.append(_block(prediction(manifest.expect or "not said (--expect)", line.number)))
    facts = facts_of(manifest)
    settings = {name: value for name, value in facts.items() if not name.endswith("fingerprint")}
    parts.append("## Command line and settings")
    parts.append(_block(typed))
    parts.append(_columns(settings))

    if examples:
        parts.append("## The last that passed, the last that failed")
    for _, example in sorted(examples.items(), reverse=True):
        row = asdict(example)
        row["outcome"] = row.pop("details").outcome
        parts.append(_columns({name: value for name, value in row.items() if not isinstance(value, list)}))
    parts.append("## Observed")
    parts.append("*What was seen, in the failures too and not only in the mean?*")
    parts.append("## Conclusion")
    parts.append("*Was it the model, the measurement, the data, or did we fool ourselves?*")

    names: dict[str, list[str]] = {}
    for name in (*manifest.outputs, MANIFEST, ENVIRONMENT_FILE):
        kind = next(what for pattern, what in FILES.items() if fnmatch(name, pattern))
        names.setdefault(kind, []).append(name)
    table = ["| file | what it is |", "|---|---|"]
    for what, of_a_kind in names.items():
        links = ", ".join(f"[{name}]({name})" for name in of_a_kind)
        table.append(f"| {links} | {what} |")
    parts.append("## Files")
    parts.append("\n".join(table))
    parts.append("## Fingerprints")
    if manifest.loop != "C":
        same = "the same dataset and scorer, and the same settings from split on"
        parts.append(f"Compare this run only with one of {same}.")
    fingerprints = {name: value for name, value in facts.items() if name not in settings}
    parts.append(_columns(fingerprints | {"digest of this run": line.manifest}))
    return "\n\n".join(parts) + "\n"


def facts_of(manifest: Manifest) -> dict[str, object]:
    """What was changed, set and drawn, and the conditions of the room; of Loop C those that it has."""
    facts: dict[str, object] = {"change": manifest.change or "not said (--change)"}
    facts |= manifest.settings
    facts["seed"] = manifest.seed
    facts["policy"] = manifest.policy
    facts["policy trained"] = manifest.trained_on and asdict(manifest.trained_on)
    facts |= room_conditions(manifest)
    if manifest.loop == "C":  # the others are conditions for a comparison
        del facts["loop"]
        del facts["missing_completions"]
    return facts


def prediction(expect: str, number: Mapping[str, float | None]) -> str:
    """What was expected, beside what came of it: the main number of the run, where it has one."""
    lines = [wrap_sentence(f"expected  {expect}")]
    if not number:
        lines.append("got       more numbers than one: compare it with the table")
    for name, value in number.items():
        line = f"got       {name} {_value_text(value)}"
        off = points_off(expect, value)
        lines.append(f"{line}, {off}" if off else line)
    return "\n".join(lines)


def _block(text: str) -> str:
    """Indented, which makes it code: whatever a line contains, Markdown shows it and does nothing else."""
    return "\n".join(f"    {visible(line)}".rstrip() for line in text.split("\n"))


def _columns(values: Mapping[str, object]) -> str:
    """A block of names and values; what is None has no line."""
    shown = {name: _value_text(value) for name, value in values.items() if value is not None}
    width = 2 + max(map(len, shown))
    return _block("\n".join(f"{name:{width}}{value}" for name, value in shown.items()))


def _value_text(value: object) -> str:
    """On one line, at most 400 characters of it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value_text(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        parts = []
        for part in value:
            text = _value_text(part)
            parts.append(f"({text})" if isinstance(part, list | tuple) else text)
        return ", ".join(parts) or "none"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return clipped(str(value), 400)
