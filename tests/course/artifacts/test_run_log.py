"""The log of runs: a line for each run, one after the other, and every look at a holdout counted by its prompts.

An example: two runs on a holdout, one after the other, say that they are look number 1 and look number 2. The second
measured a copy under another name, with other ids, in another order: it is the same holdout.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from conftest import ROOT, Lab, ended, lines_of

from course.artifacts.locked_room import room_conditions
from course.artifacts.records import Manifest
from course.artifacts.run_log import LogLine, append, log_lock, looks, read_log, read_logs
from course.artifacts.writing import RunWriter
from course.errors import UserError

TEXTS = ["Final: 1", "Final: 2"]
LINE = LogLine("runs/run_001", "0" * 64, "A", "course.eval", None, None, {"pass_rate": 0.5}, ["h"])


def files_of(lab: Lab, split: str | None = "holdout") -> list[object]:
    return ["--dataset", lab.dataset([1, 2], split), "--completions", lab.completions(TEXTS)]


def test_a_line_says_what_the_run_was_and_its_digest_is_printed(lab: Lab) -> None:
    done = lab("eval", *files_of(lab, None), "--change", "a shorter prompt", "--expect", "50 %")
    digest = hashlib.sha256(Path("runs/run_001/manifest.json").read_bytes()).hexdigest()
    assert f"run: runs/run_001\ndigest: {digest}\n" in done.out
    assert digest in Path("runs/run_001/README.md").read_text(encoding="utf-8")
    manifest = msgspec.json.decode(Path("runs/run_001/manifest.json").read_bytes(), type=Manifest)
    room = hashlib.sha256(json.dumps(room_conditions(manifest), separators=(",", ":")).encode()).hexdigest()
    assert lines_of(lab.log) == [
        {
            "run": str(lab.folder / "runs" / "run_001"),  # not below the lab's root, which is another folder here
            "manifest": digest,
            "loop": "A",
            "command": "course.eval",
            "change": "a shorter prompt",
            "expect": "50 %",
            "number": {"pass_rate": 1.0},
            "room": room,
            "holdouts": [],
        }
    ]


def test_each_run_on_the_holdout_is_counted_and_says_its_number(lab: Lab) -> None:
    arguments = files_of(lab)
    for number in (1, 2):
        message = f"holdout: look number {number} at these prompts"
        assert message in lab("eval", *arguments).out
        assert f"look number {number} at these prompts" in Path(f"runs/run_00{number}/README.md").read_text(
            encoding="utf-8"
        )
    log = read_log(lab.log)
    digest = hashlib.sha256(b'"question 1"\n"question 2"\n').hexdigest() + " form 2"
    assert [line.holdouts for line in log] == [[digest], [digest]]
    assert (looks(log, digest), looks(log, f"{'0' * 64} form 2")) == (2, 0)


def test_a_look_that_was_written_down_in_an_older_form_counts_as_one_at_any_holdout() -> None:
    older = msgspec.structs.replace(LINE, holdouts=["0" * 64])
    other = msgspec.structs.replace(LINE, holdouts=[f"{'1' * 64} form 2"])
    none = msgspec.structs.replace(LINE, holdouts=[])
    assert looks([older, other, none], f"{'2' * 64} form 2") == 1


def test_loop_b_and_an_outdir_of_ones_own_are_counted_too(lab: Lab) -> None:
    dataset = lab.dataset([1, 2], "holdout")
    samples = lab.pack([TEXTS, TEXTS])
    for outdir in ("one", "deep/two"):
        lab("selection_demo", "--dataset", dataset, "--samples", samples, "--n", 2, "--outdir", outdir)
    assert [(Path(line.run).name, len(line.holdouts)) for line in read_log(lab.log)] == [("one", 1), ("two", 1)]


def test_a_split_that_is_declared_the_holdout_is_counted(lab: Lab) -> None:
    assert "look number 1" in lab.evaluate([1, 2], TEXTS, "--split", "holdout").out


@pytest.mark.parametrize("option", [(), ("--split", "dev"), ("--split", "holdout")])
def test_a_file_that_the_log_knows_as_a_holdout_is_one_and_the_look_counts(lab: Lab, option: tuple[str, ...]) -> None:
    """Under another name, with other ids and in capitals, too; what calls it dev is refused."""
    lab.evaluate([1, 2], TEXTS, "--split", "holdout")
    rows = [{"id": f"x{i}", "prompt": f"QUESTION {i}", "expected_answer": i} for i in (2, 1)]
    words = (
        "--dataset",
        lab.write("other.jsonl", rows),
        "--completions",
        lab.write("of-other.jsonl", [{"id": f"x{i}", "completion": "Final: 1"} for i in (2, 1)]),
    )
    if option == ("--split", "dev"):
        assert "the log of runs knows these prompts as a holdout" in lab.refused("eval", *words, *option)
        return
    done = lab("eval", *words, *option)
    assert "split holdout" in done.out
    assert "look number 2" in done.out
    assert read_log(lab.log)[0].holdouts == read_log(lab.log)[1].holdouts


def test_a_part_of_a_holdout_that_the_log_knows_is_not_known(lab: Lab) -> None:
    lab.evaluate([1, 2], TEXTS, "--split", "holdout")
    assert "look" not in lab.evaluate([1], TEXTS[:1]).out


def test_loop_b_knows_a_holdout_of_the_log_too(lab: Lab) -> None:
    lab.evaluate([1, 2], TEXTS, "--split", "holdout")
    samples = lab.pack([TEXTS, TEXTS])
    done = lab("selection_demo", "--dataset", lab.dataset([1, 2]), "--samples", samples, "--n", 2)
    assert "look number 2" in done.out


def test_a_look_at_dev_is_none(lab: Lab) -> None:
    assert "look" not in lab.evaluate([1, 2], TEXTS).out
    assert read_log(lab.log)[0].holdouts == []


def test_a_refused_run_is_no_line(lab: Lab) -> None:
    lab.refused("eval", "--dataset", lab.dataset([1, 2], "holdout"), "--completions", lab.completions(TEXTS[:1]))
    assert not lab.log.exists()


EXAMPLES: list[dict[str, object]] = [
    {"id": f"q{i}", "prompt": f"Question {i}?", "expected_answer": i, "metadata": {"split": "holdout"}} for i in (1, 2)
]
THE_SAME_HOLDOUT: dict[str, Sequence[dict[str, object]]] = {
    "another name": [*EXAMPLES],
    "another order": EXAMPLES[::-1],
    "other ids": [{**example, "id": f"id-{i}"} for i, example in enumerate(EXAMPLES)],
    "other metadata": [{**example, "metadata": {"split": "holdout", "kind": "sum"}} for example in EXAMPLES],
    "other white space": [
        {**example, "prompt": f" {str(example['prompt']).replace(' ', chr(10))} "} for example in EXAMPLES
    ],
    "other answers": [{**example, "expected_answer": 7} for example in EXAMPLES],
}


@pytest.mark.parametrize("how", THE_SAME_HOLDOUT)
def test_a_holdout_is_known_by_its_prompts(lab: Lab, how: str) -> None:
    lab("eval", *files_of(lab))
    copy = THE_SAME_HOLDOUT[how]
    dataset = lab.write("innocent.jsonl", copy)
    completions = lab.write("answers.jsonl", [{"id": example["id"], "completion": ""} for example in copy])
    assert "look number 2" in lab("eval", "--dataset", dataset, "--completions", completions).out


def test_a_blank_line_makes_no_other_holdout(lab: Lab) -> None:
    lab("eval", *files_of(lab))
    lab.write("dataset.jsonl", Path("dataset.jsonl").read_text("utf-8") + "\n")
    assert "look number 2" in lab("eval", "--dataset", "dataset.jsonl", "--completions", "completions.jsonl").out


def test_the_shipped_holdout_without_its_metadata_is_still_opened(lab: Lab) -> None:
    lines = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
    bare = [{key: line[key] for key in ("id", "prompt", "expected_answer")} for line in lines]
    dataset = lab.write("exam.jsonl", bare)
    completions = lab.write("answers.jsonl", [{"id": line["id"], "completion": ""} for line in lines])
    done = lab("eval", "--dataset", dataset, "--completions", completions)
    assert "split holdout" in done.out
    assert "look number 1" in done.out
    part = lab.write("part.jsonl", bare[:3])
    some = lab.write("some.jsonl", [{"id": line["id"], "completion": ""} for line in lines[:3]])
    assert "look number 2" in lab("eval", "--dataset", part, "--completions", some).out
    line = lab.refused("eval", "--dataset", part, "--completions", some, "--split", "dev")
    assert "3 of the prompts are from math_holdout.jsonl" in line


def test_the_gate_says_how_often_the_holdout_was_looked_at(lab: Lab) -> None:
    one = lab.measured("one", [True] * 3, "holdout")
    two = lab.measured("two", [True] * 3, "holdout")
    done = lab("gate", "--baseline", one, "--candidate", two, "--min-delta", 0)
    assert "looks at the holdout so far: 2" in done.out
    dev = lab.measured("three", [True] * 4), lab.measured("four", [True] * 4)
    assert "holdout" not in lab("gate", "--baseline", dev[0], "--candidate", dev[1], "--min-delta", 0).out


@pytest.mark.parametrize("broken", [b"{}\n", b"looked once\n", b"\xff\n", b'{"run":1}\n', b"\n", b"\x1b[2J\n"])
def test_a_broken_log_is_a_one_line_error_and_nothing_is_measured(lab: Lab, broken: bytes) -> None:
    run = lab.measured("run", [True, False], "holdout")
    good = lab.log.read_bytes()
    arguments = files_of(lab)
    lab.log.write_bytes(good + broken + good)
    for line in (
        lab.refused("eval", *arguments),
        lab.refused("gate", "--baseline", run, "--candidate", run, "--min-delta", 0),
        lab.refused("inspect_run", "--run", run, "--verify"),
        lab.refused("inspect_run", "--log"),
    ):
        assert f"error: {lab.log}:2 is not a line of the lab's log: " in line
        assert line.endswith("; delete this line\n")
    assert lab.log.read_bytes() == good + broken + good


def test_a_line_that_was_cut_off_by_a_kill_is_taken_away_by_the_next_run(lab: Lab) -> None:
    lab.measured("one", [True])
    lab.log.write_bytes(lab.log.read_bytes() + b'{"run":"runs/run_0')
    assert len(read_log(lab.log)) == 1
    lab.measured("two", [False])
    assert [Path(line["run"]).name for line in lines_of(lab.log)] == ["one", "two"]


def test_an_editor_that_took_the_last_newline_of_the_log_costs_no_line(lab: Lab) -> None:
    lab.measured("one", [True])
    whole = lab.log.read_bytes()
    lab.log.write_bytes(whole.removesuffix(b"\n"))
    assert [Path(line.run).name for line in read_log(lab.log)] == ["one"]
    with log_lock(lab.log):
        pass
    assert lab.log.read_bytes() == whole
    lab.log.write_bytes(whole.removesuffix(b"\n"))
    lab.measured("two", [False])
    assert [Path(line["run"]).name for line in lines_of(lab.log)] == ["one", "two"]
    assert lab.log.read_bytes().startswith(whole)


def test_whichever_bytes_of_the_last_line_are_there_it_is_whole_or_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    line = msgspec.json.encode(LINE) + b"\n"
    for end in range(len(line) + 1):
        there = [LINE, LINE] if end >= len(line) - 1 else [LINE]
        path.write_bytes(line + line[:end])
        assert read_log(path) == there
        with log_lock(path) as log:
            assert read_log(path) == there
            append(log, LINE)
        assert path.read_bytes() == line * (len(there) + 1)


def test_a_line_that_two_logs_hold_is_one_and_what_one_log_holds_twice_is_two(tmp_path: Path) -> None:
    a, b, c = (msgspec.structs.replace(LINE, run=name) for name in "abc")

    def log(name: str, *lines: LogLine) -> Path:
        path = tmp_path / name
        path.write_bytes(msgspec.json.Encoder().encode_lines(lines))
        return path

    mine = log("mine.jsonl", a, b, b)
    theirs = log("theirs.jsonl", b, c)
    assert read_logs(mine, []) == [a, b, b]
    assert read_logs(mine, [theirs]) == [a, b, b, c]
    assert read_logs(mine, [mine, theirs, theirs]) == [a, b, b, c]
    assert read_logs(tmp_path / "none.jsonl", [theirs]) == [b, c]
    assert looks(read_logs(tmp_path / "none.jsonl", [theirs]), "h") == 2
    with pytest.raises(UserError, match=r"none\.jsonl: cannot read this log of runs"):
        read_logs(mine, [tmp_path / "none.jsonl"])


def test_a_log_that_is_broken_is_said_before_any_work(lab: Lab) -> None:
    """A training of minutes would be lost at its end, when its line is to be added."""
    lab.log.parent.mkdir(parents=True)
    lab.log.write_bytes(b"{}\n")
    message = f"{lab.log}:1 is not a line of the lab's log: "
    with pytest.raises(UserError, match=re.escape(message)):
        RunWriter(None)
    assert not list(lab.folder.iterdir())


def test_a_line_that_cannot_be_added_is_a_run_that_is_not_made(lab: Lab) -> None:
    lab.root.mkdir()
    (lab.root / "runs").write_text("a file where the log's folder should be")
    line = lab.refused("eval", *files_of(lab), "--outdir", "mine")
    assert line == f"error: {lab.log}: cannot read this log of runs: not a directory\n"
    message = "cannot add to the log of runs: .*; nothing was written"
    with pytest.raises(UserError, match=message), log_lock(lab.log):
        raise AssertionError("it is held")


def test_a_line_that_a_failed_run_added_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    with log_lock(path) as log:
        append(log, LINE)
        log.truncate(append(log, msgspec.structs.replace(LINE, run="runs/run_002")))
    assert [line.run for line in read_log(path)] == ["runs/run_001"]


def test_a_log_that_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    assert read_log(tmp_path / "none.jsonl") == []
    with pytest.raises(UserError, match=r"none\.jsonl: cannot read this log of runs: no such file or directory"):
        read_log(tmp_path / "none.jsonl", must_exist=True)


HOLDER = """
import sys
from pathlib import Path
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import Manifest
from course.artifacts.run_log import log_lock
with log_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_is_waited_for_and_a_killed_process_leaves_none_behind(lab: Lab) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lab.log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == b"held"
    waiting = lab.start("eval", *files_of(lab))
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(1.5)
    assert not (lab.runs / "run_001").exists()
    holder.kill()
    holder.communicate()
    assert ended(waiting).status == 0
    assert (lab.runs / "run_001").exists()


