"""Forgeries: whatever a run holds is rewritten and made to fit, and nothing of it is promoted.

An example: the byte that once turned the README's REJECT into a PROMOTE of 50 points. The candidate chose among four
samples and the baseline had one; ``"samples_per_prompt": 4`` becomes ``1``, and the locked room would be locked.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attacks import pairs
from attacks.forging import (
    MANIFEST,
    RESULTS,
    SUMMARY,
    Forge,
    around,
    as_other,
    each_row,
    field,
    fields,
    in_turn,
    linked,
    manifest_of,
    other,
    replaced,
    rows_changed,
    sealed,
    summary_changed,
    swapped,
    taken_from_other,
)
from attacks.laboratory import STRONG, WEAK, N, sampling

from course.artifacts.scorer_identity import installed
from course.score import measure


class Forgery(NamedTuple):
    """One forgery. ``said``: a part of what the gate says of it, whether or not the log was forged too.

    ``believed``: the fact that it forges, where that can be derived from nothing: then only the log says no.
    ``sides``: which runs are forged. ``status``: of the gate.
    """

    name: str
    pair: pairs.Make
    forge: Forge
    said: str
    believed: str = ""
    sides: Sequence[str] = ("candidate",)
    status: int = 1
    posix: bool = False  # needs links or pipes


NOT_LOGGED = "run: the digest of its manifest is in no log of runs"
BOTH = ("baseline", "candidate")
BASELINE = ("baseline",)
NOT_SO = "which is not what the scorer says"
BYTES = "is not as this lab writes it, byte for byte"
SUMMED = "summary.json is not what its rows come to, byte for byte"
OTHER_FILE = "is not the file that was written: its digest differs"


def right(row: Any) -> None:
    """A row's completion made right, and what the scorer says of it with it."""
    row.update(completion=f"Final: {row['expected_answer']}", reward=1.0)
    row["details"] = {"outcome": "ok", "parsed_answer": str(row["expected_answer"])}


def scored(row: Any) -> None:
    """Reward and details made what the scorer says."""
    row["reward"], outcome, parsed = measure(row["expected_answer"], row["completion"])
    row["details"] = {"outcome": outcome, "parsed_answer": parsed}


def one_sample(row: Any) -> None:
    """A choice of four made to look like a choice of one."""
    row.update(samples=[row["completion"]], rewards=[row["reward"]], chosen=0)


def one_sample_of_four(row: Any) -> None:
    """The same, and the three that were not chosen put where nobody chose from."""
    row["others"] = [sample for i, sample in enumerate(row["samples"]) if i != row["chosen"]]
    row["other_rewards"] = [reward for i, reward in enumerate(row["rewards"]) if i != row["chosen"]]
    one_sample(row)


def plain(row: Any) -> None:
    """A choice made to look like a row of Loop A."""
    for name in ("samples", "rewards", "chosen", "others", "other_rewards"):
        del row[name]


def as_loop_a(run: Path) -> None:
    said = {"loop": "A", "command": "course.eval", "settings": {"missing": None}, "samples_per_prompt": 1}
    fields(**said)(run)
    each_row(plain)(run)


def right_sample(row: Any) -> None:
    """The last sample of a choice, which is right, taken instead."""
    row.update(chosen=3)
    right(row)


def right_sample_from_behind(row: Any) -> None:
    """The same, counted from the end."""
    row.update(chosen=-1)
    right(row)


def written_right(rows: list[Any]) -> None:
    for row in rows[:STRONG]:
        right(row)


def paid(rows: list[Any]) -> None:
    """Rewards and outcomes of wrong completions made those of right ones."""
    for row in rows[:STRONG]:
        row.update(reward=1.0, details={"outcome": "ok", "parsed_answer": str(row["expected_answer"])})


def look_alikes(rows: list[Any]) -> None:
    """Wrong answers replaced by right ones in full-width digits, which no scorer takes."""
    full = str.maketrans("0123456789", "０１２３４５６７８９")
    for row in rows[WEAK:]:
        right(row)
        row["completion"] = row["completion"].translate(full)


