"""How Sphinx builds the site from the lab's Markdown: ``python3 -m sphinx -c docs -n -W . site``.

The lab's folder is the source, so that a link is the same on the site, in an editor and where the repository is shown.
"""

project = "RL Foundations for LLMs"
author = "the lab's authors"
copyright = "MIT licence"  # noqa: A001  (Sphinx's name)
html_title = "RL Foundations"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "data/*.md", "exercises/*.md", "notes/*.md", "teacher/**.md"]
exclude_patterns = [".*", "**/.*", "runs", "site", "teacher/solutions"]
suppress_warnings = [
    "toc.not_included",  # sheets and READMEs are reached by links; tests/docs/test_site.py holds the rest
    "misc.highlighting_failure",  # where a line stands for others, it is no JSON
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": True, "navigation_with_keys": True, "footer_end": []}
html_copy_source = False
html_show_sphinx = False
