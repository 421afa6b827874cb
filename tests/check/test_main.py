"""The self-check as a student meets it: what is done, and one next thing to do.

An example: in a fresh copy nothing is started, the status is 1, and the next thing is the first measurement. Once that
is done the next thing is the kata.
"""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check import __main__ as check_command
from check import slow_results
from check.milestones import EXERCISES
from check.result import TO_READ, CheckResult
from course.starting import PYTHON


@pytest.fixture
def fresh(lab: Lab) -> Lab:
    """The sheets as they ship, also where a student has filled them in."""
    for sheet in [*(ROOT / "exercises").glob("*.md"), *(ROOT / "notes").glob("*.md")]:
        lines = sheet.read_text(encoding="utf-8").split("\n")
        own = "\n".join(line for line in lines if line.startswith(("#", ">", "|")))
        lab.write(f"{sheet.parent.name}/{sheet.name}", own)
    for path in (ROOT / "exercises").glob("*.py"):
        lab.write(f"exercises/{path.name}", path.read_bytes())
    shutil.copytree(ROOT / "data", lab.folder / "data")
    lab.red_team()
    return lab


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> dict[str, CheckResult]:
    """What every check finds, in place of what it would find: by default that nothing was begun."""
    found = dict.fromkeys(EXERCISES, CheckResult("not started"))
    monkeypatch.setattr(check_command, "check", lambda exercise, *_, **__: found[exercise.id])
    monkeypatch.setattr(slow_results, "read_last_result", lambda name, _: found[name])
    return found


def test_when_all_is_done_the_hand_in_is_next(fresh: Lab, states: dict[str, CheckResult]) -> None:
    states |= dict.fromkeys(EXERCISES, CheckResult("done"))
    states["mental_map_v1"] = CheckResult(TO_READ)
    done = fresh("check")
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith("next: python3 -m check submit\n")
    states["kata_3"] = CheckResult("wrong", "x" * 99)
    done = fresh("check")
    assert done.status == 1
    assert done.out.endswith("next: python3 -m check kata_3\n")
    assert max(map(len, done.out.split("\n"))) <= 80


