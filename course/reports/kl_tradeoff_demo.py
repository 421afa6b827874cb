"""The leash as text: the tables of ``kl_tradeoff_demo``, how to read them, and the same points for a spreadsheet."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from textwrap import fill
from typing import Literal

from msgspec import Struct

from course.reports.tables import WIDTH, table
from course.text import clipped, visible

_FORMULA = tuple("=+-@\t\r")  # what a spreadsheet would run
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)

Kind = Literal["reference", "closed_form", "gradient_ascent", "best_action", "best_of_n"]


class Point(Struct, frozen=True, forbid_unknown_fields=True):
    """One policy in the plane of reward and KL. ``reference`` is beta = infinity, ``best_action`` is beta = 0."""

    kind: Kind
    beta: float | None
    n: int | None  # of best-of-N
    mean_reward: float
    verifier_reward: float  # what the verifier would pay this policy on average, whatever it was trained on
    kl: float  # from the reference, in nats
    kl_bound: float | None  # of best-of-N: ln N − (N−1)/N
    top3: list[tuple[int, float]]  # action, probability
    probs: list[float]


def actions_text(
    completions: Sequence[str], reference: Sequence[float], rewards: Sequence[float], verifier: Sequence[float]
) -> str:
    """What there is to choose from, and what it is paid."""
    rows = [
        (action, f"{p:.2f}", f"{reward:.2f}", f"{paid:.0f}", clipped(text, 42))
        for action, (text, p, reward, paid) in enumerate(zip(completions, reference, rewards, verifier, strict=True))
    ]
    return table(("action", "reference", "reward", "verifier", "completion"), rows, right=(0, 1, 2, 3))


def sweep_text(points: Sequence[Point]) -> str:
    """The leash from tight to none: closed form and gradient ascent side by side."""
    ascent = {point.beta: f"{point.mean_reward:.3f} {point.kl:.3f}" for point in _of("gradient_ascent", points)}
    rows = [
        (
            "infinite" if point.kind == "reference" else f"{point.beta:g}",
            f"{point.mean_reward:.3f}",
            f"{point.kl:.3f}",
            ascent.get(point.beta, ""),
            f"{point.verifier_reward:.3f}",
            _top(point),
        )
        for point in _of("reference", points) + _of("closed_form", points) + _of("best_action", points)
    ]
    header = ("beta", "reward", "KL", "by ascent", "verifier", "top three actions")
    return table(header, rows, right=(0, 1, 2, 3, 4))


def best_of_n_text(points: Sequence[Point]) -> str:
    """Best-of-N from the reference policy: what it gets, how far from the reference that is, and the bound."""
    rows = [
        (
            point.n,
            f"{point.mean_reward:.3f}",
            f"{point.kl:.3f}",
            f"{point.kl_bound:.3f}",
            f"{point.verifier_reward:.3f}",
            _top(point),
        )
        for point in _of("best_of_n", points)
    ]
    return table(("N", "reward", "KL", "KL at most", "verifier", "top three actions"), rows, right=(0, 1, 2, 3, 4))


def reading_text(points: Sequence[Point], difference: float) -> str:
    """The curve in a few lines. ``difference``: the largest between closed form and ascent, over all probabilities."""
    curve, choices = _of("closed_form", points), _of("best_of_n", points)
    first, last = curve[0], curve[-1]
    graded = any(point.verifier_reward != point.mean_reward for point in points)
    said = [
        f"Weaker leash, more reward, more drift: from beta {first.beta:g} to {last.beta:g} the mean reward goes from "
        f"{first.mean_reward:.3f} to {last.mean_reward:.3f} and the KL from {first.kl:.3f} to {last.kl:.3f} nats. "
        "No other policy gets as much at the same KL.",
        f"Gradient ascent ends at the closed form: no probability differs by more than {difference:.0e}.",
        f"Best-of-N trains nothing, and what it delivers drifts all the same: {choices[-1].kl:.3f} nats at "
        f"N = {choices[-1].n}, where the bound says at most {choices[-1].kl_bound:.3f}. "
        f"{'It is never above the curve.' if graded else 'Where rewards are 0 or 1 it lies on the curve.'}",
    ]
    if not _of("best_action", points):
        said.append(
            "beta = 0 has no row: several actions are paid best, and without a leash none of them is preferred."
        )
    if graded:
        best = max(curve, key=lambda point: point.verifier_reward)
        said.append(
            f"The graded rewards are invented: a careless judge's. What the verifier would pay goes up to "
            f"{best.verifier_reward:.3f} at beta {best.beta:g}, then down to {last.verifier_reward:.3f} at beta "
            f"{last.beta:g}, while the judge pays more and more. What the judge overrates wins once the leash is weak."
        )
    return "\n".join(fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ") for line in said)


def csv_text(points: Iterable[Point], completions: Sequence[str]) -> str:
    """The points for a spreadsheet: a row each, the most probable completion in words, nothing that would be run."""
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    tops = [name for place in (1, 2, 3) for name in (f"top{place}", f"top{place}_prob")]
    numbers = ["kind", "beta", "n", "mean_reward", "verifier_reward", "kl", "kl_bound"]
    writer.writerow([*numbers, *tops, "top1_completion", *(f"p{action}" for action in range(len(completions)))])
    for point in points:
        cells = [getattr(point, name) for name in numbers]
        cells += [cell for place in point.top3 for cell in place]
        writer.writerow(map(defused, [*cells, visible(completions[point.top3[0][0]]), *point.probs]))
    return out.getvalue()


def defused(cell: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe in front; a number stays a number."""
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _of(kind: str, points: Iterable[Point]) -> list[Point]:
    return [point for point in points if point.kind == kind]


def _top(point: Point) -> str:
    return "  ".join(f"{action} {p:.3f}" for action, p in point.top3 if p > 0)
