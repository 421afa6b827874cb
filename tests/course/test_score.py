"""The reward and the promises of the scorer, against cases worked by hand and a regular expression read off the spec.

A worked example. For an expected answer of 22 the completion ``Final: 22`` and a newline is trimmed to ``Final: 22``,
matches, and its text 22 is the decimal form of 22: reward 1.0. ``Final: 022`` does not match: a leading zero, 0.0.
"""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter, OrderedDict, UserDict
from time import process_time
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from near_misses import PARTS, STARTS, near_misses

from course.faults import FAMILIES
from course.score import SPEC, measure, score

MANY = 5 * (settings().max_examples or 0)  # by the tier: tests/conftest.py

OUTCOMES = {  # outcome -> family, name of the check; in the order of the checks
    "invalid_example": ("data", "valid_example"),
    "completion_not_text": ("data", "text"),
    "empty": ("model_format", "not_empty"),
    "not_single_line": ("model_format", "single_line"),
    "missing_prefix": ("model_format", "prefix"),
    "not_ascii": ("model_format", "ascii"),
    "extra_whitespace": ("model_format", "no_extra_whitespace"),
    "plus_sign": ("model_format", "no_plus_sign"),
    "negative_zero": ("model_format", "no_negative_zero"),
    "leading_zeros": ("model_format", "no_leading_zeros"),
    "not_an_integer": ("model_format", "integer"),
    "wrong_answer": ("model_math", "value"),
}
DETAILS = ["outcome", "message", "checks", "parsed_answer", "expected_answer", "completion_preview", "scorer"]
HUGE = 10**1000 - 1  # 1,000 nines


def fail(*_: object) -> Any:
    raise RuntimeError("evil")


def liar(*bases: type, **methods: object) -> Any:
    return type("Liar", bases, methods)


def problem(answer: object = 22, **more: object) -> dict[str, object]:
    return {"prompt": "11 + 11?", "expected_answer": answer, **more}


YES: Any = dict.fromkeys(["__eq__", "__lt__", "startswith", "isascii", "isdigit", "isprintable"], lambda *_: True)
YesStr = liar(str, **YES, __hash__=str.__hash__, **dict.fromkeys(["strip", "__str__"], lambda *_: "Final: 22"))
YesInt = liar(int, **YES, __hash__=int.__hash__, __str__=lambda _: "22")
SaysStr = liar(__class__=property(lambda _: str))
NoClass = liar(__class__=property(fail), __repr__=fail, __str__=fail, __bool__=fail)
NoName: Any = liar(type, __name__=property(fail))("NoName", (), {})
BROKEN_EXAMPLES: list[object] = [
    None,
    22,
    "prompt",
    [],
    ["prompt", "expected_answer"],
    {},
    {"prompt": ""},
    {"expected_answer": 22},
    NoClass(),
    problem(None),
    problem("22"),
    problem(22.0),
    problem(float("nan")),
    problem(True),
    problem(YesInt(22)),
    problem(HUGE + 1),
    problem(-HUGE - 1),
    problem(SaysStr()),
    problem(prompt=None),
    problem(prompt=YesStr("")),
    problem(id=3),
    problem(id=None),
    problem(id=YesStr("a")),
    SaysStr(),
    NoName(),
    UserDict(problem(None)),
    liar(dict, __getitem__=fail)(problem()),
    liar(UserDict, __getitem__=lambda self, key: self[key])(problem()),  # RecursionError
    {liar(__eq__=fail, __hash__=lambda _: hash("prompt"))(): 0},
]
COMPLETIONS: dict[str, list[Any]] = {
    "completion_not_text": [
        None,
        22,
        b"Final: 22",
        ["Final: 22"],
        YesStr("Final: 22"),
        SaysStr(),
        NoClass(),
        NoName(),
    ],
    "empty": ["", " ", "\n\t \r\n"],
    "missing_prefix": ["22", "Final: ", "\ud800"],
    "not_an_integer": ["Final: 22 or 23"],
    "wrong_answer": ["Final: 23", "Final: -22", "Final: " + "9" * 100_000],
    "ok": ["Final: 22", "\n\tFinal: 22", "Final: 22\r\n\t "],
}
ANSWERS = [  # and their text
    (0, "0"),
    (7, "7"),
    (-1, "-1"),
    (-10, "-10"),
    (2**64, "18446744073709551616"),
    (HUGE, "9" * 1000),
    (-HUGE, "-" + "9" * 1000),
    (10**999, "1" + "0" * 999),
    (-(10**999) - 7, "-1" + "0" * 998 + "7"),
    (10**500, "1" + "0" * 500),
    (-(10**500), "-1" + "0" * 500),
    (1 - 10**500, "-" + "9" * 500),
]


