"""One reward at the end of a longer and longer text, against the same training in plain Python.

The worked example. One token, and the draw 0.637: it is at least ½, so the right token was written and the first update
is the first with a reward. Its advantage is 1 − 0, ∂ log p / ∂ theta is [−½, ½], and theta becomes [−¼, ¼].
"""

from math import exp
from statistics import median

import numpy as np
import pytest
from conftest import Lab, lines_of
from learning_checks import check_run, summary

from course.late_reward import learn


def learn_by_hand(tokens: int, seed: int) -> tuple[int | None, int]:
    """The first update with a reward, and the update after which a text is right nine times in ten."""
    rng = np.random.default_rng(seed)
    wrong, right = [0.0] * tokens, [0.0] * tokens
    rewards: list[float] = []
    first = None
    while True:
        p = [1 / (1 + exp(a - b)) for a, b in zip(wrong, right, strict=True)]
        written = [u >= 1 - chance for u, chance in zip(rng.random(tokens), p, strict=True)]
        baseline = sum(rewards) / len(rewards) if rewards else 0.0
        rewards.append(float(all(written)))
        if rewards[-1] and first is None:
            first = len(rewards)
        chance_of_all = 1.0
        for place in range(tokens):
            push = 0.5 * (rewards[-1] - baseline) * ((1 - p[place]) if written[place] else -p[place])
            right[place] += push
            wrong[place] -= push
            chance_of_all /= 1 + exp(wrong[place] - right[place])
        if chance_of_all >= 0.9:
            return first, len(rewards)


@pytest.mark.parametrize("tokens", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_training_is_the_one_in_plain_python(tokens: int, seed: int) -> None:
    row = learn(tokens, seed)
    assert (row.tokens, row.seed) == (tokens, seed)
    assert (row.first_reward, row.updates) == learn_by_hand(tokens, seed)


def test_a_run_is_reproducible_and_its_numbers_are_those_of_its_log(lab: Lab) -> None:
    check_run(lab, "late_reward", "--seeds", 3, log="late_reward_log.jsonl")
    log = lines_of(lab.folder / "one/late_reward_log.jsonl")
    assert [(row["tokens"], row["seed"]) for row in log] == [(k, seed) for k in range(1, 9) for seed in (3, 4, 5)]
    for tokens in range(1, 9):
        updates = [row["updates"] for row in log if row["tokens"] == tokens]
        firsts = [row["first_reward"] for row in log if row["tokens"] == tokens]
        assert summary(lab.folder / "one")[f"{tokens} tokens"] == {
            "first_reward": median(firsts),
            "updates": median(updates),
            "fastest": min(updates),
            "slowest": max(updates),
        }


def test_a_training_that_does_not_get_there_is_said_to_need_more(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.late_reward.MOST_UPDATES", 20)
    done = lab("late_reward", "--seeds", 4, "--outdir", "run")
    assert done.status == 0
    last = summary(lab.folder / "run")["8 tokens"]
    assert (last["updates"], last["fastest"], last["slowest"]) == (None, None, None)
    (line,) = [line for line in done.out.split("\n") if line.split()[:2] == ["8", "256"]]
    assert line.count("over 20") >= 3
