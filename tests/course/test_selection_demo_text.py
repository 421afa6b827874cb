"""What course.selection_demo prints.

An example: of a prompt whose expected answer is 7 no sample says 7 in format, but one says "it is 7": the value is
there and the format is not, and no choice among these samples helps.
"""

import msgspec
import pytest

from course.artifacts.records import Details, Selection
from course.artifacts.summary import summary_of
from course.selection_demo import details_text, failures_text, numbers_text, selection_text
from course.show.measurement import cause

SUMMARY = {
    "samples_per_prompt": 2,
    "first_sample_accuracy": 0.25,
    "random_choice": 0.375,
    "selected_accuracy": 0.5,
    "ceiling": 0.5,
    "pass_at_k": {"1": 0.4375, "2": 0.5},
    "kl_estimate": None,
    "kl_estimate_reason": "because",
    "kl_bound": 0.1931,
}


def choice(samples: list[str], rewards: list[float], chosen: int = 0) -> Selection:
    details = Details("missing_prefix", None)
    return Selection("q1", "3 + 4?", 7, samples[chosen], rewards[chosen], details, samples, rewards, chosen, [], [])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (choice(["no", "Final: 7"], [0.0, 1.0]), "one sample was right, and a different sample was chosen"),
        (choice(["it is 7", "8"], [0.0, 0.0]), "the right value is there, but in a wrong format"),
        (choice(["Final: 007"], [0.0]), "the right value is there, but in a wrong format"),
        (choice(["Final: \uff17"], [0.0]), "the right value is there, but in a wrong format"),
        (choice(["Final: \u0667"], [0.0]), "the right value is there, but in a wrong format"),
        (choice(["Final: 7,000"], [0.0]), "no sample has the right value"),
        (choice(["it is -7", "77", "17"], [0.0] * 3), "no sample has the right value"),
    ],
)
def test_why_a_choice_is_wrong(row: Selection, why: str) -> None:
    assert cause(row).startswith(why)


def test_one_of_each_cause_is_told_before_a_second_of_any() -> None:
    rows = [choice(["8"], [0.0]), choice(["9"], [0.0]), choice(["seven 7"], [0.0])]
    lines = failures_text(rows, 1_234).split("\n")
    assert lines[0] == "The choice is wrong on 1,234 prompts, for example:"  # more than were looked through
    assert [line.split(": ")[1] for line in lines if "chosen: " in line] == ["8", "seven 7", "9"]


def test_one_failure_is_one_prompt() -> None:
    assert failures_text([choice(["8"], [0.0])], 1).startswith("The choice is wrong on 1 prompt, for example:\n")


def test_the_report_holds_the_conditions_the_numbers_and_what_did_not_change() -> None:
    text = selection_text(SUMMARY | summary_of({"ok": 3, "empty": 1}), "the conditions", [])
    assert text.startswith("Loop B, choose: one of 2 samples is taken for each prompt.\n\nthe conditions\n\nfirst ")
    assert text.endswith("\n\nThis is selection: only the delivered sample changed, and the policy did not.")
    assert "selection still fails" not in text
    still = selection_text(SUMMARY | summary_of({"ok": 3, "empty": 9}), "", [choice(["8"], [0.0])])
    assert "The choice is wrong on 9 prompts" in still


def test_the_average_of_all_samples_stands_beside_the_first_and_the_interval_beside_the_choice() -> None:
    bounds = {"passes": 2, "n": 4, "pass_rate_ci95": [0.25, 0.75]}
    assert numbers_text(SUMMARY | bounds).split("\n") == [
        "first sample    25.0 %   any one sample, on average: 43.8 %",
        "selected        50.0 %   2 of 4 passed (95 % interval 25.0 to 75.0 %)",
    ]


def test_each_detail_says_what_it_is_and_an_undefined_one_says_why() -> None:
    text = details_text(SUMMARY)
    assert "random choice   37.5 %   a blind pick among the 2" in text
    assert "  k=1 43.8 %   k=2 50.0 %" in text
    assert "0.1931" in text
    assert "(because)" in text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (1075, "Final: 1,075"),
        (-3, "Final: \u22123"),
        (1075, "１，075"),
    ],
)
def test_a_value_with_commas_or_another_minus_is_there_in_a_wrong_format(answer: int, text: str) -> None:
    row = msgspec.structs.replace(choice([text], [0.0]), expected_answer=answer)
    assert cause(row) == "the right value is there, but in a wrong format: no choice helps"
    assert "no sample has" in cause(msgspec.structs.replace(row, expected_answer=answer + 1))
