"""What the wheel installs: commands that run in any folder, with no lab around them.

An example: somebody's CI installs the wheel, and in a folder with ``mine.py`` calls ``attack-verifier mine.py:verify``.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLING
from other_pythons import make_python, packages, typed

from course.starting import ANYWHERE

pytestmark = pytest.mark.slow

ANSWERS = range(12)
RIGHT = [f"Final: {answer}" for answer in ANSWERS]
WRONG = ["Final: 99" for _ in ANSWERS]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    alone = ["--no-deps", "--no-index"]
    subprocess.run([*pip, "wheel", *alone, "--no-build-isolation", "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    own = make_python(folder / "environment", packages())
    subprocess.run([*pip, "--python", own, "install", *alone, wheel], check=True)
    return own


def write_policy(folder: Path, name: str, texts: list[str]) -> None:
    """Completions of the examples in ``dataset.jsonl``, and who wrote them."""
    rows = "".join(json.dumps({"id": f"q{i}", "completion": text}) + "\n" for i, text in enumerate(texts))
    (folder / f"{name}.jsonl").write_bytes(rows.encode())
    digest = hashlib.sha256(rows.encode()).hexdigest()
    meta = {"policy": name, "created": "2026-01-31", "sampling": SAMPLING, "template": "{prompt}"}
    meta["completions_sha256"] = digest
    (folder / f"{name}.meta.json").write_text(json.dumps(meta), encoding="utf-8")


def test_a_verifier_is_attacked_and_learned_from(python: Path, tmp_path: Path) -> None:
    script = python.with_name("attack-verifier")
    source = "def verify(completion, answer):\n    return float(str(answer) in completion)\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    done = typed(script, "mine.py:verify", "--learn", "--seconds", "600", "--json", cwd=tmp_path)
    assert (done.status, done.err) == (1, "")
    report = json.loads(done.out)
    assert report["verdict"] == "failed"
    assert [point["update"] for point in report["curve"]] == [1, *range(20, 161, 20)]
    assert typed(script, "--help", cwd=tmp_path).out.startswith("usage: attack-verifier ")
    refused = typed(script, "mine.py:verify", "--lern", cwd=tmp_path)
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "(all options: attack-verifier --help)" in refused.err


def test_two_policies_are_measured_verified_and_compared(python: Path, tmp_path: Path) -> None:
    """In ``runs/`` of the folder, where the commands find them; of the lab's holdouts nothing is claimed."""
    examples = [{"id": f"q{i}", "prompt": f"Question {i}?", "expected_answer": n} for i, n in enumerate(ANSWERS)]
    rows = "".join(json.dumps(example) + "\n" for example in examples)
    (tmp_path / "dataset.jsonl").write_text(rows, encoding="utf-8")
    for name, texts in (("before", WRONG), ("after", RIGHT)):
        write_policy(tmp_path, name, texts)
        files = ["--dataset", "dataset.jsonl", "--completions", f"{name}.jsonl"]
        done = typed(python, "-m", "course.eval", *files, cwd=tmp_path)
        assert (done.status, done.err) == (0, "")
    log = (tmp_path / "runs" / "log.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line)["run"] for line in log] == ["runs/run_001", "runs/run_002"]

    done = typed(python, "-m", "course.inspect_run", "--run", "last", "--verify", "--json", cwd=tmp_path)
    verified = json.loads(done.out)
    assert (done.status, verified["run"], verified["rows"]) == (0, str(Path("runs/run_002")), 12)
    assert "holdout" in verified["note"]

    runs = ["--baseline", "runs/run_001", "--candidate", "runs/run_002", "--min-delta", "0.05"]
    done = typed(python, "-m", "course.gate", *runs, "--json", cwd=tmp_path)
    finding = json.loads(done.out)
    assert (done.status, finding["verdict"], finding["numbers"]["gained"]) == (0, "PROMOTE", [f"q{i}" for i in ANSWERS])
    assert verified["note"] in finding["notes"]


def test_all_commands_that_need_no_lab_answer_and_the_others_name_them(python: Path, tmp_path: Path) -> None:
    for command in ANYWHERE:
        assert typed(python, "-m", f"course.{command}", "--help", cwd=tmp_path).status == 0, command
    done = typed(python, "-m", "course.token_train", cwd=tmp_path)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert all(command in done.err for command in ANYWHERE)


@pytest.mark.parametrize("package", ["check", "teacher"])
def test_the_check_and_the_teachers_tools_are_not_in_it(python: Path, tmp_path: Path, package: str) -> None:
    done = typed(python, "-c", f"import {package}", cwd=tmp_path)
    assert done.status == 1
    assert "ModuleNotFoundError" in done.err
