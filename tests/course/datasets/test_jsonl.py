"""The strict reader: refusals in their very words, the standard library as an oracle, lines wherever a batch may end.

An example: line 7 of a dataset says ``"expected_answer": 3.7``. The reader stops there: ``math_dev.jsonl:7
$.expected_answer: expected int, got float 3.7 (datasets are never coerced)``.
"""

import hashlib
import io
import json
import random
import re
import stat
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.datasets import files, jsonl
from course.datasets.jsonl import read_json, read_records
from course.datasets.records import Example, GoldenCase, Provenance, Record, Rollout, SampleGroup
from course.errors import UserError

A = b'{"id":"a","prompt":"p","expected_answer":1}'
B = b'{"id":"b","prompt":"q","expected_answer":-2}'
RECORDS = [Example("a", "p", 1), Example("b", "q", -2)]
BLOCK = 32 * 1024


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
        A + b"\n" + B + b"\n",
        A + b"\n" + B,
        A + b"\r\n" + B + b"\r\n",
        b" " + A + b"\t\n\t" + B + b" ",
        b"\n\r\n \t\n" + A + b"\n\n\n" + B + b"\n\n",
        A.replace(b":", b" :\t") + b"\n" + B.replace(b",", b" , "),
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


DIGITS = "expected a number of at most 1,000 digits, got a larger one"
MORE_DIGITS = "expected a number of fewer than 4,300 digits, got a larger one"
LARGE = "expected a number below 1e309, got a larger one"
HALF = "expected whole characters, got half a surrogate pair (\\ud800 to \\udfff)"
DEEP = "expected values that are nested less deeply, got a record that is too deep to read"
INVALID = "expected one JSON object, got invalid JSON at byte"
FINITE = "expected a finite number, got"
CUT = "expected one JSON object, got an object that is cut off:"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"id":"b","prompt":"","expected_answer":NaN}', f"{FINITE} NaN at byte 41"),
        (b'{"id":"b","prompt":"","expected_answer":-Infinity}', f"{FINITE} -Infinity at byte 41"),
        (b'{"id":"b","prompt":"","expected_answer":1e400}', f"$.expected_answer: {LARGE}"),
        (A[:-1] + b',"metadata":{"a":[-1e400]}}', f"$.metadata[...][0]: {LARGE}"),
        (A[:-1] + b',"metadata":{"a":%s.0}}' % (b"9" * 400), f"$.metadata[...]: {LARGE}"),
        (b'{"id":"b","prompt":"","expected_answer":%s}' % (b"1" * 1001), f"$.expected_answer: {DIGITS}"),
        (b'{"id":"b","prompt":"","expected_answer":-%s}' % (b"1" * 4300), f"$.expected_answer: {DIGITS}"),
        (b'{"id":"b","prompt":"","expected_answer":-%s}' % (b"1" * 5000), f"$.expected_answer: {DIGITS}"),
        (b'{"id":"b","prompt":3,"expected_answer":%s}' % (b"1" * 5000), f"$[...]: {MORE_DIGITS}"),
        (A[:-1] + b',"metadata":{"a":[%s]}}' % (b"1" * 5000), f"$.metadata[...][0]: {MORE_DIGITS}"),
        (A[:-1] + b',"metadata":{"a":NaN}}', f"{FINITE} NaN at byte 60"),
        (b"NaN", f"{FINITE} NaN at byte 1"),
        (b'{"id":"b","prompt":"\xff","expected_answer":1}', "expected UTF-8, got byte 0xff at byte 21"),
        (b'{"id":"b","prompt":"\xed\xa0\x80","expected_answer":1}', "expected UTF-8, got byte 0xed at byte 21"),
        (b'{"id":"b","prompt":"\xc0\x80","expected_answer":1}', "expected UTF-8, got byte 0xc0 at byte 21"),
        (A.replace(b'"p"', b'"\\ud800"'), HALF),
        (A.replace(b'"p"', b'"\\udfff x"'), HALF),
        (A.replace(b'"p"', b'"\\ude00\\ud83d"'), HALF),
        (A[:-1] + b',"metadata":{"\\ud800":1}}', HALF),
        (A[:-1] + b',"metadata":{"a":%s%s}}' % (b"[" * 9_999, b"]" * 9_999), DEEP),
        (A[:-1] + b',"metadata":%s}' % (b"[" * 99_999), DEEP),
        (b'{"id":"b","prompt":%s' % (b"[" * 99_999), DEEP),
        (
            b"\xef\xbb\xbf" + A,
            "expected UTF-8 without a byte order mark, got a byte order mark; save the file without it",
        ),
        (b"Final: 22", f"{INVALID} 1 (invalid character): Final: 22"),
        (b"\x0c", f"{INVALID} 1 (invalid character): <U+000C FORM FEED>"),
        (A + A, f"{INVALID} 44 (trailing characters): {A.decode()}"),
        (A + b"\r" + B, f"{INVALID} 45 (trailing characters): {B.decode()}"),
        (A[:-1], f"{CUT} {A[:-1].decode()}"),
        (
            b'{"id":"b","prompt":"a\tb","expected_answer":1}',
            f'{INVALID} 22 (invalid character): <U+0009 TAB>b","expected_answer":1}}',
        ),
        (b'{"id":"b","prompt":"","expected_answer":01}', f"{INVALID} 42 (invalid number): 1}}"),
        (b"{'id':'b'}", f"{INVALID} 2 (object keys must be strings): 'id':'b'}}"),
    ],
    ids=lambda _: "",
)
@pytest.mark.parametrize("before", [b"", A.replace(b'"a"', b'"z"') + b"\n\n\r\n"], ids=["first", "later"])
def test_what_is_no_json_is_refused_with_file_line_expected_and_got(
    tmp_path: Path, before: bytes, line: bytes, complaint: str
) -> None:
    path = file(tmp_path, before + line + b"\n" + B + b"\n")
    assert refusal(path) == f"{path}:{4 if before else 1} {complaint}"


