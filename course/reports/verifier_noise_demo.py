"""Machinery: what course.verifier_noise_demo prints, true rewards after learning from verifiers that err."""

from collections.abc import Mapping
from textwrap import fill

from course.artifacts.inference import TrainingLog, Trainings, median_of
from course.artifacts.token_rows import STRICT
from course.policies.presets import Plan
from course.reports.cold_start_demo import rate
from course.reports.tables import WIDTH, percent, table

_LEGEND = (
    "coin: the strict scorer with random errors. false +: the share of wrong completions that the verifier pays, "
    "before and after learning; false -: the share of right ones that it does not. corrected: trained on (reward - "
    "false +) / (1 - false + - false -) instead, which against the mean of a group is a larger step and nothing else. "
    "Where the rates add up to 1 a reward says nothing, and pure noise pushes the policy away from what it could; a "
    "step made too large by the correction does the same. Medians over the seeds; intervals: 95 %, of sampling "
    "completions in one training, not of other trainings."
)


def verifier_noise_text(trainings: Mapping[tuple[str, Plan], Trainings], steps: int) -> str:
    """The report: a row for each verifier, its correction beside it."""
    rows = []
    for (rubric, plan), logs in trainings.items():
        if not plan.corrected:
            ends, corrected = [log[-1] for log in logs], trainings.get((rubric, plan._replace(corrected=True)))
            rows.append((
                rubric if rubric != STRICT else "coin" if errs(plan) else "strict",
                *(percent(false_positive_share([log[place] for log in logs], plan), 0) for place in (0, -1)),
                percent(plan.false_negatives, 0),
                *rate(ends),
                rate([log[-1] for log in corrected])[0] if corrected else "-",
            ))  # fmt: skip
    header = ("verifier", "false +\nfirst", "\nlast", "false -", "true reward", "95 %", "corrected")
    start = rate([log[0] for log in next(iter(trainings.values()))])[0]
    seeds = len(next(iter(trainings.values())))
    return "\n\n".join(
        [
            "Loop C, learn: a verifier that errs at random, and one that errs by a rule.",
            f"one start a seed, {start} right; {steps} updates each, seeds: {seeds}",
            table(header, rows, right=(1, 2, 3, 4, 6)),
            fill(_LEGEND, WIDTH),
        ]
    )


def errs(plan: Plan) -> bool:
    """Whether the verifier errs at random."""
    return plan.false_positives > 0 or plan.false_negatives > 0


def verifier_name(rubric: str, plan: Plan) -> str:
    """The verifier with its random errors: no two of a run share it."""
    rates = f"false + {plan.false_positives:g}, false - {plan.false_negatives:g}"
    return f"{rubric}, {rates}{', corrected' if plan.corrected else ''}"


def false_positive_share(rows: TrainingLog, plan: Plan) -> float:
    """Of what the strict scorer does not pay, the share that this verifier pays: counted, and then at random."""
    wrong = 1 - median_of(rows, "true_reward")
    counted = median_of(rows, "gap") / wrong if wrong else 0.0
    return counted + (1 - counted) * plan.false_positives
