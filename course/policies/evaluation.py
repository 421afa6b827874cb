"""Machinery: evaluations of a token policy while it learns. They have draws of their own and enter no update."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from course.datasets.records import Task
from course.policies.own_step import OwnStep
from course.policies.softmax import Floats, Ints
from course.policies.token_learner import generator, learn, learn_by_own_step, rewards
from course.policies.token_policy import Policy, sample_completions, sequence_kl
from course.policies.train_config import TrainConfig
from course.rubrics import Rubric
from course.score import score

Split = Literal["train", "holdout"]


class Evaluation(NamedTuple):
    """N fresh completions, one for each of N examples, and the reward of each by both verifiers."""

    examples: Sequence[Task]
    texts: list[str]
    proxy: Floats  # [N] the reward of the rubric that the policy is trained on
    true: Floats  # [N] the strict scorer's
    kl: Floats  # [N] Σ_t KL(policy ‖ reference) along the completion, in nats
    lengths: Ints  # [N] in tokens


class Checkpoint(NamedTuple):
    """The policy after ``step`` updates, and its evaluation on each split; the holdout's only if there is one."""

    step: int
    policy: Policy
    evaluations: dict[Split, Evaluation]


def evaluate_policy(
    policy: Policy, reference: Policy, examples: Sequence[Task], rubric: Rubric, seed: int
) -> Evaluation:
    """Evaluate the policy as it is. The draws are the same each time: what changes between evaluations is the policy.

    ``course.sample_rollouts`` with the same seed, n of 1 and both settings at 1 samples the same texts.
    """
    prompts = policy.encode_prompts([example["prompt"] for example in examples])
    u = generator(seed, "evaluation").random((len(prompts), policy.max_tokens))
    completions = sample_completions(policy, prompts, u)
    texts = policy.decode_completions(completions)
    proxy, true = rewards(rubric, examples, texts), rewards(score, examples, texts)
    kl = sequence_kl(policy, reference, prompts, completions)
    return Evaluation(examples, texts, proxy, true, kl, completions.lengths)


def learn_and_evaluate(
    reference: Policy,
    examples: Sequence[Task],
    holdout: Sequence[Task],
    rubric: Rubric,
    config: TrainConfig,
    seed: int,
    own_step: OwnStep | None = None,
) -> Iterator[Checkpoint]:
    """Learn, and evaluate before the first update, after each ``eval_every`` updates, and after the last.

    Several ``samples`` are one completion of each prompt, then again one of each. ``own_step``: does the updates.
    """
    splits: dict[Split, Sequence[Task]] = {"train": examples, "holdout": holdout}

    def checkpoint(step: int, policy: Policy) -> Checkpoint:
        evaluations: dict[Split, Evaluation] = {}
        for split, tasks in splits.items():
            if tasks:
                evaluations[split] = evaluate_policy(policy, reference, [*tasks] * config.samples, rubric, seed)
        return Checkpoint(step, policy, evaluations)

    yield checkpoint(0, reference)
    if own_step is not None:
        policies = learn_by_own_step(own_step, reference, examples, rubric, config, seed)
    else:
        policies = (update.new_policy for update in learn(reference, examples, rubric, config, seed))
    for step, policy in enumerate(policies, 1):
        if step % config.eval_every == 0 or step == config.steps:
            yield checkpoint(step, policy)
