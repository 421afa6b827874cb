"""Machinery: strict JSONL. UTF-8, one record a line, blank lines ignored, everything that is not a record refused.

Two roads, one verdict. The strict road asks the standard library's decoder, which can be told to refuse what JSON
forbids and Python allows (NaN, 1e400) and what both allow and no record may have (a key twice, half a surrogate
pair). The fast road asks msgspec, which is some twenty times quicker and overlooks a key given twice; so a block of
lines takes it only where none can hide one. In such a block each required key is counted: if it stands once a line
on the whole, and each line decodes, which takes the key at least once, then it stands exactly once in every line.
A block that fails on the fast road is read again on the strict one, which words the complaint.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import msgspec

from course.datasets.records import Record
from course.errors import UserError
from course.faults import MAX_DIGITS
from course.text import visible

if TYPE_CHECKING:
    import hashlib

_BLOCK_BYTES = 1 << 18
_SHOWN = 60  # characters of a refused value
_BOM = b"\xef\xbb\xbf"

R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=msgspec.Struct)


def read_records(path: Path, record_type: type[R], digest: "hashlib._Hash | None" = None) -> Iterator[R]:
    """Yield the records of a file in order. Raises UserError at the first line that is not one.

    ``digest`` is fed every byte as it is read. Ids are unique in a file, and a file holds at least one record.
    """
    return chain.from_iterable(read_batches(path, record_type, digest))


def read_batches(path: Path, record_type: type[R], digest: "hashlib._Hash | None" = None) -> Iterator[list[R]]:
    """The same, some hundreds or thousands of records at a time."""
    seen: set[str] = set()
    for first_line, lines in _blocks(path, digest):
        records = _fast_road(lines, record_type)
        numbers: Sequence[int] = range(first_line, first_line + len(lines))
        if records is None:
            numbers = [number for number, line in zip(numbers, lines, strict=True) if line.strip(b" \t\r")]
            records = [_strict_road(lines[n - first_line], record_type, f"{path}:{n}") for n in numbers]
        ids = [record.id for record in records]
        new = set(ids)
        if len(new) != len(ids) or not seen.isdisjoint(new):
            raise _duplicate(path, numbers, ids, seen)
        seen |= new
        yield records
    if not seen:
        raise UserError(f"{path}: expected at least one record, got an empty file")


def read_json(path: Path, struct_type: type[S]) -> S:
    """Read a JSON file that holds one object, as strictly as a line of JSONL."""
    try:
        return _strict_road(path.read_bytes(), struct_type, str(path))
    except OSError as error:
        raise _unreadable(path, error) from None


def _blocks(path: Path, digest: "hashlib._Hash | None") -> Iterator[tuple[int, list[bytes]]]:
    """``(number of the first line, whole lines without their newline)``, some 256 KiB at a time."""
    try:
        with path.open("rb") as file:
            yield from _split(file, digest)
    except OSError as error:
        raise _unreadable(path, error) from None


def _split(file: BinaryIO, digest: "hashlib._Hash | None") -> Iterator[tuple[int, list[bytes]]]:
    line_number = 1
    rest = b""
    while block := file.read(_BLOCK_BYTES):
        if digest is not None:
            digest.update(block)
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield line_number, lines
        line_number += len(lines)
    if rest:
        yield line_number, [rest]


def _fast_road(lines: list[bytes], record_type: type[R]) -> list[R] | None:
    required, optional, decode = _plan(record_type)
    block = b"\n".join(lines)
    if any(block.count(key) != len(lines) for key in required) or any(key in block for key in optional):
        return None
    if b"\\" in block and b"\\u" in block:  # a key, or half a surrogate pair, could be spelled in escapes
        return None
    try:
        return [decode(line) for line in lines]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


@cache
def _plan(record_type: type[R]) -> tuple[list[bytes], list[bytes], Any]:
    fields = msgspec.structs.fields(record_type)
    required = [f'"{field.encode_name}"'.encode() for field in fields if field.required]
    optional = [f'"{field.encode_name}"'.encode() for field in fields if not field.required]
    return required, optional, msgspec.json.Decoder(record_type).decode


class _Refused:
    """Stands in a decoded value where something was that the strict road does not take, so that its path is known."""

    def __init__(self, what: str) -> None:
        self.what = what


def _strict_road(line: bytes, struct_type: type[S], where: str) -> S:
    if line.startswith(_BOM):
        raise UserError(f"{where} expected UTF-8 without a byte order mark, got one; save the file without it")
    try:
        value = _STRICT.decode(line.decode("utf-8"))
        if flaw := next(_flaws(value, "$"), None):
            raise UserError(f"{where} {flaw}")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{line[error.start]:02x} at byte {error.start + 1}"
        raise UserError(f"{where} expected UTF-8, got {byte}") from None
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise UserError(f"{where} expected one JSON object, got invalid JSON at {place}: {error.msg}") from None
    except RecursionError:
        raise UserError(f"{where} expected one JSON object, got one nested too deep to read") from None
    try:
        return msgspec.convert(value, struct_type)
    except msgspec.ValidationError as error:
        raise UserError(f"{where} {_complaint(str(error), value, struct_type)}") from None


def _flaws(value: Any, path: str) -> Iterator[str]:
    """What the types of a record could not refuse, wherever it stands."""
    if isinstance(value, _Refused):
        yield f"{path}{value.what}"
    elif isinstance(value, str) and re.search("[\ud800-\udfff]", value):
        yield f"{path}: expected whole characters, got half a surrogate pair (\\ud800 to \\udfff)"
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _flaws(key, path)
            yield from _flaws(part, f"{path}.{visible(key)}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _flaws(part, f"{path}[{index}]")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Refused:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    twice = next(key for key in value if sum(key == other for other, _ in pairs) > 1)
    return _Refused(f".{visible(twice)}: expected the key once, got it more than once")


def _finite(text: str) -> float | _Refused:
    number = float(text)
    return number if isfinite(number) else _Refused(f": expected a number that a float can hold, got {text[:40]}")


def _short(text: str) -> int | _Refused:
    digits = text.removeprefix("-")
    if len(digits) > MAX_DIGITS:
        return _Refused(f": expected an integer of at most {MAX_DIGITS:,} digits, got one of {len(digits):,}")
    half = MAX_DIGITS // 2
    number: int = int(digits[:-half] or "0") * 10**half + int(digits[-half:])  # in halves: below any limit set on int()
    return -number if text.startswith("-") else number


def _constant(text: str) -> _Refused:
    return _Refused(f": expected JSON, got {text}, which JSON does not have")


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_int=_short, parse_constant=_constant)


def _complaint(message: str, value: Any, struct_type: type[msgspec.Struct]) -> str:
    """msgspec's finding in this lab's grammar: where, expected, got, what to do."""
    if message.startswith("$"):  # worded by the record itself
        return message
    known = [field.encode_name for field in msgspec.structs.fields(struct_type)]
    if isinstance(value, dict) and (strange := [key for key in value if key not in known]):
        return f"$.{visible(strange[0])}: expected no key but {', '.join(known)}, got this one"
    text, at, path = message.replace("`", "").rpartition(" - at ")
    text, path = (text, path) if at else (path, "$")
    if missing := re.fullmatch(r"Object missing required field (.+)", text):
        return f"{path}.{missing[1]}: expected this key, got none"
    if unknown := re.fullmatch(r"Object contains unknown field (.*)", text, re.DOTALL):
        return f"{path}.{visible(unknown[1])}: expected no such key, got this one"
    if text == "Number out of range":
        return f"{path}: expected a number that a float can hold, got one that it cannot"
    wanted, _, kind = text.removeprefix("Expected ").partition(", got ")
    got = f"{'' if kind == 'null' else kind} {_shown(_at(value, path))}".strip()
    never = f" ({struct_type.file_kind} are never coerced)" if issubclass(struct_type, Record) else ""
    return f"{path}: expected {wanted}, got {got}{never}"


def _at(value: Any, path: str) -> Any:
    for key, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", path):
        value = value[key] if key else value[int(index)]
    return value


def _shown(value: Any) -> str:
    try:
        text = visible(json.dumps(value, ensure_ascii=False))
    except ValueError:  # an integer of more digits than the interpreter is set to print
        return "too long to show"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _duplicate(path: Path, numbers: Sequence[int], ids: list[str], seen: set[str]) -> UserError:
    row = next(row for row, id_ in enumerate(ids) if id_ in seen or id_ in ids[:row])
    return UserError(
        f"{path}:{numbers[row]} $.id: expected an id that is unique in its file, got {visible(ids[row])} a second time"
    )


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"{path}: expected a file that can be read, got: {(error.strerror or str(error)).lower()}")
