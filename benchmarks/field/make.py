"""Put our golden sets and the texts of public incidents before the verifiers that the field uses, and write the page.

    python3 benchmarks/field/make.py
    python3 benchmarks/field/make.py --environments FOLDER
    python3 benchmarks/field/make.py --page

The first makes an environment for each library of ``libraries.toml`` in a temporary folder (some minutes, network,
600 MB), asks each verifier each case, and writes ``results.json`` and ``docs/reference/how_verifiers_fail.md``. The
second keeps the environments in a folder and takes those that are there. The third makes the page alone, from
``results.json``. A new version: change its pin, run, read what changed, mend the prose in ``page.md.in``.

Not covered: what a verifier does with a model's real completions, how often each text is met, and any option but those
named in ``libraries.toml``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from datetime import date
from pathlib import Path
from platform import python_version
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from field.page import page_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "reference" / "how_verifiers_fail.md"
RESULTS = HERE / "results.json"

# What a golden case says to a person: by its rule it is the right value in another form, save for these.
SEVERAL = {f"exploit-{n:02}" for n in (8, 10, 11, 40, 41, 42, 43)}
MEANS_BY_RULE = {"value": "wrong"}


def all_cases() -> list[dict[str, Any]]:
    """Golden cases and incidents: id, means (right, form, several, wrong), expected_answer, completion, why, source."""
    found = []
    for name in ("golden_correct", "golden_exploits"):
        for row in read_lines(ROOT / "course" / "golden" / f"{name}.jsonl"):
            means = "right" if row["expected_reward"] == 1.0 else MEANS_BY_RULE.get(row["rule"], "form")
            row["means"] = "several" if row["id"] in SEVERAL else means
            row["source"] = f"course/golden/{name}.jsonl, {row['rule']}"
            found.append(row)
    found += read_lines(HERE / "incidents.jsonl")
    keys = ("id", "means", "expected_answer", "completion", "why", "source")
    return [{key: row[key] for key in keys} for row in found]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def environment(library: dict[str, Any], folder: Path) -> Path:
    """The Python that has this library: made, if it is not there. Ours has nothing to install."""
    if not library["install"]:
        return Path(sys.executable)
    home: Path = folder / library["adapter"]
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (home / "complete").exists():
        venv.create(home, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if "no_deps" in library:
            subprocess.run([*pip, "--no-deps", *library["no_deps"]], check=True)
        subprocess.run([*pip, *library["install"]], check=True)
        (home / "complete").touch()
    return python


def ask(library: dict[str, Any], python: Path, cases: list[dict[str, Any]]) -> tuple[str, dict[str, list[float | str]]]:
    """The library's version, and the rewards of each of its verifiers, case by case."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = Path(folder) / "cases.json", Path(folder) / "answers.json"
        forms = {one["key"]: one["form"] for one in library["verifier"]}
        question = {"distribution": library["distribution"], "forms": forms, "cases": cases}
        asked.write_text(json.dumps(question), encoding="utf-8")
        subprocess.run(
            [str(python), "-m", f"field.{library['adapter']}", str(asked), str(answers)],
            cwd=HERE.parent,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            check=True,
        )
        answered = json.loads(answers.read_text(encoding="utf-8"))
        return answered["version"], answered["rewards"]


def measure(folder: Path) -> dict[str, Any]:
    cases = all_cases()
    verifiers: list[dict[str, str]] = []
    rewards: dict[str, list[float | str]] = {}
    for library in tomllib.loads((HERE / "libraries.toml").read_text(encoding="utf-8"))["library"]:
        print(f"asking {library['name']}", flush=True)
        version, given = ask(library, environment(library, folder), cases)
        verifiers += [{**one, "library": library["name"], "version": version} for one in library["verifier"]]
        rewards |= given
    for place, case in enumerate(cases):
        case["rewards"] = {one["key"]: rewards[one["key"]][place] for one in verifiers}
    return {"made": date.today().isoformat(), "python": python_version(), "verifiers": verifiers, "cases": cases}


def main() -> int:
    parser = argparse.ArgumentParser(description="How today's verifiers treat our golden cases and public incidents.")
    parser.add_argument("--environments", type=Path, help="keep the environments in this folder")
    parser.add_argument("--page", action="store_true", help="make the page alone, from results.json")
    args = parser.parse_args()
    if not args.page:
        with tempfile.TemporaryDirectory() as temporary:
            results = measure(args.environments or Path(temporary))
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.parent.mkdir(exist_ok=True)
    template = (HERE / "page.md.in").read_text(encoding="utf-8")
    PAGE.write_text(page_of(template, json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
