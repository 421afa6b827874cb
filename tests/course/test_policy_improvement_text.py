"""Selection and learning as text.

The worked example. Three rounds, in which pass@1 stays at 25 %: rounds 1, 2 and the last are shown, and selection is
said to leave the policy as it was. A fourth round of learning, whose update raises pass@1 to 50 %, changed it.
"""

from course.artifacts.learning_rows import RoundRow
from course.policy_improvement_demo import policy_improvement_text

EVEN = [0.25] * 4
ROWS = [RoundRow(number, 0.25, EVEN, [1, 0], ["yes", "no"], [1.0, 0.0], 1.0, EVEN, 0.25) for number in (1, 2, 3)]
ALIKE = [RoundRow(1, 0.25, EVEN, [0, 0], ["no", "no"], [0.0, 0.0], 0.0, EVEN, 0.25)]
SUMMARY = {"n": 8, "samples_per_prompt": 2, "first_sample_accuracy": 0.5, "selected_accuracy": 0.75}
SELECTION = SUMMARY | {"pass_at_k": {"1": 0.375, "2": 0.625}}


def test_selection_shows_recorded_samples_and_rounds_and_leaves_the_policy_as_it_was() -> None:
    lines = policy_improvement_text(ROWS, SELECTION, "selection", "Which?").split("\n")
    assert lines[:6] == [
        "Loop B, choose: the policy stayed the same.",
        "",
        "Pass rates on recorded samples of 8 prompts:",
        "   50.0 %  the first sample alone (N = 1)",
        "   75.0 %  the first of the best of 2",
        "   37.5 %  an average sample: the policy's pass@1, which no choice changes",
    ]
    assert lines[7:9] == ["A toy policy and one prompt:", "  Which?"]
    assert [line.split() for line in lines[12:15]] == [[str(n), "25.0", "%", "1", "0", "1"] for n in (1, 2, 3)]
    assert lines[-2:] == ["mean reward of the delivered samples: 100.0 %", "pass@1 of the policy: 25.0 % -> 25.0 %"]
    assert max(map(len, lines)) <= 80


def test_learning_shows_the_policy_after_its_last_update() -> None:
    last = RoundRow(4, 0.25, EVEN, [0, 1], ["no", "yes"], [0.0, 1.0], 0.0, [0.2, 0.3, 0.3, 0.2], 0.5)
    lines = policy_improvement_text([*ROWS, last], {}, "learning", "Which?").split("\n")
    assert lines[0] == "Loop C, learn: the policy changed."
    assert "Recorded" not in "".join(lines)
    assert lines[-2:] == ["mean reward of the delivered samples: 75.0 %", "pass@1 of the policy: 25.0 % -> 50.0 %"]


def test_learning_that_moved_nothing_says_so_and_why() -> None:
    text = policy_improvement_text(ALIKE, {}, "learning", "Which?")
    assert text.startswith("Loop C, learn: the policy stayed the same: no round had two different rewards.\n")
    assert policy_improvement_text(ALIKE, SELECTION, "selection", "Which?").startswith(
        "Loop B, choose: the policy stayed the same.\n"
    )
