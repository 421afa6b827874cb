"""Loop A in shards: the same numbers as in one file, whoever measures and however often the work is cut off.

An example: shards a and b have three and two examples, of which two and one are answered rightly. The run says 3 of 5,
its rows are those of a and then those of b, and its dataset's fingerprint is the SHA-256 over the two of the files.
"""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from clusters import large, measure, names, shard
from conftest import (
    ROOT,
    SAMPLING,
    Lab,
    copied,
    ended,
    files,
    forged,
    lines_of,
    manifest_edited,
    prompts_digest,
    rows_edited,
)

from course.artifacts import run_log

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
RIGHT = {"a": [True, True, False], "b": [False, True]}


@pytest.fixture
def shards(lab: Lab) -> Lab:
    for name, right in RIGHT.items():
        shard(lab, name, right)
    return lab


def cut_off(lab: Lab, *more: object) -> None:
    """A first call that finishes shard a, and fails at b."""
    kept = (lab.folder / "in/rollouts/b.jsonl").read_bytes()
    lab.write("in/rollouts/b.jsonl", "no JSON")
    assert lab("eval_shards", "in", "--outdir", "run", *more).status == 2
    lab.write("in/rollouts/b.jsonl", kept)
    assert names(lab.folder / "run.partial/shards") == ["a"]


def refusal(lab: Lab, *more: object, run: str = "run") -> str:
    done = lab("eval_shards", "in", "--outdir", run, *more)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert not Path(run).exists() or run != "run"
    return done.err


def of_lines(*values: str) -> str:
    return hashlib.sha256("".join(f"{value}\n" for value in values).encode()).hexdigest()


def sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_the_numbers_are_those_of_one_file(shards: Lab) -> None:
    measure(shards)
    for kind in ("datasets", "rollouts"):
        shards.write(f"all_{kind}.jsonl", b"".join(Path(f"in/{kind}/{name}.jsonl").read_bytes() for name in RIGHT))
    assert shards("eval", "--dataset", "all_datasets.jsonl", "--completions", "all_rollouts.jsonl").status == 0
    assert Path("run/summary.json").read_bytes() == Path("runs/run_001/summary.json").read_bytes()
    assert json.loads(Path("run/summary.json").read_bytes())["passes"] == 3
    rows = [row for name in RIGHT for row in lines_of(Path(f"run/shards/{name}/results.jsonl"))]
    assert rows == lines_of(Path("runs/run_001/results.jsonl"))
    assert names(Path("run/shards")) == ["a", "b"]


def test_the_manifest_is_made_of_the_shards(shards: Lab) -> None:
    digest = measure(shards, "--expect", "half")
    manifest = json.loads(Path("run/manifest.json").read_bytes())
    each = [json.loads(Path(f"run/shards/{name}/manifest.json").read_bytes()) for name in RIGHT]
    assert manifest["dataset_fingerprint"] == of_lines(*(sha256(f"in/datasets/{name}.jsonl") for name in RIGHT))
    assert manifest["completions_fingerprint"] == of_lines(*(sha256(f"in/rollouts/{name}.jsonl") for name in RIGHT))
    for name in ("prompts_fingerprint", "examples_fingerprint"):
        assert manifest[name] == of_lines(*(one[name] for one in each))
    results = [sha256(f"run/shards/{name}/results.jsonl") for name in RIGHT]
    assert manifest["outputs"]["results.jsonl"] == of_lines(*results)
    assert manifest["outputs"]["shards/b/manifest.json"] == sha256("run/shards/b/manifest.json")
    assert (manifest["command"], manifest["expect"]) == ("course.eval_shards", "half")
    assert {(one["command"], one["expect"]) for one in each} == {("course.eval", "half")}
    assert sha256("run/manifest.json") == digest
    (line,) = lines_of(run_log.LOG)
    assert (line["manifest"], line["run"].rpartition("/")[2]) == (digest, "run")
    assert names(Path("run")) == [
        "README.md", "begun.json", "environment.json", "manifest.json", "shards", "summary.json",
    ]  # fmt: skip
    assert names(Path()) == ["in", "run"]


def test_a_seed_a_shard_is_no_seed_of_the_whole(shards: Lab) -> None:
    measure(shards)
    shard(shards, "b", RIGHT["b"], sampling={"seed": 8})
    measure(shards, run="other")
    assert json.loads(Path("run/manifest.json").read_bytes())["sampling"]["seed"] == 7
    assert json.loads(Path("other/manifest.json").read_bytes())["sampling"]["seed"] is None
    assert shards("inspect_run", "other", "--verify").status == 0


