"""Frozen completions beside fresh ones, as text: the tables of ``distribution_shift_demo`` and how to read them."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, NamedTuple

from msgspec import Struct

from course.reports.tables import WIDTH, interval, percent, table
from course.text import one_line

Scored = Mapping[str, Any]  # completions as every summary counts them: n, passes, pass_rate, …, outcomes, families


class Look(Struct, frozen=True, forbid_unknown_fields=True):
    """Fresh completions of the policy after ``step`` updates, one of each prompt, beside the frozen ones.

    Exact in every row: error = frozen_pass_rate − fresh.pass_rate; fresh.n = Σ fresh.outcomes = fresh.passes + Σ
    fresh.families.
    """

    step: int
    frozen_pass_rate: float  # the same in every row: this is what is wrong with it
    fresh: dict[str, Any]  # Scored
    error: float  # of the frozen rate, taken for that of this policy
    moved: float  # total variation distance between the outcomes of frozen and of fresh ones
    unseen_shape: float  # share of the fresh ones in a shape that no frozen one has
    unseen_text: float  # share whose very text is not among the frozen ones of the same prompt


class Sight(NamedTuple):
    """One fresh completion in a shape that no frozen one has."""

    step: int
    answer: int  # what was expected
    reward: float  # of the rubric that the policy is trained on
    completion: str


def looks_text(looks: Sequence[Look], frozen: Scored) -> str:
    """What was frozen, then a row for each look, and how to read them."""
    rows = [("frozen", _passing(frozen), "", *_faults(frozen), "", "", _commonest(frozen)[0])]
    for look in looks:
        unseen = percent(look.unseen_shape, 0), percent(look.unseen_text, 0)
        error = f"{100 * look.error:+.1f}"
        row = (str(look.step), _passing(look.fresh), error, *_faults(look.fresh), *unseen, _commonest(look.fresh)[0])
        rows.append(row)
    header = ("step", "passes", "error", *_FAMILIES.values(), "shape", "text", "most common")
    legend = (
        "passes: by the strict scorer. error: the frozen rate less this one, in points. format, value: wrong in that. "
        "shape, text: fresh completions in a shape that no frozen one has; that were not frozen for their prompt."
    )
    return f"{table(header, rows, right=range(7))}\n\n{fill(legend, WIDTH)}"


def sights_text(sights: Sequence[Sight], rubric: str) -> str:
    """Completions as the policy wrote them, in quotes and with ⏎ for a line break, and what the rubric pays for each.

    One that goes on ends in … and has no second quote.
    """
    room = WIDTH - len(f"step   answer   {rubric}   ")
    rows = [
        (sight.step, sight.answer, f"{sight.reward:.1f}", one_line(f"'{sight.completion}'", room)) for sight in sights
    ]
    return table(("step", "answer", rubric, "completion"), rows, right=(0, 1, 2))


def reading_text(looks: Sequence[Look], frozen: Scored) -> str:
    """The drift in a few lines: how wrong the frozen rate became, which way, and what no frozen completion shows."""
    first, last = looks[0], looks[-1]
    low, high = last.fresh["pass_rate_ci95"]
    apart = high < frozen["pass_rate_ci95"][0] or low > frozen["pass_rate_ci95"][1]
    wrong = (
        f"{100 * abs(last.error):.1f} points too {'high' if last.error > 0 else 'low'}" if last.error else "the same"
    )
    tail = (
        "Of what is in no known shape the frozen ones say nothing."
        if last.unseen_shape
        else "The shapes are known; how often each is written now, the frozen ones do not say."
    )
    said = [
        f"For the policy of step {last.step} the frozen estimate is {wrong}: it still says {_passing(frozen)}, and "
        f"{_passing(last.fresh)} of the fresh completions pass ({interval((low, high))}). The intervals "
        f"{'do not overlap' if apart else 'overlap: it may be luck'}. At step 0, where one policy wrote both, they are "
        f"{100 * abs(first.error):.1f} points apart, and that is luck.",
        f"The most common outcome is {_most(frozen)} among the frozen completions, {_most(last.fresh)} among the fresh "
        f"ones of step {last.step}. At least {percent(last.moved, 0)} of these would need another outcome to match the "
        f"frozen mix; at step 0, {percent(first.moved, 0)}.",
        f"Of the fresh completions of step {last.step}, {percent(last.unseen_shape, 0)} are in a shape that no frozen "
        f"one has, and {percent(last.unseen_text, 0)} are texts that were not frozen for their prompt; at step 0, "
        f"{percent(first.unseen_shape, 0)} and {percent(first.unseen_text, 0)}. {tail}",
    ]
    return "\n".join(_item(line) for line in said)


_FAMILIES = {"model_format": "format", "model_math": "value"}  # whose fault -> what was wrong, in a table's head


def _item(line: str) -> str:
    """A line of a list, broken where there is room, but never between a number and its %."""
    kept = line.replace(" %", "\N{NO-BREAK SPACE}%")
    return fill(kept, WIDTH, initial_indent="- ", subsequent_indent="  ").replace("\N{NO-BREAK SPACE}", " ")


def _passing(scored: Scored) -> str:
    return percent(scored["pass_rate"])


def _faults(scored: Scored) -> list[str]:
    return [percent(scored["families"].get(family, 0) / scored["n"], 0) for family in _FAMILIES]


def _commonest(scored: Scored) -> tuple[str, int]:
    """The outcome most often met, and how often; the first of equals."""
    outcome = max(scored["outcomes"], key=scored["outcomes"].__getitem__)
    return outcome, scored["outcomes"][outcome]


def _most(scored: Scored) -> str:
    outcome, count = _commonest(scored)
    return f"{outcome} ({percent(count / scored['n'], 0)})"
