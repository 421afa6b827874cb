"""What is printed of a run: only what its numbers bear out, in eighty columns, and nothing that a completion commands.

The worked example. A training on ``anywhere`` starts with the proxy 0.25 and ends with 0.996, a true reward of 0 and a
KL of 114.58; the true reward was highest at step 0. Its row reads: anywhere, 1.00, 0.00, …, 114.58, 0 (1/1).

An example: on one rubric the proxy rises to 1 while the true reward falls to 0. Both are lines of its panel, and a
dotted line stands where they diverge: at the step of the highest true reward.
"""

from typing import Any

import pytest
from msgspec.structs import replace
from reporting import canned, evaluation, points_of_lines
from scipy_when_asked import scipy

from course.artifacts.inference import divergence_step, exceeds
from course.artifacts.learning_rows import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow
from course.experiments import goodhart
from course.experiments.goodhart import (
    BASE,
    divergence_text,
    exploits_table,
    gain_table,
    goodhart_ending,
    goodhart_text,
    growing_table,
    increased,
    kl_coef_figure,
    rubrics_figure,
)
from course.policies.train_config import TrainConfig
from course.rubrics.hackable import RUBRICS

START = EvaluationRow(
    step=0, proxy_reward=0.25, true_reward=0.1, kl=0.0, mean_length=5.0, holdout_proxy_reward=0.0,
    holdout_true_reward=0.0, rubric="anywhere", kl_coef=0.0, seed=0, n=600, hack_rate=0.15, holdout_n=200,
    holdout_hack_rate=0.02, other_form_rate=0.0, holdout_other_form_rate=0.0,
)  # fmt: skip


def exploit(completion: str = "8\n9", prompt: str = "Compute 5 + 3. Answer with") -> LearningResult:
    example = {"id": "q1", "prompt": prompt, "expected_answer": 8}
    return learning_result(example, completion, 300, split="train", proxy_reward=1.0, kind="several")


def training(**end: Any) -> list[EvaluationRow]:
    """One training of 300 steps that ends with these numbers."""
    return [START, replace(START, step=300, **end)]


def words(text: str) -> str:
    assert max(map(len, text.split("\n"))) <= 80
    return " ".join(text.split())


def test_a_row_for_each_rubric() -> None:
    hacked = training(
        proxy_reward=0.996, true_reward=0.0, holdout_proxy_reward=0.531, holdout_true_reward=0.004, kl=114.58
    )
    said = words("\n".join(growing_table("trained on", ((name, [hacked]) for name in RUBRICS))))
    assert "without_punctuation 1.00 0.00 114.58 0 (1/1)" in said
    assert "anywhere 1.00 0.00" in said


def test_all_rubrics_fit_in_eighty_columns_with_many_seeds_too() -> None:
    hacked = training(proxy_reward=0.99, true_reward=0.0, kl=1114.58)
    seeds = [[replace(row, step=row.step + 100) for row in hacked]] * 12
    text = "\n".join(growing_table("trained on", dict.fromkeys(RUBRICS, seeds).items()))
    assert words(text).count("100 (12/12)") == len(RUBRICS)
    words(gain_table(dict.fromkeys(RUBRICS, [training(hack_rate=0.9, true_reward=0.9)] * 12)))


def test_diverged_says_in_how_many_seeds() -> None:
    diverged = training(proxy_reward=0.9, true_reward=0.0)
    never = training(proxy_reward=0.9, true_reward=0.9)
    assert divergence_text([diverged]) == "0 (1/1)"
    assert divergence_text([diverged, never, diverged]) == "0 (2/3)"
    assert divergence_text([never, never]) == "never"


def on(rubric: str, beta: float = 0.0) -> TrainConfig:
    return BASE._replace(rubric=rubric, kl_coef=beta)


def text_of(experiment: Any) -> str:
    return "\n".join(goodhart_text(experiment))


def test_the_report_has_every_part() -> None:
    hacked = training(proxy_reward=0.9, true_reward=0.0, hack_rate=0.9)
    calm = training(true_reward=0.5)
    both = {on("anywhere"): [hacked], on("anywhere", 0.1): [calm]}
    said = words(text_of(canned(both, exploits=[exploit()])))
    assert "trained on proxy true KL diverged at step" in said
    assert "anywhere Compute 5 + 3… 1.0 8⏎9" in said
    assert "beta proxy true KL diverged at step" in said
    assert said.count("0.90 0.00 0.00 0 (1/1)") == 2  # the rubric, and beta 0
    assert "exploited" not in text_of(canned(both))
    assert "beta" not in text_of(canned({on("anywhere"): [hacked]}))


