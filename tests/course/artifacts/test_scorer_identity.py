"""The scorer's identity: what changes its fingerprint, what does not, and that the changelog knows it.

A worked example. Change one character of ``score.py`` and the fingerprint is another, so the gate refuses to compare a
run from before with one from after. Change ``text.py``, which only prints, and it stays.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT

import course.faults
import course.score
import course.text
from course.artifacts.scorer_identity import GOLDEN_CORRECT, check_golden, installed
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase


@pytest.fixture(autouse=True)
def instrument_taken_anew() -> Iterator[None]:
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.fixture(scope="module")
def as_it_is() -> str:
    return installed().scorer_fingerprint


def move_source(monkeypatch: pytest.MonkeyPatch, module: ModuleType, path: Path, source: bytes) -> None:
    """From now on the module's source is this, and stands there."""
    path.write_bytes(source)
    monkeypatch.setattr(module, "__file__", str(path))


def source_of(module: ModuleType) -> bytes:
    return Path(str(module.__file__)).read_bytes().replace(b"\r\n", b"\n")


def test_the_fingerprint_is_a_sha_256(as_it_is: str) -> None:
    assert re.fullmatch("[0-9a-f]{64}", as_it_is)


@pytest.mark.parametrize("name", ["SCORER_NAME", "SCORER_VERSION", "SPEC"])
def test_another_name_version_or_spec_is_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch, as_it_is: str, name: str
) -> None:
    monkeypatch.setattr(course.score, name, getattr(course.score, name) + ".")
    assert installed().scorer_fingerprint != as_it_is


@pytest.mark.parametrize("module", [course.score, course.faults])
def test_another_source_is_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str, module: ModuleType
) -> None:
    move_source(monkeypatch, module, tmp_path / "changed.py", source_of(module) + b"\n")
    assert installed().scorer_fingerprint != as_it_is


def test_another_way_to_print_is_the_same_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str
) -> None:
    move_source(monkeypatch, course.text, tmp_path / "text.py", b"")
    assert installed().scorer_fingerprint == as_it_is


@pytest.mark.parametrize("module", [course.score, course.faults])
def test_the_same_source_with_other_line_ends_elsewhere_is_the_same_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str, module: ModuleType
) -> None:
    move_source(monkeypatch, module, tmp_path / "elsewhere.py", source_of(module).replace(b"\n", b"\r\n"))
    assert installed().scorer_fingerprint == as_it_is


@pytest.mark.parametrize(("key", "value"), [("reward", 1.0), ("outcome", "empty")])
def test_another_verdict_on_one_golden_case_is_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch, as_it_is: str, key: str, value: object
) -> None:
    as_scored = course.score.score

    def changed(example: object, completion: object) -> dict[str, Any]:
        result = as_scored(example, completion)
        if completion == "Final: +22":
            (result if key == "reward" else result["details"])[key] = value
        return result

    monkeypatch.setattr(course.score, "score", changed)
    assert installed().scorer_fingerprint != as_it_is
    assert not installed().golden.passed


def test_the_installed_scorer_passes_both_golden_sets() -> None:
    now = installed()
    assert (now.scorer_name, now.spec) == ("final_int", course.score.SPEC)
    assert (now.golden.passed, now.golden.cases) == (True, 16 + 84)


def test_a_case_is_passed_only_with_the_reward_and_the_outcome_that_were_expected() -> None:
    case = next(iter(read_records(GOLDEN_CORRECT, GoldenCase)))
    (verdict,) = check_golden([case])
    assert verdict.passed
    assert not verdict._replace(reward=0.0).passed
    assert not verdict._replace(outcome="wrong_answer").passed


def test_the_changelogs_newest_comparability_entry_names_the_installed_scorer() -> None:
    """A scorer that changed without an entry makes runs that nobody knows cannot be compared with those before."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entry = re.search(r"COMPARABILITY: (\S+) (\S+), fingerprint ([0-9a-f]{64})\b", changelog)
    assert entry, "CHANGELOG.md has no line 'COMPARABILITY: NAME VERSION, fingerprint HEX'"
    now = installed()
    assert entry.groups() == (now.scorer_name, now.scorer_version, now.scorer_fingerprint)
