"""What is printed of a run: only what its numbers bear out, in eighty columns, and nothing that a completion commands.

The worked example. A training on ``anywhere`` starts with the proxy 0.25 and ends with 0.996, a true reward of 0 and a
KL of 114.58; the true reward was highest at step 0. Its row reads: anywhere, 0.25 -> 1.00, 0.00, …, 114.6, 0.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from course.artifacts.learning import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import GoodhartRow
from course.reports.goodhart_demo import (
    betas_text,
    diverged_text,
    exploits_text,
    generalised_table,
    goodhart_text,
    rubrics_table,
)
from course.rubrics.hackable import GAPS, RUBRICS

START = GoodhartRow(
    step=0, proxy_reward=0.25, true_reward=0.1, kl=0.0, mean_length=5.0, holdout_proxy_reward=0.0,
    holdout_true_reward=0.0, rubric="anywhere", kl_coef=0.0, seed=0, n=600, gap=0.15, holdout_n=200, holdout_gap=0.02,
)  # fmt: skip


def exploit(
    completion: str = "8\n9", split: str = "train", prompt: str = "Compute 5 + 3. Answer with"
) -> LearningResult:
    example = {"id": "q1", "prompt": prompt, "expected_answer": 8}
    return learning_result(example, completion, 300, split=split, proxy_reward=1.0)


OVERLOOKS = {name: gap.overlooks for name, gap in GAPS.items()}


def training(**end: Any) -> list[GoodhartRow]:
    """One training of 300 steps that ends with these numbers."""
    return [START, replace(START, step=300, **end)]


def words(text: str) -> str:
    assert max(map(len, text.split("\n"))) <= 80
    return " ".join(text.split())


def test_a_row_for_each_rubric() -> None:
    hacked = training(
        proxy_reward=0.996, true_reward=0.0, holdout_proxy_reward=0.531, holdout_true_reward=0.004, kl=114.58
    )
    said = words(rubrics_table({name: [hacked] for name in RUBRICS}))
    assert "without_punctuation 0.25 -> 1.00 0.00 0.53 0.00 114.6 0" in said
    assert "anywhere 0.25 -> 1.00" in said


def test_all_rubrics_fit_in_eighty_columns_with_many_seeds_too() -> None:
    hacked = training(proxy_reward=0.99, true_reward=0.0, kl=114.58)
    seeds = [[replace(row, step=row.step + 100) for row in hacked]] * 12
    text = rubrics_table(dict.fromkeys(RUBRICS, seeds))
    assert words(text).count("0.25 -> 0.99") == len(RUBRICS)
    assert words(text).count("100 (12/12)") == len(RUBRICS)
    words(generalised_table(dict.fromkeys(RUBRICS, [training(gap=0.9, true_reward=0.9)] * 12)))


def test_diverged_says_in_how_many_seeds() -> None:
    diverged, never = training(proxy_reward=0.9, true_reward=0.0), training(proxy_reward=0.9, true_reward=0.9)
    assert diverged_text([diverged]) == "0"
    assert diverged_text([never]) == "never"
    assert diverged_text([diverged, never, diverged]) == "0 (2/3)"
    assert diverged_text([never, never]) == "never"


def test_the_report_has_every_part() -> None:
    hacked, calm = training(proxy_reward=0.9, true_reward=0.0), training(true_reward=0.5)
    report = goodhart_text({"anywhere": [hacked]}, {0.0: [hacked], 0.1: [calm]}, {}, OVERLOOKS, 75, 25)
    said = words(report)
    assert "75 to train on, 25 held out; 8 completions of each in an evaluation" in said
    assert "seeds 1; every number is the median over them" in said
    assert "none: anywhere" in said
    assert said.endswith("more true reward than with beta 0: most with 0.1")


def test_an_exploit_of_each_split_and_what_has_none() -> None:
    found = {("anywhere", "train"): exploit(), ("anywhere", "holdout"): exploit("7 8", "holdout")}
    said = words(exploits_text({"score": [], "anywhere": [], "cast": []}, found, OVERLOOKS))
    assert "anywhere, which overlooks all the other numbers in the text" in said
    assert "train Compute 5 + 3.… 1.0 8⏎9 holdout Compute 5 + 3.… 1.0 7 8" in said
    assert said.endswith("none: cast")
    assert "score" not in said.split("anywhere")[1]


@pytest.mark.parametrize("hostile", ["\x1b[2Jgone", "\u202eabc", "[bold]x", "\r\rover", "9" * 5000, "\u2028"])
def test_a_completion_and_a_prompt_are_shown_and_not_obeyed(hostile: str) -> None:
    text = exploits_text({"anywhere": []}, {("anywhere", "train"): exploit(hostile, prompt=hostile)}, OVERLOOKS)
    words(text)
    assert len(text.splitlines()) == 4
    assert all(line.isprintable() for line in text.split("\n"))
    if hostile == "[bold]x":
        assert "[bold]x" in text


def test_what_generalised_to_the_holdout() -> None:
    along = training(gap=0.95, holdout_gap=0.42)
    stayed = training(gap=0.95, holdout_gap=0.03)
    nothing = training(gap=0.16)
    skill = training(true_reward=0.9, holdout_true_reward=0.01)
    said = words(generalised_table({"score": [skill], "anywhere": [along], "suffix": [stayed], "cast": [nothing]}))
    assert "the skill 0.10 -> 0.90 0.00 -> 0.01 only noise" in said
    assert "hack: anywhere 0.15 -> 0.95 0.02 -> 0.42 50 %" in said
    assert "hack: suffix 0.15 -> 0.95 0.02 -> 0.03 only noise" in said
    assert "cast" not in said
    learned = training(true_reward=0.9, holdout_true_reward=0.6)
    assert "the skill 0.10 -> 0.90 0.00 -> 0.60 75 %" in words(generalised_table({"score": [learned]}))
    assert generalised_table({"cast": [nothing]}).startswith("nothing:")


def test_numbers_are_of_the_seeds_in_which_it_was_learned() -> None:
    along, nothing = training(gap=0.95, holdout_gap=0.42), training(gap=0.05)
    assert "hack: cast (1/3) 0.15 -> 0.95 0.02 -> 0.42 50 %" in words(
        generalised_table({"cast": [nothing, along, nothing]})
    )
    stayed = training(gap=0.95, holdout_gap=0.03)
    assert "only noise" in generalised_table({"cast": [along, stayed]})  # not in most of them


def test_a_row_for_each_penalty_and_whether_any_leaves_more_true_reward() -> None:
    end = {"proxy_reward": 0.9, "true_reward": 0.5, "kl": 1.25, "holdout_proxy_reward": 0.04}
    said = words(betas_text({0.003: [training(**end)] * 2, 0.1: [training(**end | {"kl": 0.1, "true_reward": 0.52})]}))
    assert "0.003 0.90 0.50 1.25 0.04 0.00 0.1 0.90 0.52 0.10 0.04 0.00" in said
    assert said.endswith("more true reward than with beta 0.003: only noise")
    assert "more" not in betas_text({0.1: [training(**end)]})
