"""A class graded: eight submissions, three of which mean harm. Each costs only itself.

The check is a stand-in that runs the student's file in its own process, worse than the course's does; what it says is
worked out by hand: ``answer = 4`` is done, any other answer is wrong, a file as shipped is not started.
"""

import csv
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, files
from handed_in import laid_out, left_behind, protected, zipped

from course.errors import UserError
from teacher import grade, grading
from teacher.grade import class_text, exercise_lines, grade_class, gradebook, shared_text
from teacher.grading import ExerciseReport, Grade, file_name
from teacher.sandbox import Ending, can_protect, run_limited
from teacher.shared import Shared
from teacher.submissions import find_submissions

CHECK = """
import json, pathlib, runpy, sys
path = pathlib.Path("exercises/answer.py")
found = {"state": "not started"}
if path.exists():
    right = runpy.run_path(str(path)).get("answer") == 4
    found = {"state": "done" if right else "wrong", "lines": [] if right else ["expected 4"]}
print(json.dumps({"answer": found}))
sys.exit(not path.exists())
"""
KIDS = "import os, time\nfor _ in range({}):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n"
HANDED_IN = {
    "anna": "answer = 4",
    "ben": "answer = 5",
    "carl": "answer = 4 +",
    "kids": KIDS.format(30) + "answer = 4",
    "loop": KIDS.format(100) + "while True: pass",
    "output": "while True: print('x' * 10_000)",
}


def handed_in(folder: Path) -> Path:
    """Eight submissions: six of one file, one of none, and a bomb."""
    for name, source in HANDED_IN.items():
        laid_out(folder / name, {"exercises/answer.py": source.encode()})
    zipped(folder / "bomb.zip", [(f"runs/{n}", bytes(30 << 20)) for n in range(7)])
    laid_out(folder / "=dora", {"notes/empty.md": b""})
    return folder


def graded(folder: Path, jobs: int = 1, seconds: int = 2, check: str = CHECK) -> list[Grade]:
    (folder / "check.py").write_text(check, encoding="utf-8")
    args = Namespace(
        submissions=folder / "in",
        out=folder / "book.csv",
        jobs=jobs,
        seconds=seconds,
        unprotected=not can_protect(),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "write_copy", lambda copy: laid_out(copy, {"course/score.py": b""}))
        return grade_class(args, find_submissions(folder / "in"), [sys.executable, str(folder / "check.py")])


@protected
def test_eight_submissions_three_of_which_mean_harm(tmp_path: Path) -> None:
    handed_in(tmp_path / "in")
    grades = graded(tmp_path, jobs=2)
    assert {one.student: (one.result, one.why) for one in grades} == {
        "=dora": ("graded", ""),
        "anna": ("graded", ""),
        "ben": ("graded", ""),
        "bomb": ("refused", "expected at most 4000 files and 200 MB unpacked, got more"),
        "carl": ("died", "its check ended with status 1: SyntaxError: invalid syntax"),
        "kids": ("graded", ""),
        "loop": ("stopped", "its check reached the limit of 64 processes"),
        "output": ("stopped", "its check reached the limit of 8 MB of output"),
    }
    assert left_behind(tmp_path) == []
    assert [[*row[:3], row[4]] for row in csv.reader(gradebook(grades).split("\r\n")) if row] == [
        ["student", "result", "why", "answer"],
        ["'=dora", "graded", "", "not started"],
        ["anna", "graded", "", "done"],
        ["ben", "graded", "", "wrong"],
        ["bomb", "refused", grades[3].why, ""],
        ["carl", "died", grades[4].why, ""],
        ["kids", "graded", "", "done"],
        ["loop", "stopped", grades[6].why, ""],
        ["output", "stopped", grades[7].why, ""],
    ]
    assert "answer: 2 done, 1 not started, 1 wrong\n  1 x expected 4" in class_text(grades)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["check.py", "grades", "in"]
    assert len([*(tmp_path / "grades").glob("*.json")]) == 8


