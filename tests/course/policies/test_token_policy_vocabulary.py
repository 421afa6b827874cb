"""Text to tokens and back, and what the vocabulary is made of.

The worked example. "Final: 12" is five tokens, "Final", ":", " ", "1", "2", though it is nine characters: the longest
token that fits is taken first. Decoded, they are the same text.
"""

import json

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from course.policies.token_policy import ANSWER_TOKENS, END, Vocabulary

PROMPTS = ["Compute 25 + 73.", "Finally: (x)*[y]?\\ {3} ^$|", "naïve\tis\r\nThe answer"]
VOCABULARY = Vocabulary.of(PROMPTS)


def test_the_worked_example() -> None:
    tokens = VOCABULARY.encode("Final: 12")
    assert [VOCABULARY[token] for token in tokens] == ["Final", ":", " ", "1", "2"]
    assert VOCABULARY.decode(tokens) == "Final: 12"


def over_the_vocabulary(parts: list[str]) -> str:
    """The parts joined, with a space between two words: as two words side by side they would be a third."""
    text = ""
    for piece in parts:
        glued = text[-1:].isalpha() and piece[:1].isalpha()
        text += f" {piece}" if glued else piece
    return text


texts = st.lists(st.sampled_from(VOCABULARY)).map(over_the_vocabulary)


@settings(derandomize=True, deadline=None)
@given(text=texts)
def test_any_text_over_the_vocabulary_comes_back_as_it_was(text: str) -> None:
    tokens = VOCABULARY.encode(text)
    assert all(0 < token < len(VOCABULARY) for token in tokens)
    assert VOCABULARY.decode(tokens) == text


@settings(derandomize=True, deadline=None)
@given(text=texts)
def test_each_token_is_the_longest_piece_that_fits_where_it_stands(text: str) -> None:
    place = 0
    for token in VOCABULARY.encode(text):
        fitting = [piece for piece in VOCABULARY if piece and text.startswith(piece, place)]
        assert VOCABULARY[token] == max(fitting, key=len)
        place += len(VOCABULARY[token])
    assert place == len(text)


@pytest.mark.parametrize("name", ["one_digit_sums", "two_digit_sums"])
def test_every_prompt_of_the_lab_comes_back_as_it_was(name: str) -> None:
    lines = (ROOT / f"data/datasets/{name}_dev.jsonl").read_text(encoding="utf-8").splitlines()
    prompts = [json.loads(line)["prompt"] for line in lines]
    parts = Vocabulary.of(prompts)
    assert [parts.decode(parts.encode(prompt)) for prompt in prompts] == prompts


def test_a_policy_can_write_these_whatever_the_prompts_are() -> None:
    assert Vocabulary.of([]) == ANSWER_TOKENS == ("", *"0123456789", "Final", ":", " ", "-", "\n", "The answer is", ".")


def test_what_the_prompts_need_follows_words_whole_and_all_else_character_by_character() -> None:
    parts = Vocabulary.of(["Compute 5 + 13?", "To compute: naïve GrPO (Final)"])
    assert parts[: len(ANSWER_TOKENS)] == ANSWER_TOKENS
    assert parts[len(ANSWER_TOKENS) :] == ("(", ")", "+", "?", "Compute", "GrPO", "To", "compute", "na", "ve", "ï")


def test_the_vocabulary_does_not_depend_on_the_order_of_the_prompts_nor_on_how_often_each_comes() -> None:
    assert Vocabulary.of(reversed(PROMPTS)) == VOCABULARY
    assert Vocabulary.of([*PROMPTS, *PROMPTS]) == VOCABULARY
    assert Vocabulary.of(prompt for prompt in PROMPTS) == VOCABULARY


def test_no_piece_comes_twice_and_only_the_end_is_empty() -> None:
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert [token for token, piece in enumerate(VOCABULARY) if not piece] == [END] == [0]


def test_the_tokens_are_those_worked_by_hand() -> None:
    parts = Vocabulary(("", "a", "ab", "b", "abc", "."))
    assert parts.encode("abcab.ba") == [4, 2, 5, 3, 1]
    assert parts.encode("") == []
    assert parts.decode([4, 2, 0, 5, 1]) == "abcab.a"
    assert parts.decode([]) == ""


def test_the_answer_is_is_one_token() -> None:
    written = VOCABULARY.encode("The answer is 42.")
    assert [VOCABULARY[token] for token in written] == ["The answer is", " ", "4", "2", "."]


def test_a_longer_word_is_not_taken_for_the_shorter_one_it_begins_with() -> None:
    assert [VOCABULARY[token] for token in VOCABULARY.encode("Finally Final")] == ["Finally", " ", "Final"]


def test_the_way_back_is_not_unique() -> None:
    parts = Vocabulary(("", "1", "2", "12"))
    assert parts.decode([1, 2]) == parts.decode([3]) == "12"
    assert parts.encode("12") == [3]


def test_a_character_that_no_piece_has_is_nothing_and_a_piece_is_no_pattern() -> None:
    parts = Vocabulary(("", "a", ".", "(b|c)*", "\\d"))
    assert parts.encode("a.(b|c)*\\d") == [1, 2, 3, 4]
    assert parts.encode("xa\nb7") == [5, 1, 5, 5, 5]
