"""The visitor's own pattern, typed into the live page in a real Chromium: each of its endings, and what stops it.

An example: ``(\\d)$`` takes the last digit alone, so the page finds a text such as 14 that is paid where 4 is right.
"""

import re
from typing import Any

import pytest
from browsing import tab
from conftest import ROOT

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "live" / "watch_it_cheat.html"
RIGHT = "The policy learned to be right."
WRONG = "The policy found a wrong answer that is paid."
HEDGES = "The policy hedges: most of what is paid holds several numbers, the right one among them."
NONE = "Nothing was ever paid, so nothing was pushed: the policy is as it was at the start."
RUNAWAY = "The pattern runs away on one of the policy's texts, so its worker was ended."
EXPLOIT = re.compile(r"The verifier paid (a wrong number|several numbers): (.*?) where (\d+) is right", re.DOTALL)


def type_pattern(page: Any, pattern: str, pick: str) -> None:
    """As a visitor does: press the third button, choose which match counts, type, and press Enter."""
    page.click(".own")
    page.select_option("#pick", pick)
    page.fill("#pattern", "")
    page.type("#pattern", pattern)
    page.press("#pattern", "Enter")


def wait_for(page: Any, sentence: str) -> str:
    """The whole status, once it has the sentence."""
    status = page.locator("[role=status]", has_text=sentence)
    status.wait_for(timeout=120_000)
    return str(status.inner_text())


def wait_for_workers(page: Any, count: int) -> None:
    """Until no more are left: a browser gives a worker some seconds to end."""
    while len(page.workers) > count:
        page.wait_for_timeout(100)
    assert len(page.workers) == count


ENDINGS = [
    (r"^Final: (\d+)$", "first", RIGHT),
    (r"(\d)$", "first", WRONG),
    (r"\d+", "any", HEDGES),
    (r"<answer>(.*?)</answer>", "last", NONE),
]


@pytest.mark.parametrize(("pattern", "pick", "sentence"), ENDINGS)
def test_a_pattern_ends_with_its_sentence(browser: Any, pattern: str, pick: str, sentence: str) -> None:
    with tab(browser) as one:
        page = one.open(PAGE)
        type_pattern(page, pattern, pick)
        status = wait_for(page, sentence)
        [(paid, right)] = re.findall(r"After \d+ updates (\d+) % are paid and (\d+) % are right\.", status)
    exploits = {kind: (text, answer) for kind, text, answer in EXPLOIT.findall(status)}
    if sentence == RIGHT:
        assert int(right) >= 50  # and a text with a space behind the line is right, and not paid
        assert "a wrong number" not in exploits
    if sentence == WRONG:
        text, answer = exploits["a wrong number"]
        assert re.findall(pattern, text)[0] == answer
        assert answer not in re.findall("[0-9]+", text)
    if sentence == HEDGES:
        text, answer = exploits["several numbers"]
        assert answer in re.findall("[0-9]+", text)
        assert len({*re.findall("[0-9]+", text)}) > 1
        assert int(right) < int(paid) / 2
    if sentence == NONE:
        assert paid == "0"
        assert exploits == {}


def test_first_last_and_any_match_pay_for_different_things(browser: Any) -> None:
    """One pattern and one seed: after 60 updates nearly all is paid by any match, and nothing of it is right."""
    rates = {}
    for pick in ("first", "last", "any"):
        with tab(browser) as one:
            page = one.open(PAGE, f"#rubric=own&pattern=%5Cd%2B&pick={pick}&step=60")
            status = wait_for(page, "After 60 updates")
            [rates[pick]] = re.findall(r"(\d+) % are paid and (\d+) % are right", status)
    assert int(rates["any"][0]) > 90
    assert int(rates["any"][1]) < 5
    for pick in ("first", "last"):
        assert 20 < int(rates[pick][1]) <= int(rates[pick][0]) < 80
    assert rates["first"] != rates["last"]


def test_a_runaway_pattern_ends_with_its_worker_and_the_next_one_trains(browser: Any) -> None:
    with tab(browser) as one:
        page = one.open(PAGE)
        type_pattern(page, "(((.+)+)+)+x", "first")
        wait_for(page, RUNAWAY)
        wait_for_workers(page, 0)
        type_pattern(page, r"(\d)$", "first")
        wait_for(page, WRONG)
        wait_for_workers(page, 1)


FAULTS = [
    ("Final: (", "The browser cannot read this pattern: Unterminated group."),
    (r"Final: (\d+)\Z", r"JavaScript has no \Z. Write $ for the end of the text."),
    (r"\AFinal", r"JavaScript has no \A. Write ^ for the start of the text."),
    (r"(?P<n>\d+)", "JavaScript has no (?P<name>…). Write (?<name>…) for a group with a name."),
    (r"\d{,3}", "JavaScript has no {,3}. Write {0,3} for up to three times."),
    ("", "There is no pattern yet. Type the one that your reward uses."),
]


def test_a_pattern_that_cannot_be_used_is_one_sentence(browser: Any) -> None:
    with tab(browser) as one:
        page = one.open(PAGE)
        for pattern, sentence in FAULTS:
            type_pattern(page, pattern, "first")
            assert wait_for(page, sentence) == sentence
            wait_for_workers(page, 0)
        type_pattern(page, r"\\A|(\d)$", "first")  # a backslash before an A
        wait_for(page, WRONG)