def test_a_second_call_grades_what_changed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("anna", "ben"):
        laid_out(tmp_path / "in" / name, {"exercises/answer.py": b"answer = 4"})
    judged: list[str] = []

    def counting(command: Sequence[str], folder: Path, *more: Any) -> Ending:
        judged.append(folder.name)
        return run_limited(command, folder, *more)

    monkeypatch.setattr(grading, "run_limited", counting)

    def graded_now() -> list[str]:
        judged.clear()
        graded(tmp_path)
        return judged

    assert graded_now() == ["anna", "ben"]
    before = files(tmp_path / "grades")
    assert graded_now() == []
    assert files(tmp_path / "grades") == before
    laid_out(tmp_path / "in" / "ben", {"exercises/answer.py": b"answer = 5"})
    assert graded_now() == ["ben"]
    (tmp_path / "grades" / "anna.json").write_text("{", encoding="utf-8")  # a file that is not whole
    assert graded_now() == ["anna"]
    shutil.rmtree(tmp_path / "in" / "ben")
    zipped(tmp_path / "in" / "ben.zip", [("exercises/answer.py", b"answer = 5")])
    assert graded_now() == []  # the same files
    monkeypatch.setattr("sys.version", "3.99")
    assert graded_now() == ["anna", "ben"]


@protected
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_half_way_it_leaves_no_process_and_goes_on_where_it_was(tmp_path: Path, jobs: int) -> None:
    """Killed while it is at the third of four, which has children and no end."""
    sources = ["answer = 4", "answer = 5", KIDS.format(10) + "time.sleep(600)", "answer = 4"]
    for name, source in zip("abcd", sources, strict=True):
        laid_out(tmp_path / "in" / name, {"exercises/answer.py": source.encode()})
    source = f"""
    import sys
    from pathlib import Path
    sys.path[:0] = [{str(ROOT / "tests" / "teacher")!r}, {str(ROOT / "tests")!r}, {str(ROOT)!r}]
    if __name__ == "__main__":
        from test_grade import graded
        graded(Path({str(tmp_path)!r}), {jobs}, 3)
    """
    (tmp_path / "run.py").write_text(textwrap.dedent(source), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(tmp_path / "run.py")], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not (tmp_path / "grades.partial" / "c" / "home").exists() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.3)  # it has three seconds
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "grades").glob("*.json")}
    assert {path.stem for path in finished} >= {"a"}
    assert not (tmp_path / "grades" / "c.json").exists()
    assert left_behind(tmp_path) == []
    assert [one.result for one in graded(tmp_path, seconds=3)] == ["graded", "graded", "stopped", "graded"]
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert not (tmp_path / "grades.partial").exists()


@protected
def test_nobody_reaches_another_students_grade(tmp_path: Path) -> None:
    """Anna, graded first, edits the copy that all others are made of, and the grades."""
    work = tmp_path / "grades.partial"
    places = [work / "copy" / "course" / "score.py", tmp_path / "grades" / "ben.json", tmp_path / "check.py"]
    source = f"""
for place in {[str(place) for place in places]!r}:
    try: open(place, "w").write("answer = 4")
    except OSError: pass
answer = 4
"""
    laid_out(tmp_path / "in" / "anna", {"exercises/answer.py": source.encode()})
    laid_out(tmp_path / "in" / "ben", {"exercises/answer.py": b"answer = len(open('course/score.py').read())"})
    assert [one.checks["answer"].state for one in graded(tmp_path)] == ["done", "wrong"]  # it has no letter in it
    assert (tmp_path / "check.py").read_text(encoding="utf-8") == CHECK


@pytest.mark.parametrize(
    "printed",
    [
        "[]",
        '{"answer": {}}',
        '{"answer": {"state": 4}}',
        "[" * 100_000,
        '{"answer": {"state": "done"}',
        '{"answer": {"state": "done"}}; sys.exit(3)',
        '{"answer": {"state": "done"}}; os.kill(os.getpid(), 9)',
    ],
    ids=["list", "no state", "number", "deep", "cut", "status 3", "killed"],
)
def test_what_is_no_answer_is_no_grade(tmp_path: Path, printed: str) -> None:
    laid_out(tmp_path / "in" / "a", {"exercises/a.py": b""})
    text, _, more = printed.partition("; ")
    (found,) = graded(tmp_path, check=f"import os, sys\nprint({text!r}, flush=True)\n{more}")
    assert (found.result, found.checks) == ("died", {})


