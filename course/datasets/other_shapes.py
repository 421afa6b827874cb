"""Machinery: files of a different shape that people bring: how each shape is recognised, and what to do with it.

Only a file that was refused is examined, so a right file costs nothing.
"""

import re
from pathlib import Path

import msgspec

from course.datasets.files import open_regular
from course.datasets.records import Record

PAGE = "docs/own_data.md"
_WHOLE_BYTES = 1 << 26  # of a file that is one object on many lines
_LINES = f"{PAGE} has the code that converts such a file"
_SHAPES: tuple[tuple[str | bytes, str, str], ...] = (  # the first that fits
    # the keys of a row, or a pattern at the start of the file; the name of this shape; what to do
    ("custom_id", "the batch output of a served model", _LINES),
    ("doc resps", "samples of lm-eval", _LINES),
    ("eval status", "an Inspect log", _LINES),
    ("prompt outputs", "rows of vLLM", _LINES),
    ("prompt generated_text", "rows of vLLM", _LINES),
    ("choices", "responses of a served model", _LINES),
    ("question answer", "questions with worked answers, as in GSM8K", _LINES),
    ("expected_reward", "golden cases", "golden cases go to --golden"),
    ("prompt expected_answer", "a dataset", "a dataset goes to --dataset; were two files swapped?"),
    (
        "samples",
        "a selection pack",
        "a pack goes to course.selection_demo --samples; course.eval takes one completion for each id",
    ),
    (
        "completion",
        "rollouts",
        f"rollouts go to --completions; were two files swapped? {PAGE} turns several completions of an id into a pack",
    ),
    ("index", "rows with an index", 'give each row an "id", a text such as "q-17" that is the same in both files'),
    (rb"PAR1", "a Parquet file", _LINES),
    (rb"PK\x03\x04", "a zip archive, such as an Inspect log (.eval)", _LINES),
    (rb"\x1f\x8b", "a gzip file", "unpack it"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    (rb"\s*\[", "a JSON array", f"write one object on each line (JSONL); {PAGE} has the code that does this"),
    (rb"""[\w "'-]+([,;\t][\w "'-]+)+\r?\n""", "a table (CSV)", _LINES),
)


def other_shape(path: Path, row: bytes, record_type: type[Record]) -> str | None:
    """What a refused file is, and what to do; None if its shape is not known, or is the right one.

    ``row``: the line that was refused. A file that is one object on several lines is recognised by the object's keys.
    """
    required = [field.name for field in msgspec.structs.fields(record_type) if field.required]
    with open_regular(path) as file:
        text = file.read(_WHOLE_BYTES)
    keys = _keys_of(row) or _keys_of(text)
    for sign, name, mend in _SHAPES:
        if isinstance(sign, bytes):
            fits = not keys and re.match(sign, text) is not None
            is_right = False
        else:
            fits = keys.issuperset(sign.split())
            is_right = keys.issuperset(required) or set(required).issuperset(sign.split())
        if fits:
            return None if is_right else f"expected rows with {', '.join(required)}, got {name}; {mend}"
    return None


def _keys_of(text: bytes) -> set[str]:
    """The keys of a JSON object; none if the text is not an object."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return set()
    return set(value) if isinstance(value, dict) else set()
