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
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Callable
from datetime import date
from pathlib import Path
from platform import python_version
from typing import Any

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
            [str(python), str(HERE / "adapters.py"), library["adapter"], str(asked), str(answers)],
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


# The page: tables, counts and dates from results.json, in the prose of page.md.in. Nothing is measured here.


def page_of(template: str, results: dict[str, Any]) -> str:
    """The page's text. Raises KeyError for a mark in the prose that stands for nothing.

    In the prose ``{{ refused line right }}`` is how many of the cases that mean "right" that verifier paid nothing for,
    ``{{ count right }}`` how many there are, ``{{ cases right ID ID }}`` a table of two of them, ``{{ from PATH }}``
    how many come from a file, and ``{{ made }}`` the day.
    """
    marks: dict[str, Callable[..., str]] = {
        "made": lambda: results["made"],
        "python": lambda: results["python"],
        "verifiers": lambda: table_of_verifiers(results),
        "counts": lambda: table_of_counts(results),
        "cases": lambda means, *names: table_of_cases(results, means, names),
        "count": lambda means: str(len(cases_that_mean(results, means))),
        "from": lambda start: str(sum(case["source"].startswith(start) for case in results["cases"])),
        "refused": lambda key, means: str(len(cases_that_mean(results, means)) - count_paid(results, key, means)),
        "all": lambda: str(len(results["cases"])),
    }

    def fill(found: re.Match[str]) -> str:
        name, *words = found[1].split()
        return marks[name](*words)

    return re.sub(r"\{\{ (.+?) \}\}", fill, template)


def cases_that_mean(results: dict[str, Any], means: str) -> list[dict[str, Any]]:
    return [case for case in results["cases"] if case["means"] == means]


def count_paid(results: dict[str, Any], key: str, means: str) -> int:
    """How many of the cases with this meaning the verifier paid anything for."""
    given = [case["rewards"][key] for case in cases_that_mean(results, means)]
    return sum(not isinstance(reward, str) and reward > 0 for reward in given)


def table_of_verifiers(results: dict[str, Any]) -> str:
    rows = [
        f"|{one['key']}|{one['library']} {one['version']} `{one['call']}`|`{one['form']}`|{one['believes']}|"
        for one in results["verifiers"]
    ]
    return "\n".join(["|column|verifier|form|belief|", "|---|---|---|---|", *rows])


def table_of_counts(results: dict[str, Any]) -> str:
    """For each meaning, how many cases each verifier paid anything for; and how often it raised."""
    keys = [one["key"] for one in results["verifiers"]]
    names = {"right": "right form", "form": "other form", "several": "several answers", "wrong": "wrong value"}
    rows = []
    for means, name in names.items():
        paid = "|".join(str(count_paid(results, key, means)) for key in keys)
        rows.append(f"|{name}|{len(cases_that_mean(results, means))}|{paid}|")
    raised = [sum(isinstance(case["rewards"][key], str) for case in results["cases"]) for key in keys]
    rows.append(f"|raised an error|{len(results['cases'])}|{'|'.join(map(str, raised))}|")
    return "\n".join([f"|paid|of|{'|'.join(keys)}|", "|---|" + "---|" * (len(keys) + 1), *rows])


def table_of_cases(results: dict[str, Any], means: str, names: tuple[str, ...]) -> str:
    keys = [one["key"] for one in results["verifiers"]]
    by_id = {case["id"]: case for case in cases_that_mean(results, means)}
    rows = []
    for name in names:
        case = by_id[name]
        given = "|".join(cell(case["rewards"][key]) for key in keys)
        rows.append(f"|{case['expected_answer']}|`{visible(case['completion'])}`|{given}|")
    return "\n".join([f"|right|completion|{'|'.join(keys)}|", "|---|---|" + "---|" * len(keys), *rows])


def cell(reward: float | str) -> str:
    """``✓`` for a whole reward, ``·`` for none, ``!`` for an error, and what lies between as a number."""
    if isinstance(reward, str):
        return "!"
    if reward == 0:
        return "·"
    if reward == 1:
        return "✓"
    return f"{reward:.2f}".lstrip("0")


def visible(completion: str) -> str:
    r"""On one line: line breaks as ``⏎``, a space at an end as ``␣``, what shows as nothing by its number."""
    text = completion.replace("\r", "␍").replace("\n", "⏎")
    text = re.sub(r"^ +| +$", lambda found: "␣" * len(found[0]), text).replace("|", "\\|")
    return "".join(one if one.isprintable() else f"⟨U+{ord(one):04X}⟩" for one in text)


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
