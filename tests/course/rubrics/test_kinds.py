"""The sorting, held against what a person says of each text: golden cases, texts of public incidents, other forms.

An example: ``<answer>3</answer> 23`` for 323 has the digits of 323 and the answer 3: a wrong value. For 3 it is the
right one, in another form.
"""

import doctest

import pytest

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase
from course.errors import UserError
from course.rubrics import forms
from course.rubrics.forms import FINAL, Form, parse_form
from course.rubrics.hackable import GAPS
from course.rubrics.kinds import Kind, kind_of

RIGHT, OTHER_FORM, SEVERAL, WRONG = Kind
SEVERAL_BY_HAND = {f"exploit-{number:02}" for number in (8, 10, 11, 40, 41, 42, 43)}


def test_the_golden_cases_are_sorted_as_by_hand() -> None:
    cases = [case for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS) for case in read_records(path, GoldenCase)]
    by_hand = {}
    for case in cases:
        if case.expected_reward:
            by_hand[case.id] = RIGHT
        elif case.id in SEVERAL_BY_HAND:
            by_hand[case.id] = SEVERAL
        elif case.rule == "value":
            by_hand[case.id] = WRONG
        else:
            by_hand[case.id] = OTHER_FORM
    assert {case.id: kind_of(case.expected_answer, case.completion) for case in cases} == by_hand


