"""The actions of a real policy: the tokens of two language models, ids and bytes, without a network.

The lab meets a tokenizer here and nowhere else. splintr-rs does the work, since it brings the vocabularies along;
tiktoken with rank files in the lab could do it with a change of this file alone.

Covered
    Text that spells a special token (``<|endoftext|>``) is text like any other: its pieces are ordinary tokens.
    The pieces joined are the text's UTF-8, byte for byte. A piece may end in the middle of a character.
Not covered
    The tokens that a chat puts around a text, and everything a policy knows: here are its actions, not their
    probabilities. A policy may also write a text by other tokens than these, '3', '2', '3' where one '323' would do:
    these are the ones that its tokenizer makes of the text.
"""

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from splintr import AnyTokenizer

VOCABULARIES: Final = {"o200k_base": "GPT-4o", "mistral_v3": "Mistral NeMo"}  # name -> a model that speaks it


def encode(text: str, vocabulary: str) -> list[tuple[int, bytes]]:
    """The tokens of a text in order, each as ``(id, bytes)``.

    Raises ValueError for a vocabulary that is not one of ``VOCABULARIES`` and for a text with a lone surrogate, which
    has no UTF-8 and so no tokens.
    """
    tokenizer = _load(vocabulary)
    return [(id_, tokenizer.decode_token_bytes(id_)) for id_ in tokenizer.encode_ordinary(text)]


@cache
def _load(vocabulary: str) -> "AnyTokenizer":
    if vocabulary not in VOCABULARIES:
        raise ValueError(f"expected a vocabulary of {', '.join(VOCABULARIES)}, got {vocabulary}")
    from splintr import Tokenizer  # 37 MB: only where something is encoded

    return Tokenizer.from_pretrained(vocabulary)
