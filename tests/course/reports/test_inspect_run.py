"""What course.inspect_run prints.

An example: of ten rows five have a wrong value and three are empty. The table names the wrong values first, with the
family whose fault they are and what the check expected.
"""

from course.artifacts.records import Details, Result
from course.reports.inspect_run import outcomes_table, ranking_text, row_in_full, row_text, samples_text


def row(id_: str, outcome: str, completion: str | None, reward: float = 0.0) -> Result:
    return Result(id_, "1 + 6?", 7, completion, reward, Details(outcome, None))


ROWS = {"wrong_answer": [row("q1", "wrong_answer", "Final: 8")], "empty": [row("q2", "empty", "\n")]}
COUNTS = {"empty": 3, "ok": 2, "wrong_answer": 5}


def test_failures_stand_the_most_frequent_first_with_examples() -> None:
    lines = outcomes_table(COUNTS, ROWS, 5).split("\n")
    assert "wrong_answer" in lines[4]
    assert "50.0 %" in lines[4]
    assert "empty" in lines[5]
    assert lines[-2:] == ["  q2  expected 7  1 + 6?", "    0  <U+000A LINE FEED>"]


def test_what_is_left_out_is_said() -> None:
    text = outcomes_table(COUNTS, ROWS, 1)
    assert "and 1 more outcomes (--top-k 2 shows all)" in text
    assert "\nempty" not in text


def test_nothing_failed() -> None:
    assert outcomes_table({"ok": 2}, {}, 5) == "nothing failed"


def test_a_ranking_shows_both_ends() -> None:
    passed = row("q9", "ok", "Final: 7", 1.0)
    assert ranking_text([passed], ROWS["empty"]) == (
        f"top 1\n{row_text(passed)}\n\nbottom 1\n{row_text(ROWS['empty'][0])}"
    )


def test_a_row_in_full_names_what_is_not_ascii_and_whether_the_scorer_still_says_so() -> None:
    details = {"outcome": "empty", "message": "expected some text, got nothing", "checks": {"not_empty": "failed"}}
    text = row_in_full(row("q3", "wrong_answer", "\u0663"), details)
    assert "not ASCII   U+0663 ARABIC-INDIC DIGIT THREE" in text
    assert "scored again  empty: NOT what the run recorded" in text
    assert "  failed      not_empty" in text
    assert "completion  (none)" in row_in_full(row("q3", "missing_completion", None), None)


def test_an_arrow_marks_the_sample_that_was_chosen() -> None:
    assert samples_text(["a", "b"], [0.0, 1.0], 1) == "samples\n     0  a\n  -> 1  b"
