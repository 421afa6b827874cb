"""What may differ between two equal runs.

An example: ``git`` holds the commit of the lab's own repository and whether files were changed since; a lab that
stands in no repository of its own has null there, even inside somebody else's.
"""

import json
import re
import tomllib
from datetime import datetime
from pathlib import Path

import msgspec
import numpy
import pytest
from conftest import ROOT, Lab

from course.artifacts import environment as module
from course.artifacts.environment import environment


def test_clock_host_versions_and_git_are_there() -> None:
    recorded = environment()
    assert datetime.fromisoformat(recorded["finished_at"]).tzinfo is not None
    assert re.fullmatch(r"[0-9.]+", recorded["unicode"])
    assert recorded["git"] is None or set(recorded["git"]) == {"commit", "dirty"}


def test_every_package_that_the_project_depends_on_is_there_with_its_version() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    names = {re.split("[^a-z-]", package)[0] for package in project["dependencies"]}
    packages = environment()["packages"]
    assert set(packages) == names
    assert packages["numpy"] == numpy.__version__
    assert packages["splintr-rs"]


def test_a_package_that_is_not_there_is_null_and_loses_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGES", ("msgspec", "no-such-package"))
    assert environment()["packages"] == {"msgspec": msgspec.__version__, "no-such-package": None}


def test_the_command_line_is_there_as_it_was_typed_and_shows_what_hides(lab: Lab) -> None:
    words = "--dataset", lab.dataset([1]), "--completions", lab.completions(["Final: 1"]), "--change", "a  'b'\x1b\n"
    assert lab.process("eval", *words, "--outdir=run").status == 0
    typed = json.loads(Path("run/environment.json").read_bytes())["command_line"]
    hidden = "a  'b'<U+001B ESCAPE><U+000A LINE FEED>"
    assert typed[1:] == ["-m", "course.eval", *map(str, words[:-1]), hidden, "--outdir=run"]


def test_a_lab_in_no_repository_of_its_own_has_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAB", tmp_path)
    assert environment()["git"] is None


def test_a_machine_without_git_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert environment()["git"] is None
