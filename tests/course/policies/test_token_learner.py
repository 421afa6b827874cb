"""REINFORCE on tokens: every identity of an update, recomputed; and what stops it."""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tiny_policies import PROMPTS, assert_close, gradient_by_loops, log_p, same_bits, seen_of, tiny, unstacked

from course.errors import UserError
from course.policies.presets import Baseline, Plan
from course.policies.sampling import drawn
from course.policies.token_learner import PURPOSES, Update, generator, learn, paid
from course.policies.token_policy import texts_of

pytestmark = pytest.mark.medium

EXAMPLES = [{"id": f"q{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate([*PROMPTS, "bb"])]
PLAN = Plan(
    sft_steps=0,
    sft_lr=0.0,
    steps=5,
    prompts_a_step=3,
    group_size=4,
    lr=0.1,
    baseline="group",
    kl_coef=0.3,
    limit=5,
    width=2,
    hidden=3,
)
REFERENCE = tiny(limit=5)
BASELINES: list[Baseline] = ["none", "running", "group"]


def some(example: dict[str, Any], text: str) -> dict[str, Any]:
    """Different for each prompt, and for most texts."""
    return {"reward": text.count("a") - 0.7 * text.count("b") + 0.1 * example["expected_answer"], "details": {}}


def told(rewards: Iterable[object]) -> Any:
    """A rubric that pays these, one after the other, whatever it is shown."""
    left = iter(rewards)

    def next_one(_example: dict[str, Any], _text: str) -> dict[str, Any]:
        return {"reward": next(left)}

    return next_one


def always(reward: object) -> Any:
    def flat(example: dict[str, Any], text: str) -> dict[str, Any]:
        return {"reward": reward, "details": {"example": example["id"], "text": text}}

    return flat


def updates(seed: int = 0, rubric: Any = some, **changes: Any) -> list[Update]:
    return list(learn(REFERENCE, EXAMPLES, rubric, PLAN._replace(**changes), seed))


def each(baseline: Baseline, kl_coef: float) -> Iterator[tuple[Update, list[list[int]], list[list[int]]]]:
    """Each update, with its completions as rows and what is seen of the prompts."""
    for update in updates(baseline=baseline, kl_coef=kl_coef):
        seen = [seen_of(REFERENCE, EXAMPLES[prompt]["prompt"]) for prompt in update.prompts.tolist()]
        yield update, unstacked(update.completions), seen


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("kl_coef", [0.0, 0.3])
def test_in_every_update_each_number_follows_from_the_ones_before_it(baseline: Baseline, kl_coef: float) -> None:
    means: list[float] = []
    for update, rows, seen in each(baseline, kl_coef):
        texts = ["".join("?ab"[token] for token in row if token) for row in rows]
        assert update.texts == texts
        examples = [EXAMPLES[prompt] for prompt in update.prompts.tolist()]
        assert update.reward.tolist() == [some(*pair)["reward"] for pair in zip(examples, texts, strict=True)]

        drift = [log_p(update.policy, *pair) - log_p(REFERENCE, *pair) for pair in zip(seen, rows, strict=True)]
        assert update.drift.tolist() == (pytest.approx(drift, abs=1e-12) if kl_coef else [0.0] * len(rows))
        objective = update.reward - kl_coef * update.drift
        assert update.advantage.tolist() == (objective - update.baseline).tolist()  # exactly

        others = [
            np.mean([objective[other] for other in range(row // 4 * 4, row // 4 * 4 + 4) if other != row])
            for row in range(len(rows))
        ]
        earlier = math.fsum(means) / len(means) if means else 0.0
        expected = {"none": [0.0] * 12, "running": [earlier] * 12, "group": others}[baseline]
        assert update.baseline.tolist() == pytest.approx(expected, abs=1e-12)
        means.append(float(np.mean(objective)))

        push = [advantage / 12 for advantage in update.advantage.tolist()]
        direction = gradient_by_loops(update.policy, seen, rows, push)
        stepped = [old + 0.1 * change for old, change in zip(update.policy.weights, direction, strict=True)]
        assert_close(update.new_policy.weights, stepped, 1e-12)
        assert not same_bits(update.policy, update.new_policy)
    assert len(means) == 5


def test_each_update_begins_where_the_last_one_ended_and_the_first_at_the_reference() -> None:
    done = updates()
    assert [update.step for update in done] == [1, 2, 3, 4, 5]
    assert same_bits(done[0].policy, REFERENCE)
    assert same_bits(REFERENCE, tiny(limit=5))
    for before, after in pairwise(done):
        assert same_bits(before.new_policy, after.policy)


def test_the_policy_that_learns_is_the_one_that_writes() -> None:
    draws = generator(0, "completions")
    for update in updates(lr=20.0):
        view = update.policy.view([EXAMPLES[prompt]["prompt"] for prompt in update.prompts.tolist()])
        u = draws.random((12, 5))
        written = unstacked(drawn(update.policy, view, u))
        assert unstacked(update.completions) == written
    assert unstacked(drawn(REFERENCE, view, u)) != written


def test_the_prompts_of_a_step_are_distinct_and_each_has_one_group_of_neighbours() -> None:
    met = set()
    for update in updates(steps=40):
        groups = update.prompts.reshape(3, 4)
        assert (groups == groups[:, :1]).all()
        assert len(set(groups[:, 0].tolist())) == 3
        met.add(frozenset(groups[:, 0].tolist()))
    assert len(met) == 10  # of 5 prompts every 3


def test_more_prompts_a_step_than_there_are_means_all_of_them() -> None:
    for update in updates(prompts_a_step=99, group_size=2):
        assert sorted(update.prompts.tolist()) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_the_completions_end_at_the_limit_of_the_plan() -> None:
    lengths = [length for update in updates(limit=2) for length in update.completions.lengths.tolist()]
    assert set(lengths) == {1, 2}


def test_one_seed_gives_one_course_of_learning_and_another_seed_another() -> None:
    one, again, other = updates(3), updates(3), updates(4)
    for first, second in zip(one, again, strict=True):
        assert same_bits(first.new_policy, second.new_policy)
        assert first.texts == second.texts
        assert first.prompts.tolist() == second.prompts.tolist()
    assert not same_bits(one[-1].new_policy, other[-1].new_policy)
    assert one[0].texts != other[0].texts
    assert one[0].prompts.tolist() != other[0].prompts.tolist()


def test_the_prompts_drawn_depend_on_the_seed_alone_not_on_how_much_is_written() -> None:
    for one, other in zip(updates(), updates(limit=2, group_size=2), strict=True):
        assert one.prompts[::4].tolist() == other.prompts[::2].tolist()


def test_each_purpose_has_draws_of_its_own_and_a_seed_means_the_same_draws_for_good() -> None:
    first = {purpose: float(generator(7, purpose).random()) for purpose in PURPOSES}
    assert len(set(first.values())) == 5
    assert {purpose: float(generator(7, purpose).random()) for purpose in PURPOSES} == first
    named = ["weights", "demonstrations", "prompts", "completions", "measuring"]
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
    assert [update.baseline[0] for update in done] == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert not same_bits(done[0].policy, done[0].new_policy)
    assert all(same_bits(update.policy, update.new_policy) for update in done[1:])


def test_texts_are_the_pieces_joined_without_what_is_beyond_the_end() -> None:
    policy = tiny(limit=4)
    completions = drawn(policy, policy.view(PROMPTS), np.random.default_rng(1).random((4, 4)))
    assert len(set(completions.lengths.tolist())) > 1
    expected = ["".join(policy.pieces[token] for token in row) for row in unstacked(completions)]
    assert texts_of(policy.pieces, completions) == expected


WRONG: list[object] = [math.nan, math.inf, -math.inf, True, 1, 0, "1.0", None, np.float32(1.0), [1.0]]


@pytest.mark.parametrize("reward", WRONG, ids=repr)
def test_what_is_no_finite_number_is_never_learned_from(reward: object) -> None:
    with pytest.raises(UserError) as refusal:
        updates(rubric=always(reward))
    first = updates()[0]
    got = reward if isinstance(reward, float) else f"one of type {type(reward).__name__}"
    assert str(refusal.value) == (
        f"rubric flat: expected a finite float as reward, got {got} for {first.texts[0]!r} as the answer to "
        f"q{first.prompts[0]}; mend the rubric"
    )


def test_the_first_wrong_reward_is_named_with_the_completion_and_the_example_in_one_line() -> None:
    examples = [{"id": f"{name}\n{'x' * 99}"} for name in "abcd"]
    with pytest.raises(UserError) as refusal:
        paid(told([1.0, 0.0, math.nan, math.inf]), examples, ["", "", f"\n{'y' * 99}", ""])
    said = str(refusal.value)
    assert said.startswith("rubric next_one: expected a finite float as reward, got nan for ")
    assert f"'<U+000A LINE FEED>{'y' * 59}' as the answer to c<U+000A LINE FEED>{'x' * 58};" in said
    assert "\n" not in said


def test_a_rubric_without_a_name_is_refused_all_the_same() -> None:
    class Nameless:
        def __call__(self, example: dict[str, Any], text: str) -> dict[str, Any]:
            return {"reward": None, "details": [example, text]}

    with pytest.raises(
        UserError, match=r"^rubric : expected a finite float as reward, got one of type NoneType for 'x'"
    ):
        paid(Nameless(), [{"id": "q"}], ["x"])


def test_finite_rewards_of_any_size_are_paid_as_they_are() -> None:
    rewards = [0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, np.float64(0.5)]
    found = paid(told(rewards), [{"id": "q"}] * 7, list("abcdefg"))
    assert found.dtype == np.float64
    assert found.tolist() == rewards


def test_the_rubric_is_asked_once_about_each_text_for_a_prompt() -> None:
    asked = []

    def rubric(example: dict[str, Any], text: str) -> dict[str, Any]:
        asked.append((example["id"], text))
        return {"reward": float(len(asked))}

    examples = [{"id": name} for name in "aabab"]
    assert paid(rubric, examples, ["x", "x", "x", "y", "x"]).tolist() == [1.0, 1.0, 2.0, 3.0, 2.0]
    assert asked == [("a", "x"), ("b", "x"), ("a", "y")]


@pytest.mark.parametrize("reward", [10**5000, np.zeros((2, 2))], ids=["five thousand digits", "two lines"])
def test_a_wrong_reward_of_any_kind_is_named_in_one_line(reward: object) -> None:
    with pytest.raises(UserError) as refusal:
        paid(always(reward), [{"id": "q"}], ["x"])
    assert "\n" not in str(refusal.value)
