"""Machinery: learning from verifiers that err as a figure, true rewards over the updates."""

from collections.abc import Mapping

from course.artifacts.inference import Trainings, medians
from course.artifacts.token_rows import STRICT
from course.policies.presets import Plan
from course.reports.figures import ORANGE, dress, figure, png


def verifier_noise_figure(trainings: Mapping[tuple[str, Plan], Trainings]) -> bytes:
    """A line for each verifier, lighter for more random errors, orange for the hole; medians over the seeds."""
    from matplotlib import colormaps

    sheet = figure(9.2, 3.9, "What was learned from verifiers that err")
    panels = sheet.subplots(1, 2, sharex=True, sharey=True)
    for (rubric, plan), logs in trainings.items():
        wrong, missed = plan.false_positives, plan.false_negatives
        line = {"color": ORANGE, "linewidth": 4, "zorder": 1, "label": f"{rubric}: one hole"}
        if rubric == STRICT:
            style = "--" if not missed and wrong else ":" if not wrong and missed else "-"
            label = f"false + {wrong:g}, false - {missed:g}"
            line = {"color": colormaps["Blues"](1 - 0.7 * (wrong + missed)), "linestyle": style, "label": label}
        for axes in [panels[int(plan.corrected)]] if wrong + missed else panels:  # else there is nothing to correct
            axes.plot(medians(logs, "step"), medians(logs, "true_reward"), **line)
    for axes, title in zip(panels, ("rewards as they are paid", "rewards corrected for the errors"), strict=True):
        dress(axes, "updates", "true reward, strict scorer")
        axes.set_title(title, fontsize=9)
        axes.set_ylim(-0.03, 1.04)
    sheet.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    return png(sheet)
