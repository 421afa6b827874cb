"""REINFORCE on tokens: the loop of ``toy_mdp``, plus tokens.

One step: choose prompts; let the policy write ``group_size`` completions of each; hand their texts to the rubric;
compare each return with a baseline; raise the log-probability of every token of the completions that were better than
that, and lower it in those that were worse. One number, the advantage, multiplies all tokens of a completion: that is
how a reward at the end reaches the first token (with no discount and no reward on the way, the return-to-go is the
same number at every token).

Left out of what large systems do: PPO's ratios and clipping (a sample is used once, by the policy that wrote it),
GAE and a critic (the baseline is a mean), the two divisions of GRPO as published, by the group's standard deviation and
by the length (either would weigh some prompts or some tokens more than others), Adam. Plain gradient ascent is enough
here.

The demonstrations that a policy is fine-tuned on first are by a careless hand: wrong often enough, in value and in
form, that a policy which imitates them is mediocre on purpose. There is something to learn, and something to exploit.
Now and then a demonstration names two numbers. No demonstration lists more, and none shows what a verifier overlooks.

Covered
    The same seed gives the same bytes, on one machine with one NumPy.
Not covered
    Two machines: the last bits of a matrix product may differ, and some hundred updates later so do the completions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from course.datasets.records import Task
from course.errors import UserError
from course.policies.own_step import OwnStep
from course.policies.reinforce import leave_one_out, running_mean
from course.policies.softmax import Floats, Ints
from course.policies.token_policy import (
    Completions,
    Policy,
    Weights,
    gradient,
    initial_policy,
    log_ratio,
    sample_completions,
)
from course.policies.train_config import TrainConfig
from course.rubrics import Rubric
from course.text import clipped

CORRECT = 0.45  # how often a demonstration has the prompt's own answer; else it has that of another prompt
FORM_COUNTS = {  # {value}, and {other}: any prompt's answer -> how often in 20 demonstrations
    "Final: {value}": 9,
    "The answer is {value}.": 3,
    "{value}": 2,
    "Final: {value}.": 2,
    "Final:{value}": 1,
    "{other}\nFinal: {value}": 1,
    "{other} {value}": 1,
    "{other}\n{value}": 1,
}
FORMS = [form for form, count in FORM_COUNTS.items() for _ in range(count)]
DEMONSTRATIONS = 256  # in a step of supervised fine-tuning
PURPOSES = (  # each has a generator of its own; another order would be other draws
    "weights",
    "demonstrations",
    "prompts",
    "completions",
    "evaluation",
    "errors",
    "bootstrap",
)


class TokenUpdate(NamedTuple):
    """One step of N completions, with everything that went into it."""

    policy: Policy  # before
    chosen: Ints  # [N] which example each completion answers
    completions: Completions
    texts: list[str]
    reward: Floats  # [N] the rubric's, with its random errors
    log_ratio: Floats  # [N] log p − log p_reference of the completion; 0 where kl_coef is 0
    baseline: Floats | float  # the one that this step used: [N], or one for all
    advantage: Floats  # [N] reward − kl_coef · log_ratio − baseline
    direction: Weights  # mean of advantage · ∂ log p(completion) / ∂ weights
    new_policy: Policy  # after


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A generator for one purpose: to draw more for the one changes nothing for the others."""
    return np.random.default_rng([seed, PURPOSES.index(purpose)])


def demonstrate(answers: Sequence[int], chosen: Ints, rng: np.random.Generator) -> list[str]:
    """A completion for each chosen prompt. ``answers``: of all prompts; ``chosen``: [N] indices into them."""
    count = len(chosen)
    correct = rng.random(count) < CORRECT
    others = rng.integers(len(answers), size=(count, 2))
    forms = rng.integers(len(FORMS), size=count)
    return [
        FORMS[form].format(value=answers[own if right else wrong], other=answers[other])
        for own, right, (wrong, other), form in zip(chosen, correct, others, forms, strict=True)
    ]


def fine_tune(
    examples: Sequence[Task], config: TrainConfig, seed: int, progress: Callable[[range], Iterable[int]] = iter
) -> Policy:
    """Supervised fine-tuning: raise the log-probability of demonstrations, new ones in each step.

    The result is the reference policy that ``learn`` starts from. ``progress``: shows a person how far it is.
    """
    np.empty(4_000_000)  # glibc reuses freed blocks as large as the largest yet freed: saves a third of the time
    prompts = [example["prompt"] for example in examples]
    answers = [example["expected_answer"] for example in examples]
    policy = initial_policy(prompts, config.width, config.hidden, config.max_tokens, generator(seed, "weights"))
    tokens = policy.encode_prompts(prompts)
    rng = generator(seed, "demonstrations")
    credit = np.full((DEMONSTRATIONS, 1), 1 / DEMONSTRATIONS)
    for _ in progress(range(config.sft_steps)):
        chosen = rng.integers(len(examples), size=DEMONSTRATIONS)
        completions = policy.encode_completions(demonstrate(answers, chosen, rng))
        policy = policy.apply_gradient(gradient(policy, tokens[chosen], completions, credit), config.sft_lr)
    return policy


