"""Machinery: untrusted text made fit to print, the one place. What a text contains is shown, never obeyed.

Not part of the scorer's fingerprint: another way to print a character makes no other scorer.
"""

import re
import shlex
import unicodedata
from pathlib import Path
from typing import Final

from course.faults import INVISIBLE

_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")  # Python calls some of these printable
_UNNAMED: Final = {"\t": "TAB", "\n": "LINE FEED", "\r": "CARRIAGE RETURN", "\0": "NULL", "\x1b": "ESCAPE"}


def visible(text: str) -> str:
    """The text with every character that could hide, move or command anything written as ``<U+XXXX NAME>``."""
    if text.isascii() and text.isprintable():
        return text
    hidden = set(_INVISIBLE.findall(text))
    return "".join(char if char.isprintable() and char not in hidden else f"<{named(char)}>" for char in text)


def named(char: str) -> str:
    """One character as ``U+XXXX NAME``."""
    name = _UNNAMED.get(char) or unicodedata.name(char, f"unnamed, category {unicodedata.category(char)}")
    return f"U+{ord(char):04X} {name}"


def clipped(text: str, width: int) -> str:
    """One line of untrusted text, its unseen characters written out, at most ``width`` characters long."""
    shown = visible(text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def one_line(text: str, width: int) -> str:
    """The same with ⏎ for a line feed, whose full name leaves no room for a text of many lines."""
    return clipped(text.replace("\n", "⏎"), width)


def quoted_path(path: Path) -> str:
    return shlex.quote(visible(str(path)))


def visible_path(path: Path) -> str:
    """A path for a person: a folder's name can be as hostile as a completion."""
    return visible(str(path))
