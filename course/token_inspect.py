r"""Machinery: the boundary between tokens and text: a policy chooses tokens, and the verifier reads text.

    python3 -m course.token_inspect
    python3 -m course.token_inspect "Final: 323" "Final: -323" "Final: 323\n"

Without a TEXT, the command shows the right line and five near misses. Each text is split into the tokens of two real
language models, and scored as an answer to the bandit's prompt. Tokens are the actions whose probabilities Loop C
changes.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import TokenizedRow, learning_result
from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.errors import UserError
from course.policies.tokenizer import VOCABULARIES, encode
from course.show.ending import end_run
from course.show.tables import table
from course.text import clipped, quote

TEXTS: Final = ("Final: 323", "Final:  323", "Final: 0323", "Final:\n323", "Final:323", "Final:\u00a0323")
LOG: Final = "tokens.jsonl"
_TOKENS_SHOWN = 40  # tokens of a text; all of them are in the run
_WIDTH = 46  # characters of a text or token


def unescape(text: str, number: int) -> str:
    r"""A TEXT of the command line, with ``\n``, ``\t``, ``\uXXXX`` and ``\\`` turned into characters, as JSON does.

    ``number``: the place of TEXT on the command line, from 1 on. Raises UserError for a backslash that JSON does not
    know, for a byte that is not UTF-8, and for one half of a UTF-16 pair.
    """
    expected = r"after each backslash n, t, uXXXX or a second backslash"
    try:
        unescaped = str(json.loads('"' + text.replace('"', r"\"") + '"', strict=False))
        expected = "whole characters in UTF-8"
        unescaped.encode()
    except ValueError:
        raise UserError(f"TEXT {number}: expected {expected}, got {quote(text)}") from None
    return unescaped


def token_inspect_text(results: Sequence[LearningResult], rows: Sequence[TokenizedRow]) -> str:
    """The tokens of each text, then the verdicts on the texts. ``rows``: of one vocabulary after the other."""
    verdicts = [
        (number, quote_bytes((result.completion or "").encode()), f"{result.reward:.1f}", result.details.outcome)
        for number, result in enumerate(results, 1)
    ]
    parts = [
        "Loop C, where tokens become text. Nothing is learned here.",
        "A policy chooses tokens. Each token stands in quotes, with its id below:",
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
    tokens = [quote_bytes(bytes.fromhex(token)) for token in row.token_bytes[:_TOKENS_SHOWN]]
    ids = list(map(str, row.token_ids[:_TOKENS_SHOWN]))
    if len(row.token_ids) > _TOKENS_SHOWN:
        ids.append(f"and {len(row.token_ids) - _TOKENS_SHOWN:,} more")
    return f"{' '.join(tokens)}\n{' '.join(ids)}"


def quote_bytes(token: bytes) -> str:
    r"""Bytes in quotes, safe to print. A byte that is part of a character is ``\xNN``; a long text ends in …"""
    return clipped(f"'{token.decode('utf-8', 'backslashreplace')}'", _WIDTH)


def main() -> None:
    parser = Parser("course.token_inspect", "Loop C: the tokens that a policy chooses, and the text that is scored.")
    help_ = r"a completion; \n, \t, \uXXXX and \\ stand for characters (default: the right line, five near misses)"
    parser.add_argument("texts", nargs="*", metavar="TEXT", help=help_)
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.bandit import EXAMPLE

    texts = [unescape(text, number) for number, text in enumerate(args.texts, 1)] or list(TEXTS)
    with RunWriter(args.outdir) as run:
        results = [learning_result(EXAMPLE | {"id": f"text-{i}"}, text, 0) for i, text in enumerate(texts, 1)]
        rows = []
        for vocabulary in VOCABULARIES:
            for result, text in zip(results, texts, strict=True):
                tokens = encode(text, vocabulary)
                ids = [id_ for id_, _ in tokens]
                shown = [token.decode("utf-8", "backslashreplace") for _, token in tokens]
                rows.append(TokenizedRow(result.id, vocabulary, ids, shown, [token.hex() for _, token in tokens]))
        run.write_rows(RESULTS, results)
        run.write_rows(LOG, rows)
        settings = {"texts": len(texts), "vocabularies": list(VOCABULARIES)}
        knob = "none: nothing was learned, texts were split into tokens"
        conditions = conditions_of(args, settings, knob=knob)
        summary = {"rewards": [result.reward for result in results]}
        end_run(run, conditions, summary, token_inspect_text(results, rows), read=[LOG])


if __name__ == "__main__":
    run_command(main)
