"""What the page of a run holds: rows sampled evenly, texts that fit, why a sample was chosen, and what is wrong.

An example: 20,000 rows have 2,000 on the page; of every tenth of the run there are about 200.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from browser import Reader
from conftest import Lab, lines_of, rows_edited
from hypothesis import given
from hypothesis import strategies as st

from course.artifacts.records import Details, Result, Selection
from course.artifacts.run_log import LogLine
from course.pages import run
from course.pages.excerpts import MOST_BYTES, truncate_to_bytes
from course.pages.html import html_page
from course.pages.run import page_of_run, row_data, sample_rows, why_chosen


def row(completion: str = "Final: 1", id_: str = "q1", prompt: str = "1?") -> Result:
    return Result(id_, prompt, 1, completion, 1.0, Details("ok", "1"))


def selection(rewards: Sequence[float], chosen: int, samples: Sequence[str] = ()) -> Selection:
    texts = list(samples) or [f"Final: {int(reward)}" for reward in rewards]
    details = Details("ok", "1")
    return Selection("q1", "1?", 1, "Final: 1", 1.0, details, texts, list(rewards), chosen, [], [])


def data_of(page: str) -> Any:
    read = Reader(page)
    return json.loads(next(within for tag, within in zip(read.tags, read.within, strict=True) if tag == "script"))


@given(st.integers(0, 300), st.integers(1, 50))
def test_a_sample_is_in_order_and_as_large_as_it_may_be(n: int, most: int) -> None:
    kept, counted = sample_rows(iter(range(100, 100 + n)), most)
    assert counted == n
    assert len(kept) == min(n, most)
    assert kept == sorted(set(kept))
    assert all(item == number + 99 for number, item in kept)


def test_each_row_has_the_same_chance() -> None:
    kept, _ = sample_rows(range(200_000), 2_000)
    tenths = Counter(number * 10 // 200_001 for number, _ in kept)
    chi_squared = sum((tenths[tenth] - 200) ** 2 / 200 for tenth in range(10))
    assert chi_squared < 21.7  # 9 degrees of freedom, p = 0.01


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("Final: 1", 1_000),
        ("x" * 1_000_000, 1_000),
        ("<" * 1_000_000, 500),  # which is \u003c in a page
        ("\u202e" * 1_000_000, 500),
        ("\U000e0041" * 1_000_000, 250),
    ],
)
def test_a_thousand_rows_fit_whatever_they_hold(text: str, fit: int) -> None:
    rows = [(number, row(text, text, text)) for number in range(1, 1_001)]
    shown, longest = truncate_to_bytes(rows, lambda numbered, longest: row_data(*numbered, longest), 2_000, MOST_BYTES)
    assert len(html_page("A", "", "", {"rows": shown})) < 1_000_000
    assert len(shown) == fit
    whole = len(text) < 100
    assert shown[0]["completion"] == (text if whole else {"text": text[:longest], "more": len(text) - longest})
    assert longest >= 60


def test_why_a_sample_was_chosen() -> None:
    assert why_chosen(selection([0, 1, 0], 1)) == "won: the only one with the highest reward"
    tied = "tied: 2 of 3 have the highest reward, and"
    assert why_chosen(selection([1, 0, 1], 0)) == f"{tied} the first of them was taken"
    assert why_chosen(selection([1, 0, 1], 2)) == f"{tied} number 2 of them was taken"
    assert why_chosen(selection([0, 1], 0)).startswith("lost: one sample was right")
    assert "a wrong format" in why_chosen(selection([0, 0], 0, ["1", "2"]))
    assert why_chosen(selection([0, 0], 0, ["5", "2"])).startswith("nothing to win, all 2 have reward 0: no sample has")
    for wrong in (selection([0, 1], 2), selection([0, 1], -1), selection([], 0)):
        assert why_chosen(wrong).startswith("the run does not hold the sample")


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=5), st.data())
def test_why_agrees_with_the_rewards(rewards: list[float], data: st.DataObject) -> None:
    chosen = data.draw(st.integers(0, len(rewards) - 1))
    verb = why_chosen(selection(rewards, chosen)).split(":")[0].split(",")[0]
    right = rewards.count(1.0)
    if right == 0:
        assert verb == "nothing to win"
    elif rewards[chosen] == 0:
        assert verb == "lost"
    elif right == 1:
        assert verb == "won"
    else:
        assert verb == "tied"


def test_a_row_keeps_what_is_there() -> None:
    shown = row_data(7, row("Final: \u200b1"), 100)
    assert shown["completion"] == "Final: \u200b1"
    assert (shown["row"], shown["id"], shown["expected"], shown["outcome"]) == (7, "q1", "1", "ok")
    assert row_data(7, Result("q", "?", 1, None, 0.0, Details("missing_completion", None)), 9)["completion"] is None


@pytest.mark.parametrize("chosen", [0, 199, 200, 250, 299, 300, 1_000, -1])
def test_no_sample_is_marked_as_chosen_but_the_chosen_one(chosen: int) -> None:
    texts = [f"text {place}" for place in range(300)]
    shown = row_data(1, selection([0.0] * 300, chosen, texts), 100)
    samples = {number: text for number, text, _ in shown["samples"]}
    assert len(samples) == 200
    assert samples == {number: texts[number - 1] for number in samples}
    is_held = 0 <= chosen < 300
    assert samples.get(shown["chosen"]) == (texts[chosen] if is_held else None)


def log() -> list[LogLine]:
    from course.artifacts import run_log

    return run_log.read_log(run_log.LOG)


def test_the_numbers_of_a_page_are_those_of_the_run(lab: Lab) -> None:
    done = lab.evaluate([1, 2, 3, 4], ["Final: 1", "2", "Final: 4", "Final: 4"], "--expect", "40 %", "--outdir", "a")
    assert done.status == 0
    page, faults = page_of_run(Path("a"), log())
    data = data_of(page)
    assert faults == data["faults"] == []
    summary = json.loads(Path("a/summary.json").read_text(encoding="utf-8"))
    assert data["scored"]["summary"] == summary
    assert data["scored"]["prediction"] == {
        "expect": "40 %",
        "reading": None,
        "share": 0.4,
        "off": "10.0 points above",
    }
    counts = {entry["outcome"]: entry["n"] for entry in data["scored"]["outcomes"]}
    assert counts == summary["outcomes"]
    rows = lines_of(Path("a/results.jsonl"))
    assert [row["completion"] for row in data["scored"]["rows"]] == [row["completion"] for row in rows]
    assert [row["outcome"] for row in data["scored"]["rows"]] == ["ok", "missing_prefix", "wrong_answer", "ok"]
    assert ["command", "course.eval"] in data["conditions"]


def test_the_choices_of_a_page_are_those_of_the_run(lab: Lab) -> None:
    assert lab.select([1, 2], [["Final: 1", "Final: 1", "x"], ["a", "b", "Final: 2"]], 2, "--outdir", "b").status == 0
    scored = data_of(page_of_run(Path("b"), log())[0])["scored"]
    assert scored["summary"] == json.loads(Path("b/summary.json").read_text(encoding="utf-8"))
    first, second = scored["rows"]
    assert (first["samples"], first["chosen"]) == ([[1, "Final: 1", 1.0], [2, "Final: 1", 1.0]], 1)
    assert first["why"].startswith("tied: 2 of 2")
    assert second["why"].startswith("nothing to win")
    assert (first["others"], second["others"]) == ([1, 0], [1, 1])


def spoil_rewards(rows: list[Any]) -> None:
    rows[0]["reward"] = 1.0 - rows[0]["reward"]


def spoil_choice(rows: list[Any]) -> None:
    rows[0] |= {"chosen": 7, "samples": [], "rewards": []}


@pytest.mark.parametrize("change", [spoil_rewards, spoil_choice])
def test_a_run_that_was_changed_has_a_page_that_says_so(lab: Lab, change: Any) -> None:
    assert lab.select([1, 2], [["Final: 1", "x"], ["a", "Final: 2"]], 2, "--outdir", "b").status == 0
    rows_edited(Path("b"), change, forge=False)
    page, faults = page_of_run(Path("b"), log())
    assert faults
    assert data_of(page)["faults"] == faults


def test_a_thousand_rows_take_less_than_a_second_and_less_than_a_megabyte(lab: Lab) -> None:
    prompt = "Compute 17 * 19, and think as long as you like. "
    lab.write("d.jsonl", [{"id": f"q{i}", "prompt": prompt, "expected_answer": i} for i in range(1_000)])
    lab.write("c.jsonl", [{"id": f"q{i}", "completion": f"{prompt * (i % 9)}\nFinal: {i}"} for i in range(1_000)])
    assert lab("eval", "--dataset", "d.jsonl", "--completions", "c.jsonl", "--outdir", "a").status == 0
    before = process_time()
    page, _ = page_of_run(Path("a"), log())
    assert process_time() - before < 1
    assert len(page.encode()) < 1_000_000
    assert len(data_of(page)["scored"]["rows"]) == 1_000


def test_above_two_thousand_rows_a_page_says_how_many_it_has(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MOST_ROWS", 20)
    assert lab.evaluate(range(60), [f"Final: {i}" for i in range(60)], "--outdir", "a").status == 0
    scored = data_of(page_of_run(Path("a"), log())[0])["scored"]
    assert (scored["n"], len(scored["rows"]), scored["outcomes"][0]["n"]) == (60, 20, 60)
    assert [row["id"] for row in scored["rows"]] == [f"q{row['row']}" for row in scored["rows"]]