def test_runs_at_one_moment_each_get_a_name_a_line_and_a_look_of_their_own(lab: Lab) -> None:
    arguments = files_of(lab)
    started = [lab.start("eval", *arguments) for _ in range(6)]
    done = [ended(process) for process in started]
    assert [process.status for process in done] == [0] * 6
    assert sorted(path.name for path in lab.runs.glob("run_*")) == [f"run_00{i}" for i in range(1, 7)]
    log = lines_of(lab.log)
    assert [line["run"] for line in log] == [f"runs/run_00{i}" for i in range(1, 7)]
    for number, line in enumerate(log, 1):
        (said,) = [process.out for process in done if f"look number {number} at these prompts" in process.out]
        assert f"run: {lab.runs}/run_00{number}\ndigest: {line['manifest']}\n" in said


def test_a_run_below_the_labs_root_is_named_from_there_wherever_the_command_was_called(lab: Lab) -> None:
    arguments = [lab.folder / str(word) if str(word).endswith("jsonl") else word for word in files_of(lab)]
    process = lab.start("eval", *arguments, "--outdir", lab.root / "runs" / "mine")
    assert ended(process).status == 0
    assert [line["run"] for line in lines_of(lab.log)] == ["runs/mine"]


def test_a_run_inside_a_run_is_refused(lab: Lab) -> None:
    """Else a look at the holdout could hide in it: a run there would have no line, or a name that is another's."""
    run = lab.measured("run", [True])
    line = lab.refused("eval", *files_of(lab), "--outdir", run / "inner")
    assert "run/inner: expected a folder outside of every run, got a folder inside " in line
    lab.write("project/manifest.json", json.dumps({"of": "something else"}))
    assert lab("eval", *files_of(lab), "--outdir", "project/run").status == 0
