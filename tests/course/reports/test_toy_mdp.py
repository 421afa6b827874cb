"""Episodes as text, of updates that the loop made.

The worked example. The draws 0.6 and 0.7 write 'Final: 323' at even probabilities: both steps have the return 1 and
the advantage 1 - 0.000 = +1.000, and with a learning rate of 0.5 p goes from 0.500 to 0.622.
"""

import numpy as np

from course.artifacts.learning import EpisodeRow, episode_row
from course.reports.toy_mdp import episode_text, toy_mdp_story, toy_mdp_text
from course.toy_mdp import learn

SUMMARY = {
    "expected_return_before": 0.25,
    "expected_return_after": 0.375,
    "first_step_probs": [0.5, 0.5],
}


def episodes(credited: list[bool]) -> list[EpisodeRow]:
    """'Answer: 332' twice, then 'Final: 323' twice."""
    draws = np.array([[0.1, 0.1], [0.1, 0.1], [0.9, 0.9], [0.9, 0.9]])
    updates = learn(draws, 0.5, np.array(credited, dtype=float))
    return [episode_row(episode, update, 0.5, credited) for episode, update in enumerate(updates, 1)]


def test_an_episode_has_two_lines_a_step() -> None:
    assert episode_text(episodes([True, True])[2]).split("\n") == [
        "episode 3: Final: 323",
        "  step 1  after ''           writes 'Final: '    reward 0  return from here 1",
        "          advantage 1 - 0.000 = +1.000: p 0.500 -> 0.622",
        "  step 2  after 'Final: '    writes '323'        reward 1  return from here 1",
        "          advantage 1 - 0.000 = +1.000: p 0.500 -> 0.622",
    ]


def test_a_step_without_credit_says_so() -> None:
    lines = episode_text(episodes([False, True])[2]).split("\n")
    assert lines[2] == "          no credit: p 0.500 -> 0.500"
    assert "first step was never updated" in toy_mdp_text(episodes([False, True]), SUMMARY)
    assert "first step was never updated" not in toy_mdp_text(episodes([True, True]), SUMMARY)


def test_the_report_has_three_episodes_and_the_story_all() -> None:
    rows = episodes([True, True])
    report, story = toy_mdp_text(rows, SUMMARY), toy_mdp_story(rows)
    assert [line for line in report.split("\n") if line.startswith("episode")] == [
        "episode 1: Answer: 332",
        "episode 3: Final: 323",
        "episode 4: Final: 323",
    ]
    assert report.endswith("\n\nexpected return 0.250 -> 0.375")
    assert story.count("\nepisode ") == 4
    assert max(map(len, (report + "\n" + story).split("\n"))) <= 80
