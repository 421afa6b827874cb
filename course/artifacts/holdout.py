"""Machinery: how often the holdout was looked at. Each look is a chance to tune on it, so each is counted."""

import os
from pathlib import Path

import msgspec

from course.artifacts.records import Manifest
from course.errors import UserError
from course.text import visible

HOLDOUT = "holdout"
HOLDOUT_LOG = "holdout_log.jsonl"


class HoldoutLook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run on a holdout split."""

    run: str
    command: str
    dataset_fingerprint: str | None  # of the holdout


def count_look(runs: Path, run: Path, manifest: Manifest, fingerprint: str) -> None:
    """Add one look to the log. Raises OSError where it cannot be written: a look that can't be counted isn't had."""
    look = HoldoutLook(visible(run.as_posix()), manifest.command, fingerprint)
    runs.mkdir(parents=True, exist_ok=True)
    with (runs / HOLDOUT_LOG).open("ab") as file:
        file.write(msgspec.json.encode(look) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def looks(runs: Path, dataset_fingerprint: str | None) -> int:
    """How many runs on this holdout the log counts."""
    try:
        lines = (runs / HOLDOUT_LOG).read_bytes().splitlines()
    except FileNotFoundError:
        return 0
    try:
        log = [msgspec.json.decode(line, type=HoldoutLook) for line in lines]
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(
            f"{runs / HOLDOUT_LOG}: expected the lab's own log, one look a line, got: {error}; restore it"
        ) from None
    return sum(look.dataset_fingerprint == dataset_fingerprint for look in log)
