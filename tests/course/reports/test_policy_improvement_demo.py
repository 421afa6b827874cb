"""Selection and learning as text.

The worked example. Three rounds, in which pass@1 stays at 25 %: rounds 1, 2 and the last are shown, and selection is
said to leave the policy as it was.
"""

from course.artifacts.learning import RoundRow
from course.reports.policy_improvement_demo import policy_improvement_text

ROWS = [RoundRow(number, 0.25, [0.25] * 4, [1, 0], [1.0, 0.0], 1.0) for number in (1, 2, 3)]


def test_the_report_shows_rounds_and_what_became_of_the_policy() -> None:
    lines = policy_improvement_text(ROWS, "selection").split("\n")
    assert lines[0] == "Loop B, choose: the policy stays the same."
    assert [line.split() for line in lines[4:7]] == [[str(n), "25.0", "%", "1", "0", "1"] for n in (1, 2, 3)]
    assert lines[-2:] == [
        "mean reward of what was delivered: 100.0 %",
        "pass@1 of the policy: 25.0 % -> 25.0 %",
    ]
    learned = [*ROWS, RoundRow(4, 0.5, [0.25] * 4, [0, 0], [0.0, 0.0], 0.0)]
    lines = policy_improvement_text(learned, "learning").split("\n")
    assert lines[0] == "Loop C, learn: the policy changes."
    assert lines[-2:] == ["mean reward of what was delivered: 75.0 %", "pass@1 of the policy: 25.0 % -> 50.0 %"]
