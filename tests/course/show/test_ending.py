"""The one ending of a run, called as a command calls it.

An example: a run that scored two completions of the holdout, one right, is published. Its folder holds results,
summary, manifest, page and environment; the look at the holdout is counted, and printed before the run's place.
"""

import json
import re
import shlex
from argparse import Namespace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab, lines_of, prompts_digest
from msgspec.structs import asdict

from course.artifacts.conditions import Conditions, conditions_of
from course.artifacts.records import RESULTS, Details, Result
from course.artifacts.writing import RunWriter
from course.datasets.sources import Dataset
from course.errors import UserError
from course.show.ending import RUN, end_run, word_of
from course.show.terminal import command_line

ROWS = [
    Result("q1", "Question 1?", 7, "Final: 7", 1.0, Details("ok", "7")),
    Result("q2", "Question 2?", 8, "eight", 0.0, Details("missing_prefix", None)),
]


def published(dataset: Path | None, loop: Any = "A", **more: Any) -> Path:
    read = Dataset(dataset) if dataset else None
    for _ in read or ():
        pass
    with RunWriter(None) as run:
        run.write_rows(RESULTS, ROWS)
        run.write_bytes("curve.png", b"a figure")
        conditions = Conditions(loop, "course.eval", {"missing": None}, "a shorter prompt\n", "half", read, **more)
        next_command: list[str | Path] = ["course.look", "--run", RUN, "--at", RUN / "curve.png"]
        summary = {"n": 2, "pass_rate": 0.5}
        return end_run(run, conditions, summary, "THE REPORT", read=["curve.png", "log.txt"], next_command=next_command)


def test_what_was_typed_is_among_the_conditions() -> None:
    args = Namespace(command="course.toy_mdp", change="x", expect="0.4", seed=7, lr=0.5, typed=["--lr", ".5"])
    said = Conditions("C", "course.toy_mdp", {"lr": 0.5}, "x", "0.4", seed=7, knob="none", typed=["--lr", ".5"])
    assert conditions_of(args, {"lr": 0.5}, knob="none") == said
    del args.seed
    assert conditions_of(args, {"lr": 0.5}) == said._replace(seed=None, knob=None)


