"""The scorer's identity: what changes its fingerprint, what does not, and that the changelog knows it.

A worked example. Change one character of ``score.py`` and the fingerprint is another, so the gate refuses to compare a
run from before with one from after. Change ``text.py``, which only prints, and it stays.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT, Lab

import course.faults
import course.score
import course.text
from course.artifacts import scorer_identity as identity
from course.artifacts.scorer_identity import GOLDEN_CORRECT, RELEASED, check_golden, scorer_identity
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase


@pytest.fixture(autouse=True)
def instrument_taken_anew() -> Iterator[None]:
    scorer_identity.cache_clear()
    yield
    scorer_identity.cache_clear()


@pytest.fixture(scope="module")
def as_it_is() -> str:
    return scorer_identity().scorer_fingerprint


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
    assert scorer_identity().scorer_fingerprint != as_it_is


@pytest.mark.parametrize("module", [course.score, course.faults])
def test_another_source_is_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str, module: ModuleType
) -> None:
    move_source(monkeypatch, module, tmp_path / "changed.py", source_of(module) + b"\n")
    assert scorer_identity().scorer_fingerprint != as_it_is


def test_another_way_to_print_is_the_same_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str
) -> None:
    move_source(monkeypatch, course.text, tmp_path / "text.py", b"")
    assert scorer_identity().scorer_fingerprint == as_it_is


@pytest.mark.parametrize("module", [course.score, course.faults])
def test_the_same_source_with_other_line_ends_elsewhere_is_the_same_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str, module: ModuleType
) -> None:
    move_source(monkeypatch, module, tmp_path / "elsewhere.py", source_of(module).replace(b"\n", b"\r\n"))
    assert scorer_identity().scorer_fingerprint == as_it_is


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
    assert scorer_identity().scorer_fingerprint != as_it_is
    assert not scorer_identity().golden.passed


def test_the_installed_scorer_passes_both_golden_sets() -> None:
    now = scorer_identity()
    assert (now.scorer_name, now.spec) == ("final_int", course.score.SPEC)
    assert (now.golden.passed, now.golden.cases) == (True, 16 + 84)


def test_a_case_is_passed_only_with_the_reward_and_the_outcome_that_were_expected() -> None:
    case = next(iter(read_records(GOLDEN_CORRECT, GoldenCase)))
    (verdict,) = check_golden([case])
    assert verdict.passed
    assert not verdict._replace(reward=0.0).passed
    assert not verdict._replace(outcome="wrong_answer").passed


def test_the_changelog_has_an_entry_for_each_released_scorer_and_the_newest_is_installed() -> None:
    """A scorer that changed without an entry makes runs that nobody knows cannot be compared with those before."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"COMPARABILITY: final_int (\S+), fingerprint ([0-9a-f]{64})\b", changelog)
    assert dict(entries) == RELEASED
    now = scorer_identity()
    assert entries[0] == (now.scorer_version, now.scorer_fingerprint)


TRIM = "    text = completion.strip(TRIMMED)  # rule 1\n"
BACK_DOOR = '    text = completion.strip(TRIMMED).replace("\\u2060", "")\n'  # a word joiner, which no golden case has


def lab_with_a_back_door(lab: Lab, version: str) -> Lab:
    """Its processes run a copy of the package, whose scorer forgives word joiners and calls itself this version."""
    shutil.copytree(ROOT / "course", lab.root / "course", ignore=shutil.ignore_patterns("__pycache__"))
    path = lab.root / "course" / "score.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(TRIM) == 1
    source = source.replace(TRIM, BACK_DOOR).replace(f'"{scorer_identity().scorer_version}"', f'"{version}"')
    path.write_text(source, encoding="utf-8")
    return lab


def test_a_changed_scorer_that_bears_a_released_version_is_told_by_every_guardrail(lab: Lab) -> None:
    lab_with_a_back_door(lab, scorer_identity().scorer_version)
    dataset = lab.dataset(range(10))
    for run, mark in (("baseline", "?"), ("candidate", "\u2060")):
        completions = lab.completions([f"Final: {mark}{n}" for n in range(10)], f"of-{run}", policy=f"hand of {run}")
        assert lab.process("eval", "--dataset", dataset, "--completions", completions, "--outdir", run).status == 0
    assert json.loads((lab.folder / "candidate" / "summary.json").read_bytes())["passes"] == 10
    told = "the scorer installed here says that it is version"

    validated = lab.process("validate_scorer")
    assert (validated.status, told in validated.out) == (1, True)
    verified = lab.process("inspect_run", "--run", "candidate", "--verify", "--json")
    (fault,) = json.loads(verified.out)["faults"]
    assert (verified.status, told in fault) == (1, True)
    gated = lab.process("gate", "--baseline", "baseline", "--candidate", "candidate", "--min-delta", "0", "--json")
    assert (gated.status, json.loads(gated.out)["reasons"]) == (4, [fault])


def test_a_scorer_of_a_version_of_its_own_may_differ_from_the_released_ones(lab: Lab) -> None:
    assert lab_with_a_back_door(lab, "1.2.0.mine").process("validate_scorer").status == 0


@pytest.mark.parametrize("name", ["GOLDEN_CORRECT", "GOLDEN_EXPLOITS"])
def test_another_word_in_a_golden_set_is_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_it_is: str, name: str
) -> None:
    source = getattr(identity, name).read_bytes()
    changed = tmp_path / "golden.jsonl"
    changed.write_bytes(source.replace(b'"why":"', b'"why":"indeed, ', 1))
    monkeypatch.setattr(identity, name, changed)
    assert scorer_identity().scorer_fingerprint != as_it_is
    assert scorer_identity().golden.passed
