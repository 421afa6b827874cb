"""Machinery: strict JSONL. UTF-8, one record a line, blank lines ignored, everything that is not a record refused.

msgspec decodes a line straight into its record and coerces nothing. For a refused line, the error says where the fault
is in the file, what was expected, and what was there.

Covered
    Invalid JSON, NaN, infinity, a byte order mark, invalid UTF-8, half a surrogate pair, a wrong type, an unknown or a
    missing key, a key given twice in any object, an id given twice, a number of too many digits, values nested too
    deep.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from course.datasets.files import blocks_of_lines, open_regular
from course.datasets.records import Record, Rollout
from course.errors import UserError, reason
from course.faults import MAX_DIGITS
from course.text import clipped

_OBJECT_BYTES = 1 << 26  # of a file that holds one object
_PAGE = "docs/own_data.md"
_SHOWN = 60  # characters of a refused value
_SPACE = b" \t\r\n"  # what JSON calls white space
_ANSWER_LIMIT = 10**MAX_DIGITS
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ESCAPED_COLON = re.compile(rb"\\u003[aA]")
_NOT_FINITE = re.compile(rb"-?(NaN|Infinity)")
_TOO_DEEP = "expected values that are nested less deeply, got a record that is too deep to read"
_TOO_MANY_DIGITS = f"expected a number of at most {MAX_DIGITS:,} digits, got a larger one"
_TOO_LARGE = {
    "Integer value out of range": "expected a number of fewer than 4,300 digits, got a larger one",
    "Number out of range": "expected a number below 1e309, got a larger one",
}

R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=msgspec.Struct)


def read_records(path: Path, record_type: type[R], digest: "hashlib._Hash | None" = None) -> Iterator[R]:
    """Yield the records of a file in order. Raises UserError at the first line that is not a record.

    ``digest`` is fed every byte as it is read. Ids are unique in a file, and a file holds at least one record.
    """
    return chain.from_iterable(read_batches(path, record_type, digest))


def read_batches(path: Path, record_type: type[R], digest: "hashlib._Hash | None" = None) -> Iterator[list[R]]:
    """The same, some dozens or hundreds of records at a time."""
    decoder = msgspec.json.Decoder(record_type)
    encode_lines = msgspec.json.Encoder().encode_lines
    fields = msgspec.structs.fields(record_type)
    writes_defaults = any(not field.required and field.default is not msgspec.UNSET for field in fields)
    ids: set[str] = set()
    first = 1  # the number of a block's first line
    try:
        for block in blocks_of_lines(path, digest):
            lines = block.removesuffix(b"\n").split(b"\n")
            try:
                batch = list(map(decoder.decode, lines))
            except _UNDECODABLE:
                batch = []
            new = {record.id for record in batch}
            is_plain = len(new) == len(lines) and "" not in new and ids.isdisjoint(new)
            has_long_line = max(map(len, lines)) > MAX_DIGITS
            # msgspec drops all values of a key but the last. Written again, the batch then has fewer colons than were
            # read, unless a default or an escaped colon adds some.
            has_each_key_once = (
                not writes_defaults
                and encode_lines(batch).count(b":") == block.count(b":")
                and not _ESCAPED_COLON.search(block)
            )
            has_long_number = has_long_line and any(map(_has_too_many_digits, batch))
            if not is_plain or not has_each_key_once or has_long_number:
                batch = list(_decode_one_by_one(path, lines, first, decoder, ids))
            ids |= new
            first += len(lines)
            yield batch
    except OSError as error:
        raise unreadable(path, error) from None
    if not ids:
        raise UserError(f"{path}: expected at least one record, got a file without any")


def _decode_one_by_one(
    path: Path, lines: list[bytes], first: int, decoder: "msgspec.json.Decoder[R]", ids: set[str]
) -> Iterator[R]:
    """The records of a block in which a line is blank, without an id or perhaps refused. Adds their ids to ``ids``."""
    for number, line in enumerate(lines, first):
        text = line.strip(_SPACE)
        if not text:
            continue
        try:
            record = _decode(line.rstrip(_SPACE), decoder)
            if not record.id:
                record = msgspec.structs.replace(record, id=f"line {number}")
            if _has_too_many_digits(record):
                raise ValueError(f"$.expected_answer: {_TOO_MANY_DIGITS}")
            if record.id in ids:
                got = f'"{clipped(record.id, _SHOWN)}" a second time'
                mend = ""
                if decoder.type is Rollout:
                    mend = f"; {_PAGE} turns several completions of an id into a selection pack"
                raise ValueError(f"$.id: expected an id that is unique in its file, got {got}{mend}")
        except ValueError as error:
            from course.datasets.other_shapes import other_shape

            raise UserError(f"{path}:{number} {other_shape(path, text, decoder.type) or error}") from None
        ids.add(record.id)
        yield record


def _has_too_many_digits(record: Record) -> bool:
    return bool(abs(getattr(record, "expected_answer", 0)) >= _ANSWER_LIMIT)


def read_json(path: Path, struct_type: type[S]) -> S:
    """Read a JSON file that holds one object, as strictly as a line of JSONL."""
    try:
        with open_regular(path) as file:
            text = file.read(_OBJECT_BYTES + 1)
        if len(text) > _OBJECT_BYTES:
            raise ValueError(f"expected at most {_OBJECT_BYTES >> 20} MB, got more")
        text = text.rstrip(_SPACE)
        record = _decode(text, msgspec.json.Decoder(struct_type))
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        raise UserError(f"{path} {error}") from None
    return record


def refuse_repeated_keys(text: bytes) -> None:
    """Raise ValueError if an object of this JSON, at any depth, has a key twice: one of the values would be dropped."""
    try:
        # Objects as tuples of pairs. int() refuses more than 4,300 digits.
        whole = json.loads(text, object_pairs_hook=tuple, parse_int=str)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    unread: list[tuple[str, Any]] = [("$", whole)]
    while unread:
        path, value = unread.pop()
        path = clipped(path, _SHOWN)
        if isinstance(value, tuple):
            keys = set()
            for key, part in value:
                place = f"{path}.{key}"
                if key in keys:
                    place = clipped(place, _SHOWN)
                    raise ValueError(f"{place}: expected each key once, got it twice (nothing is dropped in silence)")
                keys.add(key)
                if isinstance(part, (tuple, list)):
                    unread.append((place, part))
        elif isinstance(value, list):
            unread += [
                (f"{path}[{place}]", part) for place, part in enumerate(value) if isinstance(part, (tuple, list))
            ]


def unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"{path}: cannot read this file: {reason(error)}")


def _decode(text: bytes, decoder: "msgspec.json.Decoder[S]") -> S:
    """One JSON object as a struct. Raises ValueError: where the fault is, what was expected, what was there."""
    try:
        record = decoder.decode(text)
    except msgspec.ValidationError as error:
        if error.__cause__ is not None:  # what the record itself refused, in its own words
            raise ValueError(error.__cause__) from None
        raise ValueError(_explain_type(str(error), text, decoder.type)) from None
    except _UNDECODABLE as error:
        raise ValueError(_explain_syntax(str(error), text)) from None
    refuse_repeated_keys(text)
    return record


def _explain_syntax(complaint: str, text: bytes) -> str:
    """Why a text is not JSON, from msgspec's words, which say at which byte it stopped."""
    if not text:
        return "expected one JSON object, got an empty file"
    if text.startswith(b"\xef\xbb\xbf"):
        return "expected UTF-8 without a byte order mark, got a byte order mark; save the file without it"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"expected UTF-8, got byte 0x{text[error.start]:02x} at byte {error.start + 1}"
    if "recursion" in complaint:
        return _TOO_DEEP
    if "surrogate" in complaint or _has_half_a_surrogate_pair(text):
        return "expected whole characters, got half a surrogate pair (\\ud800 to \\udfff)"
    stopped = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", complaint)
    if stopped is None:
        return f"expected one JSON object, got an object that is cut off: {clipped(text.decode()[-_SHOWN:], _SHOWN)}"
    start = int(stopped[2])
    if stopped[1] == "trailing characters":  # it stops behind the first of them
        start -= 1
    for begin in (max(start - 1, 0), start):
        if number := _NOT_FINITE.match(text, begin):
            return f"expected a finite number, got {number[0].decode()} at byte {begin + 1}"
    rest = text[start:].decode("utf-8", "replace")
    return f"expected one JSON object, got invalid JSON at byte {start + 1} ({stopped[1]}): {clipped(rest, _SHOWN)}"


