"""The report on other verifiers: its page is its results', its prose is true of them, its cases are ours as they are.

No network: what the libraries answered stands in ``benchmarks/field/results.json``. The worked example: of the three
cases below the verifier ``a`` pays for one wrong value, a part for another, and raises at the third.
"""

import doctest
import json
import re
import tomllib
from importlib import import_module
from typing import Any

import pytest
from conftest import ROOT

from course.score import score

FIELD = ROOT / "benchmarks" / "field"
RESULTS = json.loads((FIELD / "results.json").read_text(encoding="utf-8"))
LIBRARIES = tomllib.loads((FIELD / "libraries.toml").read_text(encoding="utf-8"))["library"]
CASES = {case["id"]: case for case in RESULTS["cases"]}
KEYS = [one["key"] for one in RESULTS["verifiers"]]

# What the prose of the page says, as the results must have it: verifier, case, reward.
SAID = [
    ("exact", "exploit-68", 1.0),  # -323 for 323
    ("num", "report-01", 1.0),  # 123457 for 123456
    ("match", "incident-01", 1.0),  # 711 for 11
    ("match", "exploit-69", 1.0),  # 8 for -8
    ("incl", "exploit-71", 1.0),  # 220 for 22
    ("strict", "report-02", 1.0),  # 2,2
    ("strict", "report-03", 1.0),  # 22/7
    ("strict", "report-05", 1.0),  # 22e5
    ("strict", "exploit-59", 1.0),  # 1,024
    ("flex", "report-04", 1.0),  # 44/22
    ("flex", "report-06", 1.0),  # not 22
    ("plain", "report-05", 1.0),
    ("plain", "incident-10", 1.0),  # 2 2/3 for 2
    ("boxed", "incident-09", 0.0),  # **73**
    ("boxed", "exploit-16", 1.0),  # no box
    ("gym", "exploit-71", 0.6667),
    ("num", "incident-01", 0.0),  # mended
    ("num", "incident-03", 0.0),
    ("num", "incident-04", 1.0),
    ("num", "incident-05", 0.0),
    ("strict", "incident-06", 0.0),  # $29.00
    ("flex", "incident-06", 0.0),
]


@pytest.fixture
def field(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FIELD))
    return import_module


def test_the_page_is_made_from_the_results(field: Any) -> None:
    """Otherwise: python3 benchmarks/field/make.py --page."""
    template = (FIELD / "page.md.in").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "reference" / "how_verifiers_fail.md").read_text(encoding="utf-8")
    assert page == field("make").page_of(template, RESULTS)


@pytest.mark.parametrize(("verifier", "case", "reward"), SAID)
def test_the_prose_is_true_of_the_results(verifier: str, case: str, reward: float) -> None:
    assert CASES[case]["rewards"][verifier] == reward


def test_who_pays_for_no_wrong_value_and_who_refuses_right_forms() -> None:
    paid = {key: [c["id"] for c in CASES.values() if c["means"] == "wrong" and c["rewards"][key]] for key in KEYS}
    assert {key for key, ids in paid.items() if not ids} == {"lab", "line", "math", "boxed"}
    right = {key: [c["id"] for c in CASES.values() if c["means"] == "right" and c["rewards"][key] != 1] for key in KEYS}
    assert {key: len(ids) for key, ids in right.items() if ids} == {"line": 4}
    assert {CASES[name]["completion"].rstrip(" \t\r\n") != CASES[name]["completion"] for name in right["line"]} == {
        True
    }


def test_the_recorded_cases_are_those_of_the_files_as_they_are(field: Any) -> None:
    """A golden case that is new waits for the next report; one that changed makes this one wrong."""
    now = {case["id"]: case for case in field("make").all_cases()}
    recorded = {name: {key: case[key] for key in case if key != "rewards"} for name, case in CASES.items()}
    assert {name: now.get(name) for name in recorded} == recorded
    assert {name for name in now if not name.startswith(("correct-", "exploit-"))} <= set(recorded)


def test_our_own_column_is_what_our_scorer_gives_today() -> None:
    for case in CASES.values():
        example = {"prompt": "", "expected_answer": case["expected_answer"]}
        assert score(example, case["completion"])["reward"] == case["rewards"]["lab"]
        assert case["rewards"]["lab"] == (1.0 if case["means"] == "right" else 0.0)


def test_each_version_is_pinned_and_is_the_one_that_answered() -> None:
    pins = {}
    for library in LIBRARIES:
        for wanted in [*library["install"], *library.get("no_deps", [])]:
            name, pin = re.fullmatch(r"([a-z0-9-]+)(?:\[\w+\])?==([\w.]+)", wanted).groups()  # type: ignore[union-attr]
            pins[library["name"], name] = pin
    asked = {(one["name"], verifier["key"]) for one in LIBRARIES for verifier in one["verifier"]}
    assert {(one["library"], one["key"]) for one in RESULTS["verifiers"]} == asked
    distributions = {library["name"]: library["distribution"] for library in LIBRARIES}
    for one in RESULTS["verifiers"][1:]:
        assert pins[one["library"], distributions[one["library"]]] == one["version"]


def test_a_case_is_shown_to_each_verifier_in_its_own_form(field: Any) -> None:
    adapters = field("adapters")
    assert doctest.testmod(adapters).failed == 0
    for completion, shown in [
        ("Final: 22", "<22>"),
        ("  Final: 22 \r\n", "  <22> \r\n"),
        ("Final: 21\nFinal: 22", "<21>\n<22>"),
        ("Final: 322 Final: 323", "<322> <323>"),
        ("**Final: 22**", "**<22>**"),
        ("Final: **22**", "<**22**>"),
        ("`Final: 22`", "`<22>`"),
        ("The answer is 22", "The answer is 22"),
        ("Final: ", "<>"),
    ]:
        assert adapters.in_form(completion, "<…>") == shown


def test_counts_and_cells_of_a_worked_example(field: Any) -> None:
    page = field("make")
    cases = [
        {"id": str(n), "means": "wrong", "expected_answer": 2, "completion": text, "rewards": {"a": reward}}
        for n, (text, reward) in enumerate([("Final: 3", 1.0), ("␣\n|Final: 25\x00 ", 0.5), ("", "ValueError")])
    ]
    results = {"cases": cases, "verifiers": [{"key": "a"}]}
    assert page.page_of("{{ count wrong }} {{ refused a wrong }} {{ all }}", results) == "3 1 3"
    assert "|wrong value|3|2|" in page.table_of_counts(results)
    assert "|raised an error|3|1|" in page.table_of_counts(results)
    assert page.table_of_cases(results, "wrong", ("0", "1", "2")).splitlines()[2:] == [
        "|2|`Final: 3`|✓|",
        "|2|`␣⏎\\|Final: 25⟨U+0000⟩␣`|.50|",
        "|2|``|!|",
    ]
    with pytest.raises(KeyError):
        page.page_of("{{ paid a wrong }}", results)
