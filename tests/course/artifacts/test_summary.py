"""What results add up to.

An example: of six completions two are right, three have no format and one has a wrong value. The pass rate is 2/6,
and Wilson's interval of 2 in 6 is 9.7 to 70.0 %.
"""

import pytest

from course.artifacts.summary import summary_of


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
