"""A maintainer's job: put each fault of mutants.toml into a copy of the lab, and see a test fail.

    .venv/bin/python3 tests/mutations/run.py            all of them, faults in course/
    .venv/bin/python3 tests/mutations/run.py any_for    those whose name holds this

Tests mirror the code, so the tests of the file that was changed have to notice. A text that is found no more is a fault
too: the code moved on, so write the mutant anew, or take it out if its code is gone. It takes some minutes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

LAB = Path(__file__).resolve().parents[2]
MUTANTS = Path(__file__).with_name("mutants.toml")
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "runs", "site", "node_modules", "__pycache__", ".*_cache")
TESTS_FAILED = 1  # pytest's status; 2 to 5 say that the tests could not be run


def outcome(copy: Path, mutant: dict[str, str]) -> str:
    """What became of one mutant: "noticed by …", or what is wrong. The copy is left as it was."""
    sources = {path: path.read_text(encoding="utf-8") for path in (copy / "course").rglob(mutant.get("file", "*.py"))}
    places = [path for path, text in sources.items() for _ in range(text.count(mutant["find"]))]
    if not places:
        return "NOT FOUND"
    if len(places) > 1:
        return f"FOUND {len(places)} TIMES"
    source = places[0]
    folder = copy / "tests" / source.relative_to(copy).parent
    mirrors = [folder / f"test_{source.stem}.py", folder / f"test_{source.stem}_text.py"]  # the second: what it prints
    mirrors = [path for path in mirrors if path.is_file()]
    if not mirrors:
        return f"HAS NO TESTS: {source.name}"
    source.write_text(sources[source].replace(mutant["find"], mutant["replace"]), encoding="utf-8")
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "--numprocesses=0", "-p", "no:cacheprovider"]
    pytest += [path.relative_to(copy).as_posix() for path in mirrors]
    done = subprocess.run(
        pytest,
        cwd=copy,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # bytecode of two faults of one second would be confused
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    source.write_text(sources[source], encoding="utf-8")
    if done.returncode == TESTS_FAILED:
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return f"noticed by {failed[1] if failed else source.name}"
    return "PASSED UNNOTICED" if done.returncode == 0 else f"pytest ended with {done.returncode}"


def main() -> int:
    wanted = "".join(sys.argv[1:])
    mutants = {name: mutant for name, mutant in tomllib.loads(MUTANTS.read_text("utf-8")).items() if wanted in name}
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lab"
        shutil.copytree(LAB, copy, ignore=LEFT_OUT)
        for name, mutant in mutants.items():
            outcomes.append(outcome(copy, mutant))
            print(f"{name:54}{outcomes[-1]}", flush=True)
    return 0 if outcomes and all(said.startswith("noticed") for said in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
