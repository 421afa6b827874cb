"""The rows of a run on disk, and who can have written them.

An example: a row of Loop A is one line of JSON; ``details`` holds the scorer's own keys, and a field that no row has
is refused.
"""

import msgspec
import pytest

from course.artifacts.records import (
    RESULT_TYPES,
    UNANSWERED,
    Details,
    LearningResult,
    Result,
    Selection,
    indent_json,
)

LINE = (
    b'{"id":"q1","prompt":"1 + 1?","expected_answer":2,"completion":"Final: 2","reward":1.0,'
    b'"details":{"outcome":"ok","parsed_answer":"2"}}'
)
ROW = Result("q1", "1 + 1?", 2, "Final: 2", 1.0, Details("ok", "2"))


def test_a_row_is_this_line() -> None:
    assert msgspec.json.encode(ROW) == LINE
    assert msgspec.json.decode(LINE, type=Result) == ROW


@pytest.mark.parametrize("key", ["note", "outcome", "parsed_answer"])
def test_a_field_that_no_row_has_is_refused(key: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=f"unknown field `{key}`"):
        msgspec.json.decode(LINE.replace(b'"id"', b'"%s":"","id"' % key.encode()), type=Result)


def test_a_row_of_loop_c_says_its_step_and_nothing_that_it_does_not_know() -> None:
    row = LearningResult("q1", "1 + 1?", 2, "Final: 2", 1.0, Details("ok", "2"), step=3)
    assert msgspec.json.encode(row) == LINE[:-1] + b',"step":3}'


def test_each_loop_has_its_row() -> None:
    assert {"A": Result, "B": Selection, "C": LearningResult} == RESULT_TYPES


def test_an_example_nobody_answered_earns_nothing() -> None:
    assert UNANSWERED == (0.0, "missing_completion", None)


def test_there_is_one_way_to_write_a_small_file() -> None:
    assert indent_json({"b": [1, {}], "a": "ü"}) == b'{\n  "b": [\n    1,\n    {}\n  ],\n  "a": "\xc3\xbc"\n}\n'
