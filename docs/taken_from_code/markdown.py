"""What all generated pages are written with: paragraphs of 120 columns and tables."""

from collections.abc import Iterable, Sequence
from textwrap import fill

Rows = Iterable[Sequence[str]]


def paragraph(text: str) -> str:
    """One paragraph, or one item of a list, folded; its own line breaks do not count."""
    words = " ".join(text.split())
    item = words.startswith(("- ", "1. "))
    return fill(
        words,
        120,
        subsequent_indent="  " * item + " " * words.startswith("1. "),
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def fence(kind: str, lines: Iterable[str]) -> str:
    return "\n".join([f"```{kind}", *lines, "```"])


def page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def code(text: str) -> str:
    """Text in a code span, whatever it contains."""
    ticks = "``" if "`" in text else "`"
    return f"{ticks}{text}{ticks}"
