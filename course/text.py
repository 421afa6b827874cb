"""Machinery: untrusted text made fit to print, the one place. What a text contains is shown, never obeyed.

Not part of the scorer's fingerprint: another way to print a character makes no other scorer.
"""

import os
import re
import shlex
import unicodedata
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from course.faults import type_name

# Python calls these printable, though each shows as nothing or as a blank.
_SHOW_AS_NOTHING: Final = re.compile(
    "["
    "\u034f"  # combining grapheme joiner
    "\u115f\u1160\u3164\uffa0\U00016fe4"  # Hangul fillers, Khitan filler
    "\u17b4\u17b5"  # Khmer inherent vowels
    "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
    "\u2800\U0001d159"  # Braille pattern blank, null notehead
    "]"
)
_QUOTED: Final = 80  # the longest value that an error quotes
_WINDOWS: Final = os.name == "nt"
_CONTROLS: Final = {  # Unicode gives these characters no names, only aliases
    "\x00": "NULL",
    "\x01": "START OF HEADING",
    "\x02": "START OF TEXT",
    "\x03": "END OF TEXT",
    "\x04": "END OF TRANSMISSION",
    "\x05": "ENQUIRY",
    "\x06": "ACKNOWLEDGE",
    "\x07": "ALERT",
    "\x08": "BACKSPACE",
    "\x09": "TAB",
    "\x0a": "LINE FEED",
    "\x0b": "LINE TABULATION",
    "\x0c": "FORM FEED",
    "\x0d": "CARRIAGE RETURN",
    "\x0e": "SHIFT OUT",
    "\x0f": "SHIFT IN",
    "\x10": "DATA LINK ESCAPE",
    "\x11": "DEVICE CONTROL ONE",
    "\x12": "DEVICE CONTROL TWO",
    "\x13": "DEVICE CONTROL THREE",
    "\x14": "DEVICE CONTROL FOUR",
    "\x15": "NEGATIVE ACKNOWLEDGE",
    "\x16": "SYNCHRONOUS IDLE",
    "\x17": "END OF TRANSMISSION BLOCK",
    "\x18": "CANCEL",
    "\x19": "END OF MEDIUM",
    "\x1a": "SUBSTITUTE",
    "\x1b": "ESCAPE",
    "\x1c": "INFORMATION SEPARATOR FOUR",
    "\x1d": "INFORMATION SEPARATOR THREE",
    "\x1e": "INFORMATION SEPARATOR TWO",
    "\x1f": "INFORMATION SEPARATOR ONE",
    "\x7f": "DELETE",
    "\x80": "PADDING CHARACTER",
    "\x81": "HIGH OCTET PRESET",
    "\x82": "BREAK PERMITTED HERE",
    "\x83": "NO BREAK HERE",
    "\x84": "INDEX",
    "\x85": "NEXT LINE",
    "\x86": "START OF SELECTED AREA",
    "\x87": "END OF SELECTED AREA",
    "\x88": "CHARACTER TABULATION SET",
    "\x89": "CHARACTER TABULATION WITH JUSTIFICATION",
    "\x8a": "LINE TABULATION SET",
    "\x8b": "PARTIAL LINE FORWARD",
    "\x8c": "PARTIAL LINE BACKWARD",
    "\x8d": "REVERSE LINE FEED",
    "\x8e": "SINGLE SHIFT TWO",
    "\x8f": "SINGLE SHIFT THREE",
    "\x90": "DEVICE CONTROL STRING",
    "\x91": "PRIVATE USE ONE",
    "\x92": "PRIVATE USE TWO",
    "\x93": "SET TRANSMIT STATE",
    "\x94": "CANCEL CHARACTER",
    "\x95": "MESSAGE WAITING",
    "\x96": "START OF GUARDED AREA",
    "\x97": "END OF GUARDED AREA",
    "\x98": "START OF STRING",
    "\x99": "SINGLE GRAPHIC CHARACTER INTRODUCER",
    "\x9a": "SINGLE CHARACTER INTRODUCER",
    "\x9b": "CONTROL SEQUENCE INTRODUCER",
    "\x9c": "STRING TERMINATOR",
    "\x9d": "OPERATING SYSTEM COMMAND",
    "\x9e": "PRIVACY MESSAGE",
    "\x9f": "APPLICATION PROGRAM COMMAND",
}


def visible(text: str) -> str:
    """The text with every character that could hide, move or command anything written as ``<U+XXXX NAME>``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"<{named(char)}>" if hides(char) else char for char in text)


def hides(char: str) -> bool:
    """Whether this character cannot be seen, or moves or commands something. ASCII's space does not."""
    return not char.isprintable() or _SHOW_AS_NOTHING.match(char) is not None


def named(char: str) -> str:
    """One character as ``U+XXXX NAME``."""
    name = _CONTROLS.get(char) or unicodedata.name(char, f"unnamed, category {unicodedata.category(char)}")
    return f"U+{ord(char):04X} {name}"


def clipped(text: str, width: int) -> str:
    """One line of untrusted text, its unseen characters written out, at most ``width`` characters long."""
    shown = visible(text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def visible_whole(text: str) -> str:
    """Visible, the spaces at its ends too."""
    inner = text.strip(" ")
    before, after = (text.partition(inner)[0], text.rpartition(inner)[2]) if inner else (text, "")
    return f"<{named(' ')}>" * len(before) + visible(inner) + f"<{named(' ')}>" * len(after)


def one_line(text: str, width: int) -> str:
    """The same with ⏎ for a line feed, whose full name leaves no room for a text of many lines."""
    return clipped(text.replace("\n", "⏎"), width)


def visible_path(path: Path) -> str:
    """A path for a person: a folder's name can be as hostile as a completion."""
    return visible(str(path))


def shell_word(path: Path) -> str:
    """A path as one word to paste into a POSIX shell or, on Windows, into PowerShell or cmd.

    A path with characters that cannot be seen is shown as ``visible_path`` shows it: the word then names no file, and
    pasting it does nothing else. On Windows a name with ``$``, ``%`` or a backtick has no form that both shells read.
    """
    shown = visible_path(path)
    if shown.startswith("-"):
        shown = f".{os.sep}{shown}"  # else it is taken for an option
    if not _WINDOWS:
        return shlex.quote(shown)
    return shown if re.fullmatch(r"[\w.:/\\-]+", shown) else f'"{shown}"'


def describe_error(error: BaseException | None) -> str:
    """An exception's class and words in one short line, however odd both are: either may be made by a student."""
    try:
        words = str.__str__(str(error))
    except BaseException as odd:
        words = f"its own words raise {clipped(type_name(odd), _QUOTED)}"
    return clipped(f"{type_name(error)[:_QUOTED]}: {clipped(words, _QUOTED)}", 2 * _QUOTED)


def did_you_mean(word: str, names: Mapping[str, str]) -> str:
    """``did you mean …? ``, to stand first in an error, where a name begins so or is close; else nothing.

    ``names``: name -> what to type for it, of which 10,000 are looked through.
    """
    from difflib import get_close_matches

    known = [*islice(names, 10_000)]
    close = [name for name in known if word and name.startswith(word)] or get_close_matches(word, known, n=1)
    return f"did you mean {quote(names[close[0]])}? " if close else ""


def quote(text: str) -> str:
    """A value that an error quotes, at most 80 characters of it."""
    return clipped(text, _QUOTED)
