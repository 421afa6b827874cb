"""What course.token_inspect prints: what the verifier reads, then what a policy would have to choose."""

from collections.abc import Sequence
from itertools import groupby

from course.artifacts.learning import TokenizedRow
from course.artifacts.records import LearningResult
from course.policies.tokenizer import VOCABULARIES
from course.reports.tables import table
from course.text import clipped

_SHOWN = 40  # tokens of a text; all of them are in the run
_WIDTH = 46  # characters of a text or token


def token_inspect_text(results: Sequence[LearningResult], rows: Sequence[TokenizedRow]) -> str:
    """The verdict on each text, then its tokens in each vocabulary. ``rows``: of one vocabulary after the other."""
    verdicts = [
        (number, quote((result.completion or "").encode()), f"{result.reward:.1f}", result.details.outcome)
        for number, result in enumerate(results, 1)
    ]
    parts = [
        "Loop C, where tokens become text. Nothing is learned here.",
        "The verifier reads text:",
        table(("", "text", "reward", "outcome"), verdicts, right=(0, 2)),
        "The policy chooses tokens, here in quotes with their ids below:\n« » marks what differs from text 1.",
    ]
    for vocabulary, group in groupby(rows, key=lambda row: row.vocabulary):
        same = list(group)
        cells = [(number, f"{len(row.token_ids):,}", tokens_text(row, same[0])) for number, row in enumerate(same, 1)]
        parts.append(table(("", "n", f"tokens in {vocabulary}, of {VOCABULARIES[vocabulary]}"), cells, right=(0, 1)))
    parts.append("The vocabulary decides where a text is cut. The verifier scores the whole text.")
    return "\n\n".join(parts)


def tokens_text(row: TokenizedRow, first: TokenizedRow) -> str:
    """Tokens, then ids. « » around each token that differs from the first text's, or where one of those is missing."""
    start, first_stop, stop = difference(first.token_ids, row.token_ids)
    tokens = [
        f"«{quote(bytes.fromhex(token))}»" if start <= place < stop else quote(bytes.fromhex(token))
        for place, token in enumerate(row.token_bytes[:_SHOWN])
    ]
    if start == stop < first_stop:
        tokens.insert(start, "«»")
    ids = list(map(str, row.token_ids[:_SHOWN]))
    if len(row.token_ids) > _SHOWN:
        ids.append(f"and {len(row.token_ids) - _SHOWN:,} more")
    return f"{' '.join(tokens)}\n{' '.join(ids)}"


def difference(first: Sequence[int], other: Sequence[int]) -> tuple[int, int, int]:
    """``(start, first_stop, stop)``: other[start:stop] stands where first[start:first_stop] does; the rest is the same.

    One stretch, from the first token that differs to the last: tokens in between may agree. Empty where all agree.
    """
    shorter = min(len(first), len(other))
    start = next((i for i in range(shorter) if first[i] != other[i]), shorter)
    same = next((i for i in range(shorter - start) if first[-1 - i] != other[-1 - i]), shorter - start)
    return start, len(first) - same, len(other) - same


def quote(token: bytes) -> str:
    r"""Bytes in quotes, safe to print. A byte that is part of a character is ``\xNN``; a long text ends in …"""
    return clipped(f"'{token.decode('utf-8', 'backslashreplace')}'", _WIDTH)
