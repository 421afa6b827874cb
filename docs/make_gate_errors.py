"""Write the tables in docs/reference/gate_errors.md: how often the gate is wrong, by exact enumeration.

    python3 docs/make_gate_errors.py

Notation
    n           prompts                     flip_rate   the true share of prompts that flip, either way
    gain        the true difference         min_delta   what --min-delta says
    gained, lost, flips   what was drawn; flips = gained + lost

Each prompt is gained with probability (flip_rate + gain) / 2, lost with (flip_rate − gain) / 2, else it does not flip.
So the number of flips is binomial, and of these flips the number gained is binomial too. Of all pairs of counts with a
number of flips the gate rejects those with few gained, and promotes those with many: two bounds stand for all.
"""

import re
import sys
from bisect import bisect_left
from fractions import Fraction
from functools import cache
from math import exp, lgamma, log
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(LAB)]

from course.gate import decide  # noqa: E402

PAGE = LAB / "docs" / "reference" / "gate_errors.md"
SIZES = (25, 50, 80, 100, 200, 400, 800, 1_319)
FLIP_RATES = tuple(Fraction(percent, 100) for percent in (5, 10, 20, 30, 40))
NEGLIGIBLE = 1e-9  # the probability of a number of flips that is left out
POINT = Fraction(1, 100)


def binomial(n: int, p: Fraction) -> list[float]:
    """The probability of 0, 1, …, n successes."""
    if p in (0, 1):
        return [float(k == n * p) for k in range(n + 1)]
    log_p, log_q = log(p), log(1 - p)
    ways = [lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(n + 1)]
    return [exp(ways[k] + k * log_p + (n - k) * log_q) for k in range(n + 1)]


@cache
def bounds(n: int, flips: int, min_delta: Fraction) -> tuple[int, int]:
    """The fewest gained that are not rejected, and the fewest that are promoted, of so many flips."""
    counts = range(flips + 1)

    def verdict(gained: int) -> str:
        return decide(n, gained, flips - gained, min_delta)[0]

    kept = bisect_left(counts, True, key=lambda gained: verdict(gained) != "REJECT")
    promoted = bisect_left(counts, True, key=lambda gained: verdict(gained) == "PROMOTE")
    return kept, promoted


def shares(n: int, flip_rate: Fraction, gain: Fraction, min_delta: Fraction) -> tuple[float, float]:
    """How often a candidate with this gain is rejected, and how often it is promoted."""
    rejected = promoted = 0.0
    for flips, probability in enumerate(binomial(n, flip_rate)):
        if probability < NEGLIGIBLE:
            continue
        gained = binomial(flips, (flip_rate + gain) / (2 * flip_rate))
        first_kept, first_promoted = bounds(n, flips, min_delta)
        rejected += probability * sum(gained[:first_kept])
        promoted += probability * sum(gained[first_promoted:])
    return rejected, promoted


def most_rejected(n: int, flip_rate: Fraction) -> float:
    """Of candidates exactly as good as --min-delta asks, the largest share rejected, over every point of it."""
    points = range(int(flip_rate / POINT) + 1)
    return max(shares(n, flip_rate, point * POINT, point * POINT)[0] for point in points)


def promoted_by_chance(n: int, flip_rate: Fraction) -> float:
    """Of candidates that are no better, the share promoted with --min-delta 0."""
    return shares(n, flip_rate, Fraction(0), Fraction(0))[1]


def promoted_at_half(n: int, flip_rate: Fraction) -> float:
    """Of candidates that are half as good as --min-delta 0.04 asks, the share promoted."""
    return shares(n, flip_rate, 2 * POINT, 4 * POINT)[1]


TABLES = {
    "rejected": most_rejected,
    "promoted": promoted_by_chance,
    "half": promoted_at_half,
}


def table(name: str) -> str:
    """A row for each n, a column for each flip rate, shares in percent."""
    head = " | ".join(f"{int(100 * flip_rate)} % flip" for flip_rate in FLIP_RATES)
    lines = [f"| n | {head} |", "|---:|" + "---:|" * len(FLIP_RATES)]
    for n in SIZES:
        cells = " | ".join(f"{100 * TABLES[name](n, flip_rate):.2f} %" for flip_rate in FLIP_RATES)
        lines.append(f"| {n:,} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in TABLES:
        block = re.compile(f"(?<=<!-- {name} -->\n\n).*?(?=\n\n<!-- end -->)", re.DOTALL)
        page = block.sub(table(name), page)
    PAGE.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
