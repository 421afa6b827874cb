"""Pages of runs whose files somebody edited, and of texts that were made to be too many, too long or too odd."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import Lab, manifest_edited

from course.artifacts.records import Details, Selection
from course.pages.excerpts import MOST_BYTES, truncate_to_bytes
from course.pages.html import names_in
from course.pages.run import row_data

Rows = list[dict[str, Any]]


def edited(run: str, change: Callable[[Rows], Rows], file: str = "results.jsonl") -> None:
    place = Path(run, file)
    rows = change([json.loads(line) for line in place.read_bytes().split(b"\n")[:-1]])
    place.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def data_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0]
    return dict(json.loads(text))


@pytest.mark.parametrize("text", ["<" * 900, "plain " * 150, "\U0001f600" * 900])
def test_a_thousand_rows_of_anything_are_less_than_a_megabyte(lab: Lab, text: str) -> None:
    assert lab.evaluate([1] * 1_000, [text] * 1_000, "--outdir", "a").status == 0
    assert lab("report", "a").status == 0
    assert Path("a/report.html").stat().st_size < 1_000_000


def test_so_are_all_the_characters_that_have_no_name(lab: Lab) -> None:
    texts = ["".join(map(chr, range(first, first + 60))) for first in range(0xF0000, 0xF0000 + 60_000, 60)]
    assert lab.evaluate([1] * 1_000, texts, "--outdir", "a").status == 0
    assert lab("report", "a").status == 0
    assert Path("a/report.html").stat().st_size < 1_000_000


def test_what_has_a_name_keeps_it_among_many_that_have_none() -> None:
    many = "".join(map(chr, range(0xE000, 0xF8FF)))
    assert names_in(f"{many}\U000e0041")["E0041"] == "TAG LATIN CAPITAL LETTER A"


def test_one_prompt_with_any_number_of_samples_ends_and_shows_the_chosen_one() -> None:
    many = 20_000
    rewards = [0.0] * (many - 1) + [1.0]
    row = Selection("q", "1?", 1, "x", 1.0, Details("ok", "1"), ["x" * 80] * many, rewards, many - 1, [], [])
    (shown,), _ = truncate_to_bytes(
        [(1, row)], lambda numbered, longest: row_data(*numbered, longest), 2_000, MOST_BYTES
    )
    assert len(shown["samples"]) == 200
    number, _, reward = shown["samples"][-1]
    assert (number, reward) == (shown["chosen"], 1.0) == (many, 1.0)
    assert shown["why"] == "won: the only one with the highest reward; 200 of its 20,000 samples are shown"


def test_what_was_expected_is_cut_and_shown(lab: Lab) -> None:
    assert lab.evaluate([1], ["x"], "--outdir", "a").status == 0
    manifest_edited(Path("a"), expect="\u202e" + "e" * 100_000)  # words, as a run of an earlier version may hold
    assert lab("report", "a").status == 0
    expected = data_of(Path("a/report.html"))["scored"]["prediction"]["expect"]
    assert expected.startswith("<U+202E RIGHT-TO-LEFT OVERRIDE>eee")
    assert len(expected) == 400


@pytest.mark.parametrize("number", ['"abc"', "[]", "{}", "NaN", "1e400", "1" + "0" * 4_000])
def test_a_main_number_that_is_none_leaves_no_traceback(lab: Lab, number: str) -> None:
    assert lab("bandit_train", "--steps", 3, "--outdir", "a", "--expect", "0.5").status == 0
    Path("a/summary.json").write_text('{"expected_reward_after":' + number + "}", encoding="utf-8")
    assert lab("report", "a").status in (0, 2)
    Path("a/summary.json").write_text("[" * 100_000, encoding="utf-8")
    assert "this run is broken" in lab.refused("report", "a")


def test_a_page_cannot_be_a_folder_without_a_name(lab: Lab) -> None:
    lab.evaluate([1], ["x"], "--outdir", "a")
    for out in (".", "/", "..", "a/."):
        assert "cannot write a page here: a folder" in lab.refused("report", "a", "--out", out)


def test_rows_of_loop_b_without_a_choice_have_no_numbers(lab: Lab) -> None:
    """Else the page looked for a pass@k, and ended there."""
    lab.select([1], [["Final: 1", "x"]], 2, "--outdir", "b")
    edited("b", lambda rows: [row | {"rewards": [], "samples": []} for row in rows])
    assert lab("report", "b").status == 0
    scored = data_of(Path("b/report.html"))["scored"]
    assert scored["summary"] == {}
    assert len(scored["rows"]) == 1
