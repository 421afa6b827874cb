"""Every page of the course: its blocks run and print what it shows, and its links lead somewhere.

An example: a page shows ``passed 34 of 80`` below a command. The command is run in a fresh copy of the student's
folder; had it printed ``passed 35 of 80``, the test would name the page, its line, and the line that did not come.
"""

import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from doc_pages import (
    ALL_TESTS,
    COMMAND,
    LANGUAGES,
    MARKS,
    ONE_SYSTEMS,
    anchors,
    blocks,
    briefly,
    differs,
    faults,
    links,
    tokens,
)

import lab
from teacher.release import write_copy

PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in [
        ROOT / "README.md",
        *sorted(path for path in (ROOT / "docs").rglob("*.md") if "node_modules" not in path.parts),
        *sorted((ROOT / "teacher").glob("guide/*.md")),
        ROOT / "teacher" / "README.md",
    ]
}
# Tests of their own hold what these show: they need data that a student's copy has not, or are generated.
RUN_ELSEWHERE = {
    "docs/own_data.md",
    "docs/loop_c.md",
    "docs/loop_c_differences.md",
    "teacher/README.md",
}
SPHINX = {"{toctree}", "{help}", "{eval-rst}"}  # blocks that the site fills
RUN = [
    name
    for name in PAGES
    if name not in RUN_ELSEWHERE and any(b.language in ("bash", "python") for b in blocks(PAGES[name]))
]
SOLUTIONS = ROOT / "data" / "keys"
pages = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("released") / "copy"
    write_copy(copy)
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_every_block_of_a_page_does_what_the_page_shows(
    name: str, released: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    copy = tmp_path / "lab"
    shutil.copytree(released, copy)
    if name.startswith("teacher/"):
        shutil.copytree(ROOT / "teacher", copy / "teacher")
    found = faults(PAGES[name], copy, SOLUTIONS, whole=request.config.getoption("--long"))
    assert "\n".join(found) == ""


@pages
def test_every_block_is_of_a_kind_that_is_looked_at(name: str) -> None:
    if name in RUN_ELSEWHERE:
        return
    assert {block.language for block in blocks(PAGES[name])} <= LANGUAGES | SPHINX
    assert {mark for block in blocks(PAGES[name]) for mark in block.marks} <= MARKS
    for block in blocks(PAGES[name]):
        if block.language == "python":
            assert ">>>" in block.text or "example" in block.marks
        if block.language == "diff":
            assert name == "docs/loop_c_differences.md" or "example" in block.marks


@pages
def test_what_is_folded_is_markdown_that_is_read(name: str) -> None:
    """A line without a blank one between itself and a tag belongs to the tag: nothing would run it or render it."""
    html = [token.content.strip() for token in tokens(PAGES[name]) if token.type == "html_block"]
    tags = [block for block in html if not block.startswith("<!--")]
    assert [tag for tag in tags[::2] if not re.fullmatch(r"<details>\n<summary>[^<>\n]+</summary>", tag)] == []
    assert tags[1::2] == ["</details>"] * (len(tags) // 2)
    assert len(tags) % 2 == 0


@pages
def test_what_is_typed_can_be_typed_on_every_system(name: str) -> None:
    lines = [
        line
        for block in blocks(PAGES[name])
        if block.language == "bash" and "example" not in block.marks
        for line in block.lines
    ]
    assert [line for line in lines if not COMMAND.match(line)] == []
    assert [line for line in lines if ONE_SYSTEMS.search(line)] == []
    long = [line for b in blocks(PAGES[name]) if "long" in b.marks for line in b.lines]
    assert [line for line in long if not briefly(line)] == []


def test_no_page_takes_the_folder_of_another_pages_run() -> None:
    """Whoever has tried the README's commands, or the reference's, can still do a milestone's as they stand."""
    pages_of = {lab.FIRST.relative_to(lab.LAB).as_posix(): {"lab.py"}}
    for name in RUN:
        for block in blocks(PAGES[name]):
            for folder in re.findall(r"--outdir (\S+)", block.text if block.language == "bash" else ""):
                pages_of.setdefault(folder, set()).add(name)
    for folder in re.findall(r"--outdir (\S+)", (ROOT / "docs" / "loop_c.md").read_text(encoding="utf-8")):
        pages_of.setdefault(folder, set()).add("docs/loop_c.md")
    assert {folder: names for folder, names in pages_of.items() if len(names) > 1} == {}


@pages
def test_every_link_leads_to_something_that_is_there(name: str) -> None:
    page = PAGES[name]
    for link in links(page):
        path, _, anchor = link.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), link
        assert not anchor or anchor in anchors(place), link


@pytest.mark.parametrize(
    ("shown", "came", "band", "missing"),
    [
        ("a 1\nb", "a 1\nb", None, ""),
        ("a   1\n\nb", "a 1 \nb\n", None, ""),
        ("a", "a\nb", None, "an end, and more came"),
        ("a\n…", "a\nb\nc", None, ""),
        ("…\nc", "a\nb\nc", None, ""),
        ("a\n…\nd", "a\nb\nc", None, "d"),
        ("a … c", "a 17 c", None, ""),
        ("a … d", "a 17 c", None, "a … d"),
        ("p 0.50", "p 0.54", 0.05, ""),
        ("p 0.50", "p 0.56", 0.05, "p 0.50"),
        ("p 200", "p 209", 0.05, ""),
        ("p 200", "p 211", 0.05, "p 200"),
        ("p 0.5", "p 0.5", None, ""),
        ("p 0.5", "p 0.6", None, "p 0.5"),
        ("p … of 5", "p 3 of 5", 0.01, ""),
        ("…\np 5\n…", "p 1\np 5\nq", 0.05, ""),
    ],
)
def test_what_is_shown_is_compared(shown: str, came: str, band: float | None, missing: str) -> None:
    assert differs(shown.split("\n"), came.split("\n"), band) == missing


BROKEN = {  # a page with one fault -> what is said of it
    "```bash\npython3 -m course.eval --help\n```\n```text\nusage\n```\n": "shows what did not come: usage",
    "```bash\npython3 -m course.eval --help\n```\n<details>\n<summary>What came</summary>\n\n"
    "```text\nusage\n```\n\n</details>\n": "shows what did not come: usage",
    "```bash exit=1\npython3 -m course.eval --help\n```\n": "status 0 and not 1",
    "```bash\npython3 -m course.eval\n```\n": "status 2 and not 0",
    "```python\n>>> 1 + 1\n3\n\n```\n": "Expected:",
    "```json file=data/rollouts/frozen_rollouts_dev.meta.json\n{\n```\n": "an end, and more came",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_page_that_shows_what_is_not_so_is_found(text: str, released: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    [fault] = faults(page, released, SOLUTIONS)
    assert BROKEN[text] in fault


def test_the_first_commands_of_all_are_run_by_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [line for line in ("python3 lab.py", ALL_TESTS) if f"\n{line}" not in ci] == []