def answer_fitted(row: Any) -> None:
    """The expected answer made the one that was given."""
    row["expected_answer"] = int(row["completion"].removeprefix("Final: "))
    scored(row)


def repeated(rows: list[Any]) -> None:
    """The rows of both runs cut to those that the candidate gained, each several times under new ids."""
    rows[:] = [row | {"id": f"{row['id']}-{time}"} for time in range(2) for row in rows[WEAK - 2 : STRONG]]


def twice(rows: list[Any]) -> None:
    rows += [dict(row) for row in rows[WEAK:STRONG]]


def same_ids(rows: list[Any]) -> None:
    for row in rows[WEAK:]:
        row["id"] = rows[0]["id"]


def without_failures(rows: list[Any]) -> None:
    rows[:] = [row for row in rows if row["reward"] == 1.0]


def asked_as_other(run: Path) -> None:
    """The questions of the run beside put over this one's completions, and all fingerprints with them."""
    mine = [json.loads(line) for line in (run / RESULTS).read_text("utf-8").splitlines()]
    theirs = [json.loads(line) for line in (other(run) / RESULTS).read_text("utf-8").splitlines()]
    keys = "id", "prompt", "expected_answer"

    def ask(rows: list[Any]) -> None:
        for row, (_, them) in zip(rows, zip(mine, theirs, strict=True), strict=True):
            row.update({key: them[key] for key in keys})
            scored(row)

    rows_changed(ask)(run)
    as_other("dataset_fingerprint")(run)


def output_named(name: str) -> Forge:
    return lambda run: fields(outputs=manifest_of(run)["outputs"] | {name: "0" * 64})(run)


def output_left_out(name: str) -> Forge:
    def forge(run: Path) -> None:
        outputs = manifest_of(run)["outputs"]
        del outputs[name]
        fields(outputs=outputs)(run)

    return forge


def schema_2(run: Path) -> None:
    """The manifest as the lab wrote it before, without what has been bound since."""
    said = manifest_of(run) | {"schema_version": 2}
    for name in ("examples_fingerprint", "trained_on", "expect"):
        del said[name]
    (run / MANIFEST).write_text(json.dumps(said, indent=2) + "\n", "utf-8", newline="\n")


def keys_sorted(run: Path) -> None:
    (run / MANIFEST).write_text(json.dumps(manifest_of(run), indent=2, sort_keys=True) + "\n", "utf-8", newline="\n")


def pipe_for(name: str) -> Forge:
    def forge(run: Path) -> None:
        (run / name).unlink()
        os.mkfifo(run / name)

    return forge


def endless(name: str) -> Forge:
    def forge(run: Path) -> None:
        (run / name).unlink()
        (run / name).symlink_to("/dev/zero")

    return forge


def folder_for(name: str) -> Forge:
    def forge(run: Path) -> None:
        (run / name).unlink()
        (run / name).mkdir()

    return forge


DIFFERENT = "of the completions differ, though policy, sampling and seed are said to be the same"
ONE_FILE = "of the completions differ, though both runs say that they read one file"
NOT_CHOSEN = "does not hold the sample that it says was chosen"
SAMPLE_NOT_SO = "has a sample with a reward that is not what the scorer says"
OTHER_PROMPTS = "the prompts_fingerprint in manifest.json is not that of results.jsonl"
OTHER_ANSWERS = "the examples_fingerprint in manifest.json is not that of results.jsonl"
NOT_A_RESULT = "is not a result"
NO_MANIFEST = "manifest.json is not a manifest of this lab"