C = b'{"id":"c","completion":"x"}'


@pytest.mark.parametrize(
    ("again", "place"),
    [
        (b'"id":"z"', "$.id"),
        (b'"id" : "c"', "$.id"),
        (b'"\\u0069d":"z"', "$.id"),
        (b'"completion":"a:b"', "$.completion"),
        (b'"completion":"\\u003a","metadata":{}', "$.completion"),
        (b'"metadata":{},"metadata":{"k":1}', "$.metadata"),
        (b'"metadata":{"k":1,"k":1}', "$.metadata.k"),
        (b'"metadata":{"a/b":1,"a\\/b":"\\u003A"}', "$.metadata.a/b"),
        (b'"metadata":{"\\u00e9":1,"\xc3\xa9":2}', "$.metadata.é"),
        (b'"metadata":{"a":[0,{"b":[[{"k":1,"l":2,"k":3}]]}]}', "$.metadata.a[1].b[0][0].k"),
    ],
)
def test_a_key_given_twice_anywhere_in_a_row_is_refused_with_its_place(
    tmp_path: Path, again: bytes, place: str
) -> None:
    lines = [rollout(number, 200) for number in range(6_000)]
    path = file(tmp_path, b"\n".join(lines))
    assert len(list(read_records(path, Rollout))) == 6_000
    lines[4_321] = C[:-1] + b"," + again + b"}"
    complaint = refusal(file(tmp_path, b"\n".join(lines)), Rollout)
    assert complaint.startswith(f"{path}:4322 {place}: expected each key once, got it twice")


@pytest.mark.parametrize(
    "line",
    [
        C[:-1] + b',"metadata":{"id":"c","completion":"x","metadata":{"id":1,"a":[{"id":1},{"id":1}]}}}',
        b'{"id":"\\",\\"id\\":\\"c","completion":"\\"completion\\":3, \\"completion\\" : 4, id:id:id"}',
        b'{"\\u0069d":"id","completion":"\\u003a:\\u003A"}',
    ],
)
def test_a_key_that_stands_elsewhere_too_is_given_once(tmp_path: Path, line: bytes) -> None:
    records = list(read_records(file(tmp_path, line + b"\n" + rollout(1, 0) + b"\n"), Rollout))
    assert records == [Rollout(**json.loads(line)), Rollout("1", "")]


