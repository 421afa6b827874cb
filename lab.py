"""Set up the lab and use it. Python 3.11 or later is all that it needs.

    python3 lab.py              take your guess, set up, measure once
    python3 lab.py eval ...     run any command of the course
    python3 lab.py check ...    show what is done and what comes next
    python3 lab.py micro ...    run micro.py, the whole idea in one file
    python3 lab.py test ...     run pytest, such as test tests/test_rubric.py
    python3 lab.py lint         check the code's style and types
    python3 lab.py site         build the course as a site that needs no network

The first call makes .venv beside this file and installs the packages that
requirements.txt lists (for lint, site and the lab's own tests:
requirements-dev.txt). Both files give the version and the digests of every
package. Nothing else is changed. To work in a folder of your own, call lab.py
by its path: python3 PATH/lab.py eval ... On Windows write py for python3.
"""

import os
import sys

# Everything up to here can be read by a Python that is too old, and so can the syntax of what follows.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write("error: expected Python 3.11 or later, got " + sys.version.split()[0])
    sys.stderr.write("; call lab.py with a newer Python, such as python3.12 lab.py\n")
    sys.exit(2)
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder: a student's random.py in it is not Python's

import hashlib
import importlib.util
import json
import re
import shutil
import signal
import subprocess
import webbrowser
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

LAB = Path(__file__).resolve().parent
VENV = LAB / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "made-by-lab.txt"  # for which folder, with which Python and from which list lab.py made .venv
RUN, DEVELOP = "requirements.txt", "requirements-dev.txt"
MINUTES = {RUN: "60 MB to download, a minute or two", DEVELOP: "90 MB more to download, a few minutes"}
# For venv and pip, which fail if the name of this folder has letters that the locale does not know.
UTF8 = {**os.environ, "PYTHONUTF8": "1"}
STUDENTS_TESTS = ("test_rubric.py", "test_pick_best.py", "test_reinforce.py", "test_my_score.py")
JOBS = ("micro", "test", "lint", "site", "check")

FIRST = LAB / "runs" / "first"  # the run of the first measurement
MEASURE = (
    "course.eval --dataset data/datasets/math_dev.jsonl --completions data/rollouts/frozen_rollouts_dev.jsonl"
    " --outdir runs/first"
)
QUESTION = """80 prompts, small sums and word problems, each ask for exactly one line,
such as Final: 8. A small simulated writer has answered all of them.

Of the 80 answers, what share in % is exactly the line that was asked for?
(q: measure without a guess)"""


# --- jobs


def main(words: list[str]) -> int:
    """Do the job that the first word names, with the others as its arguments. Returns the exit status."""
    job = words[0] if words else "first measurement"
    more = words[1:]
    if job in ("-h", "--help"):
        print(__doc__)
        return 0
    known = [*JOBS, *commands()]
    if words and job not in known:
        close = get_close_matches(job.removeprefix("course."), known, n=1)
        meant = f", did you mean {close[0]}?" if close else ";"
        lists = f"python3 {sys.argv[0]} --help and, in its folder, python3 -m course list all jobs"
        refuse(f"lab.py has no job {job!r}{meant} {lists}")
    if more and job in ("lint", "site"):
        refuse(f"{job} takes no arguments, got {more[0]!r}")
    try:
        guess = ask_guess() if job == "first measurement" else ""
        set_up(requirements_for(job, more))
        if job == "first measurement":
            return measure_first(guess)
        if job == "lint":
            return lint()
        if job == "site":
            return build_site()
        if job == "test":
            os.chdir(LAB)
            become("-m", "pytest", *more)
        if job == "micro":
            become(str(LAB / "micro.py"), *more)
        become("-m", job if job == "check" else f"course.{job}", *more)
    except (OSError, subprocess.CalledProcessError) as error:
        refuse(
            f"cannot set up .venv: {error}; if you may not write there, copy the lab's folder to a place where you may"
        )
    except KeyboardInterrupt:
        print("error: interrupted; run the same command to begin again", file=sys.stderr)
        return 130


def commands() -> list[str]:
    """Every command of the course: a module that can be run."""
    files = sorted((LAB / "course").glob("[!_]*.py"))
    return [path.stem for path in files if "run_command(main)" in path.read_text(encoding="utf-8")]


