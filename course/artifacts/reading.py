"""Machinery: reading a run and believing none of it. Digests are taken again, every completion is scored again.

Covered
    A file changed, cut or missing; a reward or an outcome edited, even where the digests were forged to fit.
Not covered
    A run invented from the start by somebody who also ran the real scorer on it. No digest can tell that. In Loop C,
    what a row says besides its reward (step, training, split, proxy_reward): only the digest holds it.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from course.artifacts.records import (
    MANIFEST,
    RESULT_TYPES,
    RESULTS,
    SCHEMA_VERSION,
    SUMMARY,
    UNANSWERED,
    Manifest,
    Result,
    Selection,
)
from course.artifacts.summary import summary_of
from course.errors import UserError, reason
from course.score import Measurement, measure
from course.text import visible

_BLOCK_BYTES = 1 << 18
_OUTPUT = re.compile("(?:[a-zA-Z0-9_-][a-zA-Z0-9_.-]*/)?[a-zA-Z0-9_-][a-zA-Z0-9_.-]*")  # at most one folder in front
_ROWS_LISTED = 3  # how many rows a complaint names


class Run(NamedTuple):
    """A run's folder and its manifest, read but not verified."""

    path: Path
    manifest: Manifest


class Broken(Exception):
    """The run is incomplete or was tampered with: one sentence, which file and how."""


def open_run(path: Path) -> Run:
    """Read the manifest. Raises UserError where there is no such folder, Broken where it holds no whole run."""
    if not path.is_dir():
        raise UserError(f"{path}: expected the folder of a run, got {'a file' if path.exists() else 'nothing there'}")
    try:
        manifest = msgspec.json.decode(_read(path, MANIFEST), type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Broken(f"{MANIFEST} is not a manifest of this lab: {visible(str(error))}") from None
    if manifest.schema_version != SCHEMA_VERSION:
        raise Broken(f"{MANIFEST} has schema version {manifest.schema_version}, this lab reads {SCHEMA_VERSION}")
    for name in (RESULTS, SUMMARY):
        if name not in manifest.outputs:
            raise Broken(f"{MANIFEST} has no digest of {name}")
    return Run(path, manifest)


def read_summary(run: Run) -> dict[str, Any]:
    """The summary, unverified. Raises Broken where it cannot be read."""
    try:
        return msgspec.json.decode(_read(run.path, SUMMARY), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Broken(f"{SUMMARY} is not a JSON object: {visible(str(error))}") from None


def rows(run: Run) -> Iterator[Result]:
    """The rows of the results, unverified. Raises Broken at the first line that is not a row."""
    return chain.from_iterable(_batches(run, hashlib.sha256()))


def verified_rows(run: Run, faults: list[str]) -> Iterator[Result]:
    """Yield every row, and add to ``faults`` what is wrong with the run; the list is complete after the last row.

    The installed scorer scores the raw completions again. Digests, the prompts and the numbers that the summaries of
    Loops A and B share are taken again from the rows: digests that were forged to fit hide nothing of that.
    """
    return chain.from_iterable(_verified_batches(run, faults))


def _verified_batches(run: Run, faults: list[str]) -> Iterator[list[Result]]:
    digest, prompts = hashlib.sha256(), hashlib.sha256()
    encoder = msgspec.json.Encoder()
    agrees = _choice_agrees if run.manifest.loop == "B" else _agrees
    outcomes: Counter[str] = Counter()
    wrong: list[Result] = []
    try:
        for batch in _batches(run, digest):
            prompts.update(encoder.encode_lines([(row.id, row.prompt) for row in batch]))
            outcomes.update([row.details.outcome for row in batch])
            wrong += [row for row in batch if not agrees(row)]
            yield batch
        faults += [
            f"{RESULTS}: {visible(row.id[:60])} is recorded as {visible(row.details.outcome[:40])} with reward "
            f"{row.reward}, which is not what the scorer says"
            for row in wrong[:_ROWS_LISTED]
        ]
        if len(wrong) > _ROWS_LISTED:
            faults.append(f"{RESULTS}: {len(wrong) - _ROWS_LISTED:,} more rows are not what the scorer says")
        if run.manifest.loop != "C":
            faults += _total_faults(run, outcomes, prompts.hexdigest())
    except Broken as error:
        faults.append(str(error))
        return
    faults += _output_faults(run, digest.hexdigest())


def _total_faults(run: Run, outcomes: Counter[str], prompts: str) -> list[str]:
    """Where the rows of Loops A and B do not add up to the summary, or are not the prompts that were measured."""
    recorded = read_summary(run)
    counted = summary_of(outcomes) if outcomes else {"n": 0, "passes": 0}
    faults = [
        f"{SUMMARY} says {name} {visible(str(recorded.get(name)))[:40]}, its rows come to {value}"
        for name, value in counted.items()
        if recorded.get(name) != value
    ]
    if run.manifest.prompts_fingerprint not in (None, prompts):
        faults.append(f"{RESULTS} does not hold the prompts that the manifest was made of")
    return faults


def _batches(run: Run, digest: "hashlib._Hash") -> Iterator[list[Result]]:
    """The rows, some 256 KiB at a time. Every byte is read once and fed to ``digest``."""
    decode = msgspec.json.Decoder(RESULT_TYPES[run.manifest.loop]).decode_lines
    rest, number = b"", 0
    try:
        with (run.path / RESULTS).open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
                lines, _, rest = (rest + block).rpartition(b"\n")
                batch = decode(lines)
                number += len(batch)
                yield batch
    except OSError as error:
        raise Broken(f"{RESULTS} cannot be read: {reason(error)}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Broken(f"{RESULTS}, after row {number}: not a result: {visible(str(error))}") from None
    if rest:
        raise Broken(f"{RESULTS} is cut off after row {number}")


def _agrees(row: Result) -> bool:
    """Whether the installed scorer says of this row what the row says."""
    said = Measurement(row.reward, row.details.outcome, row.details.parsed_answer)
    if row.completion is None:
        return said == UNANSWERED
    try:
        return said == measure(row.expected_answer, row.completion)
    except ValueError:  # an expected answer of more digits than any example has
        return False


def _choice_agrees(row: Result) -> bool:
    """The same of a choice and of all the samples it was made from."""
    if not isinstance(row, Selection) or not _agrees(row):
        return False
    again = [measure(row.expected_answer, sample).reward for sample in row.samples]
    return row.rewards == again and 0 <= row.chosen < len(again) and row.samples[row.chosen] == row.completion


def _output_faults(run: Run, results_digest: str) -> list[str]:
    """What is wrong with the files that the manifest seals. ``results_digest``: of the results, already read."""
    faults = []
    for name, recorded in run.manifest.outputs.items():
        if not _OUTPUT.fullmatch(name):
            faults.append(f"{MANIFEST} names an output that is not a file of its folder: {visible(name[:60])}")
            continue
        try:
            digest = results_digest if name == RESULTS else hashlib.sha256(_read(run.path, name)).hexdigest()
        except Broken as error:
            faults.append(str(error))
            continue
        if digest != recorded:
            faults.append(f"{visible(name[:60])} is not the file that was written: its digest differs")
    return faults


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise Broken(f"{visible(name[:60])} cannot be read: {reason(error)}") from None
