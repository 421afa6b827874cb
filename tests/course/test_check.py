"""The self-check as a student meets it: what is done, and one next thing to do.

An example: in a fresh copy nothing is started, the status is 1, and the next thing is the first measurement. Once that
is done the next thing is the kata.
"""

import hashlib
import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from course.exercises import judging
from course.exercises.milestones import EXERCISES
from course.exercises.sheets import MENTAL_MAP


@pytest.fixture
def fresh(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The sheets as they ship, also where a student has filled them in."""
    for name in ("exercises/kata_1.md", "notes/mental_map_v1.md"):
        lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
        lab.write(name, "\n".join(line for line in lines if line.startswith(("#", ">"))))
    shutil.copytree(ROOT / "data", lab.folder / "data")
    source = (ROOT / "tests" / "test_rubric.py").read_bytes()
    monkeypatch.setattr(judging, "_AS_SHIPPED", hashlib.sha256(source).hexdigest())
    lab.write("tests/test_rubric.py", source)
    return lab


def test_the_next_thing_to_do_moves_on(fresh: Lab) -> None:
    done = fresh("check")
    assert (done.status, done.err) == (1, "")
    assert re.findall(r"^  (\w+) +(.*)$", done.out, re.MULTILINE) == [(name, "not started") for name in EXERCISES]
    command = " ".join(done.out.partition("next: ")[2].replace("\\\n", " ").split())
    assert command.startswith("python3 -m course.eval --dataset ")
    words = command.replace('"YOUR GUESS"', "half").split()[2:]
    for guess in ("YOUR GUESS", "half"):  # the first is what the check prints, and no guess
        said = [guess if word == "half" else word for word in words[1:]]
        assert fresh(words[0].removeprefix("course."), *said).status == 0
        assert ("without a prediction" in fresh("check").out) == (guess == "YOUR GUESS")
    after = fresh("check")
    assert after.status == 1
    assert "  first_run      done: 42.5 % passed, you expected half (" in after.out
    assert "next: python3 -m course.check kata_1\n" in after.out


def test_it_fits_a_small_terminal(fresh: Lab) -> None:
    for words in ([], ["kata_1"], ["mental_map_v1"], ["first_run"], ["kata_1", "--id", "10"]):
        lines = fresh("check", *words).out.split("\n")
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80


def test_a_finished_exercise_ends_with_status_0(fresh: Lab) -> None:
    text = (
        "The policy or model, its prompt, a completion, a token, a step, the verifier, a reward, no loss, no metric, "
    )
    answer = f"{text} an objective, a distribution, frozen -> sum"
    fresh.write("notes/mental_map_v1.md", "".join(f"## {heading}\n{answer}\n" for heading in MENTAL_MAP))
    done = fresh("check", "mental_map_v1")
    assert (done.status, done.err) == (0, "")
    assert "mental_map_v1  for the teacher to read: 11 of 11 questions answered" in done.out
    assert done.out.endswith("next: python3 -m course.check\n")
    assert max(map(len, done.out.split("\n"))) <= 80
    assert fresh("check").status == 1


@pytest.mark.parametrize("broken", ["\x1b]0;x\x07## 1\n## 1\n", "", "## 1\n" * 3, "x" * (1 << 21)])
def test_a_broken_sheet_is_a_state_and_one_line(fresh: Lab, broken: str) -> None:
    fresh.write("exercises/kata_1.md", broken)
    done = fresh("check", "kata_1")
    assert (done.status, done.err) == (1, "")
    place = str(Path("exercises", "kata_1.md"))
    assert re.match(rf"{re.escape(place)}:\d+ expected ", done.out)
    assert "\x1b" not in done.out
    assert "kata_1         wrong: " in fresh("check").out


def test_a_lost_sheet_is_a_state(fresh: Lab) -> None:
    (fresh.folder / "notes" / "mental_map_v1.md").unlink()
    done = fresh("check", "mental_map_v1")
    assert done.status == 1
    assert "run from the lab's folder" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kata"], "did you mean kata_1? argument exercise: expected one of "),
        (["--id", "3"], "--id: expected the name of a kata in front of it, got 3"),
        (["mental_map_v1", "--id", "3"], "--id: expected the name of a kata in front of it"),
        (["kata_1", "--id", "\x1b11"], "--id: expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, got <U+001B ESCAPE>11"),
    ],
    ids=range(4),
)
def test_bad_usage(fresh: Lab, words: list[str], said: str) -> None:
    assert said in fresh.refused("check", *words)


def test_one_example_of_an_unfinished_kata_ends_with_status_1(fresh: Lab) -> None:
    done = fresh("check", "kata_1", "--id", "3")
    assert (done.status, done.err) == (1, "")
    assert re.fullmatch(r"blank: \S+kata_1.md:\d+ waits for your label, evidence and fix\n", done.out)


def test_help_says_when_the_status_is_1(lab: Lab) -> None:
    assert "status 1 until all is done" in lab("check", "--help").out