def test_watch_checks_again_at_each_save(fresh: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[list[str]] = []

    def sleep(_: float) -> None:
        if len(checked) == 3:
            raise KeyboardInterrupt
        if len(checked) == 2:
            fresh.write("exercises/exploits.jsonl", "")
        else:
            fresh.write("exercises/patched_rubric.py", "x = 1")

    monkeypatch.setattr("subprocess.run", lambda line, **_: checked.append(line[-3:]))
    monkeypatch.setattr("time.sleep", sleep)
    assert fresh("check", "--watch", "redteam").status == 0
    assert checked == [["-m", "check", "redteam"]] * 3


def test_a_hand_in_is_written(fresh: Lab) -> None:
    done = fresh("check", "submit")
    assert (done.status, done.err) == (0, "")
    assert (fresh.folder / "submission_001.zip").is_file()


def test_as_many_hints_are_shown_as_are_asked_for(fresh: Lab) -> None:
    first, second, _ = EXERCISES["kata_1"].hints
    for words, hints, more in (([], [first], 2), (["2"], [first, second], 3)):
        shown = " ".join(fresh("check", "kata_1", "--hint", *words).out.split())
        numbered = [f"hint {number} of 3: {hint}" for number, hint in enumerate(hints, 1)]
        assert shown == " ".join([*numbered, f"one more: {PYTHON} -m check kata_1 --hint {more}"])
    assert "one more" not in fresh("check", "kata_1", "--hint", "3").out


def test_our_version_opens_when_the_check_passes(
    fresh: Lab, states: dict[str, CheckResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_command, "KEYS", fresh.folder / "keys")
    fresh.write("keys/notes/mental_map_v1.md", f"## 1. Words\n{'The model. ' * 20}\n")
    fresh.write("keys/exercises/my_score.py", f"x = {'1 + ' * 40}1\n")
    closed = fresh("check", "mental_map_v1", "--solution")
    assert closed.status == 1
    assert "solution: it opens when this check passes" in closed.out
    assert "The model." not in closed.out
    states |= {"mental_map_v1": CheckResult(TO_READ), "level_1": CheckResult("done"), "kata_1": CheckResult("done")}
    opened = fresh("check", "mental_map_v1", "--solution")
    assert (opened.status, opened.out.count("model.")) == (0, 20)
    assert max(map(len, opened.out.split("\n"))) <= 80
    assert f"{'1 + ' * 40}1\n" in fresh("check", "level_1", "--solution").out  # a file is to be pasted
    assert "--solution" not in fresh("check", "kata_1").out  # has no key here


def test_json_has_every_exercise_and_believes_no_earlier_result(
    fresh: Lab, states: dict[str, CheckResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXERCISES, "kata_1", EXERCISES["kata_1"]._replace(slow=True))
    monkeypatch.setattr(slow_results, "read_last_result", lambda *_: CheckResult("done"))
    states["kata_1"] = CheckResult("wrong", "1 of 10", ["\x1b"], {"1": "x"}, ["runs/a"])
    done = fresh("check", "--json")
    assert done.status == 1
    found = json.loads(done.out)
    assert found.keys() == EXERCISES.keys()
    assert found["kata_1"] == {"state": "wrong", "short": "1 of 10", "lines": ["\x1b"], "runs": ["runs/a"]}
    assert "\x1b" not in done.out
    assert json.loads(fresh("check", "kata_1", "--json").out) == {"kata_1": found["kata_1"]}


def test_a_slow_check_is_run_when_it_is_named_and_its_result_kept_for_the_overview(
    fresh: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXERCISES, "kata_1", EXERCISES["kata_1"]._replace(slow=True))
    assert "kata_1          not started: not judged yet\n" in fresh("check").out
    text = (fresh.folder / "exercises" / "kata_1.md").read_text(encoding="utf-8")
    fresh.write("exercises/kata_1.md", text.replace("## 2", "label: model\n\n## 2"))
    assert fresh("check", "kata_1").status == 1
    assert "kata_1          started: 0 of 10 finished and right\n" in fresh("check").out
    fresh.write("exercises/kata_1.md", text)
    assert "kata_1          started: changed since it was judged\n" in fresh("check").out


def test_the_next_thing_to_do_moves_on(fresh: Lab) -> None:
    done = fresh("check")
    assert (done.status, done.err) == (1, "")
    assert re.findall(r"^(?:0|    ) *(\w+) +(not started)$", done.out, re.MULTILINE) == [
        (name, "not started") for name, exercise in EXERCISES.items() if exercise.milestone == "0"
    ]
    command = " ".join(done.out.partition("next: ")[2].replace("\\\n", " ").split())
    assert command.startswith("python3 -m course.eval --dataset ")
    module, *words = shlex.split(command)[2:]
    name = module.removeprefix("course.")
    assert "YOUR GUESS" in fresh.refused(name, *words)  # what the check prints has no guess yet
    assert not (fresh.folder / "runs").exists()
    assert fresh(name, *words[:-2], "--outdir", "bare").status == 0
    assert "repeat with a prediction" in fresh("check").out
    assert fresh(name, *words[:-1], "50 %").status == 0
    after = fresh("check")
    assert after.status == 1
    assert "first_run       done: pass_rate 0.425, you expected 50 % (" in after.out
    assert "next: python3 -m check kata_1\n" in after.out


def test_it_fits_a_small_terminal(fresh: Lab) -> None:
    for words in ([], ["kata_1", "--id", "10"], *([name] for name in EXERCISES)):
        lines = fresh("check", *words).out.split("\n")
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80


def test_a_finished_exercise_ends_with_status_0(fresh: Lab) -> None:
    fresh.write("notes/mental_map_v1.md", (fresh.folder / "data/keys/notes/mental_map_v1.md").read_bytes())
    done = fresh("check", "mental_map_v1")
    assert (done.status, done.err) == (0, "")
    assert "mental_map_v1   for the teacher to read: 4 of 4 headings answered" in done.out
    assert done.out.endswith("next: python3 -m check\n")
    assert max(map(len, done.out.split("\n"))) <= 80
    assert fresh("check").status == 1


def test_a_broken_sheet_is_a_state_and_one_line(fresh: Lab) -> None:
    fresh.write("exercises/kata_1.md", "\x1b]0;x\x07## 1\n## 1\n")
    done = fresh("check", "kata_1")
    assert (done.status, done.err) == (1, "")
    assert re.match(rf"{re.escape(str(Path('exercises', 'kata_1.md')))}:\d+ expected ", done.out)
    assert "\x1b" not in done.out
    assert "kata_1          wrong: " in fresh("check").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kata_1", "--hint", "4"], "--hint: expected a number from 1 to 3, got 4"),
        (["submit", "--solution"], "--solution: expected the name of an exercise in front of it"),
        (
            ["kata"],
            f"did you mean kata_1? argument NAME: expected one of {len(EXERCISES) + 1} names, got kata (all options: ",
        ),
        (["committee", "--register"], "--register: expected experiment in front of it"),
        (["--id", "3"], "--id: expected the name of an exercise in front of it"),
        (["mental_map_v1", "--id", "5"], "expected one that has something to show (none yet), got 5"),
        (["kata_1", "--id", "\x1b11"], "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), got <U+001B ESCAPE>11"),
    ],
    ids=range(7),
)
def test_bad_usage(fresh: Lab, words: list[str], said: str) -> None:
    assert said in fresh.refused("check", *words)


def test_to_show_one_example_of_an_unfinished_kata_is_no_failure(fresh: Lab) -> None:
    done = fresh("check", "kata_1", "--id", "3")
    assert (done.status, done.err) == (0, "")
    assert done.out == "blank: waits for your label, evidence, fix\n"


def test_of_a_level_the_next_thing_is_the_step_that_shows_what_to_type(
    fresh: Lab, states: dict[str, CheckResult]
) -> None:
    states |= dict.fromkeys(EXERCISES, CheckResult("done")) | {
        "level_1": CheckResult("started", command="check level_1 --id reflect")
    }
    for words in ([], ["level_1"]):
        assert fresh("check", *words).out.endswith("next: python3 -m check level_1 --id reflect\n")
