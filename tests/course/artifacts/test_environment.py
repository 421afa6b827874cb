"""What may differ between two equal runs.

An example: ``git`` holds the commit of the lab's own repository and whether files were changed since; a lab that
stands in no repository of its own has null there, even inside somebody else's.
"""

import re
from datetime import datetime
from pathlib import Path

import pytest

from course.artifacts import environment as module
from course.artifacts.environment import environment


def test_clock_host_versions_and_git_are_there() -> None:
    found = environment()
    assert datetime.fromisoformat(found["finished_at"]).tzinfo is not None
    assert re.fullmatch(r"[0-9.]+", found["unicode"])
    assert set(found["packages"]) >= {"jiter", "msgspec", "rich"}
    assert found["git"] is None or set(found["git"]) == {"commit", "dirty"}


def test_a_lab_in_no_repository_of_its_own_has_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAB", tmp_path)
    assert environment()["git"] is None


def test_a_machine_without_git_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert environment()["git"] is None