def test_a_key_given_twice_is_found_beside_a_line_that_leaves_one_out(tmp_path: Path) -> None:
    case = b'{"id":"%d","prompt":"p","expected_answer":1,"completion":"","expected_reward":0'
    case += b',"expected_outcome":"empty","rule":""%s}'
    path = file(tmp_path, case % (1, b"") + b"\n" + case % (2, b',"why":"a","why":"b"') + b"\n")
    assert refusal(path, GoldenCase).startswith(f"{path}:2 $.why: expected each key once")


@pytest.mark.parametrize("second", [BLOCK - 5, BLOCK - 3, BLOCK - 1, BLOCK])
def test_a_key_given_twice_is_found_wherever_a_block_ends(tmp_path: Path, second: int) -> None:
    """The second ``"id"`` stands on both sides of where the reader stops."""
    before = b'{"completion":"'
    after = b'","id":"a",'
    before = before.ljust(second - len(after), b"x")
    path = file(tmp_path, before + after + b'"id":"b"}')
    assert refusal(path, Rollout).startswith(f"{path}:1 $.id: expected each key once")


@pytest.mark.parametrize(
    ("record_type", "line", "place"),
    [
        (Example, b'{"id":1,"id":"a","prompt":"","expected_answer":1}', "$.id"),
        (SampleGroup, b'{"id":"a","samples":[1],"samples":"x"}', "$.samples"),
        (SampleGroup, b'{"id":"a","samples":[1],"samples":{}}', "$.samples"),
        (SampleGroup, b'{"id":"a","samples":[1],"samples":[]}', "$.samples"),
    ],
)
def test_a_wrong_value_of_a_key_that_is_given_twice_is_refused_for_the_key(
    tmp_path: Path, record_type: type[Record], line: bytes, place: str
) -> None:
    path = file(tmp_path, line)
    assert refusal(path, record_type).startswith(f"{path}:1 {place}: expected each key once, got it twice")


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ('"policy":"a","policy":"b"', "$.policy"),
        ('"policy":"a","\\u0070olicy":"a"', "$.policy"),
        ('"policy":"a","sampling":{"temperature":1,"top_p":1,"seed":0,"seed":1,"n":1}', "$.sampling.seed"),
    ],
)
def test_a_key_that_is_given_twice_in_evidence_is_refused(tmp_path: Path, fields: str, place: str) -> None:
    path = tmp_path / "in.meta.json"
    sampling = '"sampling":{"temperature":1,"top_p":1,"seed":0,"n":1}'
    rest = '"created":null' if '"sampling"' in fields else f'"created":null,{sampling}'
    path.write_text(f"{{{fields},{rest}}}", encoding="utf-8")
    with pytest.raises(UserError) as refused:
        read_json(path, Provenance)
    assert str(refused.value).startswith(f"{path} {place}: expected each key once, got it twice")


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \t\n"])
def test_a_file_without_a_record_is_refused(tmp_path: Path, content: bytes) -> None:
    path = file(tmp_path, content)
    assert refusal(path) == f"{path}: expected at least one record, got a file without any"


