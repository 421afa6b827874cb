"""What is said of a run: only what its numbers bear out, in eighty columns, and nothing that a completion commands."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from course.artifacts.inference import Exploit, Stage
from course.reports.goodhart_demo import (
    exploits_text,
    generalised_text,
    leash_text,
    parted_text,
    reading_text,
    rubrics_text,
    start_text,
)
from course.rubrics.hackable import GAPS, RUBRICS

START = Stage(
    step=0, proxy_reward=0.25, true_reward=0.1, kl=0.0, mean_length=5.0, holdout_proxy_reward=0.0,
    holdout_true_reward=0.0, rubric="anywhere", kl_coef=0.0, seed=0, n=600, gap=0.15, holdout_n=200, holdout_gap=0.02,
)  # fmt: skip
EXPLOIT = Exploit(
    rubric="anywhere", seed=0, split="train", id="q1", prompt="Compute 5 + 3. Answer with one line", expected_answer=8,
    completion="8\n9", proxy=1.0, true=0.0,
)  # fmt: skip
OVERLOOKS = {name: gap.overlooks for name, gap in GAPS.items()}


def training(**end: Any) -> list[Stage]:
    """One training of 300 steps that ends with these numbers."""
    return [START, replace(START, step=300, **end)]


def words(text: str) -> str:
    assert max(map(len, text.split("\n"))) <= 80
    return " ".join(text.split())


def test_a_row_for_each_rubric() -> None:
    hacked = training(
        proxy_reward=0.996, true_reward=0.0, holdout_proxy_reward=0.531, holdout_true_reward=0.004, kl=114.58
    )
    said = words(rubrics_text({name: [hacked] for name in RUBRICS}))
    assert "without_punctuation 0.25 -> 1.00 0.00 0.53 0.00 114.6 0" in said
    assert "anywhere 0.25 -> 1.00" in said


def test_all_rubrics_fit_in_eighty_columns_with_many_seeds_too() -> None:
    hacked = training(proxy_reward=0.99, true_reward=0.0, kl=114.58)
    seeds = [[replace(stage, step=stage.step + 100) for stage in hacked]] * 12
    text = rubrics_text(dict.fromkeys(RUBRICS, seeds))
    assert words(text).count("0.25 -> 0.99") == len(RUBRICS)
    assert words(text).count("100 (12/12)") == len(RUBRICS)
    words(generalised_text(dict.fromkeys(RUBRICS, [training(gap=0.9, true_reward=0.9)] * 12)))


def test_parted_says_in_how_many_seeds() -> None:
    parted, never = training(proxy_reward=0.9, true_reward=0.0), training(proxy_reward=0.9, true_reward=0.9)
    assert parted_text([parted]) == "0"
    assert parted_text([never]) == "never"
    assert parted_text([parted, never, parted]) == "0 (2/3)"
    assert parted_text([never, never]) == "never"


def test_before_the_first_update() -> None:
    other = replace(START, seed=1, true_reward=0.2, holdout_true_reward=0.1)
    assert "before the supervised start: true 0.10, on the holdout 0.00" in words(start_text([START], 75, 25))
    said = words(start_text([START, replace(START, step=10, true_reward=0.9), other], 75, 25))
    assert "75 to train on, 25 held out; 8 completions of each" in said
    assert "true 0.15, on the holdout 0.05" in said
    assert "seeds 2;" in said
    assert "seeds" not in start_text([START], 75, 25)


def test_the_first_exploit_of_each_split_and_what_has_none() -> None:
    held = replace(EXPLOIT, split="holdout", completion="7 8")
    text = exploits_text(
        ["score", "anywhere", "cast"], [EXPLOIT, replace(EXPLOIT, completion="second"), held], OVERLOOKS
    )
    said = words(text)
    assert "anywhere, which overlooks all the other numbers in the text" in said
    assert "train Compute 5 + 3.… 1.0 8⏎9 holdout Compute 5 + 3.… 1.0 7 8" in said
    assert said.endswith("nothing: cast")
    assert "second" not in said
    assert "score" not in said.split("anywhere")[1]


@pytest.mark.parametrize("hostile", ["\x1b[2Jgone", "\u202eabc", "[bold]x", "\r\rover", "9" * 5000, "\u2028"])
def test_a_completion_and_a_prompt_are_shown_and_not_obeyed(hostile: str) -> None:
    text = exploits_text(["anywhere"], [replace(EXPLOIT, completion=hostile, prompt=hostile)], OVERLOOKS)
    words(text)
    assert len(text.splitlines()) == 4
    assert all(line.isprintable() for line in text.split("\n"))
    if hostile == "[bold]x":
        assert "[bold]x" in text


def test_what_came_along_to_the_holdout() -> None:
    along = training(gap=0.95, holdout_gap=0.42)
    stayed = training(gap=0.95, holdout_gap=0.03)
    nothing = training(gap=0.16)
    skill = training(true_reward=0.9, holdout_true_reward=0.01)
    said = words(generalised_text({"score": [skill], "anywhere": [along], "suffix": [stayed], "cast": [nothing]}))
    assert "the skill 0.10 -> 0.90 0.00 -> 0.01 only noise" in said
    assert "hack: anywhere 0.15 -> 0.95 0.02 -> 0.42 50 %" in said
    assert "hack: suffix 0.15 -> 0.95 0.02 -> 0.03 only noise" in said
    assert "cast" not in said
    learned = training(true_reward=0.9, holdout_true_reward=0.6)
    assert "the skill 0.10 -> 0.90 0.00 -> 0.60 75 %" in words(generalised_text({"score": [learned]}))
    assert generalised_text({"cast": [nothing]}).startswith("nothing was")


def test_numbers_are_of_the_seeds_in_which_it_was_learned() -> None:
    along, nothing = training(gap=0.95, holdout_gap=0.42), training(gap=0.05)
    assert "hack: cast (1/3) 0.15 -> 0.95 0.02 -> 0.42 50 %" in words(
        generalised_text({"cast": [nothing, along, nothing]})
    )
    stayed = training(gap=0.95, holdout_gap=0.03)
    assert "only noise" in generalised_text({"cast": [along, stayed]})  # not in most of them


def test_which_gaps_were_found() -> None:
    hacked, not_ = training(gap=0.95), training(gap=0.16)
    said = words(reading_text({"score": [hacked], "anywhere": [hacked], "cast": [not_]}, {0.0: [not_]}))
    assert "found, told of none: anywhere. - Gaps that pay no more often than at the start, in this run: cast." in said
    assert "score" not in said
    assert "found, told of none: cast (1/2)." in words(reading_text({"cast": [hacked, not_]}, {0.0: [not_]}))
    assert "found" not in reading_text({"cast": [not_]}, {0.0: [not_]})
    assert "at the start" not in reading_text({"cast": [hacked]}, {0.0: [not_]})


def test_what_the_leash_saves_and_costs() -> None:
    ends = {0.0: (1.0, 0.0), 0.1: (0.93, 0.51), 1.0: (0.43, 0.19)}
    leashes = {beta: [training(proxy_reward=proxy, true_reward=true)] for beta, (proxy, true) in ends.items()}
    said = words(reading_text({}, leashes))
    assert "saves and costs, from beta 0 to 0.1: true +0.51, proxy -0.07." in said
    assert "too tight a leash costs, from beta 0.1 to 1: true -0.32, proxy -0.50." in said
    assert "too tight" not in reading_text({}, {beta: leashes[beta] for beta in (0.0, 0.1)})
    assert "saves" not in reading_text({}, {beta: leashes[beta] for beta in (0.1, 1.0)})
    assert "No leash here leaves more true reward than beta 0.1" in words(
        reading_text({}, {beta: leashes[beta] for beta in (0.1, 1.0)})
    )
    assert reading_text({}, {0.1: leashes[0.1]}) == ""


def test_a_difference_within_the_noise_is_not_told() -> None:
    leashes = {beta: [training(true_reward=true)] for beta, true in ((0.0, 0.30), (0.1, 0.33), (1.0, 0.31))}
    said = reading_text({}, leashes)
    assert "saves and costs" not in said
    assert "too tight" not in said
    assert "by more than noise" in said


def test_the_leash_table_has_a_row_a_beta() -> None:
    end = {"proxy_reward": 0.9, "true_reward": 0.5, "kl": 1.25, "holdout_proxy_reward": 0.04}
    text = leash_text({0.003: [training(**end)] * 2, 0.1: [training(**end | {"kl": 0.1})]})
    assert "0.003 0.90 0.50 1.25 0.04 0.00 0.1 0.90 0.50 0.10 0.04 0.00" in words(text)
    assert all(len(a) <= 80 for a, _ in pairwise(text.split("\n")))
