"""The bandit's report and story, of updates that the loop made.

The worked example. In two updates from even probabilities, arm 1 is sampled with reward 1 and goes up, then arm 0 with
reward 0 against a baseline of 1 and goes down: the story has two lines for each.
"""

import numpy as np

from course.artifacts.learning import update_row
from course.policies.bandit import ARMS
from course.policy_gradient_demo import learn
from course.reports.bandit_train import bandit_text, story_text

ROWS = [update_row(step, update, 0.5, ARMS) for step, update in enumerate(learn(np.array([0.3, 0.0]), 0.5, True), 1)]
SUMMARY = {"expected_reward_before": 0.5, "expected_reward_after": 0.625}
ABLATION = {
    "with baseline": {"gradient_variance": 0.125, "last_expected_reward": 0.75},
    "without baseline": {"gradient_variance": 0.5, "last_expected_reward": 0.7},
}


def test_the_story_has_each_update_in_numbers_and_in_words() -> None:
    story = story_text(ROWS, ARMS)
    assert story.startswith("The arms\n  0  The answer is 323.\n")
    assert "  3  Final: 323<U+000A LINE FEED>\n" in story
    lines = story.split("\n")
    first = lines.index("step   1  arm 1  reward 1  baseline 0.000  advantage +1.000  p 0.250 -> 0.355")
    assert [line.strip() for line in lines[first + 1 : first + 4 : 2]] == [
        "better than expected: arm 1 goes up",
        "worse than expected: arm 0 goes down",
    ]


def test_the_report_shows_every_update_only_if_asked() -> None:
    short, slow = (bandit_text(ROWS, SUMMARY, ARMS, slow=slow) for slow in (False, True))
    assert "after 2 steps" in short
    assert "expected reward 0.500 -> 0.625" in short
    assert ("step 2 of 2" in short, "step 2 of 2" in slow) == (False, True)
    assert "variance" not in short


def test_the_ablation_is_a_line_for_each_side() -> None:
    text = bandit_text(ROWS, SUMMARY | {"ablation": ABLATION}, ARMS, slow=False)
    assert text.endswith(
        "variance of one gradient estimate, expected reward at the last step\n"
        "  with baseline     0.1250   0.750\n  without baseline  0.5000   0.700"
    )
    assert max(map(len, text.split("\n"))) <= 80
