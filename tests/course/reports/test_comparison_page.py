"""The page of two runs says what the gate says: the same conditions, flips, interval and p.

The worked example: of 12 examples the baseline passes the first 6; the candidate loses one of them and gains four.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab

from course.reports import comparison_page
from course.reports.comparison_page import two_runs_data


def both(lab: Lab) -> tuple[Path, Path]:
    return lab.measured("base", [True] * 6 + [False] * 6), lab.measured("next", [False] + [True] * 9 + [False] * 2)


def data_of(baseline: Path, candidate: Path) -> Any:
    return two_runs_data(baseline, candidate)


def test_the_numbers_are_those_of_the_gate(lab: Lab) -> None:
    runs = both(lab)
    data = data_of(*runs)
    done = lab("gate", "--baseline", runs[0], "--candidate", runs[1], "--min-delta", "0.01", "--json")
    gate = json.loads(done.out)
    numbers = gate["numbers"]
    assert data["interval"] == {"value": 3 / 12, "low": numbers["delta_ci95"][0], "high": numbers["delta_ci95"][1]}
    gained, lost = data["flips"]
    assert [gained["name"], lost["name"]] == ["4 gained", "1 lost"]
    assert (
        [one["question"].partition(":")[0] for one in gained["flips"]] == numbers["gained"] == ["q7", "q8", "q9", "q10"]
    )
    assert [one["question"].partition(":")[0] for one in lost["flips"]] == numbers["lost"] == ["q1"]
    assert data["said"][0].endswith("Turned: policy.")
    assert f"Exact McNemar p = {numbers['mcnemar_p']:.2g}" in data["said"][3]
    room, differ = data["compared"]
    assert data["said"][1] == "Baseline base: 6 of 12 pass, 50.0 %, Wilson's 95 % interval 25.4 to 74.6 %."
    assert data["said"][2] == "Candidate next: 9 of 12 pass, 75.0 %, Wilson's 95 % interval 46.8 to 91.1 %."
    assert {row[1].replace(" ", "_"): row[0] == "✓ same" for row in room["rows"]} == {
        one["name"]: one["holds"] for one in gate["conditions"]
    }
    assert differ["rows"] == [("policy", "the hand of base", "the hand of next")]


def test_a_flip_shows_both_texts() -> None:
    """Of runs that the lab ships there are none of Loop A; a row is enough."""
    from course.artifacts.records import Details, Result

    before = Result("q1", "1 + 1?", 2, None, 0.0, Details("missing_completion", None))
    after = Result("q1", "1 + 1?", 2, "Final: 2", 1.0, Details("ok", "2"))
    flip = comparison_page._flip(before, after)
    assert flip["question"] == "q1: 1 + 1? (2)"
    assert flip["before"] == {"outcome": "missing_completion", "text": None, "length": 0}
    assert flip["after"] == {"outcome": "ok", "text": "Final: 2", "length": 8}


def test_no_difference_is_reported_where_the_room_is_not_locked(lab: Lab) -> None:
    runs = lab.measured("base", [True, False]), lab.measured("other", [True, True], "holdout")
    data = data_of(*runs)
    assert data["interval"] is None
    assert data["said"][0].startswith("No difference is reported: ")
    assert "split differs" in data["said"][0]
    room = data["compared"][0]
    assert room["caption"] == "The locked room"
    assert room["rows"][0][0] == "✗ NO"


def test_no_difference_is_reported_where_rows_do_not_pair(lab: Lab) -> None:
    data = data_of(lab.measured("base", [True, False]), lab.measured("longer", [True, False, True]))
    assert data["interval"] is None
    assert "1 of the rows hold other examples" in data["said"][0]


def test_many_flips_are_shown_in_part_and_counted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_page, "ROWS", 6)
    gained, lost = data_of(*both(lab))["flips"]
    assert [gained["name"], lost["name"]] == ["4 gained, 3 shown", "1 lost"]
    assert len(gained["flips"]) == 3


def test_two_runs_of_loop_c_show_what_differs() -> None:
    runs = ROOT / "data" / "example_runs"
    data = data_of(runs / "bandit", runs / "bandit_backwards")
    assert data["interval"] is None
    assert data["flips"] == []
    (differ,) = data["compared"]
    assert ("lr", "0.5", "-0.5") in differ["rows"]
    assert ("mean reward", "0.7", "0.2667") in differ["rows"]
