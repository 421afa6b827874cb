"""What is measured of a token policy on the way. It draws with a generator of its own and never enters an update."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from course.policies.presets import Plan
from course.policies.sampling import drawn
from course.policies.softmax import Floats, Ints
from course.policies.token_learner import Example, generator, learn, paid
from course.policies.token_policy import Policy, kl_along, texts_of
from course.rubrics import Rubric
from course.score import score


class Probe(NamedTuple):
    """One fresh completion of each of N prompts, and what both verifiers pay for it."""

    texts: list[str]
    proxy: Floats  # [N] the reward of the rubric that the policy is trained on
    true: Floats  # [N] the strict scorer's
    kl: Floats  # [N] Σ_t KL(policy ‖ reference) along the completion, in nats
    lengths: Ints  # [N] tokens


def probe(policy: Policy, reference: Policy, examples: Sequence[Example], rubric: Rubric, seed: int) -> Probe:
    """Measure the policy as it is. The same draws each time, so that what changes between two probes is the policy.

    ``course.sample_rollouts`` with the same seed, n of 1 and both settings at 1 draws the same texts.
    """
    view = policy.view([example["prompt"] for example in examples])
    completions = drawn(policy, view, generator(seed, "measuring").random((len(view), policy.limit)))
    texts = texts_of(policy.pieces, completions)
    proxy, true = paid(rubric, examples, texts), paid(score, examples, texts)
    return Probe(texts, proxy, true, kl_along(policy, reference, view, completions), completions.lengths)


class Moment(NamedTuple):
    """The policy after some updates, and what is measured of it."""

    step: int  # updates so far
    policy: Policy
    train: Probe  # on the prompts it learns on
    holdout: Probe | None  # on prompts it never learns on


def moments(
    reference: Policy,
    examples: Sequence[Example],
    holdout: Sequence[Example],
    rubric: Rubric,
    plan: Plan,
    seed: int,
    every: int,
    draws: int = 1,
) -> Iterator[Moment]:
    """Learn, and look: before the first update, after each ``every`` of them, and after the last.

    ``draws``: completions of each prompt at a look: one of each, then again one of each.
    """
    trained_on, unseen = [*examples] * draws, [*holdout] * draws

    def look(step: int, policy: Policy) -> Moment:
        train = probe(policy, reference, trained_on, rubric, seed)
        return Moment(step, policy, train, probe(policy, reference, unseen, rubric, seed) if unseen else None)

    yield look(0, reference)
    for update in learn(reference, examples, rubric, plan, seed):
        if update.step % every == 0 or update.step == plan.steps:
            yield look(update.step, update.new_policy)
