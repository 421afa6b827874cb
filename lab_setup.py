"""How ``lab.py`` makes ``.venv`` in the lab's folder, and fills it. Standard library only.

Covered
    What works is not taken away before pip begins to change it; a folder that is not the lab's own is left alone; two
    set-ups at one moment wait for each other; a moved folder is set up again without downloading.
Not covered
    A kill -9 while pip downloads: the next call begins anew.
"""

import compileall
import errno
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from course.datasets.files import LAB
from course.starting import LAB_PYTHON, NEEDED

VENV = LAB / ".venv"
MARK = VENV / "made-by-lab.txt"  # written first: what has it may be deleted
STAMP = VENV / "lab-is-set-up.txt"  # written last: a set-up that was cut off has none, and is begun anew
RUN, DEVELOP = "requirements.txt", "requirements-dev.txt"
SIZES = {
    RUN: "60 MB to download, 250 MB on disk, a minute or two",
    DEVELOP: "with the tools for the lab's own tests: 90 MB more to download, 600 MB on disk",
}
PACKAGES = {RUN: (*NEEDED, "pytest"), DEVELOP: (*NEEDED, "pytest", "hypothesis", "mypy", "ruff", "sphinx", "xdist")}
POETRY = {RUN: "", DEVELOP: " --with dev"}  # what brings a .venv that Poetry made to each list
ASTRAY = ("PIP_DRY_RUN", "PIP_PREFIX", "PIP_PYTHON", "PIP_ROOT", "PIP_TARGET")  # with these pip leaves .venv empty
NO_NETWORK = re.compile(r"connection broken by|Max retries exceeded|timed out|name resolution|Network is unreachable")
HEAD_OF_A_SCRIPT = re.compile(rb"\A#!(/bin/sh\n'''exec' )?.*python.*\n(' '''\n)?")


def set_up(requirements: str) -> None:
    """Bring .venv to what ``requirements`` asks for; do nothing if it is there. The tools include what runs need.

    Raises OSError, whose words say what to do.
    """
    try:
        if not is_set_up(requirements):
            with alone():
                if not is_set_up(requirements):  # another lab.py may have done it meanwhile
                    change(requirements)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            got = f"{LAB} cannot be written to; copy the folder to where you may write, and call lab.py there"
            raise OSError(got) from None
        raise


def is_set_up(requirements: str) -> bool:
    if VENV.is_dir() and not MARK.exists() and not STAMP.exists():  # another program made it, such as Poetry
        return has(*PACKAGES[requirements]) and has_locked_versions(requirements)
    stamp, place = read_stamp()
    wanted = (stamp_of(requirements), stamp_of(DEVELOP))
    return place == os.path.realpath(LAB) and stamp.startswith(wanted) and has(*PACKAGES[requirements])


def change(requirements: str) -> None:
    """Set up what is not, and lose nothing that works before pip begins to change it."""
    stamp, place = read_stamp()
    usable = bool(stamp) and has("pip", *PACKAGES[RUN])
    if usable and place != os.path.realpath(LAB):
        print(f"this folder was moved or renamed; {VENV.name} now knows its new place", flush=True)
        write_place()
        write_stamp(stamp)
        if is_set_up(requirements):
            return
    ours = STAMP.exists() or MARK.exists() or (VENV.is_dir() and not any(VENV.iterdir()))
    if os.path.lexists(VENV) and not ours:
        raise OSError(
            f"{VENV} is there, was not made by lab.py, and does not hold the locked versions of {requirements}; "
            f"where Poetry made it, call poetry install{POETRY[requirements]}, else move it away and call this again"
        )
    print(f"setting up {VENV.name}, once: {SIZES[requirements]}", flush=True)
    STAMP.unlink(missing_ok=True)
    if not usable:
        make_environment()
    before = last_change()
    try:
        install(requirements)
    finally:
        if usable and last_change() == before:
            write_stamp(stamp)
    if not has(*PACKAGES[requirements]):
        unset = ", ".join(name for name in ASTRAY if name in os.environ) or "what pip config list shows"
        raise OSError(f"pip has put the packages elsewhere or nowhere; unset {unset} and call this again")
    write_stamp(stamp_of(requirements))


@contextmanager
def alone() -> Iterator[None]:
    """Hold every other lab.py of this folder off. The system lets go of the lock when the process ends."""
    with (LAB / RUN).open("r+b") as file:
        if not is_locked(file):
            print(f"another lab.py is setting up {VENV.name}; this one waits for it", flush=True)
            while not is_locked(file):
                time.sleep(0.5)
        yield


