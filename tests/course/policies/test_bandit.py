"""The bandit's arms against the spec, rule by rule.

The worked example. The prompt asks for 17 · 19 = 323. 'The answer is 323.' has the value and not the format, reward 0;
'Final: 332' the format and not the value, reward 0; 'Final: 323' both, reward 1; 'Final: 323. I hope this helps!' has
text after the integer, so it is no integer, reward 0.
"""

from course.policies.bandit import ARMS, EXAMPLE, arm_rewards


def test_the_rewards_are_those_of_the_spec() -> None:
    assert EXAMPLE["expected_answer"] == 17 * 19
    assert dict(zip(ARMS, arm_rewards().tolist(), strict=True)) == {
        "The answer is 323.": 0.0,
        "Final: 323": 1.0,
        "Final: 332": 0.0,
        "Final: 323. I hope this helps!": 0.0,
    }
