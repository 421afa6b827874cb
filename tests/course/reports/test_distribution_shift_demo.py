"""The words about the drift, both ways, and what of it the figure adds up: against strings and sums written by hand."""

from typing import Any

import pytest

from course.artifacts.summary import summary_of
from course.reports.distribution_shift_demo import Look, Sight, looks_text, reading_text, sights_text
from course.reports.distribution_shift_demo_figure import OTHER, shares

FROZEN = summary_of({"ok": 20, "wrong_answer": 60, "missing_prefix": 120})


def look(step: int, *, ok: int, shape: float = 0.0, text: float = 0.0, moved: float = 0.25, **others: int) -> Look:
    """A look at 50 completions: ``ok`` pass, ``others`` by outcome, wrong answers fill up."""
    outcomes = {"ok": ok, **others}
    fresh = summary_of({"wrong_answer": 50 - sum(outcomes.values()), **outcomes})
    return Look(step, 0.1, fresh, 0.1 - fresh["pass_rate"], moved, shape, text)


def read(*looks: Look, frozen: dict[str, Any] = FROZEN) -> str:
    out = reading_text(looks, frozen)
    assert max(map(len, out.split("\n"))) <= 80
    assert not any(line.strip().startswith("%") for line in out.split("\n"))
    assert "\N{NO-BREAK SPACE}" not in out
    return " ".join(out.split())


def test_a_policy_that_got_worse_where_nothing_is_frozen() -> None:
    last = look(40, ok=0, shape=0.98, text=1.0, moved=0.9, not_single_line=49)
    assert read(look(0, ok=6, shape=0.02, text=0.6, moved=0.05), last) == (
        "- For the policy of step 40 the frozen estimate is 10.0 points too high: it still says 10.0 %, and 0.0 % of "
        "the fresh completions pass (0.0 to 7.1 %). The intervals overlap: it may be luck. At step 0, where one policy "
        "wrote both, they are 2.0 points apart, and that is luck. "
        "- The most common outcome is missing_prefix (60 %) among the frozen completions, not_single_line (98 %) among "
        "the fresh ones of step 40. At least 90 % of these would need another outcome to match the frozen mix; at step "
        "0, 5 %. "
        "- Of the fresh completions of step 40, 98 % are in a shape that no frozen one has, and 100 % are texts that "
        "were not frozen for their prompt; at step 0, 2 % and 60 %. Of what is in no known shape the frozen ones say "
        "nothing."
    )


def test_a_policy_that_got_better_in_shapes_that_are_known() -> None:
    words = read(look(0, ok=4), look(300, ok=45, text=0.4))
    assert "the frozen estimate is 80.0 points too low: it still says 10.0 %, and 90.0 % of the fresh" in words
    assert "The intervals do not overlap. At step 0" in words
    assert "0 % are in a shape that no frozen one has, and 40 % are texts" in words
    assert words.endswith("The shapes are known; how often each is written now, the frozen ones do not say.")


def test_an_estimate_that_is_the_same_is_not_called_right() -> None:
    words = read(look(0, ok=5), look(5, ok=5))
    assert "the frozen estimate is the same: it still says 10.0 %, and 10.0 % of the fresh" in words
    assert "The intervals overlap: it may be luck." in words
    assert "they are 0.0 points apart" in words


def test_intervals_are_apart_on_either_side_only_where_they_share_nothing() -> None:
    """Of 20 in 200: 6.6 to 14.9 %, as Wilson's equation has it; of 50, 9 is 9.8 to 30.8 % and 14 is 17.5 to 41.7 %."""
    assert "overlap: it" in read(look(0, ok=5), look(5, ok=9))
    assert "do not overlap" in read(look(0, ok=5), look(5, ok=14))
    high = summary_of({"ok": 150, "wrong_answer": 50})  # 68.6 to 80.5 %
    assert "do not overlap" in read(look(0, ok=5), look(5, ok=20), frozen=high)
    assert "overlap: it" in read(look(0, ok=5), look(5, ok=33), frozen=high)  # 52.2 to 77.6 %


def test_the_table_has_what_was_frozen_on_top_and_fits() -> None:
    looks = [look(0, ok=5, shape=0.02, text=0.6, extra_whitespace=30), look(123_456_789, ok=50, shape=1, text=1)]
    out = looks_text(looks, FROZEN)
    lines = out.split("\n")
    assert max(map(len, lines)) <= 80
    assert [" ".join(line.split()) for line in lines[2:5]] == [
        "frozen 10.0 % 60 % 30 % missing_prefix",
        "0 10.0 % +0.0 60 % 30 % 2 % 60 % extra_whitespace",
        "123456789 100.0 % -90.0 0 % 0 % 100 % 100 % ok",
    ]
    assert "error: the frozen rate less this one, in points." in " ".join(out.split())


@pytest.mark.parametrize("rubric", ["score", "without_punctuation"])
def test_what_a_completion_holds_is_shown_and_never_obeyed(rubric: str) -> None:
    hostile = [Sight(5, 7, 1.0, "7\n8\x1b[31m\u202e[bold]"), Sight(300, 18, 0.2, "1\n" * 400)]
    out = sights_text(hostile, rubric)
    assert max(map(len, out.split("\n"))) <= 80
    assert out.count("\n") == 3  # a row a line
    assert "'7⏎8<U+001B" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert out.endswith(("1…", "⏎…"))
    assert sights_text([Sight(5, 7, 1.0, " 7 ")], rubric).endswith("   1.0   ' 7 '")


def test_small_outcomes_are_added_up_and_each_mix_is_whole() -> None:
    frozen = summary_of({"ok": 193, "empty": 5, "leading_zeros": 2})
    looks = [look(0, ok=48, empty=1), look(5, ok=10, empty=1, negative_zero=20)]
    found = shares(looks, frozen)
    assert list(found) == ["ok", "wrong_answer", OTHER]
    assert found["ok"] == [0.965, 0.96, 0.2]
    assert found["wrong_answer"] == [0.0, 0.02, 0.38]
    assert found[OTHER] == pytest.approx([0.035, 0.02, 0.42])
    assert OTHER not in shares([look(0, ok=48)], summary_of({"ok": 1}))
