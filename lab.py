"""Set the lab up and use it, on a machine that has only Python 3.11 or later and pip.

    python3 lab.py         set up, then the main job: Loop A on the shipped rollouts, and its failures
    python3 lab.py test    set up with the tools for tests, then run all tests but the slow ones
    python3 lab.py check   the same, then lint and types

What follows ``test`` goes to pytest: ``--fast``, ``--all``, the path of a test file.

It makes ``.venv`` in this folder and fills it from requirements.txt, where each package has its exact version and the
digest of its files; nothing outside this folder is changed. A second call finds the work done. Standard library only.
``poetry install`` gives the same versions to those who have Poetry.
"""

from __future__ import annotations  # so that an older Python gets as far as being told

import argparse
import compileall
import hashlib
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

LAB = Path(__file__).resolve().parent
VENV = LAB / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "lab-is-set-up.txt"  # written last: a set-up that was cut off has none, and is begun anew
RUN, DEVELOP = "requirements.txt", "requirements-dev.txt"

DATASET, ROLLOUTS = "data/datasets/math_dev.jsonl", "data/rollouts/frozen_rollouts_dev.jsonl"
JOBS = {
    "run": (
        f"course.eval --dataset {DATASET} --completions {ROLLOUTS}",
        "course.inspect_run --run {run} --only-fails --top-k 5",
    ),
    "test": ("pytest",),
    "check": ("ruff check", "ruff format --check", "mypy"),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 lab.py", description="Set the lab up and use it.", allow_abbrev=False
    )
    parser.add_argument("job", nargs="?", choices=JOBS, default="run", help="default: run")
    arguments, more = parser.parse_known_args()
    job = arguments.job
    if more and job != "test":
        parser.error(f"expected nothing after {job}, got {' '.join(more)}; only test takes more, for pytest")
    if sys.version_info < (3, 11):  # noqa: UP036  (asked before anything is installed)
        return fail(f"expected Python 3.11 or later, got {sys.version.split()[0]}; call lab.py with a newer one")
    try:
        set_up(RUN if job == "run" else DEVELOP)
    except (OSError, subprocess.CalledProcessError) as error:
        return fail(f"expected to set up {VENV.name}, got: {error}; mend that and call this again")
    before = set(runs())
    for command in JOBS[job]:
        words = [*command.format(run=next(iter(set(runs()) - before), "")).split(), *more]
        print("\n$ python -m", *words, "\n", flush=True)
        status = subprocess.run([PYTHON, "-m", *words], cwd=LAB).returncode
        if status:
            return status
    return 0


def set_up(requirements: str) -> None:
    """Bring .venv to what ``requirements`` asks for; do nothing if it is there. The tools include what runs need."""
    wanted = {name: stamp_of(name) for name in (RUN, DEVELOP)}
    found = STAMP.read_text(encoding="utf-8").strip() if STAMP.exists() else ""
    if found in (wanted[requirements], wanted[DEVELOP]) and PYTHON.exists():
        return
    base = getattr(sys, "_base_executable", sys.executable)  # inside .venv there is no pip; outside it there is
    if subprocess.run([base, "-m", "pip", "--version"], capture_output=True).returncode:
        raise OSError("this Python has no pip (Debian, Ubuntu: apt install python3-pip)")
    print(f"setting up {VENV.name} from {requirements}, once …", flush=True)
    STAMP.unlink(missing_ok=True)
    if found not in wanted.values():
        venv.EnvBuilder(clear=True, with_pip=False, symlinks=os.name != "nt").create(VENV)
    pip = [base, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--no-user", "--require-hashes", "--requirement", LAB / requirements], check=True)
    site = sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)})
    (Path(site) / "rl_foundations_lab.pth").write_text(f"{LAB}\n", encoding="utf-8")  # the lab itself, editable
    compileall.compile_dir(LAB / "course", quiet=1)
    STAMP.write_text(wanted[requirements] + "\n", encoding="utf-8")


def stamp_of(requirements: str) -> str:
    """What a finished set-up was made from: the list, and the Python."""
    digest = hashlib.sha256((LAB / requirements).read_bytes()).hexdigest()
    return f"{requirements} {digest} {sys.version.split()[0]}"


def runs() -> list[str]:
    return sorted(f"runs/{path.name}" for path in (LAB / "runs").glob("run_*"))


def fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
