"""What course.eval prints.

An example: outcomes are listed with ``ok`` first, then the most frequent failure, each with a completion that had it.
"""

from course.artifacts.records import Details, Result
from course.artifacts.summary import summary_of
from course.eval_text import eval_text, outcomes_text, resolution_text


def row(outcome: str, completion: str | None) -> Result:
    return Result("q", "?", 7, completion, 1.0 if outcome == "ok" else 0.0, Details(outcome, None))


FIRSTS = {
    "empty": row("empty", ""),
    "wrong_answer": row("wrong_answer", "Final: \x1b[31m8"),
    "ok": row("ok", "Final: 7"),
    "missing_completion": row("missing_completion", None),
}


def test_outcomes_stand_with_ok_first_then_by_count_each_with_an_example() -> None:
    lines = outcomes_text({"empty": 1, "wrong_answer": 5, "ok": 3, "missing_completion": 1}, FIRSTS).split("\n")
    assert [line.split()[:-1] for line in lines[2:]] != []
    names = [name for line in lines for name in FIRSTS if f" {name} " in line]
    assert names == ["ok", "wrong_answer", "empty", "missing_completion"]
    assert "50.0 %   Final: <U+001B ESCAPE>[31m8" in lines[3]
    assert lines[5].endswith("10.0 %   (none)")


def test_the_report_says_the_loop_the_conditions_and_the_number() -> None:
    text = eval_text(summary_of({"ok": 1, "empty": 1}), "the conditions\nof the measurement", FIRSTS, ("a", "b"))
    assert text.startswith("Loop A, measure: ")
    assert "\n\nthe conditions\nof the measurement\n\nThe ids a and b have the same prompt" in text
    assert "passed 1 of 2: 50.0 %   (95 % interval 9.5 to 90.5 %)" in text


def test_what_few_prompts_cannot_detect() -> None:
    """The exact power, which tests/course/test_stats.py compares with SciPy: 30 prompts detect nothing."""
    for n, points in ((31, "25"), (80, "16"), (2_000, "3.2"), (10**8, "0.014")):
        text = " ".join(resolution_text(n).split())
        assert f" {n:,} prompts, the gate detects a true difference of about {points} points" in text
    assert all("no possible difference" in " ".join(resolution_text(n).split()) for n in (1, 20, 30))
