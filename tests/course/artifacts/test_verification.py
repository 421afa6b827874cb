"""Every fact of a run that can be recomputed is recomputed, and every digest is compared.

An example: a wrong answer is edited into a right one, and the summary and every digest are made to fit, so that the
digests cannot help. The completion is scored again, and the row is named: recorded as ok, which is not what the scorer
says.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, edited, forged, lines_of, manifest_edited, rows_edited

from course.artifacts import run_log
from course.artifacts.reading import open_run, rows
from course.artifacts.run_log import read_log
from course.artifacts.verification import NOT_LOGGED, Verification

ANSWERS = [22, -8, 0, 323, 7]
TEXTS = ["Final: 22", "Final: 8", "Final: -0", "Final: 323", "seven"]
GROUPS = [  # two of each are looked at
    ["Final: 21", "Final: 22", "no"],
    ["Final: -8", "Final: 8", "no"],
    ["0", "zero", "no"],
]
Tamper = Callable[[Path], object]


@pytest.fixture
def loop_a(lab: Lab) -> Path:
    lab.evaluate(ANSWERS, TEXTS, "--outdir", "a")
    return Path("a")


@pytest.fixture
def loop_b(lab: Lab) -> Path:
    lab.select([22, -8, 0], GROUPS, 2, "--outdir", "b")
    return Path("b")


def faults_of(run: Path) -> list[str]:
    verification = Verification(open_run(run), {line.manifest for line in read_log(run_log.LOG)})
    for _ in verification.rows():
        pass
    return verification.faults


def rows_of(key: str, value: object, row: int = 4) -> Tamper:
    """Edit one field of one row (the fifth, which says seven), and forge the digest."""
    return lambda run: rows_edited(run, lambda rows: rows[row].update({key: value}))


def flipped(run: Path) -> None:
    """The whole forgery: a wrong answer paid, and summary and digests made to fit."""
    rows_edited(run, lambda rows: rows[1].update(reward=1.0, details={"outcome": "ok", "parsed_answer": "-8"}))
    edited(run / "summary.json", lambda summary: summary.update(passes=3, pass_rate=0.6, mean_reward=0.6))
    forged(run)


def details_of(name: str, value: object) -> Tamper:
    return lambda run: rows_edited(run, lambda rows: rows[4]["details"].update({name: value}))


def summary_of(**changes: object) -> Tamper:
    def tamper(run: Path) -> None:
        edited(run / "summary.json", lambda summary: summary.update(changes))
        forged(run)

    return tamper


def cut(run: Path) -> None:
    (run / "results.jsonl").write_bytes((run / "results.jsonl").read_bytes()[:-20])


def a_row_less(run: Path) -> None:
    rows_edited(run, lambda rows: rows.pop(), forge=False)


def a_row_more(run: Path) -> None:
    rows_edited(run, lambda rows: rows.append(rows[0]))


def another_answer(run: Path) -> None:
    """A row that the scorer agrees with, of another example."""
    wrong = {"outcome": "wrong_answer", "parsed_answer": "22"}
    rows_edited(run, lambda rows: rows[0].update(expected_answer=21, reward=0.0, details=wrong))


def shipped_prompts(run: Path) -> None:
    prompt = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")[0]["prompt"]
    rows_edited(run, lambda rows: rows[0].update(prompt=prompt))


def rate_edited(run: Path) -> None:
    edited(run / "summary.json", lambda summary: summary.update(pass_rate=1.0))


def without(name: str) -> Tamper:
    return lambda run: (run / name).unlink()


def manifest_of(**changes: object) -> Tamper:
    return lambda run: manifest_edited(run, **changes)


SUMMED = "summary.json is not, byte for byte, the summary of"
TAMPERINGS: dict[str, tuple[Tamper, str]] = {
    "a flip, all forged": (flipped, "q2 is recorded as ok with reward 1.0, which is not what the scorer says"),
    "a reward alone": (rows_of("reward", 1.0), "q5 is recorded as missing_prefix with reward 1.0"),
    "an outcome": (details_of("outcome", "wrong_answer"), "q5 is recorded as wrong_answer with reward 0.0"),
    "a parsed answer": (details_of("parsed_answer", "7"), "q5 is recorded as missing_prefix"),
    "a completion taken away": (rows_of("completion", None), "q5 is recorded as missing_prefix"),
    "a row that passed, passed twice": (a_row_more, "results.jsonl has 6 rows and 5 different ids"),
    "the prompt of a row": (
        rows_of("prompt", "Easier?"),
        "the prompts_fingerprint in manifest.json is not that of results.jsonl",
    ),
    "an answer with its row": (
        another_answer,
        "the examples_fingerprint in manifest.json is not that of results.jsonl",
    ),
    "more samples": (
        manifest_of(samples_per_prompt=4),
        "manifest.json says 4 samples of each prompt, but Loop A has one",
    ),
    "a split": (shipped_prompts, "says split dev, but these prompts are from a holdout of the lab"),
    "another spec": (
        manifest_of(spec="pay all"),
        "manifest.json has spec pay all; the scorer installed here has 1. Trim: ",
    ),
    "another version": (
        manifest_of(scorer_version="1.2.1"),
        "manifest.json has scorer_version 1.2.1; the scorer installed here has 1.2.0",
    ),
    "another name": (
        manifest_of(scorer_name="exact"),
        "manifest.json has scorer_name exact; the scorer installed here has final_int",
    ),
    "golden sets": (
        manifest_of(golden={"passed": True, "cases": 1}),
        "manifest.json has golden Golden(passed=True, cases=1); the scorer installed here has Golden(",
    ),
    "a row less": (a_row_less, "results.jsonl is not the file that was written"),
    "a cut file": (cut, "results.jsonl is cut off after row 4"),
    "no results": (without("results.jsonl"), "results.jsonl cannot be read: no such file"),
    "no summary": (without("summary.json"), "summary.json cannot be read: no such file"),
    "a summary's count": (summary_of(passes=5), f"{SUMMED} results.jsonl, where 2 of 5 pass"),
    "a summary's rate": (rate_edited, "summary.json is not the file that was written: its digest differs"),
}


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_tampering_is_found_and_named(lab: Lab, loop_a: Path, kind: str) -> None:
    tamper, said = TAMPERINGS[kind]
    tamper(loop_a)
    faults = faults_of(loop_a)
    assert any(said in fault for fault in faults), faults
    assert NOT_LOGGED not in faults  # found without the log's help
    done = lab("inspect_run", "--run", loop_a, "--verify")
    assert done.status == 1
    assert done.out.startswith("a: NOT verified\n  - ")
    assert said in " ".join(done.out.split())
    assert max(map(len, done.out.split("\n"))) <= 80


NOT_THE_CHOSEN = "does not hold the sample that is recorded as chosen"
NOT_ITS_REWARD = "has a sample whose reward is not what the scorer says"
LOOP_B: dict[str, tuple[Tamper, str]] = {
    "another choice": (rows_of("chosen", 0, 0), f"q1 {NOT_THE_CHOSEN}"),
    "a choice from behind": (rows_of("chosen", -1, 0), f"q1 {NOT_THE_CHOSEN}"),
    "a sample's reward": (rows_of("rewards", [1.0, 1.0], 0), f"q1 {NOT_ITS_REWARD}"),
    "a reward among those that nobody chose from": (rows_of("other_rewards", [1.0], 0), f"q1 {NOT_ITS_REWARD}"),
}


@pytest.mark.parametrize("kind", LOOP_B)
def test_tampering_with_a_choice_is_found(loop_b: Path, kind: str) -> None:
    assert faults_of(loop_b) == []
    tamper, said = LOOP_B[kind]
    tamper(loop_b)
    assert faults_of(loop_b) == [f"results.jsonl: {said}"]


def test_a_choice_from_more_samples_than_the_manifest_says_is_found(loop_b: Path) -> None:
    manifest_edited(loop_b, samples_per_prompt=1)
    assert faults_of(loop_b) == [
        f"results.jsonl: {id_} has 2 samples, but manifest.json says 1" for id_ in ("q1", "q2", "q3")
    ]


def test_the_numbers_of_a_choice_are_taken_again(loop_b: Path) -> None:
    summary_of(selected_accuracy=0.125)(loop_b)
    assert faults_of(loop_b) == [f"{SUMMED} results.jsonl, where 2 of 3 pass"]


def test_a_byte_more_in_any_sealed_file_is_noticed(lab: Lab) -> None:
    """A space after a colon, which changes no value."""
    lab.write("mine.py", "def reward(example, completion):\n    return 1.0\n")
    lab.evaluate(ANSWERS, TEXTS, "--rubric", "mine.py:reward", "--outdir", "run")
    run = Path("run")
    for name in open_run(run).manifest.outputs:
        written = (run / name).read_bytes()
        (run / name).write_bytes(written.replace(b":", b": ", 1))
        assert f"{name} is not the file that was written: its digest differs" in faults_of(run)
        (run / name).write_bytes(written)
    assert faults_of(run) == []
    (run / "manifest.json").write_bytes((run / "manifest.json").read_bytes().replace(b":", b": ", 1))
    assert faults_of(run) == [NOT_LOGGED]


def test_a_manifest_edited_in_what_nothing_derives_is_in_no_log(loop_a: Path) -> None:
    text = (loop_a / "manifest.json").read_text(encoding="utf-8")
    (loop_a / "manifest.json").write_text(text.replace('"seed": 7', '"seed": 8'), encoding="utf-8", newline="\n")
    assert faults_of(loop_a) == [NOT_LOGGED]


def test_a_whole_run_has_no_faults_and_all_its_rows(lab: Lab, loop_a: Path, loop_b: Path) -> None:
    for run, n in ((loop_a, 5), (loop_b, 3)):
        assert faults_of(run) == []
        done = lab("inspect_run", "--run", run, "--verify")
        assert (done.status, done.err) == (0, "")
        assert " ".join(done.out.split()) == (
            f"{run}: whole. The run is in the log, every digest holds, and {n} rows were scored again with the same "
            "result "
            "(not sealed: README.md and environment.json)"
        )
    assert [row.id for row in rows(open_run(loop_a))] == ["q1", "q2", "q3", "q4", "q5"]


def test_many_wrong_rows_are_counted_and_three_are_named(lab: Lab) -> None:
    run = lab.measured("run", [True] * 3_000)  # more than are read at a time

    def flip(rows: list[Any]) -> None:
        for row in rows[1_000:1_005]:
            row["reward"] = 0.0

    rows_edited(run, flip)
    wrong = "is recorded as ok with reward 0.0, which is not what the scorer says"
    named = [f"results.jsonl: {id_} {wrong}" for id_ in ("q1001", "q1002", "q1003")]
    assert faults_of(run) == [*named, "results.jsonl: 2 more of the rows have such faults"]


def test_an_intact_run_of_another_scorer_is_told_as_just_that(lab: Lab, loop_a: Path) -> None:
    """Version 1.0.0 named an outcome otherwise. That is no fault of a row, and the run still cannot be compared."""
    rows_edited(loop_a, lambda rows: rows[1]["details"].update(outcome="an_outcome_of_then"))
    manifest_edited(loop_a, scorer_fingerprint="0" * 64, scorer_version="1.0.0")
    done = lab("inspect_run", "--run", loop_a, "--verify")
    assert done.status == 1
    said = " ".join(done.out.split())
    assert said.startswith("a: intact, measured by a different scorer: final_int 1.0.0.")
    assert "final_int 1.2.0 is installed here" in said
    assert any("scorer_version 1.0.0" in fault for fault in faults_of(loop_a))  # the gate refuses it
    manifest_edited(loop_a, scorer_version="1.2.0")
    said = " ".join(lab("inspect_run", "--run", loop_a, "--verify").out.split())
    assert "final_int 1.2.0 with a different fingerprint." in said


def test_a_run_of_another_scorer_that_was_tampered_with_is_not_intact(lab: Lab, loop_a: Path) -> None:
    manifest_edited(loop_a, scorer_fingerprint="0" * 64)
    rows_edited(loop_a, lambda rows: rows[1].update(reward=1.0), forge=False)
    done = lab("inspect_run", "--run", loop_a, "--verify")
    assert (done.status, done.out.partition("\n")[0]) == (1, "a: NOT verified")
    assert "results.jsonl is not the file that was written" in done.out


def test_the_installed_scorers_fingerprint_under_another_version_is_no_older_scorer(lab: Lab, loop_a: Path) -> None:
    manifest_edited(loop_a, scorer_version="1.0.0")
    assert lab("inspect_run", "--run", loop_a, "--verify").out.startswith("a: NOT verified\n")


def test_a_u2028_in_a_completion_breaks_no_row(lab: Lab) -> None:
    lab.evaluate([1], ["Final: 1\u2028\r"], "--outdir", "a")
    assert json.dumps(lines_of(Path("a/results.jsonl"))[0]["completion"]) == '"Final: 1\\u2028\\r"'
    assert faults_of(Path("a")) == []
