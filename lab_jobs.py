"""What ``lab.py`` does once Python is new enough: it sets ``.venv`` up, then does a job. Standard library only."""

import compileall
import errno
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from course.datasets.files import LAB
from course.starting import LAB_PYTHON, PYTHON, become
from course.text import quoted, shell_word, visible

VENV = LAB / ".venv"
STAMP = VENV / "lab-is-set-up.txt"  # written last: a set-up that was cut off has none, and is begun anew
RUN, DEVELOP = "requirements.txt", "requirements-dev.txt"
SIZES = {
    RUN: "60 MB to download, 250 MB on disk, a minute or two",
    DEVELOP: "with the tools for tests: 120 MB to download, 500 MB on disk",
}
NO_NETWORK = re.compile(r"connection broken by|Max retries exceeded|timed out|name resolution|Network is unreachable")
HEAD_OF_A_SCRIPT = re.compile(rb"\A#!(/bin/sh\n'''exec' )?.*python.*\n(' '''\n)?")

FIRST = (
    "course.eval --dataset data/datasets/math_dev.jsonl --completions data/rollouts/frozen_rollouts_dev.jsonl",
    "course.inspect_run --run {run} --only-fails --top-k 5",
)
LINT = ("ruff check", "ruff format --check", "mypy")
JOBS = ("test", "lint", "micro")
TIMES = {"--fast": "some ten seconds", "--all": "ten minutes or more"}


def main(words: list[str], usage: str) -> int:
    """Do the job that ``words`` name; without any, the first measurement. Returns the exit status."""
    try:
        return do(words, usage)
    except KeyboardInterrupt:
        return fail("interrupted; the same command begins again", 130)


def do(words: list[str], usage: str) -> int:
    job, *more = words or [""]
    if job in ("-h", "--help"):
        print(usage.strip().replace("python3", PYTHON))
        return 0
    known = ["", *JOBS, *commands()]
    if job not in known or (more and job in ("", "lint")):
        return fail(refusal(job, more, known))
    try:
        set_up(DEVELOP if job in ("test", "lint") else RUN)
    except (OSError, subprocess.CalledProcessError) as error:
        return fail(f"expected to set up {VENV.name}, got: {error}")
    if not job:
        return first_measurement()
    if job == "test":
        return test(more)
    if job == "lint":
        return next((status for line in LINT if (status := in_lab([*line.split()]))), 0)
    program = [str(LAB / "micro.py")] if job == "micro" else ["-m", f"course.{job}"]
    return become([str(LAB_PYTHON), "-P", *program, *more])


def commands() -> list[str]:
    """Every command of the course: a module that can be run."""
    files = sorted((LAB / "course").glob("[!_]*.py"))
    return [path.stem for path in files if "run_command(main)" in path.read_text(encoding="utf-8")]


def refusal(job: str, more: list[str], known: list[str]) -> str:
    if job == "lint":
        return f"expected nothing after lint, got {quoted(' '.join(more))}"
    close = get_close_matches(job.removeprefix("course."), known, n=1)
    guess = f", did you mean {close[0]}?" if close else ";"
    return f"{quoted(job)} is no job of lab.py{guess} all of them: {PYTHON} lab.py --help, and {PYTHON} -m course"


def fail(message: str, status: int = 2) -> int:
    print(f"error: {visible(message)}", file=sys.stderr)
    return status


# The jobs.


def in_lab(words: list[str]) -> int:
    """Run a module of ``.venv`` in the lab's folder, which comes last on its path. Returns its exit status."""
    safe = os.environ | {"PYTHONSAFEPATH": "1"}  # as -P does, and for the processes that pytest starts
    return subprocess.run([LAB_PYTHON, "-m", *words], cwd=LAB, env=safe).returncode


def test(words: list[str]) -> int:
    """pytest in the lab's folder. A path is one from the caller's folder, or else from the lab's."""
    paths = [Path(word.partition("::")[0]) for word in words]
    if not any((folder / path).exists() for path in paths for folder in (Path.cwd(), LAB)):
        time = next((TIMES[word] for word in words if word in TIMES), "about a minute and a half")
        print(f"this takes {time} on two cores, and seconds for a file:", flush=True)
        print(f"    {PYTHON} lab.py test tests/test_rubric.py\n", flush=True)
    if Path.cwd() != LAB:
        words = [str(Path(word).absolute()) if path.exists() else word for word, path in zip(words, paths, strict=True)]
    return in_lab(["pytest", *words])


def first_measurement() -> int:
    """Loop A on the shipped rollouts, its failures, what was seen, and what to type next."""
    before = runs()
    for line in FIRST:
        run = next((run for run in runs() if run not in before), "")
        words = line.format(run=run).split()
        print(f"\n$ {command_line(words)}\n", flush=True)
        if status := in_lab(words):
            return status
    print(closing_words(run))
    return 0


def runs() -> list[str]:
    return sorted(f"runs/{path.name}" for path in (LAB / "runs").glob("run_*"))


