"""Machinery: the hand-in, one zip of what a student wrote and measured. The same files give the same bytes.

Covered: links and files that are too large are refused by name; hidden files and caches are left out. Not covered:
whether anything in it is right, which the check says and grading asks again.
"""

import zipfile
from collections.abc import Sequence
from io import BytesIO
from itertools import count
from pathlib import Path

from course.artifacts import run_log
from course.artifacts.reading import runs_in
from course.datasets.files import open_regular
from course.errors import UserError, reason
from course.exercises.seal import files_in
from course.text import did_you_mean, quoted

_ZIP_BYTES = 1 << 26  # of all files
_FILES = 2_000


def submit(named: Sequence[Path], counted: Sequence[Path]) -> tuple[Path, list[str]]:
    """Write ``submission_001.zip``, or the next free number, into the working folder. Returns it and its names.

    ``named``: folders of runs, refused where they lie outside ``runs/``; ``counted``: those that a check counts.
    """
    home = run_log.LOG.parent
    inside = [run.name for run in (*named, *counted) if run.is_dir() and run.parent.resolve() == home.resolve()]
    if strange := next((run for run in named if run.name not in inside), None):
        mend = did_you_mean(strange.name, {one.name: f"--run {home.name}/{one.name}" for one in runs_in(home)})
        raise UserError(f"{mend}--run: expected a run in {home.name}/, got {quoted(str(strange))}")
    paths = {name: path for name in ("log.jsonl", "predictions.json") if (path := home / name).is_file()}
    paths |= {f"{run}/{name}": path for run in inside for name, path in files_in(home / run).items()}
    paths = {f"runs/{name}": path for name, path in paths.items()}
    for folder in ("exercises", "notes"):
        paths |= {f"{folder}/{name}": path for name, path in files_in(Path(folder)).items()}
    paths |= {name: Path(name) for name in ("tests/test_rubric.py",) if Path(name).exists()}
    data = _zipped({name: paths[name] for name in sorted(paths)})
    place = next(path for number in count(1) if not (path := Path(f"submission_{number:03}.zip")).exists())
    place.write_bytes(data)
    return place, sorted(paths)


def _zipped(paths: dict[str, Path]) -> bytes:
    out, room = BytesIO(), _ZIP_BYTES
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, path) in enumerate(paths.items()):
            try:
                if path.is_symlink():
                    raise OSError("a link")
                with open_regular(path) as file:
                    data = file.read(room + 1)
                room -= len(data)
                if room < 0 or number == _FILES:
                    raise OSError(f"more than {_ZIP_BYTES >> 20} MB or {_FILES:,} files in all")
                info = zipfile.ZipInfo(name)  # of the year 1980: no clock
                info.create_system, info.external_attr, info.compress_type = 3, 0o644 << 16, zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
            except (OSError, UnicodeEncodeError) as error:
                got = reason(error) if isinstance(error, OSError) else "a name that is no text"
                raise UserError(f"{quoted(name)}: expected a file to hand in, got {got}; take it away") from None
    return out.getvalue()
