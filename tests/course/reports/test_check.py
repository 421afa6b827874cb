"""What course.check prints: a line for each exercise, and one exercise in full, whatever a student wrote.

An example: ``first_run`` is done, with a short word from a student that holds an escape: it is shown, never obeyed.
"""

from course.reports.check import Checked, exercise_line, exercise_text


def test_a_state_is_one_line_that_fits() -> None:
    assert exercise_line("first_run", Checked("done", "it passed")) == "  first_run       done: it passed"
    assert exercise_line("kata_1", Checked("not started")) == "  kata_1          not started"
    line = exercise_line("kata_1", Checked("wrong", "\x1b[31m\n" + "x" * 99))
    assert "wrong: <U+001B ESCAPE>[31m<U+000A LINE FEED>x" in line
    assert len(line) == 80


def test_an_exercise_ends_with_its_state() -> None:
    text = exercise_text("kata_1", Checked("wrong", "1 of 2", ["word " * 30, "\x07"]), [])
    assert text.split("\n")[-3:] == ["<U+0007 unnamed, category Cc>", "", "kata_1          wrong: 1 of 2"]
    assert max(map(len, text.split("\n"))) <= 80
    assert exercise_text("kata_1", Checked("not started"), []) == "kata_1          not started"