def _has_half_a_surrogate_pair(text: bytes) -> bool:
    """Whether this is JSON but for an escape such as \\ud800 that stands alone."""
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def _explain_type(complaint: str, text: bytes, struct_type: type[msgspec.Struct]) -> str:
    """How a value differs from its record, from msgspec's words, which say where."""
    fault, path = _split_complaint(complaint)
    if path == "$.expected_answer" and fault == "Integer value out of range":
        return f"{path}: {_TOO_MANY_DIGITS}"
    if fault in _TOO_LARGE:
        return f"{path}: {_TOO_LARGE[fault]}"
    try:
        value = msgspec.json.decode(text)
    except msgspec.ValidationError as error:  # behind the wrong type stands a number that is too large
        fault, path = _split_complaint(str(error))
        return f"{path}: {_TOO_LARGE[fault]}"
    except _UNDECODABLE as error:  # behind the wrong type stands what is no JSON at all
        return _explain_syntax(str(error), text)
    fields = msgspec.structs.fields(struct_type)
    known = [field.encode_name for field in fields]
    required = [field.encode_name for field in fields if field.required]
    if isinstance(value, dict):
        missing = [key for key in required if key not in value]
        unknown = [key for key in value if key not in known]
        if unknown:
            mend = "put it under metadata" if "metadata" in known else "delete it"
            if missing:
                mend = f"rename it to {' or '.join(missing)} if it holds that value, otherwise {mend}"
            return f"$.{clipped(unknown[0], _SHOWN)}: this key is not one of {', '.join(known)}; {mend}"
        if len(missing) > 1:
            return f"$: expected the keys {', '.join(required)}, got a record without {', '.join(missing)}"
    if field := re.fullmatch(r"(?s)Object (missing required|contains unknown) field (.*)", fault):
        fault = "this key is missing" if field[1] == "missing required" else "this key is not known; delete it"
        return f"{path}.{clipped(field[2], _SHOWN)}: {fault}"
    if fault == "Invalid RFC3339 encoded date":
        fault = "Expected a date such as 2026-11-21"
    refuse_repeated_keys(text)  # msgspec complains of each value of a key, and hands back the last one
    expected, _, kind = fault.removeprefix("Expected ").partition(", got ")
    for key, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", path):
        value = value[key or int(index)]
    got = clipped(json.dumps(value, ensure_ascii=False), _SHOWN)
    if kind not in ("", "null"):
        got = f"{kind} {got}"
    mend = ""
    if issubclass(struct_type, Record):
        mend = f" ({struct_type.file_kind} are never coerced)"
    if (path, kind) == ("$.id", "int"):
        mend += f'; write "{value}" in every file'
    if (expected, kind) == ("int", "str") and re.fullmatch("0|-?[1-9][0-9]{0,59}", value):
        mend += f"; write {value} without quotes"
    return f"{path}: expected {expected}, got {got}{mend}"


def _split_complaint(complaint: str) -> tuple[str, str]:
    """What msgspec says, and the place that it names; ``$`` if it names no place."""
    fault, found, path = complaint.replace("`", "").rpartition(" - at ")
    return (fault, clipped(path, _SHOWN)) if found else (path, "$")