def test_the_ending_has_what_the_holdout_says_and_in_how_many_they_diverged() -> None:
    hacked = training(proxy_reward=0.9, true_reward=0.0, hack_rate=0.9)
    calm = training(true_reward=0.5)
    said = goodhart_ending({"score": [calm], "anywhere": [hacked, calm], "cast": [calm, calm]})
    assert said.split("\n")[-2:] == [
        "proxy and true diverged in at least one seed on 1 of 2 wrong verifiers",
        "trained on the strict scorer, true went from 0.10 to 0.50",
    ]
    assert "on the holdout" in said
    assert "diverged" not in goodhart_ending({"score": [calm]})
    assert "strict" not in goodhart_ending({"anywhere": [hacked]})


def test_a_row_is_there_before_the_next_training_begins() -> None:
    experiment = canned({on("anywhere"): [training()], on("cast"): [training()]})
    parts = goodhart_text(experiment)
    assert next(parts).startswith("Loop C")
    assert "trained on" in next(parts)
    assert experiment.asked == []
    assert next(parts).split()[0] == "anywhere"
    assert experiment.asked == [on("anywhere")]


def test_one_exploit_among_many_completions_is_not_told_as_found() -> None:
    """A rubric whose policy learned no hack may still pay a stray completion that the scorer does not."""
    calm = training(proxy_reward=0.9, true_reward=0.9, hack_rate=0.15)
    assert "exploited" not in text_of(canned({on("suffix"): [calm]}, exploits=[exploit()]))


@pytest.mark.parametrize("hostile", ["\x1b[2Jgone", "\u202eabc", "[bold]x", "\r\rover", "9" * 5000, "\u2028"])
def test_a_completion_and_a_prompt_are_shown_and_not_obeyed(hostile: str) -> None:
    text = exploits_table({"without_punctuation": exploit(hostile, prompt=hostile)})
    words(text)
    assert len(text.splitlines()) == 3
    assert all(line.isprintable() for line in text.split("\n"))
    if hostile == "[bold]x":
        assert "[bold]x" in text


def test_what_generalised_to_the_holdout() -> None:
    along = training(hack_rate=0.95, holdout_hack_rate=0.42)
    stayed = training(hack_rate=0.95, holdout_hack_rate=0.03)
    nothing = training(hack_rate=0.16)
    skill = training(true_reward=0.9, holdout_true_reward=0.01)
    said = words(gain_table({"score": [skill], "anywhere": [along], "suffix": [stayed], "cast": [nothing]}))
    assert "the skill 0.10 -> 0.90 0.00 -> 0.01 only noise" in said
    assert "exploits: anywhere 0.15 -> 0.95 0.02 -> 0.42 50 %" in said
    assert "exploits: suffix 0.15 -> 0.95 0.02 -> 0.03 only noise" in said
    assert "cast" not in said
    learned = training(true_reward=0.9, holdout_true_reward=0.6)
    assert "the skill 0.10 -> 0.90 0.00 -> 0.60 75 %" in words(gain_table({"score": [learned]}))
    assert gain_table({"cast": [nothing]}).startswith("Nothing was learned")


def test_the_counts_of_all_seeds_decide_and_the_medians_are_shown() -> None:
    along = training(hack_rate=0.95, holdout_hack_rate=0.42)
    nothing = training(hack_rate=0.05)
    assert "exploits: cast 0.15 -> 0.95 0.02 -> 0.42 50 %" in words(gain_table({"cast": [nothing, along, along]}))
    assert gain_table({"cast": [nothing] * 3}).startswith("Nothing was learned")


TRAINING = [evaluation(0, 0.3, 0.2), evaluation(10, 0.6, 0.5, kl=1.0), evaluation(20, 1.0, 0.0, kl=4.0)]


