"""The bandit's report and story, of updates that the loop made.

The worked example. In two updates from even probabilities, arm 1 is sampled with reward 1 and goes up, then arm 0 with
reward 0 against a baseline of 1 and goes down: the story has two lines for each.

The worked example. Rewards 0, 1 and the expected rewards 0.5, 0.6: dots at (1, 0), (2, 1), a line through (1, 0.5),
(2, 0.6).
"""

from typing import Any

import numpy as np
import pytest

from course import bandit_train_text
from course.artifacts.learning_rows import update_row
from course.bandit_train_text import ablation_panels, bandit_text, learning_curve, story_text
from course.policies.bandit import ARMS, EXAMPLE
from course.policy_gradient_demo import learn

ROWS = [
    update_row(step, update, 0.5, EXAMPLE, ARMS)
    for step, update in enumerate(learn(np.array([0.3, 0.0]), 0.5, True), 1)
]
SUMMARY = {"expected_reward_before": 0.25, "expected_reward_after": 0.625}
ABLATION = {
    "runs": 1200,
    "learning": [
        {"offset": 0.0, "baseline": True, "mean": 0.75, "below_half": 0},
        {"offset": 3.0, "baseline": False, "mean": 0.7, "below_half": 1100},
    ],
    "variances": {
        "none": 0.5,
        "running_mean": 0.125,
        "best_constant": 0.0625,
        "lowered": 0.75,
        "best_baseline": 0.25,
        "expected_reward": 0.875,
    },
}


def test_the_story_has_each_update_in_numbers_and_in_words() -> None:
    story = story_text(ROWS, ARMS)
    assert story.startswith(f"The state is the prompt:\n  {EXAMPLE['prompt']}\n\nThe arms\n  0  The answer is 323.\n")
    assert "  3  Final: 323. I hope this helps!\n" in story
    lines = story.split("\n")
    first = lines.index("step   1  arm 1  reward 1  baseline 0.000  advantage +1.000  p 0.250 -> 0.355")
    assert [line.strip() for line in lines[first + 1 : first + 4 : 2]] == [
        "above the baseline: arm 1 goes up",
        "below the baseline: arm 0 goes down",
    ]


def test_the_report_is_short() -> None:
    report = bandit_text(ROWS, SUMMARY, ARMS)
    assert "after 2 steps" in report
    assert "expected reward 0.250 -> 0.625" in report
    assert "variance" not in report
    assert EXAMPLE["prompt"] in report


def test_the_ablation_is_a_line_for_each_side_and_each_baseline() -> None:
    text = bandit_text(ROWS, SUMMARY | {"ablation": ABLATION}, ARMS)
    assert "Ablation: 1,200 runs" in text
    cells = [line.split() for line in text.split("\n")]
    assert ["0", "yes", "0.750", "0"] in cells
    assert ["3", "no", "0.700", "1,100"] in cells
    assert ["0:", "no", "baseline", "0.5000"] in cells
    assert ["the", "mean", "reward", "so", "far", "0.1250"] in cells
    assert ["b*", "0.0625"] in cells
    assert "75.0 % of the updates" in " ".join(text.split())
    assert "2 b* is 0.500 on average, and the expected reward is 0.875" in " ".join(text.split())
    assert max(map(len, text.split("\n"))) <= 80


SIDES = [
    {"offset": offset, "baseline": side, "below_half": 7, "mean": [0.5, 0.7], "low": [0.4, 0.5], "high": [0.6, 0.9]}
    for offset in (0.0, 1.0, 3.0)
    for side in (True, False)
]
CURVES = {"none": [0.5, 0.4], "running_mean": [0.5, 0.1], "best_constant": [0.2, 0.05]}


@pytest.fixture
def sheets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are made, before they become bytes."""
    made: list[Any] = []
    monkeypatch.setattr(bandit_train_text, "png", made.append)
    return made


def test_the_curve_has_the_rewards_and_the_expected_rewards(sheets: list[Any]) -> None:
    learning_curve([0.0, 1.0], [0.5, 0.6])
    dots, line = sheets[0].axes[0].get_lines()
    assert (list(dots.get_xdata()), list(dots.get_ydata())) == ([1, 2], [0.0, 1.0])
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2], [0.5, 0.6])


def test_the_panels_have_both_sides_of_two_offsets_and_three_variances(sheets: list[Any]) -> None:
    ablation_panels(SIDES, CURVES, 1200)
    smallest, largest, by_step, _ = sheets[0].axes
    assert [axes.get_title() for axes in (smallest, largest)] == ["0 added to every reward", "3 added to every reward"]
    for curves in (smallest, largest):
        assert [line.get_label() for line in curves.get_lines()] == [
            "with baseline: 7 of 1,200 end below 0.5",
            "without baseline: 7 of 1,200 end below 0.5",
        ]
        assert [list(line.get_ydata()) for line in curves.get_lines()] == [[0.5, 0.7]] * 2
        band = curves.collections[0].get_datalim(curves.transData)
        assert (band.ymin, band.ymax) == (0.4, 0.9)
    assert [list(line.get_ydata()) for line in by_step.get_lines()] == list(CURVES.values())


def test_the_mean_reward_is_worse_than_none_beyond_two_thirds_and_with_three_wrong_arms_beyond_one_half(
    sheets: list[Any],
) -> None:
    """The ratio by hand, with m wrong arms: ‖∂ log p‖² is (1 − p)² (1 + 1/m) of the right arm; of each wrong arm,
    whose probability is q = (1 − p) / m, it is 1 − 2q + p² + m q². ‖∂J‖² is (p (1 − p))² (1 + 1/m).
    """
    ablation_panels(SIDES, CURVES, 1200)
    one_wrong, three_wrong, one = sheets[0].axes[3].get_lines()
    p = one_wrong.get_xdata()
    for line, m, crossing in ((one_wrong, 1, 2 / 3), (three_wrong, 3, 1 / 2)):
        q = (1 - p) / m
        right, wrong = (1 - p) ** 2 * (1 + 1 / m), 1 - 2 * q + p**2 + m * q**2
        of_the_mean = (p * (1 - p)) ** 2 * (1 + 1 / m)
        with_mean = p * (1 - p) ** 2 * right + (1 - p) * p**2 * wrong - of_the_mean
        with_none = p * right - of_the_mean
        assert line.get_ydata() == pytest.approx(with_mean / with_none, rel=1e-9, abs=1e-12)
        beside = abs(p - crossing) > 1e-9
        assert ((line.get_ydata() > 1) == (p > crossing))[beside].all()
    assert list(one.get_ydata()) == [1, 1]


def test_equal_numbers_give_equal_bytes() -> None:
    assert learning_curve([0.0, 1.0], [0.5, 0.6]) == learning_curve([0.0, 1.0], [0.5, 0.6])
