"""Machinery: what course.check tests prints: the matrix of tests and verifiers, what was caught, and one hint."""

from collections.abc import Mapping, Sequence
from string import ascii_letters
from typing import NamedTuple

from course.datasets.records import Verifier
from course.reports.tables import interval, percent
from course.stats import wilson_interval
from course.text import clipped

_NAME = 26  # columns of a test's name


class Judged(NamedTuple):
    """``kills``: right test -> ids of the wrong verifiers it catches. ``faults``: test that is not right -> why.

    ``wrong``: name of a set -> ids of its wrong verifiers. ``smallest``: the fewest tests that catch as much.
    ``padding``: test -> another one that catches all that it does. ``reward_only``: tests that ask for nothing else.
    """

    kills: Mapping[str, frozenset[str]]
    faults: Mapping[str, str]
    wrong: Mapping[str, set[str]]
    smallest: Sequence[str]
    padding: Mapping[str, str]
    reward_only: Sequence[str]

    @property
    def killed(self) -> set[str]:
        return set().union(*self.kills.values())


def rate(rates: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{k} of {n} {name}" for name, (k, n) in rates.items())


def judged_lines(found: Judged, marks: Mapping[str, Mapping[str, str]], shown: Sequence[Verifier]) -> list[str]:
    """The whole report, a line each. ``marks``: test -> id of a verifier -> what stands in the matrix."""
    columns = [one for one in shown if one.id in found.wrong["shown"]]
    lines = [*matrix(found, marks, columns), *(f"{_short(test)}: {fault}" for test, fault in found.faults.items())]
    for test, other in found.padding.items():
        lines.append(f"padding: {_short(test)} catches nothing{f' that {_short(other)} does not' if other else ''}")
    lines += [f"asserts only the reward: {_short(test)} let wrong details pass" for test in found.reward_only]
    if found.killed:
        few = ", ".join(map(_short, found.smallest))
        lines.append(f"as much is caught by {len(found.smallest)} of {len(marks)} tests: {few}")
    for name, ids in found.wrong.items():
        k, n = len(found.killed & ids), len(ids)
        lines.append(
            f"{name}: {k} of {n} caught, {percent(k / n, 0)} (95 % interval {interval(wilson_interval(k, n))})"
        )
    left = [one.kind for one in columns if one.id not in found.killed]
    whole = [kind for kind in left if not any(one.kind == kind and one.id in found.killed for one in columns)]
    if left:
        kind = [*whole, *left][0].replace("_", " ")
        lines.append(f"hint: {'no test of yours' if whole else 'not every test that is needed'} is about {kind}")
    return lines


def matrix(found: Judged, marks: Mapping[str, Mapping[str, str]], columns: Sequence[Verifier]) -> list[str]:
    """Tests x shown verifiers. A class that nothing catches has no letter: its name would tell what to test."""
    kinds = dict.fromkeys(one.kind for one in columns if one.id in found.killed)
    letters = dict(zip(kinds, ascii_letters, strict=False))
    lines = [f"{'':{_NAME}} {''.join(letters.get(one.kind, '?') for one in columns)}  only"]
    for test, row in marks.items():
        others = set().union(*(kills for other, kills in found.kills.items() if other != test))
        only = len((found.kills.get(test, frozenset()) - others) & found.wrong["shown"])
        cells = "".join(row.get(one.id, " ") for one in columns)
        lines.append(f"{_short(test, _NAME):{_NAME}} {cells}  {'wrong' if test in found.faults else only}")
    lines.append("# caught, . not caught though it answered wrongly, x ended in an exception, blank: no difference")
    lines.append("; ".join(f"{letter} {kind.replace('_', ' ')}" for kind, letter in letters.items()) or "? not caught")
    return lines


def _short(test: str, width: int = 60) -> str:
    return clipped(test.removeprefix("test_"), width)
