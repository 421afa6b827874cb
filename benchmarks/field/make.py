"""Attack the verifiers that others use, and put what the attack prints on the page.

    python3 benchmarks/field/make.py
    python3 benchmarks/field/make.py --environments FOLDER

``docs/reference/how_verifiers_fail.md`` names the commands, and its prose is written by hand. Below each
``attack-verifier`` stands what it printed; the table follows from these outputs. For each library of
``libraries.toml`` an environment is made in a temporary folder (some minutes, network, 600 MB), or kept in FOLDER.
A new version: change its pin and its heading, run, read what changed, mend the prose.

Not covered: what a verifier does with a model's real completions, how often a text is met, and other options than
those of ``adapters.py``.
"""

import argparse
import os
import re
import shlex
import subprocess
import tempfile
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "reference" / "how_verifiers_fail.md"
_SECTION = re.compile(r"^### (.+)\n(?:(?!^##).*\n)*", re.MULTILINE)
_RUN = re.compile(r"```bash example\n(attack-verifier .+)\n```\n\n```text example\n((?:.*\n)*?)```\n")
_TABLE = re.compile(r"\|verifier\|seconds\|.*\n(?:\|.*\n)*")
_COLUMNS = ("wrong value, paid", "several answers, paid", "right line, refused")


class Run(NamedTuple):
    """What a command printed, and how long it took."""

    output: str
    seconds: float


def read_libraries() -> list[dict[str, Any]]:
    libraries: list[dict[str, Any]] = tomllib.loads((HERE / "libraries.toml").read_text(encoding="utf-8"))["library"]
    return libraries


def function_of(command: str) -> str:
    """Of ``adapters.py``, which the command attacks."""
    return shlex.split(command)[1].rpartition(":")[2]


def fill_page(page: str, attack: Callable[[str], Run]) -> str:
    """The page with every output and its table made anew."""
    seconds: dict[str, float] = {}

    def fill_run(match: re.Match[str]) -> str:
        command = match[1]
        run = attack(command)
        if "--try" not in command:
            seconds[function_of(command)] = run.seconds
        return f"```bash example\n{command}\n```\n\n```text example\n{run.output}```\n"

    page = _RUN.sub(fill_run, page)
    table = table_of(page, seconds)
    return _TABLE.sub(lambda _: table, page)


def table_of(page: str, seconds: dict[str, float]) -> str:
    """A row for each section with an attack: its heading, and in which columns its output names a text."""
    rows = ["|verifier|seconds|wrong value|several answers|right one refused|", "|---|---|---|---|---|"]
    for section in _SECTION.finditer(page):
        command, output = next(_RUN.finditer(section[0])).groups()
        cells = []
        for name in _COLUMNS:
            row = re.search(rf"^  {name} +(.+)", output, re.MULTILINE)
            if row is None:
                raise ValueError(f"{command}: expected a row '{name}', got {output}")
            cells.append("no" if row[1] == "none" else "yes")
        rows.append("|".join(["", section[1], f"{seconds[function_of(command)]:.0f}", *cells, ""]))
    return "\n".join(rows) + "\n"


def make_environment(library: dict[str, Any], folder: Path) -> Path:
    """The folder of the programs of an environment with this library and this course: made, if it is not there."""
    home: Path = folder / library["name"]
    programs: Path = home / ("Scripts" if os.name == "nt" else "bin")
    if not (home / "complete").exists():
        venv.create(home, with_pip=True, clear=True)
        install = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, str(ROOT), *library["install"]], check=True)
        if "no_deps" in library:
            subprocess.run([*install, "--no-deps", *library["no_deps"]], check=True)
        (home / "complete").touch()
    return programs


def main() -> int:
    parser = argparse.ArgumentParser(description="Attack the verifiers that others use, and write the page.")
    parser.add_argument("--environments", type=Path, help="keep the environments in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.environments or Path(temporary)
        programs: dict[str, Path] = {}
        for library in read_libraries():
            programs |= dict.fromkeys(library["functions"], make_environment(library, folder))

        def attack(command: str) -> Run:
            print(command, flush=True)
            words = shlex.split(command)
            start = monotonic()
            done = subprocess.run(
                [str(programs[function_of(command)] / words[0]), *words[1:]],
                cwd=ROOT,
                capture_output=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONUTF8": "1"},
            )
            if done.returncode not in (0, 1):
                raise SystemExit(f"{command}: status {done.returncode}\n{done.stderr}")
            return Run(done.stdout, monotonic() - start)

        page = fill_page(PAGE.read_text(encoding="utf-8"), attack)
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
