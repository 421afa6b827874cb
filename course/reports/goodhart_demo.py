"""What course.goodhart_demo prints. A sentence is printed only where the numbers of this run bear it out.

Notation: as in ``course.artifacts.inference``. ``rubrics``: the trainings on each rubric, without a leash.
``leashes``: those on one rubric for each beta, from the weakest to the strongest.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from textwrap import fill

from course.artifacts.inference import Exploit, Quantity, Seeds, Split, Stages, above, medians, parting, rose
from course.reports.tables import WIDTH, percent, table
from course.text import clipped, one_line

STRICT = "score"
SPLITS: tuple[Split, ...] = ("train", "holdout")
_OF_A_LEASH: tuple[Quantity, ...] = ("proxy_reward", "true_reward", "kl", "holdout_proxy_reward", "holdout_true_reward")
_SKILL: tuple[Quantity, Quantity] = ("true_reward", "holdout_true_reward")
_HACK: tuple[Quantity, Quantity] = ("gap", "holdout_gap")
_PROMPT, _COMPLETION = 15, 45  # columns


def start_text(log: Stages, prompts: int, unseen: int) -> str:
    """Where every training begins: the supervised start, before the first update."""
    start = [stage for stage in log if stage.step == 0]
    seeds = len({stage.seed for stage in start})
    true, holdout = (median(getattr(stage, name) for stage in start) for name in ("true_reward", "holdout_true_reward"))
    lines = [
        f"prompts  {prompts} to train on, {unseen} held out; {start[0].n // prompts} completions of each at a look",
        f"before   the supervised start: true {true:.2f}, on the holdout {holdout:.2f}",
        "proxy    what the rubric pays; true: what the strict scorer pays for the same",
    ]
    if seeds > 1:
        lines.append(f"seeds    {seeds}; every number is the median over them")
    return "\n".join(lines)


def rubrics_text(rubrics: Mapping[str, Seeds]) -> str:
    """Each rubric: the proxy before and after, the true reward, both on the holdout, the drift, and where they part."""
    rows = [
        (
            name,
            _from_to(seeds, "proxy_reward"),
            f"{medians(seeds, 'true_reward')[-1]:.2f}",
            f"{medians(seeds, 'holdout_proxy_reward')[-1]:.2f}",
            f"{medians(seeds, 'holdout_true_reward')[-1]:.2f}",
            f"{medians(seeds, 'kl')[-1]:.1f}",
            parted_text(seeds),
        )
        for name, seeds in rubrics.items()
    ]
    header = ("trained on", "proxy", "true", "holdout\nproxy", "\ntrue", "KL", "parted\nat step")
    return table(header, rows, right=range(1, 7))


def parted_text(seeds: Seeds) -> str:
    """The step at which proxy and true reward parted; of several seeds the median, and in how many they did."""
    steps = [step for stages in seeds if (step := parting(stages)) is not None]
    if not steps:
        return "never"
    return f"{median(steps):g}{_in_seeds(steps, seeds)}"


def exploits_text(rubrics: Sequence[str], exploits: Sequence[Exploit], overlooks: Mapping[str, str]) -> str:
    """For each rubric the first exploit on a training prompt and on a holdout prompt, as the policy wrote it."""
    lines = ["what the policies found by themselves, with what the rubric pays (true: 0.0)"]
    hackable = [name for name in rubrics if name != STRICT]
    first: dict[str, list[Exploit]] = {}
    for name in hackable:
        found = [[one for one in exploits if (one.rubric, one.split) == (name, split)] for split in SPLITS]
        first[name] = [some[0] for some in found if some]
        if first[name]:
            lines += ["", f"  {name}, which overlooks {overlooks[name]}", *map(_exploit_line, first[name])]
    if nothing := [name for name in hackable if not first[name]]:
        lines += ["", fill(f"nothing: {', '.join(nothing)}", WIDTH, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join(lines)


def _exploit_line(one: Exploit) -> str:
    written = one_line(one.completion, _COMPLETION)
    return f"    {one.split:7}  {clipped(one.prompt, _PROMPT):{_PROMPT}}  {one.proxy:.1f}  {written}"


def generalised_text(rubrics: Mapping[str, Seeds]) -> str:
    """What was learned on the training prompts, and how much of that gain came along to prompts never trained on.

    The skill is true reward under the strict scorer; a hack is the share of completions that its rubric alone pays.
    Told of the seeds in which it was learned; it came along where it did in most of them.
    """
    rows = []
    for name, seeds in rubrics.items():
        seen, unseen = _SKILL if name == STRICT else _HACK
        if learned := [stages for stages in seeds if rose(stages, seen)]:
            further = sum(rose(stages, unseen) for stages in learned)
            gained, gained_unseen = (
                curve[-1] - curve[0] for curve in (medians(learned, seen), medians(learned, unseen))
            )
            along = percent(gained_unseen / gained, 0) if 2 * further > len(learned) else "only noise"
            what = "the skill" if name == STRICT else f"hack: {name}"
            rows.append((what + _in_seeds(learned, seeds), _from_to(learned, seen), _from_to(learned, unseen), along))
    if not rows:
        return "nothing was: on the training prompts, too, nothing rose by more than noise"
    return table(("learned", "on its prompts", "on the holdout", "came along"), rows, right=(1, 2, 3))


def leash_text(leashes: Mapping[float, Seeds]) -> str:
    """What each leash leaves at the end."""
    rows = [
        (f"{beta:g}", *(f"{medians(seeds, quantity)[-1]:.2f}" for quantity in _OF_A_LEASH))
        for beta, seeds in leashes.items()
    ]
    return table(("beta", "proxy", "true", "KL", "holdout proxy", "true"), rows, right=range(6))


def reading_text(rubrics: Mapping[str, Seeds], leashes: Mapping[float, Seeds]) -> str:
    """What this run shows. More and less are said only of what is more than noise."""
    said = [*_hacks(rubrics), *_leash(leashes)]
    return "\n".join(fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ") for line in said)


def _hacks(rubrics: Mapping[str, Seeds]) -> list[str]:
    hackable = {name: seeds for name, seeds in rubrics.items() if name != STRICT}
    found = {name: [stages for stages in seeds if rose(stages, "gap")] for name, seeds in hackable.items()}
    told = [f"{name}{_in_seeds(found[name], hackable[name])}" for name in found if found[name]]
    other = [name for name in found if not found[name]]
    lines = []
    if told:
        lines.append(f"Gaps that the policy found, told of none: {', '.join(told)}.")
    if other:
        lines.append(f"Gaps that pay no more often than at the start, in this run: {', '.join(other)}.")
    return lines


def _leash(leashes: Mapping[float, Seeds]) -> list[str]:
    """The weakest leash against the one that leaves most true reward, and that one against the strongest."""
    true, proxy = ({beta: medians(seeds, share)[-1] for beta, seeds in leashes.items()} for share in _OF_A_LEASH[1::-1])
    ends = {beta: [stages[-1] for stages in seeds] for beta, seeds in leashes.items()}
    weakest, best, strongest = min(leashes), max(true, key=lambda beta: true[beta]), max(leashes)

    def change(one: float, other: float) -> str:
        moved = f"true {true[other] - true[one]:+.2f}, proxy {proxy[other] - proxy[one]:+.2f}"
        return f"from beta {one:g} to {other:g}: {moved}"

    lines = []
    if above(ends[best], ends[weakest], "true_reward"):
        lines.append(f"What the leash saves and costs, {change(weakest, best)}.")
    elif weakest < strongest:
        lines.append(f"No leash here leaves more true reward than beta {weakest:g}, by more than noise.")
    if above(ends[best], ends[strongest], "true_reward"):
        lines.append(f"What too tight a leash costs, {change(best, strongest)}.")
    return lines


def _from_to(seeds: Seeds, quantity: Quantity) -> str:
    curve = medians(seeds, quantity)
    return f"{curve[0]:.2f} -> {curve[-1]:.2f}"


def _in_seeds(some: Sequence[object], seeds: Seeds) -> str:
    """In how many of several seeds something was so."""
    return f" ({len(some)}/{len(seeds)})" if len(seeds) > 1 else ""