def requirements_for(job: str, more: list[str]) -> str:
    """The list of packages that the job needs; the shorter list for a student's own tests."""
    if job in ("lint", "site"):
        return DEVELOP
    if job == "test" and (LAB / "tests" / "course").exists():  # which is not in a student's copy
        paths = [word for word in more if not word.startswith("-")]
        if not paths or not all(any(name in path for name in STUDENTS_TESTS) for path in paths):
            return DEVELOP
    return RUN


def ask_guess() -> str:
    """The guess of a person at a terminal before the first measurement; empty if there is no person or no answer."""
    if FIRST.exists() or not at_terminal():
        return ""
    sys.path.append(str(LAB))  # of the lab only what needs no packages
    from course.artifacts.prediction import GUESS, read_guess
    from course.asking import ask

    print(QUESTION)
    return ask(">", lambda answer: read_guess(answer, "pass_rate") is not None, GUESS) or ""


def measure_first(guess: str) -> int:
    """Loop A on the shipped completions, once, and the page of that run. Returns the exit status."""
    page = FIRST / "report.html"
    is_first = not FIRST.exists()
    if is_first:
        words = [*MEASURE.split(), "--json"]
        if guess:
            words.append(f"--expect={guess}")
        measured = run(*words, stdout=subprocess.PIPE)
        if measured.returncode:
            return measured.returncode
        print(first_text(json.loads(measured.stdout)))
    if not page.exists():
        status = run("course.report", str(FIRST), stdout=subprocess.DEVNULL).returncode
        if status:
            return status
    print(f"\nThe page of this run, with every answer, its reward and the reason:\n  {page.as_uri()}")
    print(f"\nNext, in the lab's folder, type:\n  {'py' if os.name == 'nt' else 'python3'} -m check", flush=True)
    if is_first and at_terminal() and has_desktop():
        webbrowser.open(page.as_uri())
    return 0


def first_text(facts: dict[str, Any]) -> str:
    """The guess beside the result, and the failures in three lines. ``facts``: what course.eval --json prints."""
    summary = facts["summary"]
    share = facts["prediction"]["value"]
    result = f"{100 * summary['pass_rate']:.1f} %"
    line = f"Of the {summary['n']} answers, {result} are exactly the line that was asked for."
    if share is not None:
        line = f"You said {100 * share:.4g} %; it was {result}"
    failures = summary["n"] - summary["passes"]
    wrong_value = summary["outcomes"]["wrong_answer"]
    wrong_start = summary["outcomes"]["missing_prefix"]
    others = failures - wrong_value - wrong_start
    return f"""
{line}

{failures} of {summary["n"]} answers earned 0, not 1:
  {wrong_value} have a wrong number              Final: 1085    for 983 + 92
  {wrong_start} do not start with "Final: "      FINAL: -132    for 99 - 21 * 11
  {others} have a different fault of form   Final: 0216    for 511 - 295"""


def at_terminal() -> bool:
    """Whether a person can be asked and can read the answer."""
    return os.isatty(0) and os.isatty(1)


def has_desktop() -> bool:
    """Whether a browser can show a page to the person who sits at this terminal."""
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("win32", "darwin") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


def lint() -> int:
    """Lint and types, up to the first tool that finds something. Returns the exit status."""
    for line in ("ruff check", "ruff format --check", "mypy"):
        status = run(*line.split()).returncode
        if status:
            return status
    return 0


def build_site() -> int:
    """Sphinx on the lab's Markdown. npm, where there is one, fetches what draws the formulas."""
    npm = shutil.which("npm")
    if npm and not (LAB / "docs" / "node_modules" / "mathjax").exists():
        line = [npm, "ci", "--prefix", str(LAB / "docs"), "--omit=dev", "--no-audit", "--no-fund"]
        subprocess.run(line, capture_output=True)
    if not (LAB / "docs" / "node_modules" / "mathjax").exists():
        print("The formulas will stand in TeX: npm and, once, a network are needed to typeset them.")
    print("Building the site takes some ten seconds.", flush=True)
    status = run("sphinx", "-q", "-E", "-n", "-W", "--keep-going", "-c", "docs", ".", "site").returncode
    if status == 0:
        print(f"Open the site in a browser: {(LAB / 'site' / 'index.html').as_uri()}")
    return status


