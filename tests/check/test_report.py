"""What check prints: milestones, a line for each exercise, and one exercise in full, whatever a student wrote.

An example: ``first_run`` is done, with a short word from a student that holds an escape: it is shown, never obeyed.
"""

from pathlib import Path

import pytest

from check.milestones import EXERCISES, MILESTONES
from check.report import end_text, exercise_line, exercise_text, overview, submission_text
from check.result import CheckResult

TITLES = {"0": "words", "0.5": "choosing", "6": "the map"}
PLACES = {"run": "0", "map": "0", "pick": "0.5", "last": "6", "note": "6"}
LEGEND = ". not started, o started, x wrong, ? cannot be checked yet, # done, r handed in"
FRESH = f"""\
Milestone 0   words                                                       0 of 2
  run             not started
  map             not started
Milestone 0.5 choosing                                                  . 0 of 1
Milestone 6   the map                                                  .. 0 of 2
{LEGEND}"""
HALF_WAY = f"""\
Milestone 0   words                                          1 done, 1 handed in
Milestone 0.5 choosing                                                    0 of 1
  pick            wrong: of 2 ties the last
Milestone 6   the map                                                  or 1 of 2
{LEGEND}"""
DONE = """\
Milestone 0   words                                          1 done, 1 handed in
Milestone 0.5 choosing                                                    1 done
Milestone 6   the map                                        1 done, 1 handed in"""


def screen(**states: str) -> str:
    results = dict.fromkeys(PLACES, CheckResult("not started"))
    for name, state in states.items():
        results[name] = CheckResult(state, "of 2 ties the last" if state == "wrong" and name == "pick" else "")
    return overview(TITLES, PLACES, results)


def test_milestones_are_folded_but_the_one_to_go_on_with() -> None:
    read = "for the teacher to read"
    assert screen() == FRESH
    assert screen(run="done", map=read, pick="wrong", last="started", note=read) == HALF_WAY
    assert screen(run="done", map=read, pick="done", last="done", note=read) == DONE


@pytest.mark.parametrize("opened", MILESTONES)
def test_the_courses_own_milestones_fit_with_a_gap_before_the_counts(opened: str) -> None:
    """A title that ends in a number is not read together with the counts: levels 0 and 1, then 2 done."""
    places = {name: exercise.milestone for name, exercise in EXERCISES.items()}
    results: dict[str, CheckResult] = {}
    for number in MILESTONES:
        names = [name for name in places if places[name] == number]
        results |= dict.fromkeys(names, CheckResult("done"))
        results[names[-2:][0]] = CheckResult("for the teacher to read")
        if [*MILESTONES].index(number) >= [*MILESTONES].index(opened):
            results[names[-1]] = CheckResult("started")
    lines = [line for line in overview(MILESTONES, places, results).split("\n") if line.startswith("Milestone")]
    for line, title in zip(lines, MILESTONES.values(), strict=True):
        assert len(line) == 80
        assert f" {title}  " in line


def test_words_are_handed_in_and_never_done() -> None:
    results = {"run": CheckResult("done"), "map": CheckResult("for the teacher to read")}
    text = end_text(results)
    assert "1 done, 1 handed in" in text
    assert "A person still reads your words, and says whether they are right: map;" in text
    assert "person" not in end_text({"run": CheckResult("done")})


def test_a_state_is_one_line_that_fits() -> None:
    assert exercise_line("first_run", CheckResult("done", "it passed")) == "  first_run       done: it passed"
    assert exercise_line("kata_1", CheckResult("not started")) == "  kata_1          not started"
    line = exercise_line("kata_1", CheckResult("wrong", "\x1b[31m\n" + "x" * 99))
    assert "wrong: <U+001B ESCAPE>[31m<U+000A LINE FEED>x" in line
    assert len(line) == 80


def test_an_exercise_is_what_was_found_its_state_and_more() -> None:
    text = exercise_text("kata_1", CheckResult("wrong", "1 of 2", ["word " * 30, "\x07"]), ["", "rule: r"])
    assert text.split("\n")[-4:] == ["<U+0007 ALERT>", "", "kata_1          wrong: 1 of 2", "rule: r"]
    assert max(map(len, text.split("\n"))) <= 80
    assert exercise_text("kata_1", CheckResult("not started"), []) == "kata_1          not started"


def test_three_lines_are_shown_and_no_more() -> None:
    text = exercise_text("kata_1", CheckResult("wrong", "", [f"line {number}" for number in range(9)]), [])
    assert text.split("\n") == ["line 0", "line 1", "line 2", "", "kata_1          wrong"]


def test_one_exercise_in_full_is_not_cut_and_says_nothing_twice() -> None:
    text = exercise_text("first_run", CheckResult("started", "once more, " * 9 + "with a prediction"), [])
    assert " ".join(text.split()).endswith("once more, with a prediction")
    assert max(map(len, text.split("\n"))) <= 80
    twice = exercise_text("kata_1", CheckResult("wrong", "kata_1.md:1 expected it", ["kata_1.md:1 expected it"]), [])
    assert twice == "kata_1.md:1 expected it\n\nkata_1          wrong"


def test_what_a_program_can_see_of_a_note_is_said() -> None:
    text = exercise_text("map", CheckResult("for the teacher to read", "2 of 2"), [])
    assert "person" in text
    assert "person" not in exercise_text("map", CheckResult("done"), [])


def test_a_hand_in_is_told_by_folder() -> None:
    names = ["exercises/a.py", "exercises/b/c.py", "runs/first/README.md", "runs/log.jsonl", "runs/\x1b/x"]
    lines = submission_text(Path("submission_001.zip"), names, ["map", "last"]).split("\n")
    assert [line.split() for line in lines] == [
        ["written:", "submission_001.zip,", "to", "be", "handed", "in"],
        ["exercises", "2", "files"],
        ["runs/first", "1", "file"],
        ["runs/log.jsonl", "1", "file"],
        ["runs/<U+001B", "ESCAPE>", "1", "file"],
        ["not", "finished:", "map,", "last"],
    ]
    assert max(map(len, lines)) <= 80
