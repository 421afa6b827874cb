"""The figures of what to expect: bands of what the lab trains, drawn from a table that the lab gives again.

The worked example. Three seeds with the values 1, 5 and 2 at a step: the band there goes from 1 to 5, and the line in
it stands at 2.
"""

import json
import re
import xml.etree.ElementTree as ET
from itertools import zip_longest
from typing import Any

import pytest

from docs.expected_figures import draw, drawings, source_of
from docs.make_expected import (
    EVERY,
    FIGURES,
    SEEDS,
    TABLE,
    TRAININGS,
    banded,
    measured,
    tokens,
    write_table,
)

FOUND: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
CHEAP = [name for name in TRAININGS if not name.startswith("tokens")]
TRAINED = [name for name in TRAININGS if name.startswith("tokens")]
DRAWINGS = drawings()
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"(?<![#\w])-?\d+(?:\.\d+)?(?!\w)")


def test_a_band_goes_from_the_lowest_seed_to_the_highest_and_the_line_is_the_middle_one() -> None:
    seeds = [{"reward": [1.0, 0.0]}, {"reward": [5.0, 0.0]}, {"reward": [2.0, 0.123456]}]
    assert banded(seeds) == {"reward": {"low": [1.0, 0.0], "median": [2.0, 0.0], "high": [5.0, 0.1235]}}


def test_the_table_is_of_these_trainings_and_every_curve_has_a_value_at_each_step() -> None:
    assert list(FOUND) == list(TRAININGS)
    for name, training in TRAININGS.items():
        assert FOUND[name]["command"] == f"python3 -m {training.command} --seed SEED"
        assert FOUND[name]["seeds"] == list(SEEDS)
        assert FOUND[name]["steps"] == list(training.steps)
        for curve in FOUND[name]["curves"].values():
            assert {len(values) for values in curve.values()} == {len(training.steps)}
            ordered = zip(curve["low"], curve["median"], curve["high"], strict=True)
            assert all(low <= middle <= high for low, middle, high in ordered)
    assert TABLE.read_text(encoding="utf-8") == write_table(FOUND)


@pytest.mark.parametrize("name", CHEAP)
def test_the_small_learners_give_the_table_again(name: str) -> None:
    training = TRAININGS[name]
    again = measured(name, [training.curves(seed, *training.how) for seed in SEEDS])["curves"]
    assert list(again) == list(FOUND[name]["curves"])
    for curve, bands in again.items():
        for end, values in bands.items():
            assert values == pytest.approx(FOUND[name]["curves"][curve][end], abs=1.01e-4), (curve, end)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_a_token_policy_learns_within_the_band_of_the_table(name: str) -> None:
    """For 100 updates. A tenth on either side, since two machines may draw other completions."""
    preset, rubric = TRAININGS[name].how
    curves = tokens(SEEDS[0], preset, rubric, updates=4 * EVERY)
    assert list(curves) == list(FOUND[name]["curves"])
    for curve, values in curves.items():
        band = FOUND[name]["curves"][curve]
        outside = [
            (step, low, value, high)
            for step, low, value, high in zip(range(0, 101, EVERY), band["low"], values, band["high"], strict=False)
            if not low - 0.1 <= value <= high + 0.1
        ]
        assert outside == [], curve


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_is_what_the_table_gives(name: str) -> None:
    """Word for word; a number up to a tenth of a unit, which another machine's text layout may give."""
    drawn = draw(DRAWINGS[name], FOUND)
    stands = (FIGURES / f"expected_{name}.svg").read_text(encoding="utf-8")
    assert NUMBER.sub("0", drawn) == NUMBER.sub("0", stands), "python3 docs/make_expected.py --draw"
    pairs = zip_longest(NUMBER.findall(drawn), NUMBER.findall(stands), fillvalue="nan")
    assert [pair for pair in pairs if not abs(float(pair[0]) - float(pair[1])) <= 0.1] == []


def test_the_same_numbers_give_the_same_bytes() -> None:
    assert draw(DRAWINGS["bandit"], FOUND) == draw(DRAWINGS["bandit"], FOUND)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_says_in_words_what_it_shows_and_from_which_commands(name: str) -> None:
    source = (FIGURES / f"expected_{name}.svg").read_text(encoding="utf-8")
    root = ET.fromstring(source)
    title, desc, paper = (root.find(f"{SVG}{tag}") for tag in ("title", "desc", "rect"))
    assert title is not None
    assert title.text == DRAWINGS[name].title
    assert desc is not None
    assert (desc.text or "").endswith(source_of(DRAWINGS[name], FOUND))
    assert len((desc.text or "").split()) > 60
    assert paper is not None
    assert paper.get("fill") == "#fbfaf6"
    assert re.findall(r"https?://", source.replace("http://www.w3.org/2000/svg", "")) == []
    assert {element.tag for element in root.iter()} & {f"{SVG}script", f"{SVG}image", f"{SVG}foreignObject"} == set()


def test_the_figures_show_what_the_pages_say() -> None:
    """The claims of milestones 1 to 3, on every one of the five seeds."""

    def band(name: str, curve: str, step: int) -> tuple[float, float]:
        at = FOUND[name]["steps"].index(step)
        return FOUND[name]["curves"][curve]["low"][at], FOUND[name]["curves"][curve]["high"][at]

    assert band("bandit", "expected reward", 30)[0] > 0.85
    assert band("bandit_backwards", "expected reward", 30)[1] < 0.1
    assert band("two_steps", "expected return", 200)[0] > 0.95
    assert band("two_steps_sabotage", "expected return", 200)[1] < 0.5
    assert band("tokens_anywhere", "rubric", 100)[0] > 0.95
    assert band("tokens_anywhere", "strict", 100)[1] == 0
    assert band("tokens_memorise", "strict", 600)[0] > 0.85
    assert band("tokens_generalise", "strict", 600)[0] > 0.9