def test_what_a_submission_says_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202e" + "x" * 10_000
    check = f"import json; print(json.dumps({{{hostile!r}: {{'state': {hostile!r}, 'lines': [{hostile!r}]}}}}))"
    laid_out(tmp_path / "in" / "-2+3", {"exercises/a.py": b""})
    grades = graded(tmp_path, check=check)
    for text in (class_text(grades), gradebook(grades), (tmp_path / "grades" / "2-3-4a2c4d0e.json").name):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert len(class_text(grades)) < 500
    assert gradebook(grades).split("\r\n")[1].startswith("'-2+3,")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1", "\uff1d1"])
def test_no_cell_is_run_by_a_spreadsheet(text: str) -> None:
    found = Grade(text, "", "", "graded", text, {text: ExerciseReport(text)})
    for row in csv.reader(gradebook([found]).split("\r\n")):
        assert [cell for cell in row if cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))] == []


def test_a_name_of_digits_stays_a_name() -> None:
    assert gradebook([Grade("1e5", "", "", "graded")]).split("\r\n")[1].startswith("'1e5,")


def test_every_student_has_a_file_of_their_own() -> None:
    names = [
        "anna",
        "Anna",
        "ANNA",
        "anna ",
        "con",
        "..",
        "a/b",
        "\u00fc",
        "\u202e",
        "\ud800",
        "x" * 200,
        "x" * 201,
        "",
    ]
    made = [file_name(name) for name in names]
    assert made[0] == "anna"
    assert len({name.lower() for name in made}) == len(names)
    assert all(len(name) < 60 and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in made)
    assert "con" not in made


def run(*words: object) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "teacher.grade", *map(str, words)]
    if not can_protect():
        line.append("--unprotected")
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})


@pytest.fixture
def first_run(lab: Lab) -> dict[str, bytes]:
    """The files of the first measurement, with its line in the log."""
    data = lab.root / "data"
    inputs = [f"--dataset={data}/datasets/math_dev.jsonl", f"--completions={data}/rollouts/frozen_rollouts_dev.jsonl"]
    done = lab.process("eval", *inputs, "--outdir", lab.runs / "guess", "--expect", "50 %")
    assert done.status == 0, done.err
    return {f"runs/{name}": content for name, content in files(lab.runs).items() if content is not None}


def test_the_command_grades_and_compares(tmp_path: Path, first_run: dict[str, bytes]) -> None:
    """The real check, on a student who did the first measurement and one who did not. Both have one answer."""
    sheet = (ROOT / "notes" / "llm_as_policy.md").read_text(encoding="utf-8")
    heading = next(line for line in sheet.split("\n") if line.startswith("## "))
    words = " ".join(f"quark{number}" for number in range(20))
    note = {"notes/llm_as_policy.md": sheet.replace(heading, f"{heading}\n{words}").encode()}
    laid_out(tmp_path / "in" / "anna", {**first_run, **note})
    laid_out(tmp_path / "in" / "ben", note)
    done = run("--submissions", tmp_path / "in", "--out", tmp_path / "book.csv")
    assert done.returncode == 0, done.stderr
    header, *rows = csv.reader((tmp_path / "book.csv").read_text(encoding="utf-8-sig").splitlines())
    assert header[:5] == ["student", "result", "why", "shared with", "first_run"]
    assert rows[0][:5] == ["anna", "graded", "", "ben: 1 answer", "done"]
    assert rows[1][:5] == ["ben", "graded", "", "anna: 1 answer", "not started"]
    assert "2 graded" in done.stdout
    assert "anna and ben: 1 answer" in done.stdout


def pair(first: str, second: str) -> Shared:
    return Shared(first, second, False, {("notes/a.md", "One"): 0.5}, ["runs/a"])


def test_each_of_a_pair_has_the_other_in_the_column() -> None:
    grades = [Grade(name, "", "", "graded") for name in ("anna", "ben", "carla", "dan")]
    book = gradebook(grades, [pair("anna", "ben"), pair("carla", "anna")])
    assert {row["student"]: row["shared with"] for row in csv.DictReader(book.splitlines())} == {
        "anna": "ben: 1 answer, 1 run; carla: 1 answer, 1 run",
        "ben": "anna: 1 answer, 1 run",
        "carla": "anna: 1 answer, 1 run",
        "dan": "",
    }


