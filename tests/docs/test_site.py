"""The site is built strictly from the Markdown: a broken link, a missing reference or an unknown fence is an error.

An example: a page links to ``statistics.md#wilson``, and the heading is renamed. Sphinx warns, and the build fails.
"""

import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from site_building import build

TREES = ("docs/index.md", "teacher/guide/index.md")


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.stderr == ""
    assert done.returncode == 0
    assert (tmp_path / "site" / "docs" / "index.html").exists()


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A lab of one page, which stands in docs/index.md, and of one that is whole already."""
    docs = tmp_path / "lab" / "docs"
    (docs / "live").mkdir(parents=True)
    (docs / "live" / "hack.html").write_text("<title>The hack</title>\n", encoding="utf-8")
    for name in ("conf.py", "site.css"):
        shutil.copy(ROOT / "docs" / name, docs)
    shutil.copytree(ROOT / "docs" / "templates", docs / "templates")
    return docs.parent


@pytest.mark.parametrize(
    "fault", ["[there](nowhere.md)", "[there](#nowhere)", "```{nothing}\n```", "![x](nowhere.svg)", "[x](live/no.html)"]
)
def test_a_fault_of_a_page_fails_the_build(lab: Path, tmp_path: Path, fault: str) -> None:
    (lab / "docs" / "index.md").write_text(f"# A page\n\n{fault}\n", encoding="utf-8")
    assert build(lab, tmp_path / "site").returncode == 1


def test_without_node_modules_formulas_stay_tex_and_a_live_page_is_opened_where_it_stands(
    lab: Path, tmp_path: Path
) -> None:
    (lab / "docs" / "index.md").write_text("# A page\n\n$x^2$ and [hack](live/hack.html)\n", encoding="utf-8")
    done = build(lab, tmp_path / "site")
    assert (done.stderr, done.returncode) == ("", 0)
    page = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    assert r"\(x^2\)" in page
    assert [src for src in re.findall(r'(?:src|href)="([^"]+)"', page) if "mathjax" in src or "tex-svg" in src] == []
    assert 'href="live/hack.html"' in page
    assert (tmp_path / "site" / "docs" / "live" / "hack.html").exists()
    assert [src for src in re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"', page) if "//" in src] == []


def test_a_paragraph_that_is_a_link_to_a_live_page_has_the_page_below_it(lab: Path, tmp_path: Path) -> None:
    text = "# A page\n\n[the hack](live/hack.html)\n\nSee [it](live/hack.html).\n"
    (lab / "docs" / "index.md").write_text(text, encoding="utf-8")
    assert build(lab, tmp_path / "site").stderr == ""
    page = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    assert len(re.findall("<iframe", page)) == 1
    link, _, frame = page.partition(
        '<iframe class="live" src="live/hack.html" title="the hack" loading="lazy"></iframe>'
    )
    assert re.search(r'<p class="live"><a [^>]*href="live/hack.html"><span [^>]*>the hack</span></a></p>\s*$', link)
    assert 'href="live/hack.html"' in frame


def test_a_figure_opens_by_itself_and_its_alternative_keeps_its_spaces(lab: Path, tmp_path: Path) -> None:
    (lab / "docs" / "x.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>', encoding="utf-8")
    (lab / "docs" / "index.md").write_text("# A page\n\n![One\ntwo](x.svg)\n", encoding="utf-8")
    assert build(lab, tmp_path / "site").stderr == ""
    page = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    [(place, alternative)] = re.findall(r'<a [^>]*href="([^"]*x\.svg)"><img alt="([^"]*)"', page)
    assert alternative == "One two"
    assert (tmp_path / "site" / "docs" / place).exists()


def test_every_page_is_in_a_table_of_contents() -> None:
    """Once: a page that is in none can be reached by nobody who turns the pages."""
    listed = []
    for tree in TREES:
        for entries in re.findall(r"```\{toctree\}\n(.*?)```", (ROOT / tree).read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in entries.split("\n") if line and not line.startswith(":")]
            listed += [((ROOT / tree).parent / f"{name}.md").resolve() for name in names]
    written = (path for path in (ROOT / "docs").rglob("*.md") if "node_modules" not in path.parts)
    pages = {*written, *(ROOT / "teacher" / "guide").glob("*.md")} - {ROOT / tree for tree in TREES}
    assert sorted({page.relative_to(ROOT).as_posix() for page in pages - {*listed}}) == []
    assert len(listed) == len({*listed})
