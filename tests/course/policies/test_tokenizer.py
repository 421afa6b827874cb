"""The tokenizer against what others published of the same vocabularies, and against the bytes of the text itself.

The worked example. '323' is one token, '323', in o200k_base, and three, '3', '2', '3', in mistral_v3.

Not covered: ids of the reference implementations on this machine. tiktoken fetches its rank files from the network,
and Tekken's file comes with a model; neither can be had offline.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.policies.tokenizer import VOCABULARIES, encode

# How a byte of its own is numbered. Byte-level BPE since GPT-2: printable bytes first. Tekken: after 1,000 specials.
GPT2_FIRST = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
GPT2_ORDER = GPT2_FIRST + [byte for byte in range(256) if byte not in GPT2_FIRST]
FRAGMENTS = st.sampled_from(
    ["Final:", " ", "323", "0", "\n", "\r\n", "\u00a0", "−", "e\u0301", "漢字", "😀", "<s>", "[INST]"]
)
TEXTS = st.text() | st.lists(FRAGMENTS | st.text(max_size=3)).map("".join)


def by_vocabulary(*cases: tuple[Any, ...]) -> list[Any]:
    """Cases of a test that begin with a vocabulary. o200k_base is large to load, so its cases are slow."""
    slow = [pytest.mark.slow]
    return [pytest.param(*case, marks=slow if case[0] == "o200k_base" else []) for case in cases]


def pieces(text: str, vocabulary: str) -> list[bytes]:
    return [piece for _, piece in encode(text, vocabulary)]


@pytest.mark.parametrize(
    ("vocabulary", "text", "expected"),
    by_vocabulary(
        ("o200k_base", "323", [b"323"]),
        ("mistral_v3", "323", [b"3", b"2", b"3"]),
        ("o200k_base", "0323", [b"032", b"3"]),
        ("mistral_v3", "0323", [b"0", b"3", b"2", b"3"]),
        ("o200k_base", "Final: 323", [b"Final", b":", b" ", b"323"]),
        ("o200k_base", "Final:\n323", [b"Final", b":\n", b"323"]),
        ("mistral_v3", "Final:\n323", [b"Final", b":\n", b"3", b"2", b"3"]),
        ("mistral_v3", "漢", [b"\xe6\xbc", b"\xa2"]),  # one character, cut in two
        ("o200k_base", "", []),
        ("mistral_v3", "", []),
    ),
)
def test_texts_are_cut_where_the_vocabulary_cuts_them(vocabulary: str, text: str, expected: list[bytes]) -> None:
    assert pieces(text, vocabulary) == expected


@pytest.mark.parametrize(
    ("vocabulary", "text", "ids"),
    by_vocabulary(
        # As tiktoken and its ports are documented and tested with o200k_base.
        ("o200k_base", "hello world", [24912, 2375]),
        (
            "o200k_base",
            "The quick brown fox jumps over the lazy dog.",
            [976, 4853, 19705, 68347, 65613, 1072, 290, 29082, 6446, 13],
        ),
        ("o200k_base", "你好，世界！", [177519, 979, 28428, 3393]),
        # From the documentation of mistral-common, and from the tests of Hugging Face's transformers.
        ("mistral_v3", "Hello, how are you?", [22177, 1044, 2606, 1584, 1636, 1063]),
        ("mistral_v3", "Plz tekkenize me", [4444, 1122, 16058, 3569, 2033, 1639]),
        ("mistral_v3", "Hello, world!", [22177, 1044, 4304, 1033]),
    ),
)
def test_ids_are_those_that_others_published(vocabulary: str, text: str, ids: list[int]) -> None:
    assert [id_ for id_, _ in encode(text, vocabulary)] == ids


@pytest.mark.parametrize(
    ("vocabulary", "numbers"),
    by_vocabulary(("o200k_base", [*map(GPT2_ORDER.index, range(128))]), ("mistral_v3", range(1000, 1128))),
)
def test_a_single_ascii_character_has_the_number_of_its_byte(vocabulary: str, numbers: Sequence[int]) -> None:
    expected = {chr(byte): [(number, bytes([byte]))] for byte, number in enumerate(numbers)}
    assert {text: encode(text, vocabulary) for text in expected} == expected


@pytest.mark.parametrize("vocabulary", by_vocabulary(*((name,) for name in VOCABULARIES)))
@given(text=TEXTS)
def test_the_pieces_joined_are_the_bytes_of_the_text(vocabulary: str, text: str) -> None:
    tokens = pieces(text, vocabulary)
    assert b"".join(tokens) == text.encode("utf-8")
    assert b"" not in tokens


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|endofprompt|>", "<s>", "</s>", "[INST]", "<|im_start|>"])
@pytest.mark.parametrize(
    ("vocabulary", "specials"),
    by_vocabulary(("o200k_base", range(199_998, 201_000)), ("mistral_v3", range(1000))),
)
def test_a_special_token_spelled_out_is_ordinary_text(vocabulary: str, specials: range, text: str) -> None:
    ids = [id_ for id_, _ in encode(text, vocabulary)]
    assert len(ids) > 1
    assert not set(ids) & set(specials)


def test_no_tokens_stand_for_what_is_no_text_or_no_vocabulary() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        encode("half \ud800", "o200k_base")
    with pytest.raises(ValueError, match=r"^expected a vocabulary of o200k_base, mistral_v3, got cl100k_base$"):
        encode("", "cl100k_base")  # the library has it; the lab does not offer it