# ---- The manifest says another thing than the run is.
OF_THE_MANIFEST = [
    Forgery(
        "samples_per_prompt 4 to 1",
        pairs.numbers_of_samples,
        fields(samples_per_prompt=1),
        "has 4 samples, and manifest.json says 1",
    ),
    Forgery(
        "samples_per_prompt 1 to 4",
        pairs.numbers_of_samples,
        fields(samples_per_prompt=4),
        "has 1 samples, and manifest.json says 4",
        sides=BASELINE,
    ),
    Forgery(
        "samples_per_prompt null in both",
        pairs.numbers_of_samples,
        fields(samples_per_prompt=None),
        "locked room: samples_per_prompt is not known of the baseline and the candidate",
        sides=BOTH,
    ),
    Forgery(
        "samples_per_prompt 1e30",
        pairs.numbers_of_samples,
        replaced(MANIFEST, b'"samples_per_prompt": 4', b'"samples_per_prompt": ' + b"9" * 30),
        "has 4 samples, and manifest.json says 999999",
    ),
    Forgery(
        "samples_per_prompt 2 in Loop A, both", pairs.better, fields(samples_per_prompt=2), "Loop A has one", sides=BOTH
    ),
    Forgery(
        "loop B to A, the rows left",
        pairs.loops,
        fields(loop="A", command="course.eval", settings={"missing": None}),
        NOT_A_RESULT,
    ),
    Forgery("loop alone", pairs.loops, fields(loop="A"), "says Loop A of course.selection_demo"),
    Forgery("command alone", pairs.better, fields(command="course.selection_demo"), "says Loop A of course.selection"),
    Forgery("loop and command to C", pairs.better, fields(loop="C", command="course.token_train"), "Loop C", status=2),
    Forgery("loop D", pairs.better, fields(loop="D"), NO_MANIFEST),
    Forgery(
        "temperature made the baseline's", pairs.temperatures, as_other("sampling"), NOT_LOGGED, believed="sampling"
    ),
    Forgery("seed of the draws made the baseline's", pairs.seeds, as_other("sampling"), f"12 {DIFFERENT}"),
    Forgery(
        "seeds null in both",
        pairs.seeds,
        field("sampling", seed=None),
        "nothing was turned, and 12 of the examples flipped; the same policy wrote both, in other draws: that is luck",
        sides=BOTH,
    ),
    Forgery(
        "seeds null and the policy renamed",
        pairs.no_seeds,
        fields(policy="another"),
        NOT_LOGGED,
        believed="policy",
    ),
    Forgery("policy renamed", pairs.one_policy, fields(policy="another"), NOT_LOGGED, believed="policy"),
    Forgery(
        "policy with a letter that looks the same",
        pairs.one_policy,
        fields(policy="оne"),
        NOT_LOGGED,
        believed="policy",
    ),
    Forgery("policy null", pairs.one_policy, fields(policy=None), NOT_LOGGED, believed="policy"),
    Forgery("policy made the other's", pairs.two_knobs, as_other("policy"), NOT_LOGGED, believed="policy"),
    Forgery("pick_best made the other's", pairs.two_knobs, as_other("settings"), NOT_LOGGED, believed="settings"),
    Forgery(
        "sampling invented",
        pairs.sampling_not_known,
        fields(sampling=sampling()),
        NOT_LOGGED,
        believed="sampling",
    ),
    Forgery(
        "sampling forgotten in both",
        pairs.temperatures,
        fields(sampling=None),
        "locked room: sampling is not known of the baseline and the candidate",
        sides=BOTH,
    ),
    Forgery(
        "temperature below 0",
        pairs.temperatures,
        field("sampling", temperature=-1.0),
        NO_MANIFEST,
        sides=BOTH,
    ),
    Forgery(
        "temperature 1e999",
        pairs.temperatures,
        replaced(MANIFEST, b'"temperature": 0.5', b'"temperature": 1e999'),
        NO_MANIFEST,
    ),
    Forgery(
        "temperature spelled 1 where it is 1.0",
        pairs.better,
        replaced(MANIFEST, b'"temperature": 1.0', b'"temperature": 1'),
        BYTES,
    ),
    Forgery("trained_on removed", pairs.trained_here, fields(trained_on=None), NOT_LOGGED, believed="trained_on"),
    Forgery(
        "trained_on counts no prompt of these",
        pairs.trained_here,
        field("trained_on", measured_here=0),
        NOT_LOGGED,
        believed="trained_on",
    ),
    Forgery("split made the baseline's", pairs.splits, as_other("split"), NOT_LOGGED, believed="split"),
    Forgery(
        "split of the lab's holdout made dev",
        pairs.shipped_holdout,
        fields(split="dev"),
        "says split dev, and these are prompts of a holdout of the lab",
        sides=BOTH,
    ),
    Forgery("split null in both", pairs.splits, fields(split=None), "split is not known of the", sides=BOTH),
    Forgery(
        "fingerprint of the dataset made the baseline's",
        pairs.other_bytes,
        as_other("dataset_fingerprint"),
        NOT_LOGGED,
        believed="dataset_fingerprint",
    ),
    Forgery(
        "all fingerprints made the baseline's over other prompts",
        pairs.other_prompts,
        as_other("dataset_fingerprint", "prompts_fingerprint", "examples_fingerprint"),
        OTHER_PROMPTS,
    ),
    Forgery(
        "all fingerprints made the baseline's over other answers",
        pairs.other_answers,
        as_other("dataset_fingerprint", "prompts_fingerprint", "examples_fingerprint"),
        OTHER_ANSWERS,
    ),
    Forgery(
        "fingerprints null in both",
        pairs.other_prompts,
        fields(dataset_fingerprint=None, prompts_fingerprint=None, examples_fingerprint=None),
        "locked room: prompts_fingerprint is not known",
        sides=BOTH,
    ),
    Forgery(
        "fingerprint of the completions made the baseline's",
        pairs.better,
        as_other("completions_fingerprint"),
        f"12 {ONE_FILE}",
    ),
    Forgery(
        "--missing forgotten",
        pairs.half_refused,
        field("settings", missing=None),
        "the baseline has no completion for 12 of its prompts",
        sides=BASELINE,
    ),
    Forgery(
        "scorer version",
        pairs.better,
        fields(scorer_version="1.0.0"),
        "manifest.json has scorer_version 1.0.0, and the scorer installed here 1.1.0",
        sides=BOTH,
    ),
    Forgery(
        "scorer name",
        pairs.better,
        fields(scorer_name="final_ìnt"),
        "manifest.json has scorer_name final_ìnt, and the scorer installed here final_int",
        sides=BOTH,
    ),
    Forgery(
        "scorer fingerprint",
        pairs.better,
        fields(scorer_fingerprint="0" * 64),
        "manifest.json has scorer_fingerprint 0000",
        sides=BOTH,
    ),
    Forgery(
        "spec", pairs.better, fields(spec=f"0. Pay all. {installed().spec}"), "has spec 0. Pay all. 1. Trim", sides=BOTH
    ),
    Forgery(
        "golden sets failed",
        pairs.better,
        field("golden", passed=False),
        "manifest.json has golden Golden(passed=False",
    ),
    Forgery(
        "golden sets of one case",
        pairs.better,
        field("golden", cases=1),
        "manifest.json has golden Golden(passed=True, cases=1), and the scorer installed here Golden(",
        sides=BOTH,
    ),
    Forgery("change reworded", pairs.better, fields(change="a better prompt"), NOT_LOGGED, believed="change"),
    Forgery("expect written afterwards", pairs.better, fields(expect="+50 points"), NOT_LOGGED, believed="expect"),
    Forgery("seed of a run that draws nothing", pairs.better, fields(seed=7), NOT_LOGGED, believed="seed"),
    Forgery("a manifest of schema 2", pairs.trained_here, schema_2, "manifest.json has schema version 2"),
    Forgery("schema 2 in name", pairs.better, fields(schema_version=2), "manifest.json has schema version 2"),
    Forgery("schema 3.0", pairs.better, fields(schema_version=3.0), NO_MANIFEST),
    Forgery("schema true", pairs.better, fields(schema_version=True), "has schema version True"),
    Forgery("a field that no manifest has", pairs.better, fields(verified=True), NO_MANIFEST),
    Forgery(
        "a field twice",
        pairs.numbers_of_samples,
        replaced(MANIFEST, b'"samples_per_prompt": 4', b'"samples_per_prompt": 4,\n  "samples_per_prompt": 1'),
        BYTES,
    ),
    Forgery("fields in another order", pairs.better, keys_sorted, BYTES),
    Forgery("a letter escaped", pairs.better, replaced(MANIFEST, b'"course.eval"', rb'"course.\u0065val"'), BYTES),
    Forgery("manifest with CRLF", pairs.better, replaced(MANIFEST, b"\n", b"\r\n"), BYTES),
    Forgery("manifest with a byte order mark", pairs.better, around(MANIFEST, b"\xef\xbb\xbf"), NO_MANIFEST),
    Forgery("manifest with a space at its end", pairs.better, around(MANIFEST, after=b" "), BYTES),
    Forgery(
        "manifest in UTF-16", pairs.better, lambda run: (run / MANIFEST).write_bytes(b"\xff\xfe{\0}\0"), NO_MANIFEST
    ),
    Forgery("manifest empty", pairs.better, lambda run: (run / MANIFEST).write_bytes(b""), NO_MANIFEST),
    Forgery("results not sealed", pairs.better, output_left_out(RESULTS), "has no digest of results.jsonl"),
    Forgery("summary not sealed", pairs.better, output_left_out(SUMMARY), "has no digest of summary.json"),
    Forgery(
        "a seal on a file elsewhere", pairs.better, output_named("../x/y"), "names an output that is not a file of"
    ),
    Forgery("a seal on a file that is not there", pairs.better, output_named("curve.png"), "curve.png cannot be read"),
    Forgery("a seal on the folder itself", pairs.better, output_named("."), "names an output that is not a file of"),
]