def check_shape(result: dict[str, Any]) -> str:
    """What holds for every verdict whatever was scored. Returns its outcome."""
    assert list(result) == ["reward", "details"]
    details = result["details"]
    assert list(details) == DETAILS
    outcome: str = details["outcome"]
    assert FAMILIES[outcome] == OUTCOMES.get(outcome, (None, ""))[0]
    assert repr(result["reward"]) == ("1.0" if outcome == "ok" else "0.0")
    failed = [*OUTCOMES, "ok"].index(outcome)
    states = ["passed"] * failed + ["failed"] + ["not reached"] * len(OUTCOMES)
    names = [name for _, name in OUTCOMES.values()]
    assert list(details["checks"].items()) == list(zip(names, states, strict=False))
    assert details["scorer"] == {"name": "final_int", "version": "1.2.0"}
    assert len(json.dumps(result, allow_nan=False)) < 8_000
    assert len(details["completion_preview"]) <= 200
    assert not hidden(details["completion_preview"] + details["message"])
    assert (details["parsed_answer"] is None) == (outcome not in ("ok", "wrong_answer"))
    assert (details["expected_answer"] is None) == (outcome == "invalid_example")
    return outcome


def hidden(text: str) -> list[str]:
    return [char for char in text if unicodedata.category(char)[0] in "CZ" and char != " "]


@pytest.mark.parametrize("outcome", [*COMPLETIONS])
def test_every_completion_gets_the_outcome_that_was_worked_by_hand(outcome: str) -> None:
    for completion in COMPLETIONS[outcome]:
        assert check_shape(score(problem(), completion)) == outcome, completion


def test_a_broken_example_is_named_before_the_completion_is_looked_at() -> None:
    for broken in BROKEN_EXAMPLES:
        assert {check_shape(score(broken, text)) for text in ("Final: 22", None)} == {"invalid_example"}


@pytest.mark.parametrize("kind", [dict, OrderedDict, UserDict])
def test_any_honest_mapping_with_any_further_keys_is_an_example(kind: Any) -> None:
    assert check_shape(score(kind(problem(id="a", metadata=object(), more=fail)), "Final: 22")) == "ok"


@pytest.mark.parametrize(("answer", "text"), ANSWERS, ids=range(len(ANSWERS)))
def test_answers_of_every_sign_and_size_are_rewarded_for_their_decimal_form_only(answer: int, text: str) -> None:
    right = score(problem(answer), f"Final: {text}")
    assert check_shape(right) == "ok"
    assert right["details"]["parsed_answer"] == right["details"]["expected_answer"] == text
    assert check_shape(score(problem(answer), f"Final: 1{text.strip('-')}")) == "wrong_answer"
    assert score(problem(-answer), f"Final: {text}")["reward"] == (1.0 if answer == 0 else 0.0)