def is_locked(file: IO[bytes]) -> bool:
    """Take the lock if no other process has it. Where the file system has no locks, everybody gets it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 30)  # locked bytes cannot be read, so one that the file does not reach
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    return True


def has(*packages: str) -> bool:
    """Whether the environment's Python starts, is 3.11 or later (no other knows -P), and finds these packages."""
    code = "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))"
    try:
        return subprocess.run([LAB_PYTHON, "-IPc", code, *packages], capture_output=True).returncode == 0
    except OSError:
        return False


def has_locked_versions(requirements: str) -> bool:
    """Whether each package of the list that .venv has is there in a version of the list, as after poetry install."""
    listed: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (LAB / requirements).read_text("utf-8"), re.MULTILINE):
        listed.setdefault(name, set()).add(version)
    code = "from importlib.metadata import distributions\nfor one in distributions(): print(one.name, one.version)"
    said = subprocess.run([LAB_PYTHON, "-IPc", code], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        name, version = line.split()
        name = re.sub("[-_.]+", "-", name).lower()
        if name in listed and version not in listed[name]:
            return False
    return True


def last_change() -> list[int]:
    """When something was last put into site-packages or taken out of it."""
    folders = (*VENV.glob("lib/python3*/site-packages"), *VENV.glob("Lib/site-packages"))
    return [folder.stat().st_mtime_ns for folder in folders]


def make_environment() -> None:
    """An empty .venv with a pip of its own, in which the lab itself is found, wherever its folder is moved."""
    if find_spec("ensurepip") is None:
        raise OSError("this Python cannot make an environment with pip (Debian, Ubuntu: apt install python3-venv)")
    VENV.mkdir(exist_ok=True)
    MARK.touch()
    for path in VENV.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != MARK:
            path.unlink()
    venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt").create(VENV)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)}))
    (site / "rl_foundations_lab.pth").write_text(f"{os.path.relpath(LAB, site)}\n", encoding="utf-8")


def install(requirements: str) -> None:
    """Let the environment's own pip fetch what is listed, showing its progress on a terminal."""
    quiet = [] if sys.stdout and sys.stdout.isatty() else ["--quiet"]
    pip = [str(LAB_PYTHON), "-P", "-m", "pip", "--disable-pip-version-check", "--retries", "2", *quiet]
    line = [*pip, "install", "--no-user", "--require-hashes", "--requirement", str(LAB / requirements)]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode and NO_NETWORK.search(done.stderr):
        raise OSError("no network; connect once and call this again, after that the lab needs none")
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
        raise OSError(f"pip ended with status {done.returncode}; mend what it says and call this again")
    compileall.compile_dir(LAB / "course", quiet=1)


def write_place() -> None:
    """``activate`` and the scripts name the environment's place. Write them anew; nothing is downloaded.

    Not covered: Windows, where the scripts are programs; ``py -m pytest`` works there for ``pytest``.
    """
    code = "import sys; print(sys._base_executable)"  # the Python that made it: lab.py's own may be another
    base = subprocess.run([LAB_PYTHON, "-IPc", code], capture_output=True, check=True).stdout
    subprocess.run([os.fsdecode(base.strip()), "-IPm", "venv", "--without-pip", VENV], check=True)
    python = shlex.quote(str(LAB_PYTHON)).replace("\\", "'\"\\\\\"'")  # Python reads the head too, as a string
    head = os.fsencode(f"#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n")
    for script in LAB_PYTHON.parent.iterdir() if os.name == "posix" else ():
        if not script.is_symlink() and (text := script.read_bytes()).startswith(b"#!"):
            script.write_bytes(HEAD_OF_A_SCRIPT.sub(lambda _: head, text))


def stamp_of(requirements: str) -> str:
    """What a finished set-up was made from."""
    return f"{requirements} {hashlib.sha256((LAB / requirements).read_bytes()).hexdigest()}"


def read_stamp() -> tuple[str, str]:
    """What .venv was made from, and where. Both are empty where no set-up was finished."""
    stamp, _, place = (STAMP.read_text(encoding="utf-8") if STAMP.exists() else "").rstrip("\n").partition("\n")
    return stamp, place


def write_stamp(stamp: str) -> None:
    STAMP.write_text(f"{stamp}\n{os.path.realpath(LAB)}\n", encoding="utf-8")
