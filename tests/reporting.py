"""What the tests of printed text share."""

import unicodedata


def columns(line: str) -> int:
    """How wide a terminal prints a line, by the Unicode database."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return len(line) + wide - sum(unicodedata.category(char) in ("Mn", "Me") for char in line)
