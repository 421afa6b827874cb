"""Machinery: the function that a level asks for, judged as it ran, in one to three lines.

The file of a run may be an older one than that in ``exercises/``. It is then judged in a folder of its own, beside the
student's other files as they are today.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from check.functions import check_functions
from check.lock import copy_exercises
from check.own_spec import check_my_score
from check.result import NOT_STARTED, CheckResult
from course.text import clipped

# level -> the file of exercises/ that it asks for, and how the file is judged
FUNCTIONS_OF: dict[str, tuple[str, Callable[[Path, int], CheckResult]]] = {
    "level_1": ("my_score.py", check_my_score),
    "level_2": ("pick_best.py", check_functions),
    "level_3": ("reinforce.py", check_functions),
}
UNWRITTEN = "is still to be written"
_LINES = 2  # that are shown
_WIDTH = 230  # of each of them: three lines of a terminal


def faults_of_function(level: str, source: bytes | None, seed: int) -> list[str]:
    """What is wrong with the level's function: the failing call or text first, and at most three lines.

    ``source``: the bytes that ran; None stands for the file as it is today.
    """
    name, check = FUNCTIONS_OF[level]
    path = Path("exercises") / name
    if source is None or (path.is_file() and path.read_bytes() == source):
        return _faults_of(check(path, seed), path, path)
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        copy_exercises(Path(place) / "exercises", name, source)
        copy = Path(place) / "exercises" / name
        return _faults_of(check(copy, seed), copy, path)


def _faults_of(result: CheckResult, path: Path, shown: Path) -> list[str]:
    if result.state == "done":
        return []
    if result.state == NOT_STARTED:
        return [f"{shown} {UNWRITTEN}"]
    lines = [clipped(line.replace(str(path), str(shown)), _WIDTH) for line in result.lines[:_LINES]]
    more = len(result.lines) - _LINES
    if more > 0:
        lines.append(f"and {more} {'line' if more == 1 else 'lines'} more of this kind")
    return lines
