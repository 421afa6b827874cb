"""Machinery: the tokens of the small policy; the one place where tokens become text and text becomes tokens.

A policy samples tokens, the verifier is given text; ``Vocabulary.decode`` stands between the two. The way back is not
unique, as with any tokenizer: the tokens of ``1`` and ``2`` decode to ``12``, and no token ``12`` is needed for it.

Notation
    V         the number of tokens; a token is an int below V
    END       the token that ends a completion; its text is empty
    V itself  padding: a position before the first token, and a character of a prompt that no token has
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Self

END = 0
ANSWER_TOKENS = ("", *"0123456789", "Final", ":", " ", "-", "\n", "The answer is", ".")  # what each policy can write
_WORD_OR_CHARACTER = re.compile("[A-Za-z]+|.", re.DOTALL)


class Vocabulary(tuple[str, ...]):
    """The text of each of V tokens, in order."""

    @classmethod
    def of(cls, prompts: Iterable[str]) -> Self:
        """``ANSWER_TOKENS``, and what else the prompts need: whole words, all other text character by character."""
        needed = {text for prompt in prompts for text in _WORD_OR_CHARACTER.findall(prompt)}
        return cls((*ANSWER_TOKENS, *sorted(needed.difference(ANSWER_TOKENS))))

    @cached_property
    def _longest_first(self) -> "re.Pattern[str]":
        texts = sorted(filter(None, self), key=len, reverse=True)
        return re.compile("|".join([*map(re.escape, texts), "."]), re.DOTALL)

    @cached_property
    def _token(self) -> dict[str, int]:
        return {text: token for token, text in enumerate(self)}

    def encode(self, text: str) -> list[int]:
        """Text → tokens, the longest that fits first. A character that no token has becomes V, padding."""
        return [self._token.get(part, len(self)) for part in self._longest_first.findall(text)]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join([self[token] for token in tokens])
