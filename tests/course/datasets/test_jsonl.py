"""The strict reader: refusals in their very words, two roads with one verdict, lines wherever a block may end.

An example: line 7 of a dataset says ``"expected_answer": 3.7``. The reader stops there: ``math_dev.jsonl:7
$.expected_answer: expected int, got float 3.7 (datasets are never coerced)``.
"""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.datasets import jsonl
from course.datasets.jsonl import read_json, read_records
from course.datasets.records import Example, Provenance, Record, Rollout, SampleGroup
from course.errors import UserError

A = b'{"id":"a","prompt":"p","expected_answer":1}'
B = b'{"id":"b","prompt":"q","expected_answer":-2}'
RECORDS = [Example("a", "p", 1), Example("b", "q", -2)]
BLOCK = 256 * 1024


def file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(content)
    return path


def refusal(path: Path, kind: type[Record] = Example) -> str:
    with pytest.raises(UserError) as refused:
        list(read_records(path, kind))
    return str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        *(A + b"\n" + B + b"\n", A + b"\n" + B, A + b"\r\n" + B + b"\r\n", b" " + A + b"\t\n\t" + B + b" "),
        *(b"\n\r\n \t\n" + A + b"\n\n\n" + B + b"\n\n", A.replace(b":", b" :\t") + b"\n" + B.replace(b",", b" , ")),
        A.replace(b'"id"', b'"\\u0069d"') + b"\n" + B.replace(b'"q"', b'"\\u0071"'),
    ],
    ids=range(7),
)
def test_line_ends_blank_lines_and_spaces_do_not_matter(tmp_path: Path, content: bytes) -> None:
    digest = hashlib.sha256()
    assert list(read_records(file(tmp_path, content), Example, digest)) == RECORDS
    assert digest.hexdigest() == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x7f", "\ufeff", "\u2029", "😀"])
def test_only_a_newline_ends_a_line(tmp_path: Path, mark: str) -> None:
    path = file(tmp_path, f'{{"id":"{mark}","completion":"x{mark}y"}}\n{{"id":"b","completion":""}}'.encode())
    assert list(read_records(path, Rollout)) == [Rollout(mark, f"x{mark}y"), Rollout("b", "")]


DIGITS = "expected an integer of at most 1,000 digits, got one of"
HALF = "expected whole characters, got half a surrogate pair (\\ud800 to \\udfff)"
DEEP = "expected one JSON object, got one nested too deep to read"
NO_JSON = "expected JSON, got {}, which JSON does not have"
INVALID = "expected one JSON object, got invalid JSON at column"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"id":"b","prompt":"","expected_answer":NaN}', f"$.expected_answer: {NO_JSON.format('NaN')}"),
        (b'{"id":"b","prompt":"","expected_answer":-Infinity}', f"$.expected_answer: {NO_JSON.format('-Infinity')}"),
        (
            b'{"id":"b","prompt":"","expected_answer":1e400}',
            "$.expected_answer: expected a number that a float can hold, got 1e400",
        ),
        (b'{"id":"b","prompt":"","expected_answer":%s}' % (b"1" * 1001), f"$.expected_answer: {DIGITS} 1,001"),
        (b'{"id":"b","prompt":"","expected_answer":-%s}' % (b"1" * 5000), f"$.expected_answer: {DIGITS} 5,000"),
        (A[:-1] + b',"metadata":{"a":[%s]}}' % (b"1" * 1001), f"$.metadata.a[0]: {DIGITS} 1,001"),
        (A[:-1] + b',"metadata":{"a":NaN}}', f"$.metadata.a: {NO_JSON.format('NaN')}"),
        (b"NaN", f"$: {NO_JSON.format('NaN')}"),
        (A[:-1] + b',"id":"b"}', "$.id: expected the key once, got it more than once"),
        (A[:-1] + b',"prompt":"p"}', "$.prompt: expected the key once, got it more than once"),
        (A[:-1] + b',"\\u0069d":"b"}', "$.id: expected the key once, got it more than once"),
        (b'{"id":"b","prompt":"\xff","expected_answer":1}', "expected UTF-8, got byte 0xff at byte 21"),
        (b'{"id":"b","prompt":"\xed\xa0\x80","expected_answer":1}', "expected UTF-8, got byte 0xed at byte 21"),
        (b'{"id":"b","prompt":"\xc0\x80","expected_answer":1}', "expected UTF-8, got byte 0xc0 at byte 21"),
        *[
            (A.replace(b'"p"', half), f"$.prompt: {HALF}")
            for half in (b'"\\ud800"', b'"\\udfff x"', b'"\\ude00\\ud83d"')
        ],
        (A[:-1] + b',"metadata":{"\\ud800":1}}', f"$.metadata: {HALF}"),
        (A[:-1] + b',"metadata":%s}' % (b"[" * 99_999), DEEP),
        (b'{"id":"b","prompt":%s' % (b"[" * 99_999), DEEP),
        (b"\xef\xbb\xbf" + A, "expected UTF-8 without a byte order mark, got one; save the file without it"),
        (b"Final: 22", f"{INVALID} 1: Expecting value"),
        (b"\x0c", f"{INVALID} 1: Expecting value"),
        (A + A, f"{INVALID} 44: Extra data"),
        (A + b"\r" + B, f"{INVALID} 45: Extra data"),
        (A[:-1], f"{INVALID} 43: Expecting ',' delimiter"),
        (b'{"id":"b","prompt":"a\tb","expected_answer":1}', f"{INVALID} 22: Invalid control character at"),
        (b'{"id":"b","prompt":"","expected_answer":01}', f"{INVALID} 42: Expecting ',' delimiter"),
        (b"{'id':'b'}", f"{INVALID} 2: Expecting property name enclosed in double quotes"),
    ],
    ids=lambda _: "",
)
@pytest.mark.parametrize("before", [b"", A.replace(b'"a"', b'"z"') + b"\n\n\r\n"], ids=["first", "later"])
def test_what_is_no_json_is_refused_with_file_line_expected_and_got(
    tmp_path: Path, before: bytes, line: bytes, complaint: str
) -> None:
    path = file(tmp_path, before + line + b"\n" + B + b"\n")
    assert refusal(path) == f"{path}:{4 if before else 1} {complaint}"


