"""Evaluations of a token policy while it learns. They draw with a generator of their own and enter no update."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from course.policies.presets import Plan
from course.policies.sampling import sample_completions
from course.policies.softmax import Floats, Ints
from course.policies.token_learner import Task, generator, learn, rewards
from course.policies.token_policy import Policy, decode_completions, sequence_kl
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
    """The policy after some updates, and its evaluations."""

    step: int  # updates so far
    policy: Policy
    train: Evaluation  # on the prompts it is trained on
    holdout: Evaluation | None  # on prompts it is never trained on

    @property
    def evaluations(self) -> dict[Split, Evaluation]:
        """Split → evaluation; the holdout's is there only if there is a holdout."""
        found: dict[Split, Evaluation] = {"train": self.train}
        return found if self.holdout is None else found | {"holdout": self.holdout}


def evaluate_policy(
    policy: Policy, reference: Policy, examples: Sequence[Task], rubric: Rubric, seed: int
) -> Evaluation:
    """Evaluate the policy as it is. The draws are the same each time: what changes between evaluations is the policy.

    ``course.sample_rollouts`` with the same seed, n of 1 and both settings at 1 samples the same texts.
    """
    prompts = policy.encode_prompts([example["prompt"] for example in examples])
    u = generator(seed, "evaluation").random((len(prompts), policy.max_tokens))
    completions = sample_completions(policy, prompts, u)
    texts = decode_completions(policy.vocabulary, completions)
    proxy, true = rewards(rubric, examples, texts), rewards(score, examples, texts)
    return Evaluation(
        examples, texts, proxy, true, sequence_kl(policy, reference, prompts, completions), completions.lengths
    )


def learn_and_evaluate(
    reference: Policy,
    examples: Sequence[Task],
    holdout: Sequence[Task],
    rubric: Rubric,
    plan: Plan,
    seed: int,
    every: int,
    samples: int = 1,
) -> Iterator[Checkpoint]:
    """Learn, and evaluate before the first update, after each ``every`` updates, and after the last.

    ``samples``: completions of each prompt in an evaluation: one of each, then again one of each.
    """

    def checkpoint(step: int, policy: Policy) -> Checkpoint:
        train = evaluate_policy(policy, reference, [*examples] * samples, rubric, seed)
        unseen = evaluate_policy(policy, reference, [*holdout] * samples, rubric, seed) if holdout else None
        return Checkpoint(step, policy, train, unseen)

    yield checkpoint(0, reference)
    for step, update in enumerate(learn(reference, examples, rubric, plan, seed), 1):
        if step % every == 0 or step == plan.steps:
            yield checkpoint(step, update.new_policy)
