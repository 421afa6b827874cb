"""The page of the reward spec: its outcomes, examples and counts are the scorer's and the golden sets'.

An example: the page shows ``Final: 022`` for 22 in the row of ``leading_zeros``. Were the spec to forgive zeros, the
scorer would say ``ok``, and the test would name the row.
"""

import re
from collections import Counter

from conftest import ROOT, lines_of

from course.faults import FAMILIES
from course.score import SPEC, measure

TEXT = (ROOT / "docs" / "reference" / "reward_spec.md").read_text(encoding="utf-8")
GOLDEN = ROOT / "course" / "golden"


def rows_below(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its two first lines."""
    part = TEXT.partition(f"\n## {heading}\n")[2]
    lines = re.findall(r"^\|.*\|$", part.partition("\n## ")[0], re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def as_text(shown: str) -> str:
    """``<U+00A0 NO-BREAK SPACE>`` stands for that character."""
    return re.sub(r"<U\+([0-9A-F]{4,}) [^>]*>", lambda found: chr(int(found[1], 16)), shown)


def test_the_spec_is_shown_as_it_is() -> None:
    assert SPEC in TEXT


def test_outcomes_are_those_of_the_scorer_in_its_order() -> None:
    shown = [(outcome.strip("`"), family) for outcome, family, *_ in rows_below("Checks and outcomes")]
    assert shown == [(outcome, family or "") for outcome, family in FAMILIES.items()]


def test_each_example_has_the_outcome_of_its_row() -> None:
    tried = 0
    for outcome, _, _, example in rows_below("Checks and outcomes"):
        if found := re.fullmatch(r"`(.*Final.*)` for (-?\d+)", example):
            assert measure(int(found[2]), as_text(found[1])).outcome == outcome.strip("`")
            tried += 1
    assert tried == 10


def test_rules_and_their_exploits_are_counted() -> None:
    exploits = lines_of(GOLDEN / "golden_exploits.jsonl")
    shown = {rule.strip("`"): int(count) for rule, _, count, _ in rows_below("Rules, each with its exploits")}
    assert shown == Counter(case["rule"] for case in exploits)
    right = lines_of(GOLDEN / "golden_correct.jsonl")
    assert f"are {len(shown)} rules." in TEXT
    assert f"the {len(exploits)} golden exploits" in TEXT
    assert f"has {len(right)} right lines" in TEXT
    assert f"the verdicts on the {len(exploits) + len(right)} golden cases" in TEXT


def test_each_exploit_that_is_shown_is_a_golden_one_of_its_rule() -> None:
    golden = {(case["rule"], case["completion"]) for case in lines_of(GOLDEN / "golden_exploits.jsonl")}
    for rule, _, _, example in rows_below("Rules, each with its exploits"):
        completion = re.match(r"`(.*?)`", example)
        assert completion
        assert (rule.strip("`"), as_text(completion[1])) in golden