def test_a_run_holds_everything_and_is_printed_when_it_is_on_disk(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    path = published(lab.dataset([7, 8], "holdout"))
    assert path == Path("runs/run_001")
    names = {"README.md", "curve.png", "environment.json", "manifest.json", "results.jsonl", "summary.json"}
    assert {file.name for file in path.iterdir()} == names
    assert capsys.readouterr().out == (
        "THE REPORT\n\nexpected  half\nresult    pass_rate 0.5\n\n"
        "holdout: look number 1 at these prompts; each look is a chance to tune on them\n"
        f"run: {path}\ndigest: {sha256((path / 'manifest.json').read_bytes()).hexdigest()}\n"
        f"read: {path / 'curve.png'}, log.txt\n"
        f"next: python3 -m course.look --run {path} --at {path / 'curve.png'}\n"
        f"page: python3 -m course.report {path}\n"
    )
    assert "look number 1" in (path / "README.md").read_text(encoding="utf-8")
    manifest = json.loads((path / "manifest.json").read_bytes())
    assert set(manifest["outputs"]) == {"curve.png", "results.jsonl", "summary.json"}
    assert (manifest["loop"], manifest["split"]) == ("A", "holdout")
    assert manifest["change"] == "a shorter prompt<U+000A LINE FEED>"
    (line,) = lines_of(lab.log)
    assert (line["command"], line["number"], line["expect"]) == ("course.eval", {"pass_rate": 0.5}, "half")


def test_only_a_measured_holdout_is_opened(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    published(lab.dataset([7, 8]))
    published(None)
    published(lab.dataset([7, 8], "holdout"), loop="C")  # a run of Loop C measures nothing on its own dataset
    assert "look number" not in capsys.readouterr().out
    beside = Dataset(lab.dataset([1], "holdout", "holdout.jsonl"))
    list(beside)
    published(lab.dataset([7, 8]), loop="C", holdouts=[beside])
    assert "look number 1" in capsys.readouterr().out
    assert [line["holdouts"] for line in lines_of(lab.log)] == [[], [], [], [prompts_digest(["Question 1?"])]]


def test_each_of_several_holdouts_is_opened(lab: Lab) -> None:
    files = [Dataset(lab.dataset([1] * n, "holdout", f"{n}.jsonl")) for n in (1, 2)]
    for file in files:
        list(file)
    published(None, loop="C", holdouts=[files[0], *files])  # twice the first: it is opened once
    opened = [prompts_digest(questions) for questions in (["Question 1?"], ["Question 1?", "Question 2?"])]
    assert [line["holdouts"] for line in lines_of(lab.log)] == [opened]


def test_a_run_without_results_is_a_fault_of_its_command(lab: Lab) -> None:
    with (
        pytest.raises(ValueError, match=r"every run has results.jsonl: course.eval wrote none"),
        RunWriter(None) as run,
    ):
        end_run(run, Conditions("A", "course.eval", {}, None, None), {}, "")
    assert list(lab.folder.iterdir()) == []


def test_a_report_that_cannot_be_printed_does_not_unwrite_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("builtins.print", full)
    with pytest.raises(OSError, match="No space left"):  # not the words "nothing was written"
        published(lab.dataset([7, 8]))
    assert (lab.folder / "runs" / "run_001" / "manifest.json").exists()


def test_nothing_is_printed_of_a_run_that_cannot_be_put_in_its_place(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_place(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunWriter, "publish", no_place)
    with pytest.raises(UserError, match="nothing was written"):
        published(lab.dataset([7, 8]))
    assert capsys.readouterr().out == ""
    assert not list(lab.folder.glob("runs/*"))


def test_the_next_line_can_be_pasted_whatever_the_folder_is_called() -> None:
    words = [word_of(word, Path("my runs/it's")) for word in ("course.look", "--run", RUN, "--at", RUN / "a b")]
    line = command_line(words, windows=False).removeprefix("next: ").replace("\\\n", "")
    assert shlex.split(line) == ["python3", "-m", "course.look", "--run", "my runs/it's", "--at", "my runs/it's/a b"]


def test_an_option_stays_with_its_value_and_a_value_in_one_piece() -> None:
    words = ["course.eval", "--change", "'a -- b --c'", "--expect", "x" * 40, "--outdir", "r"]
    assert command_line(words, windows=False).split(" \\\n") == [
        "python3 -m course.eval --change 'a -- b --c'",
        f"    --expect {'x' * 40} --outdir r",
    ]


def test_the_readme_of_a_command_has_what_was_typed(lab: Lab) -> None:
    assert lab.evaluate([1], ["x"], "--outdir", "a", "--expect", "0 %").status == 0
    assert lab("toy_mdp", "--episodes", 2, "--outdir", "c").status == 0
    for run, typed in (("a", "--expect '0 %'"), ("c", "python3 -m course.toy_mdp --episodes 2 --outdir c")):
        assert typed in (Path(run) / "README.md").read_text(encoding="utf-8").partition("## Command line")[2]


def test_the_readme_has_the_line_as_it_can_be_typed_again(lab: Lab) -> None:
    run = published(lab.dataset([7, 8]), typed=["--change", "it's\n# all", "--expect", "half"])
    page = (run / "README.md").read_text(encoding="utf-8")
    line = page.partition("## Command line and settings\n\n")[2].partition("\n\n")[0]
    typed = ["python3", "-m", "course.eval", "--change", "it's<U+000A LINE FEED># all", "--expect", "half"]
    assert shlex.split(line.replace("\\\n", "")) == typed


def test_the_page_shows_the_last_that_passed_and_the_last_that_failed(lab: Lab) -> None:
    page = (published(lab.dataset([7, 8])) / "README.md").read_text(encoding="utf-8")
    assert re.findall("    completion  +(.+)", page) == ["Final: 7", "eight"]
    assert "    THE REPORT\n\n![curve](curve.png)\n" in page


@pytest.mark.usefixtures("lab")
def test_of_many_rows_the_last_are_the_examples() -> None:
    later = [Result(f"later-{row.id}", *list(asdict(row).values())[1:]) for row in ROWS]
    with RunWriter(None) as run:
        run.append(RESULTS, *ROWS)
        run.append(RESULTS, *later)
        run.append("log.jsonl", Details("ok", "7"))  # no completion that was scored
        assert run.examples == {True: later[0], False: later[1]}


def test_a_long_next_line_is_continued_and_on_windows_it_is_not() -> None:
    words = ["course.sample_rollouts", "--policy", "runs/run_001/policy.npz", "--dataset", "data/datasets/sums.jsonl"]
    line = command_line(words, windows=False)
    assert [len(part) <= 80 for part in line.split("\n")] == [True, True]
    assert shlex.split(line.removeprefix("next: ").replace("\\\n", "")) == ["python3", "-m", *words]
    assert "\n" not in command_line(words, windows=True)
