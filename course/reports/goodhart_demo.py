"""Machinery: what course.goodhart_demo prints. Notation as in ``course.artifacts.inference``."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from course.artifacts.inference import Trainings, divergence_step, medians, rose
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import STRICT
from course.reports.tables import GrowingTable, percent, table
from course.text import clipped, one_line

QUANTITIES = ("proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "kl")
KL_RUBRIC = "anywhere"  # what is trained on again with a KL penalty
_HEADER = ("proxy", "true", "KL", "diverged at step")


def goodhart_text(
    rubrics: Sequence[str],
    betas: Sequence[float],
    trained: Callable[[str, float], Trainings],
    found: Mapping[str, LearningResult],
) -> Iterator[str]:
    """The report part by part, up to its ending. ``trained``: (rubric, beta) -> its trainings, asked for as needed.

    ``found``: rubric -> an exploit that its policy wrote, if there is one; filled by ``trained``.
    """
    yield (
        "Loop C, learn: the policy itself changes, rewarded by careless verifiers.\n\n"
        "proxy: the rubric's reward; true: the strict scorer's, for the same completions.\n"
        "Medians over the seeds. diverged: from there on proxy rose and true fell."
    )
    yield from growing("trained on", ((name, trained(name, 0.0)) for name in rubrics))
    exploited = {name: found[name] for name in rubrics if name in found and rose(trained(name, 0.0), "gap")}
    if exploited:
        yield f"\n{exploits_table(exploited)}"
    if betas:
        yield "\na KL penalty: 'anywhere' again, where a nat of KL from the reference costs beta"
        yield from growing("beta", ((f"{beta:g}", trained(KL_RUBRIC, beta)) for beta in betas))


def growing(name: str, groups: Iterable[tuple[str, Trainings]]) -> Iterator[str]:
    """A row for each group: the medians over its seeds at the end of training, and the step where the two diverged."""
    rows = GrowingTable((name, *_HEADER), ("without_punctuation", *["00.00"] * 3, "never (00/00)"), range(1, 5))
    yield f"\n{rows.head()}"
    for group, trainings in groups:
        ends = (f"{medians(trainings, quantity)[-1]:.2f}" for quantity in ("proxy_reward", "true_reward", "kl"))
        yield rows.row((group, *ends, diverged_text(trainings)))


def goodhart_ending(by_rubric: Mapping[str, Trainings]) -> str:
    """What the holdout says, shown when the look at it is counted, and in how many rubrics the two diverged."""
    wrong = {name: trainings for name, trainings in by_rubric.items() if name != STRICT}
    diverged = sum(any(divergence_step(one) is not None for one in trainings) for trainings in wrong.values())
    lines = [f"diverged, in one seed at least: on {diverged} of {len(wrong)} wrong verifiers"] * bool(wrong)
    if STRICT in by_rubric:
        true = medians(by_rubric[STRICT], "true_reward")
        lines.append(f"with the strict scorer true went from {true[0]:.2f} to {true[-1]:.2f}")
    first = next(iter(by_rubric.values()))[0][0]
    head = f"\ngeneralised to prompts never trained on? Means of {first.n}, and {first.holdout_n} there\n"
    return "\n".join([head, generalised_table(by_rubric), "", *lines])


def diverged_text(trainings: Trainings) -> str:
    """The step at which proxy and true reward diverged; of several seeds the median, and in how many they did."""
    steps = [step for training in trainings if (step := divergence_step(training)) is not None]
    return f"{median(steps):g} ({len(steps)}/{len(trainings)})" if steps else "never"


def exploits_table(found: Mapping[str, LearningResult]) -> str:
    """An exploit of each rubric that has one, as the policy wrote it. What is cut ends in …"""
    rows = [
        (name, clipped(row.prompt, 14), f"{row.proxy_reward:.1f}", one_line(row.completion or "", 32))
        for name, row in found.items()
    ]
    return table(("exploited", "prompt", "proxy", "completion, true reward 0"), rows, right=(2,))


def generalised_table(by_rubric: Mapping[str, Trainings]) -> str:
    """What was learned on the training prompts, and how much of that gain there is on the holdout.

    The skill is true reward under the strict scorer; a hack is the share of completions that its rubric pays
    at least half and the strict scorer nothing.
    """
    rows = []
    for name, trainings in by_rubric.items():
        share, what = ("true_reward", "the skill") if name == STRICT else ("gap", f"hack: {name}")
        if rose(trainings, share):
            seen, unseen = medians(trainings, share), medians(trainings, f"holdout_{share}")
            kept = (unseen[-1] - unseen[0]) / (seen[-1] - seen[0])
            ends = (f"{curve[0]:.2f} -> {curve[-1]:.2f}" for curve in (seen, unseen))
            rows.append((what, *ends, percent(kept, 0) if rose(trainings, f"holdout_{share}") else "only noise"))
    if not rows:
        return "nothing: on the training prompts, too, nothing rose by more than noise"
    head = table(("learned", "on its prompts", "on the holdout", "generalised"), rows, right=(1, 2, 3))
    legend = "(gain on the holdout by gain on its prompts; over 100 %: it gained more there;"
    return f"{head}\n{legend}\na hack counts from half the reward on)"
