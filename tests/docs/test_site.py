"""The site is built strictly from the Markdown: a broken link, a missing reference or an unknown fence is an error.

An example: a page links to ``statistics.md#wilson``, and the heading is renamed. Sphinx warns, and the build fails.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TREES = ("docs/index.md", "teacher/guide/index.md")


def build(source: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """As docs/conf.py says, with every warning an error; the process is as free of this one as a maintainer's."""
    line = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-c",
        f"{source}/docs",
        "-n",
        "-W",
        "--keep-going",
        f"{source}",
        f"{out}",
    ]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.medium
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.stderr == ""
    assert done.returncode == 0
    assert (tmp_path / "site" / "docs" / "index.html").exists()


@pytest.mark.medium
@pytest.mark.parametrize(
    "fault", ["[there](nowhere.md)", "[there](#nowhere)", "```{nothing}\n```", "![x](nowhere.svg)"]
)
def test_a_fault_of_a_page_fails_the_build(fault: str, tmp_path: Path) -> None:
    (tmp_path / "lab" / "docs").mkdir(parents=True)
    (tmp_path / "lab" / "docs" / "conf.py").write_bytes((ROOT / "docs" / "conf.py").read_bytes())
    (tmp_path / "lab" / "docs" / "index.md").write_text(f"# A page\n\n{fault}\n", encoding="utf-8")
    assert build(tmp_path / "lab", tmp_path / "site").returncode == 1


def test_every_page_is_in_a_table_of_contents() -> None:
    """Once: a page that is in none can be reached by nobody who turns the pages."""
    listed = []
    for tree in TREES:
        for entries in re.findall(r"```\{toctree\}\n(.*?)```", (ROOT / tree).read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in entries.split("\n") if line and not line.startswith(":")]
            listed += [((ROOT / tree).parent / f"{name}.md").resolve() for name in names]
    pages = {*(ROOT / "docs").rglob("*.md"), *(ROOT / "teacher" / "guide").glob("*.md")} - {
        ROOT / tree for tree in TREES
    }
    assert sorted({page.relative_to(ROOT).as_posix() for page in pages - {*listed}}) == []
    assert len(listed) == len({*listed})
