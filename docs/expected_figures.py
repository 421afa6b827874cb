"""What make_expected.py draws: a band of seeds for each learner, as SVG with a text alternative, from its table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER, WIDTH, TEXT = "#fbfaf6", 860, 14


class Band(NamedTuple):
    """One curve of one training, as it is drawn."""

    training: str
    curve: str
    label: str
    color: str
    line: str = "-"


class Panel(NamedTuple):
    title: str
    x: str
    y: str
    bands: Sequence[Band]
    until: int | None = None  # the last step shown


class Drawing(NamedTuple):
    """A figure: its panels side by side, and what is to be seen in it, for those who cannot see it."""

    title: str
    seen: str
    height: int
    panels: Sequence[Panel]


def drawings() -> dict[str, Drawing]:
    """Every figure by its name: the file is expected_NAME.svg."""
    from course.show.figures import BLUE, ORANGE

    j = "expected reward"
    learner = Band("bandit", j, "learning rate 0.5", BLUE)
    backwards = Band("bandit_backwards", j, "broken: learning rate −0.5", ORANGE, "--")
    total = "expected return"
    strict = "strict", "strict scorer", BLUE
    return {
        "bandit": Drawing(
            "The bandit: what to expect",
            "Two panels with the expected reward of the bandit's policy: on the left the first 30 updates, on the "
            "right 200. A blue band rises from one quarter towards 1, wide at first and narrow later. A dashed orange "
            "band, the same with a negative learning rate, falls from one quarter towards 0.",
            330,
            [
                Panel("the first 30 updates", "updates", j, [learner, backwards], 30),
                Panel("200 updates", "updates", j, [learner, backwards]),
            ],
        ),
        "two_steps": Drawing(
            "Two steps and one reward at the end: what to expect",
            "The expected return over 200 episodes. With credit for both steps a blue band rises from one quarter to "
            "nearly 1. Without credit for the first step a dashed orange band rises to one half and stays there.",
            330,
            [
                Panel(
                    "expected return", "episodes", total,
                    [
                        Band("two_steps", total, "credit for both steps", BLUE),
                        Band("two_steps_sabotage", total, "broken: none for step 1", ORANGE, "--"),
                    ],
                ),
            ],
        ),
        "tokens": Drawing(
            "The token policy: what to expect",
            "Three panels over 600 updates, with mean rewards on the training prompts. Left, memorise with the strict "
            "scorer: the reward rises to nearly 1. Middle, memorise with the rubric anywhere: what the rubric pays "
            "rises to 1 within 100 updates, what the strict scorer pays falls to 0. Right, generalise with the strict "
            "scorer: the reward rises to nearly 1.",
            360,
            [
                Panel("memorise, strict", "updates", "mean reward", [Band("tokens_memorise", *strict)]),
                Panel(
                    "memorise, anywhere", "updates", "",
                    [
                        Band("tokens_anywhere", "rubric", "rubric, trained on", ORANGE),
                        Band("tokens_anywhere", *strict),
                    ],
                ),
                Panel("generalise, strict", "updates", "", [Band("tokens_generalise", *strict)]),
            ],
        ),
    }  # fmt: skip


def source_of(drawing: Drawing, table: Mapping[str, Any]) -> str:
    """From which commands and seeds a figure is, in a sentence."""
    names = dict.fromkeys(band.training for panel in drawing.panels for band in panel.bands)
    commands = "; ".join(table[name]["command"] for name in names)
    seeds = table[next(iter(names))]["seeds"]
    return f"Band: the lowest to the highest of seeds {seeds[0]} to {seeds[-1]}; line: their median. From: {commands}."


def draw(drawing: Drawing, table: Mapping[str, Any]) -> str:
    """A figure as SVG. The same numbers give the same bytes with one Matplotlib."""
    from course.show.figures import figure, label_axes, legend_below

    fig = figure(WIDTH / 72, drawing.height / 72, drawing.title)
    from matplotlib import rc_context
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = fig.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(w_pad=0.15, h_pad=0.1)
    with rc_context({"svg.hashsalt": "expected", "svg.fonttype": "none", "font.size": TEXT}):
        fig.suptitle(drawing.title, fontsize=TEXT + 1, fontweight="bold")
        for axes, panel in zip(fig.subplots(1, len(drawing.panels), squeeze=False)[0], drawing.panels, strict=True):
            draw_panel(axes, panel, table)
            label_axes(axes, panel.x, panel.y)
            axes.set_title(panel.title, fontsize=TEXT)
        legend_below(fig, 2)
        for text in fig.legends[0].get_texts():
            text.set_fontsize(13)
        return clean(svg(fig), drawing, table)


def draw_panel(axes: Axes, panel: Panel, table: Mapping[str, Any]) -> None:
    for band in panel.bands:
        steps, curve = table[band.training]["steps"], table[band.training]["curves"][band.curve]
        shown = sum(panel.until is None or step <= panel.until for step in steps)
        low, middle, high = (curve[end][:shown] for end in ("low", "median", "high"))
        axes.fill_between(steps[:shown], low, high, color=band.color, alpha=0.22, linewidth=0)
        axes.plot(steps[:shown], middle, band.line, color=band.color, label=band.label, linewidth=2)
    axes.set_xlim(0)
    axes.set_facecolor(PAPER)


def svg(fig: Figure) -> str:
    out = BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    fig.savefig(out, format="svg", metadata=nothing, facecolor="none")
    return out.getvalue().decode()


def clean(source: str, drawing: Drawing, table: Mapping[str, Any]) -> str:
    """Matplotlib's SVG on opaque paper, with a text alternative, and without addresses but that of SVG itself."""
    drawn = source[source.index("<svg") :]
    drawn = re.sub(r' xmlns:xlink="[^"]*"', "", drawn).replace("xlink:href", "href")
    drawn = re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r"<svg \1>", drawn, count=1)
    size = re.search(r"<svg ([^>]*)>", drawn)
    assert size
    paper = f'<rect width="{WIDTH}" height="{drawing.height}" rx="10" fill="{PAPER}"/>'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size[1]}" role="img" aria-labelledby="title desc">\n'
        f'  <title id="title">{escape(drawing.title)}</title>\n'
        f'  <desc id="desc">{escape(f"{drawing.seen} {source_of(drawing, table)}")}</desc>\n  {paper}'
    )
    return drawn.replace(size[0], head, 1)
