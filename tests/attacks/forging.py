"""The tools of a forger who knows the lab: files of a run rewritten, and everything that is counted made to fit.

Whatever a run holds may be written anew, and none of these touches the log.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from conftest import lines_of

from course.artifacts.records import RESULT_TYPES, Selection, indented
from course.artifacts.summary import choice_of, summary_of

Forge = Callable[[Path], object]  # gets the folder of a run, whose neighbour is the other run

RESULTS, SUMMARY, MANIFEST = "results.jsonl", "summary.json", "manifest.json"


def manifest_of(run: Path) -> Any:
    return json.loads((run / MANIFEST).read_text("utf-8"))


def other(run: Path) -> Path:
    """The run beside this one."""
    return run.with_name("baseline" if run.name == "candidate" else "candidate")


def sealed(run: Path) -> None:
    """The digests of all outputs taken again."""
    said = manifest_of(run)
    said["outputs"] = {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in said["outputs"]}
    (run / MANIFEST).write_bytes(indented(said))


def fitted(run: Path) -> None:
    """Summary, fingerprints of the examples and digests made those of the rows as they are now."""
    said, lines = manifest_of(run), (run / RESULTS).read_bytes()
    rows = msgspec.json.Decoder(RESULT_TYPES[said["loop"]]).decode_lines(lines)
    if rows:
        outcomes = Counter(row.details.outcome for row in rows)
        choices = Counter(choice_of(row) for row in rows if isinstance(row, Selection))
        (run / SUMMARY).write_bytes(indented(summary_of(outcomes, choices)))
    encode = msgspec.json.Encoder().encode_lines
    examples = [(row.id, row.prompt, row.expected_answer) for row in rows]
    said["prompts_fingerprint"] = hashlib.sha256(encode([example[:2] for example in examples])).hexdigest()
    said["examples_fingerprint"] = hashlib.sha256(encode(examples)).hexdigest()
    (run / MANIFEST).write_bytes(indented(said))
    sealed(run)


def fields(**changes: object) -> Forge:
    """Fields of the manifest set to these values."""
    return lambda run: (run / MANIFEST).write_bytes(indented(manifest_of(run) | changes))


def field(name: str, **changes: object) -> Forge:
    """The same of an object in the manifest."""
    return lambda run: fields(**{name: manifest_of(run)[name] | changes})(run)


def as_other(*names: str) -> Forge:
    """Fields of the manifest set to those of the run beside."""
    return lambda run: fields(**{name: manifest_of(other(run))[name] for name in names})(run)


def rows_changed(change: Callable[[list[Any]], object], fit: Forge = fitted) -> Forge:
    """``change`` gets all rows and alters them; then ``fit`` makes the rest fit."""

    def forge(run: Path) -> None:
        rows = lines_of(run / RESULTS)
        change(rows)
        (run / RESULTS).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        fit(run)

    return forge


def each_row(change: Callable[[Any], object], fit: Forge = fitted) -> Forge:
    return rows_changed(lambda rows: [change(row) for row in rows], fit)


def replaced(name: str, old: bytes, new: bytes, count: int = -1) -> Forge:
    """Bytes of a file replaced, then sealed; the manifest cannot hold its own digest and is left as it is."""

    def forge(run: Path) -> None:
        data = (run / name).read_bytes()
        assert old in data, old
        (run / name).write_bytes(data.replace(old, new, count))
        if name != MANIFEST:
            sealed(run)

    return forge


def around(name: str, before: bytes = b"", after: bytes = b"") -> Forge:
    """Bytes put before and after a file, then sealed."""

    def forge(run: Path) -> None:
        (run / name).write_bytes(before + (run / name).read_bytes() + after)
        if name != MANIFEST:
            sealed(run)

    return forge


def summary_changed(change: Callable[[Any], object]) -> Forge:
    def forge(run: Path) -> None:
        summary = json.loads((run / SUMMARY).read_text("utf-8"))
        change(summary)
        (run / SUMMARY).write_bytes(indented(summary))
        sealed(run)

    return forge


def taken_from_other(*names: str, then: Forge | None = None) -> Forge:
    """Files of the run beside put in the place of this one's."""

    def forge(run: Path) -> None:
        for name in names:
            (run / name).write_bytes((other(run) / name).read_bytes())
        if then:
            then(run)

    return forge


def swapped(*names: str, then: Forge | None = None) -> Forge:
    """Files exchanged between the two runs."""

    def forge(run: Path) -> None:
        for name in names:
            mine, theirs = (run / name).read_bytes(), (other(run) / name).read_bytes()
            (run / name).write_bytes(theirs)
            (other(run) / name).write_bytes(mine)
        if then:
            then(run)
            then(other(run))

    return forge


def linked(name: str, hard: bool = False, then: Forge | None = None) -> Forge:
    """A file replaced by a link to that of the run beside."""

    def forge(run: Path) -> None:
        (run / name).unlink()
        if hard:
            (run / name).hardlink_to(other(run) / name)
        else:
            (run / name).symlink_to((other(run) / name).resolve())
        if then:
            then(run)

    return forge


def in_turn(*forges: Forge) -> Forge:
    return lambda run: [forge(run) for forge in forges]