def test_a_file_that_cannot_be_read_is_refused_in_the_systems_words(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert refusal(missing) == f"{missing}: cannot read this file: no such file or directory"
    assert refusal(tmp_path).startswith(f"{tmp_path}: cannot read this file: ")
    with pytest.raises(UserError, match=r"missing: cannot read this file: no such file or directory$"):
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
@pytest.mark.parametrize(
    ("twin", "other"),
    [
        (5_999, 0),
        (5_999, 5_998),
        (3_000, 17),
        (1, 0),
    ],
)
def test_an_id_given_twice_is_refused_at_its_second_line_however_far_apart(
    tmp_path: Path, blanks: int, twin: int, other: int
) -> None:
    lines = [rollout(number, 200) for number in range(6_000)]
    lines[twin] = lines[other]
    path = file(tmp_path, b"\n" * blanks + b"\n".join(lines))
    complaint = f'$.id: expected an id that is unique in its file, got "{other}" a second time'
    complaint += "; docs/own_data.md turns several completions of an id into a selection pack"
    assert refusal(path, Rollout) == f"{path}:{twin + 1 + blanks} {complaint}"


def test_a_wrong_line_in_a_late_block_is_named_by_its_own_number(tmp_path: Path) -> None:
    lines = [rollout(number, 200) for number in range(6_000)]
    lines[5_432] = b'{"id":"x","completion":3}'
    path = file(tmp_path, b"\n".join(lines))
    assert refusal(path, Rollout) == f"{path}:5433 $.completion: expected str, got int 3 (rollouts are never coerced)"


TOO_LONG = "cannot read this file: a line of more than 1 MB"


@pytest.fixture
def one_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LINE_BYTES", 1 << 20)
    monkeypatch.setattr(jsonl, "_OBJECT_BYTES", 1 << 20)


@pytest.mark.usefixtures("one_megabyte")
@pytest.mark.parametrize("filler", [b"x", b" ", b"[", b"\0"])
@pytest.mark.parametrize("before", [b"", b"\n\n" + A + b"\n"])
def test_a_line_that_does_not_end_is_refused_before_it_is_read_to_its_end(
    tmp_path: Path, filler: bytes, before: bytes
) -> None:
    path = file(tmp_path, before + filler * (8 << 20) + b"\n" + B)
    digest = hashlib.sha256()
    read = 0

    class Counting:
        def update(self, block: bytes) -> None:
            nonlocal read
            read += len(block)
            digest.update(block)

    with pytest.raises(UserError, match=rf"in\.jsonl: {TOO_LONG}$"):
        list(read_records(path, Example, Counting()))  # type: ignore[arg-type]
    assert 1 << 20 < read <= (1 << 20) + 2 * BLOCK
    with pytest.raises(UserError, match=r"in\.jsonl expected at most 1 MB, got more$"):
        read_json(path, Provenance)


@pytest.mark.usefixtures("one_megabyte")
def test_a_long_line_that_ends_is_read(tmp_path: Path) -> None:
    lines = [rollout(number, (1 << 20) - 40) for number in range(5)]
    assert len(list(read_records(file(tmp_path, b"\n".join(lines)), Rollout))) == 5


def test_a_record_of_very_many_keys_is_read_or_refused_in_one_short_line(tmp_path: Path) -> None:
    keys = b",".join(b'"k%d":1' % number for number in range(1 << 16))
    (record,) = read_records(file(tmp_path, A[:-1] + b',"metadata":{%s}}' % keys), Example)
    assert isinstance(record.metadata, dict)
    assert len(record.metadata) == 1 << 16
    message = refusal(file(tmp_path, A[:-1] + b",%s}" % keys))
    assert message.endswith("expected_answer, metadata; put it under metadata")


def test_a_number_deep_inside_is_named_by_a_place_of_at_most_80_characters(tmp_path: Path) -> None:
    keys = [f"{number}{chr(1) * 50}" for number in range(150)]
    nested = "".join(f"{{{json.dumps(key)}:" for key in keys) + "1e400" + "}" * 150
    message = refusal(file(tmp_path, A[:-1] + b',"metadata":%s}' % nested.encode()))
    assert message.endswith(f"…: {LARGE}")
    assert len(message) < len(str(tmp_path)) + 200


@pytest.mark.parametrize("number", ["1" * 1001, "-" + "9" * 1001, "9" * 4000])
def test_an_answer_of_too_many_digits_is_found_among_many_records(tmp_path: Path, number: str) -> None:
    lines = [A.replace(b'"a"', b'"%d"' % i) for i in range(900)]
    path = file(tmp_path, b"\n".join(lines))
    assert len(list(read_records(path, Example))) == 900
    lines[700] = lines[700].replace(b":1}", b":%s}" % number.encode())
    assert refusal(file(tmp_path, b"\n".join(lines))) == f"{path}:701 $.expected_answer: {DIGITS}"


def test_a_case_without_an_id_is_known_by_its_line_among_others_that_have_one(tmp_path: Path) -> None:
    case = b'{%s"prompt":"p","expected_answer":1,"completion":"","expected_reward":0}'
    lines = [case % b'"id":"a",', case % b"", case % b'"id":"b",']
    path = file(tmp_path, b"\n".join(lines))
    assert [case.id for case in read_records(path, GoldenCase)] == ["a", "line 2", "b"]
    path.write_bytes(b"\n".join([*lines, case % b'"id":"line 2",']))
    assert refusal(path, GoldenCase).startswith(
        f'{path}:4 $.id: expected an id that is unique in its file, got "line 2"'
    )


class Refused(Exception):
    """The oracle takes no record from this line."""


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Refused
    return dict(pairs)


def finite(text: str) -> float:
    if not isfinite(float(text)):
        raise Refused
    return float(text)


def readable(text: str) -> int:
    if len(text) >= 4300:
        raise Refused
    return int(text)


def constant(_: str) -> None:
    raise Refused


def texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, str) for part in value)