@pytest.mark.parametrize(
    ("completion", "message"),
    [
        ("", "expected some text, got nothing"),
        (22, "expected a completion of type str, got int"),
        (" Final: 23\n", "expected the value 22, got Final: 23"),
        (" Final: 22\n", "expected and got the line Final: 22"),
        ("Final: ", "expected a line that starts with 'Final: ', got Final:"),
        (
            "Fin\u0430l: 22 \u0662",
            "expected a line that starts with 'Final: ', got U+0430 CYRILLIC SMALL LETTER A in Fin\u0430l: 22 \u0662",
        ),
        ("é\n22", "expected a single line, got é<U+000A LINE FEED>22"),
        ("Final: 2 2", "expected no white space and no control character after 'Final: ', got Final: 2 2"),
        ("Final: +22", "expected an integer without a plus sign, got Final: +22"),
        ("Final: -0", "expected zero written without a sign, got Final: -0"),
        ("Final: 022", "expected an integer without leading zeros, got Final: 022"),
        ("22, as in \u0430", "expected a line that starts with 'Final: ', got 22, as in \u0430"),
        (
            "Final: 2\u200b2\u0662",
            "expected only ASCII characters after 'Final: ', got U+200B ZERO WIDTH SPACE in "
            "Final: 2<U+200B ZERO WIDTH SPACE>2\u0662",
        ),
        (
            "Final: " + "2" * 1_000 + "\u0662",
            "expected only ASCII characters after 'Final: ', got U+0662 ARABIC-INDIC DIGIT TWO in "
            "Final: " + "2" * 192 + "…",
        ),
        ("Final: 22 apples", "expected a plain integer in base ten and nothing else, got Final: 22 apples"),
    ],
)
def test_a_message_says_what_was_expected_and_what_was_there(completion: object, message: str) -> None:
    assert score(problem(), completion)["details"]["message"] == message


def test_the_message_says_what_is_wrong_with_an_example() -> None:
    expected = "an example with prompt (str), expected_answer (int, at most 1,000 digits)"
    assert score({"prompt": ""}, "Final: 22")["details"]["message"] == f"expected {expected}, got no expected_answer"


def test_the_preview_is_of_the_trimmed_text_and_at_most_200_characters() -> None:
    def preview(text: str) -> str:
        shown: str = score(problem(), text)["details"]["completion_preview"]
        return shown

    assert preview(" \r\n\tFinal: 22\t ") == "Final: 22"
    assert preview("x" * 200) == "x" * 200
    assert preview(" " * 300 + "x" * 201) == "x" * 199 + "…"
    assert preview("\0" * 150) == ("<U+0000 NULL>" * 16)[:199] + "…"


def test_a_parsed_answer_longer_than_any_expected_one_is_cut() -> None:
    for digits, shown in ((1_001, "9" * 1_001), (1_002, "9" * 199 + "…")):
        assert score(problem(), "Final: " + "9" * digits)["details"]["parsed_answer"] == shown


# The spec read anew, trim and format in one: its own words have the regular expression of the line.
LINE = re.findall("matches  (.*)", SPEC)[0]
NEAR = re.compile(rf"[ \t\r\n]*{LINE}[ \t\r\n]*")
nasty = st.builds("".join, st.lists(st.sampled_from([*PARTS, *STARTS]), max_size=6))


@settings(max_examples=MANY)
@given(st.sampled_from([22, 0, -22, 2, -2, 9, 222]), nasty)
def test_the_reward_agrees_with_a_regular_expression_written_from_the_spec(answer: int, completion: str) -> None:
    line = NEAR.fullmatch(completion)
    reward = float(line is not None and line[1] == str(answer))
    assert measure(answer, completion).reward == score(problem(answer), completion)["reward"] == reward


@pytest.mark.parametrize("n", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_near_misses_get_the_reward_of_the_spec_and_both_rewards_are_met(n: int) -> None:
    rewards = Counter[float]()
    for answer, text in near_misses(seed=1, n=n):
        line = NEAR.fullmatch(text)
        measured = measure(answer, text)
        rewards[measured.reward] += 1
        assert measured.reward == float(line is not None and line[1] == str(answer)), ascii(text)
        assert measured.parsed_answer == (line[1] if line else None), ascii(text)
    assert rewards[1.0] > n / 20
    assert rewards[0.0] > n / 2


def test_score_is_made_of_the_one_measurement() -> None:
    for texts in COMPLETIONS.values():
        for text in texts:
            if type(text) is str:
                reward, outcome, parsed = measure(22, text)
                result = score(problem(), text)
                assert (result["reward"], result["details"]["outcome"]) == (reward, outcome)
                assert parsed is None or result["details"]["parsed_answer"] in (parsed, parsed[:199] + "…")


def test_the_reward_follows_from_the_outcome_in_one_place_of_the_package() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "course").rglob("*.py")))
    assert len(re.findall(r"""\b(?:1\.0|1|True) if \w*\.?\w*outcome\w*(?:\[\w+\])? == ['"]ok['"]""", sources)) == 1


