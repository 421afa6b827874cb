"""REINFORCE on tokens: every identity of an update, recomputed; its mean against exact derivatives; fine-tuning.

The worked example. A group of two completions of one prompt has the rewards 1 and 0. Each is compared with the other:
the baselines are 0 and 1, the advantages +1 and −1. The update raises the log-probability of the first and lowers that
of the second, and every token of a completion is multiplied by the same advantage.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tiny_policies import (
    PROMPTS,
    all_completions,
    assert_close,
    gradient_by_loops,
    log_p,
    same_bits,
    seen_of,
    slopes,
    stacked,
    tiny,
    unstacked,
)

from course.errors import UserError
from course.policies.reinforce import leave_one_out
from course.policies.softmax import Floats, Ints
from course.policies.token_learner import (
    DEMONSTRATIONS,
    PURPOSES,
    TokenUpdate,
    demonstrate,
    fine_tune,
    generator,
    learn,
    rewards,
)
from course.policies.token_policy import Policy, Weights, gradient, log_probs, sample_completions
from course.policies.train_config import Baseline, TrainConfig
from course.text import visible

EXAMPLES = [{"id": f"q{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate([*PROMPTS, "bb"])]
CONFIG = TrainConfig(
    "",
    None,
    sft_steps=0,
    sft_lr=0.0,
    steps=5,
    prompts_a_step=3,
    group_size=4,
    lr=0.1,
    baseline="group",
    kl_coef=0.3,
    max_tokens=5,
    width=2,
    hidden=3,
)
REFERENCE = tiny(max_tokens=5)
BASELINES: list[Baseline] = ["none", "running", "group"]


def some(example: dict[str, Any], text: str) -> dict[str, Any]:
    """Different for each prompt, and for most texts."""
    return {"reward": text.count("a") - 0.7 * text.count("b") + 0.1 * example["expected_answer"], "details": {}}


def in_turn(values: Iterable[object]) -> Any:
    """A rubric with these rewards, one after the other, whatever it is shown."""
    left = iter(values)

    def next_one(_example: dict[str, Any], _text: str) -> dict[str, Any]:
        return {"reward": next(left)}

    return next_one


def always(reward: object) -> Any:
    def flat(example: dict[str, Any], text: str) -> dict[str, Any]:
        return {"reward": reward, "details": {"example": example["id"], "text": text}}

    return flat


def updates(seed: int = 0, rubric: Any = some, **changes: Any) -> list[TokenUpdate]:
    return list(learn(REFERENCE, EXAMPLES, rubric, CONFIG._replace(**changes), seed))


def each(baseline: Baseline, kl_coef: float) -> Iterator[tuple[TokenUpdate, list[list[int]], list[list[int]]]]:
    """Each update, with its completions as rows and what is seen of the prompts."""
    for update in updates(baseline=baseline, kl_coef=kl_coef):
        seen = [seen_of(REFERENCE, EXAMPLES[prompt]["prompt"]) for prompt in update.chosen.tolist()]
        yield update, unstacked(update.completions), seen


def text_of(row: list[int]) -> str:
    return "".join("?ab"[token] for token in row if token)


def mean_of_the_others(values: list[float], row: int) -> float:
    """Of the group of 4 that this row is in."""
    start = row // 4 * 4
    others = [values[other] for other in range(start, start + 4) if other != row]
    return float(np.mean(others))


def test_the_worked_example() -> None:
    first_of_two = in_turn([1.0, 0.0])
    config = CONFIG._replace(steps=1, prompts_a_step=1, group_size=2, kl_coef=0.0)
    (update,) = learn(REFERENCE, EXAMPLES, first_of_two, config, 4)
    assert update.texts[0] != update.texts[1]
    assert np.broadcast_to(update.baseline, 2).tolist() == [0.0, 1.0]
    assert update.advantage.tolist() == [1.0, -1.0]
    seen = seen_of(REFERENCE, EXAMPLES[update.chosen[0]]["prompt"])
    better, worse = unstacked(update.completions)
    assert log_p(update.new_policy, seen, better) > log_p(REFERENCE, seen, better)
    assert log_p(update.new_policy, seen, worse) < log_p(REFERENCE, seen, worse)


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("kl_coef", [0.0, 0.3])
def test_in_every_update_each_number_follows_from_the_ones_before_it(baseline: Baseline, kl_coef: float) -> None:
    means: list[float] = []
    for update, rows, seen in each(baseline, kl_coef):
        texts = [text_of(row) for row in rows]
        assert update.texts == texts
        examples = [EXAMPLES[prompt] for prompt in update.chosen.tolist()]
        assert update.reward.tolist() == [some(*pair)["reward"] for pair in zip(examples, texts, strict=True)]

        ratio = [log_p(update.policy, *pair) - log_p(REFERENCE, *pair) for pair in zip(seen, rows, strict=True)]
        assert update.log_ratio.tolist() == (pytest.approx(ratio, abs=1e-12) if kl_coef else [0.0] * len(rows))
        objective = update.reward - kl_coef * update.log_ratio
        assert update.advantage.tolist() == (objective - update.baseline).tolist()  # exactly

        others = [mean_of_the_others(objective.tolist(), row) for row in range(len(rows))]
        earlier = math.fsum(means) / len(means) if means else 0.0
        expected = {"none": [0.0] * 12, "running": [earlier] * 12, "group": others}[baseline]
        assert np.broadcast_to(update.baseline, 12).tolist() == pytest.approx(expected, abs=1e-12)
        means.append(float(np.mean(objective)))

        weight = [advantage / 12 for advantage in update.advantage.tolist()]
        direction = gradient_by_loops(update.policy, seen, rows, weight)
        assert_close(update.direction, direction, 1e-12)
        stepped = [old + 0.1 * change for old, change in zip(update.policy.weights, direction, strict=True)]
        assert_close(update.new_policy.weights, stepped, 1e-12)
        assert not same_bits(update.policy, update.new_policy)
    assert len(means) == 5


def test_each_update_begins_where_the_last_one_ended_and_the_first_at_the_reference() -> None:
    done = updates()
    assert len(done) == 5
    assert same_bits(done[0].policy, REFERENCE)
    assert same_bits(REFERENCE, tiny(max_tokens=5))
    for before, after in pairwise(done):
        assert same_bits(before.new_policy, after.policy)


def test_the_policy_that_learns_is_the_one_that_writes() -> None:
    draws = generator(0, "completions")
    for update in updates(lr=20.0):
        view = update.policy.encode_prompts([EXAMPLES[prompt]["prompt"] for prompt in update.chosen.tolist()])
        u = draws.random((12, 5))
        written = unstacked(sample_completions(update.policy, view, u))
        assert unstacked(update.completions) == written
    assert unstacked(sample_completions(REFERENCE, view, u)) != written


def test_the_prompts_of_a_step_are_distinct_and_each_has_one_group_of_neighbours() -> None:
    met = set()
    for update in updates(steps=40):
        groups = update.chosen.reshape(3, 4)
        assert (groups == groups[:, :1]).all()
        assert len(set(groups[:, 0].tolist())) == 3
        met.add(frozenset(groups[:, 0].tolist()))
    assert len(met) == 10  # of 5 prompts every 3


def test_more_prompts_a_step_than_there_are_means_all_of_them() -> None:
    for update in updates(prompts_a_step=99, group_size=2):
        assert sorted(update.chosen.tolist()) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_the_completions_end_at_the_limit_of_the_plan() -> None:
    lengths = [length for update in updates(max_tokens=2) for length in update.completions.lengths.tolist()]
    assert set(lengths) == {1, 2}


def test_one_seed_gives_one_course_of_learning_and_another_seed_another() -> None:
    one, again, other = updates(3), updates(3), updates(4)
    for first, second in zip(one, again, strict=True):
        assert same_bits(first.new_policy, second.new_policy)
        assert first.texts == second.texts
        assert first.chosen.tolist() == second.chosen.tolist()
    assert not same_bits(one[-1].new_policy, other[-1].new_policy)
    assert one[0].texts != other[0].texts
    assert one[0].chosen.tolist() != other[0].chosen.tolist()


def test_the_prompts_drawn_depend_on_the_seed_alone_not_on_how_much_is_written() -> None:
    for one, other in zip(updates(), updates(max_tokens=2, group_size=2), strict=True):
        assert one.chosen[::4].tolist() == other.chosen[::2].tolist()


def test_a_step_in_which_nothing_is_pushed_leaves_the_policy_unchanged() -> None:
    for update in updates(rubric=always(1.0), kl_coef=0.0):
        assert not update.advantage.any()
        assert same_bits(update.new_policy, REFERENCE)
    pushed = updates(rubric=always(1.0), kl_coef=0.0, baseline="none")[-1].new_policy  # compared with nothing
    assert not same_bits(pushed, REFERENCE)


def is_short(_example: dict[str, Any], text: str) -> dict[str, Any]:
    return {"reward": float(len(text) < 2)}


def test_random_errors_come_at_their_rates_each_completion_for_itself_and_change_no_other_draw() -> None:
    wrong: list[bool] = []
    missed: list[bool] = []
    for update in updates(rubric=is_short, steps=200, lr=0.0, false_positives=0.3, false_negatives=0.1):
        for text, reward in zip(update.texts, update.reward.tolist(), strict=True):
            (missed if len(text) < 2 else wrong).append(reward != (len(text) < 2))
    assert min(len(wrong), len(missed)) > 500
    assert np.mean(wrong) == pytest.approx(0.3, abs=0.06)  # three standard errors
    assert np.mean(missed) == pytest.approx(0.1, abs=0.04)
    clean, noisy = (updates(rubric=is_short, false_positives=rate)[0] for rate in (0.0, 0.3))
    assert clean.texts == noisy.texts
    assert clean.reward.tolist() != noisy.reward.tolist()
    of_empty_texts = set()
    for update in updates(rubric=is_short, false_negatives=0.5):
        for text, reward in zip(update.texts, update.reward.tolist(), strict=True):
            if text == "":
                of_empty_texts.add(reward)
    assert of_empty_texts == {0.0, 1.0}  # equal texts, and not one error for all


def test_each_purpose_has_draws_of_its_own_and_a_seed_means_the_same_draws_for_good() -> None:
    first = {purpose: float(generator(7, purpose).random()) for purpose in PURPOSES}
    assert len(set(first.values())) == 7
    assert {purpose: float(generator(7, purpose).random()) for purpose in PURPOSES} == first
    named = ["weights", "demonstrations", "prompts", "completions", "evaluation", "errors", "bootstrap"]
    assert first == {name: float(np.random.default_rng([7, place]).random()) for place, name in enumerate(named)}


@pytest.mark.parametrize("reward", [0.0, 1.0])
@pytest.mark.parametrize("kl_coef", [0.0, 0.3])
def test_a_rubric_that_always_pays_the_same_teaches_a_group_nothing_at_all(reward: float, kl_coef: float) -> None:
    for update in updates(rubric=always(reward), baseline="group", kl_coef=kl_coef):
        assert not update.advantage.any()
        assert same_bits(update.new_policy, REFERENCE)


def test_a_rubric_that_never_pays_teaches_nothing_under_any_baseline() -> None:
    for baseline in BASELINES:
        assert same_bits(updates(rubric=always(0.0), baseline=baseline, kl_coef=0.0)[-1].new_policy, REFERENCE)


def test_without_a_baseline_a_rubric_that_always_pays_moves_the_policy_all_the_same() -> None:
    for update in updates(rubric=always(1.0), baseline="none", kl_coef=0.0):
        assert update.advantage.tolist() == [1.0] * 12
        assert not same_bits(update.policy, update.new_policy)


def test_with_the_running_baseline_it_moves_it_once_before_anything_is_known() -> None:
    done = updates(rubric=always(1.0), baseline="running", kl_coef=0.0)
    assert [update.baseline for update in done] == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert not same_bits(done[0].policy, done[0].new_policy)
    assert all(same_bits(update.policy, update.new_policy) for update in done[1:])


def test_texts_are_the_pieces_joined_without_what_is_beyond_the_end() -> None:
    policy = tiny(max_tokens=4)
    completions = sample_completions(policy, policy.encode_prompts(PROMPTS), np.random.default_rng(1).random((4, 4)))
    assert len(set(completions.lengths.tolist())) > 1
    for row, text in zip(unstacked(completions), policy.decode_completions(completions), strict=True):
        assert text == "".join(policy.vocabulary[token] for token in row)


WRONG: list[object] = [math.nan, math.inf, -math.inf, True, 1, 0, "1.0", None, np.float32(1.0), [1.0]]


@pytest.mark.parametrize("reward", WRONG, ids=repr)
def test_what_is_no_finite_number_is_never_learned_from(reward: object) -> None:
    with pytest.raises(UserError) as refusal:
        updates(rubric=always(reward))
    first = updates()[0]
    got = reward if isinstance(reward, float) else f"one of type {type(reward).__name__}"
    assert str(refusal.value) == (
        f"rubric flat: expected a finite float as reward, got {got} for {first.texts[0]!r} as the answer to "
        f"q{first.chosen[0]}; mend the rubric"
    )


def test_the_first_wrong_reward_is_named_with_the_completion_and_the_example_in_one_line() -> None:
    examples = [{"id": f"{name}\n{'x' * 99}"} for name in "abcd"]
    with pytest.raises(UserError) as refusal:
        rewards(in_turn([1.0, 0.0, math.nan, math.inf]), examples, ["", "", f"\n{'y' * 99}", ""])
    message = visible(str(refusal.value))  # as the command prints it
    assert message.startswith("rubric next_one: expected a finite float as reward, got nan for ")
    shown, asked = (
        f"{start}{letter * (59 - len(start))}…"
        for start, letter in [("<U+000A LINE FEED>", "y"), ("c<U+000A LINE FEED>", "x")]
    )
    assert f"for '{shown}' as the answer to {asked}; mend" in message  # each cut to 60 characters
    assert "\n" not in message


def test_a_rubric_without_a_name_is_refused_all_the_same() -> None:
    class Nameless:
        def __call__(self, example: dict[str, Any], text: str) -> dict[str, Any]:
            return {"reward": None, "details": [example, text]}

    with pytest.raises(
        UserError, match=r"^rubric : expected a finite float as reward, got one of type NoneType for 'x'"
    ):
        rewards(Nameless(), [{"id": "q"}], ["x"])


def test_finite_rewards_of_any_size_are_paid_as_they_are() -> None:
    values = [0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, np.float64(0.5)]
    found = rewards(in_turn(values), [{"id": "q"}] * 7, list("abcdefg"))
    assert found.dtype == np.float64
    assert found.tolist() == values


def test_the_rubric_is_asked_once_about_each_text_for_a_prompt() -> None:
    asked = []

    def rubric(example: dict[str, Any], text: str) -> dict[str, Any]:
        asked.append((example["id"], text))
        return {"reward": float(len(asked))}

    examples = [{"id": name} for name in "aabab"]
    assert rewards(rubric, examples, ["x", "x", "x", "y", "x"]).tolist() == [1.0, 1.0, 2.0, 3.0, 2.0]
    assert asked == [("a", "x"), ("b", "x"), ("a", "y")]


def test_in_a_training_the_rubric_is_asked_once_about_each_text_for_a_prompt() -> None:
    """So a rubric that changes its mind is held to its first word."""
    asked: list[tuple[str, str]] = []

    def rubric(example: dict[str, Any], text: str) -> dict[str, Any]:
        asked.append((example["id"], text))
        return {"reward": float(len(asked))}

    updates = list(learn(REFERENCE, EXAMPLES, rubric, CONFIG, 0))
    rewarded: list[tuple[tuple[str, str], float]] = []
    asked_anew_each_step = 0
    for step in updates:
        pairs = [(EXAMPLES[i]["id"], text) for i, text in zip(step.chosen, step.texts, strict=True)]
        rewarded += zip(pairs, step.reward.tolist(), strict=True)
        asked_anew_each_step += len(set(pairs))
    assert asked == list(dict.fromkeys(pair for pair, _ in rewarded))
    assert len(asked) < asked_anew_each_step
    assert all(reward == asked.index(pair) + 1.0 for pair, reward in rewarded)


@pytest.mark.parametrize("reward", [10**5000, np.zeros((2, 2))], ids=["five thousand digits", "two lines"])
def test_a_wrong_reward_of_any_kind_is_named_in_one_line(reward: object) -> None:
    with pytest.raises(UserError) as refusal:
        rewards(always(reward), [{"id": "q"}], ["x"])
    assert "\n" not in str(refusal.value)


# The mean update: everything that can be written, weighted by its probability, no sampling left.

POLICY, OTHER = tiny(0), tiny(1)
ROWS = list(all_completions(3, 3))
REWARDS = np.random.default_rng(5).choice([0.0, 1.0, 0.3, -2.0], len(ROWS))  # a reward for each of them
K = len(ROWS)


def chances(policy: Policy, prompt: str) -> Floats:
    seen = seen_of(policy, prompt)
    return np.array([math.exp(log_p(policy, seen, row)) for row in ROWS])


@cache
def exact(prompt: str) -> Weights:
    """∂J / ∂ weights by differences of J = Σ p(completion) · reward."""
    return slopes(lambda policy: float(chances(policy, prompt) @ REWARDS), POLICY)


def mean_estimate(prompt: str, group: int, return_: Floats, baselines: Floats) -> Weights:
    """Σ over all groups of p(group) · Σ_i advantage_i / N · ∂ log p(completion_i), as the update puts them together."""
    places = np.array(list(itertools.product(range(K), repeat=group)))  # [K^group, group]
    chance = chances(POLICY, prompt)[places].prod(axis=1)
    assert math.fsum(chance) == pytest.approx(1.0, abs=1e-12)
    weights = chance[:, None] * (return_[places] - baselines.reshape(places.shape)) / group
    rows = [ROWS[place] for place in places.ravel()]
    return gradient(POLICY, POLICY.encode_prompts([prompt] * len(rows)), stacked(3, rows), weights.reshape(-1, 1))


def groups_of(group: int, return_: Floats) -> Floats:
    """The return_s of all groups, one after the other: as many steps side by side."""
    return np.array(list(itertools.product(return_, repeat=group))).ravel()


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("kind", ["none", "running"])
def test_without_a_group_the_mean_estimate_is_the_derivative_of_expected_reward(prompt: str, kind: str) -> None:
    baselines = np.full(K, 0.0 if kind == "none" else 0.625)
    assert_close(mean_estimate(prompt, 1, REWARDS, baselines), exact(prompt), 1e-8)


@pytest.mark.parametrize(("prompt", "group"), [(prompt, 2) for prompt in PROMPTS] + [("bab", 3)])
def test_with_the_mean_of_the_others_in_the_group_it_is_too(prompt: str, group: int) -> None:
    baselines = leave_one_out(groups_of(group, REWARDS), group)
    assert_close(mean_estimate(prompt, group, REWARDS, baselines), exact(prompt), 1e-8)


@pytest.mark.parametrize("group", [2, 3])
def test_with_ones_own_reward_in_the_mean_it_is_too_small_by_the_factor_that_is_named(group: int) -> None:
    return_ = groups_of(group, REWARDS)
    whole = np.repeat(return_.reshape(-1, group).mean(axis=1), group)
    others = leave_one_out(return_, group)
    np.testing.assert_allclose(return_ - whole, (group - 1) / group * (return_ - others), atol=1e-14)
    shrunk = Weights(*((group - 1) / group * part for part in exact("a")))
    assert_close(mean_estimate("a", group, REWARDS, whole), shrunk, 1e-8)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_kl_penalty_in_the_return_is_the_derivative_of_the_kl_over_completions(prompt: str) -> None:
    beta, seen = 0.7, seen_of(POLICY, prompt)
    theirs = np.array([log_p(OTHER, seen, row) for row in ROWS])

    def penalised(policy: Policy) -> float:
        p = chances(policy, prompt)
        return float(p @ REWARDS - beta * (p @ (np.log(p) - theirs)))

    return_ = REWARDS - beta * (np.log(chances(POLICY, prompt)) - theirs)
    baselines = leave_one_out(groups_of(2, return_), 2)
    assert_close(mean_estimate(prompt, 2, return_, baselines), slopes(penalised, POLICY), 1e-8)


def test_a_group_of_one_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        updates(group_size=1)


# Supervised fine-tuning.

SUMS: list[dict[str, Any]] = [
    {"id": f"{a}+{b}", "prompt": f"Compute {a} + {b}.", "expected_answer": a + b} for a in range(1, 4) for b in (2, 7)
]
ANSWERS = [3, 8, 4, 9, 5, 10]
SFT_CONFIG = TrainConfig(
    "",
    None,
    sft_steps=3,
    sft_lr=0.5,
    steps=0,
    prompts_a_step=1,
    group_size=1,
    lr=0.0,
    baseline="none",
    kl_coef=0.0,
    max_tokens=12,
    width=3,
    hidden=5,
)


def demonstrated(seed: int, steps: int) -> list[tuple[Ints, list[str]]]:
    """The demonstrations of the first steps of a seed: which prompts, and the texts."""
    rng = generator(seed, "demonstrations")
    found = []
    for _ in range(steps):
        shown = rng.integers(len(SUMS), size=256)
        found.append((shown, demonstrate(ANSWERS, shown, rng)))
    return found


def log_likelihood(policy: Policy, shown: Ints, texts: list[str]) -> float:
    view = policy.encode_prompts([example["prompt"] for example in SUMS])[shown]
    return float(log_probs(policy, view, policy.encode_completions(texts)).sum(axis=1).mean())


def test_fine_tuning_begins_with_a_policy_that_writes_every_token_with_the_same_probability() -> None:
    first = fine_tune(SUMS, SFT_CONFIG._replace(sft_steps=0), 0)
    view = first.encode_prompts([SUMS[0]["prompt"]] * 2)
    texts = first.encode_completions(["Final: 3", "The answer is 7."])
    computed = log_probs(first, view, texts)
    assert computed[texts.mask].tolist() == pytest.approx([-math.log(len(first.vocabulary))] * 10, abs=1e-14)


def test_the_policy_has_the_sizes_of_the_plan_and_likelihoods_where_the_prompts_differ() -> None:
    first = fine_tune(SUMS, SFT_CONFIG._replace(sft_steps=0), 0)
    assert [len(first.weights.vectors.T), len(first.weights.hidden_bias), first.max_tokens] == [3, 5, 12]
    assert first.positions == (2, 6)  # Compute, space, digit, space, plus, space, digit, full stop


def test_each_step_is_one_of_maximum_likelihood_on_demonstrations_of_its_own() -> None:
    assert DEMONSTRATIONS == 256
    policies = [fine_tune(SUMS, SFT_CONFIG._replace(sft_steps=steps), 5) for steps in range(4)]
    for (before, after), (shown, texts) in zip(pairwise(policies), demonstrated(5, 3), strict=True):
        seen = before.encode_prompts([SUMS[prompt]["prompt"] for prompt in shown.tolist()]).tolist()
        rows = [[*before.vocabulary.encode(text), 0] for text in texts]
        direction = gradient_by_loops(before, seen, rows, [1 / 256] * 256)
        expected = [old + 0.5 * change for old, change in zip(before.weights, direction, strict=True)]
        assert_close(after.weights, expected, 1e-12)


def test_the_likelihood_of_demonstrations_it_never_saw_rises() -> None:
    policies = [fine_tune(SUMS, SFT_CONFIG._replace(sft_steps=steps), 0) for steps in (0, 40, 80, 120)]
    (shown, texts), *_ = demonstrated(99, 1)
    likelihoods = [log_likelihood(policy, shown, texts) for policy in policies]
    length = np.mean([len(policies[0].vocabulary.encode(text)) + 1 for text in texts])
    assert likelihoods[0] == pytest.approx(-length * math.log(len(policies[0].vocabulary)))
    assert all(later > earlier + 0.05 for earlier, later in pairwise(likelihoods))


def test_one_seed_gives_one_reference_policy_and_another_seed_another() -> None:
    one, again, other = (fine_tune(SUMS, SFT_CONFIG, seed) for seed in (1, 1, 2))
    assert same_bits(one, again)
    assert not same_bits(one, other)


def test_the_first_weights_come_from_draws_of_their_own() -> None:
    first = fine_tune(SUMS, SFT_CONFIG._replace(sft_steps=0), 7)
    shape = first.weights.vectors.shape
    assert first.weights.vectors.tolist() == np.random.default_rng([7, 0]).normal(0, 0.7, shape).tolist()
