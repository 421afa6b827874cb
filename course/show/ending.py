"""Machinery: how every run ends: manifest, README, a line in the log of runs, and the report once all is on disk.

Every command that leaves a run ends here, so one place decides what a run holds. The README is for a person: the
result comes first, the fingerprints last. Text of a person or a policy stands in indented blocks, which Markdown shows
as they are.
"""

import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from course.artifacts import run_log
from course.artifacts.conditions import Conditions, holdouts_measured, manifest_of
from course.artifacts.locked_room import room_conditions, room_digest
from course.artifacts.prediction import main_number, score_prediction
from course.artifacts.records import (
    BLANKS,
    ENVIRONMENT_FILE,
    MANIFEST,
    RESULTS,
    SUMMARY,
    Manifest,
    Result,
    json_for_terminal,
    rubric_of,
)
from course.artifacts.run_log import LogLine, log_lock, looks, read_log
from course.artifacts.writing import RunWriter
from course.errors import written_runs
from course.show.terminal import command_line, show
from course.text import clipped, shell_word, visible, visible_path

RUN = Path("{run}")  # in a next command: the run's folder
INSPECT = ("course.inspect_run", "--run", RUN, "--only-fails", "--top-k", "5")  # the next command after Loops A and B
LOOPS = {
    "A": ("measure", "none (Loop A measures and improves nothing)"),
    "B": ("choose", "selection compute (more samples, the same policy)"),
    "C": ("learn", "policy (the probabilities themselves changed)"),
}
FILES = {  # pattern -> what a file is; the first pattern that fits counts
    "results.jsonl": "each completion that the verifier scored, with its reward and outcome",
    "summary.json": "the numbers",
    "*.meta.json": "which policy wrote the completions in the .jsonl file of the same name",
    "rollouts*.jsonl": "completions of a policy, for Loop A to measure",
    "selection_pack.jsonl": "completions of a policy, several of each prompt, for Loop B to choose from",
    "reference*.npz": "the policy before its first update",
    "*.npz": "the policy after its last update",
    "slow.jsonl": "the updates shown by --slow, token by token",
    "tokens.jsonl": "the tokens of each text in each vocabulary",
    "ablation.json": "the runs with and without a baseline, step by step",
    "*.jsonl": "the log: each row can be checked",
    "*.txt": "the log as a story, for you to annotate",
    "*.csv": "the numbers of the figure, for a spreadsheet",
    "*.png": "a figure",
    "manifest.json": "the conditions, and the digest of each file above",
    "environment.json": "clock, host, versions, git: facts that may differ between two equal runs",
    "*": "a file of this command",
}
_QUESTIONS = (
    "What did you see, in the failures as well as in the mean?",
    "Why? Was it the model, the verifier, the spec or the data? Or did you fool yourself?",
)
_QUESTIONS_OF = {  # command -> what its README asks under BLANKS, where it asks something of its own
    "course.selection_demo": (
        "Three numbers: the first sample, pass@N, the selected. Which of them depend on the rule that chooses? Name "
        "two or three prompts on which no choice helps. What would help there? (A step of a level may ask "
        "something else of this run: python3 -m check.)",
        "What changed, the policy or the number of samples? Is that selection or learning?",
    ),
    "course.bandit_train": (
        "Ten steps of the log in a row in which something moves: which arm, which advantage, reinforced or "
        "suppressed? Then in five to eight lines: what rose, what stayed noisy, and why? (A step of a level may ask "
        "something else of this run: python3 -m check.)",
        "A text of many tokens gets one reward. How does that change the probability of one of its tokens?",
    ),
    "course.toy_mdp": (
        "In five to eight lines: the reward comes at the end of a text. Which of its tokens does it praise or blame, "
        "and which of them deserved that?",
        "What does the return add up here, and what is the horizon? Draw the prompt, the tokens and the reward: "
        "letters and arrows will do.",
    ),
}


def end_run(
    run: RunWriter,
    conditions: Conditions,
    summary: dict[str, Any],
    report: str,
    *,
    read: Sequence[str] = (),
    next_command: Sequence[str | Path] = (),
    shown: Sequence[str] = (),
    as_json: bool = False,
) -> Path:
    """Write the manifest, publish the run, and only then show ``report`` and where the run is. Returns the place.

    ``summary``: the content of summary.json. ``report``: also stands in the run's README, after the text ``shown``
    already. ``read``: names of files to look at. ``next_command``: the words to type next after ``python3 -m``, with
    ``RUN`` for the run's folder. ``as_json``: instead print place, digest, summary and manifest as one JSON object.
    """
    if RESULTS not in run.outputs:
        raise ValueError(f"every run has {RESULTS}: {conditions.command} wrote none")
    run.write_json(SUMMARY, summary)
    manifest = manifest_of(conditions, run.outputs)
    digest = run.write_manifest(manifest)
    holdouts = holdouts_measured(conditions)
    line = LogLine(
        run="",
        manifest=digest,
        loop=conditions.loop,
        command=conditions.command,
        change=manifest.change,
        expect=manifest.expect,
        number=main_number(summary),
        room=room_digest(manifest) if conditions.loop != "C" and rubric_of(manifest) is None else None,
        holdouts=holdouts,
    )
    with log_lock(run_log.LOG) as log:
        before = read_log(run_log.LOG)
        look = max([looks(before, holdout) + 1 for holdout in holdouts], default=0)
        typed = command_line([conditions.command, *(shlex.quote(visible(word)) for word in conditions.typed)])
        report_whole = "\n".join([*shown, report]).strip("\n")
        readme = run_readme(manifest, line, report_whole, typed, run.examples, look, conditions.knob)
        path = run.publish(log, line, readme)
    written_runs.append(path)

    if as_json:
        facts = {
            "run": str(path),
            "digest": digest,
            "summary": summary,
            "manifest": manifest,
            "prediction": score_prediction(line.expect, line.number)._asdict(),
            "holdout_look": look,
        }
        print(json_for_terminal(facts))
        return path
    show(f"{report}\n" if report else "")
    if line.expect:
        show(f"{prediction_text(line.expect, line.number)}\n")
    if look:
        show(f"holdout: look number {look} at these prompts; each look is a chance to tune on them")
    print(f"run: {visible_path(path)}")
    print(f"digest: {digest}")
    if read:
        print(f"read: {', '.join([visible_path(path / read[0]), *read[1:]])}")
    if next_command:
        print(f"next: {command_line([word_of(word, path) for word in next_command])}")
    print(f"page: {command_line(['course.report', shell_word(path)])}")
    return path


