"""The pages of the milestones: their commands are run in order in a fresh copy, and print what the page shows.

An example: the page shows ``passed 34 of 80: 42.5 %`` below the first command. Its words must stand in that order in
what the command printed; how many spaces and line breaks are between them is the terminal's business.
"""

import re
import shlex
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from course.exercises.milestones import EXERCISES

PAGES = sorted((ROOT / "docs" / "milestones").glob("*.md"))
FIGURES = [ROOT / "docs" / "figures" / name for name in ("loop_and_tokens.svg", "frozen_data.svg")]
SVG = "{http://www.w3.org/2000/svg}"
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Each fenced block: its kind and its text."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def lay_out(folder: Path) -> None:
    """The data, and the sheets as they ship: what a student has written since is left out."""
    shutil.copytree(ROOT / "data", folder / "data")
    for sheet in [*(ROOT / "exercises").glob("*.md"), *(ROOT / "notes").glob("*.md")]:
        lines = sheet.read_text(encoding="utf-8").split("\n")
        (folder / sheet.parent.name).mkdir(exist_ok=True)
        own = "\n".join(line for line in lines if line.startswith(("#", ">")))
        (folder / sheet.parent.name / sheet.name).write_text(own, encoding="utf-8")


@pages
def test_every_command_of_a_milestone_does_what_the_page_shows(lab: Lab, page: Path) -> None:
    lay_out(lab.folder)
    printed, ran = "", 0
    for kind, text in blocks(page):
        if kind == "bash":
            [line] = text.splitlines()
            python, m, module, *arguments = shlex.split(line)
            assert (python, m) == ("python3", "-m")
            done = lab(module.removeprefix("course."), *arguments)
            assert done.status == (module == "course.check"), (line, done.err)  # nothing is filled in yet
            assert done.err == ""
            printed, ran = " ".join(done.out.split()), ran + 1
        else:
            assert kind == "text"
            for line in text.splitlines():
                shown = " ".join(line.split())
                assert shown in printed, (page.name, shown)
                printed = printed.partition(shown)[2]
    assert ran > 3


@pages
def test_a_page_is_short_and_its_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.split()) <= 1_500
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []
    paths = {path for path in re.findall(r"`([a-z_]+/[\w./]*)`", text) if not path.startswith("runs/")}
    assert {path for path in paths if not (ROOT / path).exists()} == set()


@pages
def test_a_page_has_what_every_milestone_has(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for part in (
        "**Goal.**",
        "**Difficulty.**",
        "**Time.**",
        "**Given.**",
        "**You hand in**",
        "\n## Done",
        "deliverable",
        "Habits",
        "**Next.**",
    ):
        assert part in text, part


@pages
def test_a_page_lists_as_many_deliverables_as_the_check_counts(page: Path) -> None:
    done = page.read_text(encoding="utf-8").partition("\n## Done")[2]
    rows = re.findall(r"^\| (?!deliverable)\w.*\|$", done, re.MULTILINE)
    assert len(rows) == sum(exercise.milestone == page.stem for exercise in EXERCISES.values())


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.stem)
def test_a_figure_has_its_text_alternative_and_asks_nothing_of_the_network(figure: Path) -> None:
    root = ET.parse(figure).getroot()
    assert root.get("aria-labelledby") == "title desc"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert len((desc.text or "").split()) > 30
    assert {element.tag for element in root.iter()} & {f"{SVG}script", f"{SVG}image", f"{SVG}foreignObject"} == set()
    source = figure.read_text(encoding="utf-8")
    assert re.findall(r"https?://", source.replace("http://www.w3.org/2000/svg", "")) == []
    background = root.find(f"{SVG}rect")
    assert background is not None  # opaque, so that it is read on a dark page as on a light one
    assert background.get("fill") == "#fbfaf6"