# ---- The rows say another thing than was measured.
OF_THE_ROWS = [
    Forgery("wrong completions paid", pairs.equal, rows_changed(paid), NOT_SO),
    Forgery(
        "right completions not paid", pairs.equal, each_row(lambda row: row.update(reward=0.0)), NOT_SO, "", BASELINE
    ),
    Forgery("rewards of 2", pairs.equal, each_row(lambda row: row.update(reward=row["reward"] * 2)), NOT_SO),
    Forgery("a reward of 1e308", pairs.equal, rows_changed(lambda rows: rows[9].update(reward=1e308)), NOT_SO),
    Forgery(
        "rewards as numbers without a point", pairs.equal, replaced(RESULTS, b'"reward":1.0', b'"reward":1'), BYTES
    ),
    Forgery("an outcome alone", pairs.equal, each_row(lambda row: row["details"].update(outcome="ok")), NOT_SO),
    Forgery(
        "completions rewritten",
        pairs.one_policy,
        each_row(right),
        f"16 {DIFFERENT}",
    ),
    Forgery(
        "completions rewritten and paid by the real scorer",
        pairs.equal,
        rows_changed(written_right),
        NOT_LOGGED,
        believed="completions",
    ),
    Forgery("right answers in look-alike digits", pairs.equal, rows_changed(look_alikes), NOT_SO),
    Forgery(
        "expected answers made those that were given",
        pairs.worse,
        each_row(answer_fitted),
        "do not hold the same id, prompt and expected answer",
    ),
    Forgery(
        "an expected answer of 5,000 digits",
        pairs.equal,
        replaced(RESULTS, b'"expected_answer":9', b'"expected_answer":' + b"9" * 5_000, 1),
        "is not a result",
    ),
    Forgery(
        "rows that failed dropped",
        pairs.equal,
        rows_changed(without_failures),
        "do not hold the same id, prompt and expected answer",
    ),
    Forgery(
        "rows that failed dropped, the fingerprints left",
        pairs.equal,
        rows_changed(without_failures, sealed),
        OTHER_PROMPTS,
    ),
    Forgery("rows that passed twice", pairs.equal, rows_changed(twice), "and 24 different ids"),
    Forgery("one id for many rows", pairs.better, rows_changed(same_ids), "different ids", sides=BOTH),
    Forgery(
        "rows that were gained repeated under new ids",
        pairs.better,
        rows_changed(repeated),
        "distinct prompts",
        "",
        BOTH,
    ),
    Forgery("rows in another order", pairs.equal, rows_changed(lambda rows: rows.reverse()), "do not hold the same id"),
    Forgery(
        "rows in another order, the fingerprints left",
        pairs.better,
        rows_changed(lambda rows: rows.reverse(), sealed),
        OTHER_PROMPTS,
        sides=BOTH,
    ),
    Forgery("no rows in either", pairs.worse, rows_changed(lambda rows: rows.clear(), sealed), "has no rows", "", BOTH),
    Forgery(
        "other questions put over the completions",
        pairs.other_prompts,
        asked_as_other,
        NOT_LOGGED,
        believed="completions",
    ),
    Forgery("ids made the baseline's", pairs.other_ids, asked_as_other, NOT_LOGGED, believed="completions"),
    Forgery(
        "a key that no row has",
        pairs.equal,
        each_row(lambda row: row.update(note="fine"), sealed),
        NOT_A_RESULT,
        "",
        BOTH,
    ),
    Forgery(
        "a key twice in a row",
        pairs.equal,
        replaced(RESULTS, b'"reward":0.0', b'"reward":1.0,"reward":0.0'),
        BYTES,
    ),
    Forgery("results with CRLF", pairs.better, replaced(RESULTS, b"\n", b"\r\n"), BYTES),
    Forgery("results with a byte order mark", pairs.better, around(RESULTS, b"\xef\xbb\xbf"), NOT_A_RESULT),
    Forgery("results with an empty line", pairs.better, around(RESULTS, after=b"\n"), BYTES),
    Forgery("results with a space", pairs.better, replaced(RESULTS, b'{"id"', b'{ "id"', 1), BYTES),
    Forgery(
        "results without their last line end", pairs.better, around(RESULTS, after=b"{}"), "is cut off after row 24"
    ),
    Forgery("half a surrogate", pairs.equal, replaced(RESULTS, b"Final: 0", rb"Final: 0\ud800", 1), NOT_A_RESULT),
    Forgery("brackets 100,000 deep", pairs.equal, around(RESULTS, b"[" * 100_000 + b"\n"), NOT_A_RESULT),
    Forgery(
        "a choice of four made a choice of one",
        pairs.numbers_of_samples,
        in_turn(fields(samples_per_prompt=1), each_row(one_sample)),
        f"16 {ONE_FILE}",
    ),
    Forgery(
        "three of a choice of four made samples that nobody chose from",
        pairs.numbers_of_samples,
        in_turn(fields(samples_per_prompt=1), each_row(one_sample_of_four)),
        f"16 {ONE_FILE}",
    ),
    Forgery(
        "a choice of four made a run of Loop A",
        pairs.loops,
        in_turn(as_loop_a, as_other("sampling")),
        NOT_LOGGED,
        believed="sampling",
    ),
    Forgery(
        "another sample said to be chosen", pairs.equal_choice, each_row(lambda row: row.update(chosen=3)), NOT_CHOSEN
    ),
    Forgery(
        "the right sample chosen afterwards",
        pairs.equal_choice,
        each_row(right_sample),
        NOT_LOGGED,
        believed="choices",
    ),
    Forgery("a choice counted from the end", pairs.equal_choice, each_row(right_sample_from_behind), NOT_CHOSEN),
    Forgery(
        "rewards of samples nobody chose",
        pairs.equal_choice,
        each_row(lambda row: row.update(rewards=[1.0] * 4)),
        SAMPLE_NOT_SO,
    ),
    Forgery(
        "rewards of samples nobody chose from",
        pairs.numbers_of_samples,
        each_row(lambda row: row.update(other_rewards=[0.0] * 3)),
        SAMPLE_NOT_SO,
        sides=BASELINE,
    ),
]

