"""Machinery: strict JSONL. UTF-8, one record a line, blank lines ignored, everything that is not a record refused.

jiter parses a line, and refuses what is not JSON (NaN, a byte order mark, half a surrogate pair) and a key given twice.
msgspec makes the record and coerces nothing. Then numbers are checked: jiter takes 1e400 for infinity.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import jiter
import msgspec

from course.datasets.files import blocks_of_lines, open_regular
from course.datasets.records import Record, Rollout
from course.datasets.shapes import PAGE, other_shape
from course.errors import UserError, reason
from course.faults import MAX_DIGITS
from course.text import clipped, quoted

_OBJECT_BYTES = 1 << 26  # of a file that holds one object
_SHOWN = 60  # characters of a refused value
_SPACE = b" \t\r\n"  # what JSON calls white space
_NUMBER_LIMIT = 10**MAX_DIGITS
_ANY_DIGIT_IS_0 = bytes.maketrans(b"123456789E", b"000000000e")
_EXPECTED = {"Number out of range": "a smaller number", "Invalid RFC3339 encoded date": "a date such as 2026-11-21"}

_parse = partial(jiter.from_json, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="keys")

R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=msgspec.Struct)


def read_records(path: Path, record_type: type[R], digest: "hashlib._Hash | None" = None) -> Iterator[R]:
    """Yield the records of a file in order. Raises UserError at the first line that is not one.

    ``digest`` is fed every byte as it is read. Ids are unique in a file, and a file holds at least one record.
    """
    return chain.from_iterable(read_batches(path, record_type, digest))


def read_batches(path: Path, record_type: type[R], digest: "hashlib._Hash | None" = None) -> Iterator[list[R]]:
    """The same, some dozens or hundreds of records at a time."""
    ids: set[str] = set()
    number = 1  # of the first line of a batch
    try:
        for block in blocks_of_lines(path, digest):
            lines = block.removesuffix(b"\n").split(b"\n")
            batch: list[R] = []
            with suppress(ValueError, msgspec.ValidationError):
                values = list(map(_parse, lines))
                digits = block.translate(_ANY_DIGIT_IS_0)
                may_be_too_large = b"0e" in digits or b"0" * 300 in digits  # an exponent, or so many digits
                if not (may_be_too_large and _too_large(values)):
                    batch = msgspec.convert(values, list[record_type])  # type: ignore[valid-type]
            new = {record.id for record in batch}
            if len(new) < len(lines) or "" in new or not ids.isdisjoint(new):
                batch = list(_one_by_one(path, lines, number, record_type, ids))
            ids |= new
            number += len(lines)
            yield batch
    except OSError as error:
        raise _unreadable(path, error) from None
    if not ids:
        raise UserError(f"{path}: expected at least one record, got an empty file")


def _one_by_one(path: Path, lines: list[bytes], first: int, record_type: type[R], ids: set[str]) -> Iterator[R]:
    """The records of a batch that holds a line that is refused, blank or without an id; ``first``: its first line."""
    for number, line in enumerate(lines, first):
        if text := line.rstrip(_SPACE):
            try:
                record = _decode(text, record_type)
                if not record.id:
                    record = msgspec.structs.replace(record, id=f"line {number}")
                if record.id in ids:
                    got = f"{clipped(record.id, _SHOWN)} a second time"
                    mend = f"; {PAGE} makes a selection pack of several an id" if record_type is Rollout else ""
                    raise ValueError(f"$.id: expected an id that is unique in its file, got {got}{mend}")
            except ValueError as error:
                raise UserError(f"{path}:{number} {other_shape(path, text, record_type) or error}") from None
            ids.add(record.id)
            yield record


def read_json(path: Path, struct_type: type[S]) -> S:
    """Read a JSON file that holds one object, as strictly as a line of JSONL."""
    try:
        with open_regular(path) as file:
            text = file.read(_OBJECT_BYTES + 1)
        if len(text) > _OBJECT_BYTES:
            raise ValueError(f"expected at most {_OBJECT_BYTES >> 20} MB, got more")
        return _decode(text.rstrip(_SPACE), struct_type)
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError as error:
        raise UserError(f"{path} {error}") from None


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"{path}: expected a file that can be read, got: {reason(error)}")


def _decode(text: bytes, struct_type: type[S]) -> S:
    """One JSON object as a struct. Raises ValueError: where in the object, what was expected, what was there."""
    try:
        value = _parse(text)
    except ValueError as error:
        raise ValueError(_parser_complaint(str(error), text)) from None
    try:
        struct = msgspec.convert(value, struct_type)
    except msgspec.ValidationError as error:  # its cause: what the record itself refused, in its own words
        raise ValueError(error.__cause__ or _type_complaint(str(error), value, struct_type)) from None
    if (place := _too_large(value)) is not None:
        expected = f"expected a finite number of at most {MAX_DIGITS:,} digits, got a larger one"
        raise ValueError(f"${quoted(place)}: {expected}")
    return struct


def _too_large(value: Any) -> str | None:
    """Where in a value a number stands that is too large; None where none does. A place is named only if it is one."""
    if isinstance(value, (int, float)):
        return "" if abs(value) >= _NUMBER_LIMIT else None
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if (place := _too_large(part)) is not None:
            return f".{clipped(key, _SHOWN)}{place}" if isinstance(key, str) else f"[{key}]{place}"
    return None


def _parser_complaint(message: str, text: bytes) -> str:
    if text.startswith(b"\xef\xbb\xbf"):
        return "expected UTF-8 without a byte order mark, got one; save the file without it"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"expected UTF-8, got byte 0x{text[error.start]:02x} at byte {error.start + 1}"
    words, row, column = re.findall(r"(?s)(.*) at line (\d+) column (\d+)", message)[0]  # its columns count bytes
    place = f"at byte {column}" if row == "1" else f"at line {row}, byte {column}"
    if words.startswith("Detected duplicate key "):
        return f"expected each key once, got {clipped(words[23:], _SHOWN)} a second time {place}"
    if words.endswith("hex escape"):
        return f"expected whole characters, got half a surrogate pair (\\ud800 to \\udfff) {place}"
    rest = text.split(b"\n")[int(row) - 1][max(int(column) - 1, 0) :].decode("utf-8", "replace")
    return f"expected one JSON object, got invalid JSON {place} ({words}): {clipped(rest, _SHOWN)}"


def _type_complaint(message: str, value: Any, struct_type: type[msgspec.Struct]) -> str:
    fields = msgspec.structs.fields(struct_type)
    known, required = [field.name for field in fields], [field.name for field in fields if field.required]
    if isinstance(value, dict):
        missing = [key for key in required if key not in value]
        if unknown := [key for key in value if key not in known]:
            rename = f"call it {' or '.join(missing)} if it is that, else " if missing else ""
            mend = f"{rename}{'put it under metadata' if 'metadata' in known else 'take it out'}"
            return f"$.{clipped(unknown[0], _SHOWN)}: expected no key but {', '.join(known)}, got this one; {mend}"
        if len(missing) > 1:
            return f"$: expected the keys {', '.join(required)}, got none for {', '.join(missing)}"
    text, path = [*message.replace("`", "").rsplit(" - at ", 1), "$"][:2]
    if field := re.fullmatch(r"(?s)Object (missing required|contains unknown) field (.*)", text):
        fault = "this key, got none" if field[1] == "missing required" else "no such key, got this one"
        return f"{path}.{clipped(field[2], _SHOWN)}: expected {fault}"
    expected, _, kind = _EXPECTED.get(text, text).removeprefix("Expected ").partition(", got ")
    for key, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", path):
        value = value[key or int(index)]
    got = clipped(json.dumps(value, ensure_ascii=False), _SHOWN)
    never = f" ({struct_type.file_kind} are never coerced)" if issubclass(struct_type, Record) else ""
    if (path, kind) == ("$.id", "int"):
        never += f'; write "{got}", in every file'
    return f"{path}: expected {expected}, got {got if kind in ('', 'null') else f'{kind} {got}'}{never}"
