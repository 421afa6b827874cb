"""What course.inspect_run prints.

An example: of ten rows five have a wrong value and three are empty. The table names the wrong values first, with the
family whose fault they are and what the check expected.
"""

import re

import msgspec
import pytest

from course.artifacts.records import Details, Result
from course.artifacts.run_log import LogLine
from course.inspect_run_text import (
    log_text,
    outcomes_table,
    ranking_text,
    row_in_full,
    row_text,
    samples_text,
)


def row(id_: str, outcome: str, completion: str | None, reward: float = 0.0) -> Result:
    return Result(id_, "1 + 6?", 7, completion, reward, Details(outcome, None))


ROWS = {"wrong_answer": [row("q1", "wrong_answer", "Final: 8")], "empty": [row("q2", "empty", "\n")]}
COUNTS = {"empty": 3, "ok": 2, "wrong_answer": 5}


def test_failures_stand_the_most_frequent_first_with_examples() -> None:
    lines = outcomes_table(COUNTS, ROWS, 5).split("\n")
    assert [line.split()[1] for line in lines[-2:]] == ["wrong_answer", "empty"]
    assert "50 %" in lines[-2]
    assert lines[:3] == ["wrong_answer", "  q1  expected 7  1 + 6?", "    0  Final: 8"]
    assert lines[4:7] == ["empty", "  q2  expected 7  1 + 6?", "    0  (empty)"]


def test_what_is_left_out_is_said() -> None:
    text = outcomes_table(COUNTS, ROWS, 1)
    assert "and 1 more outcome (--top-k 2 shows all)" in text
    assert "\nempty" not in text


def test_nothing_failed() -> None:
    assert outcomes_table({"ok": 2}, {}, 5) == "nothing failed"


def test_a_ranking_shows_both_ends() -> None:
    passed = row("q9", "ok", "Final: 7", 1.0)
    assert ranking_text([passed], ROWS["empty"]) == (
        f"top 1, the first that passed\n{row_text(passed)}\n\n"
        f"bottom 1, the first that failed\n{row_text(ROWS['empty'][0])}"
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


MEASURED = LogLine("runs/run_001", "0123456789abcdef" * 4, "A", "course.eval", None, None, {"pass_rate": 0.425}, [])
CHOSEN = LogLine("r2", "f" * 64, "B", "course.selection_demo", "N is 8", "+20", {"selected_accuracy": None}, ["h"])


def test_the_log_is_a_line_a_run_oldest_first_with_what_was_changed_and_expected() -> None:
    assert log_text([MEASURED, CHOSEN]).split("\n") == [
        "01234567  runs/run_001        A  eval              pass_rate 0.425",
        "ffffffff  r2                  B  selection_demo    selected_accuracy -",
        "          change: N is 8",
        "          expect: +20",
        "          holdout: look 1 at h",
    ]


def test_a_path_that_is_too_long_for_its_column_stands_whole_below_its_line() -> None:
    line = msgspec.structs.replace(MEASURED, run="/home/ada/measurements of today/first", change="N")
    first, path, change = log_text([line]).split("\n")
    assert first == "01234567                      A  eval              pass_rate 0.425"
    assert (path.strip(), change.strip()) == (line.run, "change: N")


def test_a_row_in_full_fits_eighty_columns_but_for_the_completion() -> None:
    """What is in quotes stays whole. A prompt of one space is a prompt."""
    checks = dict.fromkeys(("a" * 30, "b" * 30, "c" * 30), "passed")
    details = {"outcome": "ok", "message": f"expected 'a  b', {'word ' * 20}", "checks": checks}
    completion = "Final:  7 " * 12
    text = row_in_full(msgspec.structs.replace(row("q", "ok", completion), prompt="how  many? " * 20), details)
    assert f"\ncompletion  {completion.strip()}" in text
    assert "expected 'a  b'," in text
    lines = [line for line in text.split("\n") if not line.startswith("completion")]
    assert max(map(len, lines)) <= 80
    assert "\nprompt\nexpected" in row_in_full(msgspec.structs.replace(row("q", "ok", ""), prompt=" "), None)


def test_a_prediction_that_is_a_number_is_scored_where_the_log_shows_it() -> None:
    line = msgspec.structs.replace(MEASURED, expect="40 %")
    assert log_text([line]).split("\n")[1] == "          expect: 40 % (2.5 points above)"


def test_looks_are_counted_holdout_by_holdout() -> None:
    log = [CHOSEN, CHOSEN, msgspec.structs.replace(CHOSEN, holdouts=["other"]), CHOSEN]
    assert re.findall(r"holdout: look (\d)", log_text(log)) == ["1", "2", "1", "3"]


def test_an_empty_log_says_so() -> None:
    assert log_text([]) == "The log has no run yet."


@pytest.mark.parametrize("field", ["run", "manifest", "loop", "command", "change", "expect", "number"])
def test_nothing_in_a_log_is_obeyed(field: str) -> None:
    hostile = "\x1b[2J\u202e\n" * 30
    line = msgspec.structs.replace(MEASURED, **{field: {hostile: 1.0} if field == "number" else hostile})
    text = log_text([line])
    assert all(char == "\n" or char.isprintable() for char in text)
    assert text.count("\n") == (field in ("run", "change", "expect"))
    assert field == "run" or max(map(len, text.split("\n"))) < 250


def test_a_list_shows_what_was_judged_and_one_row_shows_all_of_it() -> None:
    """The scorer trims ASCII white space: in a list it cannot be taken for the fault. It trims no NO-BREAK SPACE."""
    trimmed = row("q1", "wrong_answer", " \tFinal: 8 \r\n")
    assert row_text(trimmed).endswith("\n    0  Final: 8")
    assert "\ncompletion  <U+0020 SPACE><U+0009 TAB>Final: 8 <U+000D CARRIAGE RETURN>" in row_in_full(trimmed, None)
    assert "    0  <U+00A0 NO-BREAK SPACE>Final: 7" in row_text(row("q1", "missing_prefix", "\u00a0Final: 7"))
    assert "\ncompletion  Final: 8<U+0020 SPACE><U+0020 SPACE>\n" in row_in_full(row("q1", "ok", "Final: 8  "), None)
