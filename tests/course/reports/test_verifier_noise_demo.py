"""The table about noise and a hole, against numbers written by hand.

The worked example. A rubric pays 30 of 100 completions, 20 of them right: of the 80 wrong ones it pays 10, which is
12.5 %. A verifier with random errors pays wrong ones at its rate, however many there are.
"""

import pytest
from reporting import evaluation

from course.policies.presets import Plan
from course.reports.verifier_noise_demo import false_positive_share, verifier_name, verifier_noise_text

NOISY = Plan(false_positives=0.3, false_negatives=0.2)
START, NOISE, HACKED = evaluation(0, 0.2, 0.2), evaluation(9, 0.8, 0.8), evaluation(9, 1.0, 0.0)


def test_the_worked_example() -> None:
    assert false_positive_share([evaluation(0, 0.3, 0.2)], Plan()) == pytest.approx(0.125)
    assert false_positive_share([START], NOISY) == 0.3
    assert false_positive_share([evaluation(0, 0.3, 0.2)], NOISY) == pytest.approx(0.125 + 0.875 * 0.3)
    assert false_positive_share([evaluation(9, 1.0, 1.0)], Plan()) == 0.0


def test_a_row_for_each_verifier_with_its_correction_beside_it() -> None:
    trainings = {
        ("score", NOISY): [[START, NOISE], [START, evaluation(9, 0.6, 0.6)]],
        ("score", NOISY._replace(corrected=True)): [[START, evaluation(9, 0.9, 0.9)]],
        ("anywhere", Plan()): [[evaluation(0, 0.3, 0.2), HACKED]],
    }
    lines = "\n".join(verifier_noise_text(trainings, trainings.__getitem__, 9, 2)).split("\n")
    assert max(map(len, lines)) <= 80
    assert "one start a seed; 9 updates each, seeds: 2" in lines
    assert lines[-1] == "true reward at the start, before learning: 20.0 %"
    noise, hole = (next(line.split() for line in lines if line.split()[:1] == [name]) for name in ("coin", "anywhere"))
    assert noise == ["coin", "30", "%", "30", "%", "20", "%", "70.0", "%", "60.4", "to", "78.1", "90.0", "%"]
    assert hole[1:] == ["12", "%", "100", "%", "0", "%", "0.0", "%", "0.0", "to", "3.7", "-"]
    assert sum(line.startswith("coin  ") for line in lines) == 1


def test_no_two_verifiers_share_a_name() -> None:
    plans = [Plan(), NOISY, NOISY._replace(corrected=True), Plan(false_negatives=0.3)]
    assert len({verifier_name(rubric, plan) for rubric in ("score", "anywhere") for plan in plans}) == 8
