"""What is done to a run: files rewritten and, where a forger knows the lab, everything that is counted made to fit.

Every edit gets the folder of a run, whose neighbour is the other run. None adds a line to the log.
"""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import lines_of

from course.artifacts.records import MANIFEST, RESULT_TYPES, RESULTS, SUMMARY, Selection, indent_json
from course.artifacts.summary import choice_of, summary_of
from course.score import measure

Edit = Callable[[Path], object]


def manifest_of(run: Path) -> Any:
    return json.loads((run / MANIFEST).read_bytes())


def other(run: Path) -> Path:
    """The run beside this one."""
    return run.with_name("baseline" if run.name == "candidate" else "candidate")


def seal(run: Path) -> None:
    """Take the digests of all outputs again."""
    manifest = manifest_of(run)
    manifest["outputs"] = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in manifest["outputs"]}
    (run / MANIFEST).write_bytes(indent_json(manifest))


def fit(run: Path) -> None:
    """Make summary, fingerprints of the examples and digests those of the rows as they are now."""
    manifest = manifest_of(run)
    rows = msgspec.json.Decoder(RESULT_TYPES[manifest["loop"]]).decode_lines((run / RESULTS).read_bytes())
    outcomes = Counter(row.details.outcome for row in rows)
    choices = Counter(choice_of(row) for row in rows if isinstance(row, Selection))
    (run / SUMMARY).write_bytes(indent_json(summary_of(outcomes, choices)))
    encode = msgspec.json.Encoder().encode_lines
    prompts = encode([(row.id, row.prompt) for row in rows])
    examples = encode([(row.id, row.prompt, row.expected_answer) for row in rows])
    manifest["prompts_fingerprint"] = hashlib.sha256(prompts).hexdigest()
    manifest["examples_fingerprint"] = hashlib.sha256(examples).hexdigest()
    (run / MANIFEST).write_bytes(indent_json(manifest))
    seal(run)


def in_turn(*edits: Edit) -> Edit:
    return lambda run: [edit(run) for edit in edits]


# ---- The manifest


def fields(**changes: object) -> Edit:
    """Fields of the manifest set to these values."""
    return lambda run: (run / MANIFEST).write_bytes(indent_json(manifest_of(run) | changes))


def field(name: str, **changes: object) -> Edit:
    """The same of an object in the manifest."""
    return lambda run: fields(**{name: manifest_of(run)[name] | changes})(run)


def as_other(*names: str) -> Edit:
    """Fields of the manifest set to those of the run beside."""
    return lambda run: fields(**{name: manifest_of(other(run))[name] for name in names})(run)


def output_left_out(name: str) -> Edit:
    def edit(run: Path) -> None:
        outputs = manifest_of(run)["outputs"]
        del outputs[name]
        fields(outputs=outputs)(run)

    return edit


def sort_keys(run: Path) -> None:
    (run / MANIFEST).write_bytes(json.dumps(manifest_of(run), indent=2, sort_keys=True).encode() + b"\n")


def make_older(run: Path) -> None:
    """The manifest as the lab wrote it before schema 3."""
    manifest = manifest_of(run) | {"schema_version": 2}
    for name in ("examples_fingerprint", "trained_on", "expect"):
        del manifest[name]
    (run / MANIFEST).write_bytes(indent_json(manifest))


# ---- Rows and summary


def all_rows(change: Callable[[list[Any]], object], then: Edit = fit) -> Edit:
    """``change`` gets all rows and alters them."""

    def edit(run: Path) -> None:
        rows = lines_of(run / RESULTS)
        change(rows)
        (run / RESULTS).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        then(run)

    return edit


def each_row(change: Callable[[Any], object], then: Edit = fit) -> Edit:
    def change_each(rows: list[Any]) -> None:
        for row in rows:
            change(row)

    return all_rows(change_each, then)


def summary(**changes: object) -> Edit:
    def edit(run: Path) -> None:
        (run / SUMMARY).write_bytes(indent_json(json.loads((run / SUMMARY).read_bytes()) | changes))
        seal(run)

    return edit


def answer_right(row: Any) -> None:
    """The completion made right, and the row what the scorer says of it."""
    row["completion"] = f"Final: {row['expected_answer']}"
    score_again(row)


def score_again(row: Any) -> None:
    row["reward"], outcome, parsed = measure(row["expected_answer"], row["completion"])
    row["details"] = {"outcome": outcome, "parsed_answer": parsed}


def pay(row: Any) -> None:
    """Reward and outcome made those of a right completion, and the completion left."""
    row.update(reward=1.0, details={"outcome": "ok", "parsed_answer": str(row["expected_answer"])})


