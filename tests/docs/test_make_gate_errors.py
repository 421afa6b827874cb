"""How often the gate is wrong: the tables' numbers against a sum over every pair of counts, by SciPy's multinomial.

An example: of 25 prompts a fifth flips, and neither policy is better. Of all 351 pairs of gained and lost the gate
promotes few, with a probability of 0.44 % together; the script says so from two bounds a number of flips.
"""

import re
from fractions import Fraction

import pytest
from conftest import ROOT
from scipy_when_asked import scipy

from course.gate import decide
from docs.make_gate_errors import FLIP_RATES, SIZES, TABLES, bounds, most_rejected, shares

PAGE = (ROOT / "docs" / "reference" / "gate_errors.md").read_text(encoding="utf-8")


def share_of(wanted: str, n: int, flip_rate: float, gain: float, min_delta: Fraction) -> float:
    chances = [(flip_rate + gain) / 2, (flip_rate - gain) / 2, 1 - flip_rate]
    total = 0.0
    for gained in range(n + 1):
        for lost in range(n + 1 - gained):
            if decide(n, gained, lost, min_delta)[0] == wanted:
                total += scipy.stats.multinomial.pmf([gained, lost, n - gained - lost], n, chances)
    return total


@pytest.mark.parametrize(
    ("n", "flip_percent", "gain_percent", "delta_percent"),
    [
        (25, 20, 0, 0),
        (25, 38, 38, 38),  # nobody loses: each flip is gained
        (26, 40, 30, 30),
        (40, 10, 2, 4),
        pytest.param(80, 20, 5, 5, marks=pytest.mark.slow),
    ],
)
def test_a_share_is_the_sum_over_every_pair_of_counts(
    n: int, flip_percent: int, gain_percent: int, delta_percent: int
) -> None:
    flip_rate, gain, min_delta = (Fraction(percent, 100) for percent in (flip_percent, gain_percent, delta_percent))
    rejected, promoted = shares(n, flip_rate, gain, min_delta)
    assert rejected == pytest.approx(share_of("REJECT", n, float(flip_rate), float(gain), min_delta), abs=1e-6)
    assert promoted == pytest.approx(share_of("PROMOTE", n, float(flip_rate), float(gain), min_delta), abs=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_the_page_has_the_tables_of_the_script(name: str) -> None:
    block = PAGE.partition(f"<!-- {name} -->")[2].partition("<!-- end -->")[0]
    rows = {row[0]: row[1:] for row in (re.findall(r"[\d.,]+", line) for line in block.splitlines()[4:]) if row}
    assert [*rows] == [f"{n:,}" for n in SIZES]
    for flip_rate, cell in zip(FLIP_RATES[:3], rows["25"], strict=False):
        assert cell == f"{100 * TABLES[name](25, flip_rate):.2f}"
    bounds.cache_clear()


def test_no_good_candidate_of_the_page_is_rejected_more_often_than_in_four_of_a_hundred() -> None:
    cells = PAGE.partition("<!-- rejected -->")[2].partition("<!-- end -->")[0]
    shares_rejected = [float(cell) for cell in re.findall(r"([\d.]+) %(?! flip)", cells)]
    assert len(shares_rejected) == len(SIZES) * len(FLIP_RATES)
    assert max(shares_rejected) <= 4
    assert most_rejected(26, Fraction(38, 100)) <= 0.04  # the worst on whole points, from 25 prompts on
