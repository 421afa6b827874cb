"""Machinery: what course.verifier_noise_demo prints, true rewards after learning from verifiers that err."""

from collections.abc import Callable, Iterable, Iterator
from textwrap import fill

from course.artifacts.inference import TrainingLog, Trainings, median_of
from course.artifacts.token_rows import STRICT
from course.policies.presets import Plan
from course.reports.cold_start_demo import rate
from course.reports.tables import NOTHING_KEPT, WIDTH, GrowingTable, percent

Verifier = tuple[str, Plan]  # a rubric, and a plan with its random errors
_LEGEND = (
    "coin: the strict scorer with random errors. false +: the share of wrong completions that the verifier pays, "
    "before and after learning; false -: the share of right ones that it does not. corrected: trained on (reward - "
    "false +) / (1 - false + - false -) instead, which against the mean of a group is a larger step and nothing else. "
    "Where the rates add up to 1 a reward says nothing: the pushes are random, and after enough of them what the "
    "policy could is lost; a step made too large by the correction does the same. Medians over the seeds; intervals: "
    "95 %, of sampling completions in one training, not of other trainings."
)


def verifier_noise_text(
    verifiers: Iterable[Verifier], trained: Callable[[Verifier], Trainings], steps: int, seeds: int
) -> Iterator[str]:
    """The report part by part: a row for each verifier, its correction beside it.

    ``trained``: trains on a verifier, when its row is due.
    """
    verifiers = list(verifiers)
    yield (
        "Loop C, learn: a verifier that errs at random, and one that errs by a rule.\n\n"
        f"one start a seed; {steps} updates each, seeds: {seeds}\n\n{fill(_LEGEND, WIDTH)}\n{NOTHING_KEPT}\n"
    )
    header = ("verifier", "false +\nfirst", "\nlast", "false -", "true reward", "95 %", "corrected")
    rows = GrowingTable(header, ("anywhere", "", "", "", "100.0 %", "00.0 to 100.0", "100.0 %"), (1, 2, 3, 4, 6))
    yield rows.head()
    for rubric, plan in verifiers:
        if not plan.corrected:
            logs, same = trained((rubric, plan)), (rubric, plan._replace(corrected=True))
            yield rows.row((
                rubric if rubric != STRICT else "coin" if errs(plan) else "strict",
                *(percent(false_positive_share([log[place] for log in logs], plan), 0) for place in (0, -1)),
                percent(plan.false_negatives, 0),
                *rate([log[-1] for log in logs]),
                rate([log[-1] for log in trained(same)])[0] if same in verifiers else "-",
            ))  # fmt: skip
    yield f"\ntrue reward at the start, before learning: {rate([log[0] for log in trained(verifiers[0])])[0]}"


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
