"""Machinery: one HTML file that opens by a double click and asks nothing of the network.

Covered
    Data of any kind stand in the page as JSON in which no ``<`` is left, so that no text can end the element or begin
    another; the script shows them as text only. The page's own policy lets the browser run this one script, take this
    one style sheet, and load or send nothing. Title and text are escaped.
Not covered
    What a browser's extensions add. A page that somebody edited: it is derived, and nothing seals it.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
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
PARTS = Path(__file__).with_name("parts")  # NAME.js, and NAME.css where it has a style of its own
PARTS_OF_RUNS = [
    PARTS / "shared",
    PARTS / "chart",
    PARTS / "checks",
    PARTS / "report",
    PARTS / "run",
    PARTS / "learning",
    PARTS / "gate",
    PARTS / "views",
]
_OTHERS = 300  # visible non-ASCII characters that get a name: a text with more of them is in a language, and no trick


def html_page(
    view: str,
    title: str,
    text: str,
    data: Mapping[str, Any],
    parts: Sequence[Path] = PARTS_OF_RUNS,
    *,
    has_worker: bool = False,
) -> str:
    """The page as one file. ``text``: its first words, in paragraphs. ``parts``: of its script and of its style.

    ``view``: what the script shows. ``has_worker``: the script starts a worker, made of this same script.
    ``names`` is added to the data, where they have none: the name of each character in them that may deceive.
    """
    names = data.get("names") or names_in(json.dumps(data, ensure_ascii=False))
    script = "\n".join(_read(part.with_suffix(".js")) for part in parts)
    style = "\n".join(_read(part.with_suffix(".css")) for part in parts if part.with_suffix(".css").exists())
    rules = [
        "default-src 'none'",
        f"script-src 'sha256-{_digest(script)}'",
        f"style-src 'sha256-{_digest(style)}'",
    ]
    if has_worker:
        rules.append("worker-src blob:")
    rules += ["base-uri 'none'", "form-action 'none'"]
    title = escape(visible(title))
    paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.split("\n\n") if paragraph)
    return f"""{HEAD}<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
<main data-view="{view}">
<h1>{title}</h1>
{paragraphs}
</main>
<script type="application/json" id="data">{json_for_page({**data, "names": names})}</script>
<script>{script}</script>
</html>
"""


def json_for_page(data: object) -> str:
    """JSON in which no ``<`` is left."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def names_in(text: str) -> dict[str, str]:
    """Code point, such as 200B, -> its name: of what ``visible`` writes out, and of more that is not ASCII.

    ASCII's control characters are always named: JSON escapes them, so they are not found in its text.
    """
    control = {chr(code) for code in (*range(32), 127)}
    known: list[str] = []
    nameless: list[str] = []  # Unicode has 137,468 private ones
    others: list[str] = []
    for char in sorted(set(text) | control):
        if visible(char) == char:
            if not char.isascii():
                others.append(char)
        elif char.isascii() or name(char, "") != "":
            known.append(char)
        else:
            nameless.append(char)
    names: dict[str, str] = {}
    for char in [*known, *nameless[:_OTHERS], *others[:_OTHERS]]:
        code, _, rest = named(char).partition(" ")
        names[code.removeprefix("U+")] = rest
    return names


@cache
def _read(part: Path) -> str:
    return part.read_text(encoding="utf-8")


def _digest(part: str) -> str:
    return b64encode(sha256(part.encode()).digest()).decode()
