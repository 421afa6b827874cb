"""The tables and figures of the sweeps, against numbers written by hand.

Three worked examples. Starts: two seeds of 100 completions each start at 10 and 30 right ones: the median is 20.0 %,
and Wilson's interval of 20 among 100 is 13.3 to 28.9 %. Coverage: in 400 updates of 64 prompts each of 1,000 prompts is
visited 25.6 times, and each of 30 in every update, so 400 times. Noise: a rubric pays 30 of 100 completions, 20 of them
right: of the 80 wrong ones it pays 10, which is 12.5 %. A verifier with random errors pays wrong ones at its rate,
however many there are.
"""

from typing import Any

import pytest
from msgspec.structs import replace
from reporting import evaluation, points_of_lines

from course.artifacts.inference import CoveragePoint, Trainings
from course.policies.presets import GENERALISE, Plan
from course.reports import sweep_demo
from course.reports.sweep_demo import (
    Setting,
    coverage_figure,
    false_positive_share,
    sweep_ending,
    sweep_figure,
    sweep_text,
    verifier_name,
    with_correction,
)

PLAN = Plan(steps=60)
BETTER = [
    evaluation(0, 0.1, 0.1),
    replace(evaluation(50, 0, 0), equal_groups=0.25),
    replace(evaluation(60, 0.9, 0.9), equal_groups=0.6),
]
WORSE = [evaluation(0, 0.3, 0.3), replace(evaluation(50, 0, 0), equal_groups=0.75), evaluation(60, 0.5, 0.5)]
NOISY = PLAN._replace(false_positives=0.3, false_negatives=0.2)
START, NOISE, HACKED = evaluation(0, 0.2, 0.2), evaluation(9, 0.8, 0.8), evaluation(9, 1.0, 0.0)


def start(count: int) -> Setting:
    return Setting(f"{count} steps", 75, "score", PLAN._replace(sft_steps=count))


def verifier(plan: Plan, rubric: str = "score") -> Setting:
    return Setting(verifier_name(rubric, plan), 75, rubric, plan)


def corrected(setting: Setting) -> Setting:
    found = with_correction(setting)
    assert found
    return found


def lines_of_report(experiment: str, trainings: dict[Setting, Trainings], seeds: int) -> list[str]:
    lines = "\n".join(sweep_text(experiment, [*trainings], trainings.__getitem__, seeds)).split("\n")
    assert max(map(len, lines)) <= 80
    return lines


def sheet_of(patch: pytest.MonkeyPatch, experiment: str, trainings: dict[Setting, Trainings]) -> Any:
    made: list[Any] = []
    patch.setattr(sweep_demo, "png", made.append)
    sweep_figure(experiment, trainings)
    return made[0]


@pytest.mark.parametrize(("experiment", "first"), [("cold_start", "0"), ("coverage", "30"), ("verifier_noise", "coin")])
def test_a_row_is_there_before_the_next_training_begins(experiment: str, first: str) -> None:
    settings = {
        "cold_start": [start(0), start(800)],
        "coverage": [Setting(f"{n} prompts", n, "score", PLAN, (1, 0)) for n in (30, 1000)],
        "verifier_noise": [verifier(NOISY._replace(false_positives=rate)) for rate in (0.9, 0.95)],
    }[experiment]
    begun: list[Setting] = []

    def trained(setting: Setting) -> Trainings:
        begun.append(setting)
        return [[replace(row, holdout_true_reward=0.5, n=setting.prompts) for row in BETTER]]

    report = sweep_text(experiment, settings, trained, 1)
    assert next(report).startswith("Loop C, learn: ")
    assert "─" in next(report)
    assert begun == []
    assert next(report).split()[0] == first
    assert begun == settings[:1]


def test_a_row_for_each_start_with_what_the_seeds_come_to() -> None:
    ends = [replace(log[-1], equal_groups=share) for log, share in ((BETTER, 0.6), (WORSE, 0.7))]
    alone, both = BETTER[:2] + ends[:1], WORSE[:2] + ends[1:]
    lines = lines_of_report("cold_start", {start(800): [alone, both], start(0): [alone]}, 2)
    assert "strict scorer, 60 updates each, seeds: 2" in lines
    two, one = (next(line.split() for line in lines if line.split()[:1] == [count]) for count in ("800", "0"))
    assert two[:6] == ["800", "20.0", "%", "13.3", "to", "28.9"]
    assert two[6:] == ["70.0", "%", "60.4", "to", "78.1", "50", "%", "65", "%"]
    assert (one[1], one[-4:]) == ("10.0", ["25", "%", "60", "%"])


