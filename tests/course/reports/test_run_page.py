"""The page of a run.

An example: a run of Loop B in which 3 of 4 passed says its result with an interval, and leaves two blanks for what
only the person knows: observed, conclusion.
"""

from typing import Any, Literal

import pytest

from course.artifacts.records import Details, Manifest, Result
from course.artifacts.summary import summary_of
from course.reports.run_page import run_page

ROW = Result("q\x1b1", "<b>?</b>", 7, "Final:\n7", 0.0, Details("not_single_line", None))
DIGEST = "0123456789abcdef" * 4


def manifest(loop: Literal["A", "B", "C"], **said: object) -> Manifest:
    """A manifest that says this, and is empty elsewhere."""
    empty: dict[str, Any] = dict.fromkeys(Manifest.__struct_fields__)
    return Manifest(**empty | {"loop": loop, "settings": {}, "outputs": {}} | said)


def page(loop: Literal["A", "B", "C"] = "A", look: int = 0, **said: object) -> str:
    return run_page(manifest(loop, **said), {}, [], look, DIGEST)


def test_a_page_has_the_result_an_example_and_two_blanks() -> None:
    numbers = summary_of({"ok": 3, "empty": 1})
    text = run_page(manifest("B", change="N is 4", expect="up by 5", split="dev"), numbers, [ROW], 0, DIGEST)
    assert text.startswith("# Loop B: choose\n")
    assert "- Knob turned: selection compute (more samples, the same policy)\n" in text
    assert "- Result: 3 of 4 passed: 75.0 %, 95 % interval 30.1 to 95.4 %\n" in text
    assert "    the one change        N is 4\n" in text
    assert "    expected of it        up by 5\n" in text
    assert "    split                 dev\n" in text
    assert "    id          q<U+001B ESCAPE>1\n" in text
    assert "    completion  Final:<U+000A LINE FEED>7\n" in text
    blanks = text.partition("## Yours to fill in\n")[2]
    assert [line for line in blanks.split("\n") if line.endswith(":")] == [
        "Observed:",
        "Conclusion (model, measurement, data, or did we fool ourselves?):",
    ]
    assert "sampling" not in text
    assert "look number" not in text
    assert "policy    " not in text


def test_the_digest_stands_on_the_page() -> None:
    assert f"- Digest of this run, as the log of runs has it: {DIGEST}\n" in page()


def test_what_was_not_said_names_its_option() -> None:
    assert "    the one change        not said (--change)\n    expected of it        not said (--expect)\n" in page()


@pytest.mark.parametrize(("look", "said"), [(0, False), (3, True)])
def test_a_look_at_the_holdout_stands_on_the_page(look: int, said: bool) -> None:
    assert ("look number 3 at it" in page(look=look)) == said


def test_another_knob_than_the_loops_own_is_named() -> None:
    assert "- Knob turned: none at all\n" in run_page(manifest("C"), {}, [], 0, DIGEST, "none at all")


HOSTILE = [
    "\x1b[31mred\x07",
    "one\n# two\r\n\n<script>three</script>",
    "line\u2028paragraph\u2029next\x85form\x0c",
    "\u202etxt.exe",
    "**bold** [link](javascript:alert(1)) ![image](https://example.org/x.png) <img src=x> `code` ```",
    "\n    indented\n- Digest of this run, as the log of runs has it: 0",
    "<!-- ",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("field", ["change", "expect", "policy"])
def test_what_a_person_said_is_one_line_of_code_which_markdown_only_shows(field: str, text: str) -> None:
    plain, hostile = (page("A", 0, **{field: said}).split("\n") for said in ("plain", text))
    assert len(hostile) == len(plain)
    different = [(one, other) for one, other in zip(plain, hostile, strict=True) if one != other]
    [(one, other)] = different
    assert one[:26] == other[:26]
    assert other.startswith("    ")
    assert other.isprintable()
    block = hostile[
        hostile.index("## Change, prediction, policy") :
    ]  # a heading ends every list: what is indented is code
    assert block[1] == ""
    assert other in block[2:5]


@pytest.mark.parametrize(("loop", "there"), [("A", True), ("B", True), ("C", False)])
def test_the_room_stands_where_two_runs_can_be_compared(loop: Literal["A", "B", "C"], there: bool) -> None:
    text = page(loop, split="dev", scorer_name="final_int")
    assert ("## The locked room" in text) == there
    assert ("    scorer_name           final_int\n" in text) == there
    assert ("    missing_completions   refused\n" in text) == there


def test_the_reason_for_a_number_stands_there_only_where_there_is_one() -> None:
    numbers = {"kl_estimate": 0.5, "kl_estimate_reason": None, "other_reason": "it was not the first", "reason": None}
    text = run_page(manifest("B"), numbers, [], 0, DIGEST)
    assert "kl_estimate_reason" not in text
    assert "    other_reason            it was not the first\n" in text
    assert "    reason                  undefined\n" in text


def test_numbers_are_short_and_what_is_undefined_says_so() -> None:
    numbers: dict[str, object] = {"kl": None, "rates": [1 / 3, 1], "none": {}, "text": "a\nb"}
    text = run_page(manifest("C"), numbers, [], 0, DIGEST)
    assert "    kl                      undefined\n" in text
    assert "    rates                   0.3333, 1\n" in text
    assert "    none                    none\n" in text
    assert "    text                    a<U+000A LINE FEED>b\n" in text
