"""Machinery: what course.token_inspect prints, what the verifier reads and what a policy would have to choose."""

from collections.abc import Sequence
from itertools import groupby

from course.artifacts.learning import TokenizedRow
from course.artifacts.records import LearningResult
from course.policies.tokenizer import VOCABULARIES
from course.reports.tables import table
from course.text import clipped

_TOKENS_SHOWN = 40  # tokens of a text; all of them are in the run
_WIDTH = 46  # characters of a text or token


def token_inspect_text(results: Sequence[LearningResult], rows: Sequence[TokenizedRow]) -> str:
    """The tokens of each text, then the verdicts on the texts. ``rows``: of one vocabulary after the other."""
    verdicts = [
        (number, quote((result.completion or "").encode()), f"{result.reward:.1f}", result.details.outcome)
        for number, result in enumerate(results, 1)
    ]
    parts = [
        "Loop C, where tokens become text. Nothing is learned here.",
        "The policy chooses tokens, here in quotes with their ids below:",
    ]
    for vocabulary, group in groupby(rows, key=lambda row: row.vocabulary):
        cells = [(number, f"{len(row.token_ids):,}", tokens_text(row)) for number, row in enumerate(group, 1)]
        parts.append(table(("", "n", f"tokens in {vocabulary}, of {VOCABULARIES[vocabulary]}"), cells, right=(0, 1)))
    parts += [
        "The vocabulary decides where a text is cut. The verifier reads the whole text:",
        table(("", "text", "reward", "outcome"), verdicts, right=(0, 2)),
    ]
    return "\n\n".join(parts)


def tokens_text(row: TokenizedRow) -> str:
    """The first tokens of a text, then their ids."""
    tokens = [quote(bytes.fromhex(token)) for token in row.token_bytes[:_TOKENS_SHOWN]]
    ids = list(map(str, row.token_ids[:_TOKENS_SHOWN]))
    if len(row.token_ids) > _TOKENS_SHOWN:
        ids.append(f"and {len(row.token_ids) - _TOKENS_SHOWN:,} more")
    return f"{' '.join(tokens)}\n{' '.join(ids)}"


def quote(token: bytes) -> str:
    r"""Bytes in quotes, safe to print. A byte that is part of a character is ``\xNN``; a long text ends in …"""
    return clipped(f"'{token.decode('utf-8', 'backslashreplace')}'", _WIDTH)
