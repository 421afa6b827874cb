"""REINFORCE on tokens: the loop of ``bandit_train``, plus time, plus tokens. Four commands run it.

One step: draw prompts; let the policy write ``group_size`` completions of each; hand their texts to the rubric; compare
each reward with a baseline; push up the log-probability of every token of what was better than that, and down of what
was worse. One number, the advantage, multiplies all tokens of a completion: that is how a reward at the end reaches
the first token (return-to-go, with no discount and no reward on the way, is the same number at every token).

Left out of what large systems do: PPO's ratios and clipping (a sample is used once, by the policy that wrote it),
GAE and a critic (the baseline is a mean), a division by the group's standard deviation or by the length, as GRPO has
it (either would push some prompts or some tokens harder than others), Adam. Plain gradient ascent is enough here.

Covered
    The same seed gives the same bytes, on one machine with one NumPy.
Not covered
    Two machines: the last bits of a matrix product may differ, and some hundred updates on, what is drawn.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from course.errors import UserError
from course.policies.demonstrations import demonstrate
from course.policies.presets import Baseline, Plan
from course.policies.sampling import drawn
from course.policies.softmax import Floats, Ints
from course.policies.token_policy import Completions, Policy, completions_of, gradient, log_probs, texts_of, untrained
from course.rubrics import Rubric
from course.text import visible

Example = dict[str, Any]  # as the scorer takes it: id, prompt, expected_answer
DEMONSTRATIONS = 256  # in a step of the supervised start
PURPOSES = ("weights", "demonstrations", "prompts", "completions", "measuring")  # each has a generator of its own


class Update(NamedTuple):
    """One step of N completions, with everything that went into it. objective = reward − kl_coef · drift, and

    advantage = objective − baseline.
    """

    step: int  # from 1 on
    prompts: Ints  # [N] which example each completion answers
    completions: Completions
    texts: list[str]
    reward: Floats  # [N] the rubric's
    drift: Floats  # [N] log p − log p_ref of the completion; 0 where the leash is off
    baseline: Floats  # [N] the one that this step used
    advantage: Floats  # [N]
    policy: Policy  # before
    new_policy: Policy  # after


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A generator for one purpose: to draw more for the one changes nothing for the others."""
    return np.random.default_rng([seed, PURPOSES.index(purpose)])


def imitate(examples: Sequence[Example], plan: Plan, seed: int) -> Iterator[Policy]:
    """The supervised start: raise the log-probability of demonstrations, new ones in each step. Yields each policy."""
    prompts = [example["prompt"] for example in examples]
    answers = [example["expected_answer"] for example in examples]
    policy = untrained(prompts, plan.width, plan.hidden, plan.limit, generator(seed, "weights"))
    view, rng = policy.view(prompts), generator(seed, "demonstrations")
    yield policy
    for _ in range(plan.sft_steps):
        shown = rng.integers(len(examples), size=DEMONSTRATIONS)
        written = completions_of(policy.pieces, demonstrate(answers, shown, rng))
        push = np.full(DEMONSTRATIONS, 1 / DEMONSTRATIONS)
        policy = policy.moved(gradient(policy, view[shown], written, push), plan.sft_lr)
        yield policy


def learn(reference: Policy, examples: Sequence[Example], rubric: Rubric, plan: Plan, seed: int) -> Iterator[Update]:
    """Loop C, whole: rollouts → rewards → advantages → update, from the reference on.

    Raises UserError where the rubric pays what is no finite number.
    """
    policy, view = reference, reference.view([example["prompt"] for example in examples])
    choose, write = generator(seed, "prompts"), generator(seed, "completions")
    earlier = 0.0  # mean objective of the steps before
    for step in range(1, plan.steps + 1):
        chosen = choose.choice(len(examples), min(plan.prompts_a_step, len(examples)), replace=False)
        prompts = np.repeat(chosen, plan.group_size)

        completions = drawn(policy, view[prompts], write.random((len(prompts), plan.limit)))
        texts = texts_of(policy.pieces, completions)
        reward = paid(rubric, [examples[prompt] for prompt in prompts.tolist()], texts)

        drift = np.zeros(len(prompts))
        if plan.kl_coef:
            ours, theirs = (log_probs(one, view[prompts], completions) for one in (policy, reference))
            drift = (ours - theirs).sum(axis=1)
        objective = reward - plan.kl_coef * drift
        baseline = baseline_of(plan.baseline, objective, plan.group_size, earlier)
        advantage = objective - baseline

        direction = gradient(policy, view[prompts], completions, advantage / len(prompts))
        new = policy.moved(direction, plan.lr)
        yield Update(step, prompts, completions, texts, reward, drift, baseline, advantage, policy, new)
        policy = new
        earlier += (float(objective.mean()) - earlier) / step


def baseline_of(kind: Baseline, objective: Floats, group_size: int, earlier: float) -> Floats:
    """[N] what each objective is compared with. No completion's own enters its baseline: that would bias the gradient.

    ``running``: the mean of the steps before. ``group``: the mean of the other completions of the same prompt (Kool et
    al. 2019); GRPO's mean over the whole group gives the same advantage times (G − 1) / G.
    """
    if kind != "group":
        return np.full(len(objective), earlier if kind == "running" else 0.0)
    if group_size < 2:
        raise ValueError("a group needs at least two completions to be compared with each other")
    groups = objective.reshape(-1, group_size)
    others = (groups.sum(axis=1, keepdims=True) - groups) / (group_size - 1)
    return np.asarray(others.ravel())


def paid(rubric: Rubric, examples: Sequence[Example], texts: Sequence[str]) -> Floats:
    """[N] what the rubric pays. It is asked once about each text for a prompt: a policy repeats itself more and more.

    Raises UserError for what is no finite number: that would enter every weight.
    """
    answers = [(example["id"], text) for example, text in zip(examples, texts, strict=True)]
    asked = dict(zip(answers, examples, strict=True))
    rewards = {answer: rubric(example, answer[1])["reward"] for answer, example in asked.items()}
    for (id_, text), reward in rewards.items():
        if not isinstance(reward, float) or not isfinite(reward):
            got = reward if isinstance(reward, float) else f"one of type {type(reward).__name__}"
            raise UserError(
                f"rubric {getattr(rubric, '__name__', '')}: expected a finite float as reward, got {got} for "
                f"'{visible(text[:60])}' as the answer to {visible(id_[:60])}; mend the rubric"
            )
    return np.array([rewards[answer] for answer in answers])
