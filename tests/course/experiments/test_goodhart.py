"""What is printed of a run: only what its numbers bear out, in eighty columns, and nothing that a completion commands.

The worked example. A training on ``anywhere`` starts with the proxy 0.25 and ends with 0.996, a true reward of 0 and a
KL of 114.58; the true reward was highest at step 0. Its row reads: anywhere, 1.00, 0.00, …, 114.58, 0 (1/1).

An example: on one rubric the proxy rises to 1 while the true reward falls to 0. Both are lines of its panel, and a
dotted line stands where they diverge: at the step of the highest true reward.
"""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace
from reporting import completions, evaluation, points_of_lines

from course.artifacts.learning_rows import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow
from course.experiments import goodhart
from course.experiments.driver import Evaluation, Training
from course.experiments.goodhart import (
    BASE,
    SHARES,
    Learned,
    divergence_text,
    exploits_table,
    gain_table,
    goodhart_ending,
    goodhart_text,
    growing_table,
    kl_coef_figure,
    learned,
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


def row_of(
    *logs: list[EvaluationRow],
    diverged_at: int | None = None,
    gained: Sequence[str] = (),
    exploit: LearningResult | None = None,
) -> Learned:
    """A row of the table whose seeds have these logs."""
    return Learned(logs, [diverged_at] * len(logs), frozenset(gained), exploit)


def words(text: str) -> str:
    assert max(map(len, text.split("\n"))) <= 80
    return " ".join(text.split())


def test_a_row_for_each_rubric() -> None:
    hacked = training(
        proxy_reward=0.996, true_reward=0.0, holdout_proxy_reward=0.531, holdout_true_reward=0.004, kl=114.58
    )
    row = row_of(hacked, diverged_at=0)
    said = words("\n".join(growing_table("trained on", ((name, row) for name in RUBRICS))))
    assert "without_punctuation 1.00 0.00 114.58 0 (1/1)" in said
    assert "anywhere 1.00 0.00" in said


def test_all_rubrics_fit_in_eighty_columns_with_many_seeds_too() -> None:
    hacked = training(proxy_reward=0.99, true_reward=0.0, kl=1114.58)
    seeds = row_of(*[hacked] * 12, diverged_at=100)
    text = "\n".join(growing_table("trained on", dict.fromkeys(RUBRICS, seeds).items()))
    assert words(text).count("100 (12/12)") == len(RUBRICS)
    words(gain_table(dict.fromkeys(RUBRICS, row_of(*[training(hack_rate=0.9, true_reward=0.9)] * 12, gained=SHARES))))


def test_diverged_says_in_how_many_seeds() -> None:
    assert divergence_text([0]) == "0 (1/1)"
    assert divergence_text([0, None, 0]) == "0 (2/3)"
    assert divergence_text([None, None]) == "never"


def on(rubric: str, beta: float = 0.0) -> TrainConfig:
    return BASE._replace(rubric=rubric, kl_coef=beta)


def text_of(rows: dict[TrainConfig, Learned]) -> str:
    return "\n".join(goodhart_text(list(rows), rows.__getitem__))


def test_the_report_has_every_part() -> None:
    hacked = training(proxy_reward=0.9, true_reward=0.0, hack_rate=0.9)
    found = row_of(hacked, diverged_at=0, gained=["hack_rate"], exploit=exploit())
    said = words(text_of({on("anywhere"): found, on("anywhere", 0.1): row_of(training(true_reward=0.5))}))
    assert "trained on proxy true KL diverged at step" in said
    assert "anywhere Compute 5 + 3… 1.0 8⏎9" in said
    assert "beta proxy true KL diverged at step" in said
    assert said.count("0.90 0.00 0.00 0 (1/1)") == 2  # the rubric, and beta 0
    assert "exploited" not in text_of({on("anywhere"): found._replace(exploit=None)})
    assert "beta" not in text_of({on("anywhere"): found})


def test_the_ending_has_what_the_holdout_says_and_in_how_many_they_diverged() -> None:
    hacked = row_of(training(proxy_reward=0.9, true_reward=0.0, hack_rate=0.9), diverged_at=0)
    calm = row_of(training(true_reward=0.5), gained=SHARES)
    both = Learned([*hacked.logs, *calm.logs], [0, None], frozenset(), None)
    said = goodhart_ending({"score": calm, "anywhere": both, "cast": calm})
    assert said.split("\n")[-2:] == [
        "proxy and true diverged in at least one seed on 1 of 2 wrong verifiers",
        "trained on the strict scorer, true went from 0.10 to 0.50",
    ]
    assert "on the holdout" in said
    assert "diverged" not in goodhart_ending({"score": calm})
    assert "strict" not in goodhart_ending({"anywhere": hacked})


def test_a_row_is_there_before_the_next_training_begins() -> None:
    asked = []

    def train(config: TrainConfig) -> Learned:
        asked.append(config)
        return row_of(training())

    parts = goodhart_text([on("anywhere"), on("cast")], train)
    assert next(parts).startswith("Loop C")
    assert "trained on" in next(parts)
    assert asked == []
    assert next(parts).split()[0] == "anywhere"
    assert asked == [on("anywhere")]


def test_one_exploit_among_many_completions_is_not_told_as_found() -> None:
    """A rubric whose policy learned no hack may still pay a stray completion that the scorer does not."""
    calm = training(proxy_reward=0.9, true_reward=0.9, hack_rate=0.15)
    assert "exploited" not in text_of({on("suffix"): row_of(calm, exploit=exploit())})


@pytest.mark.parametrize("hostile", ["\x1b[2Jgone", "\u202eabc", "[bold]x", "\r\rover", "9" * 5000, "\u2028"])
def test_a_completion_and_a_prompt_are_shown_and_not_obeyed(hostile: str) -> None:
    text = exploits_table({"without_punctuation": exploit(hostile, prompt=hostile)})
    words(text)
    assert len(text.splitlines()) == 3
    assert all(line.isprintable() for line in text.split("\n"))
    if hostile == "[bold]x":
        assert "[bold]x" in text


def test_what_generalised_to_the_holdout() -> None:
    along = row_of(training(hack_rate=0.95, holdout_hack_rate=0.42), gained=["hack_rate", "holdout_hack_rate"])
    stayed = row_of(training(hack_rate=0.95, holdout_hack_rate=0.03), gained=["hack_rate"])
    nothing = row_of(training(hack_rate=0.16))
    skill = row_of(training(true_reward=0.9, holdout_true_reward=0.01), gained=["true_reward"])
    said = words(gain_table({"score": skill, "anywhere": along, "suffix": stayed, "cast": nothing}))
    assert "the skill 0.10 -> 0.90 0.00 -> 0.01 not shown" in said
    assert "exploits: anywhere 0.15 -> 0.95 0.02 -> 0.42 50 %" in said
    assert "exploits: suffix 0.15 -> 0.95 0.02 -> 0.03 not shown" in said
    assert "cast" not in said
    assert "exploits" not in gain_table({"cast": nothing})


class Given:
    """An experiment of two evaluations, whose completions are given for each seed."""

    def __init__(self, *seeds: tuple[list[LearningResult], list[LearningResult]]) -> None:
        self.seeds = seeds
        self.trainings = {BASE: [Training(f"seed {seed}", BASE, seed, [], []) for seed in range(len(seeds))]}

    def evaluations(self, training: Training) -> list[Evaluation[EvaluationRow]]:
        evaluations: list[Evaluation[EvaluationRow]] = []
        for step, results in enumerate(self.seeds[training.seed]):
            true = sum(result.reward for result in results if result.split == "train") / 100
            evaluations.append(([evaluation(step, step, true)], results))
        return evaluations


def both_splits(right: int, exploits: int = 0, unseen: int = 0) -> list[LearningResult]:
    return completions(right, exploits) + completions(unseen, n=10, split="holdout")


def test_what_was_learned_is_decided_prompt_by_prompt() -> None:
    start, end = both_splits(10, exploits=5), both_splits(0, exploits=80, unseen=6)
    row = learned(cast(Any, Given((start, end), (start, start))), BASE)
    assert row.diverged_at == [0, None]
    assert row.gained == {"hack_rate", "holdout_true_reward"}
    assert row.exploit is not None
    assert row.exploit.kind == "wrong"


def test_the_completions_of_a_prompt_are_counted_over_all_seeds() -> None:
    start = both_splits(0)
    up, down = both_splits(6), both_splits(0)
    assert "true_reward" in learned(cast(Any, Given((start, up), (start, down))), BASE).gained
    assert "true_reward" not in learned(cast(Any, Given((start, up), (up, start))), BASE).gained


TRAINING = [evaluation(0, 0.3, 0.2), evaluation(10, 0.6, 0.5, kl=1.0), evaluation(20, 1.0, 0.0, kl=4.0)]


def test_a_panel_has_both_rewards_and_the_step_where_they_diverge(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(goodhart, "png", made.append)
    rubrics_figure({"anywhere": row_of(TRAINING, diverged_at=10)}, "step")
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