# ---- The summary says another thing than the rows.
OF_THE_SUMMARY = [
    Forgery("passes", pairs.equal, summary_changed(lambda s: s.update(passes=N)), SUMMED),
    Forgery("pass_rate", pairs.equal, summary_changed(lambda s: s.update(pass_rate=1.0)), SUMMED),
    Forgery("n", pairs.equal, summary_changed(lambda s: s.update(n=1_000)), SUMMED),
    Forgery("a number more", pairs.equal, summary_changed(lambda s: s.update(p_value=0.0)), SUMMED),
    Forgery("a number less", pairs.equal, summary_changed(lambda s: s.pop("families")), SUMMED),
    Forgery(
        "a number of a choice",
        pairs.equal_choice,
        summary_changed(lambda s: s.update(selected_accuracy=1.0)),
        SUMMED,
    ),
    Forgery("a number twice", pairs.equal, replaced(SUMMARY, b'"n": 24', b'"n": 1000,\n  "n": 24'), SUMMED),
    Forgery("a number spelled 24.0", pairs.equal, replaced(SUMMARY, b'"n": 24', b'"n": 24.0'), SUMMED),
    Forgery("a number NaN", pairs.equal, replaced(SUMMARY, b'"n": 24', b'"n": NaN'), SUMMED),
    Forgery("summary with CRLF", pairs.better, replaced(SUMMARY, b"\n", b"\r\n"), SUMMED),
    Forgery("summary with a byte order mark", pairs.better, around(SUMMARY, b"\xef\xbb\xbf"), SUMMED),
    Forgery("summary with a line more", pairs.better, around(SUMMARY, after=b"\n"), SUMMED),
]

