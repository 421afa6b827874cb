"""Machinery: a run for a person, the README of its folder: the result first, the fingerprints last.

What a person or a policy wrote stands in indented blocks. Markdown shows those as they are and does nothing else.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatch

from msgspec.structs import asdict

from course.artifacts.locked_room import room_conditions
from course.artifacts.records import ENVIRONMENT_FILE, MANIFEST, RESULTS, SHARDED, SHARDS, Manifest, Result
from course.artifacts.run_log import LogLine
from course.reports.tables import wrapped
from course.text import clipped, visible

LOOPS = {
    "A": ("measure", "none (nothing was improved, something was measured)"),
    "B": ("choose", "selection compute (more samples, the same policy)"),
    "C": ("learn", "policy (the probabilities themselves changed)"),
}
MAIN_NUMBERS = (  # of a summary, the first of these is what the log of runs shows; a run of many trainings has none
    *("selected_accuracy", "pass_rate", "true_reward", "fresh_pass_rate", "pass_at_1_after"),
    *("expected_reward_after", "expected_return_after", "highest_verifier_reward"),
)
FILES = {  # the first pattern that a name fits
    f"{SHARDS}/": "a run of Loop A for each shard, with its results",
    "results.jsonl": "each completion that the verifier scored, with its reward and outcome",
    "summary.json": "the numbers",
    "*.meta.json": "who wrote the completions in the file of that name",
    "rollouts*.jsonl": "what a policy wrote, to be measured by Loop A",
    "selection_pack.jsonl": "what a policy wrote, several samples a prompt, for Loop B",
    "reference*.npz": "the policy before its first update",
    "*.npz": "the policy after its last update",
    "slow.jsonl": "the updates that were shown, token by token",
    "tokens.jsonl": "each text in each vocabulary",
    "begun.json": "what the command was given when the run began",
    "ablation.json": "the runs with a baseline and without one, step by step",
    "*.jsonl": "the log: each row can be checked",
    "*.txt": "the log as a story, to be annotated",
    "*.csv": "the numbers of the figure, for a spreadsheet",
    "*.png": "a figure",
    "manifest.json": "the conditions, and the digest of each file above",
    "environment.json": "clock, host, versions, git: what may differ between two equal runs",
    "*": "of this command",
}


def run_page(
    manifest: Manifest,
    line: LogLine,
    report: str,
    typed: str,
    examples: Mapping[bool, Result],
    look: int,
    knob: str | None = None,
) -> str:
    """The page in Markdown. ``line``: of the log of runs. ``report``: what the command prints. ``typed``: the command.

    ``examples``: one that passed, one that did not, where there are such. ``look``: the number of this look at the
    holdout, or 0. ``knob``: what was turned, where it is not the loop's own.
    """
    verb, turned = LOOPS[manifest.loop]
    parts = [f"# Loop {manifest.loop}, {verb}: {manifest.command}"]
    parts += [f"**{name}: {_shown(value)}**" for name, value in line.number.items()]
    parts.append(f"Knob turned: {knob or turned}")
    if look:
        parts.append(f"Holdout: this was look number {look} at it. Each look is a chance to tune on it.")
    parts += [_block(report)] if report else []
    pictures = [name for name in manifest.outputs if name.endswith(".png")]
    parts += [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in pictures]

    parts += ["## Prediction", _block(prediction(manifest.expect or "not said (--expect)", line.number))]
    facts = {"change": manifest.change or "not said (--change)"} | manifest.settings
    facts |= {"seed": manifest.seed, "policy": manifest.policy}
    facts |= {"policy trained": manifest.trained_on and asdict(manifest.trained_on)} | room_conditions(manifest)
    if manifest.loop == "C":  # the others are conditions for a comparison
        del facts["loop"], facts["missing_completions"]
    settings = {name: value for name, value in facts.items() if not name.endswith("fingerprint")}
    parts += ["## Command line and settings", _block(typed), _columns(settings)]

    if examples:
        parts.append("## The last that passed, the last that failed")
    for _, example in sorted(examples.items(), reverse=True):
        row = asdict(example)
        row["outcome"] = row.pop("details").outcome
        parts.append(_columns({name: value for name, value in row.items() if not isinstance(value, list)}))
    parts += ["## Observed", "*What was seen, in the failures too and not only in the mean?*"]
    parts += ["## Conclusion", "*Was it the model, the measurement, the data, or did we fool ourselves?*"]

    names: dict[str, list[str]] = {}
    sharded = manifest.command == SHARDED  # then the results are those of the shards
    outputs = [n for n in manifest.outputs if not (sharded and (n == RESULTS or n.startswith(f"{SHARDS}/")))]
    for name in (*([f"{SHARDS}/"] if sharded else []), *outputs, MANIFEST, ENVIRONMENT_FILE):
        names.setdefault(next(what for pattern, what in FILES.items() if fnmatch(name, pattern)), []).append(name)
    rows = [f"| {', '.join(f'[{name}]({name})' for name in of_a_kind)} | {what} |" for what, of_a_kind in names.items()]
    parts += ["## Files", "\n".join(["| file | what it is |", "|---|---|", *rows])]
    parts.append("## Fingerprints")
    if manifest.loop != "C":
        parts += ["Compare this run only with one of the same dataset and scorer, and the same settings from split on."]
    fingerprints = {name: value for name, value in facts.items() if name not in settings}
    parts.append(_columns(fingerprints | {"digest of this run": line.manifest}))
    return "\n\n".join(parts) + "\n"


def prediction(expect: str, number: Mapping[str, float | None]) -> str:
    """What was expected, beside what came of it: the main number of the run, where it has one."""
    lines = [wrapped(f"expected  {expect}")]
    if not number:
        lines.append("got       more numbers than one: compare it with the table")
    for name, value in number.items():
        off = points_off(expect, value)
        lines.append(f"got       {name} {_shown(value)}{f', {off}' if off else ''}")
    return "\n".join(lines)


def points_off(expect: str, value: float | None) -> str | None:
    """How far the value came out from a prediction such as 0.4 or 40 %; None where that is words, or no share."""
    share = share_expected(expect)
    if share is None or value is None:
        return None
    points = 100 * value - 100 * share
    return f"{abs(points):.1f} points {'above' if points > 0 else 'below'}" if abs(points) >= 0.05 else "as predicted"


def share_expected(expect: str) -> float | None:
    """The share that a prediction such as 0.4 or 40 % states; None where it is words, or no share.

    A number above 1 can only be meant in percent: every main number lies between 0 and 1.
    """
    found = re.fullmatch(r"([0-9]{1,3}(?:[.,][0-9]{0,9})?|[.,][0-9]{1,9}) ?(%?)", expect.strip())
    if not found:
        return None
    predicted = float(found[1].replace(",", "."))
    share = predicted / 100 if found[2] or predicted > 1 else predicted
    return share if share <= 1 else None


def main_number(summary: Mapping[str, float | None]) -> dict[str, float | None]:
    """The one that the log of runs shows, under its name; none of a run of many trainings."""
    return {name: summary[name] for name in [one for one in MAIN_NUMBERS if one in summary][:1]}


def _block(text: str) -> str:
    """Indented, which makes it code: whatever a line contains, Markdown shows it and does nothing else."""
    return "\n".join(f"    {visible(line)}".rstrip() for line in text.split("\n"))


def _columns(values: Mapping[str, object]) -> str:
    """A block of names and values; what is None has no line."""
    shown = {name: _shown(value) for name, value in values.items() if value is not None}
    width = 2 + max(map(len, shown))
    return _block("\n".join(f"{name:{width}}{value}" for name, value in shown.items()))


def _shown(value: object) -> str:
    """On one line, at most 400 characters of it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        parts = [f"({_shown(one)})" if isinstance(one, list | tuple) else _shown(one) for one in value]
        return ", ".join(parts) or "none"
    if isinstance(value, bool | None):
        return {None: "none", True: "yes", False: "no"}[value]
    return f"{value:.4g}" if isinstance(value, float) else clipped(str(value), 400)
