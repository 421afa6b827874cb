"""A run is believed in nothing: every way to tamper with one is found, also where the digests were forged to fit.

An example: a wrong answer is edited into a right one, and the summary and every digest are made to fit. The
completion is scored again, so the row is named: recorded as ok, which is not what the scorer says.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab, edited, forged, lines_of, manifest_edited, rows_edited

from course.artifacts.reading import Broken, open_run, read_summary, rows, verified_rows

ANSWERS = [22, -8, 0, 323, 7]
TEXTS = ["Final: 22", "Final: 8", "Final: -0", "Final: 323", "seven"]
GROUPS = [["Final: 21", "Final: 22"], ["Final: -8", "Final: 8"], ["0", "zero"]]
Tamper = Callable[[Path], object]


@pytest.fixture
def loop_a(lab: Lab) -> Path:
    lab.evaluate(ANSWERS, TEXTS, "--outdir", "a")
    return Path("a")


@pytest.fixture
def loop_b(lab: Lab) -> Path:
    lab.picker()
    lab.select([22, -8, 0], GROUPS, 2, "--outdir", "b")
    return Path("b")


def faults_of(run: Path) -> list[str]:
    faults: list[str] = []
    for _ in verified_rows(open_run(run), faults):
        pass
    return faults


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


def rate_edited(run: Path) -> None:
    edited(run / "summary.json", lambda summary: summary.update(pass_rate=1.0))


def space_added(run: Path) -> None:
    (run / "results.jsonl").write_bytes((run / "results.jsonl").read_bytes().replace(b'{"id"', b'{ "id"', 1))


def without(name: str) -> Tamper:
    return lambda run: (run / name).unlink()


def one_output_more(name: str) -> Tamper:
    return lambda run: edited(run / "manifest.json", lambda manifest: manifest["outputs"].update({name: "0" * 64}))


def manifest_of(**changes: object) -> Tamper:
    return lambda run: manifest_edited(run, **changes)


def unlike_text(name: str, text: bytes) -> Tamper:
    return lambda run: (run / name).write_bytes(text)


TAMPERINGS: dict[str, tuple[Tamper, str]] = {
    "a flip, all forged": (flipped, "q2 is recorded as ok with reward 1.0, which is not what the scorer says"),
    "a reward alone": (rows_of("reward", 1.0), "q5 is recorded as missing_prefix with reward 1.0"),
    "half a reward": (rows_of("reward", 0.5), "q5 is recorded as missing_prefix with reward 0.5"),
    "an outcome": (details_of("outcome", "wrong_answer"), "q5 is recorded as wrong_answer with reward 0.0"),
    "a parsed answer": (details_of("parsed_answer", "7"), "q5 is recorded as missing_prefix"),
    "a completion": (rows_of("completion", "Final: 7"), "q5 is recorded as missing_prefix"),
    "a completion taken away": (rows_of("completion", None), "q5 is recorded as missing_prefix"),
    "an expected answer": (rows_of("expected_answer", 21, 0), "q1 is recorded as ok"),
    "an expected answer of 2,000 digits": (rows_of("expected_answer", 10**1999, 0), "q1 is recorded as ok"),
    "a row that passed, passed twice": (a_row_more, "summary.json says passes 2, its rows come to 3"),
    "a space": (space_added, "results.jsonl is not the file that was written: its digest differs"),
    "a row less": (a_row_less, "results.jsonl is not the file that was written"),
    "a cut file": (cut, "results.jsonl is cut off after row 4"),
    "no results": (without("results.jsonl"), "results.jsonl cannot be read: no such file"),
    "no summary": (without("summary.json"), "summary.json cannot be read: no such file"),
    "a summary's count": (summary_of(passes=5), "summary.json says passes 5, its rows come to 2"),
    "a summary's n": (summary_of(n=2), "summary.json says n 2, its rows come to 5"),
    "a summary's rate": (rate_edited, "summary.json is not the file that was written: its digest differs"),
    "a summary that is a list": (unlike_text("summary.json", b"[]"), "summary.json is not a JSON object"),
    "a summary that is no text": (unlike_text("summary.json", b"\xff"), "summary.json is not a JSON object"),
    "an extra key": (rows_of("note", "fine"), "results.jsonl, after row 0: not a result"),
    "a missing key": (lambda run: rows_edited(run, lambda rows: rows[2].pop("details")), "not a result"),
    "a number as text": (rows_of("reward", "1.0"), "not a result"),
    "a list for a row": (lambda run: rows_edited(run, lambda rows: rows.append([])), "not a result"),
    "no JSON": (unlike_text("results.jsonl", b"id,reward\n"), "not a result"),
    "deep JSON": (unlike_text("results.jsonl", b"[" * 100_000 + b"\n"), "not a result"),
    "an output that is a path": (one_output_more("../a/rows"), "not a file of its folder: ../a/rows"),
    "an output on another drive": (one_output_more("C:secret"), "not a file of its folder: C:secret"),
    "an output with a backslash": (one_output_more("..\\secret"), "not a file of its folder: ..\\secret"),
    "an output that is the root": (one_output_more("/etc/passwd"), "not a file of its folder: /etc/passwd"),
    "an output with a NUL": (one_output_more("a\0b"), "not a file of its folder: a<U+0000 NULL>b"),
    "an output that is the folder": (one_output_more(".."), "not a file of its folder: .."),
    "an output two folders down": (one_output_more("a/b/c"), "not a file of its folder: a/b/c"),
    "an output beside its folder": (one_output_more("rollouts/../../secret"), "not a file of its folder: rollouts/"),
    "an output without a name": (one_output_more("rollouts/"), "not a file of its folder: rollouts/"),
    "an output in a folder that is not there": (one_output_more("rollouts/a"), "rollouts/a cannot be read"),
    "an output that is not there": (one_output_more("figure.svg"), "figure.svg cannot be read"),
}


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_tampering_is_found_and_named(lab: Lab, loop_a: Path, kind: str) -> None:
    tamper, said = TAMPERINGS[kind]
    tamper(loop_a)
    assert any(said in fault for fault in faults_of(loop_a))
    done = lab("inspect_run", "--run", loop_a, "--verify")
    assert done.status == 1
    assert done.out.startswith("a: NOT as it was written\n")
    assert said in done.out


BREAKAGES: dict[str, tuple[Tamper, str]] = {
    "no manifest": (without("manifest.json"), "manifest.json cannot be read"),
    "no JSON": (unlike_text("manifest.json", b"{"), "manifest.json is not a manifest of this lab"),
    "no UTF-8": (unlike_text("manifest.json", b'{"loop":"\xff"}'), "manifest.json is not a manifest of this lab"),
    "deep JSON": (unlike_text("manifest.json", b"[" * 100_000), "manifest.json is not a manifest of this lab"),
    "an extra key": (manifest_of(extra=1), "unknown field `extra`"),
    "a field of another type": (manifest_of(golden=True), "$.golden"),
    "no samples": (manifest_of(samples_per_prompt=0), "$.samples_per_prompt"),
    "loop D": (manifest_of(loop="D"), "$.loop"),
    "another schema": (manifest_of(schema_version=1), "manifest.json has schema version 1, this lab reads 2"),
    "results unsealed": (manifest_of(outputs={"summary.json": ""}), "manifest.json has no digest of results.jsonl"),
    "summary unsealed": (manifest_of(outputs={"results.jsonl": ""}), "manifest.json has no digest of summary.json"),
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_a_run_without_a_whole_manifest_is_not_opened(lab: Lab, loop_a: Path, kind: str) -> None:
    tamper, said = BREAKAGES[kind]
    tamper(loop_a)
    with pytest.raises(Broken) as refusal:
        open_run(loop_a)
    assert said in str(refusal.value)
    line = lab.refused("inspect_run", "--run", loop_a, "--only-fails")
    assert f"a: expected a whole run, got a broken one: {refusal.value}" in line
    verified = lab("inspect_run", "--run", loop_a, "--verify")
    assert (verified.status, verified.out) == (1, f"a: NOT as it was written\n  - {refusal.value}\n")


@pytest.mark.parametrize("number", ["pass_rate", "outcomes", "pass_rate_ci95", "families", "mean_reward"])
def test_a_summary_edited_with_its_digest_forged_is_found(lab: Lab, loop_a: Path, number: str) -> None:
    edited(loop_a / "summary.json", lambda summary: summary.update({number: 1.0}))
    forged(loop_a)
    done = lab("inspect_run", "--run", loop_a, "--verify")
    assert done.status == 1
    assert f"summary.json says {number} 1.0, its rows come to " in done.out


LOOP_B: dict[str, Tamper] = {
    "another choice": rows_of("chosen", 0, 0),
    "no such choice": rows_of("chosen", 2, 0),
    "a choice from behind": rows_of("chosen", -1, 0),
    "a sample's reward": rows_of("rewards", [1.0, 1.0], 0),
    "a reward more": rows_of("rewards", [0.0, 1.0, 0.0], 0),
    "a sample more": rows_of("samples", ["Final: 21", "Final: 22", "Final: 22"], 0),
    "another sample": rows_of("samples", ["Final: 22", "Final: 22"], 0),
    "a completion nobody sampled": rows_of("completion", "Final: 0022", 0),
    "no completion": rows_of("completion", None, 2),
}


@pytest.mark.parametrize("kind", LOOP_B)
def test_tampering_with_a_choice_is_found(loop_b: Path, kind: str) -> None:
    assert faults_of(loop_b) == []
    LOOP_B[kind](loop_b)
    (fault,) = faults_of(loop_b)
    assert f"q{3 if kind == 'no completion' else 1} is recorded as" in fault


def test_rows_of_the_other_loop_are_no_results(loop_a: Path, loop_b: Path) -> None:
    for run, loop in ((loop_a, "B"), (loop_b, "A")):
        manifest_edited(run, loop=loop)
        assert "not a result" in faults_of(run)[0]


def test_a_whole_run_has_no_faults_and_all_its_rows(lab: Lab, loop_a: Path, loop_b: Path) -> None:
    for run, n in ((loop_a, 5), (loop_b, 3)):
        assert faults_of(run) == []
        done = lab("inspect_run", "--run", run, "--verify")
        assert (done.status, done.err) == (0, "")
        assert done.out == f"{run}: whole; {n} rows scored again alike, every digest holds\n"
    assert [row.id for row in rows(open_run(loop_a))] == ["q1", "q2", "q3", "q4", "q5"]
    assert read_summary(open_run(loop_a))["n"] == 5


def test_many_wrong_rows_are_counted_and_three_are_named(lab: Lab) -> None:
    run = lab.measured("run", [True] * 3_000)  # more than are read at a time

    def flip(rows: list[Any]) -> None:
        for row in rows[1_000:1_005]:
            row["reward"] = 0.0

    rows_edited(run, flip)
    said = [fault for fault in faults_of(run) if "scorer says" in fault]
    assert [fault.split()[1] for fault in said] == ["q1001", "q1002", "q1003", "2"]
    assert said[-1] == "results.jsonl: 2 more rows are not what the scorer says"


def test_a_run_measured_with_another_scorer_is_not_verified(lab: Lab, loop_a: Path) -> None:
    manifest_edited(loop_a, scorer_fingerprint="0" * 64)
    done = lab("inspect_run", "--run", loop_a, "--verify")
    assert done.status == 1
    assert "measured with another scorer than the one installed (final_int 1.1.0)" in done.out


def test_what_is_no_folder_is_the_callers_mistake(lab: Lab) -> None:
    lab.write("file", "mine")
    for path, got in (("file", "a file"), ("nowhere", "nothing there")):
        assert f"{path}: expected the folder of a run, got {got}" in lab.refused("inspect_run", "--run", path)


def test_a_u2028_in_a_completion_breaks_no_row(lab: Lab) -> None:
    lab.evaluate([1], ["Final: 1\u2028\r"], "--outdir", "a")
    assert json.dumps(lines_of(Path("a/results.jsonl"))[0]["completion"]) == '"Final: 1\\u2028\\r"'
    assert faults_of(Path("a")) == []