@pytest.mark.parametrize(
    ("answer", "completion", "kind"),
    [
        # from public threads on verifiers
        (11, "Final: 711", WRONG),
        (5, "Final: 25", WRONG),
        (-5, "Final: 5", WRONG),
        (42, "Final: (42)", OTHER_FORM),
        (42, "Final: >=42", SEVERAL),
        (29, "Final: $29.00", OTHER_FORM),
        (22, "Final: 21\n\nAnother problem.\nFinal: 22", SEVERAL),
        (18, "Final: 18\n\nQ: and then?\nFinal: 7", SEVERAL),
        (73, "122 + 294 + 489 = 905\n\nFinal: **73**", OTHER_FORM),
        (2, "Final: 2 2/3", WRONG),
        (10, "Final: 4 10/3", WRONG),
        (1, "Final: 21", WRONG),
        (10, "Final: 1.0", WRONG),
        (123456, "Final: 123457", WRONG),
        (22, "Final: 2,2", WRONG),
        (22, "Final: 22/7", WRONG),
        (22, "Final: 44/22", WRONG),
        (22, "Final: 22e5", WRONG),
        (22, "Final: not 22", WRONG),
        (22, "Final: - 22", WRONG),
        (22, "Final: 23 or 22", SEVERAL),
        (11, "Final: 10\n11\n12\n13", SEVERAL),
        # what a language model or a small policy writes
        (11, "The answer is 11.", OTHER_FORM),
        (11, "The answer is 11.The answer is 12.", SEVERAL),
        (11, "11", OTHER_FORM),
        (11, "10 11", SEVERAL),
        (11, "10\n11", SEVERAL),
        (11, "10\nFinal: 11", OTHER_FORM),
        (11, "Final: 11\n12", SEVERAL),
        (11, "Final: 11\nFinal: 11", OTHER_FORM),
        (11, "Final:11", OTHER_FORM),
        (3, "3 + 0 = 3", OTHER_FORM),
        (7, "3 + 5 = 8", WRONG),
        (7, "She has 3 apples and 4 pears, so 7 in all.", OTHER_FORM),
        (7, "She has 3 apples.\nShe buys 4 more.\nFinal: 7", OTHER_FORM),
        (8, "Let me see: 15 - 7 = 8. Final: 8", OTHER_FORM),
        (7, "It is not 6 but 7", OTHER_FORM),
        (7, "The answer is 6 or 7", SEVERAL),
        (7, "Final: 7 apples or 8 apples", SEVERAL),
        (20, "The answer is twenty", OTHER_FORM),
        (7, "Final: 7 because 3 and 4 are 7", OTHER_FORM),
        # arithmetic, signs and separators
        (323, "Final: 322+1", OTHER_FORM),
        (323, "Final: 322 + 2", WRONG),
        (20, "Final: (2+3)*4", OTHER_FORM),
        (8, "Final: 2**3", OTHER_FORM),
        (7, "Final: --7", OTHER_FORM),
        (7, "Final: -7", WRONG),
        (7, "Final - 7", OTHER_FORM),
        (-7, "Final - -7", OTHER_FORM),
        (7, "Final: 7 -7", SEVERAL),
        (7, "Final: ±7", SEVERAL),
        (7, "Final: 0.7", WRONG),
        (7, "Final: .7", WRONG),
        (7, "Final: 7e1", WRONG),
        (7, "Final: 70e-1", OTHER_FORM),
        (323, "Final: 0x323", WRONG),
        (1024, "Final: 1,024.00", OTHER_FORM),
        (323, "Final: 3 23", OTHER_FORM),
        (323, "Final: 3\n23", WRONG),
        (7, "7 or eight", SEVERAL),
        (7, "Seven or 8", SEVERAL),
        (7, "7 and one more apple", OTHER_FORM),
        (7, r"\le 7", SEVERAL),
        (7, r"Final: \geq 7", SEVERAL),
        (9, "3²", OTHER_FORM),  # a power
        (323, "3²3", WRONG),
        (23, "2³", WRONG),
        (23, "Final: 2₃", WRONG),  # a base, or an index
        (23, "x₁ = 23", OTHER_FORM),
        (23, "Final: ₂₃", OTHER_FORM),
        (32, "Final: 2⁵", OTHER_FORM),
        (25, "Final: 2⁵", WRONG),
        (1024, "Final: 2¹⁰", OTHER_FORM),
        (1024, "Final: 32²", OTHER_FORM),
        (1024, "Final: 1.024 × 10³", OTHER_FORM),
        (7, "Final: 10⁻³", WRONG),
        (7, "Final: 49**0.5", OTHER_FORM),
        (22, "Final: sqrt(22)", WRONG),
        (22, "Final: √22", WRONG),
        (22, "Final: √484", OTHER_FORM),
        (22, "Final: log 22", WRONG),
        (22, "Final: half of 22", WRONG),
        (22, "Final: 22 x 2", WRONG),
        (44, "Final: 22 x 2", OTHER_FORM),
        (44, r"Final: 22 \times 2", OTHER_FORM),
        (22, "Final: 22 plus 1", WRONG),
        (23, "Final: 22 plus 1", OTHER_FORM),
        (11, "Final: 22 divided by 2", OTHER_FORM),
        (22, r"Final: \frac{44}{2}", OTHER_FORM),
        (1, r"Final: 2\frac{1}{2}", WRONG),
        (22, "Final: 5(4)+2", OTHER_FORM),
        (22, "Final: 22 (= 11 * 2)", OTHER_FORM),
        (22, "Final: 22 (11 + 11)", OTHER_FORM),
        (22, "Final: 22 of 30", OTHER_FORM),
        (22, "3 + 4 = 7, 7 + 15 = 22", OTHER_FORM),
        (7, "3 + 4 = 7, 7 + 15 = 22", WRONG),
        (22, "Step 1: 3 + 4 = 7\nStep 2: 7 + 15 = 22", OTHER_FORM),
        (1024, r"Final: 1{,}024", OTHER_FORM),
        (0, "0/0", WRONG),  # no value
        (7, "Final: 7/0", WRONG),
        (7, "", WRONG),
        (7, "Final: ?", WRONG),
        (7, "Final: nan", WRONG),
    ],
)
def test_a_text_is_sorted_as_a_person_would(answer: int, completion: str, kind: Kind) -> None:
    assert kind_of(answer, completion) == kind


