"""How Sphinx builds the site from the lab's Markdown: ``python3 lab.py site``, or by hand, with every warning an error,
``python3 -m sphinx -c docs -n -W . site``.

The lab's folder is the source, so that a link is the same on the site, in an editor and where the repository is shown.
The site asks nothing of a network: it opens from its folder, and MathJax, one file of docs/node_modules, is copied into
it. Where that is missing, formulas are shown as they are written in TeX.
"""

import os
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))  # autodoc imports the records
MATHJAX = Path("node_modules", "mathjax", "es5", "tex-svg.js")  # of docs; draws formulas, needs no font
LIVE = "docs/live"  # pages that are whole already
TEACHERS = "teacher/guide/index"
TO_THE_FRONT_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=docs/index.html">
<title>RL Foundations</title>
<a href="docs/index.html">The front page</a>
</html>
"""

project = "RL Foundations for LLMs"
author = "the lab's authors"
html_title = "RL Foundations"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**",
    "data/*.md",
    "data/committee/*.md",
    "exercises/*.md",
    "notes/*.md",
    "teacher/**.md",
]
exclude_patterns = [
    ".*",
    "**/.*",
    "runs",
    "site",
    "docs/live",
    "docs/node_modules",
]
suppress_warnings = [
    "toc.not_included",  # sheets and READMEs are reached by links; tests/docs/test_site.py holds the rest
    "misc.highlighting_failure",  # where a line stands for others, it is no JSON
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# The records of the files that go in and come out, docs/reference/artifacts.md.
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "exclude-members": "file_kind",
    "member-order": "bysource",
    "no-index": True,  # a search finds the page, not each field
}
add_module_names = False
autodoc_typehints_format = "short"
nitpick_ignore_regex = [("py:.*", ".*")]  # types are shown, and link to nothing
smartquotes = False  # "--id" is an option and no dash

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}  # light or dark as the system is, until the reader chooses
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": True,
    "navbar_center": [],  # the sidebar has it all
    "footer_start": [],
    "footer_end": [],
    "search_bar_text": "Search the course",
}
templates_path = ["templates"]
html_sidebars = {"**": ["contents"]}
html_static_path = ["site.css"]
if (LAB / "docs" / MATHJAX).exists():
    html_static_path.append(str(MATHJAX))
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # it would ask for each page that was found, which a browser refuses from file://
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"  # what is typed, not what is answered

mathjax_path = MATHJAX.name
mathjax3_config = {"options": {"enableMenu": False}}  # each formula would be a stop of the Tab key


class Help(SphinxDirective):
    """The help of a command, as the command prints it. On GitHub the block shows what to type for it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        _python, _m, module, _help = self.content[0].split()
        environment = os.environ | {"COLUMNS": "78", "NO_COLOR": "1", "PYTHONPATH": str(LAB)}
        done = subprocess.run(
            [sys.executable, "-m", module, "--help"], cwd=LAB, env=environment, capture_output=True, encoding="utf-8"
        )
        if done.returncode:
            raise self.error(f"{module} --help ended with status {done.returncode}: {done.stderr}")
        return [nodes.literal_block(done.stdout, done.stdout, language="text")]


def setup(app: Sphinx) -> None:
    app.add_directive("help", Help)
    app.connect("source-read", add_teachers_guide)
    app.connect("source-read", unwrap_alternatives)
    app.connect("doctree-read", open_live_pages, priority=400)  # before what is to be downloaded is collected
    app.connect("doctree-read", link_figures)
    app.connect("html-page-context", show_tex, priority=900)  # after MathJax was asked for
    app.connect("build-finished", add_whole_pages)


def add_teachers_guide(app: Sphinx, page: str, source: list[str]) -> None:
    """Where there is one (not in a student's copy), it comes last in the table of contents."""
    if page == app.config.root_doc and (LAB / f"{TEACHERS}.md").exists():
        source[0] += f"\n```{{toctree}}\n:caption: For the teacher\n:hidden:\n\n../{TEACHERS}\n```\n"


def unwrap_alternatives(_app: Sphinx, _page: str, source: list[str]) -> None:
    """What stands for a figure may be wrapped in the source; MyST would join the words at the line's end."""
    source[0] = re.sub(r"!\[[^\]]*\]\(", lambda found: found[0].replace("\n", " "), source[0])


def open_live_pages(_: Sphinx, page: nodes.document) -> None:
    """A link to a page that is whole already opens it; to Sphinx it is a file like any other, to be downloaded.

    Where a paragraph is nothing but such a link, the page stands below it, in a frame.
    """
    for link in list(page.findall(addnodes.download_reference)):
        if link["reftarget"].endswith(".html"):
            paragraph, place = link.parent, link["reftarget"]
            link.replace_self(nodes.reference("", "", *link.children, refuri=place))
            if len(paragraph) == 1 and isinstance(paragraph, nodes.paragraph):
                paragraph["classes"].append("live")
                paragraph.replace_self([paragraph, frame(place, paragraph.astext())])


def frame(place: str, title: str) -> nodes.raw:
    html = f'<iframe class="live" src="{escape(place)}" title="{escape(title)}" loading="lazy"></iframe>'
    return nodes.raw("", html, format="html")


def link_figures(_: Sphinx, page: nodes.document) -> None:
    """A figure is as wide as the text, and a link to itself: Sphinx makes one of each image that is given a width."""
    for image in page.findall(nodes.image):
        image["width"] = "100%"


def show_tex(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    if not (LAB / "docs" / MATHJAX).exists():
        context["script_files"] = [file for file in context["script_files"] if MATHJAX.name not in str(file.filename)]


def add_whole_pages(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        (app.outdir / "index.html").write_text(TO_THE_FRONT_PAGE, encoding="utf-8")
        if (LAB / LIVE).exists():
            shutil.copytree(LAB / LIVE, app.outdir / LIVE, dirs_exist_ok=True)
