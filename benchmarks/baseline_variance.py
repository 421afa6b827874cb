"""What the group baseline does to the variance of a policy's gradient, while that policy learns.

    .venv/bin/python benchmarks/baseline_variance.py

A policy learns as ``course.token_train --preset memorise`` does. After some of its updates it stands still: batches are
drawn that enter no update, each gives one gradient with a baseline and one without, and the total variance of each kind
is printed, with the mean reward J and the best constant b*. Medians over the seeds. ``docs/reference/baselines.md``
shows what it prints.
"""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import numpy as np

from course.datasets.records import task_of
from course.datasets.sources import Dataset
from course.policies.presets import MEMORISE, Plan
from course.policies.reinforce import leave_one_out
from course.policies.sampling import sample_completions
from course.policies.softmax import Floats, Ints
from course.policies.token_learner import draws, fine_tune, learn, rewards
from course.policies.token_policy import Completions, Policy, gradient
from course.score import score

LAB = Path(__file__).resolve().parents[1]
UPDATES = (0, 100, 300, 600)
BATCHES = 200  # for a variance
COLUMNS = ("variance, none", "variance, group", "J", "b*", "norm², right", "norm², wrong")


class Batch(NamedTuple):
    """N completions of one policy, and their rewards."""

    prompts: Ints
    completions: Completions
    reward: Floats


def flat_gradient(policy: Policy, batch: Batch, weight: Floats) -> Floats:
    """All weights' gradient as one vector: Σ_i weight_i · ∂ log p(completion_i)."""
    return np.concatenate([part.ravel() for part in gradient(policy, batch.prompts, batch.completions, weight)])


def total_variance(gradients: Floats) -> float:
    """Σ over the weights of the variance over M gradients [M, W]: an unbiased estimate."""
    return float(gradients.var(axis=0, ddof=1).sum())


def squared_norms(policy: Policy, batch: Batch) -> Floats:
    """[N] ‖∂ log p(completion) / ∂ weights‖² of each completion."""
    each = np.eye(len(batch.reward))
    return np.array([(flat_gradient(policy, batch, one) ** 2).sum() for one in each])


def row(policy: Policy, batches: list[Batch], plan: Plan) -> list[float]:
    """The columns, for one policy."""
    ways = []
    for batch in batches:
        advantages = batch.reward, batch.reward - leave_one_out(batch.reward, plan.group_size)
        ways.append([flat_gradient(policy, batch, advantage / len(batch.reward)) for advantage in advantages])
    none, group = (total_variance(np.array(gradients)) for gradients in zip(*ways, strict=True))
    reward = np.concatenate([batch.reward for batch in batches[:4]])
    norms = np.concatenate([squared_norms(policy, batch) for batch in batches[:4]])
    best = (reward * norms).mean() / norms.mean()
    return [none, group, reward.mean(), best, norms[reward > 0].mean(), norms[reward == 0].mean()]


def rows(seed: int) -> list[list[float]]:
    """A row for each policy of UPDATES, of one training."""
    tasks = [task_of(example) for example in Dataset(LAB / MEMORISE.dataset, None)]
    plan = MEMORISE.plan
    policy = fine_tune(tasks, plan, seed)
    prompts = policy.encode_prompts([task["prompt"] for task in tasks])
    found, known = {0: policy}, dict[tuple[str, str], float]()
    for step, update in enumerate(learn(policy, tasks, score, plan, seed), 1):
        if step in UPDATES:
            found[step] = update.new_policy
    measured = []
    for policy in found.values():
        batches = []
        for chosen, u, _ in draws(len(tasks), plan._replace(steps=BATCHES), seed + 1_000):
            completions = sample_completions(policy, prompts[chosen], u)
            texts = policy.decode_completions(completions)
            batches.append(
                Batch(prompts[chosen], completions, rewards(score, [tasks[i] for i in chosen], texts, known))
            )
        measured.append(row(policy, batches, plan))
    return measured


def table(seeds: int) -> Floats:
    """A row for each of UPDATES: medians over the seeds."""
    return np.asarray(np.median([rows(seed) for seed in range(seeds)], axis=0))


def main() -> None:
    parser = ArgumentParser(description="The variance of a gradient with the group baseline and without one.")
    parser.add_argument("--seeds", type=int, default=5)
    count = parser.parse_args().seeds
    print("updates" + "".join(f"{name:>17}" for name in COLUMNS))
    for updates, numbers in zip(UPDATES, table(count), strict=True):
        print(f"{updates:7}" + "".join(f"{number:17.4g}" for number in numbers))


if __name__ == "__main__":
    main()
