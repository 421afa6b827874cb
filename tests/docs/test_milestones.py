"""The pages of the milestones name what the check counts, and their figures can be understood without being seen.

An example: milestone 0.5 has two deliverables in data/exercises.toml, and so two rows in the table at its end.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import ROOT

from check.milestones import EXERCISES

PAGES = sorted((ROOT / "docs" / "milestones").glob("*.md"))
DRAWN = [  # by hand; a figure that plots data comes from a script
    path
    for path in sorted((ROOT / "docs" / "figures").glob("*.svg"))
    if not path.name.startswith(("expected_", "goodhart_"))
]
SVG = "{http://www.w3.org/2000/svg}"
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@pages
def test_a_path_that_is_named_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = {path for path in re.findall(r"`([a-z_]+/[\w./]*)`", text) if not path.startswith("runs/")}
    assert {path for path in paths if not (ROOT / path).exists()} == set()


@pages
def test_the_table_at_the_end_of_a_page_names_the_deliverables_that_the_check_asks_for(page: Path) -> None:
    table = page.read_text(encoding="utf-8").partition("\n| deliverable, check |")[2]
    named = re.findall(r"^\|[^|]*`(\w+)`[^|]*\|", table, re.MULTILINE)
    assert named == [name for name, exercise in EXERCISES.items() if exercise.milestone == page.stem]


@pytest.mark.parametrize("figure", DRAWN, ids=lambda figure: figure.stem)
def test_a_figure_has_its_text_alternative_and_asks_nothing_of_the_network(figure: Path) -> None:
    root = ET.parse(figure).getroot()
    assert root.get("aria-labelledby") == "title desc"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert desc.text
    assert {element.tag for element in root.iter()} & {f"{SVG}script", f"{SVG}image", f"{SVG}foreignObject"} == set()
    source = figure.read_text(encoding="utf-8")
    assert re.findall(r"https?://", source.replace("http://www.w3.org/2000/svg", "")) == []
    background = root.find(f"{SVG}rect")
    assert background is not None  # opaque, so that it is read on a dark page as on a light one
    assert background.get("fill") == "#fbfaf6"
