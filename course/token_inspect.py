r"""The boundary of token and text: what a policy chooses, and what the verifier gets to read.

    python -m course.token_inspect
    python -m course.token_inspect "Final: 323" "Final: -323" "Final: 323\n" --vocabulary o200k_base

``python -m course.token_inspect`` alone shows the right line and five near misses. Each is cut into the tokens of real
language models, and each is scored. Nothing is learned here: these are the actions that the rest of Loop C makes more
likely or less.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final

from course.artifacts.conditions import manifest_of
from course.artifacts.learning import Inspected
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.errors import UserError
from course.faults import MAX_DIGITS
from course.policies.tokenizer import VOCABULARIES, encode
from course.reports.run_page import run_page
from course.reports.token_inspect import blocks, closing, verdicts
from course.score import score
from course.text import named, visible_path

TEXTS: Final = ("Final: 323", "Final:  323", "Final: 0323", "Final:\n323", "Final:323", "Final:\u00a0323")
TOKENS: Final = "tokens.jsonl"

_ESCAPE: Final = re.compile(r"\\(?:([nt\\])|u([0-9A-Fa-f]{4}))?")
_ESCAPED: Final = {"n": "\n", "t": "\t", "\\": "\\"}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


KNOB = "none: nothing was learned, the boundary between tokens and text was looked at"


def unescaped(text: str, number: int) -> str:
    r"""A TEXT as meant: ``\n``, ``\t``, ``\uXXXX`` and ``\\`` written out become the characters. ``number``: from 1 on.

    Raises UserError, with the place, for any other backslash, and for what is no text: a byte of the command line
    that is not UTF-8, or one half of a character's UTF-16.
    """

    def refused(place: int, expected: str, got: str) -> UserError:
        return UserError(f"TEXT {number}, character {place + 1}: expected {expected}, got {got}")

    def character(found: re.Match[str]) -> str:
        letter, code = found.groups()
        if letter:
            return _ESCAPED[letter]
        if not code:
            raise refused(
                found.start(), r"\n, \t, \uXXXX or \\ (a backslash itself)", text[found.start() : found.start() + 2]
            )
        if _SURROGATE.match(char := chr(int(code, 16))):
            raise refused(found.start(), "a character", f"{found[0]}, half of one; write the character itself")
        return char

    if stray := _SURROGATE.search(text):
        raise refused(stray.start(), "text", f"{named(stray[0])}: a byte that is not UTF-8, or half a character")
    return _ESCAPE.sub(character, text)


def inspect(texts: Sequence[str], vocabulary: str, expected: int) -> list[Inspected]:
    """Each text cut into the tokens of one vocabulary, and scored. The scorer is given the text, never the tokens."""
    rows = []
    for text in texts:
        tokens = encode(text, vocabulary)
        scored = score({"prompt": "", "expected_answer": expected}, text)
        rows.append(
            Inspected(
                text=text,
                vocabulary=vocabulary,
                ids=[id_ for id_, _ in tokens],
                pieces=[piece.hex() for _, piece in tokens],
                reward=scored["reward"],
                outcome=scored["details"]["outcome"],
            )
        )
    return rows


def integer(text: str) -> int:
    """An argument that is an integer as the verifier wants it written."""
    from argparse import ArgumentTypeError

    if not re.fullmatch(f"0|-?[1-9][0-9]{{0,{MAX_DIGITS - 1}}}", text):
        raise ArgumentTypeError(f"expected an integer of at most {MAX_DIGITS:,} digits, such as -7, got {text}")
    return int(text)


def main() -> int:
    parser = Parser("course.token_inspect", "Loop C: the tokens that a policy chooses, and the text that is scored.")
    parser.add_argument(
        "texts",
        nargs="*",
        metavar="TEXT",
        help=r"a completion; \n, \t, \uXXXX and \\ may be written out, and -- goes before one that starts with a dash "
        "(default: the right line and five near misses)",
    )
    parser.add_argument("--expected", type=integer, default=323, metavar="INT", help="the right answer (default: 323)")
    parser.add_argument("--vocabulary", choices=VOCABULARIES, help="whose tokens (default: each, one below the other)")
    parser.add_run_options()
    args = parser.parse_args()
    texts = [unescaped(text, number) for number, text in enumerate(args.texts, 1)] or list(TEXTS)
    vocabularies = [args.vocabulary] if args.vocabulary else list(VOCABULARIES)

    with RunWriter(args.outdir) as writer:
        found = {vocabulary: inspect(texts, vocabulary, args.expected) for vocabulary in vocabularies}
        scored = found[vocabularies[0]]
        writer.write_rows(TOKENS, chain.from_iterable(found.values()))
        summary = {
            "strings": len(texts),
            "tokens": {vocabulary: [len(row.ids) for row in rows] for vocabulary, rows in found.items()},
            "rewards": [row.reward for row in scored],
        }
        writer.write_json(SUMMARY, summary)
        settings = {"strings": len(texts), "expected": args.expected, "vocabularies": vocabularies}
        manifest = manifest_of(
            loop="C", command="course.token_inspect", settings=settings, change=args.change, outputs=writer.outputs
        )
        path = writer.publish(
            manifest, run_page("C", summary, room_conditions(manifest), args.change, [], 0, knob=KNOB)
        )

    print("Loop C, where tokens become text. Nothing is learned here.\n")
    print(verdicts(scored, str(args.expected)), end="\n\n")
    for vocabulary, rows in found.items():
        print(blocks(rows, VOCABULARIES[vocabulary]), end="\n\n")
    print(closing(found))
    print(f"\nrun: {visible_path(path)}\nread: {visible_path(path / TOKENS)}")
    return 0


if __name__ == "__main__":
    run_command(main)