RULES: dict[str, Callable[[Any], bool]] = {
    "id": lambda value: isinstance(value, str) and value != "",
    "prompt": lambda value: isinstance(value, str),
    "completion": lambda value: isinstance(value, str),
    "expected_answer": lambda value: type(value) is int and abs(value) < 10**1000,
    "samples": texts,
    "metadata": lambda value: isinstance(value, dict),
}
KEYS_OF = {
    Example: {"id", "prompt", "expected_answer"},
    Rollout: {"id", "completion"},
    SampleGroup: {"id", "samples"},
}


def oracle(line: bytes, kind: Any) -> Any:
    """The record of a line by the standard library's decoder and rules written out here, or Refused."""
    decoder = {
        "object_pairs_hook": each_key_once,
        "parse_float": finite,
        "parse_int": readable,
        "parse_constant": constant,
    }
    try:
        value = json.loads(line.decode("utf-8").strip(" \t\r"), **decoder)  # type: ignore[arg-type]
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except ValueError as error:  # what is no UTF-8, no JSON, or no whole character
        raise Refused from error
    optional = set() if kind is SampleGroup else {"metadata"}
    if not isinstance(value, dict) or value.keys() - optional != KEYS_OF[kind]:
        raise Refused
    if not all(RULES[key](part) for key, part in value.items()):
        raise Refused
    return kind(**value)


def oracle_of_file(content: bytes, kind: Any) -> tuple[list[Any], int | None]:
    """The records up to the first refused line, and that line's number; 0 for a file without a record."""
    records: list[Any] = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip(b" \t\r"):
            try:
                record = oracle(line, kind)
            except Refused:
                return records, number
            if any(record.id == other.id for other in records):
                return records, number
            records.append(record)
    return records, None if records else 0


def array(items: list[str]) -> str:
    return "[" + ",".join(items) + "]"


def mapping(pairs: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key, value in pairs) + "}"


KEYS = st.sampled_from(["id", "prompt", "completion", "samples", "metadata", "x", "i\\u0064", "\\u0069d", "é", ""])
NUMBERS = [
    "1",
    "-0",
    "0",
    "01",
    "1.0",
    "-0.0",
    "1e2",
    "1E+2",
    "1e400",
    "-1e400",
    "1e-400",
    "-",
    "1.",
    ".5",
    "+1",
    "0x1",
]
NUMBERS += ["1.7976931348623157e308", "1.7976931348623159e308", "NaN", "-Infinity", "true", "null", "0x1"]
NUMBERS += ["9" * digits for digits in (30, 309, 1000, 1001, 5000)]
CHARACTERS = [
    "a",
    "7",
    "id",
    '\\"id\\"',
    '"id"',
    "\\n",
    "\\",
    "\\/",
    "\\u00e9",
    ":",
    "\\u003a",
    '\\":',
    "\\ud800",
    "\\ud83d\\ude00",
    "\t",
    "é",
    "😀",
]
decimal = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
number = st.sampled_from(["1", "-0"] * 5 + NUMBERS) | decimal
whole_number = st.sampled_from(["1", "-0", "9" * 1000] * 20 + NUMBERS)
text = st.lists(st.sampled_from(["a", "7", "b", "é", "😀", "\\u00e9"] * 12 + CHARACTERS), min_size=1, max_size=3).map(
    lambda parts: f'"{"".join(parts)}"'
)
value = st.recursive(
    number | text,
    lambda inner: st.lists(inner).map(array) | st.lists(st.tuples(KEYS, inner)).map(mapping),
    max_leaves=4,
)
metadata = st.lists(st.tuples(KEYS, value), max_size=3).map(mapping)
FIELDS = {
    Example: {"id": text, "prompt": text, "expected_answer": whole_number, "metadata": metadata},
    Rollout: {"id": text, "completion": text, "metadata": metadata},
    SampleGroup: {"id": text, "samples": st.lists(text, min_size=1, max_size=2).map(array)},
}
NOISE = [
    b"\xff",
    b"\xed\xa0\x80",
    b"\x00",
    b",",
    b'"',
    b"\\",
    b" ",
    b"\r",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"{}",
    b"1",
]