@pytest.mark.parametrize(
    ("form", "answer", "completion", "kind"),
    [
        ("<answer>…</answer>", 323, "<answer>323</answer>", RIGHT),
        ("<answer>…</answer>", 323, "\n<answer>323</answer>\r\n", RIGHT),
        ("<answer>…</answer>", 323, "<answer>3</answer> 23", WRONG),
        ("<answer>…</answer>", 3, "<answer>3</answer> 23", OTHER_FORM),
        ("<answer>…</answer>", 3, "<answer>3 or 23</answer>", SEVERAL),
        ("<answer>…</answer>", 323, "323 <answer>3</answer>", WRONG),
        ("<answer>…</answer>", 323, "answer>323</answer>", OTHER_FORM),
        ("<answer>…</answer>", 323, "<answer>322+1</answer>", OTHER_FORM),
        ("<answer>…</answer>", 323, "<think>17 * 19</think><answer>323</answer>", OTHER_FORM),
        ("<answer>…</answer>", 323, "<answer>323</answer><answer>324</answer>", SEVERAL),
        ("<answer>…</answer>", 323, "<answer> 323 </answer>", OTHER_FORM),
        ("<answer>…</answer>", 323, "Final: 323", OTHER_FORM),
        (r"\boxed{…}", 323, r"Final: \boxed{323}", OTHER_FORM),
        (r"\boxed{…}", 323, r"\boxed{322} or \boxed{323}", SEVERAL),
        (r"\boxed{…}", 323, r"\boxed{7323}", WRONG),
        ("#### …", 7, "She has 3 apples.\n#### 7", OTHER_FORM),
        ("#### …", 7, "#### 7\n#### 8", SEVERAL),
        ("…", 7, "7", RIGHT),
        ("…", 7, "0\n7", SEVERAL),
        ("…", 7, "Final: 7", OTHER_FORM),
    ],
)
def test_right_is_exactly_the_form(form: str, answer: int, completion: str, kind: Kind) -> None:
    assert kind_of(answer, completion, parse_form(form)) == kind


def test_what_walks_through_a_gap_of_the_course_is_an_exploit_or_another_form() -> None:
    """``cast`` and ``format_bonus`` pay more than they should for the right value; the others for no or another one."""
    kinds = {name: kind_of(22, gap.exploit(22)) for name, gap in GAPS.items()}
    assert {name for name, kind in kinds.items() if kind == OTHER_FORM} == {"cast", "format_bonus"}
    assert {kind_of(22, GAPS[name].exploit(22)) for name in kinds} == {OTHER_FORM, SEVERAL, WRONG}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" " * 100_000, WRONG),
        ("-" * 100_000, WRONG),
        ("(" * 100_000, WRONG),
        ("=" * 100_000, WRONG),
        ("." * 100_000, WRONG),
        ("a" * 100_000, WRONG),
        ("\n" * 100_000, WRONG),
        ("*" * 100_000, WRONG),
        ("1 " * 20_000, WRONG),
        ("1," * 20_000, WRONG),
        ("(1+" * 20_000, WRONG),
        ("<a" * 20_000, WRONG),
        ("Final: " * 20_000, WRONG),
        ("\\boxed{" * 20_000, WRONG),
        ("<answer>" * 20_000, WRONG),
        ("7 or " * 20_000, OTHER_FORM),
        ("\n7" * 20_000, OTHER_FORM),
        ("Final: " + "0" * 100_000 + "7", OTHER_FORM),
        ("Final: " + "9" * 100_000, WRONG),
        ("Final: 7" + " " * 100_000 + "x", OTHER_FORM),
    ],
    ids=lambda value: repr(value[:9]),
)
def test_a_text_without_end_is_sorted_too(text: str, kind: Kind) -> None:
    assert kind_of(7, text) == kind


@pytest.mark.parametrize(
    ("completion", "shown"),
    [
        ("Final: 22", "<22>"),
        ("  Final: 22 \r\n", "  <22> \r\n"),
        ("Final: 21\nFinal: 22", "<21>\n<22>"),
        ("Final: 322 Final: 323", "<322> <323>"),
        ("**Final: 22**", "**<22>**"),
        ("Final: **22**", "<**22**>"),
        ("`Final: 22`", "`<22>`"),
        ("The answer is 22", "The answer is 22"),
        ("Final: ", "<>"),
    ],
)
def test_a_completion_is_rewritten_in_another_form(completion: str, shown: str) -> None:
    assert Form("<", ">").rewrite(completion) == shown
    assert FINAL.rewrite(completion) == completion


