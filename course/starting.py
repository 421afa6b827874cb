"""Machinery: what every command needs before it is loaded: the lab around the package, and the lab's packages.

``python3 -m course.eval`` runs as it is typed, also where ``python3`` is the system's: a Python without the packages
lets the one in ``.venv``, which ``lab.py`` makes beside the package, take its place.
"""

import os
import sys
from importlib.util import find_spec
from typing import NoReturn

from course.datasets.files import LAB
from course.process import ignore_signals

PYTHON = "py" if os.name == "nt" else "python3"  # the first word of every command that the lab prints
LAB_PYTHON = LAB / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
NEEDED = ("matplotlib", "msgspec", "numpy", "rich", "splintr")
_HANDED_OVER = "RL_LAB_HANDED_OVER"  # set for the .venv that takes over: one that lacks packages too does not go on


def find_packages() -> None:
    """Return where this Python can run the lab's commands; else hand over, or end with one line and status 2."""
    handed_over = os.environ.pop(_HANDED_OVER, None)
    if not (LAB / "data").is_dir():
        _refuse(
            f"expected the lab's folder around the package, got the package alone in {LAB}; it serves as a library "
            f"(from course.score import score); for the commands get the whole folder, and in it {PYTHON} lab.py"
        )
    if all(map(find_spec, NEEDED)):
        return
    lacking = f"expected the lab's packages, got a Python without them; {PYTHON} lab.py in {LAB} sets them up"
    if handed_over:
        _refuse(lacking)
    os.environ[_HANDED_OVER] = "yes"
    try:
        become([str(LAB_PYTHON), *sys.orig_argv[1:]])
    except FileNotFoundError:
        _refuse(lacking)
    except OSError as error:
        _refuse(f"expected {LAB_PYTHON} to start, got: {error.strerror}; {PYTHON} lab.py in {LAB} makes it anew")


def become(line: list[str]) -> NoReturn:
    """Let another program take the place of this process: its arguments, folder, streams and exit status.

    What was printed before is lost where it was not flushed. Raises OSError where that program cannot be started.
    """
    if os.name == "posix":
        os.execv(line[0], line)
    import subprocess

    ignore_signals()  # Ctrl-C reaches that program as well, which ends as it does
    sys.exit(subprocess.run(line, check=False).returncode)


def _refuse(message: str) -> NoReturn:
    from course.text import visible

    print(f"error: {visible(message)}", file=sys.stderr)
    sys.exit(2)
