"""Machinery: what all figures share. The same numbers give the same PNG bytes; the first figure loads Matplotlib."""

from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#2563a8", "#c8641b", "#8a8a8a"


def figure(width: float, height: float, title: str) -> "Figure":
    """``title``: what is to be seen, in one line."""
    from matplotlib import rcdefaults
    from matplotlib.figure import Figure

    rcdefaults()  # ignore a matplotlibrc in the working folder
    sheet = Figure(figsize=(width, height), dpi=120, layout="constrained")
    sheet.suptitle(title, fontsize=11)
    return sheet


def dress(axes: "Axes", x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def png(sheet: "Figure") -> bytes:
    out = BytesIO()
    sheet.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