def command_line(words: list[str]) -> str:
    """As one types it, on a line for each option where a shell takes that."""
    line = " ".join([PYTHON, "-m", *words])
    return line if os.name == "nt" or len(line) < 78 else line.replace(" --", " \\\n    --")


def closing_words(run: str) -> str:
    """What the run found, in two sentences, and what to type next from the caller's folder."""
    summary = json.loads((LAB / run / "summary.json").read_text(encoding="utf-8"))
    n, passes, families = summary["n"], summary["passes"], summary["families"]
    form, value = families.get("model_format", 0), families.get("model_math", 0)
    rows = (json.loads(line) for line in (LAB / run / "results.jsonl").read_text(encoding="utf-8").split("\n") if line)
    failed = next(row["id"] for row in rows if row["reward"] == 0)
    lines = [
        "",
        f"What you saw: the verifier gave the reward to {passes} of {n} recorded completions.",
        f"It refused {n - passes}: {form} for how they are written, {value} for a wrong number.",
        "",
        "What to type next, one line at a time:",
        *([] if Path.cwd() == LAB else [f"  cd {shell_word(LAB)}"]),
        f"  {PYTHON} -m course.inspect_run --run {run} --id {failed}",
        "      one of the failures, whole",
        f"  {PYTHON} -m course",
        "      the map: three loops, and the commands of each",
        f"  {PYTHON} lab.py test tests/test_rubric.py",
        "      your own tests of the verifier",
        "",
        "An hour that explains what you saw: docs/milestones/0.md",
    ]
    return "\n".join(lines)


# The set-up.


def set_up(requirements: str) -> None:
    """Bring .venv to what ``requirements`` asks for; do nothing if it is there. The tools include what runs need.

    Raises OSError, whose words say what to do.
    """
    wanted = {name: stamp_of(name) for name in (RUN, DEVELOP)}
    stamp, _, place = (STAMP.read_text(encoding="utf-8") if STAMP.exists() else "").rstrip("\n").partition("\n")
    usable = LAB_PYTHON.exists() and place and stamp.split()[-1] == sys.version.split()[0]
    try:
        if usable and place != str(LAB):
            print(f"this folder was moved or renamed; {VENV.name} now knows its new place", flush=True)
            write_place()
            STAMP.write_text(f"{stamp}\n{LAB}\n", encoding="utf-8")
        if usable and stamp in (wanted[requirements], wanted[DEVELOP]):
            return
        print(f"setting up {VENV.name}, once: {SIZES[requirements]}", flush=True)
        STAMP.unlink(missing_ok=True)
        if not usable:
            make_environment()
        install(requirements)
        STAMP.write_text(f"{wanted[requirements]}\n{LAB}\n", encoding="utf-8")
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            got = f"{LAB} cannot be written to; copy the folder to where you may write, and call lab.py there"
            raise OSError(got) from None
        raise


def make_environment() -> None:
    """An empty .venv with a pip of its own, in which the lab itself is found, wherever its folder is moved."""
    if find_spec("ensurepip") is None:
        raise OSError("this Python cannot make an environment with pip (Debian, Ubuntu: apt install python3-venv)")
    venv.EnvBuilder(clear=True, with_pip=True, symlinks=os.name != "nt").create(VENV)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)}))
    (site / "rl_foundations_lab.pth").write_text(f"{os.path.relpath(LAB, site)}\n", encoding="utf-8")


def install(requirements: str) -> None:
    """Let the environment's own pip fetch what is listed, showing its progress on a terminal."""
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    pip = [str(LAB_PYTHON), "-P", "-m", "pip", "--disable-pip-version-check", "--retries", "2", *quiet]
    line = [*pip, "install", "--no-user", "--require-hashes", "--requirement", str(LAB / requirements)]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode and NO_NETWORK.search(done.stderr):
        raise OSError("no network; connect once and call this again, after that the lab needs none")
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise OSError(f"pip ended with status {done.returncode}; mend what it says and call this again")
    compileall.compile_dir(LAB / "course", quiet=1)


def write_place() -> None:
    """``activate`` and the scripts name the environment's place. Write them anew; nothing is downloaded.

    Not covered: Windows, where the scripts are programs; ``py -m pytest`` works there for ``pytest``.
    """
    venv.EnvBuilder(symlinks=os.name != "nt").create(VENV)
    head = f"#!/bin/sh\n'''exec' \"{LAB_PYTHON}\" \"$0\" \"$@\"\n' '''\n".encode()
    for script in LAB_PYTHON.parent.iterdir() if os.name == "posix" else ():
        if not script.is_symlink() and (text := script.read_bytes()).startswith(b"#!"):
            script.write_bytes(HEAD_OF_A_SCRIPT.sub(lambda _: head, text))


def stamp_of(requirements: str) -> str:
    """What a finished set-up was made from: the list, and the Python."""
    digest = hashlib.sha256((LAB / requirements).read_bytes()).hexdigest()
    return f"{requirements} {digest} {sys.version.split()[0]}"