def test_a_panel_has_both_rewards_and_the_step_where_they_diverge(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(goodhart, "png", made.append)
    rubrics_figure({"anywhere": [TRAINING]}, "step")
    points = points_of_lines(made[0].axes[0])
    assert points["proxy: the rubric's reward"] == [(0, 0.3), (10, 0.6), (20, 1.0)]
    assert points["true: the strict scorer's"] == [(0, 0.2), (10, 0.5), (20, 0.0)]
    assert [x for x, _ in points["reward hacking begins"]] == [10, 10]


def test_each_beta_has_its_ends_and_its_kl(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(goodhart, "png", made.append)
    kl_coef_figure({0.0: [TRAINING], 0.1: [TRAINING[:2]]})
    (axes,) = made[0].axes
    assert points_of_lines(axes)["true: the strict scorer's"] == [(0, 0.0), (1, 0.5)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0\n4", "0.1\n1"]


def evaluations(*rewards: tuple[float, float], **more: Any) -> list[EvaluationRow]:
    """Rows with these proxies and true rewards, ten steps apart."""
    return [
        replace(START, step=10 * place, proxy_reward=proxy, true_reward=true, **more)
        for place, (proxy, true) in enumerate(rewards)
    ]


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([(0.2, 0.1), (0.4, 0.3), (0.6, 0.2), (0.9, 0.0)], 10),  # up, then down while the proxy rises
        ([(0.2, 0.1), (0.6, 0.0), (0.9, 0.0)], 0),  # down from the start
        ([(0.2, 0.1), (0.3, 0.3), (0.4, 0.3), (0.9, 0.0)], 20),  # of two tops the last
        ([(0.2, 0.1), (0.5, 0.4), (0.9, 0.9)], None),  # both rise
        ([(0.1, 0.1), (0.9, 0.9), (0.1, 0.1)], None),  # both fall: the policy got worse, nothing diverged
        ([(0.2, 0.1), (0.9, 0.5), (0.9, 0.1)], None),  # the proxy is no higher than where the true reward was highest
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.26)], None),  # lower by what luck explains at n = 600
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.20)], 10),  # and by what it does not
        ([(0.2, 0.1)], None),
    ],
)
def test_where_they_diverge(rewards: list[tuple[float, float]], expected: int | None) -> None:
    assert divergence_step(evaluations(*rewards)) == expected


def test_the_same_rates_of_fewer_completions_are_noise() -> None:
    rewards = [(0.2, 0.1), (0.5, 0.30), (0.9, 0.20)]
    assert divergence_step(evaluations(*rewards, n=600)) == 10
    assert divergence_step(evaluations(*rewards, n=100)) is None


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(20, marks=pytest.mark.slow),
        pytest.param(200, marks=pytest.mark.slow),
        pytest.param(600, marks=pytest.mark.slow),
    ],
)
def test_more_means_that_two_wilson_intervals_do_not_touch(n: int) -> None:
    for low in range(0, n, max(1, n // 10)):
        for high in range(low, n + 1, max(1, n // 20)):
            ends = [scipy.stats.binomtest(k, n).proportion_ci(method="wilson") for k in (high, low)]
            more = [replace(START, true_reward=high / n, n=n)]
            less = [replace(START, true_reward=low / n, n=n)]
            assert exceeds(more, less, "true_reward") == (ends[0].low > ends[1].high)
            assert not exceeds(less, more, "true_reward")


def test_the_counts_of_seeds_are_added_up_and_a_holdout_share_has_the_holdouts_n() -> None:
    more = replace(START, hack_rate=0.24)
    less = replace(START, hack_rate=0.18)
    assert not exceeds([more], [less], "hack_rate")
    assert exceeds([more] * 3, [less] * 3, "hack_rate")
    more = replace(START, holdout_hack_rate=0.24)
    less = replace(START, holdout_hack_rate=0.16)
    assert not exceeds([more], [less], "holdout_hack_rate")
    assert exceeds([replace(more, holdout_n=600)], [replace(less, holdout_n=600)], "holdout_hack_rate")


def test_what_rose_is_the_end_against_the_start() -> None:
    assert increased([evaluations((0, 0.1), (0, 0.9), (0, 0.5))], "true_reward")
    assert not increased([evaluations((0, 0.1), (0, 0.9), (0, 0.1))], "true_reward")
    slowly = evaluations((0, 0.10), (0, 0.13))
    assert not increased([slowly], "true_reward")
    assert increased([slowly] * 9, "true_reward")
