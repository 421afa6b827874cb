"""Machinery: the parts that all figures share. The same numbers give the same PNG bytes. The first loads Matplotlib."""

from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#2563a8", "#c8641b", "#8a8a8a"


def figure(width: float, height: float, title: str) -> "Figure":
    """``title``: what the figure shows, in one line."""
    from matplotlib import rcdefaults
    from matplotlib.figure import Figure

    rcdefaults()  # ignore a matplotlibrc in the working folder
    fig = Figure(figsize=(width, height), dpi=120, layout="constrained")
    fig.suptitle(title, fontsize=11)
    return fig


def label_axes(axes: "Axes", x: str, y: str, title: str = "", *, rates: bool = True) -> None:
    """Labels, and a ``y`` axis for rates from 0 to 1; without ``rates`` from 0 to the largest value."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=9)
    axes.set_ylim(-0.04 if rates else 0, 1.06 if rates else None)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def legend_below(fig: "Figure", columns: int) -> None:
    """One legend for all panels, each name once."""
    lines: dict[str, Artist] = {}
    for axes in fig.axes:
        handles, labels = axes.get_legend_handles_labels()
        lines |= dict(zip(labels, handles, strict=True))
    fig.legend(lines.values(), lines, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)


def png(fig: "Figure") -> bytes:
    out = BytesIO()
    fig.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
