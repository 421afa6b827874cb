"""The page, from its prose (``page.md.in``) and ``results.json``: tables, counts, dates. Nothing is measured here.

In the prose ``{{ refused line right }}`` is how many of the cases that mean "right" that verifier paid nothing for,
``{{ count right }}`` how many there are, ``{{ cases right ID ID }}`` a table of two of them, ``{{ from PATH }}`` how
many come from a file, and ``{{ made }}`` the day.
"""

import re
from collections.abc import Callable
from typing import Any


def page_of(template: str, results: dict[str, Any]) -> str:
    """The page's text. Raises KeyError for a mark in the prose that stands for nothing."""
    marks: dict[str, Callable[..., str]] = {
        "made": lambda: results["made"],
        "python": lambda: results["python"],
        "verifiers": lambda: verifiers(results),
        "counts": lambda: counts(results),
        "cases": lambda means, *names: cases(results, means, names),
        "count": lambda means: str(len(meaning(results, means))),
        "from": lambda start: str(sum(case["source"].startswith(start) for case in results["cases"])),
        "refused": lambda key, means: str(len(meaning(results, means)) - paid(results, key, means)),
        "all": lambda: str(len(results["cases"])),
    }

    def filled(found: re.Match[str]) -> str:
        name, *words = found[1].split()
        return marks[name](*words)

    return re.sub(r"\{\{ (.+?) \}\}", filled, template)


def meaning(results: dict[str, Any], means: str) -> list[dict[str, Any]]:
    return [case for case in results["cases"] if case["means"] == means]


def paid(results: dict[str, Any], key: str, means: str) -> int:
    """How many of the cases with this meaning the verifier paid anything for."""
    given = [case["rewards"][key] for case in meaning(results, means)]
    return sum(not isinstance(reward, str) and reward > 0 for reward in given)


def verifiers(results: dict[str, Any]) -> str:
    rows = [
        f"|{one['key']}|{one['library']} {one['version']} `{one['call']}`|`{one['form']}`|{one['believes']}|"
        for one in results["verifiers"]
    ]
    return "\n".join(["|column|verifier|form|belief|", "|---|---|---|---|", *rows])


def counts(results: dict[str, Any]) -> str:
    """For each meaning, how many cases each verifier paid anything for; and how often it raised."""
    keys = [one["key"] for one in results["verifiers"]]
    names = {"right": "right form", "form": "other form", "several": "several answers", "wrong": "wrong value"}
    rows = [
        f"|{name}|{len(meaning(results, means))}|{'|'.join(str(paid(results, key, means)) for key in keys)}|"
        for means, name in names.items()
    ]
    raised = [sum(isinstance(case["rewards"][key], str) for case in results["cases"]) for key in keys]
    rows.append(f"|raised an error|{len(results['cases'])}|{'|'.join(map(str, raised))}|")
    return "\n".join([f"|paid|of|{'|'.join(keys)}|", "|---|" + "---|" * (len(keys) + 1), *rows])


def cases(results: dict[str, Any], means: str, names: tuple[str, ...]) -> str:
    keys = [one["key"] for one in results["verifiers"]]
    by_id = {case["id"]: case for case in meaning(results, means)}
    rows = []
    for name in names:
        case = by_id[name]
        given = "|".join(cell(case["rewards"][key]) for key in keys)
        rows.append(f"|{case['expected_answer']}|`{visible(case['completion'])}`|{given}|")
    return "\n".join([f"|right|completion|{'|'.join(keys)}|", "|---|---|" + "---|" * len(keys), *rows])


def cell(reward: float | str) -> str:
    """``✓`` for a whole reward, ``·`` for none, ``!`` for an error, and what lies between as a number."""
    if isinstance(reward, str):
        return "!"
    return {0.0: "·", 1.0: "✓"}.get(reward) or f"{reward:.2f}".lstrip("0")


def visible(completion: str) -> str:
    r"""On one line: line breaks as ``⏎``, a space at an end as ``␣``, what shows as nothing by its number."""
    text = completion.replace("\r", "␍").replace("\n", "⏎")
    text = re.sub(r"^ +| +$", lambda found: "␣" * len(found[0]), text).replace("|", "\\|")
    return "".join(one if one.isprintable() else f"⟨U+{ord(one):04X}⟩" for one in text)
