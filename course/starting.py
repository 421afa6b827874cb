"""Machinery: what happens before a command is loaded; only if ``-m`` names a command of the lab.

A Python without the lab's packages hands over to the Python in ``.venv``, which ``lab.py`` makes beside the package, so
``python3 -m course.eval`` runs as typed even if ``python3`` is the system's. The caller's folder comes last on the
path, so that a student's ``random.py`` does not replace Python's. Ctrl-C ends the process with one line.
"""

import sys

# While Python resolves -m, argv[0] is "-m", and what follows it in the original words is the module.
_UNDER_M = sys.argv[:1] == ["-m"]
if _UNDER_M and sys.version_info < (3, 11):
    sys.stderr.write(f"error: expected Python 3.11 or later, got {sys.version.split()[0]}; run lab.py with ")
    sys.stderr.write("a newer Python, then: source .venv/bin/activate (Windows: .venv\\Scripts\\activate)\n")
    sys.exit(2)
_MODULE = sys.orig_argv[-len(sys.argv)].removeprefix("-m") if _UNDER_M else ""  # -m course.eval, or -mcourse.eval
_AS_COMMAND = _MODULE.partition(".")[0] in ("course", "check", "teacher")
if _AS_COMMAND and not sys.flags.safe_path:
    sys.path.append(sys.path.pop(0))

import os
import signal
from types import FrameType
from typing import NoReturn


def end_loading(_: int, __: FrameType | None) -> NoReturn:
    """What Ctrl-C does until a command runs, because an exception raised during an import has crashed Python."""
    os.write(2, b"error: interrupted before anything was done\n")
    os._exit(130)


if _AS_COMMAND and signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else its parent wants it ignored
    signal.signal(signal.SIGINT, end_loading)

from importlib.util import find_spec
from pathlib import Path

from course.datasets.files import HAS_LAB, LAB
from course.text import shell_word

PYTHON = "py" if os.name == "nt" else "python3"  # the first word of every command that the lab prints
LAB_PYTHON = LAB / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
NEEDED = ("matplotlib", "msgspec", "numpy", "rich", "splintr")
SCRIPTS = {"course.attack": "attack-verifier"}  # as in pyproject.toml
_LAB_SCRIPT = os.environ.pop("RL_LAB_SCRIPT", "")  # the path of lab.py, where it was called from another folder
ANYWHERE = ("attack", "eval", "gate", "inspect_run", "report", "selection_demo", "validate_scorer")  # need no lab


def find_packages() -> None:
    """Return if this Python can run the lab's commands; else hand over, or end with one line and status 2."""
    if not HAS_LAB and _MODULE.removeprefix("course.") not in ANYWHERE:
        _refuse(
            f"this command needs the lab's folder, and the package in {LAB} stands alone; without the lab's folder "
            f"these commands run: {', '.join(ANYWHERE)}"
        )
    missing = [name for name in NEEDED if find_spec(name) is None]
    if not missing:
        return
    if not HAS_LAB:
        _refuse(f"this Python lacks these packages: {', '.join(missing)}; install them")
    # By its folder, for its file is often a link to the Python that made it, and under -S it does not know its prefix.
    is_labs_python = Path(sys.executable).parent.resolve() == LAB_PYTHON.parent.resolve()
    if is_labs_python or not LAB_PYTHON.exists():
        _refuse(f"this Python does not have the lab's packages; {PYTHON} lab.py in {LAB} installs them")
    try:
        become([str(LAB_PYTHON), *sys.orig_argv[1:]])
    except OSError as error:
        _refuse(f"cannot start {LAB_PYTHON}: {error.strerror}; {PYTHON} lab.py in {LAB} makes it again")


def program_name(module: str) -> str:
    """The words that call a command from the caller's folder: lab.py, a wheel's script, or ``python3 -m``."""
    if _LAB_SCRIPT:
        return f"{PYTHON} {shell_word(Path(_LAB_SCRIPT))} {module.removeprefix('course.')}"
    if Path(sys.argv[0]).stem == SCRIPTS.get(module):
        return SCRIPTS[module]
    return f"{PYTHON} -m {module}"


def become(line: list[str]) -> NoReturn:
    """Let another program take the place of this process: its arguments, folder, streams and exit status."""
    if os.name == "posix":
        os.execv(line[0], line)
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches that program as well, which ends as it does
    sys.exit(subprocess.run(line, check=False).returncode)


def _refuse(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


if _AS_COMMAND:
    find_packages()