def test_a_form_has_one_place_for_the_answer() -> None:
    assert parse_form("<answer>...</answer>") == parse_form("<answer>…</answer>") == Form("<answer>", "</answer>")
    assert str(parse_form("#### …")) == "#### …"
    for text in ("", "Final:", "… or …"):
        with pytest.raises(UserError, match="with … where the answer stands, such as 'Final: …', got"):
            parse_form(text)
    assert doctest.testmod(forms).failed == 0


@pytest.mark.parametrize(
    ("completion", "kind"),
    [
        ("x = 7 or x = 8", SEVERAL),
        ("7, alternatively 8", SEVERAL),
        ("7 vs 8", SEVERAL),
        ("7 or more", SEVERAL),
        ("7 at least", SEVERAL),
        ("up to 7", SEVERAL),
        ("below 7", SEVERAL),
        ("\u2266 7", SEVERAL),  # less than over equal to
        ("it isn\u2019t 7", WRONG),  # with the apostrophe of typesetting
        ("never 7", WRONG),
        ("not equal to 7", WRONG),
        ("minus 7", WRONG),
        ("7 thousand", WRONG),
        ("7k", WRONG),
        ("7 trillion", WRONG),
        ("7M", WRONG),
        ("7 halves", WRONG),
        ("7‰", WRONG),
        ("7 squared", WRONG),
        ("neither 7 nor 8", WRONG),
        ("other than 7", WRONG),
        ("7 is wrong", WRONG),
        ("7 if odd, 8 if even", SEVERAL),
        ("7 minimum", SEVERAL),
        ("7 < x", SEVERAL),
        ("=<7", SEVERAL),
        ("7+", SEVERAL),
        ("7 M&Ms", OTHER_FORM),
        ("7 km", OTHER_FORM),
        ("7 apples, because 3 + 4 = 7", OTHER_FORM),
    ],
)
def test_choices_bounds_denials_and_scales_in_words(completion: str, kind: Kind) -> None:
    assert kind_of(7, completion) == kind


def test_a_sign_in_words_is_one() -> None:
    assert kind_of(-7, "minus 7") == kind_of(-7, "negative 7") == kind_of(-7, "minus seven") == OTHER_FORM
    assert kind_of(7, "minus seven") == WRONG


@pytest.mark.parametrize(
    "completion",
    ["Final: ((((((9^100)^100)^100)^100)^100)^100)", "((9^100)^100)^100\n" * 60, "(1e999^100)^100", "M" * 200_000],
    ids=["nested", "again and again", "large", "Roman"],
)
def test_what_would_be_worked_out_for_ever_is_wrong(completion: str) -> None:
    """Without a limit on powers and numerals these take minutes, or no end."""
    assert kind_of(7, completion) == WRONG


@pytest.mark.parametrize(
    ("answer", "completion", "kind"),
    [
        (7, "- 7", OTHER_FORM),  # the item of a list
        (-7, "- 7", OTHER_FORM),  # or a sign
        (7, "> 7", OTHER_FORM),  # a quotation
        (7, "- 07", OTHER_FORM),
        (7, "- 8", WRONG),
        (7, "-7", WRONG),
        (7, ">7", SEVERAL),
        (7, "0\n- 7", SEVERAL),
        (7, r"\boxed{7,7}", OTHER_FORM),
        (22, r"\boxed{2,2}", WRONG),
        (-8, "\\boxed{-\n8}", OTHER_FORM),
        (7, r"\boxed{- 7}", WRONG),
        (0, "a-a", OTHER_FORM),
        (0, "a-b", WRONG),
        (7, "a-a", WRONG),
    ],
)
def test_what_is_right_in_one_reading_is_not_called_wrong(answer: int, completion: str, kind: Kind) -> None:
    assert kind_of(answer, completion, parse_form(r"\boxed{…}")) == kind
