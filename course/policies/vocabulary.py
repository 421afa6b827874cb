"""The tokens of the small policy, and the one place where tokens become text and text becomes tokens.

A policy chooses pieces, the verifier is given text. Between the two stands ``Pieces.text``, and nothing else. The way
back is not unique, as with any tokenizer: ``1`` and ``2`` join to ``12``, and no piece ``12`` is needed for it.

Notation
    V         how many pieces there are; a token is a number below V
    END       the token that ends a text; its piece is empty
    V itself  nothing: what stands before the beginning, and a piece of a prompt that is not in the vocabulary
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Self

END = 0
OWN = ("", *"0123456789", "Final", ":", " ", "-", "\n", "The answer is", ".")  # what every policy can write
_WORD_OR_CHARACTER = re.compile("[A-Za-z]+|.", re.DOTALL)


class Pieces(tuple[str, ...]):
    """The vocabulary: V pieces of text, in the order of their tokens."""

    @classmethod
    def of(cls, prompts: Iterable[str]) -> Self:
        """The policy's own pieces and those the prompts need: their words whole, all else character by character."""
        needed = {piece for prompt in prompts for piece in _WORD_OR_CHARACTER.findall(prompt)}
        return cls((*OWN, *sorted(needed.difference(OWN))))

    @cached_property
    def _longest_first(self) -> "re.Pattern[str]":
        return re.compile(
            "|".join(re.escape(piece) for piece in sorted(self, key=len, reverse=True) if piece) + "|.", re.DOTALL
        )

    @cached_property
    def _token(self) -> dict[str, int]:
        return {piece: token for token, piece in enumerate(self)}

    def tokens(self, text: str) -> list[int]:
        """Text → tokens, the longest piece that fits first. A character that no piece has becomes V, nothing."""
        return [self._token.get(piece, len(self)) for piece in self._longest_first.findall(text)]

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens → text."""
        return "".join([self[token] for token in tokens])