def word_of(word: str | Path, run: Path) -> str:
    """A word of a command line, ready to paste; ``RUN`` at the start of a path stands for the run's folder."""
    if isinstance(word, str):
        return word
    if word.is_relative_to(RUN):
        word = run / word.relative_to(RUN)
    return shell_word(word)


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

    ``typed``: the command. ``examples``: a row that passed and a row that failed, if there are such. ``look``: the
    number of this look at the holdout, or 0. ``knob``: the knob that was turned, if it is not the loop's own.
    """
    verb, turned = LOOPS[manifest.loop]
    parts = [f"# Loop {manifest.loop}, {verb}: {manifest.command}"]
    for name, value in line.number.items():
        parts.append(f"**{name}: {_value_text(value)}**")
    parts.append(f"Knob turned: {knob or turned}")
    if look:
        parts.append(f"Holdout: look number {look} at these prompts. Each look is a chance to tune on them.")
    if report:
        parts.append(_block(report))
    pictures = [name for name in manifest.outputs if name.endswith(".png")]
    parts += [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in pictures]

    parts.append("## Prediction")
    parts.append(_block(prediction_text(manifest.expect or "nothing was predicted (--expect)", line.number)))
    facts = facts_of(manifest)
    settings = {name: value for name, value in facts.items() if not name.endswith("fingerprint")}
    parts.append("## Command line and settings")
    parts.append(_block(typed))
    parts.append(_columns(settings))

    if examples:
        parts.append("## The last completion that passed, and the last that failed")
    for _, example in sorted(examples.items(), reverse=True):
        row = asdict(example)
        row["outcome"] = row.pop("details").outcome
        parts.append(_columns({name: value for name, value in row.items() if not isinstance(value, list)}))
    for blank, question in zip(BLANKS, _QUESTIONS_OF.get(manifest.command, _QUESTIONS), strict=True):
        parts += [f"## {blank}", f"> {question}"]

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
        same = "the same dataset, the same scorer, and the same settings from `split` down"
        parts.append(f"Compare this run only with a run that has {same}.")
    fingerprints = {name: value for name, value in facts.items() if name not in settings}
    parts.append(_columns(fingerprints | {"digest of this run": line.manifest}))
    return "\n\n".join(parts) + "\n"


def facts_of(manifest: Manifest) -> dict[str, object]:
    """The change, the settings, the seed, and the conditions of the room; of Loop C those that it has."""
    facts: dict[str, object] = {"change": manifest.change or "none was named (--change)"}
    facts |= manifest.settings
    facts["seed"] = manifest.seed
    facts["policy"] = manifest.policy
    facts["policy trained"] = manifest.trained_on and asdict(manifest.trained_on)
    facts |= room_conditions(manifest)
    if manifest.loop == "C":  # these two only matter for a comparison
        del facts["loop"]
        del facts["missing_completions"]
    return facts


def prediction_text(expect: str, number: Mapping[str, float | None]) -> str:
    """The prediction beside the main number of the run, if the run has one."""
    prediction = score_prediction(expect, number)
    lines = [f"expected  {expect}{f' ({prediction.reading})' if prediction.reading else ''}"]
    if not number:
        lines.append("result    more than one number: compare your prediction with the table")
    for name, value in number.items():
        result = f"{name} {_value_text(value)}"
        lines.append(f"got       {result}, {prediction.off}" if prediction.off else f"result    {result}")
    return "\n".join(lines)


def _block(text: str) -> str:
    """The text indented, which makes it code: Markdown shows every line as it is."""
    return "\n".join(f"    {visible(line)}".rstrip() for line in text.split("\n"))


def _columns(values: Mapping[str, object]) -> str:
    """A block of names and values; a value of None has no line."""
    shown = {name: _value_text(value) for name, value in values.items() if value is not None}
    width = 2 + max(map(len, shown))
    return _block("\n".join(f"{name:{width}}{value}" for name, value in shown.items()))


def _value_text(value: object) -> str:
    """The value on one line, at most 400 characters of it."""
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
