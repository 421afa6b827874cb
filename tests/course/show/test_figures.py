"""What all figures share. The worked example: a figure of 2 by 1 inches at 120 dots an inch has 240 by 120 pixels."""

import struct
from pathlib import Path

import pytest

from course.show.figures import BLUE, figure, label_axes, legend_below, png


def test_a_figure_is_a_png_of_its_size() -> None:
    data = png(figure(2, 1, "what is to be seen"))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (240, 120)
    assert b"Software" not in data


def test_a_figure_has_a_title() -> None:
    assert figure(2, 1, "what is to be seen").get_suptitle() == "what is to be seen"


def test_rates_have_room_from_0_to_1_and_other_quantities_begin_at_0() -> None:
    rates, counts = figure(2, 1, "what is to be seen").subplots(1, 2)
    for axes in (rates, counts):
        axes.plot([0, 1], [0.25, 7])
    label_axes(rates, "x", "y", "a title")
    label_axes(counts, "x", "y", rates=False)
    assert (rates.get_xlabel(), rates.get_ylabel(), rates.get_title()) == ("x", "y", "a title")
    low, high = rates.get_ylim()
    assert -0.1 < low < 0 < 1 < high < 1.1
    assert counts.get_ylim()[0] == 0
    assert counts.get_ylim()[1] > 7


def test_a_legend_below_has_each_name_once() -> None:
    fig = figure(2, 1, "what is to be seen")
    for axes in fig.subplots(1, 2):
        axes.plot([0, 1], color=BLUE, label="reward")
        axes.plot([1, 0], label="KL")
    legend_below(fig, 2)
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["reward", "KL"]


def test_a_matplotlibrc_in_the_working_folder_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bytes_of_a_figure() -> bytes:
        sheet = figure(2, 1, "what is to be seen")
        label_axes(sheet.subplots(), "x", "y")
        return png(sheet)

    import matplotlib

    expected = bytes_of_a_figure()
    monkeypatch.chdir(tmp_path)
    Path("matplotlibrc").write_text("axes.facecolor: black\n", encoding="utf-8")
    with matplotlib.rc_context(fname="matplotlibrc"):
        assert bytes_of_a_figure() == expected
