"""What course.gate prints.

An example: a candidate that gained 6 prompts and lost none on 99 is told as PROMOTE, with both pass rates, the ids
gained, the paired interval and the exact p; and in words, how many more gained than lost it takes.
"""

import json

import msgspec

from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import Condition
from course.gate_text import gate_json, gate_text

NUMBERS = Numbers(
    n=99,
    baseline_passes=40,
    candidate_passes=46,
    baseline_ci95=(0.31, 0.50),
    candidate_ci95=(0.37, 0.56),
    gained=[f"q{i}\x1b" for i in range(10)],
    lost=[],
    delta=6 / 99,
    delta_ci95=(0.004, 0.12),
    mcnemar_p=0.03125,
    net_flips_needed=6,
    discordance=0.2,
    smallest_visible_difference=0.1408,
)
ROOM = [
    Condition("split", "dev", "dev", "environment", None),
    Condition("sampling", None, "n 1", "selection compute", "locked room: sampling is not known for the baseline"),
]


def test_a_comparison_is_told_in_numbers_and_words() -> None:
    finding = Finding("PROMOTE", ["because"], ROOM, "policy", ["a", "\x1b b"], [], NUMBERS, 3)
    text = gate_text(finding, details=True)
    assert text.startswith("the locked room\n")
    assert text.endswith("\n\nPROMOTE: because")
    for line in (
        "ok   split       dev         dev",
        "NO   sampling    not known   n 1",
        "knob turned: policy\npolicy: a -> <U+001B ESCAPE> b",
        "looks at the holdout so far: 3",
        "difference           +6.1 points, paired 95 % interval +0.4 to +12.0",
        "lost                 0",
        "exact McNemar p      0.03125: how often chance alone makes flips this uneven",
        "locked room: 1 of 2 conditions hold (--details shows each)",
        "power                with 99 prompts, the gate detects a true difference of 14.1",
        "to be promoted       at least 6 more gained than lost, if 0 are lost again",
    ):
        assert line in text, line
    assert "\x1b" not in text
    assert "q7<U+001B ESCAPE>, and 2 more)" in text.replace("\n" + " " * 21, " ")
    assert max(map(len, text.split("\n"))) <= 80


def test_many_tries_are_said_between_the_numbers_and_the_knob() -> None:
    text = gate_text(Finding("PROMOTE", ["because"], ROOM, "policy", ["a"], [], NUMBERS, None, 21))
    message = "runs from this room: 21. "
    assert message in text
    assert "use fresh prompts\n\nknob turned: policy\n" in text.replace("\n    ", " ")


def test_what_a_verdict_must_not_be_read_without_stands_under_the_knob() -> None:
    notes = ["only the choice changed: the policy did not", f"trained with rubric \x1b[31m {'on and on ' * 12}"]
    text = gate_text(Finding("PROMOTE", ["because"], ROOM, "selection compute", ["a", "a"], notes, NUMBERS))
    lines = text.partition("knob turned: ")[2].split("\n")
    assert lines[:3] == ["selection compute", "policy: a", "only the choice changed: the policy did not"]
    assert lines[3].startswith("trained with rubric <U+001B ESCAPE>[31m on and on")
    assert lines[4].startswith("    ")  # it goes on
    assert max(map(len, text.split("\n"))) <= 80


def test_what_no_n_prompts_can_show_is_told_in_words() -> None:
    numbers = msgspec.structs.replace(NUMBERS, smallest_visible_difference=None, net_flips_needed=None)
    text = gate_text(Finding("REJECT", ["because"], ROOM, "policy", ["a", "b"], [], numbers, 3), details=True)
    assert "no possible difference" in " ".join(text.split())
    assert "to be promoted no number gained on 99 prompts is enough, if 0 are lost again" in " ".join(text.split())
    assert max(map(len, text.split("\n"))) <= 80


def test_two_rooms_have_no_difference() -> None:
    text = gate_text(Finding("REJECT", ["one", "two"], ROOM, "environment"))
    assert text.endswith("\n\nREJECT: one\n  also: two")
    assert text.startswith("the runs are not comparable, so no difference is shown\n")


def test_the_answer_is_a_screen_long_and_the_rest_is_behind_details() -> None:
    notes = [f"the policy of the {side} was trained {'on and on ' * 6}" for side in ("baseline", "candidate")]
    reasons = [f"reason {number} " * 8 for number in range(12)]
    finding = Finding("PROMOTE", reasons, ROOM * 6, "policy", ["a", "b"], notes, NUMBERS, 3, 9)
    short = gate_text(finding)
    whole = gate_text(finding, details=True)
    assert "PROMOTE: reason 0" in "\n".join(short.split("\n")[-22:])
    assert "the locked room\n" not in short
    assert "80 % power" not in short
    assert short.endswith("  and 7 more (--details shows each)")
    assert "reason 11" in whole
    assert "more (--details" not in whole


def test_the_same_for_a_program() -> None:
    printed = json.loads(gate_json(Finding("PROMOTE", ["because"], ROOM, "policy", ["a", None], ["a note"], NUMBERS)))
    assert [condition["holds"] for condition in printed["conditions"]] == [True, False]
    assert (printed["numbers"]["n"], printed["numbers"]["lost"]) == (99, [])
    assert (printed["notes"], printed["holdout_looks"]) == (["a note"], None)
    assert printed["policies"] == ["a", None]
