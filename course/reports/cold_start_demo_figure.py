"""Machinery: learning from several starts as a figure, the pass rate and the share of groups that push nothing."""

from collections.abc import Mapping

from course.artifacts.inference import Trainings, medians
from course.reports.figures import dress, figure, png


def cold_start_figure(trainings: Mapping[int, Trainings]) -> bytes:
    """A line for each number of steps of fine-tuning, darker for more; medians over the seeds."""
    from matplotlib import colormaps

    sheet = figure(9, 4, "The same learning from better and worse starts")
    left, right = sheet.subplots(1, 2)
    for place, (count, logs) in enumerate(trainings.items(), 1):
        line = {"color": colormaps["Blues"](0.25 + 0.75 * place / len(trainings)), "label": f"{count} steps"}
        steps = medians(logs, "step")
        left.plot(steps, medians(logs, "true_reward"), **line)
        right.plot(steps[1:], medians([log[1:] for log in logs], "equal_groups"), **line)
    dress(left, "updates", "pass rate, strict scorer")
    dress(right, "updates", "groups in which all rewards are equal")
    for axes in (left, right):
        axes.set_ylim(-0.03, 1.04)
    sheet.legend(*left.get_legend_handles_labels(), title="fine-tuned for", loc="outside right center", frameon=False)
    return png(sheet)
