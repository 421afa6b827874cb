"""The reward spec and the promises of the scorer, against tables worked by hand and an oracle written from the spec."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import OrderedDict, UserDict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import course.score
from course.faults import FAMILIES
from course.score import score
from course.text import visible

MANY = 5 * settings().max_examples  # by the tier: tests/conftest.py

ORDER = {  # outcome -> family
    **dict.fromkeys(["invalid_example", "completion_not_text"], "data"),
    **dict.fromkeys(["empty", "not_single_line", "missing_prefix", "extra_whitespace", "plus_sign"], "model_format"),
    **dict.fromkeys(["non_ascii_digits", "negative_zero", "leading_zeros", "not_an_integer"], "model_format"),
    "wrong_answer": "model_math",
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
    *(None, 22, "prompt", [], ["prompt", "expected_answer"], {}, {"prompt": ""}, {"expected_answer": 22}, NoClass()),
    *map(problem, [None, "22", 22.0, float("nan"), True, YesInt(22), HUGE + 1, -HUGE - 1, SaysStr()]),
    *(problem(prompt=None), problem(prompt=YesStr("")), problem(id=3), problem(id=None), problem(id=YesStr("a"))),
    *(SaysStr(), NoName(), UserDict(problem(None)), liar(dict, __getitem__=fail)(problem())),
    liar(UserDict, __getitem__=lambda self, key: self[key])(problem()),  # RecursionError
    {liar(__eq__=fail, __hash__=lambda _: hash("prompt"))(): 0},
]
COMPLETIONS: dict[str, list[Any]] = {
    "completion_not_text": [None, 22, b"Final: 22", ["Final: 22"], YesStr("Final: 22"), SaysStr(), NoClass(), NoName()],
    "empty": ["", " ", "\n\t \r\n"],
    "not_single_line": ["a\nb", "Final: 2\nFinal: 2", "\vFinal: 22", "\u2029", "Final: 22\u2028", "final\x85+2 \u0662"],
    "missing_prefix": [
        *("22", "Final: ", "Final:", "final: 22", "FINAL: 22", "Final:22", "Final : 22", "Final:\t22", "\u00a0"),
        *("It is Final: 22", "**Final: 22**", "\ufeffFinal: 22", "\u00a0Final: 22", "Final:\u00a022", "\ud800"),
    ],
}
AFTER_PREFIX = {
    "not_single_line": ["22\nx", "2\r2", "\n22", "22\x1c", "22\x1d", "22\x1e", "22\f2", "22\u2028\n"],
    "extra_whitespace": [
        *(" 22", "\t22", "2 2", "twenty two", "+ 22", "٢ ٢", "22 .", "22\u00a0", "22\u3000", "22\x1f", "2\u200b2"),
        *("22\u00ad", "-\u20600", "\ufeff22", "+\u202e22", "22\U0001343f", "22\U000e0041", "2\u180e2", "-\t0"),
    ],
    "plus_sign": ["+22", "+", "+0", "++22", "+-22", "+٢٢", "+22.0"],
    "non_ascii_digits": ["٢٢", "２２", "2²", "②②", "₂₂", "-٢", "-٠", "0٢", "x²", "２２.5", "\U0001d7da"],
    "negative_zero": ["-0", "-00", "-000\n"],
    "leading_zeros": ["022", "-022", "00", "0000", "-007", "01"],
    "not_an_integer": [
        *("-", "--5", "-+5", "5-", "22.", "22.0", "-0.0", "2,2", "22%", "$22", "11*2", "44/2", "2_2", "1e3", "0x16"),
        *("two", "二十", "Ⅻ", "½", "\u221222", "\uff0d22", "22\ud800", "22\0", "22\x7f", "2\u034f2", "nan", ".", "00x"),
    ],
    "wrong_answer": ["23", "2", "222", "-22", "0", "9" * 100_000],
    "ok": ["22", "22\n", "22\r\n\t "],
}
for outcome, rests in AFTER_PREFIX.items():
    COMPLETIONS.setdefault(outcome, []).extend(start + rest for rest in rests for start in ("Final: ", "\n\tFinal: "))
ANSWERS = [  # and their text
    *((0, "0"), (7, "7"), (-1, "-1"), (-10, "-10"), (2**64, "18446744073709551616"), (HUGE, "9" * 1000)),
    *((-HUGE, "-" + "9" * 1000), (10**999, "1" + "0" * 999), (-(10**999) - 7, "-1" + "0" * 998 + "7")),
    *((10**500, "1" + "0" * 500), (-(10**500), "-1" + "0" * 500), (1 - 10**500, "-" + "9" * 500)),
]


def check_shape(result: dict[str, Any]) -> str:
    """What holds for every verdict whatever was scored. Returns its outcome."""
    outcome: str = (details := result["details"])["outcome"]
    assert (list(result), list(details), FAMILIES[outcome]) == (["reward", "details"], DETAILS, ORDER.get(outcome))
    assert repr(result["reward"]) == ("1.0" if outcome == "ok" else "0.0")
    failed = [*ORDER, "ok"].index(outcome)
    states = ["passed"] * failed + ["failed"] + ["not reached"] * len(ORDER)
    assert list(details["checks"].items()) == list(zip(ORDER, states[: len(ORDER)], strict=True))
    assert details["scorer"] == {"name": "final_int", "version": "1.0.0"}
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
def test_answers_of_every_sign_and_size_pay_for_their_decimal_form_only(answer: int, text: str) -> None:
    paid = score(problem(answer), f"Final: {text}")
    assert check_shape(paid) == "ok"
    assert paid["details"]["parsed_answer"] == paid["details"]["expected_answer"] == text
    assert check_shape(score(problem(answer), f"Final: 1{text.strip('-')}")) == "wrong_answer"
    assert score(problem(-answer), f"Final: {text}")["reward"] == (1.0 if answer == 0 else 0.0)


def test_messages_say_what_was_expected_and_what_was_there() -> None:
    assert [score(problem(), text)["details"]["message"] for text in ("", 22, "Final: 23", "Final: 22", "\u200b")] == [
        "expected some text, got nothing",
        "expected a completion of type str, got int",
        "expected the value 22, got Final: 23",
        "expected and got the line Final: 22",
        "expected a line that starts with 'Final: ', got <U+200B ZERO WIDTH SPACE>",
    ]


def by_the_spec(answer: int, completion: str) -> tuple[float, str]:
    """Reward and outcome, row by row from the spec, asking the Unicode database for the character classes."""
    text = re.sub(r"\A[ \t\r\n]*|[ \t\r\n]*\Z", "", completion)
    if text == "Final: " + str(answer):
        return 1.0, "ok"
    rest = text[7:]
    after_sign = rest[1:] if rest[:1] == "-" else rest
    all_digits = after_sign != "" and set(after_sign) <= set("0123456789")
    rows = {
        "empty": len(text) == 0,
        "not_single_line": text.splitlines() != [text],
        "missing_prefix": text[:7] != "Final: ",
        "extra_whitespace": any(char.isspace() or unicodedata.category(char) == "Cf" for char in rest),
        "plus_sign": rest[:1] == "+",
        "non_ascii_digits": any(char.isdigit() and char not in "0123456789" for char in rest),
        "negative_zero": rest[:1] == "-" and set(after_sign) == {"0"},
        "leading_zeros": all_digits and after_sign[0] == "0" and rest != "0",
        "not_an_integer": not all_digits,
        "wrong_answer": True,
    }
    return 0.0, next(outcome for outcome, applies in rows.items() if applies)


PIECES = [*"0012229+--−.,_%xe½٢②² \t\r\n\v\x1c\x1f\x85\u2028\u00a0\u3000\u200b\u00ad\u180e\ufeff\0\x7f\ud800", "22"]
STARTS = ["Final: "] * 12 + [" \nFinal: ", "\u00a0Final: ", "xFinal: ", "Final:", "final: ", "", "Final:\u00a0"]
nasty = st.builds(str.__add__, st.sampled_from(STARTS), st.lists(st.sampled_from(PIECES), max_size=5).map("".join))


@settings(max_examples=MANY)
@given(st.sampled_from([22, 0, -22, 2, -2, 9, 222]), nasty)
def test_reward_and_outcome_agree_with_an_oracle_written_from_the_spec(answer: int, completion: str) -> None:
    result = score(problem(answer), completion)
    assert (result["reward"], check_shape(result)) == by_the_spec(answer, completion)


@pytest.mark.parametrize("every", [31, pytest.param(1, marks=pytest.mark.slow)])
def test_every_character_of_unicode_is_classed_as_the_unicode_database_classes_it(every: int) -> None:
    points = [*range(0x3100), *range(0x3100, sys.maxunicode + 1, every)]  # separators and digits crowd at the start
    assigned = [char for char in map(chr, points) if unicodedata.category(char) not in ("Cn", "Co")]
    assert sum(len(f"2{char}2".splitlines()) == 2 for char in assigned) == 10
    for text in [f"Final: 2{char}2" for char in assigned]:
        assert verdict(22, text)[0] == by_the_spec(22, text)[1], ascii(text)
    assert {char for char in assigned if verdict(22, f"Final: 22{char}")[0] == "ok"} == set(" \t\r\n")
    assert {char for char in assigned if verdict(22, f"{char}Final: 22")[0] == "ok"} == set(" \t\r\n")


@pytest.mark.parametrize("every", [31, pytest.param(1, marks=pytest.mark.slow)])
def test_no_character_that_hides_or_commands_survives_being_made_visible(every: int) -> None:
    for char in map(chr, [*range(0x3100), *range(0x3100, 0x31000, every), *range(0xE0000, 0xE0200), 0x10FFFF]):
        assert not hidden(shown := visible(char))
        assert shown == char or shown.startswith(f"<U+{ord(char):04X} ")


ODDITIES = [*BROKEN_EXAMPLES, *COMPLETIONS["completion_not_text"], YesInt, NoName, fail, HUGE]
odd = st.integers(0, len(ODDITIES) - 1).map(lambda number: ODDITIES[number])  # Hypothesis would ask for their repr
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary() | nasty
anything = st.recursive(plain | odd, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)


@given(anything | st.builds(problem, anything) | st.builds(problem, id=anything, prompt=anything), anything)
def test_no_input_of_any_type_raises_or_pays_by_lying(broken: Any, completion: Any) -> None:
    if check_shape(score(broken, completion)) == "ok":
        assert type(completion) is str
        assert type(broken["expected_answer"]) is int


@pytest.mark.parametrize("code", [fail, lambda name: name], ids=["raises", "returns itself"])
def test_a_class_named_by_a_lying_str_breaks_nothing(code: object) -> None:
    named: Any = type(liar(str, __str__=code, **YES, __hash__=str.__hash__)("\x1b" * 300), (), {})
    assert check_shape(score(problem(), named())) == "completion_not_text"
    assert check_shape(score(named(), "Final: 22")) == "invalid_example"


@pytest.mark.parametrize(("answer", "text"), [(22, "Final: 22"), (23, "Final: 22"), (None, "x"), (22, None), (0, "+0")])
def test_the_same_call_gives_the_same_verdict_and_details_of_its_own(answer: object, text: object) -> None:
    first = score(problem(answer), text)
    kept = json.dumps(first)
    for inner in (first["details"]["checks"], first["details"]["scorer"], first["details"]):
        inner.clear()
    assert json.dumps(score(problem(answer), text)) == json.dumps(score(problem(answer), text)) == kept


UNITS = ["Final: ", "9", "²", "\ud800", "\n", "\U0001d7da", "-"]


@pytest.mark.parametrize("unit", ["x", "\u200b", " ", "0", *(pytest.param(u, marks=pytest.mark.slow) for u in UNITS)])
def test_details_stay_small_and_nothing_is_paid_for_completions_of_five_megabytes(unit: str) -> None:
    for start in ("", "Final: ", "Final: -"):
        assert check_shape(score(problem(HUGE), start + unit * (5_000_000 // len(unit)))) != "ok"


SCRIPT = """
from course.score import score
n = 10**1000 - 1
cases = (22, "22"), (n, "9" * 1000), (-n, "-" + "9" * 1000), (22, "9" * 9999), (n + 1, "1"), (22, "\\u0662\\ud800")
print([score({"prompt": "", "expected_answer": n}, f"Final: {text}")["details"]["outcome"] for n, text in cases])
"""


@pytest.mark.medium
@pytest.mark.parametrize("flags", [[], ["-O"], ["-X", "utf8=0"], ["-X", "int_max_str_digits=640"]], ids=" ".join)
@pytest.mark.parametrize("setting", [{}, {"PYTHONINTMAXSTRDIGITS": "640"}, {"PYTHONUTF8": "0", "LC_ALL": "C"}], ids=str)
def test_no_setting_of_the_interpreter_changes_a_verdict(flags: list[str], setting: dict[str, str]) -> None:
    command, root = [sys.executable, *flags, "-c", SCRIPT], Path(course.score.__file__).parents[1]
    child = subprocess.run(command, cwd=root, env=os.environ | setting, capture_output=True, text=True, check=True)
    assert child.stdout == f"{['ok', 'ok', 'ok', 'wrong_answer', 'invalid_example', 'non_ascii_digits']}\n"
