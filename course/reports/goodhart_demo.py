"""What course.goodhart_demo prints. Notation as in ``course.artifacts.inference``."""

from collections.abc import Mapping, Sequence
from statistics import median
from textwrap import fill

from course.artifacts.inference import ENDS, Quantity, Trainings, divergence_step, exceeds, medians, rose
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import STRICT
from course.reports.tables import WIDTH, percent, table
from course.text import clipped, one_line

_PROMPT, _COMPLETION = 15, 45  # columns


def goodhart_text(
    by_rubric: Mapping[str, Trainings],
    by_beta: Mapping[float, Trainings],
    found: Mapping[tuple[str, str], LearningResult],
    overlooks: Mapping[str, str],
    prompts: int,
    holdout_prompts: int,
) -> str:
    """The report. ``found``: (rubric, split) → a trained policy's exploit; ``overlooks``: a rubric's gap."""
    first = next(iter(by_rubric.values()))[0][0]
    return "\n\n".join(
        [
            "Loop C, learn: the policy itself changes, rewarded by careless verifiers.",
            f"prompts  {prompts} to train on, {holdout_prompts} held out; {first.n // prompts} completions of each"
            " in an evaluation\n"
            "proxy    the rubric's reward; true: the strict scorer's for the same completions\n"
            f"seeds    {len(next(iter(by_rubric.values())))}; every number is the median over them",
            rubrics_table(by_rubric),
            exploits_text(by_rubric, found, overlooks),
            "what generalised to prompts that were never trained on",
            generalised_table(by_rubric),
            "a KL penalty: 'anywhere' again, where a nat of KL from the reference costs beta",
            betas_text(by_beta),
        ]
    )


def rubrics_table(by_rubric: Mapping[str, Trainings]) -> str:
    """Each rubric: the proxy before and after, the true reward, both on the holdout, KL, and where they diverged."""
    rows = []
    for name, trainings in by_rubric.items():
        ends = {quantity: medians(trainings, quantity)[-1] for quantity in ENDS}
        cells = [f"{ends[end]:.2f}" for end in ("true_reward", "holdout_proxy_reward", "holdout_true_reward")]
        rows.append((name, _from_to(trainings, "proxy_reward"), *cells, f"{ends['kl']:.1f}", diverged_text(trainings)))
    header = ("trained on", "proxy", "true", "holdout\nproxy", "\ntrue", "KL", "diverged\nat step")
    return table(header, rows, right=range(1, 7))


def diverged_text(trainings: Trainings) -> str:
    """The step at which proxy and true reward diverged; of several seeds the median, and in how many they did."""
    steps = [step for training in trainings if (step := divergence_step(training)) is not None]
    return f"{median(steps):g}{_in_seeds(steps, trainings)}" if steps else "never"


def exploits_text(
    rubrics: Mapping[str, Trainings], found: Mapping[tuple[str, str], LearningResult], overlooks: Mapping[str, str]
) -> str:
    """For each rubric an exploit on a training prompt and one on a holdout prompt, as the policy wrote it."""
    lines = ["exploits that the policies found, with the proxy reward (true: 0.0)"]
    nothing = []
    for name in rubrics:
        exploits = [found[name, split] for split in ("train", "holdout") if (name, split) in found]
        if exploits:
            lines += ["", f"  {name}, which overlooks {overlooks[name]}", *map(_exploit_line, exploits)]
        elif name != STRICT:
            nothing.append(name)
    if nothing:
        lines += ["", fill(f"none: {', '.join(nothing)}", WIDTH, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join(lines)


def _exploit_line(row: LearningResult) -> str:
    written = one_line(row.completion or "", _COMPLETION)
    return f"    {row.split:7}  {clipped(row.prompt, _PROMPT):{_PROMPT}}  {row.proxy_reward:.1f}  {written}"


def generalised_table(by_rubric: Mapping[str, Trainings]) -> str:
    """What was learned on the training prompts, and how much of that gain there is on the holdout.

    The skill is true reward under the strict scorer; a hack is the share of completions that its rubric alone pays.
    Counted over the seeds in which it was learned; it generalised if it rose on the holdout in most of them.
    """
    rows = []
    for name, trainings in by_rubric.items():
        seen: Quantity = "true_reward" if name == STRICT else "gap"
        unseen: Quantity = "holdout_true_reward" if name == STRICT else "holdout_gap"
        if learned := [training for training in trainings if rose(training, seen)]:
            generalised = 2 * sum(rose(training, unseen) for training in learned) > len(learned)
            gain, unseen_gain = ((curve := medians(learned, share))[-1] - curve[0] for share in (seen, unseen))
            what = ("the skill" if name == STRICT else f"hack: {name}") + _in_seeds(learned, trainings)
            share = percent(unseen_gain / gain, 0) if generalised else "only noise"
            rows.append((what, _from_to(learned, seen), _from_to(learned, unseen), share))
    if not rows:
        return "nothing: on the training prompts, too, nothing rose by more than noise"
    return table(("learned", "on its prompts", "on the holdout", "generalised"), rows, right=(1, 2, 3))


def betas_text(by_beta: Mapping[float, Trainings]) -> str:
    """Each penalty at the end of training, and whether any leaves more true reward than the weakest."""
    rows = [
        (f"{beta:g}", *(f"{medians(trainings, quantity)[-1]:.2f}" for quantity in ENDS))
        for beta, trainings in by_beta.items()
    ]
    text = table(("beta", "proxy", "true", "KL", "holdout proxy", "true"), rows, right=range(6))
    weakest, best = min(by_beta), max(by_beta, key=lambda beta: medians(by_beta[beta], "true_reward")[-1])
    if len(by_beta) > 1:
        ends = {beta: [training[-1] for training in by_beta[beta]] for beta in (weakest, best)}
        more = exceeds(ends[best], ends[weakest], "true_reward")
        text += f"\n\nmore true reward than with beta {weakest:g}: " + (f"most with {best:g}" if more else "only noise")
    return text


def _from_to(trainings: Trainings, quantity: Quantity) -> str:
    curve = medians(trainings, quantity)
    return f"{curve[0]:.2f} -> {curve[-1]:.2f}"


def _in_seeds(some: Sequence[object], trainings: Trainings) -> str:
    """In how many of several seeds something was so."""
    return f" ({len(some)}/{len(trainings)})" if len(trainings) > 1 else ""