def test_inspect_run_and_the_gate_take_it(lab: Lab) -> None:
    for run, missed in (("run", 12), ("better", 2)):
        for name in ("a", "b"):
            shard(lab, name, [number >= missed for number in range(40)], policy=f"the hand of {run}")
        measure(lab, run=run)
    done = lab("inspect_run", "run", "--verify")
    assert (done.status, "80 rows were scored again" in done.out.replace("\n    ", " ")) == (0, True), done.out
    assert "passed 56 of 80" in lab("inspect_run", "run", "--only-fails").out
    assert "WARNING" not in lab("inspect_run", "run").out
    assert "expected    3" in lab("inspect_run", "run", "--id", "b-3").out
    done = lab("gate", "--baseline", "run", "--candidate", "better", "--min-delta", "0.02")
    assert (done.status, "PROMOTE" in done.out) == (0, True), done.out
    back = lab("gate", "--baseline", "better", "--candidate", "run", "--min-delta", "0.02")
    assert back.status == 1


def edit_summary(run: Path) -> None:
    summary = run / "summary.json"
    summary.write_bytes(summary.read_bytes().replace(b'"passes": 2', b'"passes": 3'))


FORGERIES: dict[str, tuple[Any, str]] = {
    "a row": (lambda run: rows_edited(run, lambda rows: rows[2].update(reward=1.0), forge=False), "shards/a"),
    "a row, signed again": (lambda run: rows_edited(run, lambda rows: rows[2].update(reward=1.0)), "shards/a"),
    "a completion, signed again": (
        lambda run: rows_edited(run, lambda rows: rows[0].update(completion=" Final: 0")),
        "shards/a/manifest.json is not the file that was written",
    ),
    "the summary": (edit_summary, "shards/a: summary.json"),
    "taken away": (shutil.rmtree, "shards/a"),
    "another in its place": (
        lambda run: replace(run, run.parent / "b"),
        "shards/a/manifest.json is not the file that was written",
    ),
    "the whole in its place": (lambda run: replace(run, Path("run")), "shards/a is no run of course.eval"),
}


def replace(run: Path, other: Path) -> None:
    copied(other, "copy")
    shutil.rmtree(run)
    Path("copy").rename(run)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_shard_that_was_changed_is_seen(shards: Lab, name: str) -> None:
    measure(shards)
    shutil.copytree("run", "whole")
    change, said = FORGERIES[name]
    change(Path("run/shards/a").absolute())
    done = shards("inspect_run", "run", "--verify")
    assert done.status == 1
    assert said in done.out.replace("\n    ", " ")
    assert shards("gate", "--baseline", "whole", "--candidate", "run", "--min-delta", "0").status == 1


def test_a_whole_that_says_other_conditions_than_its_shards_is_seen(shards: Lab) -> None:
    measure(shards)
    manifest_edited(Path("run"), policy="a better hand")
    done = shards("inspect_run", "run", "--verify")
    assert "shards/a was measured under other conditions than manifest.json says" in done.out.replace("\n    ", " ")


def test_a_pair_without_its_partner_is_refused_by_name(shards: Lab) -> None:
    for kind, other in (("datasets", "rollouts"), ("rollouts", "datasets")):
        path = Path(f"in/{kind}/b.jsonl")
        kept = path.read_bytes()
        path.unlink()
        assert f"in/{kind}: expected a partner of b.jsonl, got none" in shards.refused(
            "eval_shards", "in", "--outdir", "run"
        ), other
        path.write_bytes(kept)
    assert "expected a folder with pairs" in shards.refused("eval_shards", "nowhere", "--outdir", "run")


@pytest.mark.parametrize("name", ["a b", "é", "\x1b[31m", ".hidden", "A"])
def test_a_name_that_cannot_be_a_folder_everywhere_is_refused(shards: Lab, name: str) -> None:
    shard(shards, name, [True])
    said = shards.refused("eval_shards", "in", "--outdir", "run")
    assert "expected names of ASCII letters" in said
    assert "\x1b" not in said


