"""The bandit's report and story, of updates that the loop made.

The worked example. In two updates from even probabilities, arm 1 is sampled with reward 1 and goes up, then arm 0 with
reward 0 against a baseline of 1 and goes down: the story has two lines for each.
"""

import numpy as np

from course.artifacts.learning import update_row
from course.policies.bandit import ARMS, EXAMPLE
from course.policy_gradient_demo import learn
from course.reports.bandit_train import bandit_text, story_text

ROWS = [
    update_row(step, update, 0.5, EXAMPLE, ARMS)
    for step, update in enumerate(learn(np.array([0.3, 0.0]), 0.5, True), 1)
]
SUMMARY = {"expected_reward_before": 0.5, "expected_reward_after": 0.625}
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
    assert "  3  Final: 323<U+000A LINE FEED>\n" in story
    lines = story.split("\n")
    first = lines.index("step   1  arm 1  reward 1  baseline 0.000  advantage +1.000  p 0.250 -> 0.355")
    assert [line.strip() for line in lines[first + 1 : first + 4 : 2]] == [
        "above the baseline: arm 1 goes up",
        "below the baseline: arm 0 goes down",
    ]


def test_the_report_is_short() -> None:
    report = bandit_text(ROWS, SUMMARY, ARMS)
    assert "after 2 steps" in report
    assert "expected reward 0.500 -> 0.625" in report
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
    assert "so its 2 b* is another, 0.500 on average, and the expected reward is 0.875" in " ".join(text.split())
    assert max(map(len, text.split("\n"))) <= 80
