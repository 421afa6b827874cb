"""Episodes as text, of updates that the loop made.

The worked example. The draws 0.6 and 0.7 write 'Final: 323' at even probabilities: both steps have the return 1 and
the advantage 1 - 0.000 = +1.000, and with a learning rate of 0.5 p goes from 0.500 to 0.622.
"""

import numpy as np
import pytest

from course.artifacts.learning_rows import EpisodeRow, episode_row
from course.policies.softmax import Floats
from course.toy_mdp import episode_text, learn, toy_mdp_story, toy_mdp_text

SUMMARY = {
    "expected_return_before": 0.25,
    "expected_return_after": 0.375,
    "first_step_probs": [0.5, 0.5],
}


def episodes(credited: list[bool]) -> list[EpisodeRow]:
    """'Answer: 332' twice, then 'Final: 323' twice."""
    return rows_of(np.array([[0.1, 0.1], [0.1, 0.1], [0.9, 0.9], [0.9, 0.9]]), 0.5, credited)


def rows_of(draws: Floats, lr: float, credited: list[bool]) -> list[EpisodeRow]:
    updates = learn(draws, lr, np.array(credited, dtype=float))
    return [episode_row(episode, update, lr, credited) for episode, update in enumerate(updates, 1)]


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
    assert lines[2] == "          no credit, so nothing changes: p 0.500 -> 0.500"
    assert "first step was never updated" in toy_mdp_text(episodes([False, True]), SUMMARY)
    assert "first step was never updated" not in toy_mdp_text(episodes([True, True]), SUMMARY)


@pytest.mark.parametrize("credited", [[True, True], [False, True]])
@pytest.mark.parametrize("lr", [0.5, -0.5, 0.0])
@pytest.mark.parametrize("episodes", [1, 2, 5])
def test_no_sentence_is_refuted_by_its_numbers(credited: list[bool], lr: float, episodes: int) -> None:
    for seed in range(12):
        rows = rows_of(np.random.default_rng(seed).random((episodes, 2)), lr, credited)
        stays = all(row.new_probs == row.probs for row in rows)
        summary = SUMMARY | {"first_step_probs": rows[-1].new_probs[0]}
        text = toy_mdp_text(rows, summary)
        assert ("no update changed the policy" in text) is stays
        assert ("the policy itself changed" in text) is not stays
        assert ("is not credited here with the return" in text) is not credited[0]
        assert ("Its step is credited with the return" in text) is credited[0]
        if "stays" in text:
            assert all(row.new_probs[0] == row.probs[0] == [0.5, 0.5] for row in rows)
        for row in rows:
            for step, line in enumerate(episode_text(row).split("\n")[2::2]):
                assert ("so nothing changes" in line) is not any(row.direction[step])
                assert ("no credit" in line) is not credited[step]
                assert "no theta changes" not in line or row.new_theta[step] == row.theta[step]
        assert max(map(len, text.split("\n"))) <= 80


def test_the_prompt_stands_in_the_report_and_in_the_story() -> None:
    rows = episodes([True, True])
    for text in (toy_mdp_text(rows, SUMMARY), toy_mdp_story(rows)):
        assert (
            "The state is the prompt plus the text so far, which is empty at first:\n  Compute 17 * 19. Answer with"
            in text
        )


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
