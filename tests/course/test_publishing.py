"""The one ending of a run, called as a command calls it.

An example: a run that scored two completions of the holdout, one right, is published. Its folder holds results,
summary, manifest, page and environment; the look at the holdout is counted, and printed before the run's place.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab, lines_of

from course.artifacts.records import RESULTS, Details, Result
from course.artifacts.writing import RunWriter
from course.datasets.sources import Dataset
from course.errors import UserError
from course.publishing import Conditions, publish

ROWS = [
    Result("q1", "Question 1?", 7, "Final: 7", 1.0, Details("ok", "7")),
    Result("q2", "Question 2?", 8, "eight", 0.0, Details("missing_prefix", None)),
]


def published(dataset: Path | None, loop: Any = "A", **more: Any) -> Path:
    read = Dataset(dataset, None) if dataset else None
    for _ in read or ():
        pass
    with RunWriter(None) as run:
        run.write_rows(RESULTS, ROWS)
        run.write_bytes("curve.png", b"a figure")
        conditions = Conditions(loop, "course.eval", {"missing": None}, "a shorter prompt\n", read, **more)
        return publish(
            run, conditions, {"n": 2}, "THE REPORT", read=["curve.png", "log.txt"], next_command="look --run {run}"
        )


def test_a_run_holds_everything_and_is_printed_when_it_is_on_disk(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    path = published(lab.dataset([7, 8], "holdout"))
    assert path == Path("runs/run_001")
    names = {"README.md", "curve.png", "environment.json", "manifest.json", "results.jsonl", "summary.json"}
    assert {file.name for file in path.iterdir()} == names
    assert capsys.readouterr().out == (
        "THE REPORT\n\n"
        "holdout: this was look number 1 at it; each look is a chance to tune on it\n"
        f"run: {path}\nread: {path / 'curve.png'}, log.txt\nnext: look --run {path}\n"
    )
    assert "look number 1" in (path / "README.md").read_text(encoding="utf-8")
    manifest = json.loads((path / "manifest.json").read_bytes())
    assert set(manifest["outputs"]) == {"curve.png", "results.jsonl", "summary.json"}
    assert (manifest["loop"], manifest["split"]) == ("A", "holdout")
    assert manifest["change"] == "a shorter prompt<U+000A LINE FEED>"
    assert len(lines_of(Path("runs/holdout_log.jsonl"))) == 1


def test_only_a_measured_holdout_is_opened(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    published(lab.dataset([7, 8]))
    published(None)
    published(lab.dataset([7, 8], "holdout"), loop="C")  # a run of Loop C measures nothing on its own dataset
    assert "look number" not in capsys.readouterr().out
    beside = Dataset(lab.dataset([1], "holdout", "holdout.jsonl"), None)
    list(beside)
    published(lab.dataset([7, 8]), loop="C", holdout=beside)
    assert "look number 1" in capsys.readouterr().out
    assert lines_of(Path("runs/holdout_log.jsonl"))[0]["dataset_fingerprint"] == beside.fingerprint


def test_a_run_without_results_is_a_fault_of_its_command(lab: Lab) -> None:
    with (
        pytest.raises(ValueError, match=r"every run has results.jsonl: course.eval wrote none"),
        RunWriter(None) as run,
    ):
        publish(run, Conditions("A", "course.eval", {}, None), {}, "")
    assert list(lab.folder.iterdir()) == []


def test_a_report_that_cannot_be_printed_does_not_unwrite_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
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

    monkeypatch.setattr(RunWriter, "commit", no_place)
    with pytest.raises(UserError, match="nothing was written"):
        published(lab.dataset([7, 8]))
    assert capsys.readouterr().out == ""
    assert not list(lab.folder.glob("runs/*"))
