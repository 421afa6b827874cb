"""CONTRIBUTING.md names what there is, and a public clone is tested by the same jobs as this one.

An example: where the page says `tests/course/test_stats.py::test_a_mean_is_rounded_once`, there is such a file, and
such a test in it.
"""

import re

from conftest import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
# A folder and what is in it, or a file of the top folder; NAME stands for a command that does not exist yet.
PATH = re.compile(r"(?:\.?[a-z_]+/[\w./]*|[\w-]+\.(?:md|py|toml|txt|lock))(?:::\w+)?")


def paths_named() -> set[str]:
    words = {word for code in re.findall(r"`([^`\n]+)`|\]\(([^)]+)\)", PAGE) for part in code for word in part.split()}
    return {word for word in words if PATH.fullmatch(word) and "NAME" not in word and not word.startswith(".venv/")}


def lab_jobs(text: str) -> list[str]:
    return re.findall(r"\bpython3? lab\.py(.*)$", text, re.MULTILINE)


def test_every_path_and_test_that_the_page_names_exists() -> None:
    named = paths_named()
    assert {"course/publishing.py", "course/faults.py", "pyproject.toml", "README.md", ".ci/run"} <= named
    for path, _, test in (name.partition("::") for name in sorted(named)):
        if (ROOT / "teacher").exists() or not path.startswith("teacher/"):  # a student's copy has none
            assert (ROOT / path).exists(), path
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8") if test else True, test


def test_the_page_is_short_and_names_every_tier() -> None:
    assert PAGE.count("\n") <= 120
    for tier in ("lab.py test --fast`", "lab.py test`", "lab.py test --all`"):
        assert tier in PAGE


def test_a_public_clone_runs_the_jobs_that_run_here() -> None:
    assert lab_jobs(RUN) == lab_jobs(WORKFLOW) == ["", " lint", " test --all"]


def test_the_workflow_says_that_it_was_not_run_here_and_covers_every_system_and_python() -> None:
    assert "not run here" in WORKFLOW.split("\n")[0]
    assert re.findall(r"(\w+)-latest", WORKFLOW) == ["ubuntu", "macos", "windows"]
    pythons = re.findall(r'"3\.(\d+)"', WORKFLOW)
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert oldest
    assert pythons == [str(minor) for minor in range(int(oldest[1]), 15)]