# ---- Files in other places.
OF_FILES = [
    Forgery("results exchanged", pairs.worse, swapped(RESULTS), f"results.jsonl {OTHER_FILE}"),
    Forgery("results and summaries exchanged", pairs.worse, swapped(RESULTS, SUMMARY), f"results.jsonl {OTHER_FILE}"),
    Forgery(
        "results and summaries exchanged, sealed anew",
        pairs.worse,
        swapped(RESULTS, SUMMARY, then=sealed),
        NOT_LOGGED,
        believed="completions",
    ),
    Forgery("manifests exchanged", pairs.worse, swapped(MANIFEST), f"results.jsonl {OTHER_FILE}"),
    Forgery("a good run's results under this manifest", pairs.worse, taken_from_other(RESULTS), OTHER_FILE),
    Forgery("a good run's manifest over these results", pairs.worse, taken_from_other(MANIFEST), OTHER_FILE),
    Forgery("summary exchanged, sealed anew", pairs.worse, swapped(SUMMARY, then=sealed), SUMMED),
    Forgery("a link to another run's results", pairs.worse, linked(RESULTS), OTHER_FILE, posix=True),
    Forgery("a hard link to another run's results", pairs.worse, linked(RESULTS, hard=True), OTHER_FILE, posix=True),
    Forgery("a link to another run's manifest", pairs.worse, linked(MANIFEST), OTHER_FILE, posix=True),
    Forgery(
        "a link to another run's summary, sealed anew",
        pairs.worse,
        linked(SUMMARY, then=sealed),
        SUMMED,
        posix=True,
    ),
    Forgery("results that are a pipe", pairs.better, pipe_for(RESULTS), "results.jsonl cannot be read", posix=True),
    Forgery("a manifest that never ends", pairs.better, endless(MANIFEST), "manifest.json cannot be read", posix=True),
    Forgery("results that are a folder", pairs.better, folder_for(RESULTS), "results.jsonl cannot be read"),
    Forgery("no results", pairs.better, lambda run: (run / RESULTS).unlink(), "results.jsonl cannot be read"),
    Forgery("no summary", pairs.better, lambda run: (run / SUMMARY).unlink(), "summary.json cannot be read"),
    Forgery("no manifest", pairs.better, lambda run: (run / MANIFEST).unlink(), "manifest.json cannot be read"),
]

FORGERIES = {
    "The manifest says another thing than the run is": OF_THE_MANIFEST,
    "The rows say another thing than was measured": OF_THE_ROWS,
    "The summary says another thing than the rows": OF_THE_SUMMARY,
    "Files in other places": OF_FILES,
}
