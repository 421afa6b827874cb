"""Machinery: a page, one file that opens by a double click and asks nothing of the network.

Covered
    Data of any kind stand in the page as JSON in which no ``<`` is left, so that no text can end the element or begin
    another; the script shows them as text only. The page's own policy lets the browser run this one script, take this
    one style sheet, and load or send nothing. Title and text are escaped.
Not covered
    What a browser's extensions add. A page that somebody edited: it is derived, and nothing seals it.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from unicodedata import name

from course.text import named, visible

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="generator" content="RL foundations lab">
"""  # every page begins so, and only a file that does is replaced
_OTHERS = 300  # visible non-ASCII characters that get a name: a text with more of them is in a language, and no trick
_FOLDER = Path(__file__).with_name("page")


def page(view: str, title: str, text: str, data: Mapping[str, Any]) -> str:
    """The page of a view of lab.js. ``text``: its first words, in paragraphs.

    ``names`` is added to the data, where they have none: the name of each character in them that may deceive.
    """
    names = data.get("names") or names_in(json.dumps(data, ensure_ascii=False))
    script, style = map(_part, ("lab.js", "lab.css"))
    policy = f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'"
    policy += "; worker-src blob:" * (view == "hack")  # its training runs in a worker, made of this same script
    title = escape(visible(title))
    paragraphs = "\n".join(f"<p>{escape(one)}</p>" for one in text.split("\n\n") if one)
    return f"""{HEAD}<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
<main data-view="{view}">
<h1>{title}</h1>
{paragraphs}
</main>
<script type="application/json" id="data">{written({**data, "names": names})}</script>
<script>{script}</script>
</html>
"""


def written(data: object) -> str:
    """As it stands in a page: JSON in which no ``<`` is left."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def names_in(text: str) -> dict[str, str]:
    """Code point, such as 200B, -> its name: of what ``visible`` writes out, and of more that is not ASCII.

    ASCII's control characters are always named: JSON escapes them, so they are not found in its text.
    """
    found = sorted(set(text) | {chr(code) for code in (*range(32), 127)})
    unseen = [char for char in found if visible(char) != char]
    known = [char for char in unseen if char.isascii() or name(char, "") != ""]
    nameless = [char for char in unseen if not char.isascii() and name(char, "") == ""]  # 137,468 private ones
    others = [char for char in found if not char.isascii() and visible(char) == char]
    return dict(named(char)[2:].split(" ", 1) for char in known + nameless[:_OTHERS] + others[:_OTHERS])


@cache
def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(part: str) -> str:
    return b64encode(sha256(part.encode()).digest()).decode()
