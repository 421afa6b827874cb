"""What check prints: a line for each exercise that was begun, and one exercise in full, whatever a student wrote."""

from pathlib import Path

from check.report import end_text, exercise_text, overview, submission_text
from check.result import CheckResult

PLACES = {"run": "0", "map": "0", "pick": "0.5", "last": "6", "note": "6"}


def screen(**states: str) -> list[str]:
    results = dict.fromkeys(PLACES, CheckResult("not started"))
    results |= {
        name: CheckResult(state, "of 2 ties \x1b" if state == "wrong" else "") for name, state in states.items()
    }
    return overview(PLACES, results).split("\n")


def test_what_was_begun_has_a_line_and_so_has_the_milestone_that_comes_next() -> None:
    run, map_, pick = "0   run             done", "    map             done", "0.5 pick            not started"
    assert screen() == [
        "0   run             not started",
        "    map             not started",
        "    and 3 more, not started",
    ]
    assert screen(run="done", map="done") == [run, map_, pick, "    and 2 more, not started"]
    assert screen(run="done", map="done", pick="wrong", note="started") == [
        run,
        map_,
        "0.5 pick            wrong: of 2 ties <U+001B ESCAPE>",
        "6   note            started",
        "    and 1 more, not started",
    ]
    assert len(screen(**dict.fromkeys(PLACES, "done"))) == len(PLACES)


def test_words_are_read_by_a_person() -> None:
    results = {"run": CheckResult("done"), "map": CheckResult("for the teacher to read")}
    assert "map" in end_text(results)
    assert "person" not in end_text({"run": CheckResult("done")})


def test_an_exercise_is_what_was_found_its_state_and_more() -> None:
    text = exercise_text("kata_1", CheckResult("wrong", "1 of 2", ["word " * 30, "\x07"]), ["rule: r"])
    assert text.split("\n")[-4:] == ["<U+0007 ALERT>", "", "kata_1          wrong: 1 of 2", "rule: r"]
    assert max(map(len, text.split("\n"))) <= 80


def test_three_lines_are_shown_and_the_first_is_not_said_twice() -> None:
    lines = [f"line {number}" for number in range(9)]
    assert exercise_text("kata_1", CheckResult("wrong", "line 0", lines), []).count("line ") == 3
    assert exercise_text("kata_1", CheckResult("wrong", "line 0", lines), [], everything=True).count("line ") == 9


def test_a_hand_in_is_told_by_its_folders() -> None:
    names = ["exercises/a.py", "runs/\x1b/x", "runs/log.jsonl"]
    text = submission_text(Path("submission_001.zip"), names, ["mine/a"], ["map"])
    lines = text.split("\n")
    assert lines[0] == "written: submission_001.zip, 3 files of exercises, runs, runs/<U+001B ESCAPE>"
    assert lines[1].startswith("not handed in")
    assert "mine/a" in lines[1]
    assert lines[-1] == "not finished: map"