def run(*words: str, stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a module of .venv in the lab's folder, which is last on its path."""
    return subprocess.run([str(PYTHON), "-P", "-m", *words], cwd=LAB, stdout=stdout, encoding="utf-8")


def become(*words: str) -> NoReturn:
    """Let the Python of .venv take the place of this process, in the folder where the caller is."""
    if Path.cwd() != LAB:
        os.environ["RL_LAB_SCRIPT"] = sys.argv[0]  # course/starting.py: what is to be typed next is called the same way
    line = [str(PYTHON), "-P", *words]
    if os.name == "posix":
        os.execv(line[0], line)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches that process too, which ends as it does
    sys.exit(subprocess.run(line).returncode)


def refuse(message: str) -> NoReturn:
    print("error: " + message, file=sys.stderr)
    sys.exit(2)


# --- set-up


def set_up(requirements: str) -> None:
    """Install what the list asks for into .venv; do nothing if it is there already. Raises OSError."""
    if VENV.exists() and not STAMP.exists():  # another program made it, such as Poetry
        if not has_locked_versions(requirements):
            refuse(
                f"{VENV} was not made by lab.py and lacks the locked versions of {requirements}; if Poetry made .venv, "
                "run poetry install (with --with dev for all tools), otherwise move .venv away; then run this again"
            )
        add_lab_to_path()
        return
    made = STAMP.read_bytes() if PYTHON.exists() else b""
    if made in (stamp(requirements), stamp(DEVELOP)):
        return
    print(f"setting up .venv, once: {MINUTES[requirements]}", flush=True)
    if made.rpartition(b"\n")[0] != stamp(requirements).rpartition(b"\n")[0]:
        make_environment()  # .venv is missing, belongs to a different folder, or was not finished
    install(requirements)
    STAMP.write_bytes(stamp(requirements))


def stamp(requirements: str) -> bytes:
    """The facts that a finished .venv was made from: this folder, this Python, the bytes of this list.

    In bytes, because a path is the same bytes in every locale.
    """
    digest = hashlib.sha256((LAB / requirements).read_bytes()).hexdigest()
    return os.fsencode(f"{LAB}\n{os.path.realpath(PYTHON)}\n{requirements} {digest}")


def make_environment() -> None:
    """Make .venv anew, with a pip of its own and the lab's folder last on its path."""
    if importlib.util.find_spec("ensurepip") is None:
        refuse("this Python cannot make an environment with pip (Debian, Ubuntu: sudo apt install python3-venv)")
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    STAMP.write_bytes(b"not finished")
    subprocess.run([sys.executable, "-P", "-m", "venv", str(VENV)], env=UTF8, check=True)
    add_lab_to_path()


def add_lab_to_path() -> None:
    """Put the lab's folder last on the path of .venv; do nothing if it is there, as after poetry install.

    poetry install --no-root and pip install the listed packages, and not the lab.
    """
    for packages in (*VENV.glob("lib/python3*/site-packages"), *VENV.glob("Lib/site-packages")):
        line = packages / "rl_foundations_lab.pth"
        if not line.exists():  # a relative path, because Python 3.11 reads the file in the locale's encoding
            line.write_text(os.path.relpath(LAB, packages) + "\n", encoding="ascii")


def install(requirements: str) -> None:
    """Let the environment's own pip install the list. pip downloads everything before it changes anything."""
    pip = [str(PYTHON), "-P", "-m", "pip", "--quiet", "--disable-pip-version-check", "--retries", "2"]
    line = [*pip, "install", "--require-hashes", "--requirement", str(LAB / requirements)]
    done = subprocess.run(line, env=UTF8, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode:
        if re.search("connection broken by|Max retries exceeded|timed out|name resolution|unreachable", done.stderr):
            refuse("no network; connect once and run this command again; after that the lab needs no network")
        print(done.stderr, end="", file=sys.stderr)
        refuse(f"pip ended with status {done.returncode}; fix what pip says above, then run this command again")


def has_locked_versions(requirements: str) -> bool:
    """Whether an environment that another program made has what is listed, in the listed versions."""
    if not PYTHON.exists():
        return False
    code = "from importlib.metadata import distributions\nfor one in distributions(): print(one.name, one.version)"
    printed = subprocess.run([str(PYTHON), "-IPc", code], capture_output=True, text=True).stdout
    text = (LAB / requirements).read_text(encoding="utf-8")
    listed = set(re.findall(r"^(\S+)==(\S+) ;", text, re.MULTILINE))
    always = set(re.findall(r'^(\S+)==(\S+) ; python_version >= "3\.11" \\$', text, re.MULTILINE))
    names = {name for name, _ in listed}
    here = set()
    for line in printed.splitlines():
        name, version = line.split()
        name = re.sub("[-_.]+", "-", name).lower()
        if name in names:
            here.add((name, version))
    return always <= here <= listed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
