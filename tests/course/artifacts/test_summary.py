"""What results add up to, from counts of what each row adds.

An example: of six completions two are right, three have no format and one has a wrong value. The pass rate is 2/6,
and Wilson's interval of 2 in 6 is 9.7 to 70.0 %. Of the pairs that three samples make, one right sample is in 2 of 3.
"""

from collections import Counter
from math import log

import pytest

from course.artifacts.records import Details, Result, Selection
from course.artifacts.summary import ROWS_AT_ONCE, Choice, choice_of, count_outcomes, family_of, summary_of


def test_six_results_worked_by_hand() -> None:
    summary = summary_of({"empty": 1, "wrong_answer": 1, "missing_prefix": 2, "ok": 2})
    assert summary.pop("pass_rate_ci95") == pytest.approx([0.09677141, 0.70000668])  # as SciPy gives it
    assert summary == {
        "n": 6,
        "passes": 2,
        "pass_rate": 1 / 3,
        "mean_reward": 1 / 3,
        "outcomes": {"empty": 1, "missing_prefix": 2, "wrong_answer": 1, "ok": 2},
        "families": {"model_format": 3, "model_math": 1},
    }
    assert list(summary["outcomes"]) == ["empty", "missing_prefix", "wrong_answer", "ok"]  # the order of the checks


def test_a_missing_completion_is_a_fault_of_the_data() -> None:
    assert summary_of({"missing_completion": 3, "ok": 1})["families"] == {"data": 3}


def test_no_results_have_no_pass_rate() -> None:
    with pytest.raises(ZeroDivisionError):
        summary_of({})


ONE_OF_THREE = Choice(
    n=3, right=1, total=3, total_right=1, first_is_right=False, chosen_is_right=True, first_of_best=True
)
ALL_OF_THREE = Choice(
    n=3, right=3, total=3, total_right=3, first_is_right=True, chosen_is_right=True, first_of_best=True
)
NONE_OF_THREE = Choice(
    n=3, right=0, total=3, total_right=0, first_is_right=False, chosen_is_right=False, first_of_best=True
)


def test_four_choices_worked_by_hand() -> None:
    """Two groups of three hold one right sample, not the first of them; one holds three; one holds none."""
    summary = summary_of({"ok": 3, "empty": 1}, {ONE_OF_THREE: 2, NONE_OF_THREE: 1, ALL_OF_THREE: 1})
    assert summary.pop("pass_rate_ci95") == pytest.approx([0.30064184, 0.95441273])  # as SciPy gives it
    assert summary.pop("pass_at_k") == pytest.approx(
        {"1": (2 * (1 / 3) + 0 + 1) / 4, "2": (2 * (2 / 3) + 0 + 1) / 4, "3": 3 / 4}
    )
    q = 19 / 27  # 1 - (2/3)^3, where one sample in three is right; none right, or all, costs nothing
    assert summary.pop("kl_estimate") == pytest.approx(2 * (q * log(q * 3) + (1 - q) * log((1 - q) * 3 / 2)) / 4)
    assert summary.pop("kl_bound") == pytest.approx(log(3) - 2 / 3)
    assert summary.pop("random_choice") == pytest.approx(5 / 12)
    assert summary == {
        "n": 4,
        "passes": 3,
        "pass_rate": 3 / 4,
        "mean_reward": 3 / 4,
        "outcomes": {"empty": 1, "ok": 3},
        "families": {"model_format": 1},
        "samples_per_prompt": 3,
        "first_sample_accuracy": 1 / 4,
        "selected_accuracy": 3 / 4,
        "ceiling": 3 / 4,
        "kl_estimate_reason": None,
    }


def test_choices_that_differ_in_one_thing_are_counted_apart() -> None:
    missed = ALL_OF_THREE._replace(right=2, chosen_is_right=False, first_of_best=False)
    summary = summary_of({"ok": 1, "empty": 1}, {ALL_OF_THREE: 1, missed: 1})
    assert summary["selected_accuracy"] == 0.5
    assert (summary["first_sample_accuracy"], summary["ceiling"]) == (1.0, 1.0)


def test_one_choice_that_was_not_the_first_of_the_best_leaves_the_kl_undefined() -> None:
    summary = summary_of({"ok": 100}, {ALL_OF_THREE: 99, ONE_OF_THREE._replace(first_of_best=False): 1})
    assert summary["kl_estimate"] is None
    assert summary["kl_estimate_reason"] == "the choice was not everywhere the first of the best samples"
    assert summary["kl_bound"] == pytest.approx(log(3) - 2 / 3)


def test_the_order_of_the_facts_changes_no_bit() -> None:
    counts = {Choice(10, right, 10, right, right > 5, right > 0, True): right + 1 for right in range(11)}
    outcomes = {"ok": 65, "empty": 1}
    assert summary_of(outcomes, counts) == summary_of(outcomes, dict(reversed(counts.items())))


def test_a_million_rows_are_a_few_counts() -> None:
    summary = summary_of({"ok": 750_000, "empty": 250_000}, {ONE_OF_THREE: 750_000, NONE_OF_THREE: 250_000})
    assert (summary["n"], summary["passes"], summary["selected_accuracy"]) == (1_000_000, 750_000, 0.75)
    assert summary["random_choice"] == 0.25


def selection(rewards: list[float], chosen: int, outcome: str) -> Selection:
    samples = [f"sample {i}" for i in range(len(rewards))]
    details = Details(outcome, None)
    return Selection("q", "?", 7, samples[chosen], rewards[chosen], details, samples, rewards, chosen, ["other"], [1.0])


@pytest.mark.parametrize(
    ("rewards", "chosen", "choice"),
    [
        ([0, 1, 1], 1, Choice(3, 2, 4, 3, False, True, True)),
        ([0, 1, 1], 2, Choice(3, 2, 4, 3, False, True, False)),
        ([1, 0], 0, Choice(2, 1, 3, 2, True, True, True)),
        ([1, 0], 1, Choice(2, 1, 3, 2, True, False, False)),
        ([0, 0], 0, Choice(2, 0, 3, 1, False, False, True)),  # where none is right the first is the first of the best
        ([0, 0], 1, Choice(2, 0, 3, 1, False, False, False)),
    ],
)
def test_what_a_choice_adds(rewards: list[float], chosen: int, choice: Choice) -> None:
    outcome = "ok" if rewards[chosen] else "empty"
    assert choice_of(selection([float(reward) for reward in rewards], chosen, outcome)) == choice


def test_rows_go_through_unchanged_and_are_counted_a_batch_at_a_time() -> None:
    outcome_of = ["empty"] * ROWS_AT_ONCE + ["ok", "empty"]
    rows = [Result(f"q{i}", "?", 7, "", 0.0, Details(outcome, None)) for i, outcome in enumerate(outcome_of)]
    outcomes: Counter[str] = Counter()
    passing = count_outcomes(rows, outcomes)
    first = next(passing)
    assert outcomes == {"empty": ROWS_AT_ONCE}
    assert [first, *passing] == rows
    assert outcomes == {"empty": ROWS_AT_ONCE + 1, "ok": 1}


def test_every_outcome_is_somebodys_fault_but_the_right_one() -> None:
    families = [family_of(outcome) for outcome in ("ok", "wrong_answer", "empty", "missing_completion", "\x1b[31m")]
    assert families == ["", "model_math", "model_format", "data", "data"]
