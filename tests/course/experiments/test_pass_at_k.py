"""pass@k before and after learning, against numbers written by hand.

The worked example. Of 4 samples of a prompt 1 was right before learning and of another one also 1; afterwards all 4 of
the first and none of the second. pass@1 rises from .25 to .5, pass@2 stays .5, and pass@3 falls from .75 to .5: the
curves cross at k = 3.

An example: a policy whose curves cross at k = 3, somewhere from 2 on, has the row "3" and "2 to none".

As a figure: the curves cross at k = 50. There stands a dotted line, and over the 95 % interval, from 2 on, a shade.
"""

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from reporting import points_of_lines
from tiny_policies import contexts, next_p, seen_of, tiny

from course.artifacts.token_rows import CountedSamples
from course.experiments import pass_at_k
from course.experiments.pass_at_k import (
    LearningEffect,
    compare_policies,
    compare_splits,
    crossing,
    pass_at_k_figure,
    pass_at_k_text,
    pass_at_ks,
    sample_and_count,
)
from course.policies.token_policy import sample_texts

FALLS = LearningEffect(
    25, [k / 200 for k in range(1, 129)], [0.25] * 128, 0.875, 0.0625, 50, (2, None), -0.39, (-0.5, 0.01)
)
HOLDS = FALLS._replace(prompts=75, after=[1.0] * 128, crossing=None, crossing_ci95=(None, None), last_gain=0.36)


def test_two_rows_for_each_set_of_prompts_and_one_for_its_crossing() -> None:
    lines = pass_at_k_text({"memorise, holdout": FALLS, "generalise, train": HOLDS}, 600, 256, 5).split("\n")
    assert max(map(len, lines)) <= 80
    assert "strict scorer, 600 updates, 256 completions a prompt, seeds: 5" in lines
    before, after, crossing = (line.split()[2:] for line in lines if line.startswith("memorise, holdout"))
    assert before == ["before", "0.5", "%", "4.0", "%", "16.0", "%", "64.0", "%", "0.88"]
    assert after == ["after", "25.0", "%", "25.0", "%", "25.0", "%", "25.0", "%", "0.06"]
    assert crossing == ["25", "50", "2", "to", "none", "-39.0", "points", "-50.0", "to", "+1.0"]
    *_, none = (line.split()[2:] for line in lines if line.startswith("generalise, train"))
    assert none[:4] == ["75", "none", "none", "+36.0"]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_each_set_of_prompts_has_a_panel(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    made: list[Any] = []
    monkeypatch.setattr(pass_at_k, "png", made.append)
    pass_at_k_figure({f"prompts {i}": FALLS if i == 0 else HOLDS for i in range(count)})
    falls, *others = made[0].axes[:count]
    points = points_of_lines(falls)
    assert points["before learning"] == [(k, k / 200) for k in range(1, 129)]
    assert points["after"] == [(k, 0.25) for k in range(1, 129)]
    assert [x for x, _ in points["lower from here on, and its 95 % interval"]] == [50, 50]
    (shade,) = falls.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (2, 128)
    for holds in others:
        assert list(points_of_lines(holds)) == ["before learning", "after"]
        assert not holds.patches


def test_the_completions_are_the_policys_and_the_entropy_is_that_of_their_next_tokens() -> None:
    policy = tiny(max_tokens=3)
    example = {"id": "q", "prompt": "bab", "expected_answer": 1}
    counted, entropy = sample_and_count(policy, example, 256, np.random.default_rng(5))
    texts = sample_texts(policy, ["bab"] * 256, np.random.default_rng(5))
    assert counted == Counter(texts)
    entropies = []
    for text in texts:
        tokens = [" ab".index(char) for char in text] + [0]
        for context in contexts(policy, seen_of(policy, "bab"), tokens[:3]):
            next_tokens = next_p(policy, context)
            entropies.append(-sum(p * math.log(p) for p in next_tokens))
    assert entropy == pytest.approx(sum(entropies) / len(entropies))


def counts(
    correct: list[int], *, step: int = 0, n: int = 4, seed: int = 0, entropy: float = 0.5
) -> list[CountedSamples]:
    return [CountedSamples("tiny", seed, step, "train", f"q{i}", n, c, entropy) for i, c in enumerate(correct)]


def compared(before: list[int], after: list[int], last: int = 4) -> LearningEffect:
    return compare_policies(counts(before), counts(after, step=9, entropy=0.25), last, np.random.default_rng(0))


def test_the_worked_example() -> None:
    comparison = compared([1, 1], [4, 0])
    assert comparison.before == [0.25, 0.5, 0.75, 1.0]
    assert comparison.after == [0.5] * 4
    assert (comparison.prompts, comparison.crossing, comparison.last_gain) == (2, 3, -0.5)
    assert (comparison.entropy_before, comparison.entropy_after) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ([1, 0, -1, -2], 3),
        ([-1, -1], 1),
        ([-1, 1, -1], 3),
        ([-1, 0], None),
        ([0, 0], None),
        ([1, 2], None),
    ],
)
def test_it_is_the_k_from_which_on_all_are_lower(gain: list[float], expected: int | None) -> None:
    assert crossing(gain) == crossing(np.array(gain)) == expected


def test_each_pass_at_k_is_the_share_of_all_subsets_that_hold_a_right_one_and_seeds_are_averaged() -> None:
    correct = {0: [2, 0], 1: [5, 1]}  # seed -> of 5 samples, for each of two prompts
    rows = [row for seed in correct for row in counts(correct[seed], n=5, seed=seed)]
    values = pass_at_ks(rows, 5)
    for prompt in range(2):
        for k in range(1, 6):
            shares = []
            for seed in correct:
                is_right = [sample < correct[seed][prompt] for sample in range(5)]
                shares.append(np.mean([any(subset) for subset in combinations(is_right, k)]))
            assert values[prompt, k - 1] == pytest.approx(np.mean(shares), abs=1e-12)


def test_the_intervals_hold_what_is_sure_and_are_wide_where_little_is() -> None:
    sure = compared([4] * 30, [0] * 30)
    assert (sure.crossing, sure.crossing_ci95, sure.last_gain_ci95) == (1, (1, 1), (-1.0, -1.0))
    better = compared([0] * 30, [4] * 30)
    assert (better.crossing, better.crossing_ci95) == (None, (None, None))
    # Half of the prompts gain all and half lose all: whether more gain or lose is a toss-up. √(1/30) · 1.96 = .358.
    low, high = compared([4] * 15 + [0] * 15, [0] * 15 + [4] * 15).last_gain_ci95
    assert low == pytest.approx(-0.358, abs=0.05)
    assert high == pytest.approx(0.358, abs=0.05)
    assert compared([4] * 15 + [0] * 15, [0] * 15 + [4] * 15).crossing_ci95 == (1, None)


def test_the_prompts_are_drawn_in_pairs() -> None:
    # Each prompt loses a quarter: however different the prompts are, the loss is the same in each resample.
    assert compared([4, 1] * 10, [3, 0] * 10, last=1).last_gain_ci95 == pytest.approx((-0.25, -0.25))


def test_each_preset_and_split_is_compared_with_itself() -> None:
    rows = counts([1, 1])
    rows += [CountedSamples("tiny", 0, 0, "holdout", "h0", 4, 4, 0.1)]
    rows += [CountedSamples("tiny", 0, 9, "holdout", "h0", 4, 0, 0.1)]
    rows += counts([4, 0], step=9)
    compared = compare_splits(rows, 4, np.random.default_rng(0))
    assert {name: comparison.crossing for name, comparison in compared.items()} == {
        "tiny, train": 3,
        "tiny, holdout": 1,
    }
