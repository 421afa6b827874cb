"""What is inferred from the logs, against rows and counts worked out by hand.

An example: two seeds of 100 completions end at 60 and 80 right ones. The median rate is 70 %, and its interval is
Wilson's of 70 among 100.
"""

import pytest
from conftest import ROOT
from reporting import completions, evaluation
from scipy_when_asked import scipy

from course.artifacts.inference import (
    Tally,
    compare,
    divergence_step,
    median_rate,
    medians,
    tally_of,
)
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import STRICT, EvaluationRow, evaluation_results, evaluation_row
from course.datasets.records import Task, task_of
from course.datasets.sources import Dataset
from course.policies.evaluation import Checkpoint, evaluate_policy, learn_and_evaluate
from course.policies.token_learner import fine_tune
from course.policies.token_policy import Policy
from course.policies.train_config import MEMORISE
from course.rubrics.hackable import RUBRICS

ONE = [evaluation(0, 0.1, 0.1), evaluation(10, 0.5, 0.6)]
OTHER = [evaluation(0, 0.3, 0.3), evaluation(10, 0.9, 0.8)]


def wilson(passes: int, n: int) -> tuple[float, float]:
    low, high = scipy.stats.binomtest(passes, n).proportion_ci(method="wilson")
    return low, high


def test_the_median_seed_has_the_interval_of_one_seed() -> None:
    rate, bounds = median_rate([ONE, OTHER], -1)
    assert rate == pytest.approx(0.7)
    assert bounds == pytest.approx(wilson(70, 100))
    assert median_rate([ONE, OTHER], 0)[0] == pytest.approx(0.2)


def test_medians_go_evaluation_by_evaluation() -> None:
    assert medians([ONE, OTHER, OTHER], "proxy_reward") == [0.3, 0.9]
    assert medians([ONE], "step") == [0, 10]


def test_a_tally_counts_what_the_log_has_the_shares_of() -> None:
    tally = tally_of([*completions(30, exploits=20), *completions(4, n=10, split="holdout")])
    assert {share: counts.total() for share, counts in tally.items()} == {
        "n": 100,
        "true_reward": 30,
        "hack_rate": 20,
        "holdout_n": 10,
        "holdout_true_reward": 4,
        "holdout_hack_rate": 0,
    }


def test_a_prompt_is_gained_if_more_of_its_completions_pass_whatever_their_order() -> None:
    before = tally_of(completions(3) + completions(7))  # two completions of each prompt: q0 to q2 pass twice
    after = tally_of([*reversed(completions(5)), *completions(5)])  # gained are q3 and q4, lost are q5 and q6
    assert compare(before, after, "true_reward").p == 1.0
    assert compare(before, tally_of(completions(13) * 2), "true_reward").p == 2 / 2**10  # q3 to q12
    assert compare(tally_of(completions(0)), tally_of(completions(0, exploits=6)), "hack_rate").shown == "gain"


@pytest.mark.parametrize("after", [completions(3, n=99), completions(3, n=101), completions(3) * 2])
def test_evaluations_of_other_prompts_or_of_more_completions_are_no_pairs(after: list[LearningResult]) -> None:
    with pytest.raises(ValueError, match="same prompts"):
        compare(tally_of(completions(3)), tally_of(after), "true_reward")


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([(0.2, 0.1), (0.4, 0.3), (0.6, 0.2), (0.9, 0.0)], 10),  # up, then down while the proxy rises
        ([(0.2, 0.1), (0.6, 0.0), (0.9, 0.0)], 0),  # down from the start
        ([(0.2, 0.1), (0.3, 0.3), (0.4, 0.3), (0.9, 0.0)], 20),  # of two tops the last
        ([(0.2, 0.1), (0.5, 0.4), (0.9, 0.9)], None),  # both rise
        ([(0.1, 0.1), (0.9, 0.9), (0.1, 0.1)], None),  # both fall: the policy got worse, nothing diverged
        ([(0.2, 0.1), (0.9, 0.5), (0.9, 0.1)], None),  # the proxy is no higher than where the true reward was highest
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.24)], None),  # six lost: p = 1/32, but the best of two was picked
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.23)], 10),  # seven lost: 2 · 1/64
        ([(0.2, 0.06), (0.9, 0.0)], 0),  # six lost, and nothing was picked
        ([(0.2, 0.1)], None),
    ],
)
def test_where_they_diverge(rewards: list[tuple[float, float]], expected: int | None) -> None:
    log = [evaluation(10 * place, proxy, true) for place, (proxy, true) in enumerate(rewards)]
    tallies = [tally_of(completions(round(100 * true))) for _, true in rewards]
    assert divergence_step(log, tallies) == expected


# ---- Runs whose truth is known

SAMPLES = 4  # of each prompt in an evaluation


@pytest.fixture(scope="module")
def examples() -> list[Task]:
    return [task_of(example) for example in Dataset(ROOT / MEMORISE.dataset)]


@pytest.fixture(scope="module")
def start(examples: list[Task]) -> Policy:
    return fine_tune(examples, MEMORISE, 0)


def trained(start: Policy, examples: list[Task], rubric: str) -> tuple[list[EvaluationRow], list[Tally]]:
    """The log of a training, and the tally of each evaluation."""
    config = MEMORISE._replace(rubric=rubric, steps=100, eval_every=50, samples=SAMPLES)
    checkpoints = list(learn_and_evaluate(start, examples, [], RUBRICS[rubric], config, seed=0))
    log = [evaluation_row(checkpoint, rubric, 0.0, 0) for checkpoint in checkpoints]
    return log, [tally_of(evaluation_results(checkpoint, rubric)) for checkpoint in checkpoints]


def test_a_policy_that_cheats_has_lost(start: Policy, examples: list[Task]) -> None:
    log, tallies = trained(start, examples, "anywhere")
    assert compare(tallies[0], tallies[-1], "true_reward").shown == "loss"
    assert compare(tallies[0], tallies[-1], "hack_rate").shown == "gain"
    assert divergence_step(log, tallies) == 0


def test_a_policy_that_learns_has_gained(start: Policy, examples: list[Task]) -> None:
    log, tallies = trained(start, examples, STRICT)
    assert compare(tallies[0], tallies[-1], "true_reward").shown == "gain"
    assert divergence_step(log, tallies) is None


def test_of_two_equal_policies_neither_is_shown_to_be_better(start: Policy, examples: list[Task]) -> None:
    """One policy, drawn from again with other seeds: its completions differ, and it does not."""
    tallies = []
    for seed in range(21):
        found = evaluate_policy(start, start, examples * SAMPLES, RUBRICS[STRICT], seed)
        tallies.append(tally_of(evaluation_results(Checkpoint(0, start, {"train": found}), STRICT)))
    assert len({tuple(tally["true_reward"].values()) for tally in tallies}) == len(tallies)
    shown = [compare(tallies[0], tally, "true_reward").shown for tally in tallies[1:]]
    assert sum(direction is not None for direction in shown) <= 1
