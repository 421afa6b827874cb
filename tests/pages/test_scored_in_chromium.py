"""The page of a run of Loop A or B as a class sees it: its numbers, and what an address opens.

An example: ``#outcome=missing_prefix&row=2`` opens the rows of that outcome only, and of the second row of the run its
way through the checks.
"""

from pathlib import Path

import pytest
from browser import CHROMIUM, shown
from conftest import Lab, rows_edited

from course.pages import run as run_page

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM, reason="Chromium is not here")]


def texts_of(lab: Lab, page: str, state: str = "") -> str:
    found = shown(Path(page).resolve(), state, lab.folder)
    assert found.complaints == []
    return found.words


@pytest.fixture
def run(lab: Lab) -> Lab:
    texts = ["Final: 1", "2", "Final: 4", "Final: \u200b4", "Final: 5 "]
    done = lab.evaluate([1, 2, 3, 4, 5], texts, "--outdir", "a", "--expect", "50 %", "--change", "none")
    assert done.status == 0
    assert lab("report", "a").status == 0
    return lab


def test_the_numbers_of_loop_a(run: Lab) -> None:
    text = texts_of(run, "a/report.html")
    assert "40.0 % passed" in text
    assert "2 of 5 answers earned 1. 95 % interval: 11.8 % to 76.9 %" in text
    assert "expected 50 %" in text
    assert "The result is 10.0 points below." in text
    assert "3 of 5 answers earned 0." in text
    assert "1 · 20.0 %" in text.partition("missing prefix")[2]
    assert "change none" in text


def test_a_failure_is_read_without_a_click(run: Lab) -> None:
    """The first kind is open from the start: what was asked, expected and written, and why it earned 0."""
    text = texts_of(run, "a/report.html").partition("missing prefix")[2]
    why = "Expected a line that starts with 'Final: ', got 2"
    assert f"✗ earned 0 q2 asked Question 2? expected Final: 2 written 2 why {why}" in text


def test_an_address_filters_and_opens_a_row(run: Lab) -> None:
    text = texts_of(run, "a/report.html", "outcome=missing_prefix&row=2")
    assert "single line ✓ passed prefix ✗ failed here ascii not reached" in text
    assert "q1" not in text
    text = texts_of(run, "a/report.html", "find=FINAL%3A+4")
    assert "1 of 5 rows" in text
    assert "q3" in text
    for seen in ("find=u%2B200b", "find=zero+width+space", "find=missing+prefix"):  # what the page itself shows
        assert "0 of 5 rows" not in texts_of(run, "a/report.html", seen)
    assert "Final: U+200B ZERO WIDTH SPACE 4" in texts_of(run, "a/report.html", "row=4")
    assert "Final: 5 ␣" in texts_of(run, "a/report.html", "row=5")


def test_a_row_shows_what_hides_at_its_ends_and_no_half_of_a_character(lab: Lab) -> None:
    texts = ["\u00a0Final: 1\ufeff", "x" * 119 + "\U0001f600y"]
    assert lab.evaluate([1, 2], texts, "--outdir", "a").status == 0
    assert lab("report", "a").status == 0
    text = texts_of(lab, "a/report.html", "row=1+2")
    assert "U+00A0 NO-BREAK SPACE Final: 1 U+FEFF ZERO WIDTH NO-BREAK SPACE" in text
    assert "x\U0001f600" in text
    assert "U+D83D" not in text


@pytest.mark.parametrize("state", ["row=99", "row=x", "outcome=no", "find=%00", "step=-1", "=&&=%"])
def test_an_address_that_means_nothing_does_no_harm(run: Lab, state: str) -> None:
    assert "40.0 % passed" in texts_of(run, "a/report.html", state)


def test_the_numbers_and_the_choices_of_loop_b(lab: Lab) -> None:
    groups = [["Final: 1", "Final: 1", "x"], ["a", "b", "Final: 2"], ["a", "Final: 3", "b"]]
    assert lab.select([1, 2, 3], groups, 2, "--outdir", "b").status == 0
    assert lab("report", "b").status == 0
    text = texts_of(lab, "b/report.html", "row=1")
    assert "66.7 % chosen right, with 2 samples a prompt" in text
    assert "50.0 % if one sample is taken blindly" in text  # of the two: (1 + 0 + 1/2) / 3
    assert "pass@k 78 %" in text  # (1 + 2/3 + 2/3) / 3
    assert "ceiling 67 %" in text
    assert "tied: 2 of 2 have the highest reward, and the first of them was taken" in text
    assert "Not looked at: 1 more sample, 0 of them right." in text
    assert "◀ chosen" in text
    assert "won: the only one with the highest reward" in texts_of(lab, "b/report.html", "row=3")


def test_a_run_that_was_changed_says_so_first(run: Lab) -> None:
    rows_edited(Path("a"), lambda rows: rows[0].update(reward=0.0), forge=False)
    assert run("report", "a").status == 0
    text = texts_of(run, "a/report.html")
    assert text.index("✗ Not verified") < text.index("40.0 % passed")


def test_a_page_that_has_not_all_rows_says_how_many(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_page, "MOST_ROWS", 20)
    monkeypatch.setattr(run_page, "LONGEST_TEXT", 100)
    texts = [f"Final: {i}" if i else "x" * 5_000 for i in range(60)]
    assert lab.evaluate(range(60), texts, "--outdir", "a").status == 0
    assert lab("report", "a").status == 0
    text = texts_of(lab, "a/report.html")
    assert "This page holds 20 rows of 60, a uniform sample (seed 0); the counts are of all." in text
    monkeypatch.setattr(run_page, "MOST_ROWS", 60)
    assert lab("report", "a").status == 0
    text = texts_of(lab, "a/report.html", "row=1")
    assert "Each text is cut to 100 characters; the run holds the whole." in text
    assert "… and 4,900 more characters" in text


def test_loop_c_has_its_updates_and_what_was_scored(lab: Lab) -> None:
    assert lab("bandit_train", "--steps", "5", "--outdir", "c").status == 0
    assert lab("report", "c").status == 0
    text = texts_of(lab, "c/report.html", "step=2&row=1")
    assert "update 3 of 5" in text
    assert text.index("update 3 of 5") < text.index("Every completion that was scored in this run")
    assert "✓ passed" in text