def test_an_id_in_two_shards_is_refused_with_the_names_of_both(shards: Lab) -> None:
    for kind in ("datasets", "rollouts"):
        shards.write(f"in/{kind}/c.jsonl", Path(f"in/{kind}/a.jsonl").read_bytes().replace(b"a-0", b"other"))
    shards.meta("in/rollouts/c", policy="a hand", sampling=SAMPLING, training=None)
    assert "expected ids that stand in one shard only, got a-1 in a and in c" in refusal(shards)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"policy": "another"}, "expected one policy in all shards, got a: a hand, b: another"),
        ({"sampling": {"temperature": 0.5}}, "expected one sampling in all shards"),
        ({"split": "holdout"}, "expected one split in all shards, got a: dev, b: holdout"),
        ({"training": {"rubric": None, "prompts": []}}, "expected one trained_on in all shards"),
    ],
)
def test_shards_of_unlike_conditions_are_refused(shards: Lab, said: dict[str, Any], complaint: str) -> None:
    shard(shards, "b", RIGHT["b"], **said)
    assert complaint in refusal(shards)


def test_a_second_call_goes_on_with_what_is_finished(shards: Lab) -> None:
    whole = measure(shards, run="whole")
    cut_off(shards)
    before = {path: path.stat().st_mtime_ns for path in Path("run.partial/shards/a").iterdir()}
    assert measure(shards) == whole
    after = {Path("run.partial/shards/a") / path.name: path.stat() for path in Path("run/shards/a").iterdir()}
    assert before == {path: stat.st_mtime_ns for path, stat in after.items()}
    assert not Path("run.partial").exists()


def sign_again(run: Path) -> None:
    rows_edited(run, lambda rows: rows[0].update(completion="Final: 0 "))
    forged(run)


