"""What ``lab.py`` does once Python is new enough: a job, on a ``.venv`` that is set up. Standard library only."""

import ast
import json
import os
import shutil
import subprocess
import sys
from difflib import get_close_matches
from pathlib import Path

from course.datasets.files import LAB
from course.starting import LAB_PYTHON, PYTHON, become
from course.text import quoted, shell_word, visible
from lab_setup import DEVELOP, RUN, VENV, set_up

FIRST = (
    "course.eval --dataset data/datasets/math_dev.jsonl --completions data/rollouts/frozen_rollouts_dev.jsonl",
    "course.inspect_run --run {run} --only-fails --top-k 5",
)
LINT = ("ruff check", "ruff format --check", "mypy")
STUDENTS_TESTS = "test_rubric.py"
SITE = "sphinx -q -E -n -W --keep-going -c docs . site"
JOBS = ("test", "lint", "site", "micro")
TIMES = {"--fast": "20 seconds", "--all": "ten minutes or more"}


def main(words: list[str]) -> int:
    """Do the job that ``words`` name; without any, the first measurement. Returns the exit status."""
    try:
        return do(words)
    except KeyboardInterrupt:
        return fail("interrupted; the same command begins again", 130)


def do(words: list[str]) -> int:
    job, *more = words or [""]
    if job in ("-h", "--help"):
        usage = ast.get_docstring(ast.parse((LAB / "lab.py").read_text(encoding="utf-8")))  # -OO keeps no __doc__
        print(str(usage).replace("python3", PYTHON))
        return 0
    known = ["", *JOBS, *commands(), "check"]
    if job not in known or (more and job in ("", "lint", "site")):
        return fail(refusal(job, more, known))
    if job == "test" and (absent := absent_test_file(more)):
        return fail(f"{quoted(absent)}: expected a test file, such as tests/test_rubric.py, got nothing there")
    try:
        set_up(DEVELOP if needs_tools(job, more) else RUN)
    except (OSError, subprocess.CalledProcessError) as error:
        return fail(f"expected to set up {VENV.name}, got: {error}")
    if not job:
        return first_measurement()
    if job == "test":
        return test(more)
    if job == "lint":
        return next((status for line in LINT if (status := in_lab([*line.split()]))), 0)
    if job == "site":
        return site()
    program = ["-m", "check" if job == "check" else f"course.{job}"]
    if job == "micro":
        program = [str(LAB / "micro.py")]
    return become([str(LAB_PYTHON), "-P", *program, *more])


def commands() -> list[str]:
    """Every command of the course: a module that can be run."""
    files = sorted((LAB / "course").glob("[!_]*.py"))
    return [path.stem for path in files if "run_command(main)" in path.read_text(encoding="utf-8")]


def needs_tools(job: str, more: list[str]) -> bool:
    """Whether the job asks for more than pytest and the lab's packages, which serve for a student's own tests."""
    only_own_tests = bool(more) and all(Path(word.partition("::")[0]).name == STUDENTS_TESTS for word in more)
    is_students_copy = not (LAB / "tests" / "course").is_dir()
    return job in ("lint", "site") or (job == "test" and not only_own_tests and not is_students_copy)


def refusal(job: str, more: list[str], known: list[str]) -> str:
    if job in ("lint", "site"):
        return f"expected nothing after {job}, got {quoted(' '.join(more))}"
    close = get_close_matches(job.removeprefix("course."), known, n=1)
    guess = f", did you mean {close[0]}?" if close else ";"
    return f"{quoted(job)} is no job of lab.py{guess} all of them: {PYTHON} lab.py --help, and {PYTHON} -m course"


def fail(message: str, status: int = 2) -> int:
    print(f"error: {visible(message)}", file=sys.stderr)
    return status


def in_lab(words: list[str]) -> int:
    """Run a module of ``.venv`` in the lab's folder, which comes last on its path. Returns its exit status."""
    safe = os.environ | {"PYTHONSAFEPATH": "1"}  # as -P does, and for the processes that pytest starts
    return subprocess.run([LAB_PYTHON, "-m", *words], cwd=LAB, env=safe).returncode


def absent_test_file(words: list[str]) -> str:
    """The first word that is written as a test file and is none, here or in the lab's folder; else nothing."""
    for word in words:
        path = Path(word.partition("::")[0])
        if path.suffix == ".py" and not path.exists() and not (LAB / path).exists():
            return word
    return ""


def test(words: list[str]) -> int:
    """pytest in the lab's folder. A path is one from the caller's folder, or else from the lab's."""
    paths = [Path(word.partition("::")[0]) for word in words]
    whole_suite = not any(os.path.exists(folder / path) for path in paths for folder in (Path.cwd(), LAB))  # noqa: PTH110
    if whole_suite and (LAB / "tests" / "course").is_dir():  # a student's copy has only the student's own tests
        time = next((TIMES[word] for word in words if word in TIMES), "five minutes")
        print(f"this takes {time} on two cores, and seconds for a file:", flush=True)
        print(f"    {PYTHON} lab.py test tests/test_rubric.py\n", flush=True)
    if Path.cwd() != LAB:
        pairs = zip(words, paths, strict=True)
        words = [str(Path(word).absolute()) if os.path.exists(path) else word for word, path in pairs]  # noqa: PTH110
    return in_lab(["pytest", *words])


def site() -> int:
    """Sphinx on the lab's Markdown; npm, where there is one, fetches what draws the formulas."""
    if not (LAB / "docs" / "node_modules" / "mathjax").exists() and not fetch_mathjax():
        print("formulas are shown as they are written in TeX: to typeset them takes npm and, once, a network")
    print("building the site takes some ten seconds", flush=True)
    if status := in_lab(SITE.split()):
        return status
    print(f"open it in a browser: {(LAB / 'site' / 'index.html').as_uri()}")
    return 0


def fetch_mathjax() -> bool:
    """Whether npm did, from docs/package-lock.json."""
    npm = shutil.which("npm")
    line = ["ci", "--prefix", str(LAB / "docs"), "--omit=dev", "--no-audit", "--no-fund"]
    return bool(npm) and subprocess.run([str(npm), *line], capture_output=True).returncode == 0


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