ODDITIES: list[Any] = [*BROKEN_EXAMPLES, *COMPLETIONS["completion_not_text"], YesInt, NoName, fail, HUGE]
odd = st.integers(0, len(ODDITIES) - 1).map(lambda number: ODDITIES[number])  # Hypothesis would ask for their repr
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary() | nasty
anything = st.recursive(plain | odd, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)


@given(anything | st.builds(problem, anything) | st.builds(problem, id=anything, prompt=anything), anything)
def test_no_input_of_any_type_raises_or_pays_by_lying(broken: Any, completion: Any) -> None:
    if check_shape(score(broken, completion)) == "ok":
        assert type(completion) is str
        assert type(broken["expected_answer"]) is int


def test_a_class_without_a_name_is_no_example() -> None:
    nameless: Any = type("", (), {})
    assert check_shape(score(nameless(), "Final: 0")) == "invalid_example"
    assert check_shape(score(problem(0), nameless())) == "completion_not_text"


@pytest.mark.parametrize("code", [fail, lambda name: name], ids=["raises", "returns itself"])
def test_a_class_named_by_a_lying_str_breaks_nothing(code: object) -> None:
    named: Any = type(liar(str, __str__=code, **YES, __hash__=str.__hash__)("\x1b" * 300), (), {})
    assert check_shape(score(problem(), named())) == "completion_not_text"
    assert check_shape(score(named(), "Final: 22")) == "invalid_example"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (22, "Final: 22"),
        (23, "Final: 22"),
        (None, "x"),
        (22, None),
        (0, "+0"),
    ],
)
def test_the_same_call_gives_the_same_verdict_and_details_of_its_own(answer: object, text: object) -> None:
    first = score(problem(answer), text)
    kept = json.dumps(first)
    for inner in (first["details"]["checks"], first["details"]["scorer"], first["details"]):
        inner.clear()
    assert json.dumps(score(problem(answer), text)) == json.dumps(score(problem(answer), text)) == kept


UNITS = ["9", "\u200b"]
MORE_UNITS = [
    "9\u200b",
    "\U0001d7da",
    "x",
    "Final: ",
    "0",
    "-",
    " ",
    "\n",
    "²",
    "\u0662",
    "\ud800",
    "\U000e0041",
]


@pytest.mark.parametrize("unit", UNITS + [pytest.param(unit, marks=pytest.mark.slow) for unit in MORE_UNITS])
def test_completions_of_five_megabytes_have_small_details_no_reward_and_are_scored_at_once(unit: str) -> None:
    """Five times the 50 ms that are promised: machines differ, and what is not linear takes minutes."""
    for start in ("", "Final: ", "Final: -", "Final: 1"):
        for end in ("", "\u200b", "x"):
            completion = start + unit * (5_000_000 // len(unit)) + end
            began = process_time()
            result = score(problem(HUGE), completion)
            assert process_time() - began < 0.25
            assert check_shape(result) != "ok"


SCRIPT = """
from course.score import score
n = 10**1000 - 1
cases = [
    (22, "22"),
    (n, "9" * 1000),
    (-n, "-" + "9" * 1000),
    (22, "9" * 9999),
    (n + 1, "1"),
    (22, "\\u0662\\ud800"),
]
for answer, text in cases:
    print(score({"prompt": "", "expected_answer": answer}, f"Final: {text}")["details"]["outcome"])
"""


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["-O"],
        ["-X", "utf8=0"],
        ["-X", "int_max_str_digits=640"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"PYTHONINTMAXSTRDIGITS": "640"},
        {"PYTHONUTF8": "0", "LC_ALL": "C"},
    ],
    ids=str,
)
def test_no_setting_of_the_interpreter_changes_a_verdict(flags: list[str], setting: dict[str, str]) -> None:
    command = [sys.executable, *flags, "-c", SCRIPT]
    child = subprocess.run(command, cwd=ROOT, env=os.environ | setting, capture_output=True, text=True, check=True)
    assert child.stdout.split() == ["ok", "ok", "ok", "wrong_answer", "invalid_example", "not_ascii"]