CHANGES: dict[str, Any] = {
    "a shard signed again": lambda: sign_again(Path("run.partial/shards/a")),
    "a shard without its results": lambda: Path("run.partial/shards/a/results.jsonl").unlink(),
    "its dataset": lambda: Path("in/datasets/a.jsonl").write_bytes(Path("in/datasets/a.jsonl").read_bytes() + b"\n"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_between_two_calls_is_refused_by_name(shards: Lab, name: str) -> None:
    cut_off(shards)
    CHANGES[name]()
    assert "run.partial/shards/a: expected what its dataset and rollouts come to, got another" in refusal(shards)
    assert names(Path("run.partial/shards")) == ["a"]


@pytest.mark.parametrize("more", [("--expect", "much"), ("--missing", "zero"), ("--change", "x"), ("--split", "dev")])
def test_what_was_said_when_it_began_stays(shards: Lab, more: tuple[str, str]) -> None:
    cut_off(shards, "--expect", "little")
    recorded = "little" if "--expect" in more else "None"
    assert f"expected {more[0][2:]} as when this run began, {recorded}, got {more[1]}" in refusal(shards, *more)
    measure(shards)
    assert json.loads(Path("run/manifest.json").read_bytes())["expect"] == "little"


def test_shards_that_come_or_go_between_two_calls_are_refused(shards: Lab) -> None:
    cut_off(shards)
    shard(shards, "c", [True])
    assert "expected the shards that it was begun with, got one more or one less, c" in refusal(shards)


def test_a_folder_that_is_not_ours_is_left_alone(shards: Lab) -> None:
    shards.write("run.partial/mine.txt", "years of work")
    before = files(shards.folder)
    assert "expected a run that course.eval_shards began" in refusal(shards)
    assert files(shards.folder) == before
    shutil.rmtree("run.partial")
    cut_off(shards)
    shards.write("run.partial/shards/mine/x.txt", "years of work")
    assert "run.partial/shards/mine: expected what course.eval_shards writes" in refusal(shards)
    assert Path("run.partial/shards/mine/x.txt").exists()


def test_no_run_is_made_inside_a_sharded_run(shards: Lab) -> None:
    measure(shards)
    files = ("--dataset", "in/datasets/a.jsonl", "--completions", "in/rollouts/a.jsonl")
    for place in ("run/more", "run/shards/more"):
        assert "expected a folder outside of any run" in shards.refused("eval", *files, "--outdir", place)
        assert "expected a folder outside of any run" in shards.refused("eval_shards", "in", "--outdir", place)
    assert "expected a new folder, got one that exists" in shards.refused("eval_shards", "in", "--outdir", "run")


def test_two_commands_on_one_folder_do_not_meet(shards: Lab) -> None:
    cut_off(shards)
    with sqlite3.connect("run.partial/ids.sqlite") as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "got another command at work" in refusal(shards)
    other.close()
    measure(shards)


def test_ids_that_cannot_be_written_are_one_line(shards: Lab) -> None:
    cut_off(shards)
    shards.write("run.partial/ids.sqlite", "no database, whatever its name says")
    assert "expected a place for the ids of all shards, got file is not a database" in refusal(shards)


def test_a_look_at_a_holdout_is_counted_before_anything_of_it_can_be_seen(lab: Lab) -> None:
    for name, right in RIGHT.items():
        shard(lab, name, right, split="holdout")
    cut_off(lab)
    prompts = [f"{name}, {number}?" for name, right in RIGHT.items() for number in range(len(right))]
    (line,) = lines_of(run_log.LOG)
    assert line["holdouts"] == [prompts_digest(prompts)]
    done = lab("eval_shards", "in", "--outdir", "run")
    assert "this was look number 2 at it" in done.out
    assert [line["holdouts"] for line in lines_of(run_log.LOG)] == [[prompts_digest(prompts)]] * 2 + [[]]


def test_a_prompt_of_two_shards_that_was_trained_on_counts_once(lab: Lab) -> None:
    digest = hashlib.sha256(b"the same?").hexdigest()[:16]
    for name in RIGHT:
        shard(lab, name, [True], prompt="the same?", training={"rubric": None, "prompts": [digest]})
    measure(lab)
    assert json.loads(Path("run/manifest.json").read_bytes())["trained_on"]["measured_here"] == 1
    assert lab("inspect_run", "run", "--verify").status == 0


@pytest.mark.slow
def test_the_bytes_are_the_same_for_any_number_of_processes(shards: Lab) -> None:
    digests = {measure(shards, "--jobs", jobs, run=f"run_{jobs}") for jobs in (1, 2, 3)}
    assert len(digests) == 1


@posix
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_a_command_that_is_ended_is_gone_on_with(lab: Lab, number: signal.Signals) -> None:
    """On two processes: what was finished stays as it is, and nothing of what was not is left by Ctrl-C or SIGTERM."""
    large(lab, 6, 20_000)
    process = lab.start("eval_shards", "in", "--outdir", "run", "--jobs", "2")
    place = lab.folder / "run.partial" / "shards"
    while process.poll() is None and not (place.exists() and any(name[0] != "." for name in names(place))):
        time.sleep(0.01)
    process.send_signal(number)
    done = ended(process)
    assert done.status == (-9 if number == signal.SIGKILL else 128 + number), done.err
    assert "Traceback" not in done.err
    finished = {path: path.stat().st_mtime_ns for path in place.glob("[!.]*/results.jsonl")}
    assert 0 < len(finished) < 6
    if number != signal.SIGKILL:
        assert [name for name in names(place) if name[0] == "."] == []
    done = lab.process("eval_shards", "in", "--outdir", "run", "--jobs", "2")
    assert (done.status, done.err) == (0, "")
    now = {place / path.parent.name / path.name: path for path in (lab.folder / "run/shards").glob("*/results.jsonl")}
    assert {path: now[path].stat().st_mtime_ns for path in finished} == finished
    assert lab.process("eval_shards", "in", "--outdir", "one").out.splitlines()[-2] == done.out.splitlines()[-2]


@posix
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 0.5, 0.8])
def test_ctrl_c_at_a_terminal_while_the_processes_start_is_one_line(lab: Lab, seconds: float) -> None:
    """A terminal sends it to all of them at once, also to one that has only just begun to load Python."""
    large(lab, 4, 40_000)  # at least a second's work
    process = lab.start("eval_shards", "in", "--outdir", "run", "--jobs", "2", start_new_session=True)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    done = ended(process)
    assert (done.status, done.err.count("\n")) == (130, 1), done.err


@posix
@pytest.mark.medium
def test_an_environment_variable_does_not_decide_what_a_worker_can_read(lab: Lab) -> None:
    number = 10**900
    lab.write("in/datasets/a.jsonl", [{"id": "q", "prompt": "?", "expected_answer": number}])
    lab.write("in/rollouts/a.jsonl", [{"id": "q", "completion": f"Final: {number}"}])
    shard(lab, "b", [True])
    (lab.folder / "in/rollouts/b.meta.json").unlink()
    env = {"PYTHONINTMAXSTRDIGITS": "640"}
    done = lab.process("eval_shards", "in", "--outdir", "run", "--jobs", "2", env=env)
    assert (done.status, done.err) == (0, "")
    assert "passed 2 of 2" in done.out


def test_the_example_of_the_help_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "course.eval_shards", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "all of them share one folder" in " ".join(done.stdout.split())