@pytest.mark.medium
def test_each_start_has_its_rates_and_its_shares_in_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 50 updates half of the groups had equal rewards. Before the first update there was no group."""
    log = [evaluation(0, 0.1, 0.1), replace(evaluation(50, 0.6, 0.6), equal_groups=0.5)]
    better = [evaluation(0, 0.3, 0.3), replace(evaluation(50, 0.8, 0.8), equal_groups=0.25)]
    sheet = sheet_of(monkeypatch, "cold_start", {start(0): [log], start(800): [log, better]})
    left, right = map(points_of_lines, sheet.axes)
    assert left == {"0 steps": [(0, 0.1), (50, 0.6)], "800 steps": [(0, 0.2), (50, pytest.approx(0.7))]}
    assert right == {"0 steps": [(50, 0.5)], "800 steps": [(50, 0.375)]}


def coverage(steps: int) -> dict[Setting, Trainings]:
    """Trained on 30 prompts with 24 of 100 pairs seen, and on 1,000 with all; half of those once, else twice."""
    plan, trainings = GENERALISE.plan._replace(steps=steps), dict[Setting, Trainings]()
    for prompts, train, holdout, times in ((30, 1.0, 0.04, [1, 2] * 12 + [0] * 76), (1000, 0.97, 0.96, [1, 2] * 50)):
        first = replace(evaluation(0, 0, 0), n=prompts, holdout_true_reward=0.0)
        last = replace(first, step=steps, true_reward=train, holdout_true_reward=holdout)
        trainings[Setting(f"{prompts} prompts", prompts, "score", plan, tuple(times))] = [[first, last]] * 2
    return trainings


def test_a_row_for_each_number_of_prompts_and_what_its_columns_mean() -> None:
    lines = lines_of_report("coverage", coverage(600), 2)
    assert "rewarded by the strict scorer, 600 updates each, seeds: 2" in lines
    assert [line.split() for line in lines[-2:]] == [
        ["30", "100.0", "%", "600", "24", "%", "0"],
        ["1000", "97.0", "%", "38", "100", "%", "1.5"],
    ]
    assert [line.split()[-4] for line in lines_of_report("coverage", coverage(400), 2)[-2:]] == ["400", "26"]


def test_what_the_holdout_says_stands_at_the_end_and_nowhere_before() -> None:
    rows = [line.split() for line in sweep_ending("coverage", coverage(400)).split("\n")[3:5]]
    assert rows[0] == ["30", "100.0", "%", "4.0", "%", "1.6", "to", "9.8", "%"]
    assert rows[1][:5] == ["1000", "97.0", "%", "96.0", "%"]
    assert "96.0" not in "\n".join(lines_of_report("coverage", coverage(400), 2))


@pytest.mark.medium
def test_the_coverage_figure_has_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trained on 30 prompts the policy passes all of its own and none of the holdout, on 1,000 all of both."""
    made: list[Any] = []
    monkeypatch.setattr(sweep_demo, "png", made.append)
    few = CoveragePoint(30, 1.0, 0.0, (0.0, 0.01), [0.0, 0.02], 0.05, 0.1, 0.0)
    many = CoveragePoint(1_000, 1.0, 0.9, (0.86, 0.93), [0.88, 0.92], 0.05, 1.0, 30.0)
    coverage_figure([few, many])
    (axes,) = made[0].axes
    found = points_of_lines(axes)
    assert found["prompts that it was trained on"] == [(30, 1.0), (1_000, 1.0)]
    assert found["holdout, with 95 % interval"] == [(30, 0.0), (1_000, 0.9)]
    assert found["holdout, before learning"] == [(30, 0.05), (1_000, 0.05)]


def test_the_share_of_wrong_completions_that_are_paid() -> None:
    assert false_positive_share([evaluation(0, 0.3, 0.2)], PLAN) == pytest.approx(0.125)
    assert false_positive_share([START], NOISY) == 0.3
    assert false_positive_share([evaluation(0, 0.3, 0.2)], NOISY) == pytest.approx(0.125 + 0.875 * 0.3)
    assert false_positive_share([evaluation(9, 1.0, 1.0)], PLAN) == 0.0


def test_a_row_for_each_verifier_with_its_correction_beside_it() -> None:
    noisy = verifier(NOISY)
    trainings: dict[Setting, Trainings] = {
        noisy: [[START, NOISE], [START, evaluation(9, 0.6, 0.6)]],
        corrected(noisy): [[START, evaluation(9, 0.9, 0.9)]],
        verifier(PLAN, "anywhere"): [[evaluation(0, 0.3, 0.2), HACKED]],
    }
    lines = lines_of_report("verifier_noise", trainings, 2)
    assert "one start a seed, 60 updates each, seeds: 2" in lines
    assert sweep_ending("verifier_noise", trainings) == "\ntrue reward at the start, before learning: 20.0 %"
    coin, hole = (next(line.split() for line in lines if line.split()[:1] == [name]) for name in ("coin", "anywhere"))
    assert coin == ["coin", "30", "%", "30", "%", "20", "%", "70.0", "%", "60.4", "to", "78.1", "90.0", "%"]
    assert hole[1:] == ["12", "%", "100", "%", "0", "%", "0.0", "%", "0.0", "to", "3.7", "-"]
    assert sum(line.startswith("coin  ") for line in lines) == 1


def test_no_two_verifiers_share_a_name() -> None:
    plans = [PLAN, NOISY, NOISY._replace(corrected=True), PLAN._replace(false_negatives=0.3)]
    assert len({verifier_name(rubric, plan) for rubric in ("score", "anywhere") for plan in plans}) == 8


@pytest.mark.medium
def test_each_verifier_is_a_line_of_its_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was trained on corrected rewards is in the right panel only, what has no random errors in both."""
    noisy, begin = verifier(NOISY), evaluation(0, 0.2, 0.2)
    sheet = sheet_of(monkeypatch, "verifier_noise", {
        verifier(PLAN): [[begin, evaluation(9, 0.9, 0.9)]],
        noisy: [[begin, evaluation(9, 0.5, 0.5)], [begin, evaluation(9, 0.7, 0.7)]],
        corrected(noisy): [[begin, evaluation(9, 0.8, 0.8)]],
        verifier(PLAN, "anywhere"): [[begin, evaluation(9, 1.0, 0.0)]],
    })  # fmt: skip
    paid, fair = map(points_of_lines, sheet.axes)
    both = {"false + 0, false - 0": [(0, 0.2), (9, 0.9)], "anywhere: one hole": [(0, 0.2), (9, 0.0)]}
    assert paid == both | {"false + 0.3, false - 0.2": [(0, 0.2), (9, pytest.approx(0.6))]}
    assert fair == both | {"false + 0.3, false - 0.2": [(0, 0.2), (9, 0.8)]}
