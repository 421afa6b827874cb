"""The page of a run lies in its folder, can be made again, and takes nothing's place that is not such a page.

An example: somebody keeps notes in report.html. The command refuses with status 2 and the notes stay.
"""

import os
import shlex
import shutil
import webbrowser
from pathlib import Path

import pytest
from browser import Reader
from conftest import Lab, copied, files, rows_edited

from course.pages.html import HEAD
from course.starting import PYTHON


@pytest.fixture
def runs(lab: Lab) -> Lab:
    """Two runs, a and b."""
    lab.measured("a", [True, False, True])
    lab.measured("b", [True, True, False])
    return lab


def test_the_page_lies_in_the_run_which_is_still_what_it_was(runs: Lab) -> None:
    before = files(Path("a"))
    done = runs("report", "a")
    assert (done.status, done.out, done.err) == (0, "report: a/report.html\n", "")
    after = files(Path("a"))
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"report.html"}
    assert runs("inspect_run", "a", "--verify").status == 0
    gate = ("gate", "--baseline", "a", "--candidate", "b", "--min-delta", "0", "--json")
    with_page = runs(*gate)
    (Path("a") / "report.html").unlink()
    assert runs(*gate) == with_page


def test_the_page_is_made_again_and_is_the_same(runs: Lab) -> None:
    pages = []
    for _ in range(2):
        assert runs("report", "a").status == 0
        pages.append(Path("a/report.html").read_bytes())
    assert pages[0] == pages[1]


def test_without_the_lab_s_own_page_nothing_is_replaced(runs: Lab) -> None:
    for name, text in (
        ("a/report.html", "my notes"),
        ("a/mine.html", HEAD[:-2]),
        ("a/none.html", ""),
    ):
        Path(name).write_text(text, encoding="utf-8")
        out = [] if name == "a/report.html" else ["--out", name]
        assert f"{name}: this file is not a page of the lab, so it is not replaced" in runs.refused("report", "a", *out)
    assert "a/results.jsonl: this file is not a page" in runs.refused("report", "a", "--out", "a/results.jsonl")
    assert "cannot write a page here: " in runs.refused("report", "a", "--out", "a")
    assert "no/where.html: cannot write a page here" in runs.refused("report", "a", "--out", "no/where.html")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_a_link_names_is_not_replaced(runs: Lab) -> None:
    Path("elsewhere.html").write_text(HEAD, encoding="utf-8")
    Path("a/report.html").symlink_to(Path("elsewhere.html").absolute())
    assert "this file is not a page of the lab" in runs.refused("report", "a")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_the_page_of_a_run_that_cannot_be_written_lies_elsewhere(runs: Lab) -> None:
    Path("a").chmod(0o500)
    try:
        assert "--out FILE writes it elsewhere" in runs.refused("report", "a")
        assert runs("report", "a", "--out", "page.html").status == 0
    finally:
        Path("a").chmod(0o700)


def test_where_writing_fails_nothing_is_left(runs: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert "no space left on device" in runs.refused("report", "a")


def test_the_newest_run_is_last(lab: Lab) -> None:
    for _ in range(2):
        assert lab.process("eval", "--dataset", lab.dataset([1]), "--completions", lab.completions(["x"])).status == 0
    assert lab.process("report", "last").out == f"report: {lab.runs / 'run_002' / 'report.html'}\n"


def test_it_is_shown_where_that_is_asked_for(runs: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert runs("report", "a").status == 0
    assert opened == []
    assert runs("report", "a", "--open").status == 0
    assert opened == [(Path("a") / "report.html").resolve().as_uri()]


def test_what_is_not_as_it_was_written_is_said(runs: Lab) -> None:
    rows_edited(copied(Path("a"), "c"), lambda rows: rows[0].update(reward=0.0), forge=False)
    done = runs("report", "c")
    assert done.status == 0
    assert "WARNING: results.jsonl is not the file that was written" in done.err
    assert "results.jsonl" in Path("c/report.html").read_text(encoding="utf-8")
    shutil.rmtree("c")
    assert "expected the folder of a run" in runs.refused("report", "c")
    Path("b/manifest.json").write_text("{}", encoding="utf-8")
    assert "b: this run is broken" in runs.refused("report", "b")


def test_a_run_ends_with_the_command_of_its_page_which_can_be_pasted(lab: Lab) -> None:
    done = lab.evaluate([1, 2], ["Final: 1", "x"], "--outdir", "a run's")
    last = done.out.splitlines()[-1]
    assert last.startswith(f"page: {PYTHON} -m course.report ")
    assert lab("report", *shlex.split(last)[4:]).status == 0
    assert Path("a run's/report.html").exists()


def test_a_run_of_loop_c_has_a_page(lab: Lab) -> None:
    assert lab("bandit_train", "--steps", "3", "--outdir", "d").status == 0
    assert lab("report", "d").status == 0
    read = Reader(Path("d/report.html").read_text(encoding="utf-8"))
    assert read.attributes["data-view"] == ["C"]