def fit_answer(row: Any) -> None:
    """The expected answer made the one that was given."""
    row["expected_answer"] = int(row["completion"].removeprefix("Final: "))
    score_again(row)


def choose_last(row: Any) -> None:
    """The last sample of a choice, which is right, taken instead."""
    row["chosen"] = 3
    answer_right(row)


def choose_last_from_the_end(row: Any) -> None:
    choose_last(row)
    row["chosen"] = -1


def drop_other_samples(row: Any) -> None:
    """A choice of four made to look like a choice of one."""
    row.update(samples=[row["completion"]], rewards=[row["reward"]], chosen=0)


def set_other_samples_aside(row: Any) -> None:
    """The same, and the three that were not chosen put where nobody chose from."""
    places = [place for place in range(len(row["samples"])) if place != row["chosen"]]
    row["others"] = [row["samples"][place] for place in places]
    row["other_rewards"] = [row["rewards"][place] for place in places]
    drop_other_samples(row)


def drop_choice(row: Any) -> None:
    """A choice made to look like a row of Loop A."""
    for name in ("samples", "rewards", "chosen", "others", "other_rewards"):
        del row[name]


def ask_as_other(run: Path) -> None:
    """The questions of the run beside put over this one's completions, and all fingerprints with them."""
    theirs = lines_of(other(run) / RESULTS)

    def ask(rows: list[Any]) -> None:
        for row, them in zip(rows, theirs, strict=True):
            row.update({key: them[key] for key in ("id", "prompt", "expected_answer")})
            score_again(row)

    all_rows(ask)(run)
    as_other("dataset_fingerprint")(run)


# ---- Files


def replace_bytes(name: str, old: bytes, new: bytes, count: int = -1, then: Edit | None = None) -> Edit:
    def edit(run: Path) -> None:
        data = (run / name).read_bytes()
        assert old in data, old
        (run / name).write_bytes(data.replace(old, new, count))
        if then:
            then(run)

    return edit


def add_bytes(name: str, end: bytes, then: Edit | None = None) -> Edit:
    def edit(run: Path) -> None:
        (run / name).write_bytes((run / name).read_bytes() + end)
        if then:
            then(run)

    return edit


def remove_file(name: str) -> Edit:
    return lambda run: (run / name).unlink()


def take_from_other(name: str) -> Edit:
    return lambda run: shutil.copyfile(other(run) / name, run / name)


def exchange_rows(run: Path) -> None:
    """Results and summaries of the two runs exchanged, and both sealed anew."""
    for name in (RESULTS, SUMMARY):
        mine, theirs = (run / name).read_bytes(), (other(run) / name).read_bytes()
        (run / name).write_bytes(theirs)
        (other(run) / name).write_bytes(mine)
    seal(run)
    seal(other(run))


def posix_only() -> None:
    if os.name == "nt":
        pytest.skip("needs links or pipes")


def link_to_other(name: str) -> Edit:
    def edit(run: Path) -> None:
        posix_only()
        (run / name).unlink()
        (run / name).symlink_to(other(run) / name)

    return edit


def link_to_zeros(name: str) -> Edit:
    """A file that never ends."""

    def edit(run: Path) -> None:
        posix_only()
        (run / name).unlink()
        (run / name).symlink_to("/dev/zero")

    return edit


def pipe(name: str) -> Edit:
    """A file that never begins."""

    def edit(run: Path) -> None:
        posix_only()
        (run / name).unlink()
        os.mkfifo(run / name)

    return edit


# ---- The folder, and what an honest person does to a run


def remove_run(run: Path) -> None:
    shutil.rmtree(run)


def move_run(run: Path) -> None:
    kept = run.parent / "kept"
    kept.mkdir(exist_ok=True)
    run.rename(kept / run.name)


def copy_run(run: Path) -> None:
    shutil.copytree(run, run.with_name("copy"))


def link_run(run: Path) -> None:
    posix_only()
    run.with_name("link").symlink_to(run, target_is_directory=True)


def write_on_page(run: Path) -> None:
    """What a student does to a run: README.md is theirs, and environment.json is evidence of nothing."""
    with (run / "README.md").open("a", encoding="utf-8") as file:
        file.write("\nI think it is the shorter prompt.\n")
    (run / "environment.json").unlink()


def take_last_newline_of_the_log(run: Path) -> None:
    log = run.parent.with_name("lab-root") / "runs" / "log.jsonl"
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))


def indent_summary(run: Path) -> None:
    (run / SUMMARY).write_text(json.dumps(json.loads((run / SUMMARY).read_bytes()), indent=4), "utf-8")