def learn(
    reference: Policy, examples: Sequence[Task], rubric: Rubric, config: TrainConfig, seed: int
) -> Iterator[TokenUpdate]:
    """Loop C with tokens: many completions a step, a network for theta, and a KL penalty if kl_coef is not 0.

    Raises UserError where the rubric's reward is no finite number, ValueError for a group of one and baseline "group".
    """
    policy, mean_return = reference, 0.0
    known: dict[tuple[str, str], float] = {}
    prompts = policy.encode_prompts([example["prompt"] for example in examples])
    for step, (chosen, u, coin) in enumerate(draws(len(examples), config, seed), 1):
        prompt = prompts[chosen]
        completions = sample_completions(policy, prompt, u)
        texts = policy.decode_completions(completions)
        paid = rewards(rubric, [examples[i] for i in chosen], texts, known)
        reward = add_errors(paid, coin, config.false_positives, config.false_negatives)
        ratio = log_ratio(policy, reference, prompt, completions) if config.kl_coef else np.zeros(len(chosen))
        return_ = reward - config.kl_coef * ratio
        baseline = leave_one_out(return_, config.group_size) if config.baseline == "group" else mean_return
        advantage = return_ - baseline
        direction = gradient(policy, prompt, completions, advantage[:, None] / len(chosen))
        new_policy = policy.apply_gradient(direction, config.lr)
        yield TokenUpdate(policy, chosen, completions, texts, reward, ratio, baseline, advantage, direction, new_policy)
        policy = new_policy
        if config.baseline == "running":
            mean_return = running_mean(mean_return, return_.mean(), step)


def learn_by_own_step(
    own_step: OwnStep, reference: Policy, examples: Sequence[Task], rubric: Rubric, config: TrainConfig, seed: int
) -> Iterator[Policy]:
    """The policy after each update, on the draws of ``learn``. A student's function does all of the update."""
    policy = reference
    for step, (chosen, u, _) in enumerate(draws(len(examples), config, seed), 1):
        policy = own_step(step, policy, reference, [examples[i] for i in chosen], u, rubric, config)
        yield policy


def draws(count: int, config: TrainConfig, seed: int) -> Iterator[tuple[Ints, Floats, Floats]]:
    """What chance decides in each step: [N] which of ``count`` examples are answered, and uniform draws.

    [N, T] of these are for the tokens, [N] for the verifier's random errors.
    """
    prompt_rng = generator(seed, "prompts")
    token_rng = generator(seed, "completions")
    error_rng = generator(seed, "errors")
    for _ in range(config.steps):
        chosen = prompt_rng.choice(count, min(config.prompts_a_step, count), replace=False)
        chosen = np.repeat(chosen, config.group_size)
        yield chosen, token_rng.random((len(chosen), config.max_tokens)), error_rng.random(len(chosen))


def add_errors(reward: Floats, coin: Floats, false_positives: float, false_negatives: float) -> Floats:
    """[N] the 0/1 rewards of a verifier that errs at random: some of them flipped, at these rates.

    ``coin``: [N] draws from [0, 1), one for each completion, so that an error does not depend on the text. A hackable
    rubric errs by a rule instead.
    """
    rate = np.where(reward > 0, false_negatives, false_positives)
    return np.where(coin < rate, 1 - reward, reward)


def rewards(
    rubric: Rubric, examples: Sequence[Task], texts: Sequence[str], known: dict[tuple[str, str], float] | None = None
) -> Floats:
    """[N] the rubric's reward of each text. It is asked once per prompt and text: a policy repeats itself.

    ``known``: what it said of which id and text before; what it says now is added. Raises UserError for a reward that
    is no finite number: it would enter every weight.
    """
    known = {} if known is None else known
    keys = [(example["id"], text) for example, text in zip(examples, texts, strict=True)]
    for (id_, text), example in dict(zip(keys, examples, strict=True)).items():
        if (id_, text) not in known:
            reward = rubric(example, text)["reward"]
            if not isinstance(reward, float) or not isfinite(reward):
                got = reward if isinstance(reward, float) else f"one of type {type(reward).__name__}"
                raise UserError(
                    f"rubric {getattr(rubric, '__name__', '')}: expected a finite float as reward, got {got} for "
                    f"'{clipped(text, 60)}' as the answer to {clipped(id_, 60)}; mend the rubric"
                )
            known[id_, text] = reward
    return np.array([known[key] for key in keys])