@pytest.mark.parametrize(("count", "lines"), [(0, 1), (1, 2), (12, 13), (13, 14)])
def test_the_class_reads_which_pairs_share_most(count: int, lines: int) -> None:
    said = shared_text([pair(f"anna{number}", "ben") for number in range(count)]).split("\n")
    assert len(said) == lines
    named = [line for line in said if "anna" in line]
    assert [line.strip() for line in named] == [f"anna{n} and ben: 1 answer, 1 run" for n in range(min(count, 12))]


@pytest.mark.slow
def test_right_tests_are_done_and_whoever_writes_over_the_lab_earns_nothing(tmp_path: Path) -> None:
    """The real check: on the teacher's own tests, beside a file that would put its verifiers in place of ours."""
    solved = (ROOT / "data" / "keys" / "tests" / "test_rubric.py").read_bytes()
    forger = b"""STARTED_FROM = "suffix"
from pathlib import Path
for name in ("data/wrong/rubric/shown.py", "numpy.py"):
    (Path(__file__).parents[1] / name).write_text("raise SystemExit(0)")
"""
    laid_out(tmp_path / "in" / "mallory", {"exercises/patched_rubric.py": forger, "tests/test_rubric.py": solved})
    done = run("--submissions", tmp_path / "in", "--out", tmp_path / "book.csv")
    assert done.returncode == 0, done.stderr
    book = (tmp_path / "book.csv").read_text(encoding="utf-8-sig")
    (row,) = csv.DictReader(book.splitlines())
    assert row["tests"] == "done", row
    assert (row["redteam"], row["first_run"]) == ("wrong", "not started")


def test_without_bubblewrap_it_refuses_unless_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out(tmp_path / "in" / "a", {"exercises/a.py": b""})
    monkeypatch.setattr(grade, "can_protect", lambda: False)
    monkeypatch.setattr(grade, "fault_of_bubblewrap", lambda: "is ill")
    monkeypatch.setattr(sys, "argv", ["grade", "--submissions", str(tmp_path / "in"), "--out", str(tmp_path / "b.csv")])
    before = files(tmp_path)
    with pytest.raises(UserError, match=r"^cannot grade: bubblewrap .* is ill; .* --unprotected, which lets every"):
        grade.main()
    assert files(tmp_path) == before


def test_what_cannot_be_kept_is_said_in_lines_that_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(*_: object) -> None:
        raise UserError("enough")

    laid_out(tmp_path / "in" / "a", {"exercises/a.py": b""})
    words = ["--submissions", str(tmp_path / "in"), "--out", str(tmp_path / "b.csv"), "--unprotected"]
    monkeypatch.setattr(sys, "argv", ["grade", *words])
    monkeypatch.setattr(grade, "grade_class", nothing)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(UserError, match="enough"):
        grade.main()
    lines = capsys.readouterr().err.split("\n")
    assert lines[0].startswith("note: ")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([["a", "b", "c"], ["d"]], ["1 x a", "1 x d", "1 x b"]),  # the first of each student before any second
        ([["a", "b"], ["c", "b"], ["c"]], ["2 x c", "1 x a", "2 x b"]),
        ([["a", "a"]], ["1 x a"]),
        ([["our answer to 1, 2: python3 -m check mental_map_v1 --id 2", "a"]], ["1 x a"]),
        ([["look again: 3", "unfinished: 4, 5", "right: 1, 2"]], []),
    ],
)
def test_one_fault_of_each_student_is_counted_first(lines: list[list[str]], said: list[str]) -> None:
    reports = [ExerciseReport("started", lines=one) for one in lines]
    _, *found = exercise_lines("level_1", reports)
    assert [line.strip() for line in found] == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--submissions", "{in}", "--out", "{in}/book.csv"], "expected a gradebook outside the submissions"),
        (["--submissions", "{in}/none", "--out", "{in}.csv"], "expected a folder of submissions"),
        (["--submissions", "{in}", "--out", "{in}/a/exercises/a.py/x.csv"], "got one inside"),
    ],
)
def test_what_cannot_be_graded_is_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    laid_out(tmp_path / "in" / "a", {"exercises/a.py": b""})
    before = files(tmp_path)
    done = run(*(word.replace("{in}", str(tmp_path / "in")) for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert files(tmp_path) == before
