"""The page of the gate says what the gate says: the same verdict, reasons, conditions, flips, interval and p.

The worked example: of 12 examples the baseline passes the first 6; the candidate loses one of them and gains four.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import Reader
from conftest import Lab, rows_edited

from course.artifacts import run_log
from course.pages import gate as gate_page
from course.stats import judge_difference


def both(lab: Lab) -> tuple[Path, Path]:
    return lab.measured("base", [True] * 6 + [False] * 6), lab.measured("next", [False] + [True] * 9 + [False] * 2)


def data_of(page: Path) -> Any:
    read = Reader(page.read_text(encoding="utf-8"))
    return json.loads(next(within for tag, within in zip(read.tags, read.within, strict=True) if tag == "script"))


def asked(lab: Lab, *runs: Path, min_delta: float = 0.01) -> tuple[Any, Any]:
    """What the page of the gate shows, and what the gate prints for a program."""
    words = "gate", "--baseline", runs[0], "--candidate", runs[1], "--min-delta", min_delta
    printed = json.loads(lab(*words, "--json").out)
    (runs[1] / "gate.html").unlink(missing_ok=True)
    assert f"{printed['verdict']}: " in lab(*words, "--report").out
    return data_of(runs[1] / "gate.html"), printed


def ids_of(way: Any) -> list[str]:
    return [flip["question"].partition(":")[0] for flip in way["flips"]]


def test_the_numbers_are_those_of_the_gate(lab: Lab) -> None:
    data, gate = asked(lab, *both(lab))
    numbers = gate["numbers"]
    picture = data["picture"]
    assert picture["interval"] == {"value": 3 / 12, "low": numbers["delta_ci95"][0], "high": numbers["delta_ci95"][1]}
    assert (picture["n"], picture["minDelta"]) == (12, 0.01)
    assert picture["baseline"] == {"name": "base", "passes": 6}
    assert picture["candidate"] == {"name": "next", "passes": 9}
    assert picture["prompts"] == {"passed by both": 5, "gained": 4, "lost": 1, "failed by both": 2}
    assert picture["difference"].startswith("The difference is +25.0 points, paired 95 % interval -")
    assert f"{judge_difference(gained=4, lost=1, n=12).text}." in picture["difference"]
    gained, lost = data["flips"]
    assert [(way["way"], way["n"]) for way in data["flips"]] == [("gained", 4), ("lost", 1)]
    assert ids_of(gained) == numbers["gained"] == ["q7", "q8", "q9", "q10"]
    assert ids_of(lost) == numbers["lost"] == ["q1"]
    assert "25.4 to 74.6 %" in data["more"][0]
    assert "46.8 to 91.1 %" in data["more"][1]
    assert any("the hand of base -> the hand of next" in sentence for sentence in data["more"])
    assert {row[1].replace(" ", "_"): row[0] == "✓ same" for row in data["room"]["table"]["rows"]} == {
        condition["name"]: condition["holds"] for condition in gate["conditions"]
    }
    assert not data["room"]["open"]
    assert data["differences"]["rows"] == [["policy", "the hand of base", "the hand of next"]]


def test_the_verdict_is_the_title_and_its_reasons_come_first(lab: Lab) -> None:
    data, gate = asked(lab, *both(lab))
    assert "<h1>INCONCLUSIVE: next against base</h1>" in Path("next/gate.html").read_text(encoding="utf-8")
    sentences = [*gate["reasons"], f"what would decide it: {gate['would_decide']}"]
    assert data["said"] == [f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences]
    data, gate = asked(lab, *both_again(lab), min_delta=0.6)
    assert "<h1>REJECT: high against low</h1>" in Path("high/gate.html").read_text(encoding="utf-8")
    assert data["picture"]["interval"]["value"] == 0.25


def test_the_same_two_runs_give_the_same_bytes(lab: Lab) -> None:
    runs = both(lab)
    asked(lab, *runs)
    first = (runs[1] / "gate.html").read_bytes()
    asked(lab, *runs)
    assert (runs[1] / "gate.html").read_bytes() == first


def both_again(lab: Lab) -> tuple[Path, Path]:
    return lab.measured("low", [True] * 6 + [False] * 6), lab.measured("high", [True] * 9 + [False] * 3)


def test_a_flip_shows_both_texts() -> None:
    """Of runs that the lab ships there are none of Loop A; a row is enough."""
    from course.artifacts.records import Details, Result

    before = Result("q1", "1 + 1?", 2, None, 0.0, Details("missing_completion", None))
    after = Result("q1", "1 + 1?", 2, "Final: 2", 1.0, Details("ok", "2"))
    flip = gate_page.flip_data((before, after), 400)
    assert flip["question"] == "q1: 1 + 1? (2)"
    assert flip["before"] == {"outcome": "missing_completion", "text": None}
    assert flip["after"] == {"outcome": "ok", "text": "Final: 2"}


def test_a_thousand_flips_fit_whatever_they_hold(lab: Lab) -> None:
    """An example: a < is six characters in a page; of long texts the beginnings stand there, of all flips some."""
    n, text = 1_000, "<" * 1_000
    dataset = lab.dataset(range(n))
    for name, of_right in (("base", range(0, n, 2)), ("next", range(1, n, 2))):
        completions = lab.completions([f"Final: {i}" if i in of_right else text for i in range(n)], name, policy=name)
        assert lab("eval", "--dataset", dataset, "--completions", completions, "--outdir", name).status == 0
    data, _ = asked(lab, Path("base"), Path("next"))
    assert Path("next/gate.html").stat().st_size < 1_000_000
    assert [(way["way"], way["n"]) for way in data["flips"]] == [("gained", 500), ("lost", 500)]
    assert data["flips"][0]["flips"][0]["before"]["text"] == {"text": text[:100], "more": 900}


def other_split(lab: Lab) -> tuple[Path, Path]:
    return lab.measured("base", [True, False]), lab.measured("other", [True, True], "holdout")


def longer(lab: Lab) -> tuple[Path, Path]:
    return lab.measured("base", [True, False]), lab.measured("longer", [True, False, True])


def edited_row(lab: Lab) -> tuple[Path, Path]:
    runs = both(lab)
    rows_edited(runs[1], lambda rows: rows[0].update(reward=1.0), forge=False)
    return runs


def same_policy(lab: Lab) -> tuple[Path, Path]:
    """One room and two sound runs; but nothing was turned, so a difference means nothing."""
    for name, texts in (("base", ["x", "Final: 2"]), ("other", ["Final: 1", "Final: 2"])):
        assert lab.evaluate([1, 2], texts, "--outdir", name).status == 0
    return Path("base"), Path("other")


def no_manifest(lab: Lab) -> tuple[Path, Path]:
    runs = both(lab)
    (runs[0] / "manifest.json").write_text("{}", encoding="utf-8")
    return runs


@pytest.mark.parametrize("made", [other_split, longer, edited_row, same_policy, no_manifest])
def test_a_difference_that_the_gate_does_not_report_is_not_shown(
    lab: Lab, made: Callable[[Lab], tuple[Path, Path]]
) -> None:
    runs = made(lab)
    data, gate = asked(lab, *runs)
    assert (gate["verdict"], gate["numbers"]) == ("REJECT", None)
    assert (data["picture"], data["flips"]) == (None, [])
    sentences = [f"{reason[0].upper()}{reason[1:]}." for reason in gate["reasons"]]
    assert data["said"][: len(sentences)] == sentences
    assert not any("points" in sentence or " pass, " in sentence for sentence in [*data["said"], *data["more"]])
    if made is no_manifest:
        assert data["room"] is None
        return
    assert data["said"][-1] == "The runs are not comparable, so no difference is shown."
    broken = {condition["name"] for condition in gate["conditions"] if not condition["holds"]}
    table = data["room"]["table"]
    assert {row[1].replace(" ", "_") for row in table["rows"] if row[0] == "✗ NO"} == broken
    assert data["room"]["open"] == bool(broken), "the room is open where it is the reason"


def test_what_a_log_brings_is_what_the_page_of_the_gate_says(lab: Lab) -> None:
    runs = both(lab)
    run_log.LOG.rename("their_log.jsonl")
    words = "--baseline", runs[0], "--candidate", runs[1], "--min-delta", 0.01, "--report"
    assert lab("gate", *words).status == 4
    assert "no log of runs has" in data_of(runs[1] / "gate.html")["said"][0]
    assert lab("gate", *words, "--log", "their_log.jsonl").status == 3
    assert data_of(runs[1] / "gate.html")["picture"]["interval"]["value"] == 0.25


def test_many_flips_are_shown_in_part_and_counted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_page, "ROWS", 6)
    data, _ = asked(lab, *both(lab))
    gained, lost = data["flips"]
    assert (gained["n"], lost["n"]) == (4, 1)
    assert ids_of(gained) == ["q7", "q9", "q10"]