@st.composite
def nearly_a_record(draw: st.DrawFn, kind: Any) -> bytes:
    """A line with an occasional fault: another type, a key of any name or given twice, bytes put in or cut out."""
    one_in_ten = st.integers(0, 9).map(lambda chance: chance == 0)
    pairs = [(key, draw(value if draw(one_in_ten) else right)) for key, right in FIELDS[kind].items()]
    if pairs[-1][0] == "metadata" and draw(st.booleans()):
        pairs.pop()
    if draw(one_in_ten):
        again = st.sampled_from([*FIELDS[kind].items()]).flatmap(lambda field: st.tuples(st.just(field[0]), field[1]))
        pairs.append(draw(st.tuples(KEYS, value) | again))
    line = mapping(draw(st.permutations(pairs))).encode()
    if draw(one_in_ten):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, start + 2))
        line = line[:start] + draw(st.sampled_from([b"", *NOISE])) + line[end:]
    return draw(st.sampled_from([b"", b"", b" ", b"\t"])) + line + draw(st.sampled_from([b"", b"\r", b" \t"]))


@st.composite
def contents(draw: st.DrawFn) -> tuple[Any, bytes]:
    kind = draw(st.sampled_from([*FIELDS]))
    lines = draw(st.lists(nearly_a_record(kind) | st.sampled_from([b"", b"\r"]), min_size=1, max_size=3))
    return kind, b"\n".join(lines)


@settings(max_examples=2 * settings().max_examples)
@given(contents())
def test_records_and_refusals_are_those_of_the_standard_library(kind_and_content: tuple[Any, bytes]) -> None:
    assert_as_the_oracle_says(*kind_and_content)


class InMemory:
    """As much of a path as the reader asks for."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def stat(self) -> SimpleNamespace:
        return SimpleNamespace(st_mode=stat.S_IFREG)

    def open(self, _: str) -> io.BytesIO:
        return io.BytesIO(self.content)

    def __str__(self) -> str:
        return "in.jsonl"


def assert_as_the_oracle_says(kind: Any, content: bytes) -> None:
    path: Any = InMemory(content)
    wanted, refused_line = oracle_of_file(content, kind)
    if refused_line is None:
        assert repr(list(read_records(path, kind))) == repr(wanted)  # repr: 1 and 1.0 are two
    else:
        complaint = refusal(path, kind)
        assert complaint.startswith(f"{path}:{refused_line} " if refused_line else f"{path}: expected at least one")
        assert re.search("expected .*, got |: this key is ", complaint)
        assert complaint.isprintable()


RIGHT_LINES = [
    (Example, A),
    (
        Example,
        b'{"id":"a","prompt":"\\u00e9","expected_answer":12,"metadata":{"a":[1.5,{"b":null}],"\\ud83d\\ude00":{"e":1e5}}}',
    ),
    (Rollout, b'{ "completion" : "Final: 1\\n", "id":"q","metadata":{"x":-0.0,"y":[true,false,[]]} }\r'),
    (SampleGroup, b'{"id":"a","samples":["x","","\\\\y\\""]}'),
]
SNIPPETS = rb"""
    " \ \u00e9 \ud83d\ude00 \ud800 \udc00 , : { } [ ] 1 0 - . e E+ 1e309 NaN -Infinity null true 1.0 "1" / \n \x \/ '
    "id":"x", "a":1, "\u0061":2, \u003a "n":NaN, "n":-1e400, "n":[1e400],
""".split()
SNIPPETS += [b"9" * 309, b"9" * 1001, b" ", b"\t", b"\x0c", b"\x7f", "é😀".encode(), *NOISE]


def test_lines_mutated_at_random_are_judged_as_by_the_standard_library() -> None:
    draw = random.Random(8)
    for _ in range(40 * (settings().max_examples or 0)):  # by the tier: tests/conftest.py
        kind, line = draw.choice(RIGHT_LINES)
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            start = draw.randrange(len(line) + 1)
            line = line[:start] + draw.choice([b"", *SNIPPETS]) + line[start + draw.choice([0, 0, 1, 1, 2, 5]) :]
        assert_as_the_oracle_says(kind, line)
