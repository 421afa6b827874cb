"""Machinery: the tokens of two real language models, as ids and bytes, offline.

Everything in the lab that tokenizes calls ``encode``; splintr-rs does the work, since its package holds the
vocabularies.

Covered
    Text that spells a special token (``<|endoftext|>``) is ordinary text: it becomes ordinary tokens.
    The tokens joined are the text's UTF-8, byte for byte. A token may end in the middle of a character.
Not covered
    The tokens that a chat format puts around a text. Other ways to write the same text: a policy may sample '3', '2',
    '3' where its tokenizer would make one '323'.
"""

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from splintr import AnyTokenizer

VOCABULARIES: Final = {"o200k_base": "GPT-4o", "mistral_v3": "Mistral NeMo"}  # name -> a model that uses it


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
