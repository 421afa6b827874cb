"""The words about frozen and fresh completions, and what the figure adds up: against sentences written by hand.

The worked example. Of 200 frozen completions 20 pass, 10 %; of 50 fresh ones at step 40 none does, 0.0 to 7.1 % by
Wilson. The frozen interval is 6.6 to 14.9 %: the two overlap, so the difference may be luck.
"""

from typing import Any

import pytest

from course.artifacts.learning import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.summary import summary_of
from course.artifacts.token_rows import ShiftRow
from course.reports.distribution_shift_demo import novel_table, shift_reading, shift_table
from course.reports.distribution_shift_demo_figure import OTHER, outcome_shares

FROZEN = summary_of({"ok": 20, "wrong_answer": 60, "missing_prefix": 120})


def row(
    step: int, *, ok: int, shape: float = 0.0, text: float = 0.0, distance: float = 0.25, **others: int
) -> ShiftRow:
    """The row of 50 completions: ``ok`` pass, ``others`` by outcome, wrong answers fill up."""
    outcomes = {"ok": ok, **others}
    fresh = summary_of({"wrong_answer": 50 - sum(outcomes.values()), **outcomes})
    return ShiftRow(step, 0.1, fresh, 0.1 - fresh["pass_rate"], distance, shape, text)


def read(*log: ShiftRow, frozen: dict[str, Any] = FROZEN) -> str:
    out = shift_reading(log, frozen)
    assert max(map(len, out.split("\n"))) <= 80
    assert not any(line.strip().startswith("%") for line in out.split("\n"))
    assert "\N{NO-BREAK SPACE}" not in out
    return " ".join(out.split())


def test_a_policy_that_got_worse_where_nothing_is_frozen() -> None:
    last = row(40, ok=0, shape=0.98, text=1.0, distance=0.9, not_single_line=49)
    assert read(row(0, ok=6, shape=0.02, text=0.6, distance=0.05), last) == (
        "- The frozen completions still say 10.0 %, and 0.0 % of the fresh ones of step 40 pass (0.0 to 7.1 %). The "
        "intervals overlap: it may be luck. At step 0, where one policy wrote both, the two rates differ by 2.0 "
        "points, and that is luck. "
        "- At least 90 % of the fresh completions of step 40 would need another outcome to match the frozen ones; at "
        "step 0, 5 %. "
        "- 98 % of them are in a shape that no frozen one has: about those the frozen completions say nothing."
    )


def test_a_policy_that_got_better_in_shapes_that_are_known() -> None:
    words = read(row(0, ok=4), row(300, ok=45, text=0.4))
    assert "still say 10.0 %, and 90.0 % of the fresh ones of step 300 pass" in words
    assert "The intervals do not overlap. At step 0" in words
    assert "0 % of them are in a shape that no frozen one has" in words


def test_an_estimate_that_is_the_same_is_not_called_right() -> None:
    words = read(row(0, ok=5), row(5, ok=5))
    assert "still say 10.0 %, and 10.0 % of the fresh" in words
    assert "The intervals overlap: it may be luck." in words
    assert "differ by 0.0 points" in words


def test_intervals_are_apart_on_either_side_only_where_they_share_nothing() -> None:
    """Of 20 in 200: 6.6 to 14.9 %, as Wilson's equation has it; of 50, 9 is 9.8 to 30.8 % and 14 is 17.5 to 41.7 %."""
    assert "overlap: it" in read(row(0, ok=5), row(5, ok=9))
    assert "do not overlap" in read(row(0, ok=5), row(5, ok=14))
    high = summary_of({"ok": 150, "wrong_answer": 50})  # 68.6 to 80.5 %
    assert "do not overlap" in read(row(0, ok=5), row(5, ok=20), frozen=high)
    assert "overlap: it" in read(row(0, ok=5), row(5, ok=33), frozen=high)  # 52.2 to 77.6 %


def test_the_table_has_what_was_frozen_on_top_and_fits() -> None:
    log = [row(0, ok=5, shape=0.02, text=0.6, extra_whitespace=30), row(123_456_789, ok=50, shape=1, text=1)]
    out = shift_table(log, FROZEN)
    lines = out.split("\n")
    assert max(map(len, lines)) <= 80
    assert [" ".join(line.split()) for line in lines[2:5]] == [
        "frozen 10.0 % 60 % 30 % missing_prefix",
        "0 10.0 % +0.0 60 % 30 % 2 % 60 % extra_whitespace",
        "123456789 100.0 % -90.0 0 % 0 % 100 % 100 % ok",
    ]
    assert "error: the frozen rate less this one, in points." in " ".join(out.split())


def novel(step: int, text: str) -> LearningResult:
    return learning_result({"id": "q", "prompt": "?", "expected_answer": 7}, text, step, proxy_reward=1.0)


@pytest.mark.parametrize("rubric", ["score", "without_punctuation"])
def test_what_a_completion_holds_is_shown_and_never_obeyed(rubric: str) -> None:
    hostile = [novel(5, "7\n8\x1b[31m\u202e[bold]"), novel(300, "1\n" * 400)]
    out = novel_table(hostile, rubric).partition("\n\n")[2]
    assert max(map(len, out.split("\n"))) <= 80
    assert out.count("\n") == 3  # a row a line
    assert "'7⏎8<U+001B" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert out.endswith(("1…", "⏎…"))
    assert novel_table([novel(5, " 7 ")], rubric).endswith("   1.0   ' 7 '")


def test_small_outcomes_are_added_up_and_each_mix_is_whole() -> None:
    frozen = summary_of({"ok": 193, "empty": 5, "leading_zeros": 2})
    log = [row(0, ok=48, empty=1), row(5, ok=10, empty=1, negative_zero=20)]
    found = outcome_shares([frozen, *(one.fresh for one in log)])
    assert list(found) == ["ok", "wrong_answer", OTHER]
    assert found["ok"] == [0.965, 0.96, 0.2]
    assert found["wrong_answer"] == [0.0, 0.02, 0.38]
    assert found[OTHER] == pytest.approx([0.035, 0.02, 0.42])
    assert OTHER not in outcome_shares([summary_of({"ok": 1}), row(0, ok=48).fresh])
