r"""Machinery: the boundary of token and text, what a policy chooses, and what the verifier reads.

    python -m course.token_inspect
    python -m course.token_inspect "Final: 323" "Final: -323" "Final: 323\n"

Without a TEXT it shows the right line and five near misses. Each text is split into the tokens of two real language
models, and scored as an answer to the bandit's prompt. Tokens are the actions whose probabilities Loop C changes.
"""

import re
from typing import Final

from course.artifacts.learning import TokenizedRow, learning_result
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.errors import UserError
from course.policies.tokenizer import VOCABULARIES, encode
from course.publishing import Conditions, publish
from course.reports.token_inspect import token_inspect_text
from course.text import named

TEXTS: Final = ("Final: 323", "Final:  323", "Final: 0323", "Final:\n323", "Final:323", "Final:\u00a0323")
LOG: Final = "tokens.jsonl"

_ESCAPE: Final = re.compile(r"\\(n|t|\\|u[0-9A-Fa-f]{4})?")
_ESCAPED: Final = {"n": "\n", "t": "\t", "\\": "\\"}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def unescape(text: str, number: int) -> str:
    r"""A TEXT of the command line with ``\n``, ``\t``, ``\uXXXX`` and ``\\`` made into characters.

    ``number``: its place among the TEXTs, from 1 on. Raises UserError for any other backslash, for a byte that is not
    UTF-8, and for one half of a UTF-16 pair.
    """

    def character(found: re.Match[str]) -> str:
        code = found[1]
        if code is None:
            got = text[found.start() : found.start() + 2]
            raise UserError(f"TEXT {number}: expected \\n, \\t, \\uXXXX or \\\\ (a backslash itself), got {got}")
        return _ESCAPED.get(code) or chr(int(code[1:], 16))

    unescaped = _ESCAPE.sub(character, text)
    if stray := _SURROGATE.search(unescaped):
        raise UserError(f"TEXT {number}: expected text, got {named(stray[0])}: no UTF-8, or half of a character")
    return unescaped


def main() -> int:
    parser = Parser("course.token_inspect", "Loop C: the tokens that a policy chooses, and the text that is scored.")
    help_ = r"a completion; \n, \t, \uXXXX and \\ stand for characters (default: the right line and five near misses)"
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
                ids, tokens = zip(*encode(text, vocabulary), strict=True) if text else ((), ())
                rows.append(TokenizedRow(result.id, vocabulary, list(ids), [token.hex() for token in tokens]))
        run.write_rows(RESULTS, results)
        run.write_rows(LOG, rows)
        conditions = Conditions(
            loop="C",
            command="course.token_inspect",
            settings={"texts": len(texts), "vocabularies": list(VOCABULARIES)},
            change=args.change,
            expect=args.expect,
            knob="none: nothing was learned, texts were split into tokens",
        )
        summary = {"rewards": [result.reward for result in results]}
        publish(run, conditions, summary, token_inspect_text(results, rows), read=[LOG])
    return 0


if __name__ == "__main__":
    run_command(main)