def test_a_key_given_twice_deep_inside_is_named_with_its_path(tmp_path: Path) -> None:
    path = file(tmp_path, A[:-1] + b',"metadata":{"a":{"k":1,"k":2}}}')
    assert refusal(path) == f"{path}:1 $.metadata.a.k: expected the key once, got it more than once"


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \t\n"])
def test_a_file_without_a_record_is_refused(tmp_path: Path, content: bytes) -> None:
    path = file(tmp_path, content)
    assert refusal(path) == f"{path}: expected at least one record, got an empty file"


def test_a_file_that_cannot_be_read_is_refused_in_the_systems_words(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert refusal(missing) == f"{missing}: expected a file that can be read, got: no such file or directory"
    assert refusal(tmp_path).startswith(f"{tmp_path}: expected a file that can be read, got: ")
    with pytest.raises(UserError, match=r"missing: expected a file that can be read, got: no such file or directory$"):
        read_json(missing, Provenance)


def rollout(number: int, length: int) -> bytes:
    return b'{"id":"%d","completion":"%s"}' % (number, b"x" * length)


@pytest.mark.parametrize("size", [BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 100])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_lines_may_end_anywhere_in_a_block(tmp_path: Path, size: int, newline: bytes, end: bytes) -> None:
    lengths = [size - len(rollout(0, 0)), 50, BLOCK - 60, 70, 2 * BLOCK, 0]  # the first line is of that size
    content = newline.join(rollout(number, length) for number, length in enumerate(lengths)) + end
    digest = hashlib.sha256()
    records = list(read_records(file(tmp_path, content), Rollout, digest))
    assert records == [Rollout(str(number), "x" * length) for number, length in enumerate(lengths)]
    assert digest.hexdigest() == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("blanks", [0, 2])
@pytest.mark.parametrize(("twin", "other"), [(5_999, 0), (5_999, 5_998), (3_000, 17), (1, 0)])
def test_an_id_given_twice_is_refused_at_its_second_line_however_far_apart(
    tmp_path: Path, blanks: int, twin: int, other: int
) -> None:
    lines = [rollout(number, 200) for number in range(6_000)]
    lines[twin] = lines[other]
    path = file(tmp_path, b"\n" * blanks + b"\n".join(lines))
    complaint = f"$.id: expected an id that is unique in its file, got {other} a second time"
    assert refusal(path, Rollout) == f"{path}:{twin + 1 + blanks} {complaint}"


def test_a_wrong_line_in_a_late_block_is_named_by_its_own_number(tmp_path: Path) -> None:
    lines = [rollout(number, 200) for number in range(6_000)]
    lines[5_432] = b'{"id":"x","completion":3}'
    path = file(tmp_path, b"\n".join(lines))
    assert refusal(path, Rollout) == f"{path}:5433 $.completion: expected str, got int 3 (rollouts are never coerced)"


def array(items: list[str]) -> str:
    return "[" + ",".join(items) + "]"


def mapping(pairs: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key, value in pairs) + "}"


KEYS = st.sampled_from(["id", "prompt", "completion", "samples", "metadata", "x", "i\\u0064", "\\u0069d"])
NUMBERS = [
    "1",
    "-0",
    "0",
    "01",
    "1.0",
    "1e2",
    "1e400",
    "-",
    "NaN",
    "true",
    "null",
    *("9" * n for n in (30, 1000, 1001, 5000)),
]
CHARACTERS = ["a", "7", "id", '\\"id\\"', '"id"', "\\n", "\\", "\\/", "\\u00e9", "\\ud800", "\\ud83d\\ude00", "\t", "é"]
number = st.sampled_from(["1", "-0"] * 8 + NUMBERS)
text = st.lists(st.sampled_from(["a", "7"] * 8 + CHARACTERS), max_size=3).map(lambda parts: f'"{"".join(parts)}"')
FIELDS = {
    Example: {"id": text, "prompt": text, "expected_answer": number},
    Rollout: {"id": text, "completion": text},
    SampleGroup: {"id": text, "samples": st.lists(text, max_size=2).map(array)},
}
value = st.recursive(
    number | text,
    lambda inner: st.lists(inner).map(array) | st.lists(st.tuples(KEYS, inner)).map(mapping),
    max_leaves=4,
)


@st.composite
def nearly_records(draw: st.DrawFn) -> tuple[Any, bytes]:
    kind = draw(st.sampled_from([*FIELDS]))
    pairs = [(key, draw(right if draw(st.integers(0, 19)) else value)) for key, right in FIELDS[kind].items()]
    if draw(st.booleans()):  # one pair more: of any kind, or a key of this record again
        again = st.sampled_from([*FIELDS[kind].items()]).flatmap(lambda field: st.tuples(st.just(field[0]), field[1]))
        pairs.append(draw(st.tuples(KEYS, value) | again))
    line = mapping(draw(st.permutations(pairs))).encode()
    at = draw(st.integers(0, len(line)))
    noise = [b""] * 20 + [b"\xff", b"\xed\xa0\x80", b"\x00", b",", b'"', b"\\", b" ", b"\r", b"\xe2\x80\xa8"]
    return kind, line[:at] + draw(st.sampled_from(noise)) + line[at:]


@settings(max_examples=4 * settings().max_examples)
@given(nearly_records())
def test_what_the_fast_road_takes_the_strict_road_takes_for_the_same_record(kind_and_line: tuple[Any, bytes]) -> None:
    kind, line = kind_and_line
    if (fast := jsonl._fast_road([line], kind)) is not None:
        assert fast == [jsonl._strict_road(line, kind, "x")]


def test_the_fast_road_takes_plain_lines_and_leaves_a_key_that_is_missing_here_and_twice_there() -> None:
    assert jsonl._fast_road([A, B], Example) == RECORDS
    assert jsonl._fast_road([A[:-1] + b',"id":"c"}', b'{"prompt":"q","expected_answer":2}'], Example) is None
    assert jsonl._fast_road([A[:-1] + b',"metadata":{}}'], Example) is None


SCRIPT = """
import sys
from pathlib import Path
from course.datasets.jsonl import read_records
from course.datasets.records import Example
try:
    print([record.expected_answer == 1 - 10**1000 for record in read_records(Path(sys.argv[1]), Example)])
except Exception as error:
    print(str(error).partition("in.jsonl:1 ")[2])
"""


@pytest.mark.medium
@pytest.mark.parametrize(("digits", "said"), [(1000, "[True]"), (1001, f"$.expected_answer: {DIGITS} 1,001")])
def test_a_lower_limit_on_the_text_of_integers_changes_nothing(tmp_path: Path, digits: int, said: str) -> None:
    path = file(tmp_path, b'{"id":"a","prompt":"","expected_answer":-%s}' % (b"9" * digits))
    command = [sys.executable, "-X", "int_max_str_digits=640", "-c", SCRIPT, str(path)]
    child = subprocess.run(command, cwd=Path(jsonl.__file__).parents[2], capture_output=True, text=True, check=True)
    assert child.stdout == f"{said}\n"
